"""The seam: what a backend is, what it is given and what it gives back.

A backend answers what it is asked, once. Retries, timeouts, concurrency and journaling live outside. What it wants of
whoever runs it, and what it can do beside answering greedily, its class says as `traits`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, Any, Literal, Protocol, runtime_checkable

import msgspec
from msgspec import Meta

from ctxsift.devices import Device
from ctxsift.errors import BackendError, InstrumentError
from ctxsift.programs import Program
from ctxsift.prompts import Message, Request
from ctxsift.settings import Settings
from ctxsift.strict_json import learn

# Key in a model's settings of why it was loaded in another way than it was asked for; it explains, and changes nothing.
CANARY = "canary"

# What any JSON reader reads back as it was written; the upper bounds leave out what is no number.
MOST_COUNTED, MOST_MS, MOST_COST_USD = 2**53, 1e12, 1e9
Count = Annotated[int, Meta(ge=0, le=MOST_COUNTED)]
Milliseconds = Annotated[float, Meta(ge=0, le=MOST_MS)]
# What is kept of an answer, in bytes of UTF-8: some 8,000 tokens, or more where more are allowed.
LEAST_KEPT_BYTES, KEPT_BYTES_PER_TOKEN = 32_768, 8
FinishReason = Literal["stop", "length", "loop", "content_filter", "other", "unknown"]


@dataclass(frozen=True)
class ModelOptions:
    """What else may be said of a model; each backend reads what it knows.

    Attributes:
        dtype, attn_implementation: `auto` leaves them to the model.
        trust_remote_code: run Python code that comes with the weights.
        extra_body: what each request to a service says beside the question.
        env_file: where a service's settings are read, key included; the environment wins.
        dataset: the corpus whose gold the oracle gives.
        use_extra_bufts: let llama.cpp repack weights for this CPU.
        threads: None for one a physical core.
        yields: write with fewer threads while other processes keep cores busy, which is faster then. It may change an
            answer (llama.cpp shares out attention by thread), so what is compared or resumed goes without.
        prefix_caching: do not read again what the prompt before began with, too; answers stay the same.
        allow_provider: of LiteLLM, that may call other hosts than the configured one; beside those of the settings.
        program: what answers in place of a model.

    """

    dtype: str = "auto"
    attn_implementation: str = "auto"
    trust_remote_code: bool = False
    extra_body: dict[str, Any] = field(default_factory=dict)
    env_file: str | None = None
    dataset: str | None = None
    use_extra_bufts: bool = True
    threads: int | None = None
    yields: bool = False
    prefix_caching: bool = True
    allow_provider: tuple[str, ...] = ()
    program: Program | None = None


@dataclass(frozen=True)
class ModelSpec:
    """Which model to load and how; all that a backend may know of a scenario. Holds no secret.

    Attributes:
        model: hub id, local path, `package:NAME` or provider model name, as the person wrote it.
        path: the verified local file of local weights, else None.
        context_tokens: the context the caller needs (prompt and answer together); 0 = what the model was trained for.

    """

    model: str
    path: str | None = None
    device: str = Device.CPU
    quantization: str = "none"
    context_tokens: int = 0
    seed: int = 0
    options: ModelOptions = ModelOptions()


@dataclass(frozen=True)
class Limits:
    """Bounds of one generation: tokens of the answer."""

    max_output_tokens: int = 768


class Ability(StrEnum):
    """What a backend may be able to do beside answering greedily; the value completes "it cannot ..."."""

    SAMPLING = "draw answers at a temperature"
    SCHEMA = "hold answers to a JSON schema"
    LOG_PROBABILITIES = "tell log-probabilities of a text"
    REQUESTS = "take a request as it is"


@dataclass(frozen=True)
class Decoding:
    """How one answer is decoded.

    Attributes:
        temperature: 0 takes the likeliest token each time; above it, tokens are drawn from all that the model gives,
            its logits divided by the temperature.
        seed: of the draws; the same seed draws the same answer, where the engine allows that.
        schema: JSON Schema that the answer conforms to unless the token limit ends it; None leaves it free.

    Raises:
        ValueError: the temperature is not a number from 0 upwards.

    """

    temperature: float = 0.0
    seed: int = 0
    schema: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not (self.temperature >= 0 and math.isfinite(self.temperature)):
            raise ValueError(f"a temperature is a number from 0 upwards, not {self.temperature}")

    @property
    def needs(self) -> frozenset[Ability]:
        """What a backend has to be able to do for it."""
        sampling = {Ability.SAMPLING} if self.temperature else set()
        return frozenset(sampling if self.schema is None else {*sampling, Ability.SCHEMA})


GREEDY = Decoding()


@dataclass(frozen=True, slots=True)
class LogProbability:
    """How likely a model finds one token of a text, given all that stands before it.

    Attributes:
        start, end: where the token lies in the text, in characters; tokens that share a character overlap.
        value: natural logarithm, at most 0; None for a first token with nothing before it.

    """

    start: Count
    end: Count
    value: float | None


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a local file of weights says of the model in it; a text is empty and a number None where it does not tell.

    Attributes:
        size_bytes: of the file; None where the weights are in several.
        parameters: values in all tensors; None where they are in several files.
        quantization: as llama.cpp names it, e.g. `Q4_K_M`.
        name: of the model.
        base_model: that it was made from.
        context_tokens: that it was trained for.
        licence: e.g. `apache-2.0`.

    """

    size_bytes: Count | None = None
    parameters: Count | None = None
    quantization: str = ""
    name: str = ""
    base_model: str = ""
    context_tokens: Count | None = None
    licence: str = ""


@dataclass(frozen=True, slots=True)
class LoadInfo:
    """What a backend says of itself once the model is loaded; goes into results and the resume key.

    Attributes:
        chat_template: name of the template in use, e.g. `model` or `fallback:gemma`.
        chat_template_note: why the model's own template is not used; empty when it is.
        load_ms: milliseconds from the call to readiness.
        environment: variables set for the model's process; they change its speed, never an answer.
        model_file: what the file that was loaded says of itself; None where there is none, or it tells nothing.

    """

    backend: str
    engine: str
    engine_version: str
    architecture: str
    chat_template: str
    chat_template_note: str
    chat_template_sha256: str
    context_tokens: Count
    threads: Count
    load_ms: Milliseconds
    settings: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    model_file: ModelFile | None = None


# Slots, since msgspec writes the defaults of a dataclass that it read only where they are slots.
@dataclass(frozen=True, slots=True)
class Generation:
    """One answer, as it came.

    Attributes:
        text: the answer, control tokens that leaked into it included.
        finish_reason: `stop` the model ended; `length` the limit did; `loop` it repeated itself without end;
            `other` what `ending` says did, as a service worded it; `unknown` nobody told.
        prompt_tokens, completion_tokens: by the model's own tokenizer; None where the provider does not tell.
        prefill_ms: time to read the prompt (time to the first token); what an earlier prompt began with as well counts
            as when it was read.
        decode_ms: time to write the answer.
        total_ms: the generation as a whole, by the engine's or the wall clock; the latency that is scored.
        model: what the engine or provider says the model is.
        reasoning: reasoning that arrived apart from the answer; never scored.
        begins_in_reasoning: the prompt's template had opened a reasoning block already, so `text` begins inside it.
        reasoning_tokens: tokens of it, as the provider counts them; part of `completion_tokens`.
        cost_usd: what a provider charges for this answer; None where nobody charges or tells.
        control_tokens: what of `text` the model's own vocabulary marks as control, where no table of ours lists it.
        reasoning_tags: what opens and closes reasoning by the model's own template, likewise.
        gpu_peak_bytes: most memory the answer took on the GPU, weights included; of a batch, by all its answers.
        threads: fewest threads that wrote a token of it, where they yield to other processes (ModelOptions); else None.
        cached_tokens: tokens of the prompt that were not read again, since an earlier prompt began with them.
        cached_ms: what reading them took then; part of `prefill_ms` and `total_ms`.
        chars_cut: characters of text and reasoning that were not kept; see `kept`.
        fault: of a program, why there is no answer, e.g. `exited with 1`; empty where there is one.
        remarks: of a program, what it did beside answering, e.g. `left processes behind`.
        read: what the model was given in place of the raw output; None where it was given that itself.
        ending: the service's word for the end, where it is none that we know, e.g. `tool_calls`; else empty.

    """

    text: str
    finish_reason: FinishReason
    prompt_tokens: Count | None
    completion_tokens: Count | None
    prefill_ms: Milliseconds | None
    decode_ms: Milliseconds | None
    total_ms: Milliseconds
    model: str
    reasoning: str = ""
    begins_in_reasoning: bool = False
    reasoning_tokens: Count | None = None
    cost_usd: Annotated[float, Meta(ge=0, le=MOST_COST_USD)] | None = None
    gpu_peak_bytes: Count | None = None
    threads: Count | None = None
    cached_tokens: Count = 0
    cached_ms: Milliseconds = 0.0
    control_tokens: tuple[str, ...] = ()
    reasoning_tags: tuple[tuple[str, str], ...] = ()
    chars_cut: Count = 0
    fault: str = ""
    remarks: tuple[str, ...] = ()
    read: str | None = None
    ending: str = ""


learn(Generation)


def kept(generation: Generation, limits: Limits) -> Generation:
    """Return what is kept of an answer: of one that is endless, the beginning, as if a limit had ended it.

    Text and reasoning keep LEAST_KEPT_BYTES each, or KEPT_BYTES_PER_TOKEN for each token that `limits` allow, if that
    is more.
    """
    room = max(LEAST_KEPT_BYTES, KEPT_BYTES_PER_TOKEN * limits.max_output_tokens)
    text, reasoning = _beginning(generation.text, room), _beginning(generation.reasoning, room)
    cut = len(generation.text) - len(text) + len(generation.reasoning) - len(reasoning)
    if not cut:
        return generation
    ended = generation.finish_reason if text == generation.text else "length"
    chars_cut = min(MOST_COUNTED, generation.chars_cut + cut)
    return replace(generation, text=text, reasoning=reasoning, finish_reason=ended, chars_cut=chars_cut)


def _beginning(text: str, room: int) -> str:
    start = text[: room + 1].encode("utf-8", "surrogatepass")
    return text if len(start) <= room else start[:room].decode("utf-8", "ignore")


def checked(generation: Generation) -> Generation:
    """Return an answer of which every field is of its kind. Raises InstrumentError naming the field that is not."""
    try:
        return msgspec.convert(msgspec.to_builtins(generation), Generation, strict=True)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise InstrumentError(f"the answer cannot be recorded: {error}") from error


def _nothing_missing(specs: Sequence[ModelSpec], settings: Settings) -> Sequence[str | None]:
    del settings
    return [None] * len(specs)


def _no_variables(environ: Mapping[str, str]) -> dict[str, str]:
    del environ
    return {}


@dataclass(frozen=True)
class Traits:
    """What a backend wants of whoever runs it; a class without `traits` gets these defaults.

    Attributes:
        reads_gguf: it loads `spec.path`, where that names a GGUF file that its caller has found and checked.
        reads_only_gguf: ... and nothing else.
        missing: returns for each model what is missing before it can be loaded (a package, a setting, a GPU), in one
            line; None where nothing is. Must not load anything itself, nor ask a service.
        worker: the class that runs it in a process of its own, where the usual one (`WorkerBackend`) will not do.
        environment: returns variables for that process, given those of the caller; they may change its speed, never
            an answer.
        abilities: what it can do beside answering greedily; see DecodingBackend, MeasuringBackend, RequestBackend.

    """

    reads_gguf: bool = False
    reads_only_gguf: bool = False
    missing: Callable[[Sequence[ModelSpec], Settings], Sequence[str | None]] = _nothing_missing
    worker: Callable[..., Any] | None = None
    environment: Callable[[Mapping[str, str]], dict[str, str]] = _no_variables
    abilities: frozenset[Ability] = frozenset()


class Backend(Protocol):
    """A model that answers. It is run in a process of its own: it may crash, hang or take all memory."""

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Load the model. Raises LoadError with one line a person can act on."""
        ...

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer once, greedily. Raises PromptTooLongError or another BackendError."""
        ...

    def close(self) -> None:
        """Free the model. May be called twice."""
        ...


@runtime_checkable
class BatchBackend(Backend, Protocol):
    """A backend that reads several prompts at once: what `concurrency` above 1 is to a local model."""

    def generate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        """Answer every prompt, in order; what fails for one prompt alone stands in its place."""
        ...


class DecodingBackend(Backend, Protocol):
    """A backend with Ability.SAMPLING or Ability.SCHEMA; whoever has neither is never given a third argument."""

    def generate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Answer once; see Backend. Raises BackendError for a schema that cannot be used."""
        ...


class RequestBackend(Backend, Protocol):
    """A backend with Ability.REQUESTS: where messages are made of a request, it is given that instead, to the byte."""

    def generate_request(self, request: Request, limits: Limits) -> Generation:
        """Answer once. What of the request did not fit has been left out. Raises BackendError."""
        ...


def abilities_of(backend: object) -> frozenset[Ability]:
    """Return what a backend can do beside answering greedily: by its own word, or by that of its class."""
    own: frozenset[Ability] | None = getattr(backend, "abilities", None)
    traits: Traits = getattr(backend, "traits", Traits())
    return traits.abilities if own is None else own


class AsyncDecodingBackend(Protocol):
    """A service with Ability.SAMPLING or Ability.SCHEMA."""

    async def agenerate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Answer once; see DecodingBackend."""
        ...


class AsyncRequestBackend(Protocol):
    """A service with Ability.REQUESTS."""

    async def agenerate_request(self, request: Request, limits: Limits) -> Generation:
        """Ask once; see RequestBackend."""
        ...


class MeasuringBackend(Backend, Protocol):
    """A backend with Ability.LOG_PROBABILITIES."""

    def log_probabilities(self, messages: Sequence[Message], text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is.

        Args:
            messages: the text is the model's answer to them; without any, it stands alone.
            text: is split into tokens on its own, and control tokens in it are plain text.

        Raises:
            PromptTooLongError: both together do not fit the context.

        """
        ...


@runtime_checkable
class AsyncBackend(Protocol):
    """A service that is asked several things at the same time, from one event loop, without a process of its own."""

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Get ready without asking anything. Raises LoadError with one line a person can act on."""
        ...

    async def aopen(self) -> None:
        """Get ready inside the event loop that will ask, so that no question pays for it. Asks nothing."""
        ...

    async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Ask once. Raises TransientError, RefusedError, PromptTooLongError or another BackendError."""
        ...

    async def aclose(self) -> None:
        """Close what is open. May be called twice."""
        ...


@runtime_checkable
class AsyncBatchBackend(AsyncBackend, Protocol):
    """An AsyncBackend that reads several prompts at once."""

    async def agenerate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        """Answer every prompt, in order; what fails for one prompt alone stands in its place."""
        ...
