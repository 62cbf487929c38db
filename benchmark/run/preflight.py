"""Before the first case: finds out whether everything that the selected scenarios need is there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points

from benchmark.matrix import Scenario, Track
from benchmark.run.plan import Asked, RunSettings, ScenarioPlan, program_spec, scenario_plan, spec_of
from ctxsift.backends.base import ModelSpec
from ctxsift.backends.registry import GROUP, traits_of
from ctxsift.backends.weights import find_weights
from ctxsift.errors import BackendError, WeightsError
from ctxsift.models.choice import CONSENT
from ctxsift.settings import Settings


@dataclass(frozen=True)
class NotReady:
    """A scenario that cannot run, and what to do about it."""

    scenario: Scenario
    problem: str


def preflight(asked: Sequence[Asked], run: RunSettings) -> list[ScenarioPlan | NotReady]:
    """Return the plan of every scenario, in order; what is missing is told for all of them at once."""
    missing = _missing(asked, run)
    return [
        NotReady(each.scenario, problem) if problem else _planned(each, run)
        for each, problem in zip(asked, missing, strict=True)
    ]


def _planned(asked: Asked, run: RunSettings) -> ScenarioPlan | NotReady:
    scenario, weights = asked.scenario, None
    traits = traits_of(scenario.backend_name)
    if traits.reads_gguf and (scenario.gguf_filename is not None or traits.reads_only_gguf):
        try:
            weights = find_weights(scenario.model, scenario.gguf_filename)
        except WeightsError as error:
            return NotReady(scenario, " ".join(str(error).split()))
        except Exception as error:  # weights are of others' making; they must not cost the other scenarios
            return NotReady(scenario, f"its weights cannot be read: {type(error).__name__}: {error}")
    devices = _devices(scenario, run)
    spec = spec_of(
        asked,
        run,
        device=devices[0] if len(devices) == 1 else None,
        weights=weights.path if weights else None,
    )
    return scenario_plan(asked, run, spec, weights)


def _missing(asked: Sequence[Asked], run: RunSettings) -> list[str | None]:
    """Return for each scenario what is missing. Every backend is asked once, for all its models together."""
    problems = [_forbidden(each.scenario, run) for each in asked]
    to_check: dict[str, list[tuple[int, ModelSpec]]] = {}
    for index, each in enumerate(asked):
        if problems[index] is None:
            specs = [spec_of(each, run, device=device) for device in _devices(each.scenario, run)]
            to_check.setdefault(each.scenario.backend_name, []).extend((index, spec) for spec in specs)
    for backend, models in to_check.items():
        found = _checked(backend, [spec for _, spec in models], run.settings)
        for (index, _), problem in zip(models, found, strict=True):
            problems[index] = problems[index] or problem
    return problems


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
    allowed = run.devices
    if scenario.track is Track.GPU and allowed and ":" in scenario.device and scenario.device not in allowed:
        return f"its device {scenario.device!r} is not among --devices {','.join(allowed)}"
    return None


def _devices(scenario: Scenario, run: RunSettings) -> tuple[str, ...]:
    """Return the devices that a scenario may run on."""
    if scenario.track is Track.GPU and ":" not in scenario.device and run.devices:
        return run.devices
    return (scenario.device,)
