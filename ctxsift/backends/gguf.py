"""Reads just enough of a GGUF header to refuse a file before a model is loaded: llama.cpp may die of a damaged one.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ctxsift.errors import WeightsError
from ctxsift.files import open_regular

MAGIC = b"GGUF"
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")
_STRING, _ARRAY = 8, 9
# Bytes of each scalar value type, by its number in the format.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_INTEGERS = {4: _U32, 10: _U64}
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
# Far above what any model has (about 50 keys, 1,000 tensors, a million texts in arrays, 20 MB), and read in seconds.
_MOST_KEYS, _MOST_KEY_BYTES = 10_000, 1_000
_MOST_TENSORS, _MOST_NAME_BYTES, _MOST_DIMENSIONS = 100_000, 64, 4
_MOST_TEXTS = 4_000_000
_MOST_HEADER_BYTES = 1_000_000_000
_MOST_NUMBER = 2**31 - 1


@dataclass(frozen=True)
class GgufHeader:
    """What the header says; architecture and pre_tokenizer '' and context_length 0 (tokens) when it does not."""

    version: int
    architecture: str
    context_length: int
    tensor_count: int
    pre_tokenizer: str = ""


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
            return _read(_Reader(file, size), path)
        except _DamagedError as error:
            raise WeightsError(f"{path}: the GGUF header is cut off or damaged ({error}); download it again") from error


class _Reader:
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


def _read(reader: _Reader, path: Path) -> GgufHeader:
    version = reader.number(_U32)
    if version not in (2, 3):
        raise WeightsError(f"{path}: GGUF version {version} is not supported (2 and 3 are)")
    tensor_count = _bounded("tensors", reader.number(_U64), _MOST_TENSORS)
    architecture = pre_tokenizer = ""
    context_length = 0
    alignment = 32
    keys: set[str] = set()
    for _ in range(_bounded("keys", reader.number(_U64), _MOST_KEYS)):
        key = reader.text("a key", _MOST_KEY_BYTES)
        if key in keys:
            raise _DamagedError(f"the key {key} is there twice")
        keys.add(key)
        kind = reader.number(_U32)
        if key == "general.architecture" and kind == _STRING:
            architecture = reader.text("the architecture", _MOST_KEY_BYTES)
        elif key == "tokenizer.ggml.pre" and kind == _STRING:
            pre_tokenizer = reader.text("the pre-tokenizer", _MOST_KEY_BYTES)
        elif key == "general.alignment" and kind in _INTEGERS:
            alignment = reader.number(_INTEGERS[kind])
        elif key == f"{architecture}.context_length" and kind in _INTEGERS:
            context_length = _bounded("tokens of context", reader.number(_INTEGERS[kind]), _MOST_NUMBER)
        else:
            reader.skip_value(kind)
    if not 0 < alignment <= _MOST_NUMBER or alignment & (alignment - 1):
        raise _DamagedError(f"an alignment of {alignment:,}")
    _check_tensors(reader, tensor_count, alignment, path)
    return GgufHeader(version, architecture, context_length, tensor_count, pre_tokenizer)


def _check_tensors(reader: _Reader, count: int, alignment: int, path: Path) -> None:
    names: set[str] = set()
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
    start = -(-reader.position // alignment) * alignment
    if count and (start + begins >= reader.size or start + ends > reader.size):
        how, place = ("begins", begins) if start + begins >= reader.size else ("ends", ends)
        raise WeightsError(
            f"{path}: the file is incomplete ({reader.size:,} bytes, its last tensor {how} at {start + place:,}); "
            "download it again"
        )


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
