"""Scores stored answers again, without any model: `python -m benchmark.rescore results/`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmark.cases import Case
from benchmark.cli.command import (
    DEFAULT_RESULTS,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    BenchmarkParser,
    add_dataset,
    add_results,
    command_parser,
    run_command,
)
from benchmark.cli.console import terminal
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.rescoring import Rescored, rescore
from benchmark.judges.calibrations import CALIBRATIONS, known_calibration
from benchmark.judges.commands import INTERRUPTED, add_who_judges, judge_options
from benchmark.judges.named_judges import judges_of
from benchmark.judges.prose import ProseAnswers, judge_prose, scorer_of
from benchmark.judges.records import JudgedTask
from benchmark.record.base import known
from benchmark.record.paths import RUN_REPORTS, report_names, scenario_report_beside
from benchmark.record.read import StoredResult, agreeing, find_results, stored
from benchmark.record.write import result_text
from benchmark.render.csv import case_csv
from benchmark.render.figures import counted
from benchmark.render.markdown import run_markdown, scenario_markdown
from benchmark.render.rescored import print_rescored
from benchmark.scoring import Embedder
from ctxsift.errors import InputError
from ctxsift.files import holds, write_atomically
from ctxsift.terminal import show, tell

_EXAMPLES = """\
  python -m benchmark.rescore results/                      score all results below it with the current scorer
  python -m benchmark.rescore results/ --dry-run            only show what would change
  python -m benchmark.rescore results/ --output-dir new/    keep the old files and write new ones below new/
  python -m benchmark.rescore results/ --judge ROW          also have a row of the matrix judge the prose answers

Rescoring keeps the answers, the times and the description of the run. Files from earlier versions are updated; files
that are up to date stay the same, byte for byte.
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "rescore",
        "Score stored answers again after a change to the scorer or to a case's rules. Does not run any model, except "
        "with --judge.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 no answer was judged or stdout could not be written to, 2 bad usage or input, 130 "
        "interrupted",
    )
    add_results(parser)
    add_dataset(parser)
    parser.add_argument(
        "--output-dir", type=Path, metavar="DIR", help="write to DIR instead of overwriting the old files"
    )
    parser.add_argument("--dry-run", action="store_true", help="show what would change, without writing anything")
    parser.add_argument(
        "--skip-changed", action="store_true", help="skip cases whose question has changed since the run"
    )
    judges = parser.add_argument_group("judge prose answers (a second opinion; does not affect the score)")
    add_who_judges(judges, "default: none. Its scores are kept until the answer or the gold changes", required=False)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _rescore, argv, on_os_error=_unwritable)


def _unwritable(_: argparse.Namespace, error: OSError) -> tuple[str, int]:
    return f"{error}; every file that was written is complete", EXIT_USAGE


def _check(options: argparse.Namespace) -> None:
    """Raise InputError for options that make no sense together."""
    if options.skip_changed and options.output_dir is None:
        raise InputError("--skip-changed", "would delete answers from the files", "add --output-dir DIR")
    if options.judge and (len(options.judge) > 1 or options.dry_run):
        problem = (
            "cannot be used with --dry-run" if options.dry_run else "is given twice, but a result has only one judge"
        )
        raise InputError("--judge", problem, "leave out one of the two")


def _rescore(options: argparse.Namespace) -> int:
    _check(options)
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS)
    references = ReferenceScores(Embedder())
    targets = _targets(options.paths, options.output_dir)
    # All of them before anything is written: a file that cannot be rescored must not leave half a tree changed.
    done = {
        target: rescore(result, corpus, references, skip_changed=options.skip_changed)
        for target, result in targets.items()
    }
    if options.judge:
        try:
            done = _judged(done, {case.case_id: case for case in corpus.cases}, options)
        except KeyboardInterrupt:
            tell(INTERRUPTED)
            return EXIT_INTERRUPTED
    changed = {path: text for path, text in _files(done, options.output_dir).items() if not holds(path, text)}
    if not options.dry_run:
        for path, text in changed.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
    print_rescored(terminal(), list(done.values()))
    would = "would be " if options.dry_run else ""
    written = f"{counted(len(done), 'result')}: {counted(len(changed), 'file')} {would}written"
    show(written if changed else "nothing changed")
    return EXIT_FAILED if options.judge and not _is_scored(list(done.values())) else EXIT_OK


def _judged(
    done: Mapping[Path, Rescored], cases: Mapping[str, Case], options: argparse.Namespace
) -> dict[Path, Rescored]:
    """Return results with what a judge says of their prose. Raises as `judges_of` and `judge_prose` do."""
    answers = [ProseAnswers(each.record, cases, with_context=options.with_context) for each in done.values()]
    asked = judge_options(options, DEFAULT_RESULTS / "judges")
    (judge,) = judges_of(options.judge, asked, lambda: scorer_of(answers))
    calibration = known_calibration(judge.identity, [CALIBRATIONS], JudgedTask.CASES)
    judged = judge_prose(answers, judge, calibration)
    return {
        target: dataclasses.replace(each, record=record)
        for (target, each), record in zip(done.items(), judged, strict=True)
    }


def _is_scored(done: Sequence[Rescored]) -> bool:
    """Return whether a judge has scored anything, and say on stderr what it has not."""
    found = [(each.record.judge, known(each.record.summary.prose)) for each in done]
    for judge, prose in found:
        if prose and prose.unscored_count:
            error = known(judge)
            why = f": {error.error}" if error and error.error else ""
            tell(f"warning: {counted(prose.unscored_count, 'answer')} unscored by the judge{why}")
    return any(prose and prose.judged_count for _, prose in found)


def _targets(paths: Sequence[Path], folder: Path | None) -> dict[Path, StoredResult]:
    """Return for every result below `paths` where it is to be written: in its place, or mirrored below `folder`."""
    found: dict[Path, StoredResult] = {}
    sources = set()
    for path in paths:
        root = path if path.is_dir() else path.parent
        for result in find_results([path], believed=True):
            source = result.path.resolve()
            if source in sources:
                continue
            sources.add(source)
            # A folder behind a link is mirrored where the link is.
            target = source if folder is None else (folder / result.path.relative_to(root)).resolve()
            if target.suffix == ".gz" and folder is not None:
                target = target.with_suffix("")
            if target in found:
                problem = f"and {found[target].path} would both become {target}"
                raise InputError(str(result.path), problem, "rescore one at a time")
            found[target] = result
    if folder is not None and sources & found.keys():
        raise InputError(f"--output-dir {folder}", "contains the results to be rescored", "name another folder")
    return found


def _files(done: Mapping[Path, Rescored], output_dir: Path | None) -> dict[Path, str]:
    """Return every file that follows from the rescored results: results, their reports, the reports of their runs."""
    files: dict[Path, str] = {}
    fresh = {target: stored(target, rescored.record) for target, rescored in done.items()}
    for target, result in fresh.items():
        files[target] = result_text(result.record)
        files[scenario_report_beside(target)] = scenario_markdown(result)
    by_source = {rescored.stored.path.resolve(): fresh[target] for target, rescored in done.items()}
    for target, rescored in done.items():
        source = rescored.stored.path.parent
        for folder, report, cases in _run_reports(source, fresh[target].timestamp):
            mirrored = target.parent if folder == source else target.parent.parent
            beside = folder.resolve() if output_dir is None else mirrored
            outside = output_dir is not None and not beside.is_relative_to(output_dir.resolve())
            if outside or beside / report in files:
                continue
            # With what was not named on the command line: a run's report is about all of it.
            members = [
                by_source.get(result.path.resolve()) or agreeing(result)
                for result in find_results([folder], believed=True)
                if folder == source or result.timestamp == fresh[target].timestamp
            ]
            files[beside / report], files[beside / cases] = run_markdown(members), case_csv(members)
    return files


def _run_reports(source: Path, timestamp: str) -> Iterator[tuple[Path, str, str]]:
    """Yield folder and names of the reports that are there of the run whose result is in the folder `source`."""
    for folder, names in ((source, RUN_REPORTS), (source.parent, report_names(timestamp))):
        if (folder / names[0]).exists():
            yield folder, *names


if __name__ == "__main__":
    sys.exit(main())
