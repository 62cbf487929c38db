"""Arms of an experiment: a scenario and its cases. They run and resume like any run of the runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console

from benchmark.cases import Case, Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.matrix import Scenario
from benchmark.record.paths import result_beside
from benchmark.record.read import StoredResult, read_result
from benchmark.render.progress import RunProgress
from benchmark.run.plan import Repeats, RequestedScenario, RunSettings, ScenarioPlan
from benchmark.run.preflight import NotReady, preflight
from benchmark.run.run_group import RunGroup, continued, run_group
from benchmark.run.signals import stopping_by_signals
from benchmark.run.stop import Stop
from benchmark.scoring import Embedder
from ctxsift.backends.base import Ability
from ctxsift.backends.registry import traits_of
from ctxsift.errors import InputError
from ctxsift.terminal import tell


@dataclass(frozen=True)
class Arm:
    """One side of a comparison; `scenario.name` tells it from the others.

    Attributes:
        repeats: which of the cases repeat a question; None where none does.

    """

    scenario: Scenario
    corpus: Corpus
    cases: tuple[Case, ...]
    repeats: Repeats | None = None


def run_arms(arms: Sequence[Arm], run: RunSettings, embedder: Embedder) -> list[StoredResult]:
    """Return the result of each arm, in order; answers of earlier calls in the same folder are used again.

    Args:
        arms: no two of one name.
        run: what they have in common.
        embedder: of the scorer.

    Raises:
        InputError: an arm cannot run (nothing has been asked then), or got no answer to some of its cases.
        KeyboardInterrupt: a person interrupted it; the same call continues where it stopped.

    """
    checked = preflight([_requested(arm) for arm in arms], run)
    for each in checked:
        if isinstance(each, NotReady):
            raise InputError(f"--scenario {each.scenario.name}", each.problem, "fix this, or name a different row")
    stop, results = Stop(), []
    # They know cases by their ids, which two data sets may share.
    references = {arm.corpus.sha256: ReferenceScores(embedder) for arm in arms}
    plans = [each for each in checked if isinstance(each, ScenarioPlan)]
    progress = RunProgress(Console(stderr=True), len(plans), len(arms[0].cases), show_output=False)
    with stopping_by_signals(stop), progress:
        for arm, plan in zip(arms, plans, strict=True):
            results.append(_result(arm, plan, run, references[arm.corpus.sha256], stop, progress))
    return results


def repeats_of(scenario: Scenario, numbers: Mapping[str, int], temperature: float) -> Repeats:
    """Return how a scenario is asked repeats: at the temperature, or as it is where its backend cannot sample."""
    can_sample = Ability.SAMPLING in traits_of(scenario.backend_name).abilities
    return Repeats(numbers, temperature if can_sample else 0.0)


def _requested(arm: Arm) -> RequestedScenario:
    return RequestedScenario(arm.scenario, arm.cases, arm.corpus, repeats=arm.repeats)


def _result(
    arm: Arm, plan: ScenarioPlan, run: RunSettings, references: ReferenceScores, stop: Stop, progress: RunProgress
) -> StoredResult:
    (left, answered) = continued([plan], [run.output_dir])
    if answered:
        tell(f"{arm.scenario.name}: already answered, in {answered[0].parent}")
        return read_result(result_beside(answered[0]))
    group = RunGroup(
        plans=left,
        not_ready=(),
        folders=frozenset({left[0].journal.parent}),
        output_dir=run.output_dir,
        timestamp=run.timestamp,
        devices=run.devices,
        resumed=False,
    )
    found = run_group(group, references, stop, progress.scenario, _failed)
    if stop.requested:
        raise KeyboardInterrupt
    if not found or not found[0].record.complete:
        problem = found[0].record.run.error if found and found[0].record.run else None
        raise InputError(arm.scenario.name, problem or "some cases got no answer", "rerun the same command to continue")
    return found[0]


def _failed(name: str, error: Exception, _: object) -> None:
    tell(f"error: {name}: {error}")
