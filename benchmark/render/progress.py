"""What a person sees while a run goes on: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from benchmark.matrix import Scenario
from benchmark.record.result import InstrumentFailure, Outcome
from benchmark.record.views import ScoredView
from benchmark.scoring import scenario_score
from ctxsift.backends.base import CANARY, LoadInfo
from ctxsift.backends.command import UNKNOWN_VERSION
from ctxsift.backends.registry import COMMAND
from ctxsift.rich_text import beginning, plain_text
from ctxsift.terminal import one_line

_LINE_EVERY_S = 10.0


class RunProgress:
    """Shows a whole run; a context manager around it. Scenarios may run at the same time."""

    def __init__(self, console: Console, scenarios: int, cases: int, *, show_output: bool) -> None:
        self._console, self._cases, self._show_output = console, cases, show_output
        self._bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._run_task = self._bars.add_task("scenarios", total=scenarios, note="")

    def __enter__(self) -> RunProgress:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    @contextmanager
    def scenario(self) -> Iterator[ScenarioProgress]:
        """Give a listener for one scenario, and count the scenario at its end."""
        task = self._bars.add_task("", total=self._cases, note="loading")
        try:
            yield ScenarioProgress(self._console, self._bars, task, self._cases, show_output=self._show_output)
        finally:
            self._bars.remove_task(task)
            self._bars.advance(self._run_task)


class ScenarioProgress:
    """Listens to one scenario and shows it."""

    def __init__(self, console: Console, bars: Progress, task: TaskID, cases: int, *, show_output: bool) -> None:
        self._console, self._bars, self._task, self._cases = console, bars, task, cases
        self._show_output = show_output
        self._name = ""
        self._scores: list[float] = []
        self._times_ms: list[float] = []
        self._tokens, self._decode_ms = 0, 0.0
        self._failures = self._done = self._kept = 0
        self._started = self._last_line = time.monotonic()

    def kept(self, scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
        """Tell what a resumed run already has."""
        self._kept = len(outcomes)
        for outcome in outcomes:
            self._count(outcome)
        self._bars.update(self._task, advance=self._kept)
        self._say(f"{scenario.name}: {self._kept}/{self._cases} cases already have an answer")

    def loading(self, scenario: Scenario) -> None:
        """Begin a scenario."""
        self._name = scenario.name
        self._bars.update(self._task, description=scenario.name)
        self._line(f"{scenario.name}: loading {scenario.model}")

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        """Tell what was loaded, and what is unusual about it."""
        self._started = time.monotonic()
        self._bars.update(self._task, note="")
        if not load.context_tokens:
            # No model: of a program, or a rule of ours, nothing is loaded.
            if load.backend == COMMAND:
                version = "" if load.engine_version == UNKNOWN_VERSION else f" {load.engine_version}"
                self._say(f"{scenario.name}: runs the program {load.engine}{version}")
            return
        note = f"; chat template {load.chat_template}: {load.chat_template_note}" if load.chat_template_note else ""
        canary = f"; {load.settings[CANARY]}" if CANARY in load.settings else ""
        threads = f", {load.threads} threads" if load.threads else ""
        flight = f", {scenario.concurrency} at a time" if scenario.concurrency > 1 else ""
        context = f", context {load.context_tokens}" if load.context_tokens else ""
        loaded = f"{context}, loaded in {load.load_ms / 1000:.1f} s{note}{canary}"
        self._say(f"{scenario.name}: {load.engine} {load.engine_version}{threads}{flight}{loaded}")

    def finished_case(self, outcome: Outcome) -> None:
        """Count one case."""
        self._count(outcome)
        if isinstance(outcome, InstrumentFailure):
            self._say(f"{outcome.question.case_id}: no answer: {outcome.error}")
        elif self._show_output:
            self._output(outcome.question.case_id, outcome.recovered)
        self._bars.update(self._task, advance=1, note=self._note())
        now = time.monotonic()
        if now - self._last_line >= _LINE_EVERY_S or self._done == self._cases:
            self._last_line = now
            elapsed = now - self._started
            remaining = elapsed / (self._done - self._kept) * (self._cases - self._done)
            done = f"{self._done}/{self._cases} cases"
            self._line(f"{self._name}: {done}, {elapsed:.0f} s, {remaining:.0f} s left, {self._note()}")

    def _count(self, outcome: Outcome) -> None:
        self._done += 1
        if isinstance(outcome, InstrumentFailure):
            self._failures += 1
            return
        generation = outcome.generation
        self._scores.append(outcome.recovered.case_score)
        self._times_ms.append(generation.total_ms)
        self._tokens += generation.completion_tokens or 0
        self._decode_ms += generation.decode_ms or 0.0

    def _note(self) -> str:
        if not self._scores:
            return "no answer yet"
        score = scenario_score(self._scores, sum(self._times_ms) / len(self._times_ms)).final_score
        speed = f", {1000 * self._tokens / self._decode_ms:.0f} tokens/s" if self._decode_ms else ""
        failures = f", {self._failures} without an answer" if self._failures else ""
        return f"score {score:.1f}{speed}{failures}"

    def _output(self, case_id: str, view: ScoredView) -> None:
        self._say(f"--- {case_id}: {view.case_score:.2f}")
        self._print(beginning(view.output or "(nothing)"))

    def _say(self, text: str) -> None:
        self._print(plain_text(one_line(text)))

    def _print(self, text: Text) -> None:
        self._bars.console.print(text, soft_wrap=True)

    def _line(self, text: str) -> None:
        if not self._console.is_terminal:
            self._say(text)
