"""Answers of a model on disk as they come: whoever is interrupted goes on without asking again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ctxsift import strict_json
from ctxsift.backends.base import Generation, Limits
from ctxsift.errors import InputError
from ctxsift.files import append_line, read_bytes
from ctxsift.prompts import Message
from ctxsift.sessions.compaction.prompts import PROMPT_VERSION

_FORMAT = "ctxsift compaction journal 1"
_MOST_MB = 256


def key_of(identity: str, messages: Sequence[Message], limits: Limits) -> str:
    """Return what an answer is known by: the model, how it was loaded, the prompt word by word, the limits."""
    asked = [[message.role, message.content] for message in messages]
    whole = json.dumps([PROMPT_VERSION, identity, asked, limits.max_output_tokens])
    return hashlib.sha256(whole.encode()).hexdigest()


def key_of_text(identity: str, text: str) -> str:
    """Return what scores of a text are known by."""
    return hashlib.sha256(json.dumps([identity, text]).encode()).hexdigest()


class Journal:
    """Answers by key; one line each, on disk before it is used. A torn last line is passed over.

    Args:
        path: of the file; made with the first answer.

    Attributes:
        loss: why answers are written down no more; None while they are.

    Raises:
        InputError: the file is none of ours, or cannot be read.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loss: OSError | None = None
        self._answers: dict[str, Generation] = {}
        self._scores: dict[str, list[float]] = {}
        content = read_bytes(path, "name another file", most_mb=_MOST_MB) if path.exists() else b""
        first, *rest = content.split(b"\n")
        if content and (not self._is_head(first)):
            raise InputError(str(path), "is no journal of compaction", "name another file with --journal")
        self._begun = bool(content)
        for line in rest:
            self._take(line)

    def _is_head(self, line: bytes) -> bool:
        try:
            return bool(strict_json.decode(line) == {"format": _FORMAT})
        except ValueError:
            return False

    def _take(self, line: bytes) -> None:
        try:
            entry: Any = strict_json.decode(line)
            if "scores" in entry:
                self._scores[str(entry["key"])] = msgspec.convert(entry["scores"], list[float])
            else:
                self._answers[str(entry["key"])] = msgspec.convert(entry["generation"], Generation)
        except (ValueError, KeyError, TypeError, msgspec.ValidationError):
            # Torn by whoever was killed while writing it; it is asked again.
            return

    def get(self, key: str) -> Generation | None:
        """Return an answer that was given before."""
        return self._answers.get(key)

    def put(self, key: str, generation: Generation) -> None:
        """Write an answer down; where that fails, it is known in this process alone."""
        self._answers[key] = generation
        self._append({"key": key, "generation": msgspec.to_builtins(generation)})

    def scores(self, key: str) -> list[float] | None:
        """Return scores that were measured before."""
        return self._scores.get(key)

    def put_scores(self, key: str, scores: Sequence[float]) -> None:
        """Write scores down, as `put` does."""
        self._scores[key] = list(scores)
        self._append({"key": key, "scores": list(scores)})

    def _append(self, entry: Mapping[str, Any]) -> None:
        if self.loss is not None:
            return
        try:
            if not self._begun:
                self.path.touch()
                append_line(self.path, json.dumps({"format": _FORMAT}).encode())
                self._begun = True
            append_line(self.path, json.dumps(entry).encode())
        except OSError as error:
            self.loss = error
