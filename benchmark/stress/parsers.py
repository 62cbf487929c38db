"""The options of `python -m benchmark.stress`: one parser for each experiment."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmark.cli.command import BenchmarkParser, add_dataset, add_results, command_parser, positive
from benchmark.matrix import DEFAULT_MATRIX
from benchmark.stress import breaking_even, noising
from ctxsift.preselect import LEAST_PRESELECT_TOKENS

_OUTPUT = Path("results/stress")
_MOST_TIMES = 100
_MOST_VARIANTS = 100
_LEAST_REPEATS, _MOST_REPEATS = 2, 100
_MOST_TEMPERATURE = 5.0
_EXAMPLES = """\
  python -m benchmark.stress preselect                                   how much the selected lines keep (no model)
  python -m benchmark.stress preselect --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --budget 800 1600
  python -m benchmark.stress break-even results/X/X.json --price 3 --cached-price 0.3 --turns 10
  python -m benchmark.stress hostile --scenario cpu-qwen2.5-coder-0.5b-q4_k_m
  python -m benchmark.stress noise --scenario cpu-qwen2.5-coder-0.5b-q4_k_m
  python -m benchmark.stress length --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --times 2 4 8
  python -m benchmark.stress variants --scenario cpu-qwen2.5-coder-0.5b-q4_k_m
  python -m benchmark.stress repeats --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --temperature 0.7

Each subcommand prints a table and writes a JSON file; with --chart FILE, it also writes a chart. To continue after
Ctrl-C, rerun the same command. docs/stress.md explains the figures.
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
output once at --price, and once more at --cached-price in each of the --turns that follow.
"""
_HOSTILE_EXAMPLES = """\
examples:
  python -m benchmark.stress hostile
  python -m benchmark.stress hostile --scenario control-extractor --unchanged
  python -m benchmark.stress hostile --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --cases 48 --max-tokens 400

The kinds of attack are an instruction, a fake chat turn, an instruction in markup, a secret, and an instruction to
repeat a secret. Cases with the tag `hostile` are also asked, unchanged, if they fit into --max-tokens (most have 800 to
5,000 tokens).
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

_VARIANTS_EXAMPLES = """\
examples:
  python -m benchmark.stress variants
  python -m benchmark.stress variants --scenario control-extractor --variants 3
  python -m benchmark.stress variants --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --cases 40 --max-tokens 2000

Variant N of a case has different names, numbers, hashes and times. It is the one in --dataset variant:N.
"""

_REPEATS_EXAMPLES = """\
examples:
  python -m benchmark.stress repeats
  python -m benchmark.stress repeats --scenario control-extractor --repeats 3
  python -m benchmark.stress repeats --scenario cpu-qwen2.5-coder-0.5b-q4_k_m --repeats 10 --temperature 1

Each case is asked once with greedy decoding, and N times at the temperature, with the seeds 1 to N. A scenario that
cannot sample, such as a baseline or a program, is asked the same number of times.
"""


def build_parser() -> BenchmarkParser:
    """Return the parser of this command; `experiment` is the name of the subcommand that was given."""
    parser = command_parser(
        "stress",
        "Measure what changes a model's score, and whether the model is worth using.",
        examples=_EXAMPLES,
        exit_codes="0 success, 1 stdout could not be written to, 2 bad usage or input, 130 interrupted",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=BenchmarkParser)
    _add_preselect(commands)
    _add_break_even(commands)
    _add_hostile(commands)
    _add_noise(commands)
    _add_length(commands)
    _add_variants(commands)
    _add_repeats(commands)
    return parser


def _add(
    commands: argparse._SubParsersAction[BenchmarkParser], name: str, about: str, examples: str
) -> BenchmarkParser:
    one = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    one.set_defaults(experiment=name)
    one.add_argument("--chart", type=Path, metavar="FILE", help="also write a chart (.svg or .png)")
    return one


def _add_preselect(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "compare a model's answers after reading whole outputs with its answers after reading selected lines"
    one = _add(commands, "preselect", about, _PRESELECT_EXAMPLES)
    one.add_argument(
        "--budget",
        nargs="+",
        type=_budget,
        default=[800, 1600],
        metavar="N",
        help="select up to N estimated tokens from each output; several values run in turn; default: 800 1600",
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
        help="file that lists the scenarios; default: %(default)s in this folder if there is one, otherwise the "
        "packaged one",
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
    about = "compute what an agent saves or loses by reading stored answers instead of outputs, by output length"
    one = _add(commands, "break-even", about, _BREAK_EVEN_EXAMPLES)
    add_results(one)
    usual = breaking_even.Agent()
    for option, value, what in (
        ("--price", usual.price, "dollars per million tokens that the agent's model reads"),
        ("--cached-price", usual.cached_price, "dollars per million tokens that it reads again from a cache"),
        ("--turns", usual.turns, "number of later turns in which the output is still in the agent's context"),
        ("--speed", usual.speed, "tokens per second that the agent's model reads; 0: leave out its reading time"),
        ("--machine-price", usual.machine_price, "dollars per hour of the machine that runs the compressor"),
    ):
        one.add_argument(option, type=_amount, default=value, metavar="X", help=f"{what}; default: %(default)s")
    one.add_argument(
        "--output-dir", type=Path, default=_OUTPUT, metavar="DIR", help="folder for the JSON file; default: %(default)s"
    )


def _add_hostile(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "plant instructions, fake chat turns, markup and secrets in outputs, and count answers that fall for them"
    one = _add(commands, "hostile", about, _HOSTILE_EXAMPLES)
    _add_drawing(
        one, 30, "plant N attacks, divided equally among the kinds", "the outputs, wordings, places and strings"
    )
    one.add_argument(
        "--unchanged", action="store_true", help="also ask each case without its attack, and print the difference"
    )
    _add_asking(one)


def _add_noise(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "compare answers about outputs with answers about the same outputs after harmless changes"
    one = _add(commands, "noise", about, _NOISE_EXAMPLES)
    one.add_argument(
        "--change",
        action="append",
        default=[],
        choices=[kind.value for kind in noising.HarmlessChange],
        help="change to make (repeatable); default: all of them",
    )
    _add_drawing(one, 20, "make each change to N outputs", "the outputs, places, colours and times")
    _add_asking(one)


def _add_length(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "ask the same questions about longer and shorter outputs that contain the same facts"
    one = _add(commands, "length", about, _LENGTH_EXAMPLES)
    one.add_argument(
        "--times",
        nargs="+",
        type=_up_to(_MOST_TIMES),
        default=[2, 4, 8, 16],
        metavar="N",
        help="lengths, as multiples of the lines that a question needs; default: 2 4 8 16",
    )
    _add_drawing(
        one, 12, "use N outputs, each at every length", "the outputs and lines", 500, "whose needed lines have"
    )
    _add_asking(one)


def _add_variants(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "compare answers about outputs with answers about the same outputs with different names and numbers"
    one = _add(commands, "variants", about, _VARIANTS_EXAMPLES)
    one.add_argument(
        "--variants",
        type=_up_to(_MOST_VARIANTS),
        default=1,
        metavar="N",
        help="rename and renumber each output in N ways; default: 1",
    )
    _add_drawing(one, 20, "use N outputs", "the outputs")
    _add_asking(one)


def _add_repeats(commands: argparse._SubParsersAction[BenchmarkParser]) -> None:
    about = "ask a model the same questions several times, and measure how much its answers differ"
    one = _add(commands, "repeats", about, _REPEATS_EXAMPLES)
    one.add_argument(
        "--repeats", type=_repeats, default=5, metavar="N", help="sample N answers to each question; default: 5"
    )
    one.add_argument(
        "--temperature", type=_temperature, default=0.7, metavar="X", help="sample at temperature X; default: 0.7"
    )
    _add_drawing(one, 20, "use N outputs", "the outputs")
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
    one.add_argument("--seed", type=positive, default=1, metavar="N", help=f"seed for choosing {drawn}; default: 1")


def _budget(text: str) -> int:
    """Return a budget as an option gives it. Raises ArgumentTypeError."""
    if (value := positive(text)) < LEAST_PRESELECT_TOKENS:
        raise argparse.ArgumentTypeError(f"expected {LEAST_PRESELECT_TOKENS} tokens or more, got {text}")
    return value


def _up_to(most: int) -> Callable[[str], int]:
    """Return what reads a number of an option, which is refused with ArgumentTypeError above `most`."""

    def read(text: str) -> int:
        if (value := positive(text)) > most:
            raise argparse.ArgumentTypeError(f"expected at most {most}, got {text}")
        return value

    return read


def _repeats(text: str) -> int:
    """Return a number of repeats as an option gives it: one alone has no spread. Raises ArgumentTypeError."""
    if (value := _up_to(_MOST_REPEATS)(text)) < _LEAST_REPEATS:
        raise argparse.ArgumentTypeError(f"expected {_LEAST_REPEATS} or more, got {text}")
    return value


def _temperature(text: str) -> float:
    """Return a temperature as an option gives it: at 0, all answers are equal. Raises ArgumentTypeError."""
    if not 0 < (value := _amount(text)) <= _MOST_TEMPERATURE:
        raise argparse.ArgumentTypeError(f"expected a number above 0, up to {_MOST_TEMPERATURE:g}, got {text}")
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
