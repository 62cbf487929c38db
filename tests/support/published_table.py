"""The published results, as the tables of docs/published-models.md: `python -m tests.support.published_table`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from functools import cache

from benchmark.analysis.leaderboard import Leaderboard, build_leaderboards
from benchmark.analysis.slices import BoardSlice, Facet, parts_of
from benchmark.cli.command import PUBLISHED_RESULTS
from benchmark.record.read import StoredResult, find_results
from benchmark.record.result import Answered, Question
from benchmark.record.views import ViewSummary
from benchmark.render.markdown import markdown_table
from benchmark.render.slices import placed_text, rank_text_of
from benchmark.scoring import COMPONENTS
from ctxsift.files import write_atomically
from ctxsift.terminal import show
from tests.conftest import ROOT
from tests.support.marks import renewed

PUBLISHED_PAGE = ROOT / "docs" / "published-models.md"
# Which contract each published case has; the results do not tell it.
_COMPONENTS = ROOT / "tests" / "data" / "published_case_components.csv"


@cache
def published_results() -> list[StoredResult]:
    """Return the published results, read once in a process."""
    return find_results([PUBLISHED_RESULTS])


def published_intents() -> dict[str, str]:
    """Return the intent of each published case, by its id."""
    with _COMPONENTS.open(newline="", encoding="utf-8") as file:
        return {row["case_id"]: row["intent"] for row in csv.DictReader(file)}


def answers_of(result: StoredResult) -> list[Answered]:
    """Return the answers of a result."""
    return [case for case in result.record.cases if isinstance(case, Answered)]


def published_texts() -> dict[str, str]:
    """Return what stands between the marks, by their names."""
    (board,) = build_leaderboards(published_results())
    questions = {answer.question.case_id: answer.question for answer in answers_of(board.rows[0].result)}
    return {
        "published components": components_table(board, questions),
        "published families": families_table(parts_of(board, questions, Facet.FAMILY)),
    }


def components_table(board: Leaderboard, questions: dict[str, Question]) -> str:
    """Return a row a result, the highest quality core first: rank, core with interval, means of the components."""
    (whole,) = parts_of(board, questions, None)
    head = ["rank", "result", "quality core [95%]", *(component.name for component in COMPONENTS)]
    head += ["accepted/soft/rejected", "no answer", "s/case"]
    rows = []
    for row, placed in sorted(zip(board.rows, whole.placed, strict=True), key=lambda each: -(each[1].core or 0.0)):
        view, latency, ends = row.summary.recovered, row.summary.latency, placed.interval
        assert view
        assert latency
        assert ends
        rows.append(
            [
                rank_text_of(placed.rank),
                row.label,
                f"{placed.core:.1f} [{ends.low:.1f}, {ends.high:.1f}]",
                *_means(view),
                f"{view.accepted_count}/{view.soft_accepted_count}/{view.rejected_count}",
                str(sum(case.is_empty for case in row.result.cases.values())),
                f"{latency.avg_inference_ms / 1000:.1f}",
            ]
        )
    return markdown_table(head, rows)


def _means(view: ViewSummary) -> list[str]:
    return [f"{getattr(view, f'avg_{component.name}'):.3f}" for component in COMPONENTS]


def families_table(parts: Sequence[BoardSlice]) -> str:
    """Return a row a result, in the order of the board: quality core, interval and rank on each family of cases."""
    head = ["result", *(f"{part.value.replace('_', ' ')} ({part.case_count})" for part in parts)]
    rows = [
        [placed.label, *(placed_text(part.placed[place]) for part in parts)]
        for place, placed in enumerate(parts[0].placed)
    ]
    return markdown_table(head, rows)


def main() -> int:
    """Write the page."""
    text = PUBLISHED_PAGE.read_text(encoding="utf-8")
    if (new := renewed(text, published_texts())) != text:
        write_atomically(PUBLISHED_PAGE, new)
        show(f"written: {PUBLISHED_PAGE.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
