"""A row of the matrix that is asked something of one's own: with journal, resume, retries and Ctrl-C as in a run."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmark.matrix import Scenario
from benchmark.record.base import Record, to_json
from benchmark.record.journal import MOST_ERROR_CHARS, RunIdentity
from benchmark.record.paths import journal_path
from benchmark.run.asking import Listed, Unit, UnitSource
from benchmark.run.identity import SEED
from benchmark.run.plan import RunSettings, answer_timeout_s, attempt_timeout_s, limits_of, model_spec
from benchmark.run.preflight import NotReady, find_ready
from benchmark.run.run_plan import RunPlan
from benchmark.run.scenario_run import run_scenario
from benchmark.run.signals import stopping_by_signals
from benchmark.run.stop import Stop
from benchmark.run.workload import ScenarioRun, UnitAnswer
from ctxsift.asking import Answer
from ctxsift.backends.base import Ability, Limits, LoadInfo, ModelSpec
from ctxsift.backends.registry import is_service
from ctxsift.errors import InputError
from ctxsift.files import exists
from ctxsift.settings import load_settings

_TOLD_EVERY_S = 1.0


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """What a row is asked for.

    Attributes:
        workload: its name in journals.
        option: that named the row, for errors.
        unit: one reply is called that, for people.
        prompt_version, prompt_sha256: of the words around what is asked.
        reading_version: raised when the same reply may be read in another way.
        context_tokens: that the longest prompt and its reply need.
        reply_tokens: that a reply may need; a row that allows more has more.
        needs: what the backend has to be able to do beside answering greedily.
        read: takes what counts out of a reply; empty where it says nothing.

    """

    workload: str
    option: str
    unit: str
    prompt_version: str
    prompt_sha256: str
    reading_version: str
    context_tokens: int
    reply_tokens: int = 0
    needs: frozenset[Ability] = frozenset()
    read: Callable[[Unit, UnitAnswer], str]


@dataclass(frozen=True)
class ReplyCost:
    """What a reply took.

    Attributes:
        tokens: read and written; None where nobody tells.

    """

    ms: float
    tokens: int | None


@dataclass(frozen=True)
class Replies:
    """What came.

    Attributes:
        texts: by id of the unit; empty where a reply says nothing.
        spent: likewise.
        errors: why there was no reply, by id.
        shortened: how many prompts did not fit and were cut.
        error: why it ended early; None where it did not.

    """

    texts: Mapping[str, str]
    errors: Mapping[str, str]
    shortened: int = 0
    error: str | None = None
    spent: Mapping[str, ReplyCost] = field(default_factory=dict)


class ReplyOutcome(Record, frozen=True, kw_only=True):
    """What became of one unit.

    Attributes:
        text: what counts of the reply; empty where it says nothing; None where there was none.
        spent: what it took; None where there was none.
        error: why there was none.

    """

    unit_id: str
    text: str | None
    spent: ReplyCost | None = None
    chars_cut: int = 0
    error: str | None = None

    @property
    def instrument_error(self) -> str | None:
        """Why there was no reply."""
        return self.error

    @property
    def model_failed(self) -> bool:
        """It said nothing."""
        return self.text == ""


class AskedRow:
    """A row of the matrix, of any track.

    Args:
        scenario: the row.
        run: as `asking_run` returns it.
        purpose: what it is asked for.
        told: hears how far it has come.

    Raises:
        InputError: it cannot run; nothing has to be asked to find that out.

    """

    def __init__(
        self, scenario: Scenario, run: RunSettings, purpose: Purpose, told: Callable[[str], None] = lambda _: None
    ) -> None:
        self._scenario, self._run, self._purpose, self._told = scenario, run, purpose, told
        (found,) = find_ready([scenario], run, self._spec)
        if isinstance(found, NotReady):
            raise InputError(f"{purpose.option} {scenario.name}", *_parted(found.problem))
        self._ready = found

    @property
    def weights_sha256(self) -> str | None:
        """Of its file; None where it has none."""
        return self._ready.weights.sha256 if self._ready.weights else None

    @property
    def service(self) -> list[str | int | None] | None:
        """Where it replies and how it is asked there; None on this machine. Two services may name two models alike."""
        settings = self._run.settings
        if not is_service(self._scenario.backend_name):
            return None
        return [
            settings.service,
            settings.llm_api_version,
            settings.llm_reasoning_mode,
            settings.llm_reasoning_budget,
        ]

    def ask(self, units: Sequence[Unit]) -> Replies:
        """Ask what its journal does not answer.

        Raises:
            InputError: it cannot be asked.
            KeyboardInterrupt: a person ended it; what was answered until then is not asked again.

        """
        plan, stop = self._plan(units), Stop()
        workload = _Workload(plan, units, self._purpose)
        with stopping_by_signals(stop):
            run_scenario(plan, workload, _Listener(len(units), self._purpose.unit, self._told), stop)
        ran = workload.ran
        assert ran is not None
        if ran.interrupted:
            raise KeyboardInterrupt
        return Replies(
            {each.unit_id: each.text for each in ran.outcomes if each.text is not None},
            {each.unit_id: each.error for each in ran.outcomes if each.error is not None},
            shortened=sum(each.chars_cut > 0 for each in ran.outcomes),
            error=ran.error,
            spent={each.unit_id: each.spent for each in ran.outcomes if each.spent is not None},
        )

    def _spec(self, index: int, /, *, device: str | None = None, weights: Path | None = None) -> ModelSpec:
        del index
        return model_spec(self._scenario, self._run, self._purpose.context_tokens, device=device, weights=weights)

    def _plan(self, units: Sequence[Unit]) -> RunPlan:
        scenario, run, ready, purpose = self._scenario, self._run, self._ready, self._purpose
        limits = self._limits()
        asked = "\n".join(each.unit_id for each in units)
        identity = RunIdentity(
            timestamp=run.timestamp,
            workload=purpose.workload,
            scenario=scenario,
            corpus_sha256=hashlib.sha256(asked.encode()).hexdigest(),
            prompt_version=_Workload.prompt_of(purpose),
            prompt_sha256=purpose.prompt_sha256,
            scorer_version=purpose.reading_version,
            max_output_tokens=limits.max_output_tokens,
            weights_sha256=self.weights_sha256,
            case_ids=[each.unit_id for each in units],
            seed=SEED,
        )
        journal = journal_path(run.output_dir, f"{scenario.name}-{_digest(identity, self.service)}")
        return RunPlan(
            scenario=scenario,
            journal=journal,
            identity=identity,
            spec=ready.spec,
            limits=limits,
            retries=run.settings.retries,
            attempt_timeout_s=attempt_timeout_s(scenario, None, run.settings),
            answer_timeout_s=answer_timeout_s(ready.spec, limits),
            needs=purpose.needs,
            resumed=_is_begun(journal),
        )

    def _limits(self) -> Limits:
        limits = limits_of(self._scenario, self._run.settings)
        most = max(limits.max_output_tokens, self._purpose.reply_tokens)
        return dataclasses.replace(limits, max_output_tokens=most)


class _ReplyReader:
    """Keeps what counts of a reply; what it is worth, others say. See Grader."""

    def __init__(self, purpose: Purpose) -> None:
        self.version, self._read = purpose.reading_version, purpose.read

    def grade(self, unit: Unit, given: UnitAnswer) -> ReplyOutcome:
        """Take what counts out of a reply."""
        answer, generation = given.answer, given.answer.generation
        counts = generation.prompt_tokens, generation.completion_tokens
        tokens = None if None in counts else sum(count or 0 for count in counts)
        return ReplyOutcome(
            unit_id=unit.unit_id,
            text=self._read(unit, given),
            spent=ReplyCost(generation.total_ms, tokens),
            chars_cut=answer.input_chars_cut,
        )

    def ungraded(self, unit: Unit, answer: Answer | None, error: str, attempts: int) -> ReplyOutcome:
        """Keep why there is no reply."""
        del answer, attempts
        return ReplyOutcome(unit_id=unit.unit_id, text=None, error=error[:MOST_ERROR_CHARS])

    def prepare(self, units: Sequence[Unit]) -> None:
        """Nothing to prepare."""


class _Workload:
    """Units in their order; see Workload."""

    def __init__(self, plan: RunPlan, units: Sequence[Unit], purpose: Purpose) -> None:
        self.prompt_version, self.grader = self.prompt_of(purpose), _ReplyReader(purpose)
        self._plan, self._units = plan, units
        self.ran: ScenarioRun[ReplyOutcome] | None = None

    @staticmethod
    def prompt_of(purpose: Purpose) -> str:
        """Return what the words of a purpose are known by."""
        return f"{purpose.workload} {purpose.prompt_version}"

    def source(self) -> UnitSource:
        """Return the units; those that begin alike follow each other, so that the beginning is read once."""
        return Listed(self._units)

    def write(self, ran: ScenarioRun[ReplyOutcome]) -> Path:
        """Keep it for whoever asked; the replies are in the journal."""
        self.ran = ran
        return self._plan.journal


class _Listener:
    """Tells how far a row has come."""

    def __init__(self, units: int, unit: str, told: Callable[[str], None]) -> None:
        self._units, self._unit, self._told, self._done, self._last = units, unit, told, 0, 0.0

    def kept(self, scenario: Scenario, outcomes: Sequence[ReplyOutcome]) -> None:
        """Count what was answered before."""
        self._done += len(outcomes)
        self._told(f"{scenario.name}: {self._done:,} of {self._units:,} {self._unit}s are already answered")

    def loading(self, scenario: Scenario) -> None:
        """Say so."""
        self._told(f"{scenario.name}: loading")

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        """Nothing to say before the first reply."""

    def finished_case(self, outcome: ReplyOutcome) -> None:
        """Count it."""
        del outcome
        self._done += 1
        if time.monotonic() - self._last > _TOLD_EVERY_S:
            self._last = time.monotonic()
            self._told(f"{self._done:,} of {self._units:,} {self._unit}s")


def asking_run(folder: Path, env_file: Path | None = None, *, remote: bool = False) -> RunSettings:
    """Return what rows that are asked have in common.

    Args:
        folder: of their journals.
        env_file: settings of a service.
        remote: what is asked may leave this machine; so it may where the settings say so.

    Raises:
        InputError: a setting is none.

    """
    settings = load_settings(env_file)
    return RunSettings(
        output_dir=folder,
        timestamp=datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ"),
        settings=settings,
        env_file=env_file,
        remote=remote or settings.remote,
    )


def _digest(identity: RunIdentity, service: list[str | int | None] | None) -> str:
    """Return what tells a journal from those of other questions, of another model, or asked in other words."""
    whole = to_json(identity) | {"timestamp": None} | ({} if service is None else {"service": service})
    return hashlib.sha256(msgspec.json.encode(whole, order="sorted")).hexdigest()[:12]


def _is_begun(journal: Path) -> bool:
    """Return True if a journal has its first line; a kill may have left it without, and then it is removed."""
    if not exists(journal):
        return False
    with journal.open("rb") as file:
        if file.readline().endswith(b"\n"):
            return True
    journal.unlink()
    return False


def _parted(problem: str) -> tuple[str, str]:
    """Return a problem without what to do about it, and that."""
    told, _, hint = problem.rpartition("; ")
    return (told, hint) if told else (problem, "fix that, or name another row")
