"""The model that `ctxsift compact` asks: a local one in a process of its own, or a service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ctxsift.backends.base import Ability, Generation, Limits, LogProbability, ModelOptions, ModelSpec
from ctxsift.cli.model import CONTEXT_TOKENS, REMOTE_CONTEXT_TOKENS, chosen_of
from ctxsift.cli.parser import DEFAULT_TIMEOUT_S
from ctxsift.models.opened import Opened, Patience
from ctxsift.prompts import FixedPrompt, Message

if TYPE_CHECKING:
    import argparse

    from ctxsift.settings import Settings


class SessionModel:
    """A model as methods of compaction ask it; loaded with the first question.

    Attributes:
        identity, context_tokens: see `ctxsift.sessions.compaction.modelled.SummaryModel`.
        name: as it was given.
        is_service: it is asked over the network, at `host`.

    Raises:
        InputError: options and settings contradict each other, or a service would be asked without consent.

    """

    def __init__(self, options: argparse.Namespace, settings: Settings) -> None:
        place, self.name = chosen_of(options, settings)
        self.is_service = place.asks_service
        self.host = urlsplit(settings.llm_base_url or "").hostname or ""
        context = REMOTE_CONTEXT_TOKENS if place.asks_service else CONTEXT_TOKENS
        env_file = str(options.env_file.resolve()) if options.env_file else None
        model_options = ModelOptions(env_file=env_file, yields=True, allow_provider=settings.allow_provider)
        spec = ModelSpec(self.name, None, place.device, "none", context, options=model_options)
        self._opened = Opened(
            place.backend,
            spec,
            Patience.of(settings, DEFAULT_TIMEOUT_S, options.timeout),
            gguf_filename=options.gguf_filename,
            host=self.host,
        )

    @property
    def abilities(self) -> frozenset[Ability]:
        """What it can do beside answering."""
        return self._opened.abilities

    @property
    def identity(self) -> str:
        """What tells the model from others, with how it was loaded."""
        return self._opened.identity

    @property
    def context_tokens(self) -> int:
        """Of prompt and answer together."""
        return self._opened.load().context_tokens

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer once; a model that died is loaded again and asked once more. Raises BackendError."""
        return self._opened.ask(FixedPrompt(tuple(messages)), limits).generation

    def log_probabilities(self, text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is. Raises BackendError."""
        return self._opened.log_probabilities(text)

    def kill(self) -> None:
        """End the model's process, from another thread; its answer is no longer wanted."""
        self._opened.kill()

    def close(self) -> None:
        """Free the model."""
        self._opened.close()
