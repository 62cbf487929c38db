"""Runs the compressors of the matrix that are installed, and writes docs/compressors.md: `python -m tools.compressors`.

Beside them stand the baselines and gold. `--results DIR` reads stored results instead, and runs nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmark.analysis.leaderboard import build_leaderboards
from benchmark.analysis.retention import RetentionJudge, retention_board
from benchmark.matrix import DEFAULT_MATRIX, Scenario, Track, load_matrix
from benchmark.record.read import StoredResult, find_results
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
    boards = build_leaderboards(results)
    judge = RetentionJudge(Embedder())
    newest = max(result.timestamp for result in results)
    when = datetime.strptime(newest, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).date()
    programs = sorted((r for r in results if r.track is Track.COMMAND), key=lambda result: result.name)
    versions = [[r.name, r.record.scenario.model, _version(r), r.record.scenario.install or ""] for r in programs]
    odd = [f"{r.name}: {note}" for r in programs for note in notes(r) if not note.startswith(_SAID_ELSEWHERE)]
    parts = [
        f"Measured on {when}.",
        *retention_tables([retention_board(board, judge) for board in boards]),
        markdown_table(["row", "what", "version", "install"], versions),
        *([markdown_table(["noted", ""], [note.split(": ", 1) for note in odd])] if odd else []),
    ]
    return "\n\n".join(parts) + "\n"


def _version(result: StoredResult) -> str:
    backend = result.record.run.backend if result.record.run else None
    return backend.engine_version if backend else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run what is installed, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.compressors", description=__doc__.partition("\n")[0])
    parser.add_argument("--results", type=Path, metavar="DIR", help="write the page from these results, run nothing")
    parser.add_argument("--output-dir", type=Path, default=Path("results"), metavar="DIR", help="default: %(default)s")
    options = parser.parse_args(argv)
    folder = options.results
    if folder is None:
        folder = options.output_dir / f"compressors-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        names = [scenario.name for scenario in ready(load_matrix(DEFAULT_MATRIX))]
        arguments = [word for name in [*_BASELINES, *names] for word in ("--scenario", name)]
        if code := run(["--output-dir", str(folder), *arguments]):
            return code
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    write_atomically(PAGE, f"{before}{BEGIN}{measured(find_results([folder]))}{END}{after}")
    show(f"written: {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
