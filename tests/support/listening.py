"""A listener to scenarios for tests that need none."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.matrix import Scenario
from ctxsift.backends.base import LoadInfo


class Silent:
    """Hears of everything and does nothing; see `benchmark.run.scenario_run.Listener`."""

    def kept(self, scenario: Scenario, outcomes: Sequence[object]) -> None:
        """Do nothing."""

    def loading(self, scenario: Scenario) -> None:
        """Do nothing."""

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        """Do nothing."""

    def finished_case(self, outcome: object) -> None:
        """Do nothing."""
