"""Reads just enough of a GGUF header to refuse a file before a model is loaded.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (versions 2 and 3, little endian).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ctxsift.errors import WeightsError

MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
# Bytes of each scalar value type, by its number in the format.
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_INTEGERS = {4: "<I", 10: "<Q"}
_MAX_ENTRIES = 100_000_000


@dataclass(frozen=True)
class GgufHeader:
    """What the header says; architecture and pre_tokenizer '' and context_length 0 (tokens) when it does not."""

    version: int
    architecture: str
    context_length: int
    tensor_count: int
    pre_tokenizer: str = ""


def read_header(path: Path) -> GgufHeader:
    """Return the header of `path`.

    Raises:
        WeightsError: no GGUF magic, an unknown version, or a file that ends before its last tensor begins.

    """
    size = path.stat().st_size
    with path.open("rb") as file:
        if file.read(4) != MAGIC:
            raise WeightsError(f"{path}: not a GGUF file (it does not start with 'GGUF'); fetch it again")
        try:
            return _read(file, path, size)
        except (struct.error, EOFError, UnicodeDecodeError) as error:
            raise WeightsError(f"{path}: the GGUF header is cut off or damaged; fetch it again") from error


def _read(file: BinaryIO, path: Path, size: int) -> GgufHeader:
    (version,) = _unpack(file, "<I")
    if version not in (2, 3):
        raise WeightsError(f"{path}: GGUF version {version} is not supported (2 and 3 are)")
    tensor_count, kv_count = _unpack(file, "<QQ")
    architecture = pre_tokenizer = ""
    context_length = 0
    alignment = 32
    for _ in range(_bounded(kv_count)):
        key = _read_string(file).decode()
        (kind,) = _unpack(file, "<I")
        if key == "general.architecture" and kind == _STRING:
            architecture = _read_string(file).decode()
        elif key == "tokenizer.ggml.pre" and kind == _STRING:
            pre_tokenizer = _read_string(file).decode()
        elif key == "general.alignment" and kind == 4:
            (alignment,) = _unpack(file, "<I")
        elif key == f"{architecture}.context_length" and kind in _INTEGERS:
            (context_length,) = _unpack(file, _INTEGERS[kind])
        else:
            _skip(file, kind)
    last_offset = 0
    for _ in range(_bounded(tensor_count)):
        _read_string(file)
        (dimensions,) = _unpack(file, "<I")
        file.seek(8 * dimensions + 4, 1)
        (offset,) = _unpack(file, "<Q")
        last_offset = max(last_offset, offset)
    data_start = -(-file.tell() // max(1, alignment)) * max(1, alignment)
    if tensor_count and data_start + last_offset >= size:
        raise WeightsError(
            f"{path}: the file is incomplete ({size:,} bytes, its last tensor begins at "
            f"{data_start + last_offset:,}); fetch it again"
        )
    return GgufHeader(version, architecture, context_length, tensor_count, pre_tokenizer)


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


def _bounded(count: int) -> int:
    if count > _MAX_ENTRIES:
        raise EOFError
    return count


def _read_string(file: BinaryIO) -> bytes:
    (length,) = _unpack(file, "<Q")
    data = file.read(_bounded(length))
    if len(data) != length:
        raise EOFError
    return data


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        (length,) = _unpack(file, "<Q")
        file.seek(length, 1)
    elif kind == _ARRAY:
        item_kind, count = struct.unpack("<IQ", file.read(12))
        if item_kind in _SIZES:
            file.seek(_SIZES[item_kind] * _bounded(count), 1)
        else:
            for _ in range(_bounded(count)):
                _skip(file, item_kind)
    elif kind in _SIZES:
        file.seek(_SIZES[kind], 1)
    else:
        raise EOFError
