"""What it takes to reproduce a result: the machine, versions, code, prompt, and the model as it was loaded."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from msgspec import UNSET
from msgspec.structs import replace

from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.result import STATISTICS, build_result
from benchmark.grading.summary import machine_figures
from benchmark.record.journal import Hardware
from benchmark.record.result import RACE, Answered, Environment, LoadedBackend, Outcome, Result, Run, Warmup
from benchmark.run.identity import prompt_sha256
from benchmark.run.machine import hardware
from benchmark.run.plan import ScenarioPlan
from benchmark.run.workload import ScenarioRun
from benchmark.scoring import SCORER_VERSION
from ctxsift.answers.recovery import RECOVERY_VERSION
from ctxsift.backends.base import LoadInfo
from ctxsift.backends.registry import ENGINES

_PACKAGES = ("ctxsift-bench", *ENGINES, "numpy", "rapidfuzz", "tokenizers", "wordllama")


def result_of(plan: ScenarioPlan, ran: ScenarioRun[Outcome], references: ReferenceScores) -> Result:
    """Return the result of a scenario that has just run; of an interrupted one, without reference rows."""
    warmup = Warmup(load_ms=ran.load.load_ms if ran.load else None, cpu_rss_bytes=ran.worker_rss_bytes)
    # Somebody waits for the end of it, and they take seconds.
    rows = None if ran.interrupted else references
    kinds = list(dict.fromkeys(ran.hardware.values()))
    outcomes = _with_machines(ran, kinds) if len(kinds) > 1 else ran.outcomes
    return build_result(plan.scenario, warmup, _run_of(plan, ran, outcomes, kinds), outcomes, plan.cases, rows)


def _with_machines(ran: ScenarioRun[Outcome], kinds: Sequence[Hardware]) -> tuple[Outcome, ...]:
    """Return the outcomes, each with the kind of machine that it came from."""
    places = {unit_id: kinds.index(hardware) for unit_id, hardware in ran.hardware.items()}
    return tuple(
        replace(outcome, machine=places[outcome.question.case_id])
        if isinstance(outcome, Answered) and outcome.question.case_id in places
        else outcome
        for outcome in ran.outcomes
    )


def _run_of(
    plan: ScenarioPlan, ran: ScenarioRun[Outcome], outcomes: Sequence[Outcome], kinds: Sequence[Hardware]
) -> Run:
    """Return how the answers came to be, and how they were scored."""
    identity, disturbance = plan.identity, ran.disturbance
    stopped = len(plan.asked_cases) < len(plan.cases)
    if several := len(kinds) > 1:
        reason = f"the answers came from {len(kinds)} kinds of machine"
        disturbance = replace(disturbance, latency_clean=False, reasons=[reason, *disturbance.reasons])
    return Run(
        timestamp=identity.timestamp,
        complete=ran.complete and not stopped,
        error=ran.error,
        wall_s=ran.wall_s,
        seed=identity.seed,
        corpus_sha256=identity.corpus_sha256,
        corpus_cases=plan.corpus_cases,
        recovery_version=RECOVERY_VERSION,
        scorer_version=SCORER_VERSION,
        statistics=STATISTICS,
        case_ids=identity.case_ids,
        prompt_version=identity.prompt_version,
        prompt_sha256=prompt_sha256(),
        recovery_enabled=identity.recovery_enabled,
        weights_sha256=identity.weights_sha256,
        max_output_tokens=identity.max_output_tokens,
        backend=backend_of(ran.load) if ran.load else None,
        environment=environment(kinds),
        disturbance=disturbance,
        latency_ignored=several or (identity.forgive_latency and not disturbance.latency_clean),
        machines=machine_figures(kinds, outcomes) if several else UNSET,
        shard=str(identity.shard) if identity.shard else UNSET,
        stopped_by=RACE if stopped else UNSET,
    )


def environment(kinds: Sequence[Hardware] = ()) -> Environment:
    """Return hardware, versions and commit of this checkout.

    Args:
        kinds: of machine that the answers came from; empty for this one.

    """
    commit, dirty = _commit()
    kinds = kinds or (hardware(),)
    (physical, logical), *others = dict.fromkeys((kind.cpu_cores_physical, kind.cpu_cores_logical) for kind in kinds)
    return Environment(
        platform=platform.platform(),
        python=platform.python_version(),
        cpu=", ".join(dict.fromkeys(kind.cpu for kind in kinds)),
        cpu_cores_physical=None if others else physical,
        cpu_cores_logical=None if others else logical,
        memory_bytes=psutil.virtual_memory().total,
        packages=_versions(),
        git_commit=commit,
        git_dirty=dirty,
    )


def backend_of(load: LoadInfo) -> LoadedBackend:
    """Return the engine, and the model as it was loaded."""
    return LoadedBackend(
        name=load.backend,
        engine=load.engine,
        engine_version=load.engine_version,
        architecture=load.architecture,
        chat_template=load.chat_template,
        chat_template_note=load.chat_template_note,
        chat_template_sha256=load.chat_template_sha256,
        context_tokens=load.context_tokens,
        threads=load.threads,
        settings=load.settings,
        environment=load.environment,
        model_file=load.model_file or UNSET,
    )


def _versions() -> dict[str, str]:
    found = {}
    for package in sorted(_PACKAGES):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> tuple[str | None, bool | None]:
    """Return git commit and dirty flag of this code; None where it is not a checkout."""
    here = Path(__file__)
    root = here.parents[2]

    def git(*arguments: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    if git("ls-files", "--error-unmatch", str(here)) is None:
        return None, None
    status = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "HEAD"), None if status is None else bool(status)
