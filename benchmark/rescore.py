"""Score stored answers anew, without any model: `python -m benchmark.rescore results/`."""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from benchmark.console import reader_may_go, terminal
from benchmark.corpus import DEFAULT_CORPUS, Case, Corpus, load_corpus
from benchmark.documents import CASES_NAME, REPORT_NAME, case_csv, run_markdown, scenario_markdown
from benchmark.results import assemble, encoded, result_json, scoring_identity, write_atomically
from benchmark.rollup import References
from benchmark.run.outcome import InstrumentFailure, Outcome, judge
from benchmark.scoring import Embedder
from benchmark.stored import SCHEMA_VERSION, StoredResult, as_result, find_results, labels
from ctxsift.backends.base import Generation
from ctxsift.compress import Answer
from ctxsift.errors import InputError, did_you_mean
from ctxsift.terminal import one_line

_SHOWN_MOVES = 10
_EXAMPLES = """\
examples:
  python -m benchmark.rescore results/                      score all results below it with today's scorer
  python -m benchmark.rescore results/ --dry-run            only say what would move
  python -m benchmark.rescore results/ --output-dir new/    leave the old files as they are, mirror them below new/

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

    Times, the description of the run and answers stay as they are.

    Raises:
        InputError: the file has no raw answers of ours, or a case is gone from the corpus or asks something else now.

    """
    record = stored.record
    version = record.get("schema_version")
    if version is None:
        raise InputError(str(stored.path), "is of the published layout", "only results of this runner can be rescored")
    if version not in (1, SCHEMA_VERSION):
        raise InputError(f"{stored.path}: /schema_version", f"{version} is unknown", "use the version that wrote it")
    try:
        return _rescore(stored, corpus, references, skip_changed)
    except (KeyError, TypeError, AttributeError) as error:
        # Only files of the first version get here without having been checked by a schema.
        raise InputError(str(stored.path), f"is damaged ({error})", "take it from a backup") from error


def _rescore(stored: StoredResult, corpus: Corpus, references: References, skip_changed: bool) -> Rescored:
    record = stored.record
    by_id = {case.case_id: case for case in corpus.cases}
    outcomes: list[Outcome] = []
    skipped: list[str] = []
    for number, row in enumerate(record["cases"]):
        case = by_id.get(row["case_id"])
        problem = _differs(row, case)
        if case is not None and not problem:
            outcome = _judge(row, case, record["run"]["recovery_enabled"], references.embedder)
            if isinstance(outcome, InstrumentFailure) and row["outcome"] != "instrument_failure":
                raise InputError(f"{stored.path}: /cases/{number}", outcome.error, "this is a fault of the scorer")
            outcomes.append(outcome)
        elif skip_changed:
            skipped.append(row["case_id"])
        else:
            hint = "" if case else f" ({did_you_mean(row['case_id'], by_id)})"
            raise InputError(
                f"{stored.path}: /cases/{number}",
                f"{row['case_id']} {problem}{hint}",
                "name the corpus of then with --dataset, or leave such cases out with --skip-changed --output-dir DIR",
            )
    run = record["run"] | scoring_identity(corpus)
    answered = sum(not isinstance(outcome, InstrumentFailure) for outcome in outcomes)
    run["complete"] = not run["error"] and answered == len(run["case_ids"])
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


def _judge(row: dict[str, Any], case: Case, recovery_enabled: bool, embedder: Embedder) -> Outcome:
    answer = _answer(row)
    if answer is None:
        return InstrumentFailure(case, row["error"], row["attempts"])
    return judge(
        case,
        answer,
        embedder,
        recovery_enabled=recovery_enabled,
        attempts=row["attempts"],
        elapsed_ms=row.get("elapsed_ms"),
        rss_bytes=row.get("cpu_rss_bytes"),
    )


def _answer(row: dict[str, Any]) -> Answer | None:
    """Return the stored answer of a case; None when none ever came."""
    if "unscored_answer" in row:
        stored = dict(row["unscored_answer"])
        cut = stored.pop("input_chars_cut")
        return Answer(Generation(**stored), cut)
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
        # Not in older files.
        begins_in_reasoning=row.get("begins_in_reasoning", False),
        reasoning_tokens=row.get("reasoning_tokens"),
        cost_usd=row.get("cost_usd"),
        gpu_peak_bytes=row.get("gpu_peak_bytes"),
    )
    return Answer(generation, row["input_chars_cut"])


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of this command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.rescore",
        description="Score stored answers anew, after a change of the scorer or of the corpus's rules. No model runs.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="results tree, run folder or result file")
    parser.add_argument(
        "--dataset", type=Path, metavar="PATH", help="corpus folder or .jsonl; default: the packaged one"
    )
    parser.add_argument("--output-dir", type=Path, metavar="DIR", help="write there instead of over the old files")
    parser.add_argument("--dry-run", action="store_true", help="only say what would move")
    parser.add_argument("--skip-changed", action="store_true", help="leave out cases that ask something else by now")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0, or 2 on bad input."""
    options = build_parser().parse_args(argv)
    try:
        if options.skip_changed and options.output_dir is None:
            raise InputError("--skip-changed", "would delete answers from the files", "add --output-dir DIR")
        corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
        references = References(Embedder())
        targets = _targets(options.paths, options.output_dir)
        # All of them before anything is written: a file that cannot be rescored must not leave half a tree changed.
        done = {
            target: rescore(result, corpus, references, skip_changed=options.skip_changed)
            for target, result in targets.items()
        }
        changed = {path: text for path, text in _files(done, options.output_dir).items() if not _holds(path, text)}
        if not options.dry_run:
            for path, content in changed.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, content)
        with reader_may_go():
            _show(list(done.values()))
            would = "would be " if options.dry_run else ""
            print(f"{len(done)} results: {len(changed)} files {would}written" if changed else "nothing changed")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error}; what was written is whole", file=sys.stderr)
        return 2
    return 0


def _targets(paths: Sequence[Path], folder: Path | None) -> dict[Path, StoredResult]:
    """Return for every result below `paths` where it is to be written: in its place, or mirrored below `folder`."""
    found: dict[Path, StoredResult] = {}
    sources = set()
    for path in paths:
        root = path if path.is_dir() else path.parent
        for result in find_results([path], any_version=True):
            source = result.path.resolve()
            if source in sources:
                continue
            sources.add(source)
            target = source if folder is None else (folder / source.relative_to(root.resolve())).resolve()
            if target.suffix == ".gz" and folder is not None:
                target = target.with_suffix("")
            if target in found:
                raise InputError(str(result.path), f"and {found[target].path} would both become {target}", "do one")
            found[target] = result
    if folder is not None and sources & found.keys():
        raise InputError(f"--output-dir {folder}", "holds the results to be rescored", "name another folder")
    return found


def _files(done: dict[Path, Rescored], output_dir: Path | None) -> dict[Path, str]:
    """Return every file that follows from the rescored results: results, their reports, the reports of their runs."""
    files: dict[Path, str] = {}
    fresh: dict[Path, StoredResult] = {}
    for target, rescored in done.items():
        fresh[target] = as_result(target, rescored.record, check=False)
        files[target] = result_json(rescored.record)
        stem = target.name.removesuffix(".gz").removesuffix(".json")
        files[target.with_name(f"{stem}.md")] = scenario_markdown(fresh[target])
    for target, rescored in done.items():
        source = rescored.stored.path.parent
        names = [(source, REPORT_NAME, CASES_NAME)]
        if when := fresh[target].timestamp:
            names.append((source.parent, f"report-{when}.md", f"cases-{when}.csv"))
        for folder, report, cases in names:
            beside = target.parent if folder == source else target.parent.parent
            outside = output_dir is not None and not beside.is_relative_to(output_dir.resolve())
            if outside or not (folder / report).exists() or beside / report in files:
                continue
            # With what was not named on the command line: a run's report is about all of it.
            whole = {r.path.resolve(): r for r in find_results([folder], any_version=True)}
            members = [
                fresh.get(_target_of(path, done), result)
                for path, result in whole.items()
                if folder == source or result.timestamp == when
            ]
            files[beside / report] = run_markdown(members)
            files[beside / cases] = case_csv(members)
    return files


def _target_of(source: Path, done: dict[Path, Rescored]) -> Path:
    return next((t for t, rescored in done.items() if rescored.stored.path.resolve() == source), source)


def _holds(path: Path, text: str) -> bool:
    """Say whether a file has these bytes (packed, if it is a .gz)."""
    if not path.exists():
        return False
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content) == encoded(text)


def _show(done: Sequence[Rescored]) -> None:
    table = Table(title="Rescored (final scores before -> after)")
    for title in ("scenario", "recovered", "raw", "cases moved", "cases left out"):
        table.add_column(title, justify="left" if title == "scenario" else "right")
    names = labels([rescored.stored for rescored in done])
    for label, rescored in zip(names, done, strict=True):
        before, after = rescored.stored.record["summary"], rescored.record["summary"]
        table.add_row(
            Text(label),
            _moved(before.get("final_score"), after.get("final_score")),
            _moved(before.get("raw_view", {}).get("final_score"), after["raw_view"].get("final_score")),
            f"{len(rescored.moves)} of {len(rescored.stored.cases)}",
            str(len(rescored.skipped)),
        )
    console = terminal()
    console.print(table)
    for label, rescored in zip(names, done, strict=True):
        for move in rescored.moves[:_SHOWN_MOVES]:
            words = f"{label}: {one_line(move.case_id)}  {move.before:.3f} -> {move.after:.3f}"
            console.print(Text(words), soft_wrap=True)
        if len(rescored.moves) > _SHOWN_MOVES:
            console.print(Text(f"{label}: ... and {len(rescored.moves) - _SHOWN_MOVES} more cases"))


def _moved(before: float | None, after: float | None) -> str:
    shown = ["-" if value is None else f"{value:.2f}" for value in (before, after)]
    return shown[0] if before == after else " -> ".join(shown)


if __name__ == "__main__":
    sys.exit(main())
