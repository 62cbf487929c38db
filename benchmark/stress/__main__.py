"""`python -m benchmark.stress`: what changes the score of a model, one subcommand per experiment."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.cases import Corpus
from benchmark.cli.command import EXIT_OK, run_command
from benchmark.cli.console import terminal
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.matrix import Scenario, load_matrix, select_scenarios
from benchmark.record.read import StoredResult, find_results
from benchmark.render.terminal import print_table
from benchmark.run.plan import Repeats
from benchmark.run.row_asking import asking_run
from benchmark.scoring import Embedder
from benchmark.stress import breaking_even, hostility, lengthening, noising, planting, preselecting, repeating, varying
from benchmark.stress.arms import Arm, repeats_of, run_arms
from benchmark.stress.changing import written
from benchmark.stress.charts import check_chart, write_charts
from benchmark.stress.parsers import build_parser
from benchmark.stress.reading import read_experiment
from ctxsift.errors import InputError
from ctxsift.files import write_atomically
from ctxsift.terminal import show


@dataclass(frozen=True)
class Experiment:
    """What an experiment found.

    Attributes:
        document: of the JSON file.
        without_model: rows of the table where no scenario was asked.

    """

    document: Mapping[str, Any]
    without_model: Sequence[Sequence[str]] = ()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), _run, argv)


def _run(options: argparse.Namespace) -> int:
    chart = None if options.chart is None else check_chart(options.chart)
    found = _EXPERIMENTS[options.experiment](options)
    path = options.output_dir / f"{options.experiment}.json"
    text = json.dumps(found.document, indent=1, default=dataclasses.asdict) + "\n"
    # Whatever shows the file later shows the same.
    shown = read_experiment(options.experiment, json.loads(text))
    if chart and not shown.pictures:
        raise InputError(str(chart), "has nothing to draw", "name a scenario with --scenario, or leave out --chart")
    show(shown.about)
    print_table(terminal(), shown.titles, shown.rows or found.without_model)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    show(str(path))
    if chart:
        write_charts(shown.pictures, chart)
        show(str(chart))
    for line in shown.lines:
        show(line)
    return EXIT_OK


def _preselect(options: argparse.Namespace) -> Experiment:
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
    about = f"{len(cases)} cases with the longest outputs of {corpus.path}; scores 0 to 100, 95% intervals"
    case_ids = [case.case_id for case in cases]
    document = {"about": about, "case_ids": case_ids, "readings": readings, "scenarios": found}
    return Experiment(document, [preselecting.reading_row(each) for each in readings])


def _break_even(options: argparse.Namespace) -> Experiment:
    agent = breaking_even.Agent(
        options.price, options.cached_price, options.turns, options.speed, options.machine_price
    )
    found = [breaking_even.break_even(result, agent) for result in find_results(options.paths)]
    return Experiment({"about": breaking_even.about(agent), "agent": agent, "results": found})


def _hostile(options: argparse.Namespace) -> Experiment:
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
    data = written((each.changed.case for each in planted.cases), options.output_dir, "hostile")
    asked = _asked(options, data, embedder)
    found = [each for name, result in asked for each in hostility.withstood(name, planted.cases, result)]
    about = (
        f"Attacks planted in outputs of at most {options.max_tokens:,} tokens of {corpus.path}, seed {options.seed}; "
        "95% intervals"
    )
    document = {
        "about": about,
        "dataset": data.path.name,
        "seed": options.seed,
        "too_long": planted.too_long,
        "skipped": planted.skipped,
        "cases": hostility.case_rows(planted),
        "scenarios": found,
        "answers": [row for name, result in asked for row in hostility.answer_rows(name, planted.cases, result)],
    }
    return Experiment(document, hostility.planted_rows(planted))


def _noise(options: argparse.Namespace) -> Experiment:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    kinds = [kind for kind in noising.HarmlessChange if not options.change or kind in options.change]
    made = noising.noising(
        corpus.cases, embedder, kinds, count=options.cases, most_tokens=options.max_tokens, seed=options.seed
    )
    if not made.cases:
        raise InputError("--max-tokens", "leaves no case", "allow longer outputs")
    data = written((each.case for each in made.cases), options.output_dir, "noise")
    found = [
        each for name, result in _asked(options, data, embedder) for each in noising.shaken(name, made.cases, result)
    ]
    about = (
        f"Harmless changes to outputs of up to {options.max_tokens:,} tokens from {corpus.path}, seed {options.seed}; "
        "scores 0 to 100, 95% intervals"
    )
    document = {
        "about": about,
        "dataset": data.path.name,
        "seed": options.seed,
        "too_long": made.too_long,
        "skipped": made.skipped,
        "cases": [{"case_id": each.case.case_id, "base": each.base, "change": each.kind} for each in made.cases],
        "scenarios": found,
    }
    return Experiment(document, noising.made_rows(made))


def _length(options: argparse.Namespace) -> Experiment:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    made = lengthening.lengthening(
        corpus.cases, embedder, options.times, count=options.cases, most_tokens=options.max_tokens, seed=options.seed
    )
    if not made.cases:
        raise InputError("--max-tokens", "leaves no case that can be made longer", "allow longer outputs")
    data = written((each.case for each in made.cases), options.output_dir, "length")
    found = [lengthening.stretched(name, made, result) for name, result in _asked(options, data, embedder)]
    about = (
        f"Outputs of {corpus.path} whose needed lines have at most {options.max_tokens:,} tokens, seed {options.seed}; "
        f"{made.skipped} skipped; scores 0 to 100, 95% intervals"
    )
    document = {
        "about": about,
        "dataset": data.path.name,
        "seed": options.seed,
        "too_long": made.too_long,
        "skipped": made.skipped,
        "cases": [{"case_id": each.case.case_id, "base": each.base, "length": each.kind} for each in made.cases],
        "scenarios": [each for one in found for each in one],
    }
    return Experiment(document, lengthening.made_rows(made))


def _variants(options: argparse.Namespace) -> Experiment:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    varied = varying.varying(
        corpus,
        embedder,
        variants=options.variants,
        count=options.cases,
        most_tokens=options.max_tokens,
        seed=options.seed,
    )
    if not varied.cases:
        raise InputError("--max-tokens", "leaves no case with an anchor that can be renamed", "allow longer outputs")
    data = written((each.changed.case for each in varied.cases), options.output_dir, "variants")
    asked = _asked(options, data, embedder)
    found = [each for name, result in asked for each in varying.followed(name, varied, result)]
    about = (
        f"Outputs of at most {options.max_tokens:,} tokens of {corpus.path} and their variants, seed {options.seed}; "
        "scores 0 to 100, 95% intervals"
    )
    document = {
        "about": about,
        "dataset": data.path.name,
        "seed": options.seed,
        "too_long": varied.too_long,
        "skipped": varied.skipped,
        "cases": varying.case_rows(varied),
        "scenarios": found,
        "answers": [row for name, result in asked for row in varying.answer_rows(name, varied, result)],
    }
    return Experiment(document, varying.varied_rows(varied))


def _repeats(options: argparse.Namespace) -> Experiment:
    corpus, embedder = load_corpus(options.dataset or DEFAULT_CORPUS), Embedder()
    made = repeating.repeating(
        corpus.cases,
        embedder,
        options.repeats,
        count=options.cases,
        most_tokens=options.max_tokens,
        seed=options.seed,
    )
    if not made.cases:
        raise InputError("--max-tokens", "leaves no case", "allow longer outputs")
    data = written((each.case for each in made.cases), options.output_dir, "repeats")
    temperatures: dict[str, float] = {}

    def repeats(scenario: Scenario) -> Repeats:
        found = repeats_of(scenario, made.numbers, options.temperature)
        temperatures[scenario.name] = found.temperature
        return found

    asked = _asked(options, data, embedder, repeats)
    found = [each for name, result in asked for each in repeating.repeat_figures(name, made, result)]
    spreads = {name: repeating.case_spreads(name, made, result) for name, result in asked}
    runs = [repeating.run_spread(each, temperatures[name]) for name, each in spreads.items()]
    about = (
        f"Outputs of at most {options.max_tokens:,} tokens of {corpus.path}, each asked {options.repeats} times at "
        f"temperature {options.temperature:g}, seed {options.seed}; scores 0 to 100, 95% intervals"
    )
    document = {
        "about": about,
        "dataset": data.path.name,
        "seed": options.seed,
        "repeats": options.repeats,
        "temperature": options.temperature,
        "too_long": made.too_long,
        "skipped": made.skipped,
        "scenarios": found,
        "runs": runs,
        "cases": [each for one in spreads.values() for each in one],
    }
    return Experiment(document, repeating.made_rows(made))


def _asked(
    options: argparse.Namespace,
    data: Corpus,
    embedder: Embedder,
    repeats: Callable[[Scenario], Repeats | None] = lambda _: None,
) -> list[tuple[str, StoredResult]]:
    """Return what each named scenario answers to all cases of a data set; `repeats` says which of them repeat."""
    if not options.scenario:
        return []
    rows = load_matrix(options.matrix)
    scenarios = select_scenarios(rows, names=options.scenario)
    run = dataclasses.replace(
        asking_run(options.output_dir, options.env_file, remote=options.remote), programs=_programs(rows)
    )
    results = run_arms([Arm(each, data, data.cases, repeats(each)) for each in scenarios], run, embedder)
    return [(scenario.name, result) for scenario, result in zip(scenarios, results, strict=True)]


def _programs(rows: Sequence[Scenario]) -> dict[str, Scenario]:
    return {row.name: row for row in rows if row.program is not None}


_EXPERIMENTS: Mapping[str, Callable[[argparse.Namespace], Experiment]] = {
    "preselect": _preselect,
    "break-even": _break_even,
    "hostile": _hostile,
    "noise": _noise,
    "length": _length,
    "variants": _variants,
    "repeats": _repeats,
}

if __name__ == "__main__":
    sys.exit(main())
