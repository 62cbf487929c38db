"""Which model answers `ctxsift compress`, and asking it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ctxsift.backends.registry import SERVICE
from ctxsift.cli.parser import DEFAULT_MAX_OUTPUT_TOKENS, DEFAULT_TIMEOUT_S, EXTRACT, PACKAGED_MODEL
from ctxsift.errors import InputError
from ctxsift.models.choice import CONSENT, BackendPlace, Named, place_of
from ctxsift.preselect import LEAST_PRESELECT_TOKENS, Preselect
from ctxsift.preselection import Preselection

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
class LoadedCompression:
    """A compression and what was loaded for it.

    Attributes:
        chars_cut: characters of the input that were left out.
        held: why a valid answer is not printed all the same; names of ctxsift.gate.

    """

    result: Compression
    load: LoadInfo
    chars_cut: int
    held: tuple[str, ...] = ()


class ChosenModel:
    """The model that options and settings choose, not loaded yet.

    Raises:
        InputError: they contradict each other, there is no such backend, or a service would be asked without consent.

    """

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        (self._place, self._name), self._settings = chosen_of(options, settings), settings
        self._gguf_filename: str | None = options.gguf_filename
        # The backend reads address and key itself; they stay out of everything that is passed on or shown.
        self._env_file = str(options.env_file.resolve()) if options.env_file else None
        self._max_tokens = options.max_output_tokens or settings.max_output_tokens or DEFAULT_MAX_OUTPUT_TOKENS
        self._timeout_s: float | None = options.timeout
        self._preselection = preselection_of(options, settings)
        self._opened: Opened | None = None

    @property
    def asks_service(self) -> bool:
        """It is sent what it is asked over the network."""
        return self._place.asks_service

    def ask(self, request: Request) -> LoadedCompression:
        """Load the model and let it answer. Raises whatever the backend raises."""
        from ctxsift.backends.base import Limits, ModelOptions, ModelSpec
        from ctxsift.compression import compression
        from ctxsift.models.opened import Opened, Patience

        place, settings = self._place, self._settings
        context = REMOTE_CONTEXT_TOKENS if place.asks_service else CONTEXT_TOKENS
        options = ModelOptions(env_file=self._env_file, yields=True)
        spec = ModelSpec(self._name, None, place.device, "none", context, options=options)
        patience = Patience.of(settings, DEFAULT_TIMEOUT_S, self._timeout_s)
        self._opened = opened = Opened(place.backend, spec, patience, gguf_filename=self._gguf_filename)
        try:
            load = opened.load()
            prompt = self._preselection.prompt(request)
            asked, cut = _cut(prompt.whole, load)
            # Somebody waits for the output: a model that died over it is not asked once more.
            answer = opened.ask(replace(prompt, whole=asked), Limits(self._max_tokens), again=False)
        finally:
            opened.close()
        result = compression(asked, answer, recovery_enabled=settings.recovery_enabled)
        return LoadedCompression(result, load, cut + answer.input_chars_cut)

    def end(self) -> None:
        """End the model's process, from another thread; its answer is no longer wanted."""
        if self._opened is not None:
            self._opened.kill()


def preselection_of(options: argparse.Namespace, settings: Settings) -> Preselection:
    """Return what of a long output the model reads. Raises InputError where too little would be left of it."""
    tokens: int = options.preselect_tokens or settings.preselect_tokens
    if tokens < LEAST_PRESELECT_TOKENS:
        raise InputError(f"--preselect-tokens {tokens}", "is too few", f"the minimum is {LEAST_PRESELECT_TOKENS}")
    return Preselection(Preselect(options.preselect or settings.preselect), tokens)


def model_of(options: argparse.Namespace, settings: Settings) -> ChosenModel | None:
    """Return the model that options and settings choose; None if lines are to be picked by rule.

    Raises:
        InputError: as ChosenModel does; or a service is configured, and would be asked without consent.

    """
    more = options.model or options.device or options.gguf_filename or options.remote
    if options.backend == EXTRACT:
        if more:
            hint = "leave out --model, --device, --gguf-filename and --remote"
            raise InputError("--backend", "extract selects lines by rules and uses no model", hint)
        _refuse_preselection(options)
        return None
    if not (more or options.backend or settings.model or (settings.remote and settings.llm_base_url)):
        _refuse_preselection(options)
        return None
    model = ChosenModel(options, settings)
    _refuse_service(model, options, settings)
    return model


def _refuse_service(model: ChosenModel, options: argparse.Namespace, settings: Settings) -> None:
    """Raise InputError where a service has an address and nothing settles who is asked."""
    settled = model.asks_service or options.backend or _named(options, settings).is_here
    if settings.llm_base_url is not None and not settled:
        # Earlier versions asked the service as soon as it had an address: this model may be one of its own.
        hint = f"{CONSENT}; or use --device cpu to run a model on this machine"
        raise InputError("CTXSIFT_LLM_BASE_URL", "is set, but you have not allowed sending output there", hint)


def _refuse_preselection(options: argparse.Namespace) -> None:
    if options.preselect or options.preselect_tokens:
        hint = f"name one, e.g. --model {PACKAGED_MODEL}; without a model, rules select lines in any case"
        raise InputError("--preselect", "has an effect only with a model", hint)


def chosen_of(options: argparse.Namespace, settings: Settings) -> tuple[BackendPlace, str]:
    """Return where a model runs, and its name.

    Raises InputError as `place_of` does, and where no model is named, or a service without an address is.
    """
    named = _named(options, settings)
    place = place_of(named, settings)
    if named.remote and settings.llm_base_url is None:
        unset = "CTXSIFT_LLM_BASE_URL" if named.model else "CTXSIFT_LLM_BASE_URL and CTXSIFT_MODEL"
        raise InputError("--remote", f"no service is configured: set {unset}", "see .env.example")
    if named.model:
        return place, named.model
    if place.backend == SERVICE:
        hint = "give its name with --model, set CTXSIFT_MODEL, or use --device cpu"
        raise InputError("--model", "a service is configured, but no model is named", hint)
    raise InputError("--model", "no model is named", f"give one, e.g. {PACKAGED_MODEL}, or set CTXSIFT_MODEL")


def _named(options: argparse.Namespace, settings: Settings) -> Named:
    model = options.model or settings.model
    return Named(model, options.backend, options.device, options.gguf_filename, options.remote)


def _cut(request: Request, load: LoadInfo) -> tuple[Request, int]:
    """Return the request without what could not fit in any case, and how many characters that is."""
    from ctxsift.prompts import cut_middle

    if not load.context_tokens:
        # What is no model has no context to fit.
        return request, 0
    text = cut_middle(request.raw_input, _MAX_CHARS_PER_TOKEN * load.context_tokens)
    return replace(request, raw_input=text), len(request.raw_input) - len(text)
