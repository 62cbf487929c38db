"""Rows to figures: from Python, and for the command."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmark.scoring import Embedder
from benchmark.utilization.columns import Column, Columns, questions
from benchmark.utilization.figures import row_utilization, summarized
from benchmark.utilization.judging import RecordedUtilizationJudge, UtilizationJudge, judged
from benchmark.utilization.records import ChunkVerdict, DataRow, Utilization
from benchmark.utilization.support import SUPPORT_VERSION, supported
from benchmark.utilization.tables import TableRow
from ctxsift.errors import InputError
from ctxsift.settings import Settings, load_settings

LABELS, RULES = "labels", f"rules (version {SUPPORT_VERSION})"


def utilization(
    rows: Iterable[Mapping[str, Any]],
    *,
    question_column: Column = "question",
    contexts_column: Column = "contexts",
    answer_column: Column = "answer",
    labels_column: Column | None = None,
    k: int | None = None,
    judge: UtilizationJudge | RecordedUtilizationJudge | None = None,
) -> Utilization:
    """Return the context utilization of rows.

    Args:
        rows: mappings; of a pandas frame, `frame.to_dict("records")`.
        question_column: name of a column, dotted path into a nested one, or function of a row; so are the others.
        contexts_column: the chunks, a list of texts, best rank first.
        answer_column: what was answered with these chunks.
        labels_column: given verdicts, a list of 0 and 1, one a chunk; without it, rules decide, or the judge.
        k: ranks that count; all when None.
        judge: the model that decides instead of rules, or what it replied before.

    Raises:
        InputError: a row cannot be used; names row and column.

    """
    columns = Columns(question_column, contexts_column, answer_column, labels_column)
    found = [TableRow(number, f"row {number}", row) for number, row in enumerate(rows, 1)]
    if not found:
        raise InputError("rows", "the list is empty", "give at least one row")
    return measured(
        "rows",
        list(questions(found, columns)),
        k,
        judge,
        load_settings(judge.env_file if isinstance(judge, UtilizationJudge) else None),
    )


def measured(
    source: str,
    asked: list[DataRow],
    k: int | None,
    judge: UtilizationJudge | RecordedUtilizationJudge | None,
    settings: Settings,
) -> Utilization:
    """Return the figures of questions; given labels decide, else the judge, else rules.

    Raises:
        InputError: K is below 1, or the judge cannot be asked.

    """
    if k is not None and k < 1:
        raise InputError("k", f"{k} is too small", "give 1 or more")
    if asked[0].labels is not None:
        by, verdicts = LABELS, [_labelled(question) for question in asked]
    elif judge is not None:
        by, verdicts = judge.name, judged(asked, k, judge, settings)
    else:
        embedder = Embedder()
        by, verdicts = RULES, [supported(question, embedder) for question in asked]
    rows = [row_utilization(question, each, k) for question, each in zip(asked, verdicts, strict=True)]
    return summarized(source, by, k, asked, rows)


def _labelled(question: DataRow) -> list[ChunkVerdict]:
    return [ChunkVerdict(relevant=label, reason="label") for label in question.labels or ()]
