"""What answers and scores of a model are known by, and the file that keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from ctxsift.backends.base import Generation, Limits
from ctxsift.models.store import Entry, Store
from ctxsift.prompts import Message
from ctxsift.sessions.compaction.prompts import PROMPT_VERSION

_EARLIER_HEAD = {"format": "ctxsift compaction journal 1"}


def key_of(identity: str, messages: Sequence[Message], limits: Limits) -> str:
    """Return what an answer is known by: the model, how it was loaded, the prompt word by word, the limits."""
    asked = [[message.role, message.content] for message in messages]
    whole = json.dumps([PROMPT_VERSION, identity, asked, limits.max_output_tokens])
    return hashlib.sha256(whole.encode()).hexdigest()


def key_of_text(identity: str, text: str) -> str:
    """Return what scores of a text are known by."""
    return hashlib.sha256(json.dumps([identity, text]).encode()).hexdigest()


class _Kept(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """An answer, or scores."""

    generation: Generation | None = None
    scores: list[float] | None = None

    def __post_init__(self) -> None:
        if self.generation is None and self.scores is None:
            raise ValueError("holds neither an answer nor scores")


class Journal:
    """Answers and scores by key.

    Args:
        path: of the file; made with the first answer.

    Attributes:
        loss: why an answer could not be written down; None while all could. In this process it is known all the same.

    Raises:
        InputError: the file is none of ours, or cannot be read.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loss: OSError | None = None
        self._store = Store(
            path, _Kept, "is no journal of compaction", "name another file with --journal", head=_EARLIER_HEAD
        )

    def get(self, key: str) -> Generation | None:
        """Return an answer that was given before."""
        kept = self._store.get(key)
        return kept.generation if kept else None

    def put(self, key: str, generation: Generation) -> Generation:
        """Write an answer down; return the one that stands, where another run was first."""
        return self._put(_Kept(key=key, generation=generation)).generation or generation

    def scores(self, key: str) -> list[float] | None:
        """Return scores that were measured before."""
        kept = self._store.get(key)
        return kept.scores if kept else None

    def put_scores(self, key: str, scores: Sequence[float]) -> None:
        """Write scores down."""
        self._put(_Kept(key=key, scores=list(scores)))

    def _put(self, kept: _Kept) -> _Kept:
        try:
            return self._store.put(kept)
        except OSError as error:
            self.loss = error
            return kept
