"""Before the first case: finds out whether all that the selected scenarios need is there."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points

from benchmark.matrix import Scenario, Track
from benchmark.run.plan import RunPlan, backend_name
from ctxsift.backends.base import AsyncBackend
from ctxsift.backends.cuda import Sight, look_from_outside, problem_of
from ctxsift.backends.registry import GROUP, create_backend
from ctxsift.backends.weights import Weights, find_weights
from ctxsift.errors import BackendError, WeightsError

_READS_GGUF = ("llama_cpp", "transformers")


@dataclass(frozen=True)
class Ready:
    """A scenario that can run.

    Attributes:
        weights: None where the model is not a local file.
        service: a backend that takes several questions at a time; None for a model that needs a process of its own.
        device: the device to use where it is not the scenario's word for it; "" for any of those that were allowed.

    """

    scenario: Scenario
    weights: Weights | None = None
    service: AsyncBackend | None = None
    device: str = ""


@dataclass(frozen=True)
class NotReady:
    """A scenario that cannot run, and what to do about it."""

    scenario: Scenario
    problem: str


def preflight(plan: RunPlan, *, remote: bool) -> list[Ready | NotReady]:
    """Check every scenario of the plan; what is missing is told for all of them at once.

    Args:
        plan: its scenarios, devices and settings.
        remote: `--remote` was given; without it nothing leaves this machine.

    """
    on_gpu = [s for s in plan.scenarios if s.track is Track.GPU and backend_name(s) == "transformers"]
    sight = look_from_outside() if on_gpu else None
    return [_check(scenario, plan, remote, sight) for scenario in plan.scenarios]


def _check(scenario: Scenario, plan: RunPlan, remote: bool, sight: Sight | None) -> Ready | NotReady:
    name = backend_name(scenario)
    if scenario.track is Track.REMOTE and not remote:
        return NotReady(scenario, "a remote scenario sends the corpus to a provider and may cost money; add --remote")
    if name not in {point.name for point in entry_points(group=GROUP)}:
        return NotReady(scenario, f"this installation has no backend {name!r} for track {scenario.track}")
    if scenario.track is Track.REMOTE:
        return _check_service(scenario, plan, name)
    if scenario.track is Track.GPU:
        return _check_gpu(scenario, plan.devices, sight)
    if scenario.gguf_filename is None or name not in _READS_GGUF:
        return Ready(scenario)
    try:
        return Ready(scenario, find_weights(scenario.model, scenario.gguf_filename))
    except WeightsError as error:
        return NotReady(scenario, " ".join(str(error).split()))


def _check_service(scenario: Scenario, plan: RunPlan, name: str) -> Ready | NotReady:
    if name == "litellm":
        if missing := plan.settings.missing_for_service():
            return NotReady(scenario, missing)
        if importlib.util.find_spec("litellm") is None:
            return NotReady(scenario, "litellm is not installed: install the extra 'remote': pip install '.[remote]'")
    try:
        backend = create_backend(name)
    except BackendError as error:
        return NotReady(scenario, str(error))
    return Ready(scenario, service=backend if isinstance(backend, AsyncBackend) else None)


def _check_gpu(scenario: Scenario, allowed: Sequence[str], sight: Sight | None) -> Ready | NotReady:
    named = scenario.device if scenario.device != "cuda" else ""
    if named and allowed and named not in allowed:
        return NotReady(scenario, f"its device {named!r} is not among --devices {','.join(allowed)}")
    for device in [named] if named else allowed or ["cuda"]:
        if sight is not None and (problem := problem_of(sight, device, scenario.quantization)):
            return NotReady(scenario, problem)
    return Ready(scenario, device=named or (allowed[0] if len(allowed) == 1 else ""))
