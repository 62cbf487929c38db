"""What scenarios have in common, and the plan of one that is asked the cases of a corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.cases import Case, Corpus
from benchmark.matrix import TRACKS, Scenario
from benchmark.record.journal import RunIdentity, Shard
from benchmark.record.paths import journal_path, shard_folder
from benchmark.run.identity import SEED, prompt_sha256
from benchmark.run.run_plan import RunPlan, Workers
from benchmark.scoring import SCORER_VERSION
from ctxsift.backends.base import Ability, Limits, ModelOptions, ModelSpec
from ctxsift.backends.weights import Weights
from ctxsift.prompts import PROMPT_VERSION, build_messages
from ctxsift.settings import MOST_TOKENS, Settings

# Dense output (addresses, hashes) has about 1.5 bytes a token; a wider context costs only memory.
_BYTES_PER_TOKEN = 1.5
_SCAFFOLD_TOKENS = 256
_CONTEXT_STEP = 512
_ENDING_S = 60.0


@dataclass(frozen=True)
class RunSettings:
    """What scenarios of one run have in common.

    Attributes:
        output_dir: where run folders go.
        timestamp: UTC, e.g. 20260518T065257Z; part of folder names.
        folder_name: shared run folder (`--name`), or None for one folder a scenario.
        env_file: where a service's settings are read, key included.
        devices: GPUs that scenarios of device `cuda` are spread over; empty for the first one alone.
        remote: the corpus may leave this machine.
        allow_provider: of LiteLLM, that may take it to other hosts than the configured one.
        case_timeout_s: how long one answer of a local model may take; None for a limit that follows from its tokens.
        retry_failed: ask again what the model failed at, too.
        forgive_latency: leave latency out of the score where the machine was disturbed.
        prefix_caching: do not read again what the case before shares.
        programs: rows of track `command` by name, which may stand before a model.
        workers: of a Ray cluster that hold the models; None for models in processes of this machine.

    """

    output_dir: Path
    timestamp: str
    settings: Settings
    folder_name: str | None = None
    env_file: Path | None = None
    devices: tuple[str, ...] = ()
    remote: bool = False
    allow_provider: tuple[str, ...] = ()
    case_timeout_s: float | None = None
    retry_failed: bool = False
    forgive_latency: bool = False
    prefix_caching: bool = True
    programs: Mapping[str, Scenario] = field(default_factory=dict)
    workers: Workers | None = None

    def before(self, scenario: Scenario) -> Scenario | None:
        """Return the program before a model. Raises KeyError where the matrix has none of that name."""
        return None if scenario.before is None else self.programs[scenario.before]

    def folder(self, scenario: Scenario, shard: Shard | None = None) -> Path:
        """Return the folder this scenario's files go to."""
        folder = self.output_dir / f"{self.folder_name or scenario.name}-{self.timestamp}"
        return shard_folder(folder, shard) if shard else folder


@dataclass(frozen=True)
class Repeats:
    """Cases that are the same question, asked again.

    Attributes:
        numbers: id of a case -> which repeat it is, from 1, which is the seed that its answer is drawn with; cases
            that are not named are asked greedily.
        temperature: of these answers; 0 asks again greedily.

    """

    numbers: Mapping[str, int]
    temperature: float


@dataclass(frozen=True)
class RequestedScenario:
    """A scenario somebody wants to run.

    Attributes:
        cases: in the order in which they run.
        corpus: that they are of.
        journal: of the run that is to be resumed; None for a new one.
        timestamp: of that run.
        shard: which part of a run this is; None for a whole one.
        repeats: which of the cases repeat a question; None where none does.

    """

    scenario: Scenario
    cases: tuple[Case, ...]
    corpus: Corpus
    journal: Path | None = None
    timestamp: str | None = None
    shard: Shard | None = None
    repeats: Repeats | None = None


@dataclass(frozen=True, kw_only=True)
class ScenarioPlan(RunPlan):
    """Everything one scenario's run of cases consumes; see RunPlan.

    Attributes:
        cases: in the order in which they run.
        corpus_cases: how many the corpus has.
        first: so many of the cases are asked for now; None for all.
        repeats: which of the cases repeat a question; None where none does.

    """

    cases: tuple[Case, ...]
    corpus_cases: int
    first: int | None = None
    repeats: Repeats | None = None

    @property
    def asked_cases(self) -> tuple[Case, ...]:
        """Those that are asked for now."""
        return self.cases[: self.first]


def limits_of(scenario: Scenario, settings: Settings) -> Limits:
    """Return the token limit of one answer; for a service, CTXSIFT_MAX_OUTPUT_TOKENS wins over the matrix.

    A program has none: it is bounded in bytes.
    """
    if scenario.program is not None:
        return Limits(MOST_TOKENS)
    if TRACKS[scenario.track].leaves_machine and settings.max_output_tokens is not None:
        return Limits(settings.max_output_tokens)
    return Limits(scenario.max_output_tokens)


def spec_of(
    asked: RequestedScenario, run: RunSettings, *, device: str | None = None, weights: Path | None = None
) -> ModelSpec:
    """Return the model of a scenario as its backend is told of it; its context holds all that its corpus asks.

    Args:
        asked: the scenario and its corpus.
        run: what it has in common with others.
        device: where it is not the scenario's word for it.
        weights: the local file of a model that has one.

    """
    context_tokens = _context_tokens(asked.corpus, limits_of(asked.scenario, run.settings))
    return model_spec(
        asked.scenario, run, context_tokens, dataset=str(asked.corpus.path), device=device, weights=weights
    )


def model_spec(
    scenario: Scenario,
    run: RunSettings,
    context_tokens: int,
    *,
    dataset: str | None = None,
    device: str | None = None,
    weights: Path | None = None,
) -> ModelSpec:
    """Return the model of a scenario as its backend is told of it, whatever it is asked.

    Args:
        scenario: the row of the matrix.
        run: what it has in common with others.
        context_tokens: that the longest prompt and its answer need.
        dataset: corpus that it is asked about, if it is asked about one.
        device: where it is not the scenario's word for it.
        weights: the local file of a model that has one.

    """
    return ModelSpec(
        model=scenario.model,
        path=str(weights) if weights else None,
        device=device or scenario.device,
        quantization=scenario.quantization,
        context_tokens=0 if scenario.program else context_tokens,
        seed=SEED,
        options=ModelOptions(
            dtype=scenario.dtype,
            attn_implementation=scenario.attn_implementation,
            trust_remote_code=scenario.trust_remote_code,
            extra_body=scenario.extra_body,
            env_file=str(run.env_file.resolve()) if run.env_file else None,
            dataset=dataset,
            prefix_caching=run.prefix_caching,
            allow_provider=run.allow_provider,
            program=scenario.program,
            threads=run.workers.threads if run.workers else None,
        ),
    )


def scenario_plan(asked: RequestedScenario, run: RunSettings, spec: ModelSpec, weights: Weights | None) -> ScenarioPlan:
    """Return the plan of a scenario for which everything is there."""
    scenario, settings = asked.scenario, run.settings
    limits, before, repeats = limits_of(scenario, settings), run.before(scenario), asked.repeats
    identity = RunIdentity(
        timestamp=asked.timestamp or run.timestamp,
        options={} if repeats is None else {"repeats": dataclasses.asdict(repeats)},
        scenario=scenario,
        corpus_sha256=asked.corpus.sha256,
        prompt_version=PROMPT_VERSION,
        prompt_sha256=prompt_sha256(),
        scorer_version=SCORER_VERSION,
        recovery_enabled=settings.recovery_enabled,
        forgive_latency=run.forgive_latency,
        max_output_tokens=limits.max_output_tokens,
        weights_sha256=weights.sha256 if weights else None,
        case_ids=[case.case_id for case in asked.cases],
        seed=SEED,
        shard=asked.shard,
    )
    return ScenarioPlan(
        scenario=scenario,
        cases=asked.cases,
        corpus_cases=len(asked.corpus.cases),
        journal=asked.journal or journal_path(run.folder(scenario, asked.shard), scenario.name),
        identity=identity,
        spec=spec,
        before=program_spec(before) if before else None,
        limits=limits,
        retries=settings.retries,
        attempt_timeout_s=attempt_timeout_s(scenario, before, settings),
        answer_timeout_s=run.case_timeout_s or answer_timeout_s(spec, limits),
        resumed=asked.journal is not None,
        retry_failed=run.retry_failed,
        workers=run.workers,
        needs=frozenset({Ability.SAMPLING}) if repeats is not None and repeats.temperature else frozenset(),
        repeats=repeats,
    )


def program_spec(scenario: Scenario) -> ModelSpec:
    """Return a program as its backend is told of it."""
    return ModelSpec(model=scenario.model, options=ModelOptions(program=scenario.program))


def answer_timeout_s(spec: ModelSpec, limits: Limits) -> float:
    """Return how long one answer of a local model may take, in seconds."""
    # Generous on purpose (20 tokens/s read, 1 token/s written): a slow machine is not a failure.
    return 60 + spec.context_tokens / 20 + limits.max_output_tokens


def attempt_timeout_s(scenario: Scenario, before: Scenario | None, settings: Settings) -> float:
    """Return how long one attempt may take, in seconds: at a service, or of a program with what follows it."""
    programs = [each.program for each in (scenario, before) if each is not None and each.program is not None]
    # A program is ended by whoever runs it, and may be asked twice.
    theirs = sum(2 * program.timeout_s + _ENDING_S for program in programs)
    return theirs + (0.0 if scenario.program else settings.timeout_ms / 1000)


def _context_tokens(corpus: Corpus, limits: Limits) -> int:
    """Return a context that holds the longest prompt of the whole corpus and its answer, in tokens.

    Sized to the corpus and not to the selection, so that a case gets the same treatment in every run.
    """
    longest = max(len(message.content.encode()) for case in corpus.cases for message in build_messages(case.request))
    wanted = int(longest / _BYTES_PER_TOKEN) + _SCAFFOLD_TOKENS + limits.max_output_tokens
    return -(-wanted // _CONTEXT_STEP) * _CONTEXT_STEP
