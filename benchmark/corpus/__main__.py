"""`python -m benchmark.corpus`: prove, measure, export and read the corpus."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING

from rich.table import Table

from benchmark.cases import Case, Corpus
from benchmark.cli.command import (
    EXIT_FAILED,
    EXIT_OK,
    BenchmarkParser,
    add_dataset,
    add_json,
    command_parser,
    print_json,
    run_command,
)
from benchmark.cli.console import terminal
from benchmark.corpus.loader import DEFAULT_CORPUS, load_corpus
from benchmark.corpus.quotas import Quota, quotas
from benchmark.corpus.variants import variant_of
from benchmark.render.figures import counted
from benchmark.scoring.said import is_prose
from benchmark.statements.model import Within
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import encoded
from ctxsift.strict_json import printable_json
from ctxsift.terminal import one_line, show

if TYPE_CHECKING:
    from benchmark.corpus.checks import CorpusFinding

_EXAMPLES = """\
  python -m benchmark.corpus check                          validate the packaged corpus
  python -m benchmark.corpus check --case ID ID             validate only these cases; takes seconds
  python -m benchmark.corpus check --dataset mine.jsonl     validate your own data set
  python -m benchmark.corpus stats
  python -m benchmark.corpus export > corpus.jsonl
  python -m benchmark.corpus show java-root-cause-exact
  python -m benchmark.corpus variant --seed 7 > variant.jsonl
                                                            the same cases with different names and numbers
  python -m benchmark.corpus check --variants 20            also validate the variants 1 to 20
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "corpus",
        "Validate, describe, export or display the corpus.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 there are findings (check) or stdout could not be written to, 2 bad usage or input",
    )
    commands = parser.add_subparsers(dest=_COMMAND, required=True, metavar="COMMAND")
    for name, command in _COMMANDS.items():
        sub = commands.add_parser(name, help=command.summary, description=command.summary)
        add_dataset(sub)
        if command.case:
            sub.add_argument(_CASE, metavar="ID", help="id of the case")
        if command.figures:
            add_json(sub)
        command.options(sub)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv)


def _run(options: argparse.Namespace) -> int:
    command = _COMMANDS[getattr(options, _COMMAND)]
    corpus = load_corpus(options.dataset or DEFAULT_CORPUS, judge_gold=not command.finds)
    return command.run(corpus, options)


def _check(corpus: Corpus, options: argparse.Namespace) -> int:
    """Print findings and quotas, of the corpus and of its variants; return the verdict."""
    from benchmark.corpus.checks import check_variant

    count: int = options.variants
    only, packaged = _chosen(corpus, options.case), corpus.path == DEFAULT_CORPUS
    cores = min(count, os.cpu_count() or 1) or 1
    # All cores, from the beginning; no process is started where no variant is wanted. They leave next to no cycles,
    # and looking for some would cost a fifth of the time.
    with ProcessPoolExecutor(cores, get_context("spawn"), initializer=gc.disable) as pool:
        variants = pool.map(partial(check_variant, corpus, only=only), range(1, count + 1))
        sound = _check_cases(corpus, only) if only else _check_corpus(corpus)
        wrong = 0
        for seed, findings in enumerate(variants, 1):
            found = [finding for finding in findings if packaged or not finding.house]
            _print_findings(found, f"variant {seed}: ")
            wrong += len(found)
    if count:
        variants_told, cases_told = counted(count, "variant"), counted(len(only or corpus.cases), "case")
        show(f"{variants_told} of {cases_told}: {counted(wrong, 'finding')}")
    return EXIT_OK if sound and not wrong else EXIT_FAILED


def _chosen(corpus: Corpus, ids: Sequence[str]) -> frozenset[str]:
    """Return the ids. Raises InputError for one that is not in the corpus."""
    known = {case.case_id for case in corpus.cases}
    for case_id in ids:
        if case_id not in known:
            raise InputError(case_id, "is not in the corpus", did_you_mean(case_id, known))
    return frozenset(ids)


def _check_cases(corpus: Corpus, only: Set[str]) -> bool:
    """Print the findings of some cases, each by itself; say whether they are sound."""
    from benchmark.corpus.checks import check_each
    from benchmark.scoring import Embedder

    findings = list(check_each([case for case in corpus.cases if case.case_id in only], Embedder()))
    wrong, told = _tell_findings(findings, packaged=corpus.path == DEFAULT_CORPUS)
    _tell_wording([case for case in corpus.cases if case.case_id in only])
    show(f"{len(only)} of {len(corpus.cases)} cases: {told}")
    return not wrong


def _check_corpus(corpus: Corpus) -> bool:
    """Print the findings and quotas of the corpus itself; say whether it is sound."""
    from benchmark.corpus.canary import CANARY_LINE, unmarked
    from benchmark.corpus.checks import CorpusFinding, check_corpus
    from benchmark.scoring import Embedder

    embedder = Embedder()
    packaged = corpus.path == DEFAULT_CORPUS
    findings = check_corpus(corpus.cases, embedder, whole=packaged)
    if packaged:
        findings += [
            CorpusFinding(str(file), f"has to begin with {CANARY_LINE!r}") for file in unmarked(DEFAULT_CORPUS)
        ]
    found = list(quotas(corpus.cases, embedder.count_tokens)) if packaged else []
    missed = sum(not quota.met for quota in found)
    captures = len({case.capture.name for case in corpus.cases})
    wrong, told = _tell_findings(findings, packaged=packaged)
    if found:
        _print_quotas(found)
        told += f", {missed} quotas missed"
    _tell_wording(corpus.cases)
    show(f"{counted(len(corpus.cases), 'case')} on {counted(captures, 'capture')}: {told}")
    return not wrong and not missed


def _tell_findings(findings: Sequence[CorpusFinding], *, packaged: bool) -> tuple[int, str]:
    """Print findings, and return how many there are, as a number and in words; house rules only warn others."""
    warnings = [finding for finding in findings if finding.house and not packaged]
    wrong = [finding for finding in findings if finding not in warnings]
    _print_findings(warnings, "warning, by a rule of the packaged corpus: ")
    _print_findings(wrong)
    return len(wrong), counted(len(wrong), "finding") + (f", {counted(len(warnings), 'warning')}" if warnings else "")


def _tell_wording(cases: Sequence[Case]) -> None:
    """Say, as a run will, which cases in prose have no statements: that is allowed, and seldom meant."""
    from benchmark.render.notes import wording_note

    prose = [case for case in cases if is_prose(case)]
    if worded := sum(not case.statements for case in prose):
        show(wording_note(worded, len(prose)))


def _print_findings(findings: Iterable[CorpusFinding], before: str = "") -> None:
    for finding in findings:
        show(one_line(f"{before}{finding.where}: {finding.problem}"))


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


def _variant(corpus: Corpus, options: argparse.Namespace) -> int:
    return _export(variant_of(corpus, options.seed), options)


def _export(corpus: Corpus, _: argparse.Namespace) -> int:
    from benchmark.corpus.jsonl import case_row

    sys.stdout.flush()
    for case in corpus.cases:
        # A data set is UTF-8, whatever the terminal speaks.
        sys.stdout.buffer.write(encoded(printable_json(case_row(case)) + "\n"))
    return EXIT_OK


def _show(corpus: Corpus, options: argparse.Namespace) -> int:
    chosen = _chosen(corpus, [getattr(options, _CASE)])
    show(_readable(next(case for case in corpus.cases if case.case_id in chosen)))
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
        yield from (f"    {' | '.join(group)}" for group in statement.groups)
        yield from (f"    {' | '.join(label)} -> {' | '.join(value)}" for label, value in statement.pairs)
    for must_not in case.must_not:
        yield f"must not say: {must_not.says}"
        yield from (f"    {' | '.join(group)}" for group in must_not.groups)
        if must_not.unless:
            yield f"    unless: {' | '.join(must_not.unless)}"


def _no_options(_: argparse.ArgumentParser) -> None:
    """Add nothing."""


def _add_checked(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--case", nargs="+", action="extend", default=[], metavar="ID", help="validate only these cases, one by one"
    )
    parser.add_argument("--variants", type=_count, default=0, metavar="N", help="also validate the variants 1 to N")


def _add_seed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=_count,
        required=True,
        metavar="N",
        help="number of the variant; the same N always gives the same variant",
    )


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 10**9:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


@dataclass(frozen=True)
class _Command:
    """One thing the command does.

    Attributes:
        case: it takes the id of a case.
        figures: it takes --json.
        options: adds what only it takes.
        finds: what is wrong with gold is a finding of it, and no reason to refuse the corpus.

    """

    run: Callable[[Corpus, argparse.Namespace], int]
    summary: str
    case: bool = False
    figures: bool = False
    options: Callable[[argparse.ArgumentParser], None] = _no_options
    finds: bool = False


_COMMAND, _CASE = "command", "case"
_COMMANDS = {
    "check": _Command(
        _check,
        "validate every case (anchors, rules, gold scores 1.0, baselines score low) and the quotas of the "
        "packaged corpus",
        options=_add_checked,
        finds=True,
    ),
    "stats": _Command(
        _stats, "show what the corpus contains: cases by intent, family, difficulty, length and tool", figures=True
    ),
    "export": _Command(_export, "print the corpus as JSON lines, with the published field names"),
    "variant": _Command(
        _variant,
        "print the corpus as JSON lines with different names, paths, numbers, hashes and times",
        options=_add_seed,
    ),
    "show": _Command(_show, "print one case in readable form", case=True),
}


if __name__ == "__main__":
    sys.exit(main())
