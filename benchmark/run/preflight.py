"""Before the first case: finds out whether all that the selected scenarios need is there."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points

from benchmark.matrix import Scenario, Track
from benchmark.run.plan import backend_name
from ctxsift.backends.registry import GROUP
from ctxsift.backends.weights import Weights, find_weights
from ctxsift.errors import WeightsError


@dataclass(frozen=True)
class Ready:
    """A scenario that can run; `weights` is None where the model is not a local file."""

    scenario: Scenario
    weights: Weights | None


@dataclass(frozen=True)
class NotReady:
    """A scenario that cannot run, and what to do about it."""

    scenario: Scenario
    problem: str


def preflight(scenarios: tuple[Scenario, ...], *, remote: bool) -> list[Ready | NotReady]:
    """Check every scenario; what is missing is told for all of them at once.

    Args:
        scenarios: the selected ones.
        remote: `--remote` was given; without it nothing leaves this machine.

    """
    return [_check(scenario, remote) for scenario in scenarios]


def _check(scenario: Scenario, remote: bool) -> Ready | NotReady:
    name = backend_name(scenario)
    if scenario.track is Track.REMOTE and not remote:
        return NotReady(scenario, "a remote scenario sends the corpus to a provider and may cost money; add --remote")
    if name not in {point.name for point in entry_points(group=GROUP)}:
        return NotReady(scenario, f"this installation has no backend {name!r} for track {scenario.track}")
    if name == "litellm":
        return NotReady(scenario, "the remote track of the benchmark is not part of this version")
    if name != "llama_cpp":
        return Ready(scenario, None)
    try:
        return Ready(scenario, find_weights(scenario.model, scenario.gguf_filename or ""))
    except WeightsError as error:
        return NotReady(scenario, " ".join(str(error).split()))
