"""Which model answers `ctxsift compress`, and asking it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxsift.backends.registry import GGUF, SERVICE, backend_class, create_backend, traits_of
from ctxsift.cli.parser import DEFAULT_MAX_OUTPUT_TOKENS, DEFAULT_TIMEOUT_S, EXTRACT, PACKAGED_MODEL
from ctxsift.devices import Device
from ctxsift.errors import InputError, LoadError

# Which model it is must be known before a command is run; what asks it is imported when it is asked.
if TYPE_CHECKING:
    import argparse

    from ctxsift.backends.base import AsyncBackend, LoadInfo, ModelSpec
    from ctxsift.backends.worker import WorkerBackend
    from ctxsift.compression import Compression
    from ctxsift.prompts import Request
    from ctxsift.settings import Settings

CONTEXT_TOKENS = 8192
REMOTE_CONTEXT_TOKENS = 128_000
# Command output has two to four characters a token; what is longer than this is cut before it is tokenized.
_MAX_CHARS_PER_TOKEN = 6


@dataclass(frozen=True)
class Answered:
    """A compression and what was loaded for it.

    Attributes:
        chars_cut: characters of the input that were left out.

    """

    result: Compression
    load: LoadInfo
    chars_cut: int


@dataclass(frozen=True)
class Place:
    """Which backend answers, with which model, where."""

    backend: str
    model: str
    device: str


class Model:
    """The model that options and settings choose, not loaded yet.

    Raises:
        InputError: they contradict each other, or there is no such backend.

    """

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        self._place, self._settings = place_of(options, settings), settings
        self._gguf_filename: str | None = options.gguf_filename
        # The backend reads address and key itself; they stay out of everything that is passed on or shown.
        self._env_file = str(options.env_file.resolve()) if options.env_file else None
        self._max_tokens = options.max_output_tokens or settings.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS
        self._timeout_s: float | None = options.timeout
        self._worker: WorkerBackend | None = None

    def ask(self, request: Request) -> Answered:
        """Load the model and let it answer. Raises whatever the backend raises."""
        from ctxsift.backends.base import AsyncBackend, ModelOptions, ModelSpec

        place = self._place
        context = REMOTE_CONTEXT_TOKENS if place.device == Device.REMOTE else CONTEXT_TOKENS
        options = ModelOptions(env_file=self._env_file, yields=True)
        spec = ModelSpec(place.model, None, place.device, "none", context, options=options)
        backend = create_backend(place.backend)
        if isinstance(backend, AsyncBackend):
            return self._ask_service(backend, spec, request)
        return self._ask_local(spec, request)

    def end(self) -> None:
        """End the model's process, from another thread; its answer is no longer wanted."""
        if self._worker is not None:
            self._worker.kill()

    def _ask_service(self, backend: AsyncBackend, spec: ModelSpec, request: Request) -> Answered:
        import asyncio
        from contextlib import aclosing

        from ctxsift.asking import ask_async
        from ctxsift.backends.base import Limits
        from ctxsift.backends.retry import Retry
        from ctxsift.compression import compression
        from ctxsift.prompts import RequestPrompt

        limits = Limits(self._max_tokens)
        settings = self._settings
        load = backend.load(spec)
        asked, cut = _cut(request, load)

        async def ask() -> Compression:
            async with aclosing(backend):
                retry = Retry(settings.retries, self._timeout_s or settings.timeout_ms / 1000)
                attempted = await retry.run(lambda: ask_async(RequestPrompt(asked), backend, limits))
            return compression(asked, attempted.value, recovery_enabled=settings.recovery_enabled)

        result = asyncio.run(ask())
        return Answered(result, load, cut + result.answer.input_chars_cut)

    def _ask_local(self, spec: ModelSpec, request: Request) -> Answered:
        from ctxsift.backends.base import Limits
        from ctxsift.backends.worker import start_worker
        from ctxsift.compression import compress

        name = self._place.backend
        spec = with_weights(name, spec, self._gguf_filename)
        most, limits = self._timeout_s or DEFAULT_TIMEOUT_S, Limits(self._max_tokens)
        self._worker = backend = start_worker(name, load_timeout_s=most, generate_timeout_s=most)
        try:
            load = backend.load(spec)
            asked, cut = _cut(request, load)
            result = compress(asked, backend, limits, recovery_enabled=self._settings.recovery_enabled)
            return Answered(result, load, cut + result.answer.input_chars_cut)
        finally:
            backend.close()


def with_weights(backend: str, spec: ModelSpec, filename: str | None) -> ModelSpec:
    """Return a model with the path of its GGUF file, where the backend reads one. Raises BackendError."""
    from ctxsift.backends.weights import find_weights

    traits = traits_of(backend)
    if not (traits.reads_only_gguf or (traits.reads_gguf and filename)):
        return spec
    return replace(spec, path=str(find_weights(spec.model, filename).path))


def model_of(options: argparse.Namespace, settings: Settings) -> Model | None:
    """Return the model that options and settings choose; None if lines are to be picked by rule.

    Raises:
        InputError: as Model does.

    """
    named = options.backend or options.model or settings.model or options.device or options.gguf_filename
    if not named and settings.llm_base_url is None:
        return None
    if options.backend != EXTRACT:
        return Model(options, settings)
    if options.model or options.device or options.gguf_filename:
        raise InputError(
            "--backend",
            "extract picks lines by rule and asks no model",
            "leave out --model, --device and --gguf-filename",
        )
    return None


def place_of(options: argparse.Namespace, settings: Settings) -> Place:
    """Decide where the model runs: at the configured service, unless told otherwise; else on this CPU."""
    remote = settings.llm_base_url is not None and options.device != Device.CPU and not options.gguf_filename
    device = options.device or (Device.REMOTE if remote else Device.CPU)
    backend = options.backend or (SERVICE if device == Device.REMOTE else GGUF)
    if options.backend:
        try:
            backend_class(backend)
        except LoadError as error:
            raise InputError("--backend", str(error)) from error
    model = options.model or settings.model
    if model:
        return Place(backend, model, device)
    if backend == SERVICE:
        hint = "give its name, set CTXSIFT_MODEL, or --device cpu"
        raise InputError("--model", "a service is configured but no model is named", hint)
    raise InputError("--model", "no model is named", f"give one, e.g. {PACKAGED_MODEL}, or set CTXSIFT_MODEL")


def _cut(request: Request, load: LoadInfo) -> tuple[Request, int]:
    """Return the request without what could not fit in any case, and how many characters that is."""
    from ctxsift.prompts import cut_middle

    if not load.context_tokens:
        # What is no model has no context to fit.
        return request, 0
    text = cut_middle(request.raw_input, _MAX_CHARS_PER_TOKEN * load.context_tokens)
    return replace(request, raw_input=text), len(request.raw_input) - len(text)
