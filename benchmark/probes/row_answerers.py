"""A row of the matrix as an answerer: asked as every other row is, with journal, resume, retries and Ctrl-C."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from benchmark.matrix import Scenario
from benchmark.probes.questions import PROMPT_VERSION, AnswerPrompt, AnswerQuestion, prompt_sha256
from benchmark.probes.said import Answers
from benchmark.record.base import Record, to_json
from benchmark.record.journal import MOST_ERROR_CHARS, RunIdentity
from benchmark.record.paths import journal_path
from benchmark.run.asking import Listed, Source, Unit
from benchmark.run.identity import SEED
from benchmark.run.plan import RunSettings, answer_timeout_s, attempt_timeout_s, limits_of, model_spec
from benchmark.run.preflight import NotReady, find_ready
from benchmark.run.run_plan import RunPlan
from benchmark.run.scenario_run import run_scenario
from benchmark.run.signals import stopping_by_signals
from benchmark.run.stop import Stop
from benchmark.run.workload import Given, ScenarioRun
from ctxsift.asking import Answer
from ctxsift.backends.base import LoadInfo, ModelSpec
from ctxsift.compression import Failure, compression
from ctxsift.errors import InputError
from ctxsift.files import exists
from ctxsift.settings import load_settings

WORKLOAD = "answers"
# Raised when the same reply may come to another answer.
GRADER_VERSION = "1"
# A summary of 4,000 tokens, the steps that are kept, and the answer, in tokens of any model; of what is longer, the
# middle is left out.
CONTEXT_TOKENS = 16_384
_NOTHING_SAID = (Failure.TRUNCATED_REASONING, Failure.PROGRAM_FAILED, Failure.EMPTY_ANSWER)
_TOLD_EVERY_S = 1.0


class AnswerOutcome(Record, frozen=True, kw_only=True):
    """What became of one question.

    Attributes:
        text: the answer; empty where the model came to none; None where there was no reply.
        error: why there was none.

    """

    unit_id: str
    text: str | None
    chars_cut: int = 0
    error: str | None = None

    @property
    def instrument_error(self) -> str | None:
        """Why there was no reply."""
        return self.error

    @property
    def model_failed(self) -> bool:
        """It said nothing, or ended in its reasoning."""
        return self.text == ""


class _Grader:
    """Takes an answer out of a reply; what it is worth, judges say."""

    version = GRADER_VERSION

    def grade(self, unit: Unit, given: Given) -> AnswerOutcome:
        """Take wrappers and reasoning off a reply."""
        request = unit.prompt.request
        assert request is not None
        found = compression(request, given.answer)
        text = "" if found.failure in _NOTHING_SAID else found.recovered.text.strip()
        return AnswerOutcome(unit_id=unit.unit_id, text=text, chars_cut=given.answer.input_chars_cut)

    def ungraded(self, unit: Unit, answer: Answer | None, error: str, attempts: int) -> AnswerOutcome:
        """Keep why there is no answer."""
        del answer, attempts
        return AnswerOutcome(unit_id=unit.unit_id, text=None, error=error[:MOST_ERROR_CHARS])

    def prepare(self, units: Sequence[Unit]) -> None:
        """Nothing to prepare."""


class _Workload:
    """Questions about contexts; see Workload."""

    prompt_version = f"answers {PROMPT_VERSION}"
    grader = _Grader()

    def __init__(self, plan: RunPlan, questions: Sequence[AnswerQuestion]) -> None:
        self._plan, self._questions = plan, questions
        self.ran: ScenarioRun[AnswerOutcome] | None = None

    def source(self) -> Source:
        """Return the questions in their order: those about one context follow each other, so that it is read once."""
        return Listed(Unit(each.question_id, AnswerPrompt(each)) for each in self._questions)

    def write(self, ran: ScenarioRun[AnswerOutcome]) -> Path:
        """Keep it for whoever asked; the answers are in the journal."""
        self.ran = ran
        return self._plan.journal


class _Listener:
    """Tells how far a row has come."""

    def __init__(self, questions: int, told: Callable[[str], None]) -> None:
        self._questions, self._told, self._done, self._last = questions, told, 0, 0.0

    def kept(self, scenario: Scenario, outcomes: Sequence[AnswerOutcome]) -> None:
        """Count what was answered before."""
        self._done += len(outcomes)
        self._told(f"{scenario.name}: {self._done:,} of {self._questions:,} answers are there already")

    def loading(self, scenario: Scenario) -> None:
        """Say so."""
        self._told(f"{scenario.name}: loading")

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        """Nothing to say before the first answer."""

    def finished_case(self, outcome: AnswerOutcome) -> None:
        """Count it."""
        del outcome
        self._done += 1
        if time.monotonic() - self._last > _TOLD_EVERY_S:
            self._last = time.monotonic()
            self._told(f"{self._done:,} of {self._questions:,} answers")


class RowAnswerer:
    """A row of the matrix, of any track; see Answerer.

    Args:
        scenario: the row.
        run: as `answering_run` returns it.
        told: hears how far it has come.

    Raises:
        InputError: it cannot run, which no question has to be put to find.

    """

    def __init__(self, scenario: Scenario, run: RunSettings, told: Callable[[str], None] = lambda _: None) -> None:
        self._scenario, self._run, self._told = scenario, run, told
        (found,) = find_ready([scenario], run, self._spec)
        if isinstance(found, NotReady):
            raise InputError(f"--answerer {scenario.name}", *_parted(found.problem))
        self._ready = found

    @property
    def name(self) -> str:
        """Of the row."""
        return self._scenario.name

    @property
    def version(self) -> str:
        """The model, and the prompt."""
        return f"{self._scenario.model}, prompt {PROMPT_VERSION}"

    def answers(self, questions: Sequence[AnswerQuestion]) -> Answers:
        """Ask what its journal does not answer; see Answerer."""
        distinct = list({each.question_id: each for each in questions}.values())
        plan, stop = self._plan(distinct), Stop()
        workload = _Workload(plan, distinct)
        with stopping_by_signals(stop):
            run_scenario(plan, workload, _Listener(len(distinct), self._told), stop)
        ran = workload.ran
        assert ran is not None
        if ran.interrupted:
            raise KeyboardInterrupt
        return Answers(
            {each.unit_id: each.text for each in ran.outcomes if each.text is not None},
            shortened=sum(each.chars_cut > 0 for each in ran.outcomes),
            error=ran.error,
        )

    def _spec(self, index: int, /, *, device: str | None = None, weights: Path | None = None) -> ModelSpec:
        del index
        return model_spec(self._scenario, self._run, CONTEXT_TOKENS, device=device, weights=weights)

    def _plan(self, questions: Sequence[AnswerQuestion]) -> RunPlan:
        scenario, run, ready = self._scenario, self._run, self._ready
        limits = limits_of(scenario, run.settings)
        asked = "\n".join(each.question_id for each in questions)
        identity = RunIdentity(
            timestamp=run.timestamp,
            workload=WORKLOAD,
            scenario=scenario,
            corpus_sha256=hashlib.sha256(asked.encode()).hexdigest(),
            prompt_version=_Workload.prompt_version,
            prompt_sha256=prompt_sha256(),
            scorer_version=GRADER_VERSION,
            max_output_tokens=limits.max_output_tokens,
            weights_sha256=ready.weights.sha256 if ready.weights else None,
            case_ids=[each.question_id for each in questions],
            seed=SEED,
        )
        journal = journal_path(run.output_dir, f"{scenario.name}-{_digest(identity)}")
        return RunPlan(
            scenario=scenario,
            journal=journal,
            identity=identity,
            spec=ready.spec,
            limits=limits,
            retries=run.settings.retries,
            attempt_timeout_s=attempt_timeout_s(scenario, None, run.settings),
            answer_timeout_s=answer_timeout_s(ready.spec, limits),
            resumed=_is_begun(journal),
        )


def answering_run(folder: Path, env_file: Path | None = None, *, remote: bool = False) -> RunSettings:
    """Return what rows that answer have in common.

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


def _digest(identity: RunIdentity) -> str:
    """Return what tells a journal from those of other questions, of another model, or asked in other words."""
    whole = to_json(identity) | {"timestamp": None}
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
    return (told, hint) if told else (problem, "mend that, or name another answerer")
