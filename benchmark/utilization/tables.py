"""Reading tables: JSON Lines, CSV and Parquet as rows of values."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ctxsift.errors import InputError
from ctxsift.extras import Extra, install_hint
from ctxsift.files import exists, read_text, reading
from ctxsift.strict_json import decode

SAMPLE = Path(__file__).with_name("sample.jsonl")
_SAMPLE = "sample"
_HINT = "give a .jsonl, .csv or .parquet file"
_MOST_MB, _MEGABYTE = 256, 1_000_000
# Values of all rows and columns of a Parquet file, rows included: a run of equal ones takes no room in it.
_MOST_CELLS = 5_000_000
_BATCH_ROWS = 1000
_MOST_VALUES = 200_000
_SUFFIXES = ((".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"), (".csv", ".csv.gz"), (".parquet",))


@dataclass(frozen=True)
class TableRow:
    """A row as it stands in a file, or as a caller gives it.

    Attributes:
        number: from 1.
        where: file, row and, in files of text, line.
        values: by the names of the columns.

    """

    number: int
    where: str
    values: Mapping[str, Any]


def read_table(path: Path) -> list[TableRow]:
    """Return the rows of a file; its name says of which format it is. `sample` is the packaged one.

    Raises:
        InputError: it cannot be read, is malformed or has no rows; naming file, row and line.

    """
    if str(path) == _SAMPLE and not exists(path):
        path = SAMPLE
    json_lines, csv_files, parquet = _SUFFIXES
    name = path.name.lower()
    if name.endswith(json_lines):
        rows = list(_json_lines(path))
    elif name.endswith(csv_files):
        rows = list(_csv(path))
    elif name.endswith(parquet):
        rows = list(_parquet(path))
    else:
        raise InputError(str(path), "has an unknown file format", _HINT)
    if not rows:
        raise InputError(str(path), "has no rows", "write one row per question")
    return rows


def _json_lines(path: Path) -> Iterator[TableRow]:
    number = 0
    for line_number, line in enumerate(read_text(path, _HINT, most_mb=_MOST_MB).split("\n"), 1):
        if not line.strip():
            continue
        number += 1
        where = _place(path, number, line_number)
        try:
            values = decode(line.encode(), most_values=_MOST_VALUES, once=True)
        except (ValueError, RecursionError) as error:
            problem = f"not valid JSON: {getattr(error, 'msg', error)}"
            raise InputError(where, problem, "write one JSON object per line") from error
        if not isinstance(values, dict):
            raise InputError(where, "is not a JSON object", "write one JSON object per line")
        yield TableRow(number, where, values)


def _csv(path: Path) -> Iterator[TableRow]:
    text = read_text(path, _HINT, most_mb=_MOST_MB)
    # A list of chunks is longer than the 131,072 characters that the module takes by default.
    before = csv.field_size_limit(max(len(text), 1))
    try:
        yield from _csv_rows(path, text)
    finally:
        csv.field_size_limit(before)


def _csv_rows(path: Path, text: str) -> Iterator[TableRow]:
    # Lines end as files have it: U+2028 and the like stand within cells.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    number = 0
    try:
        for cells in reader:
            if not cells:
                continue
            if header is None:
                header = _header(path, cells)
                continue
            number += 1
            where = _place(path, number, reader.line_num)
            if len(cells) != len(header):
                problem = f"has {len(cells)} cells, the header has {len(header)}"
                raise InputError(where, problem, "quote cells that contain commas, and double the quotes inside them")
            yield TableRow(number, where, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        where = _place(path, number + 1, reader.line_num)
        raise InputError(where, f"not valid CSV: {error}", "quote cells, and double the quotes inside them") from error


def _header(path: Path, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path}: header", f"names the column {name!r} twice", "rename one")
    return names


def _parquet(path: Path) -> Iterator[TableRow]:
    try:
        from pyarrow import ArrowException
    except ImportError as error:
        hint = f"{install_hint(Extra.PARQUET)}, or write JSON Lines"
        raise InputError(str(path), "Parquet needs the package pyarrow", hint) from error
    with reading(path, "export it again, or give a .jsonl file") as file:
        try:
            for number, values in enumerate(_parquet_rows(path, file), 1):
                yield TableRow(number, f"{path}: row {number}", values)
        except ArrowException as error:
            raise InputError(str(path), f"not valid Parquet: {error}", "export it again") from error


def _parquet_rows(path: Path, file: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file that unpacks to no more than a file of text may have.

    A text that is repeated stands in the file once. It is read as it stands there, and counted as often as it is meant
    before any of it is repeated in memory.
    """
    from pyarrow.parquet import ParquetFile

    footer = ParquetFile(file).metadata
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    columns = [group.column(at) for group in groups for at in range(group.num_columns)]
    most = _MOST_MB * _MEGABYTE
    if footer.num_rows + sum(column.num_values for column in columns) > _MOST_CELLS:
        raise InputError(str(path), f"has more than {_MOST_CELLS:,} rows and values", "split it")
    if sum(column.total_uncompressed_size for column in columns) > most:
        raise InputError(str(path), f"unpacks to more than {_MOST_MB} MB", "split it")
    texts = [column.path_in_schema for column in columns if column.physical_type == "BYTE_ARRAY"]
    unpacked = 0
    for batch in ParquetFile(file, read_dictionary=texts).iter_batches(_BATCH_ROWS):
        unpacked += sum(map(_bytes_of, batch.columns))
        if unpacked > most:
            raise InputError(str(path), f"unpacks to more than {_MOST_MB} MB", "split it")
        yield from batch.to_pylist()


def _bytes_of(column: Any) -> int:
    """Return how many bytes a column of Arrow has, each repeated text as often as it is repeated."""
    import pyarrow.compute as pc
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind):
        lengths = pc.binary_length(column.dictionary)
        return pc.sum(pc.take(lengths, column.indices)).as_py() or 0
    if types.is_struct(kind):
        return sum(map(_bytes_of, column.flatten()))
    if types.is_map(kind):
        return _bytes_of(column.keys) + _bytes_of(column.items)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _bytes_of(column.flatten())
    return int(column.nbytes)


def _place(path: Path, row: int, line: int) -> str:
    return f"{path}: row {row} (line {line})"
