"""The model that `ctxsift compact` asks: a local one in a process of its own, or a service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ctxsift.backends.base import Ability, AsyncBackend, Generation, Limits, LogProbability, ModelOptions, ModelSpec
from ctxsift.backends.registry import create_backend, is_service, traits_of
from ctxsift.backends.retry import Retry
from ctxsift.backends.worker import WorkerBackend, start_worker
from ctxsift.cli.model import CONTEXT_TOKENS, REMOTE_CONTEXT_TOKENS, place_of, with_weights
from ctxsift.cli.parser import DEFAULT_TIMEOUT_S
from ctxsift.devices import Device
from ctxsift.errors import InputError, InstrumentError
from ctxsift.prompts import Message

if TYPE_CHECKING:
    import argparse

    from ctxsift.backends.base import LoadInfo
    from ctxsift.settings import Settings


class SessionModel:
    """A model as methods of compaction ask it; loaded with the first question.

    Attributes:
        identity, context_tokens: see `ctxsift.sessions.compaction.modelled.Model`.
        name: as it was given.
        is_service: it is asked over the network, at `host`.
        abilities: what it can do beside answering.

    Raises:
        InputError: options and settings contradict each other, or a service would be asked without --remote.

    """

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        options.device = str(Device.REMOTE) if options.remote else (options.device or str(Device.CPU))
        self._place, self._settings = place_of(options, settings), settings
        self.is_service = is_service(self._place.backend)
        if self.is_service and not options.remote:
            raise InputError("--backend", f"{self._place.backend} asks a service", "add --remote if that is meant")
        if options.remote and not self.is_service:
            raise InputError("--remote", f"the backend {self._place.backend} asks no service", "leave it out")
        self.name = self._place.model
        self.host = urlsplit(settings.llm_base_url or "").hostname or ""
        self.abilities = traits_of(self._place.backend).abilities if not self.is_service else frozenset[Ability]()
        self._gguf_filename: str | None = options.gguf_filename
        self._timeout_s: float | None = options.timeout
        context = REMOTE_CONTEXT_TOKENS if options.remote else CONTEXT_TOKENS
        env_file = str(options.env_file.resolve()) if options.env_file else None
        model_options = ModelOptions(env_file=env_file, yields=True, allow_provider=settings.allow_provider)
        self._spec = ModelSpec(self._place.model, None, self._place.device, "none", context, options=model_options)
        self._worker: WorkerBackend | None = None
        self._service: AsyncBackend | None = None
        self._runner: asyncio.Runner | None = None
        self._load: LoadInfo | None = None

    def load(self) -> LoadInfo:
        """Load the model, unless it is loaded. Raises BackendError."""
        if self._load is not None:
            return self._load
        if self.is_service:
            backend = create_backend(self._place.backend)
            assert isinstance(backend, AsyncBackend)
            self._service, self._runner = backend, asyncio.Runner()
            self._load = backend.load(self._spec)
        else:
            most = self._timeout_s or DEFAULT_TIMEOUT_S
            self._spec = with_weights(self._place.backend, self._spec, self._gguf_filename)
            if self._worker is None:
                self._worker = start_worker(self._place.backend, load_timeout_s=most, generate_timeout_s=most)
            self._load = self._worker.load(self._spec)
        return self._load

    @property
    def identity(self) -> str:
        """What tells the model from others, with how it was loaded."""
        load = self.load()
        loaded = [load.backend, load.engine, load.engine_version, load.chat_template_sha256, load.context_tokens]
        return json.dumps([self._spec.model, self._gguf_filename, self.host, *loaded])

    @property
    def context_tokens(self) -> int:
        """Of prompt and answer together."""
        return self.load().context_tokens

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer once; a model that died is loaded again and asked once more. Raises BackendError."""
        self.load()
        if self._worker is not None:
            worker = self._worker
            try:
                return worker.generate(messages, limits)
            except InstrumentError:
                self._load = None
                self.load()
                return worker.generate(messages, limits)
        assert self._service is not None
        assert self._runner is not None
        service, settings = self._service, self._settings
        retry = Retry(settings.retries, self._timeout_s or settings.timeout_ms / 1000)
        return self._runner.run(retry.run(lambda: service.agenerate(messages, limits))).value

    def log_probabilities(self, text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is. Raises BackendError."""
        self.load()
        assert self._worker is not None
        return self._worker.log_probabilities((), text)

    def kill(self) -> None:
        """End the model's process, from another thread; its answer is no longer wanted."""
        if self._worker is not None:
            self._worker.kill()

    def close(self) -> None:
        """Free the model."""
        if self._worker is not None:
            self._worker.close()
        if self._runner is not None and self._service is not None:
            self._runner.run(self._service.aclose())
            self._runner.close()
