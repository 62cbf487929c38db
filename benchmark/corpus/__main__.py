"""`python -m benchmark.corpus`: prove, measure, export and read the corpus."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from rich.table import Table

from benchmark.cases import Case, Corpus, Within
from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    Parser,
    add_dataset,
    add_json,
    command_parser,
    print_json,
    run_command,
)
from benchmark.cli.console import terminal
from benchmark.corpus.loader import DEFAULT_CORPUS, load_corpus
from benchmark.corpus.quotas import Quota, quotas
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import encoded
from ctxsift.strict_json import printable_json
from ctxsift.terminal import one_line, show

_EXAMPLES = """\
  python -m benchmark.corpus check                          prove the packaged corpus
  python -m benchmark.corpus check --dataset mine.jsonl     find the problems in your own
  python -m benchmark.corpus stats
  python -m benchmark.corpus export > corpus.jsonl
  python -m benchmark.corpus show java-root-cause-exact
"""


def build_parser() -> Parser:
    """Return the parser of this command."""
    parser = command_parser(
        "corpus",
        "Prove, measure, export and read the corpus.",
        examples=_EXAMPLES,
        exit_codes="0 no findings, 1 findings (check) or stdout cannot be written, 2 bad usage or input",
    )
    commands = parser.add_subparsers(dest=_COMMAND, required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        sub = commands.add_parser(name, help=command.summary, description=command.summary)
        add_dataset(sub)
        if command.case:
            sub.add_argument(_CASE, metavar="ID", help="id of the case")
        if command.figures:
            add_json(sub)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv)


def _run(options: argparse.Namespace) -> int:
    command = _COMMANDS[getattr(options, _COMMAND)]
    return command.run(load_corpus(options.dataset or DEFAULT_CORPUS), options)


def _check(corpus: Corpus, _: argparse.Namespace) -> int:
    """Print findings and quotas; return the verdict."""
    from benchmark.corpus.checks import check_corpus
    from benchmark.scoring import Embedder

    embedder = Embedder()
    packaged = corpus.path == DEFAULT_CORPUS
    findings = check_corpus(corpus.cases, embedder, whole=packaged)
    found = list(quotas(corpus.cases, embedder.count_tokens)) if packaged else []
    missed = sum(not quota.met for quota in found)
    captures = len({case.capture.name for case in corpus.cases})
    for finding in findings:
        show(one_line(f"{finding.where}: {finding.problem}"))
    if found:
        _print_quotas(found)
    show(f"{len(corpus.cases)} cases on {captures} captures: {len(findings)} findings, {missed} quotas missed")
    return EXIT_FAILED if findings or missed else EXIT_OK


def _stats(corpus: Corpus, options: argparse.Namespace) -> int:
    from benchmark.scoring import Embedder

    found = list(quotas(corpus.cases, Embedder().count_tokens))
    if options.json:
        print_json([{"quota": q.name, "value": q.value, "least": q.least, "most": q.most, "met": q.met} for q in found])
    else:
        _print_quotas(found)
    return EXIT_OK


def _print_quotas(found: Sequence[Quota]) -> None:
    table = Table(title="What the corpus contains, and what the packaged one must contain")
    for title in ("what", "value", "required", ""):
        table.add_column(title, justify="right" if title == "value" else "left")
    for quota in found:
        table.add_row(quota.name, f"{quota.value:.4g}", quota.wanted, "" if quota.met else "missed")
    terminal().print(table)


def _export(corpus: Corpus, _: argparse.Namespace) -> int:
    from benchmark.corpus.jsonl import case_row

    sys.stdout.flush()
    for case in corpus.cases:
        # A data set is UTF-8, whatever the terminal speaks.
        sys.stdout.buffer.write(encoded(printable_json(case_row(case)) + "\n"))
    return EXIT_OK


def _show(corpus: Corpus, options: argparse.Namespace) -> int:
    case_id: str = getattr(options, _CASE)
    by_id = {case.case_id: case for case in corpus.cases}
    if case_id not in by_id:
        raise InputError(case_id, "is not in the corpus", did_you_mean(case_id, by_id))
    show(_readable(by_id[case_id]))
    return EXIT_OK


def _readable(case: Case) -> str:
    capture = case.capture
    rules = [
        f"{rule.replace('_', ' ')}: {value if isinstance(value, int | str) else ', '.join(value)}"
        for rule, value in asdict(case.rules).items()
        if value
    ]
    parts = [
        f"{case.case_id}: {case.title}",
        f"{case.family}, {case.intent} ({case.output_mode}), {case.difficulty}; {case.where}",
        f"{capture.tool} {capture.version}, {capture.origin}",
        f"-- command, exit code {'unknown' if capture.exit_code is None else capture.exit_code}",
        capture.command.strip() or "unknown",
        f"-- instruction\n{case.instruction.strip()}",
        f"-- gold\n{case.expected_output}",
        *(f"-- or\n{other}" for other in case.alternatives),
        "-- anchors\n" + "\n".join(case.anchors),
        "-- rules\n" + ("\n".join(rules) or "none"),
        *(("-- statements\n" + "\n".join(_statement_lines(case)),) if case.statements else ()),
        f"-- why it is hard\n{case.rationale}",
        f"-- input, {len(case.raw_input.splitlines())} lines\n{case.raw_input}",
    ]
    return "\n".join(parts)


def _statement_lines(case: Case) -> Iterator[str]:
    for statement in case.statements:
        where = "" if statement.within is Within.SENTENCE else f", within the {statement.within}"
        yield f"says ({statement.weight}{where}): {statement.says}"
        yield from (f"    {' | '.join(group)}" for group in statement.terms)
        yield from (f"    {' | '.join(label)} -> {' | '.join(value)}" for label, value in statement.pairs)
        if statement.order:
            yield f"    in this order: {', '.join(statement.order)}"
    for must_not in case.must_not:
        yield f"must not say: {must_not.says}"
        yield from (f"    {' | '.join(group)}" for group in must_not.terms)
        if must_not.unless:
            yield f"    unless: {' | '.join(must_not.unless)}"


@dataclass(frozen=True)
class _Command:
    """One thing the command does.

    Attributes:
        case: it takes the id of a case.
        figures: it takes --json.

    """

    run: Callable[[Corpus, argparse.Namespace], int]
    summary: str
    case: bool = False
    figures: bool = False


_COMMAND, _CASE = "command", "case"
_COMMANDS = {
    "check": _Command(
        _check,
        "prove every case (anchors, rules, gold scores 1.0, baselines stay low), and the quotas of the packaged corpus",
    ),
    "stats": _Command(
        _stats, "show what the corpus contains: cases by intent, family, difficulty, length, tools", figures=True
    ),
    "export": _Command(_export, "print the corpus as JSON lines, with the published field names"),
    "show": _Command(_show, "print one case for reading", case=True),
}


if __name__ == "__main__":
    sys.exit(main())
