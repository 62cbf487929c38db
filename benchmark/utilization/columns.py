"""Columns: what of a row is the question, the chunks, the answer and the labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmark.utilization.records import DataRow
from benchmark.utilization.tables import TableRow
from ctxsift.errors import InputError, did_you_mean
from ctxsift.strict_json import TwiceError, decode

# A name, a dotted path into a nested column, or a function of the row.
Column = str | Callable[[Any], Any]
_MOST_VALUES = 200_000
# What frameworks of retrieval call the text of a document: LangChain, LlamaIndex and most stores, Haystack.
_TEXT_OF_CHUNK = ("page_content", "text", "content")


@dataclass(frozen=True)
class Columns:
    """Where the parts of a row stand.

    Attributes:
        question, answer: a text each; not needed where labels are given.
        contexts: the chunks, a list of texts (or of mappings with one), best rank first; may be empty.
        labels: verdicts, a list of 0 and 1, one a chunk.

    """

    question: Column = "question"
    contexts: Column = "contexts"
    answer: Column = "answer"
    labels: Column | None = None


def questions(rows: Iterable[TableRow], columns: Columns) -> Iterator[DataRow]:
    """Yield the rows as questions. Raises InputError, naming row and column."""
    rows = list(rows)
    somewhere = any(_has(row, columns.contexts) for row in rows)
    for row in rows:
        # Where no row has the column, its name is wrong.
        retrieved = not somewhere or _has(row, columns.contexts)
        contexts = _chunks(_Cell.of(row, columns.contexts, "contexts")) if retrieved else ()
        labels = None
        if columns.labels is not None:
            labels = _labels(_Cell.of(row, columns.labels, "labels"), len(contexts))
        needed = labels is None
        yield DataRow(
            number=row.number,
            where=row.where,
            question=_text(row, columns.question, "question", needed=needed),
            contexts=contexts,
            answer=_text(row, columns.answer, "answer", needed=needed),
            labels=labels,
        )


def _has(row: TableRow, column: Column) -> bool:
    if callable(column):
        return True
    try:
        _looked_up(row.values, column)
    except _NoColumnError:
        return False
    return True


class _NoColumnError(Exception):
    """A row lacks a column; holds the names that it has there."""

    def __init__(self, known: Iterable[str]) -> None:
        self.known = [str(name) for name in known]
        super().__init__()


@dataclass(frozen=True)
class _Cell:
    """A value, and where it stands."""

    where: str
    value: Any

    @classmethod
    def of(cls, row: TableRow, column: Column, part: str) -> _Cell:
        """Return the cell of a column. Raises InputError when the row lacks it, or its function fails."""
        where = f"{row.where}: {column if isinstance(column, str) else part}"
        if callable(column):
            try:
                return cls(where, column(row.values))
            except Exception as error:  # whatever a caller's function raises
                raise InputError(where, f"its function raised {type(error).__name__}: {error}") from error
        try:
            return cls(where, _looked_up(row.values, column))
        except _NoColumnError as error:
            option = f"name the column with --{part}-column"
            raise InputError(where, "no such column", f"{did_you_mean(str(column), error.known)}; {option}") from None

    def refused(self, problem: str, hint: str = "") -> InputError:
        return InputError(self.where, problem, hint)

    @property
    def is_missing(self) -> bool:
        """Whether nothing is in it: null, a text without letters, what pandas makes of an empty cell."""
        value = self.value
        return value is None or (isinstance(value, str) and not value.strip()) or _is_nan(value)

    def values(self, what: str) -> list[Any]:
        """Return a list; one in a cell of text is JSON. Raises InputError when it is none."""
        value = self.value
        hint = f"write {what} as a JSON list"
        if isinstance(value, str):
            try:
                value = decode(value.encode("utf-8", "replace"), most_values=_MOST_VALUES, once=True)
            except TwiceError as error:
                raise self.refused(str(error), "remove one of them") from error
            except (ValueError, RecursionError) as error:
                if _is_python_list(value):
                    problem = "is a list in Python notation (repr), which pandas writes to CSV"
                    raise self.refused(problem, f"{hint}: json.dumps(cell)") from error
                raise self.refused("is a text, not a list", hint) from error
        # A cell of pandas may be an array of numpy.
        value = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(value, list | tuple):
            raise self.refused(f"is {_kind(value)}, not a list", hint)
        return list(value)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _is_python_list(text: str) -> bool:
    return text.lstrip().startswith("[") and text.rstrip().endswith("]") and ("'" in text or "array(" in text)


def _looked_up(values: Any, column: str) -> Any:
    if not isinstance(values, Mapping):
        raise _NoColumnError(())
    if column in values:
        return values[column]
    head, dot, rest = column.partition(".")
    if not dot or head not in values:
        raise _NoColumnError(values)
    return _looked_up(_nested(values[head]), rest)


def _nested(value: Any) -> Any:
    """Return the mapping that a cell holds, as JSON if it is text."""
    if isinstance(value, str):
        try:
            return decode(value.encode("utf-8", "replace"), most_values=_MOST_VALUES)
        except (ValueError, RecursionError):
            return None
    return value


def _chunks(cell: _Cell) -> tuple[str, ...]:
    """Return the texts of chunks; none where nothing was retrieved."""
    chunks = [] if cell.is_missing else cell.values("the chunks")
    return tuple(_chunk_text(cell, place, chunk) for place, chunk in enumerate(chunks, 1))


def _chunk_text(cell: _Cell, place: int, chunk: Any) -> str:
    """Return a chunk, or the one text of a document as frameworks of retrieval write it."""
    if isinstance(chunk, Mapping):
        named = [name for name in _TEXT_OF_CHUNK if isinstance(chunk.get(name), str)]
        if len(named) == 1:
            return str(chunk[named[0]])
        what = f"texts under {' and '.join(named)}" if named else f"no text under {', '.join(_TEXT_OF_CHUNK)}"
        hint = "write each chunk as a string, or its text under one of these names"
        raise cell.refused(f"chunk {place} is a mapping with {what}", hint)
    if not isinstance(chunk, str):
        raise cell.refused(f"chunk {place} is {_kind(chunk)}, not a text", "write each chunk as a string")
    return chunk


def _labels(cell: _Cell, count: int) -> tuple[int, ...]:
    labels = [] if cell.is_missing else cell.values("the labels")
    if count and not labels:
        raise cell.refused("is empty", "write one label a chunk")
    for place, label in enumerate(labels, 1):
        if not isinstance(label, int | float) or label not in (0, 1):
            raise cell.refused(f"label {place} is {str(label)[:40]!r}", "write 1 for a relevant chunk, 0 for another")
    if len(labels) != count:
        raise cell.refused(f"has {len(labels)} labels for {count} chunks", "write one label a chunk")
    return tuple(map(int, labels))


def _text(row: TableRow, column: Column, part: str, *, needed: bool) -> str:
    try:
        cell = _Cell.of(row, column, part)
    except InputError:
        if needed:
            raise
        return ""
    if not isinstance(cell.value, str):
        if needed:
            raise cell.refused(f"is {_kind(cell.value)}, not a text")
        return ""
    return cell.value


def _kind(value: object) -> str:
    if value is None:
        return "missing"
    for kind, word in ((bool, "true or false"), (int | float, "a number"), (str, "a text"), (Mapping, "a mapping")):
        if isinstance(value, kind):
            return word
    return f"a {type(value).__name__}"
