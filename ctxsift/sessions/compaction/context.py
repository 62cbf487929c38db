"""The context that is left of a session, in the forms that others take: Markdown, messages, ATIF."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxsift.sessions.compaction.records import Compacted, Cut, Summary, span_between
from ctxsift.sessions.compaction.transcript import elided, system_prompts, text_of, tokens_of
from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.records import Session, SessionHead, Source, Step, standing

_NO_RESULT = "(no result was recorded)"


def whole(steps: Sequence[Step], method: str) -> Compacted:
    """Return the context of a session that is not cut."""
    steps = standing(steps)
    system = system_prompts(steps)
    rest = tuple(steps[len(system) :])
    cut = Cut(steps[-1].step_id if steps else 0, rest[0].step_id if rest else 0)
    return Compacted(method, cut, system, Summary(), "", rest, None, tokens_of(steps))


def continued(compacted: Compacted, steps: Sequence[Step], keep_last: int) -> Compacted:
    """Return a context with the steps that came since; of the last one, no more than the tail may have."""
    *others, last = span_between(steps, compacted.steps[0].step_id, steps[-1].step_id + 1)
    return dataclasses.replace(compacted, steps=(*others, elided(last, keep_last)))


def as_markdown(compacted: Compacted) -> str:
    """Return a context to paste into a new session; system prompts are left out, the new session has its own."""
    parts = ["# The session so far"]
    if compacted.summary_text:
        first = compacted.steps[0].step_id if compacted.steps else compacted.cut.after_step + 1
        parts += [f"This summary stands for all steps before step {first}.", compacted.summary_text]
    if compacted.summary.items:
        parts.append("(What the provider's compaction gave back is encrypted; `--json` has it.)")
    if compacted.steps:
        parts += ["## The last steps, as they were", text_of(compacted.steps)]
    return "\n\n".join(parts) + "\n"


def as_openai_messages(compacted: Compacted) -> list[dict[str, Any]]:
    """Return a context as messages in OpenAI's form; reasoning is left out."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": step.message} for step in compacted.system]
    if compacted.summary_text:
        messages.append({"role": "user", "content": compacted.summary_text})
    for step in compacted.steps:
        results = {result.call_id: result.text for result in step.results}
        calls = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in step.calls
        ]
        if step.source is Source.AGENT and calls:
            messages.append({"role": "assistant", "content": step.message or None, "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": call.call_id, "content": results.pop(call.call_id, _NO_RESULT)}
                for call in step.calls
            ]
            said = ""
        else:
            said = step.message
        role = {Source.AGENT: "assistant", Source.USER: "user", Source.SYSTEM: "system"}[step.source]
        text = "\n".join(part for part in (said, *results.values()) if part.strip())
        if text:
            messages.append({"role": role, "content": text})
    return messages


def as_anthropic_messages(compacted: Compacted) -> dict[str, Any]:
    """Return a context as `system` and `messages` in Anthropic's form; turns of one side in a row are one message."""
    messages: list[dict[str, Any]] = []
    for role, blocks in _turns(compacted):
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": _text("Go on.")})
    system = "\n\n".join(step.message for step in compacted.system)
    return ({"system": system} if system else {}) | {"messages": messages}


def _turns(compacted: Compacted) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield "user", _text(compacted.summary_text)
    for step in compacted.steps:
        if step.source is not Source.AGENT:
            texts = (step.message, *(result.text for result in step.results))
            yield "user", _text("\n".join(text for text in texts if text.strip()))
            continue
        results = {result.call_id: result.text for result in step.results}
        uses = [
            {"type": "tool_use", "id": call.call_id, "name": call.name, "input": dict(call.arguments)}
            for call in step.calls
        ]
        yield "assistant", [*_text(step.message), *uses]
        # Results stand first in the message that answers.
        yield (
            "user",
            [
                {"type": "tool_result", "tool_use_id": call.call_id, "content": results.get(call.call_id, _NO_RESULT)}
                for call in step.calls
            ],
        )


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []


def as_atif_document(compacted: Compacted, head: SessionHead) -> dict[str, Any]:
    """Return a context as a trajectory: the summary is a step of the user, steps that stayed are marked as copied."""
    return as_atif(Session(head, tuple(_renumbered(compacted))))


def _renumbered(compacted: Compacted) -> Iterator[Step]:
    summary = [Step(0, Source.USER, compacted.summary_text)] if compacted.summary_text else []
    stayed: Iterable[Step] = (
        *(dataclasses.replace(step, copied=True) for step in compacted.system),
        *summary,
        *(dataclasses.replace(step, copied=True) for step in compacted.steps),
    )
    for number, step in enumerate(stayed, 1):
        yield dataclasses.replace(step, step_id=number)
