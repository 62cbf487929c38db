"""Runs the compressors of the matrix that are installed, and writes docs/compressors.md: `python -m tools.compressors`.

Beside them stand the baselines and gold. `--results DIR` reads stored results instead, and runs nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmark.analysis.comparison import Measure, compare
from benchmark.analysis.figures import READ, Form
from benchmark.analysis.leaderboard import build_leaderboards
from benchmark.analysis.retention import RetentionJudge, retention_boards
from benchmark.matrix import DEFAULT_MATRIX, Scenario, Track, load_matrix
from benchmark.record.read import StoredResult, find_results
from benchmark.render.figures import board_title, figure_text, form_text, interval_text
from benchmark.render.markdown import markdown_table
from benchmark.render.notes import notes
from benchmark.render.retention import retention_tables
from benchmark.runner import main as run
from benchmark.scoring import Embedder
from ctxsift.backends.base import ModelOptions, ModelSpec
from ctxsift.backends.registry import traits_of
from ctxsift.files import write_atomically
from ctxsift.settings import Settings
from ctxsift.terminal import show, tell

PAGE = Path("docs") / "compressors.md"
BEGIN, END = "<!-- compressors: python -m tools.compressors -->\n", "<!-- end of compressors -->\n"
_BASELINES = ("control-gold", "control-echo", "control-empty", "control-tf-idf", "control-extractor")
_SCORE, _GAP = Form(), Form(signed=True)
BEFORE_TITLES = (
    "model",
    "compressor",
    "cases",
    "score without",
    "score with",
    "difference",
    "share read",
    "seconds without",
    "seconds with",
)
# Below a table of what is kept, these would only repeat themselves.
_SAID_ELSEWHERE = ("does not beat", "latency is not clean")


def ready(scenarios: Sequence[Scenario]) -> Iterator[Scenario]:
    """Yield the compressors that are installed, and say how to install the others."""
    for scenario in scenarios:
        if scenario.track is not Track.COMMAND:
            continue
        spec = ModelSpec(scenario.model, options=ModelOptions(program=scenario.program))
        (missing,) = traits_of(scenario.backend_name).missing([spec], Settings())
        if missing or scenario.leaves_machine:
            tell(f"left out: {scenario.name}: {missing or 'it sends the corpus elsewhere'}")
        else:
            yield scenario


def measured(results: Sequence[StoredResult]) -> str:
    """Return what stands between the marks of the page: what was run, what is kept, what was odd."""
    results = [result for result in results if result.cases]
    behind = before_rows(results)
    ranked = [result for result in results if not _stands(result)]
    boards = build_leaderboards(ranked)
    newest = max(result.timestamp for result in results)
    when = datetime.strptime(newest, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).date()
    programs = sorted((r for r in results if r.track is Track.COMMAND), key=lambda result: result.name)
    versions = [[r.name, r.record.scenario.model, _version(r), r.record.scenario.install or ""] for r in programs]
    odd = [f"{r.name}: {note}" for r in programs for note in notes(r) if not note.startswith(_SAID_ELSEWHERE)]
    parts = [
        f"Measured on {when}: {'; '.join(map(board_title, boards))}.",
        *retention_tables(retention_boards(boards, ranked, RetentionJudge(Embedder()))),
        markdown_table(["row", "program", "version", "how to install it"], versions),
        *([markdown_table(["row", "note"], [note.split(": ", 1) for note in odd])] if odd else []),
        *(["## In front of a model", markdown_table(BEFORE_TITLES, behind)] if behind else []),
    ]
    return "\n\n".join(parts) + "\n"


def before_rows(results: Sequence[StoredResult]) -> list[list[str]]:
    """Return a row for each model behind a program that also ran alone, over the cases that they share."""
    found = []
    for result in sorted(filter(_stands, results), key=lambda each: each.name):
        scenario = result.record.scenario
        alone = [r for r in results if r.record.scenario.model == scenario.model and not _stands(r)]
        if not alone:
            continue
        pair = compare(max(alone, key=lambda each: len(each.cases.keys() & result.cases.keys())), result)
        score, latency = pair.difference(Measure.FINAL), [_mean_s(each, pair.shared) for each in (pair.a, pair.b)]
        final = next(figure for figure in pair.figures if figure.name is Measure.FINAL)
        ends = (score.interval.low, score.interval.high) if score.interval else None
        gap = form_text(_GAP, score.value) + interval_text(_GAP, ends)
        reads = figure_text(READ, result.record.summary)
        figures = [form_text(_SCORE, final.a), form_text(_SCORE, final.b), gap, reads, *(f"{s:.2f}" for s in latency)]
        found.append([scenario.model, scenario.before or "", str(len(pair.shared)), *figures])
    return found


def _stands(result: StoredResult) -> bool:
    return result.record.scenario.before is not None


def _mean_s(result: StoredResult, cases: Sequence[str]) -> float:
    return sum(result.cases[case].time_ms for case in cases) / len(cases) / 1000


def _version(result: StoredResult) -> str:
    backend = result.record.run.backend if result.record.run else None
    return backend.engine_version if backend else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is installed, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.compressors", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--results",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="write the page from these results, without running anything",
    )
    parser.add_argument("--output-dir", type=Path, default=Path("results"), metavar="DIR", help="default: %(default)s")
    options = parser.parse_args(argv)
    folders, code = options.results, 0
    if folders is None:
        folder = options.output_dir / f"compressors-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        names = [scenario.name for scenario in ready(load_matrix(DEFAULT_MATRIX))]
        arguments = [word for name in [*_BASELINES, *names] for word in ("--scenario", name)]
        # What is not installed behind an adapter fails, and is left out.
        code, folders = run(["--output-dir", str(folder), *arguments]), [folder]
        if not any(result.cases for result in find_results(folders)):
            return code
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    write_atomically(PAGE, f"{before}{BEGIN}{measured(find_results(folders))}{END}{after}")
    show(f"written: {PAGE}")
    return code


if __name__ == "__main__":
    sys.exit(main())
