"""Everything one scenario's run consumes, whatever it is asked; decided before anything runs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmark.matrix import Scenario
from benchmark.record.journal import RunIdentity
from benchmark.record.paths import result_beside
from ctxsift.backends.base import Ability, Limits, ModelSpec
from ctxsift.settings import Settings


@dataclass(frozen=True)
class Workers:
    """Workers of a Ray cluster that hold the model.

    Attributes:
        address: of the cluster; `local` for one of its own, `auto` for the one that runs on this machine.
        most: how many; None for as many as there is room for, with a core left for the driver.
        cpus: cores of each, and threads of its model; None for 1.

    """

    address: str
    most: int | None = None
    cpus: int | None = None

    @property
    def threads(self) -> int:
        """Cores of each, and threads of its model."""
        return self.cpus or 1


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """Everything one scenario's run consumes but its units. Can be pickled: it holds no model, and no service's key.

    Attributes:
        journal: file; its folder holds the other files of the run, too.
        identity: of the run.
        spec: the model, with its file and device.
        before: the program whose output the model reads in place of the raw output; None for the raw output.
        limits: of one answer.
        retries: further attempts at a service after the first.
        attempt_timeout_s: how long one attempt at a service may take.
        answer_timeout_s: how long one answer of a local model may take before its process is ended.
        needs: what the backend has to be able to do beside answering greedily.
        resumed: the journal holds an earlier part of the run.
        retry_failed: ask again what the model failed at, too.
        workers: that hold the model; None for one model in a process of this machine.

    """

    scenario: Scenario
    journal: Path
    identity: RunIdentity
    spec: ModelSpec
    before: ModelSpec | None = None
    limits: Limits
    retries: int = Settings.retries
    attempt_timeout_s: float = Settings.timeout_ms / 1000
    answer_timeout_s: float = 600.0
    needs: frozenset[Ability] = frozenset()
    resumed: bool = False
    retry_failed: bool = False
    workers: Workers | None = None

    @property
    def result(self) -> Path:
        """Where the result goes."""
        return result_beside(self.journal)

    @property
    def pinned_device(self) -> str | None:
        """The one device it has to run on, e.g. `cuda:1`; None for any of its kind."""
        return self.spec.device if ":" in self.spec.device else None

    def on(self, device: str) -> Self:
        """Return the plan with its model on another device."""
        return dataclasses.replace(self, spec=dataclasses.replace(self.spec, device=device))
