"""Score stored answers anew, without any model: `python -m benchmark.rescore results/`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from benchmark.corpus import DEFAULT_CORPUS, Case, Corpus, load_corpus
from benchmark.documents import CASES_NAME, REPORT_NAME, case_csv, run_markdown, scenario_markdown
from benchmark.report import terminal
from benchmark.results import SCHEMA_VERSION, assemble, result_json, scoring_identity, write_atomically
from benchmark.rollup import References
from benchmark.run.outcome import InstrumentFailure, Outcome, judge
from benchmark.scoring import Embedder
from benchmark.stored import StoredResult, find_results
from ctxsift.backends.base import Generation
from ctxsift.compress import Answer
from ctxsift.errors import InputError, did_you_mean

_SHOWN_MOVES = 10
_EXAMPLES = """\
examples:
  python -m benchmark.rescore results/                      score all results below it with today's scorer
  python -m benchmark.rescore results/ --dry-run            only say what would move
  python -m benchmark.rescore old.json --output-dir new/    leave the old file as it is

Answers, times and the description of the run stay as they are. A file in which nothing changes keeps every byte.
exit codes: 0 done, 2 bad usage or input
"""


@dataclass(frozen=True)
class Move:
    """A case whose score changed; figures in [0, 1]."""

    case_id: str
    before: float
    after: float


@dataclass(frozen=True)
class Rescored:
    """One result, scored anew.

    Attributes:
        skipped: cases left out since the corpus now asks something else there (`skip_changed`).

    """

    stored: StoredResult
    record: dict[str, Any]
    moves: tuple[Move, ...]
    skipped: tuple[str, ...]


def rescore(stored: StoredResult, corpus: Corpus, references: References, *, skip_changed: bool = False) -> Rescored:
    """Score the answers of a result by the present scorer, recovery and corpus.

    Raises:
        InputError: the file has no raw answers of ours, or a case is gone from the corpus or asks something else now.

    """
    record = stored.record
    version = record.get("schema_version")
    if version is None:
        raise InputError(str(stored.path), "is of the published layout", "only results of this runner can be rescored")
    if version not in (1, SCHEMA_VERSION):
        raise InputError(f"{stored.path}: /schema_version", f"{version} is unknown", "use the version that wrote it")
    by_id = {case.case_id: case for case in corpus.cases}
    outcomes: list[Outcome] = []
    skipped: list[str] = []
    for number, row in enumerate(record["cases"]):
        where = f"{stored.path}: /cases/{number}"
        try:
            case = by_id.get(row["case_id"])
            problem = _differs(row, case)
            if case is not None and not problem:
                answer = _answer(row)
        except (KeyError, TypeError) as error:
            raise InputError(where, f"is no case of a result ({error})", "the file is damaged") from error
        if case is not None and not problem:
            outcomes.append(_judge(row, case, answer, record["run"]["recovery_enabled"], references.embedder))
        elif skip_changed:
            skipped.append(row["case_id"])
        else:
            hint = "" if case else f" ({did_you_mean(row['case_id'], by_id)})"
            raise InputError(
                where,
                f"{row['case_id']} {problem}{hint}",
                "name the corpus of then with --dataset, or leave such cases out with --skip-changed",
            )
    run = record["run"] | scoring_identity(corpus)
    if skipped:
        run["complete"] = False
    after = assemble(record["scenario"], record["warmup"], run, outcomes, references)
    new = {row["case_id"]: row.get("case_score") for row in after["cases"]}
    moves = [
        Move(case.case_id, case.score, new[case.case_id])
        for case in stored.cases.values()
        if new.get(case.case_id) is not None and new[case.case_id] != case.score
    ]
    moves.sort(key=lambda move: -abs(move.after - move.before))
    return Rescored(stored, after, tuple(moves), tuple(skipped))


def _differs(row: dict[str, Any], case: Case | None) -> str:
    """Return why an answer can no longer be scored, or an empty text."""
    if case is None:
        return "is not in the corpus"
    asked = (row["raw_input"], row["instruction"], row["intent"])
    return "" if asked == (case.raw_input, case.instruction, str(case.intent)) else "asks something else by now"


def _answer(row: dict[str, Any]) -> Answer | None:
    """Return the stored answer of a case; None when none ever came."""
    if row["outcome"] == "instrument_failure":
        return None
    generation = Generation(
        text=row["raw_view"]["output"],
        finish_reason=row["finish_reason"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        prefill_ms=row["prefill_ms"],
        decode_ms=row["decode_ms"],
        total_ms=row["inference_ms"],
        model=row["model"],
        reasoning=row["reasoning"],
        # Not in files of the first version.
        cost_usd=row.get("cost_usd"),
    )
    return Answer(generation, row["input_chars_cut"])


def _judge(
    row: dict[str, Any], case: Case, answer: Answer | None, recovery_enabled: bool, embedder: Embedder
) -> Outcome:
    if answer is None:
        return InstrumentFailure(case, row["error"], row["attempts"])
    return judge(
        case,
        answer,
        embedder,
        recovery_enabled=recovery_enabled,
        attempts=row["attempts"],
        rss_bytes=row["cpu_rss_bytes"],
    )


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of this command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.rescore",
        description="Score stored answers anew, after a change of the scorer or of the corpus's rules. No model runs.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="results tree, run folder or result file")
    parser.add_argument("--dataset", type=Path, metavar="DIR", help="corpus folder; default: the packaged corpus")
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="write there instead of over the old files")
    parser.add_argument("--dry-run", action="store_true", help="only say what would move")
    parser.add_argument("--skip-changed", action="store_true", help="leave out cases that ask something else by now")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 on bad input."""
    options = build_parser().parse_args(argv)
    try:
        corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
        references = References(Embedder(), {})
        stored = find_results(options.paths)
        # All of them first: a file that cannot be rescored must not leave half a tree changed.
        done = [rescore(result, corpus, references, skip_changed=options.skip_changed) for result in stored]
        written = 0 if options.dry_run else _write(done, options.output_dir)
        _show(done)
        print(f"{len(done)} results: {written} files written" + (" (dry run)" if options.dry_run else ""))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: {error}; what was written is whole", file=sys.stderr)
        return 2
    return 0


def _write(done: Sequence[Rescored], folder: Path | None) -> int:
    """Write results and reports whose bytes differ; return how many files were written."""
    written = 0
    together: dict[Path, list[dict[str, Any]]] = {}
    for rescored in done:
        path = rescored.stored.path
        if folder is not None:
            path = folder / path.parent.name / path.name
        if path.suffix == ".gz":
            path = path.with_suffix("")
        path.parent.mkdir(parents=True, exist_ok=True)
        together.setdefault(path.parent, []).append(rescored.record)
        written += _write_changed(path, result_json(rescored.record))
        written += _write_changed(path.with_suffix(".md"), scenario_markdown(rescored.record))
    for parent, records in together.items():
        # The report of a run is as old as its results.
        if (parent / REPORT_NAME).exists():
            written += _write_changed(parent / REPORT_NAME, run_markdown(records))
            written += _write_changed(parent / CASES_NAME, case_csv(records))
    return written


def _write_changed(path: Path, text: str) -> bool:
    if path.exists() and path.read_bytes() == text.encode("utf-8", "backslashreplace"):
        return False
    write_atomically(path, text)
    return True


def _show(done: Sequence[Rescored]) -> None:
    table = Table(title="Rescored (final scores before -> after)")
    for title in ("scenario", "recovered", "raw", "cases moved", "cases left out"):
        table.add_column(title, justify="left" if title == "scenario" else "right")
    for rescored in done:
        before, after = rescored.stored.record["summary"], rescored.record["summary"]
        table.add_row(
            Text(rescored.stored.name),
            _moved(before.get("final_score"), after.get("final_score")),
            _moved(before.get("raw_view", {}).get("final_score"), after["raw_view"].get("final_score")),
            f"{len(rescored.moves)} of {len(rescored.stored.cases)}",
            str(len(rescored.skipped)),
        )
    console = terminal()
    console.print(table)
    for rescored in done:
        for move in rescored.moves[:_SHOWN_MOVES]:
            words = f"{rescored.stored.name}: {move.case_id}  {move.before:.3f} -> {move.after:.3f}"
            console.print(Text(words), soft_wrap=True)
        if len(rescored.moves) > _SHOWN_MOVES:
            console.print(Text(f"{rescored.stored.name}: ... and {len(rescored.moves) - _SHOWN_MOVES} more"))


def _moved(before: float | None, after: float | None) -> str:
    shown = ["-" if value is None else f"{value:.2f}" for value in (before, after)]
    return shown[0] if before == after else " -> ".join(shown)


if __name__ == "__main__":
    sys.exit(main())
