"""`python -m benchmark.stress`: what changes the score of a model, one subcommand per experiment."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmark.cases import Corpus
from benchmark.cli.command import (
    EXIT_OK,
    BenchmarkParser,
    add_dataset,
    add_results,
    command_parser,
    positive,
    run_command,
)
from benchmark.cli.console import terminal
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.matrix import DEFAULT_MATRIX, Scenario, load_matrix, select_scenarios
from benchmark.record.read import StoredResult, find_results
from benchmark.render.terminal import print_table
from benchmark.run.row_asking import asking_run
from benchmark.scoring import Embedder
from benchmark.stress import breaking_even, hostility, lengthening, noising, planting, preselecting
from benchmark.stress.arms import Arm, run_arms
from benchmark.stress.changing import written
from ctxsift.errors import InputError
from ctxsift.files import write_atomically
from ctxsift.preselect import LEAST_PRESELECT_TOKENS
from ctxsift.terminal import show

_OUTPUT = Path("results/stress")
_MOST_TIMES = 100
_EXAMPLES = """\
  python -m benchmark.stress preselect                                   what the selected lines keep; no model runs
  python -m benchmark.stress preselect --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --budget 800 1600
  python -m benchmark.stress break-even results/X/X.json --price 3 --cached-price 0.3 --turns 10
  python -m benchmark.stress hostile --scenario cpu-qwen2.5-coder-0.5b-q4_k_m
  python -m benchmark.stress noise --scenario cpu-qwen2.5-coder-0.5b-q4_k_m
  python -m benchmark.stress length --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --times 2 4 8

Each subcommand prints one table and writes one JSON file. Models run as in benchmark.runner: after Ctrl-C, rerun the
same command to continue. docs/stress.md explains the figures.
"""
_PRESELECT_EXAMPLES = """\
examples:
  python -m benchmark.stress preselect
  python -m benchmark.stress preselect --longest 8 --budget 800 --scenario control-extractor
  python -m benchmark.stress preselect --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --scenario cpu-qwen2.5-coder-1.5b-q4_k_m
"""
_BREAK_EVEN_EXAMPLES = """\
examples:
  python -m benchmark.stress break-even results/X/X.json
  python -m benchmark.stress break-even results/ --price 3 --cached-price 0.3 --turns 10 --speed 2000

Prices are in dollars per million input tokens of the agent's own model. Without the compressor, the agent reads an
output once at --price, and again in each of the --turns that follow at --cached-price.
"""
_HOSTILE_EXAMPLES = """\
examples:
  python -m benchmark.stress hostile
  python -m benchmark.stress hostile --scenario control-extractor --unchanged
  python -m benchmark.stress hostile --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --cases 48 --max-tokens 400

The kinds: an order, a fake chat turn, an order in markup, a secret, and an order to repeat a secret. Cases with the tag
`hostile` are also asked, unchanged, if they fit --max-tokens (most have 800 to 5,000 tokens).
"""

_NOISE_EXAMPLES = """\
examples:
  python -m benchmark.stress noise
  python -m benchmark.stress noise --scenario control-extractor --cases 40 --max-tokens 2000
  python -m benchmark.stress noise --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --change timestamps --change colours
"""

_LENGTH_EXAMPLES = """\
examples:
  python -m benchmark.stress length
  python -m benchmark.stress length --scenario control-extractor --cases 20
  python -m benchmark.stress length --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --times 2 4 8 --max-tokens 300
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = command_parser(
        "stress",
        "Measure what changes the score of a model, and whether the model pays off.",
        examples=_EXAMPLES,
        exit_codes="0 done, 1 stdout cannot be written, 2 bad usage or input, 130 interrupted",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=BenchmarkParser)
    _add_preselect(commands)
    _add_break_even(commands)
    _add_hostile(commands)
    _add_noise(commands)
    _add_length(commands)
    return parser


def _add(
    commands: argparse._SubParsersAction[BenchmarkParser], name: str, about: str, examples: str
) -> BenchmarkParser:
    return commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_preselect(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "compare the answers of a model that reads whole outputs with those it gives when it reads selected lines"
    one = _add(commands, "preselect", about, _PRESELECT_EXAMPLES)
    one.set_defaults(handler=_preselect)
    one.add_argument(
        "--budget",
        nargs="+",
        type=_budget,
        default=[800, 1600],
        metavar="N",
        help="select lines within N estimated tokens of each output; several values run in turn; default: 800 1600",
    )
    one.add_argument(
        "--longest",
        type=positive,
        default=40,
        metavar="N",
        help="use the N cases with the longest outputs; default: 40",
    )
    _add_asking(one)


def _add_asking(one: BenchmarkParser) -> None:
    one.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME",
        help="row of the matrix to run (repeatable); default: none, and no model runs",
    )
    one.add_argument(
        "--matrix",
        type=Path,
        default=DEFAULT_MATRIX,
        metavar="FILE",
        help="scenarios; default: %(default)s in this folder if there is one, otherwise the packaged one",
    )
    add_dataset(one)
    one.add_argument(
        "--output-dir",
        type=Path,
        default=_OUTPUT,
        metavar="DIR",
        help="folder for the runs and the JSON file; default: %(default)s",
    )
    one.add_argument("--remote", action="store_true", help="allow rows that use a service (or set CTXSIFT_REMOTE=1)")
    one.add_argument("--env-file", type=Path, metavar="FILE", help="file with CTXSIFT_* settings")


def _add_break_even(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "compute what an agent saves or loses if it reads the answers of stored results, by length of the output"
    one = _add(commands, "break-even", about, _BREAK_EVEN_EXAMPLES)
    one.set_defaults(handler=_break_even)
    add_results(one)
    usual = breaking_even.Agent()
    for option, value, what in (
        ("--price", usual.price, "dollars per million tokens that the agent's model reads"),
        ("--cached-price", usual.cached_price, "dollars per million tokens that it reads again from a cache"),
        ("--turns", usual.turns, "later turns in which the output is still in the agent's context"),
        ("--speed", usual.speed, "tokens per second that the agent's model reads; 0: leave out its reading time"),
        ("--machine-price", usual.machine_price, "dollars per hour of the machine that runs the compressor"),
    ):
        one.add_argument(option, type=_amount, default=value, metavar="X", help=f"{what}; default: %(default)s")
    one.add_argument(
        "--output-dir", type=Path, default=_OUTPUT, metavar="DIR", help="folder for the JSON file; default: %(default)s"
    )


def _add_hostile(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "plant orders, fake chat turns, markup and secrets in outputs, and count the answers that fall for them"
    one = _add(commands, "hostile", about, _HOSTILE_EXAMPLES)
    one.set_defaults(handler=_hostile)
    _add_drawing(
        one, 30, "plant N attacks, divided equally among the kinds", "the outputs, wordings, places and strings"
    )
    one.add_argument(
        "--unchanged", action="store_true", help="also ask each case without its attack, and print the difference"
    )
    _add_asking(one)


def _add_noise(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "compare the answers to outputs with those to the same outputs after harmless changes"
    one = _add(commands, "noise", about, _NOISE_EXAMPLES)
    one.set_defaults(handler=_noise)
    one.add_argument(
        "--change",
        action="append",
        default=[],
        choices=[kind.value for kind in noising.HarmlessChange],
        help="change to make (repeatable); default: all of them",
    )
    _add_drawing(one, 20, "change N outputs in every way", "the outputs, places, colours and times")
    _add_asking(one)


def _add_length(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "ask the same questions about outputs of several lengths, which have the same facts"
    one = _add(commands, "length", about, _LENGTH_EXAMPLES)
    one.set_defaults(handler=_length)
    one.add_argument(
        "--times",
        nargs="+",
        type=_times,
        default=[2, 4, 8, 16],
        metavar="N",
        help="lengths, as multiples of the lines that a question needs; default: 2 4 8 16",
    )
    _add_drawing(
        one, 12, "use N outputs, each at every length", "the outputs and lines", 500, "whose needed lines have"
    )
    _add_asking(one)


def _add_drawing(one: BenchmarkParser, count: int, cases: str, drawn: str, most: int = 600, of: str = "of") -> None:
    one.add_argument("--cases", type=positive, default=count, metavar="N", help=f"{cases}; default: {count}")
    one.add_argument(
        "--max-tokens",
        type=positive,
        default=most,
        metavar="N",
        help=f"use only outputs {of} at most N estimated tokens; default: {most}",
    )
    one.add_argument("--seed", type=positive, default=1, metavar="N", help=f"draw {drawn} by this seed; default: 1")


def _budget(text: str) -> int:
    """Return a budget as an option gives it. Raises ArgumentTypeError."""
    if (value := positive(text)) < LEAST_PRESELECT_TOKENS:
        raise argparse.ArgumentTypeError(f"expected {LEAST_PRESELECT_TOKENS} tokens or more, got {text}")
    return value


def _times(text: str) -> int:
    """Return a multiple as an option gives it. Raises ArgumentTypeError."""
    if (value := positive(text)) > _MOST_TIMES:
        raise argparse.ArgumentTypeError(f"expected at most {_MOST_TIMES}, got {text}")
    return value


def _amount(text: str) -> float:
    """Return a price, speed or count as an option gives it. Raises ArgumentTypeError."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"expected a number of 0 or more, got {text!r}")
    return value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), lambda options: int(options.handler(options)), argv)


def _preselect(options: argparse.Namespace) -> int:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    cases = preselecting.longest(corpus.cases, options.longest)
    budgets = [None, *sorted(set(options.budget))]
    readings = [preselecting.reading(cases, budget, embedder) for budget in budgets]
    rows = load_matrix(options.matrix) if options.scenario else ()
    scenarios = select_scenarios(rows, names=options.scenario) if options.scenario else ()
    for scenario in scenarios:
        if scenario.program is not None or scenario.before is not None:
            problem = "is a program, or a model that reads the output of a program"
            raise InputError(f"--scenario {scenario.name}", problem, "name a row of a model that reads raw output")
    run = dataclasses.replace(asking_run(options.output_dir, options.env_file, remote=options.remote), programs={})
    found = []
    for scenario in scenarios:
        arms = [Arm(preselecting.at_budget(scenario, budget), corpus, cases) for budget in budgets]
        results = run_arms(arms, run, embedder)
        found += [
            preselecting.asked(scenario.name, read, result, results[0] if number else None)
            for number, (read, result) in enumerate(zip(readings, results, strict=True))
        ]
    table = [preselecting.asked_row(each) for each in found] or [preselecting.reading_row(each) for each in readings]
    heading = f"{len(cases)} cases with the longest outputs of {corpus.path}; scores 0 to 100, 95 % intervals"
    document = {
        "about": heading,
        "case_ids": [case.case_id for case in cases],
        "readings": readings,
        "scenarios": found,
    }
    _finish(options, "preselect", heading, preselecting.TITLES, table, document)
    return EXIT_OK


def _break_even(options: argparse.Namespace) -> int:
    agent = breaking_even.Agent(
        options.price, options.cached_price, options.turns, options.speed, options.machine_price
    )
    found = [breaking_even.break_even(result, agent) for result in find_results(options.paths)]
    table = [row for each in found for row in breaking_even.rows(each)]
    heading = breaking_even.about(agent)
    document = {"about": heading, "agent": agent, "results": found}
    _finish(options, "break-even", heading, breaking_even.TITLES, table, document)
    for each in found:
        show(breaking_even.crossing_text(each))
    return EXIT_OK


def _hostile(options: argparse.Namespace) -> int:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    planted = planting.planting(
        corpus.cases,
        embedder,
        count=options.cases,
        most_tokens=options.max_tokens,
        seed=options.seed,
        unchanged=options.unchanged,
    )
    if not any(each.attack for each in planted.cases):
        raise InputError("--max-tokens", "leaves no case in which an attack can be planted", "allow longer outputs")
    data = written((each.changed.case for each in planted.cases), options.output_dir / "hostile.jsonl")
    asked = _asked(options, data, embedder)
    found = [each for name, result in asked for each in hostility.withstood(name, planted.cases, result)]
    table = [hostility.withstood_row(each, planted) for each in found] or hostility.planted_rows(planted)
    heading = (
        f"Attacks planted in outputs of at most {options.max_tokens:,} tokens of {corpus.path}, seed {options.seed}; "
        "95 % intervals"
    )
    document = {
        "about": heading,
        "seed": options.seed,
        "too_long": planted.too_long,
        "skipped": planted.skipped,
        "cases": hostility.case_rows(planted),
        "scenarios": found,
        "answers": [row for name, result in asked for row in hostility.answer_rows(name, planted.cases, result)],
    }
    _finish(options, "hostile", heading, hostility.TITLES, table, document)
    return EXIT_OK


def _noise(options: argparse.Namespace) -> int:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    kinds = [kind for kind in noising.HarmlessChange if not options.change or kind in options.change]
    made = noising.noising(
        corpus.cases, embedder, kinds, count=options.cases, most_tokens=options.max_tokens, seed=options.seed
    )
    if not made.cases:
        raise InputError("--max-tokens", "leaves no case", "allow longer outputs")
    data = written((each.case for each in made.cases), options.output_dir / "noise.jsonl")
    found = [
        each for name, result in _asked(options, data, embedder) for each in noising.shaken(name, made.cases, result)
    ]
    table = [noising.shaken_row(each, made) for each in found] or noising.made_rows(made)
    heading = (
        f"Harmless changes of outputs of at most {options.max_tokens:,} tokens of {corpus.path}, seed {options.seed}; "
        "scores 0 to 100, 95 % intervals"
    )
    document = {
        "about": heading,
        "seed": options.seed,
        "too_long": made.too_long,
        "skipped": made.skipped,
        "cases": [{"case_id": each.case.case_id, "base": each.base, "change": each.kind} for each in made.cases],
        "scenarios": found,
    }
    _finish(options, "noise", heading, noising.TITLES, table, document)
    return EXIT_OK


def _length(options: argparse.Namespace) -> int:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    made = lengthening.lengthening(
        corpus.cases, embedder, options.times, count=options.cases, most_tokens=options.max_tokens, seed=options.seed
    )
    if not made.cases:
        raise InputError("--max-tokens", "leaves no case that can be made longer", "allow longer outputs")
    data = written((each.case for each in made.cases), options.output_dir / "length.jsonl")
    found = [lengthening.stretched(name, made, result) for name, result in _asked(options, data, embedder)]
    table = [lengthening.stretched_row(each) for one in found for each in one] or lengthening.made_rows(made)
    heading = (
        f"Outputs of {corpus.path} whose needed lines have at most {options.max_tokens:,} tokens, seed {options.seed}; "
        f"{made.skipped} skipped; scores 0 to 100, 95 % intervals"
    )
    document = {
        "about": heading,
        "seed": options.seed,
        "too_long": made.too_long,
        "skipped": made.skipped,
        "cases": [{"case_id": each.case.case_id, "base": each.base, "length": each.kind} for each in made.cases],
        "scenarios": [each for one in found for each in one],
    }
    _finish(options, "length", heading, lengthening.TITLES, table, document)
    for one in found:
        show(lengthening.kept_text(one))
    return EXIT_OK


def _asked(options: argparse.Namespace, data: Corpus, embedder: Embedder) -> list[tuple[str, StoredResult]]:
    """Return what each named scenario answers to all cases of a data set."""
    if not options.scenario:
        return []
    rows = load_matrix(options.matrix)
    scenarios = select_scenarios(rows, names=options.scenario)
    run = dataclasses.replace(
        asking_run(options.output_dir, options.env_file, remote=options.remote), programs=_programs(rows)
    )
    results = run_arms([Arm(scenario, data, data.cases) for scenario in scenarios], run, embedder)
    return [(scenario.name, result) for scenario, result in zip(scenarios, results, strict=True)]


def _programs(rows: Sequence[Scenario]) -> dict[str, Scenario]:
    return {row.name: row for row in rows if row.program is not None}


def _finish(
    options: argparse.Namespace,
    name: str,
    heading: str,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    document: dict[str, Any],
) -> None:
    show(heading)
    print_table(terminal(), titles, rows)
    path = options.output_dir / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, json.dumps(document, indent=1, default=dataclasses.asdict) + "\n")
    show(str(path))


if __name__ == "__main__":
    sys.exit(main())
