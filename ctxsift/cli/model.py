"""Which model answers `ctxsift compress`, and asking it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxsift.backends.registry import GGUF, SERVICE, backend_class
from ctxsift.cli.parser import DEFAULT_MAX_OUTPUT_TOKENS, DEFAULT_TIMEOUT_S, EXTRACT, PACKAGED_MODEL
from ctxsift.devices import Device
from ctxsift.errors import InputError, LoadError

# Which model it is must be known before a command is run; what asks it is imported when it is asked.
if TYPE_CHECKING:
    import argparse

    from ctxsift.backends.base import LoadInfo
    from ctxsift.compression import Compression
    from ctxsift.models.opened import Opened
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
        self._opened: Opened | None = None

    def ask(self, request: Request) -> Answered:
        """Load the model and let it answer. Raises whatever the backend raises."""
        from ctxsift.backends.base import Limits, ModelOptions, ModelSpec
        from ctxsift.compression import compression
        from ctxsift.models.opened import Opened, Patience
        from ctxsift.prompts import RequestPrompt

        place, settings = self._place, self._settings
        context = REMOTE_CONTEXT_TOKENS if place.device == Device.REMOTE else CONTEXT_TOKENS
        options = ModelOptions(env_file=self._env_file, yields=True)
        spec = ModelSpec(place.model, None, place.device, "none", context, options=options)
        patience = Patience.of(settings, DEFAULT_TIMEOUT_S, self._timeout_s)
        self._opened = opened = Opened(place.backend, spec, patience, gguf_filename=self._gguf_filename)
        try:
            load = opened.load()
            asked, cut = _cut(request, load)
            # Somebody waits for the output: a model that died over it is not asked once more.
            answer = opened.ask(RequestPrompt(asked), Limits(self._max_tokens), again=False)
        finally:
            opened.close()
        result = compression(asked, answer, recovery_enabled=settings.recovery_enabled)
        return Answered(result, load, cut + answer.input_chars_cut)

    def end(self) -> None:
        """End the model's process, from another thread; its answer is no longer wanted."""
        if self._opened is not None:
            self._opened.kill()


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
