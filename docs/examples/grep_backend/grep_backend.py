"""A backend of your own: answers with the lines of the output that hold a word. `model` is the word."""

import hashlib
import time
from collections.abc import Sequence

from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelSpec
from ctxsift.errors import LoadError
from ctxsift.prompts import Message, read_messages


class GrepBackend:
    """Everything a backend has to be: load, generate, close. Runs in a process of its own."""

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Take what the matrix says; raise LoadError, with a line a person can act on, when it will not do."""
        if not spec.model.strip():
            raise LoadError("model: name the word to look for")
        self._word = spec.model
        return LoadInfo(
            backend="grep",
            engine="grep",
            engine_version="1.0",
            architecture="",
            chat_template="none",
            chat_template_note="",
            chat_template_sha256=hashlib.sha256(b"").hexdigest(),
            context_tokens=spec.context_tokens,
            threads=1,
            load_ms=0.0,
        )

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer once. What is returned is stored as it is; scoring, recovery and retries are not your business."""
        started = time.perf_counter()
        output, _instruction = read_messages(messages)
        found = [line for line in output.splitlines() if self._word in line]
        words = "\n".join(found).split(" ")
        return Generation(
            text=" ".join(words[: limits.max_output_tokens]),
            finish_reason="stop" if len(words) <= limits.max_output_tokens else "length",
            prompt_tokens=None,
            completion_tokens=None,
            prefill_ms=None,
            decode_ms=None,
            total_ms=(time.perf_counter() - started) * 1000,
            model=f"grep {self._word}",
        )

    def close(self) -> None:
        """Free what `load` took."""
