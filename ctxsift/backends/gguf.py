"""Reads a GGUF header: enough to refuse a file before a model is loaded, and what it says of the model.

llama.cpp may die of a damaged file.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian).
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ctxsift.backends.base import ModelFile
from ctxsift.errors import WeightsError
from ctxsift.files import open_regular

MAGIC = b"GGUF"
_U16, _U32, _U64 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<Q")
_STRING, _ARRAY = 8, 9
# Bytes of each scalar value type, by its number in the format.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_INTEGERS = {2: _U16, 4: _U32, 10: _U64}
# Values of a block, and its bytes by tensor type; types that are newer than this table are left to the engine.
_LAYOUTS = {
    1: {0: 4, 1: 2, 24: 1, 25: 2, 26: 4, 27: 8, 28: 8, 30: 2},
    32: {2: 18, 3: 20, 6: 22, 7: 24, 8: 34, 9: 40, 20: 18, 39: 17},
    64: {40: 36},
    128: {41: 18},
    256: {10: 84, 11: 110, 12: 144, 13: 176, 14: 210, 15: 292, 16: 66, 17: 74, 18: 98}
    | {19: 50, 21: 110, 22: 82, 23: 136, 29: 56, 34: 54, 35: 66},
}
_BLOCKS = {kind: (values, size) for values, sizes in _LAYOUTS.items() for kind, size in sizes.items()}
_LAST_TENSOR_TYPE = 255
# What llama.cpp calls a file (`general.file_type`), and one tensor, by their numbers in the format.
_FILE_TYPES = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K"}
_FILE_TYPES |= {11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M"}
_FILE_TYPES |= {18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S"}
_FILE_TYPES |= {25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M"}
_FILE_TYPES |= {32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4"}
_TENSOR_TYPES = {0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K", 11: "Q3_K"}
_TENSOR_TYPES |= {12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S"}
_TENSOR_TYPES |= {20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 29: "IQ1_M", 30: "BF16", 34: "TQ1_0"}
_TENSOR_TYPES |= {35: "TQ2_0", 39: "MXFP4"}
# Far above what any model has (about 50 keys, 1,000 tensors, a million texts in arrays, 20 MB), and read in seconds.
_MOST_KEYS, _MOST_KEY_BYTES = 10_000, 1_000
_MOST_TENSORS, _MOST_NAME_BYTES, _MOST_DIMENSIONS = 100_000, 64, 4
_MOST_TEXTS = 4_000_000
_MOST_HEADER_BYTES = 1_000_000_000
_MOST_NUMBER = 2**31 - 1
# Of a name or licence; a whole text of a licence is not one.
_MOST_WORD_BYTES = 200
_FILE_TYPE, _PARTS = "general.file_type", "split.count"
_NAME, _BASE_NAME, _SIZE_LABEL = "general.name", "general.basename", "general.size_label"
_MADE_FROM, _LICENCE, _LICENCE_NAME = "general.base_model.0.name", "general.license", "general.license.name"
_WORDS = frozenset({_NAME, _BASE_NAME, _SIZE_LABEL, _MADE_FROM, _LICENCE, _LICENCE_NAME})
_ARCHITECTURE, _PRE_TOKENIZER = "general.architecture", "tokenizer.ggml.pre"
# They have to be read whole.
_NAMES = {_ARCHITECTURE: "the architecture", _PRE_TOKENIZER: "the pre-tokenizer"}
# The architecture stands before it.
_CONTEXT_LENGTH = ".context_length"
_ALIGNMENT = "general.alignment"
_NUMBERS = frozenset({_FILE_TYPE, _PARTS, _ALIGNMENT})


@dataclass(frozen=True)
class GgufHeader:
    """What the header says; architecture and pre_tokenizer '' and context_length 0 (tokens) when it does not."""

    version: int
    architecture: str
    context_length: int
    tensor_count: int
    pre_tokenizer: str
    model_file: ModelFile


class _DamagedError(Exception):
    """The header says what cannot be."""


def read_header(path: Path) -> GgufHeader:
    """Return the header of `path`, whose time and memory are bounded whatever the file holds.

    Raises:
        WeightsError: no GGUF magic, an unknown version, a header that cannot be, or a file that ends before its last
            tensor does.
        OSError: the file cannot be read, or is no regular file.

    """
    with open_regular(path) as file:
        size = file.seek(0, 2)
        file.seek(0)
        if file.read(4) != MAGIC:
            raise WeightsError(f"{path}: not a GGUF file (it does not start with 'GGUF'); download it again")
        try:
            return _read(_HeaderReader(file, size), path)
        except _DamagedError as error:
            raise WeightsError(f"{path}: the GGUF header is cut off or damaged ({error}); download it again") from error


class _HeaderReader:
    """Reads a header from front to back; raises _DamagedError for what is longer than the file or than any header."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self.size = file, size
        self.position = file.tell()
        self._texts = 0

    def number(self, layout: struct.Struct) -> int:
        """Return one number."""
        number: int = layout.unpack(self._bytes(layout.size))[0]
        return number

    def text(self, what: str, most: int) -> str:
        """Return a text of at most `most` bytes."""
        length = self.number(_U64)
        if length > most:
            raise _DamagedError(f"{what} of {length:,} bytes")
        try:
            return self._bytes(length).decode()
        except UnicodeDecodeError:
            raise _DamagedError(f"{what} is no UTF-8") from None

    def words(self) -> str:
        """Return a text that only informs, on one line; an empty one for a long one."""
        length = self.number(_U64)
        if length > _MOST_WORD_BYTES:
            self._skip(length)
            return ""
        return " ".join(self._bytes(length).decode(errors="replace").split())

    def skip_value(self, kind: int) -> None:
        """Pass over a value."""
        if kind == _ARRAY:
            self._skip_array()
        elif kind == _STRING:
            self._skip_texts(1)
        else:
            self._skip(_size_of(kind))

    def _skip_array(self) -> None:
        kind, count = self.number(_U32), self.number(_U64)
        if kind == _STRING:
            self._skip_texts(count)
        else:
            self._skip(_size_of(kind) * count)

    def _skip_texts(self, count: int) -> None:
        self._texts += count
        if self._texts > _MOST_TEXTS:
            raise _DamagedError(f"{self._texts:,} texts in arrays")
        # Hundreds of thousands of them: what `_skip` does, without a call for each.
        read, seek, unpack = self._file.read, self._file.seek, _U64.unpack
        position, most = self.position, min(self.size, _MOST_HEADER_BYTES)
        for _ in range(count):
            prefix = read(8)
            length = unpack(prefix)[0] if len(prefix) == 8 else most
            position += 8 + length
            if position > most:
                break
            seek(length, 1)
        self._advance(position - self.position)

    def _bytes(self, count: int) -> bytes:
        self._advance(count)
        data = self._file.read(count)
        if len(data) != count:  # somebody is cutting it off right now
            raise _DamagedError("it ends early")
        return data

    def _skip(self, count: int) -> None:
        self._advance(count)
        self._file.seek(count, 1)

    def _advance(self, count: int) -> None:
        self.position += count
        if self.position > self.size:
            raise _DamagedError("it ends early")
        if self.position > _MOST_HEADER_BYTES:
            raise _DamagedError(f"it is longer than {_MOST_HEADER_BYTES:,} bytes")


def _size_of(kind: int) -> int:
    # Arrays in arrays are in the format, but no engine reads them.
    if kind not in _SIZES:
        raise _DamagedError(f"a value of the type {kind}")
    return _SIZES[kind]


def _bounded(what: str, count: int, most: int) -> int:
    if count > most:
        raise _DamagedError(f"{count:,} {what}")
    return count


def _read(reader: _HeaderReader, path: Path) -> GgufHeader:
    version = reader.number(_U32)
    if version not in (2, 3):
        raise WeightsError(f"{path}: GGUF version {version} is not supported (2 and 3 are)")
    tensor_count = _bounded("tensors", reader.number(_U64), _MOST_TENSORS)
    words, numbers = _read_values(reader)
    alignment, context_length = numbers.get(_ALIGNMENT, 32), numbers.get(_CONTEXT_LENGTH, 0)
    if not 0 < alignment <= _MOST_NUMBER or alignment & (alignment - 1):
        raise _DamagedError(f"an alignment of {alignment:,}")
    values = _checked_tensors(reader, tensor_count, alignment, path)
    in_parts = numbers.get(_PARTS, 1) > 1
    licence = words.get(_LICENCE, "")
    model_file = ModelFile(
        size_bytes=None if in_parts else reader.size,
        parameters=None if in_parts else sum(values.values()),
        quantization=_quantization(numbers.get(_FILE_TYPE), values),
        name=words.get(_NAME, ""),
        base_model=words.get(_MADE_FROM) or " ".join(filter(None, map(words.get, (_BASE_NAME, _SIZE_LABEL)))),
        context_tokens=context_length or None,
        licence=words.get(_LICENCE_NAME) or licence if licence in ("", "other") else licence,
    )
    architecture, pre_tokenizer = words.get(_ARCHITECTURE, ""), words.get(_PRE_TOKENIZER, "")
    return GgufHeader(version, architecture, context_length, tensor_count, pre_tokenizer, model_file)


def _read_values(reader: _HeaderReader) -> tuple[dict[str, str], dict[str, int]]:
    """Return the texts and the numbers that are known here, by their keys; other values are passed over."""
    keys: set[str] = set()
    words: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for _ in range(_bounded("keys", reader.number(_U64), _MOST_KEYS)):
        key = reader.text("a key", _MOST_KEY_BYTES)
        if key in keys:
            raise _DamagedError(f"the key {key} is there twice")
        keys.add(key)
        kind = reader.number(_U32)
        if key in _NAMES and kind == _STRING:
            words[key] = reader.text(_NAMES[key], _MOST_KEY_BYTES)
        elif key in _WORDS and kind == _STRING:
            words[key] = reader.words()
        elif key == f"{words.get(_ARCHITECTURE, '')}{_CONTEXT_LENGTH}" and kind in _INTEGERS:
            numbers[_CONTEXT_LENGTH] = _bounded("tokens of context", reader.number(_INTEGERS[kind]), _MOST_NUMBER)
        elif key in _NUMBERS and kind in _INTEGERS:
            numbers[key] = reader.number(_INTEGERS[kind])
        else:
            reader.skip_value(kind)
    return words, numbers


def _quantization(file_type: int | None, values: Counter[int]) -> str:
    """Return what the header calls the file, or else the type of most of its values; empty where no name is known."""
    if file_type in _FILE_TYPES:
        return _FILE_TYPES[file_type]
    return _TENSOR_TYPES.get(max(values, key=lambda kind: values[kind]), "") if values else ""


def _checked_tensors(reader: _HeaderReader, count: int, alignment: int, path: Path) -> Counter[int]:
    """Return how many values there are of each type."""
    names: set[str] = set()
    values: Counter[int] = Counter()
    begins = ends = 0
    for _ in range(count):
        name = reader.text("the name of a tensor", _MOST_NAME_BYTES)
        if name in names:
            raise _DamagedError(f"the tensor {name} is there twice")
        names.add(name)
        shape = [reader.number(_U64) for _ in range(_bounded("dimensions", reader.number(_U32), _MOST_DIMENSIONS))]
        kind, offset = reader.number(_U32), reader.number(_U64)
        if offset % alignment:
            raise _DamagedError(f"the tensor {name} begins at {offset:,}, between two multiples of {alignment}")
        begins, ends = max(begins, offset), max(ends, offset + _bytes_of(name, shape, kind))
        values[kind] += math.prod(shape)
    start = -(-reader.position // alignment) * alignment
    if count and (start + begins >= reader.size or start + ends > reader.size):
        how, place = ("begins", begins) if start + begins >= reader.size else ("ends", ends)
        raise WeightsError(
            f"{path}: the file is incomplete ({reader.size:,} bytes, its last tensor {how} at {start + place:,}); "
            "download it again"
        )
    return values


def _bytes_of(name: str, shape: list[int], kind: int) -> int:
    """Return the size of a tensor, 0 for a type that is not known here."""
    if kind > _LAST_TENSOR_TYPE:
        raise _DamagedError(f"the tensor {name} has the type {kind:,}")
    if 0 in shape or max(shape, default=1) > 2**62:
        raise _DamagedError(f"the tensor {name} has the shape {shape}")
    if kind not in _BLOCKS:
        return 0
    values, size = _BLOCKS[kind]
    if shape and shape[0] % values:
        raise _DamagedError(f"the tensor {name} has rows of {shape[0]:,} values, in blocks of {values}")
    return math.prod(shape) // values * size
