"""What models that made summaries took, and where rules stood in: a table in a terminal, Markdown, CSV, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmark.cli.console import terminal
from benchmark.probes.printing import BoardTable
from benchmark.probes.records import LeftContext, ProbeResult
from benchmark.render.csv import harmless
from benchmark.render.figures import MISSING
from benchmark.render.markdown import markdown_table, plain_cell
from benchmark.render.terminal import print_table
from ctxsift.terminal import one_line, show

_MOST_REASONS = 3
# What stands before the reason why an answer cannot be used.
_SINCE = "the last one since "


@dataclass(frozen=True)
class ModelSummaries:
    """What the summaries of one method by a model took, over all cycles.

    Attributes:
        method: its label.
        fallbacks: cycles whose summary rules made; `reasons`: why, with how often.
        questions: that were answered, those asked once more included.
        prompt_tokens, completion_tokens: None where nobody tells.

    """

    method: str
    cycles: int
    fallbacks: int
    reasons: dict[str, int]
    questions: int
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


def model_summaries(result: ProbeResult) -> Iterator[ModelSummaries]:
    """Yield what each method by a model took."""
    for method in result.methods:
        if method.model is not None:
            cycles = method.contexts
            reasons = Counter(_kind_of(each.fallback) for each in cycles if each.fallback)
            yield ModelSummaries(
                method.label,
                len(cycles),
                reasons.total(),
                dict(reasons.most_common()),
                sum(each.questions or 0 for each in cycles),
                _total(cycles, "prompt_tokens"),
                _total(cycles, "completion_tokens"),
                sum(each.seconds for each in cycles),
            )


def _kind_of(fallback: str) -> str:
    """Return a reason without the piece that it is about, so that equal ones can be counted."""
    return fallback.rpartition(_SINCE)[2]


def _total(cycles: Sequence[LeftContext], name: str) -> int | None:
    known = [getattr(each, name) for each in cycles if each.questions]
    return sum(known) if known and None not in known else None


def print_model_summaries(found: Sequence[ModelSummaries]) -> None:
    """Print them; nothing where no model was asked."""
    if found:
        table = _table(found)
        show("")
        print_table(terminal(), table.header, table.rows, title=table.title)
        show(one_line(table.note))


def model_summaries_markdown(found: Sequence[ModelSummaries]) -> str:
    """Return the same as Markdown; an empty text where no model was asked."""
    if not found:
        return ""
    table = _table(found)
    return f"## {table.title}\n\n{markdown_table(table.header, table.rows)}\n\n{plain_cell(table.note)}\n"


def _table(found: Sequence[ModelSummaries]) -> BoardTable:
    header = ["method", "cycles", "fell back", "questions", "tokens read", "tokens written", "seconds"]
    rows = [
        [
            each.method,
            str(each.cycles),
            str(each.fallbacks),
            str(each.questions),
            MISSING if each.prompt_tokens is None else f"{each.prompt_tokens:,}",
            MISSING if each.completion_tokens is None else f"{each.completion_tokens:,}",
            f"{each.seconds:,.0f}",
        ]
        for each in found
    ]
    told = [f"{each.method}: {_reasons(each)}" for each in found if each.reasons]
    note = "fell back: rules made the summary. A question is asked once more where its answer cannot be used."
    return BoardTable("Summaries by models", header, rows, " ".join([note, *(f"{each}." for each in told)]))


def _reasons(found: ModelSummaries) -> str:
    some = list(found.reasons.items())[:_MOST_REASONS]
    return ", ".join(f"{reason} ({count} times)" if count > 1 else reason for reason, count in some)


def model_summaries_csv_rows(found: Sequence[ModelSummaries]) -> Iterator[list[str]]:
    """Yield lines under the header of the boards; they are of no kind of probes, and have no rank."""
    for each in found:
        figures = asdict(each)
        for name in ("cycles", "fallbacks", "questions", "prompt_tokens", "completion_tokens", "seconds"):
            value = figures[name]
            cells = ("", "", each.method, "", f"summaries: {name}", "" if value is None else value, "", "", "")
            yield [str(harmless(cell)) for cell in cells]


def model_summaries_json(found: Sequence[ModelSummaries]) -> list[dict[str, Any]]:
    """Return one JSON value with all of them; none where no model was asked."""
    return [{"summaries_by_models": [asdict(each) for each in found]}] if found else []
