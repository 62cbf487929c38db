"""What a service said of its answer in words of its own, where LiteLLM fills in what was not said."""

from __future__ import annotations

from typing import Any

import msgspec


class _Candidate(msgspec.Struct, rename="camel"):
    finish_reason: Any = None


class _DialectMessage(msgspec.Struct):
    content: str
    thinking: str | None = None


class Dialect(msgspec.Struct):
    """A reply of Anthropic, Cohere, Gemini or Ollama: what they have in common.

    LiteLLM turns each into a chat completion, calls every end it was not told "stop", and counts tokens itself.
    """

    content: Any = None
    message: Any = None
    response: Any = None
    thinking: Any = None
    candidates: list[_Candidate] = []
    stop_reason: Any = None
    done_reason: Any = None
    finish_reason: Any = None
    usage: Any = None
    usage_metadata: Any = msgspec.field(default=None, name="usageMetadata")
    eval_count: Any = None

    @property
    def answers(self) -> bool:
        """Whether there is a place for an answer, though it may be empty."""
        alone = (each is not None for each in (self.content, self.message, self.response))
        return bool(self.candidates) or any(alone)

    @property
    def end(self) -> Any:
        """Its own word for why the answer ended; None where it says none."""
        reasons: list[Any] = [self.stop_reason, self.done_reason, self.finish_reason]
        reasons += [each.finish_reason for each in self.candidates]
        return next((reason for reason in reasons if reason is not None), None)

    @property
    def counted(self) -> bool:
        """Whether it says how many tokens there were."""
        return any(each is not None for each in (self.usage, self.usage_metadata, self.eval_count))

    @property
    def verbatim(self) -> tuple[str, str] | None:
        """Ollama's answer and reasoning as it gave them; LiteLLM takes thought out of the answer."""
        if isinstance(self.response, str):
            return self.response, self.thinking if isinstance(self.thinking, str) else ""
        try:
            said = msgspec.convert(self.message, _DialectMessage)
        except msgspec.ValidationError:
            return None
        return said.content, said.thinking or ""


def dialect_of(document: Any) -> Dialect:
    """Return what a reply, as JSON values, says of itself; nothing where it is in no dialect."""
    try:
        return msgspec.convert(document, Dialect)
    except (msgspec.ValidationError, RecursionError):
        return Dialect()
