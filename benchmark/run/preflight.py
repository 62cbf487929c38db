"""Before the first case: finds out whether everything that the selected scenarios need is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from benchmark.matrix import TRACKS, Scenario, Track
from benchmark.run.plan import RequestedScenario, RunSettings, ScenarioPlan, program_spec, scenario_plan, spec_of
from ctxsift.backends.base import ModelSpec
from ctxsift.backends.registry import GGUF, GROUP, traits_of
from ctxsift.backends.weights import Weights, find_weights, refuse_unknown
from ctxsift.errors import BackendError, WeightsError
from ctxsift.models.choice import CONSENT
from ctxsift.settings import Settings


@dataclass(frozen=True)
class NotReady:
    """A scenario that cannot run, and what to do about it."""

    scenario: Scenario
    problem: str


@dataclass(frozen=True)
class Ready:
    """What a scenario needs, found.

    Attributes:
        weights: of a local model that has a file; None for others.

    """

    spec: ModelSpec
    weights: Weights | None


class SpecOf(Protocol):
    """Tells how the backend of a scenario is told of its model."""

    def __call__(self, index: int, /, *, device: str | None = None, weights: Path | None = None) -> ModelSpec:
        """Return the model of the scenario at a place, on a device and with weights where these are known."""
        ...


def preflight(asked: Sequence[RequestedScenario], run: RunSettings) -> list[ScenarioPlan | NotReady]:
    """Return the plan of every scenario, in order; what is missing is told for all of them at once."""

    def spec(index: int, /, *, device: str | None = None, weights: Path | None = None) -> ModelSpec:
        return spec_of(asked[index], run, device=device, weights=weights)

    found = find_ready([each.scenario for each in asked], run, spec)
    return [
        each if isinstance(each, NotReady) else scenario_plan(wanted, run, each.spec, each.weights)
        for wanted, each in zip(asked, found, strict=True)
    ]


def find_ready(scenarios: Sequence[Scenario], run: RunSettings, spec: SpecOf) -> list[Ready | NotReady]:
    """Return what every scenario needs, in order, whatever it is asked; what is missing is told for all at once."""
    missing = _missing(scenarios, run, spec)
    return [
        NotReady(scenario, problem) if problem else _found(index, scenario, run, spec)
        for index, (scenario, problem) in enumerate(zip(scenarios, missing, strict=True))
    ]


def _found(index: int, scenario: Scenario, run: RunSettings, spec: SpecOf) -> Ready | NotReady:
    weights = None
    traits = traits_of(scenario.backend_name)
    if traits.reads_gguf and (scenario.gguf_filename is not None or traits.reads_only_gguf):
        try:
            weights = find_weights(scenario.model, scenario.gguf_filename)
        except WeightsError as error:
            return NotReady(scenario, " ".join(str(error).split()))
        except Exception as error:  # weights are of others' making; they must not cost the other scenarios
            return NotReady(scenario, f"its weights cannot be read: {type(error).__name__}: {error}")
    devices = _devices(scenario, run)
    device = devices[0] if len(devices) == 1 else None
    return Ready(spec(index, device=device, weights=weights.path if weights else None), weights)


def _missing(scenarios: Sequence[Scenario], run: RunSettings, spec: SpecOf) -> list[str | None]:
    """Return for each scenario what is missing. Every backend is asked once, for all its models together."""
    problems = [_forbidden(scenario, run) or _unknown(scenario) for scenario in scenarios]
    to_check: dict[str, list[tuple[int, ModelSpec]]] = {}
    for index, scenario in enumerate(scenarios):
        if problems[index] is None:
            specs = [spec(index, device=device) for device in _devices(scenario, run)]
            to_check.setdefault(scenario.backend_name, []).extend((index, each) for each in specs)
    for backend, models in to_check.items():
        found = _checked(backend, [each for _, each in models], run.settings)
        for (index, _), problem in zip(models, found, strict=True):
            problems[index] = problems[index] or problem
    return problems


def _unknown(scenario: Scenario) -> str | None:
    """Say that a model names nothing that there is, before its engine is missed."""
    if scenario.backend_name == GGUF:
        try:
            refuse_unknown(scenario.model, scenario.gguf_filename)
        except WeightsError as error:
            return str(error)
    return None


def _checked(backend: str, specs: Sequence[ModelSpec], settings: Settings) -> Sequence[str | None]:
    """Return for each model what its backend misses; where that fails for one, the others are asked about alone."""
    try:
        return traits_of(backend).missing(specs, settings)
    except BackendError as error:
        return [str(error)] * len(specs)
    except Exception as error:  # a backend's mistake must not cost the other scenarios
        if len(specs) > 1:
            return [problem for spec in specs for problem in _checked(backend, [spec], settings)]
        return [f"its backend failed: {type(error).__name__}: {error}"]


def _forbidden(scenario: Scenario, run: RunSettings) -> str | None:
    """Return why a scenario must not run, or cannot in any case."""
    before = run.before(scenario)
    if (scenario.sends_away or (before and before.sends_away)) and not run.remote:
        return f"a remote scenario sends the corpus to a provider and may cost money; {CONSENT}"
    if before:
        (problem,) = _checked(before.backend_name, [program_spec(before)], run.settings)
        if problem:
            return f"its program {before.name}: {problem}"
    if scenario.backend_name not in {point.name for point in entry_points(group=GROUP)}:
        return f"this installation has no backend {scenario.backend_name!r} for track {scenario.track}"
    if run.workers is not None and TRACKS[scenario.track].leaves_machine:
        return "a service is asked from here: leave out --ray, which is for models that workers hold"
    allowed = run.devices
    if scenario.track is Track.GPU and allowed and ":" in scenario.device and scenario.device not in allowed:
        return f"its device {scenario.device!r} is not among --devices {','.join(allowed)}"
    return None


def _devices(scenario: Scenario, run: RunSettings) -> tuple[str, ...]:
    """Return the devices that a scenario may run on."""
    if scenario.track is Track.GPU and ":" not in scenario.device and run.devices:
        return run.devices
    return (scenario.device,)
