"""`python -m benchmark.corpus`: prove, measure, export and read the corpus."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmark.console import reader_may_go, terminal
from benchmark.corpus.cases import Case
from benchmark.corpus.loader import DEFAULT_CORPUS, Corpus, load_corpus
from benchmark.corpus.shape import Quota, quotas
from ctxsift.errors import InputError, did_you_mean

_EXAMPLES = """\
examples:
  python -m benchmark.corpus check                          prove the packaged corpus
  python -m benchmark.corpus check --dataset mine.jsonl     say what is wrong with another one
  python -m benchmark.corpus stats
  python -m benchmark.corpus export > corpus.jsonl
  python -m benchmark.corpus show java-root-cause-exact

exit codes: 0 all is well, 1 findings, 2 bad usage or input
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of this command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.corpus",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (
        (
            "check",
            "prove every case (anchors, rules, gold at 1.0, controls kept low), and the packaged corpus's shape",
        ),
        ("stats", "show the shape: cases by intent, family, difficulty, length, tools"),
        ("export", "print JSON lines in the published field names"),
        ("show", "show one case to read"),
    ):
        command = commands.add_parser(name, help=words, description=words)
        command.add_argument(
            "--dataset",
            type=Path,
            default=DEFAULT_CORPUS,
            metavar="PATH",
            help="corpus folder or JSONL file (default: the packaged corpus)",
        )
        if name == "show":
            command.add_argument("case_id", metavar="ID")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return 0 when all is well, 1 with findings, 2 on bad input."""
    options = build_parser().parse_args(argv)
    try:
        corpus = load_corpus(options.dataset)
        if options.command == "check":
            return _check(corpus)
        with reader_may_go():
            if options.command == "stats":
                _stats(corpus)
            elif options.command == "export":
                _export(corpus)
            else:
                _show(corpus, options.case_id)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _check(corpus: Corpus) -> int:
    """Print findings and quotas; return the verdict, whoever reads along."""
    from benchmark.corpus.check import check_corpus
    from benchmark.scoring import Embedder
    from ctxsift.terminal import one_line

    embedder = Embedder()
    packaged = corpus.path == DEFAULT_CORPUS
    findings = check_corpus(corpus.cases, embedder, whole=packaged)
    found = list(quotas(corpus.cases, embedder.count_tokens)) if packaged else []
    missed = sum(not quota.met for quota in found)
    captures = len({case.capture.name for case in corpus.cases})
    with reader_may_go():
        for finding in findings:
            print(one_line(f"{finding.where}: {finding.problem}"))
        if found:
            _print_quotas(found)
        print(f"{len(corpus.cases)} cases on {captures} captures: {len(findings)} findings, {missed} quotas missed")
    return 1 if findings or missed else 0


def _stats(corpus: Corpus) -> None:
    from benchmark.scoring import Embedder

    _print_quotas(list(quotas(corpus.cases, Embedder().count_tokens)))


def _print_quotas(found: Sequence[Quota]) -> None:
    table = Table(title="The shape of the corpus, and what the packaged one has to have")
    for title in ("what", "value", "wanted", ""):
        table.add_column(title, justify="right" if title == "value" else "left")
    for quota in found:
        table.add_row(quota.name, f"{quota.value:.4g}", quota.wanted, "" if quota.met else "missed")
    terminal().print(table)


def _export(corpus: Corpus) -> None:
    from benchmark.corpus.jsonl import case_row

    for case in corpus.cases:
        print(json.dumps(case_row(case), ensure_ascii=False))


def _show(corpus: Corpus, case_id: str) -> None:
    from ctxsift.terminal import printable

    by_id = {case.case_id: case for case in corpus.cases}
    if case_id not in by_id:
        raise InputError(case_id, "is not in the corpus", did_you_mean(case_id, by_id))
    print(printable(_readable(by_id[case_id]), limit=1_000_000))


def _readable(case: Case) -> str:
    capture = case.capture
    rules = [
        f"{name.replace('_', ' ')}: {value if isinstance(value, int | str) else ', '.join(value)}"
        for name, value in vars(case.rules).items()
        if value
    ]
    parts = [
        f"{case.case_id}: {case.title}",
        f"{case.family}, {case.intent} ({case.output_mode}), {case.difficulty}; {case.where}",
        f"{capture.tool} {capture.version}, {capture.origin}, exit code {capture.exit_code}: {capture.command}",
        f"-- instruction\n{case.instruction.strip()}",
        f"-- gold\n{case.expected_output}",
        *(f"-- or\n{other}" for other in case.alternatives),
        "-- anchors\n" + "\n".join(case.anchors),
        "-- rules\n" + ("\n".join(rules) or "none"),
        f"-- why it is hard\n{case.rationale}",
        f"-- input, {len(case.raw_input.splitlines())} lines\n{case.raw_input}",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
