"""An example backend: it answers with the lines of the output that contain a word. `model` is the word."""

import hashlib
import time
from collections.abc import Sequence

from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelSpec
from ctxsift.errors import LoadError
from ctxsift.prompts import Message, read_messages


class GrepBackend:
    """All that a backend needs: load, generate, close. It runs in a child process."""

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Check the row of the matrix. Raise LoadError with a one-line message that says what to change."""
        if not spec.model.strip():
            raise LoadError("model: give the word to look for")
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
        """Answer once. The result is stored unchanged; recovery, scoring and retries happen elsewhere."""
        started = time.perf_counter()
        output = read_messages(messages).raw_input
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
        """Free what `load` allocated."""
