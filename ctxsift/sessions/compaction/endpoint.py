"""Opaque at a service: its own compaction, passed back to it as it came."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ctxsift.backends.compact_endpoint import compact_items
from ctxsift.errors import BackendError
from ctxsift.sessions.compaction.opaque import Opaque
from ctxsift.sessions.compaction.records import CompactionSummary, Cycle
from ctxsift.sessions.records import Source, Step

if TYPE_CHECKING:
    from ctxsift.settings import Settings

_ROLES = {Source.USER: "user", Source.AGENT: "assistant", Source.SYSTEM: "developer"}


class EndpointOpaque:
    """The provider's compaction; where it fails, lines chosen by rules.

    Args:
        settings: with the address and the key of the service.
        model: as the service knows it.
        timeout_s: seconds to wait for an answer; None for the settings'.

    """

    # The provider decides on the size.
    takes_budget = False
    must_shrink = True

    def __init__(self, settings: Settings, model: str, timeout_s: float | None) -> None:
        self._settings, self._model, self._timeout_s = settings, model, timeout_s

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return the items that the service makes of its earlier ones and the span."""
        earlier = [dict(item) for item in cycle.previous.items]
        if cycle.previous.text:
            earlier.append(_message("user", cycle.previous.text))
        try:
            made = compact_items(self._settings, self._model, [*earlier, *items_of(cycle.span)], self._timeout_s)
        except BackendError as error:
            return CompactionSummary(Opaque().compact(cycle).text, items=cycle.previous.items, fallback=str(error))
        return CompactionSummary(items=tuple(made))


def items_of(steps: Iterable[Step]) -> Iterator[dict[str, Any]]:
    """Yield steps as items of the Responses API; reasoning is left out."""
    for step in steps:
        results = {result.call_id: result.text for result in step.results}
        if step.message.strip():
            yield _message(_ROLES[step.source], step.message)
        for call in step.calls:
            arguments = json.dumps(dict(call.arguments))
            yield {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": arguments}
            output = results.pop(call.call_id, "")
            yield {"type": "function_call_output", "call_id": call.call_id, "output": output}
        for text in results.values():
            yield _message(_ROLES[step.source], text)


def _message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
