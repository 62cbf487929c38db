"""Which methods are measured, with which budgets: `probes.json`, or options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmark.probes.nulls import ORACLE
from benchmark.shipped import here_or_shipped
from benchmark.typed_input import NonBlank, Positive, place_in, read_object
from benchmark.yaml_input import yaml_document
from ctxsift.errors import InputError
from ctxsift.files import read_text
from ctxsift.sessions.compaction.methods import METHODS, create_method
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET

DEFAULT_SCENARIOS = Path("probes.json")
# The methods by rules, with and without the artifact index, what they are compared with, and the right answers.
RULE_BASED = (
    *(f"{name}{index}" for name in ("anchored", "regenerative", "opaque", "drop") for index in ("+index", "")),
    *(name for name in METHODS if name not in ("anchored", "regenerative", "opaque", "drop")),
)


class ProbeScenario(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A method to be measured.

    Attributes:
        method: its name, or `gold`.
        budget: tokens of a summary; None for a method that takes none.
        model: a row of the matrix, which makes the summaries; rules do where None.
        enabled: it is part of a run that names nothing.

    """

    method: NonBlank
    budget: Positive | None = None
    model: NonBlank | None = None
    enabled: bool = True


class ScenarioFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of scenarios."""

    scenarios: Annotated[tuple[ProbeScenario, ...], msgspec.Meta(min_length=1)]


def read_scenarios(path: Path = DEFAULT_SCENARIOS) -> tuple[ProbeScenario, ...]:
    """Return the scenarios of a file that are enabled.

    Raises:
        InputError: naming the place, when a key or method is unknown, or a budget does not go with its method.

    """
    path = here_or_shipped(path) if path == DEFAULT_SCENARIOS else path
    text = read_text(path, f"name a file like {DEFAULT_SCENARIOS} of this repository, or --methods", most_mb=1)
    scenarios = read_object(ScenarioFile, yaml_document(text, str(path)), str(path)).scenarios
    for number, scenario in enumerate(scenarios):
        where = place_in(str(path), "scenarios", number)
        try:
            takes_one = takes_budget(scenario.method)
        except InputError as error:
            raise InputError(place_in(where, "method"), error.problem, error.hint) from error
        if takes_one and scenario.budget is None:
            raise InputError(
                place_in(where, "budget"), f"{scenario.method} needs a budget", f"write e.g. {DEFAULT_BUDGET}"
            )
        if not takes_one and scenario.budget is not None:
            raise InputError(place_in(where, "budget"), f"{scenario.method} takes no budget", "remove this field")
    found = tuple(scenario for scenario in scenarios if scenario.enabled)
    if not found:
        raise InputError(place_in(str(path), "scenarios"), "no scenario is enabled", "enable one, or give --methods")
    return found


def scenarios_of(methods: Iterable[str], budgets: Sequence[int], model: str | None = None) -> tuple[ProbeScenario, ...]:
    """Return each method with each budget; one that takes none, once. Raises InputError for an unknown name."""
    return tuple(
        ProbeScenario(method=method, budget=budget, model=model)
        for method in dict.fromkeys(methods)
        for budget in (dict.fromkeys(budgets) if takes_budget(method) else (None,))
    )


def takes_budget(method: str) -> bool:
    """Return True if summaries of a method stay within a budget. Raises InputError for an unknown name."""
    return method != ORACLE and create_method(method).takes_budget
