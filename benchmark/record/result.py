"""The result of one scenario: a superset of the published layout.

Attributes are named as the code names them; where the published layout has another key, `name=` says which. Scores of
cases are in [0, 1], final scores in [0, 100], times in milliseconds unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from msgspec import UNSET, UnsetType, field

from benchmark.cases import EASY_TIER
from benchmark.matrix import Scenario
from benchmark.record.base import Figure, Flat, Ratio, Record, Sha256, Timestamp, TotalSeconds, Whole
from benchmark.record.journal import Hardware
from benchmark.record.judged_quality import JudgedQuality, ProseJudge
from benchmark.record.summary import Dimension, Group, Latency, Summary
from benchmark.record.views import ScoredView
from ctxsift.answers.recovery import RecoveryStep
from ctxsift.backends.base import Count, Generation, Milliseconds, ModelFile
from ctxsift.contracts import CONTRACTS, ContractKind
from ctxsift.strict_json import learn

SCHEMA_VERSION = 3
RACE = "race"
EASY, OTHER = "easy tier", "other cases"
"""The tiers of cases, by their names in breakdowns and slices."""
_PROSE = frozenset(intent for intent, contract in CONTRACTS.items() if contract.kind is ContractKind.PLAIN)


class Question(Record, frozen=True, kw_only=True):
    """What was asked, and its gold. What a published file does not tell is None.

    Attributes:
        capture: name of the raw output; None in older files.
        command: as the model was told it; None in older files too, whose models were not.
        exit_code: likewise.
        says: its statements, in words; empty for one that has none, None in older files.
        tags: of the case; None in older files.

    """

    case_id: str
    capture: str | None = None
    title: str | None = None
    domain: str | None = None
    tool: str | None = None
    family: str | None = None
    intent: str | None = None
    output_mode: str | None = None
    difficulty: str | None = None
    command: str | None = None
    exit_code: Whole | None = None
    instruction: str | None = None
    says: list[str] | None = None
    tags: list[str] | None = None
    raw_input: str | None = None
    expected_output: str | None = None
    required_anchors: list[str] | None = None

    @property
    def by_wording(self) -> bool | None:
        """Whether its quality is closeness to gold's words, for want of statements; None if it is no prose, or old."""
        if self.intent not in _PROSE or self.says is None:
            return None
        return not self.says

    @property
    def is_prose(self) -> bool | None:
        """Whether its answer is judged as prose, not checked exactly; None where an old file does not tell."""
        return None if self.intent is None or self.says is None else self.intent in _PROSE or bool(self.says)

    @property
    def tier(self) -> str | None:
        """EASY or OTHER; None in older files."""
        return None if self.tags is None else EASY if EASY_TIER in self.tags else OTHER

    @property
    def cluster(self) -> tuple[str, str]:
        """What it has in common with the questions that are drawn with it: the capture, or else the raw input."""
        if self.capture is not None:
            return "capture", self.capture
        return ("alone", self.case_id) if self.raw_input is None else ("raw input", self.raw_input)


class Answered(Record, tag_field="outcome", frozen=True, kw_only=True):
    """What every answer has, whether the model ended it by itself or not.

    Attributes:
        error: of published files, which score what went wrong as an answer.
        generation: the answer as it came; its text is the raw view's.
        attempts: how many were needed until an answer came.
        elapsed_ms: from the first attempt to the answer, waiting included; None in older files.
        input_tokens: length of the raw input by the scorer's tokenizer, the same for all models.
        read_tokens: length of what the model read in its place, by the same; None for the raw input.
        input_chars_cut: characters of the raw input that did not fit the context.
        machine: index of the kind of machine it came from, in the run's `machines`; only where there are several.
        judged_quality: of an answer in prose, where a judge was asked; see `benchmark.rescore --judge`.
        held_back: why the product would not print this valid answer; names of ctxsift.gate. No score knows of it.

    """

    FLAT: ClassVar[Mapping[str, Flat]] = {
        "question": Flat(),
        "generation": Flat(rename={"total_ms": "inference_ms"}, without=frozenset({"text"})),
        "recovered": Flat(),
    }

    question: Question
    error: str | None = None
    attempts: Count = 1
    elapsed_ms: Milliseconds | None = None
    generation: Generation
    input_tokens: Count | None = None
    read_tokens: Count | None = None
    input_chars_cut: Count = 0
    cpu_rss_bytes: Count | None = None
    recovery_steps: list[RecoveryStep] = []
    held_back: list[str] = []
    machine: Count | UnsetType = UNSET
    judged_quality: JudgedQuality | UnsetType = UNSET
    recovered: ScoredView
    raw: ScoredView = field(name="raw_view")

    @property
    def instrument_error(self) -> None:
        """None: it was graded."""

    @property
    def model_failed(self) -> bool:
        """Whether the model came to no answer of its own."""
        return isinstance(self, ModelFailure)


class Scored(Answered, tag="scored", frozen=True, kw_only=True):
    """The model answered and ended by itself."""

    failure_reason: None = None


class ModelFailure(Answered, tag="model_failure", frozen=True, kw_only=True):
    """The model answered with nothing, or was cut off; scored as what it is.

    Attributes:
        failure_reason: `empty_answer`, `token_limit`, `truncated_reasoning` (the limit came before the answer), `loop`,
            `content_filter` (a service cut the answer off), `cut_off` (its generation has the service's word for how
            it ended), `program_failed` (its generation has the fault).

    """

    failure_reason: str


class UnscoredAnswer(Record, frozen=True, kw_only=True):
    """An answer that our scorer failed on."""

    FLAT: ClassVar[Mapping[str, Flat]] = {"generation": Flat()}

    generation: Generation
    input_chars_cut: Count = 0


class InstrumentFailure(Record, tag_field="outcome", tag="instrument_failure", frozen=True, kw_only=True):
    """An answer never came, or the scorer failed on it; the model is not to blame, and nothing is scored.

    Attributes:
        unscored_answer: what the scorer failed on; `rescore` tries again.

    """

    FLAT: ClassVar[Mapping[str, Flat]] = {"question": Flat()}

    question: Question
    error: str
    attempts: Count = 1
    unscored_answer: UnscoredAnswer | UnsetType = UNSET

    @property
    def instrument_error(self) -> str:
        """Why nothing was graded."""
        return self.error

    @property
    def model_failed(self) -> bool:
        """False: nobody knows."""
        return False


Outcome: TypeAlias = Scored | ModelFailure | InstrumentFailure


def has_answer(outcome: Outcome) -> bool:
    """Return True if an answer came, scored or not."""
    return isinstance(outcome, Answered) or outcome.unscored_answer is not UNSET


learn(Outcome)


class Warmup(Record, frozen=True, kw_only=True):
    """What loading took. The thread counts are of the published layout; ours stand in the run's backend."""

    load_ms: Milliseconds | None = None
    cpu_rss_bytes: Count | None = None
    gpu_peak_bytes: Count | None = None
    torch_num_threads: Count | None = None
    torch_num_interop_threads: Count | None = None
    omp_num_threads: Count | None = None
    mkl_num_threads: Count | None = None


class Statistics(Record, frozen=True, kw_only=True):
    """How intervals were drawn."""

    method: str
    seed: Whole
    draws: Count
    confidence: Ratio


class Environment(Record, frozen=True, kw_only=True):
    """Hardware, versions and commit; None where they are not told.

    Attributes:
        packages: name -> version of those that can change a score or a time.

    """

    platform: str
    python: str
    cpu: str
    cpu_cores_physical: Count | None
    cpu_cores_logical: Count | None
    memory_bytes: Count
    packages: dict[str, str]
    git_commit: str | None
    git_dirty: bool | None


class Disturbance(Record, frozen=True, kw_only=True):
    """How much others disturbed the machine while a scenario ran.

    Attributes:
        other_cpu_share: CPU time of all other processes, steal included, as a share of all cores.
        steal_share: the part of it that the host of a virtual machine took.
        memory_stall_share: share of the time in which something waited for memory.
        load_average: one-minute load average at the first and the last sample.
        mhz: lowest and highest mean clock of the samples; None where it is not told.
        drift: how much longer the probe took after the scenario than before it; 0.1 is a tenth. None when it did not
            come to that.
        reasons: why latency measured meanwhile cannot be trusted.

    """

    other_cpu_share: Ratio
    steal_share: Ratio = 0.0
    memory_stall_share: Ratio = 0.0
    load_average: tuple[Figure, Figure]
    mhz: tuple[Figure, Figure] | None = None
    drift: Figure | None = None
    latency_clean: bool
    reasons: list[str] = []


class LoadedBackend(Record, frozen=True, kw_only=True):
    """The engine, and the model as it was loaded; see `ctxsift.backends.base.LoadInfo`.

    Attributes:
        model_file: what the header of the weights says; only where they are a file that has one; not in older files.

    """

    name: str
    engine: str
    engine_version: str
    architecture: str
    chat_template: str
    chat_template_note: str
    chat_template_sha256: str
    context_tokens: Count
    threads: Count
    settings: dict[str, Any] = {}
    environment: dict[str, str] = {}
    model_file: ModelFile | UnsetType = UNSET


class MachineFigures(Record, frozen=True, kw_only=True):
    """What came from one kind of machine; times of two kinds are never put together.

    Attributes:
        case_count: answers that came from there.
        latency: of these.

    """

    hardware: Hardware
    case_count: Count
    latency: Latency


class Run(Record, frozen=True, kw_only=True):
    """How the answers came to be, and how they were scored.

    Attributes:
        timestamp: UTC, e.g. 20260518T065257Z.
        error: why the scenario ended early.
        backend: None when the model was never loaded.
        machines: kinds of machine that the answers came from; only where there are several.
        shard: which part of a run this is, e.g. `3/16`; only of a part.
        stopped_by: `race` where a race needed no more answers of it; only there.
        latency_ignored: the score leaves latency out, since the machine was disturbed.

    """

    timestamp: Timestamp
    complete: bool
    error: str | None
    wall_s: TotalSeconds
    seed: Whole
    corpus_sha256: Sha256
    corpus_cases: Count
    recovery_version: str
    scorer_version: str
    statistics: Statistics
    case_ids: list[str]
    prompt_version: str
    prompt_sha256: Sha256
    recovery_enabled: bool
    weights_sha256: Sha256 | None
    max_output_tokens: Count
    backend: LoadedBackend | None
    environment: Environment
    disturbance: Disturbance
    latency_ignored: bool = False
    machines: list[MachineFigures] | UnsetType = UNSET
    shard: str | UnsetType = UNSET
    stopped_by: str | UnsetType = UNSET


class Result(Record, frozen=True, kw_only=True):
    """One result file.

    Attributes:
        schema_version: None in published files.
        run: None in published files.
        judge: who judged its prose, where somebody did.

    """

    schema_version: int | None = SCHEMA_VERSION
    scenario: Scenario
    warmup: Warmup = Warmup()
    run: Run | None = None
    judge: ProseJudge | UnsetType = UNSET
    summary: Summary
    breakdowns: dict[Dimension, list[Group]] | None = None
    cases: list[Outcome]

    @property
    def complete(self) -> bool:
        """Every planned case has an answer; published files are."""
        return self.run is None or self.run.complete

    @property
    def latency_clean(self) -> bool | None:
        """Whether nothing disturbed the machine; None where that is not known."""
        return None if self.run is None else self.run.disturbance.latency_clean
