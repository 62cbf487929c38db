"""Rows to figures: from Python, and for the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmark.utilization.columns import Column, Columns, questions
from benchmark.utilization.figures import row_utilization, summarized
from benchmark.utilization.records import ChunkVerdict, Question, Utilization
from benchmark.utilization.tables import TableRow
from ctxsift.errors import InputError

LABELS = "labels"


def utilization(
    rows: Iterable[Mapping[str, Any]],
    *,
    question_column: Column = "question",
    contexts_column: Column = "contexts",
    answer_column: Column = "answer",
    labels_column: Column | None = None,
    k: int | None = None,
) -> Utilization:
    """Return the context utilization of rows.

    Args:
        rows: mappings; of a pandas frame, `frame.to_dict("records")`.
        question_column: name of a column, dotted path into a nested one, or function of a row; so are the others.
        contexts_column: the chunks, a list of texts, best rank first.
        answer_column: what was answered with these chunks.
        labels_column: given verdicts, a list of 0 and 1, one a chunk.
        k: ranks that count; all when None.

    Raises:
        InputError: a row cannot be used; names row and column.

    """
    columns = Columns(question_column, contexts_column, answer_column, labels_column)
    found = [TableRow(number, f"row {number}", row) for number, row in enumerate(rows, 1)]
    if not found:
        raise InputError("rows", "are empty", "give at least one")
    return measured("rows", list(questions(found, columns)), k)


def measured(source: str, asked: list[Question], k: int | None) -> Utilization:
    """Return the figures of questions. Raises InputError when K is below 1."""
    if k is not None and k < 1:
        raise InputError("k", f"{k} is too small", "give 1 or more")
    rows = [row_utilization(question, _labelled(question), k) for question in asked]
    return summarized(source, LABELS, k, asked, rows)


def _labelled(question: Question) -> list[ChunkVerdict]:
    return [ChunkVerdict(relevant=label, reason="label") for label in question.labels or ()]
