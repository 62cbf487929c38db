"""The context that is left of a session, in the forms that others take: Markdown, messages, ATIF."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ctxsift.sessions.compaction.records import (
    SUMMARY_BEGINS,
    SUMMARY_ENDS,
    Compacted,
    CompactionSummary,
    Cut,
    span_between,
)
from ctxsift.sessions.compaction.transcript import elided, system_prompts, text_of, tokens_of
from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.records import Session, SessionHead, Source, Step, standing

_NO_RESULT = "(no result was recorded)"
# What both services accept as the id and the name of a call.
_ID, _NOT_IN_NAME, _MOST_OF_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}"), re.compile(r"[^A-Za-z0-9_-]"), 64


def whole(steps: Sequence[Step], method: str) -> Compacted:
    """Return the context of a session that is not cut."""
    steps = standing(steps)
    system = system_prompts(steps)
    rest = tuple(steps[len(system) :])
    cut = Cut(steps[-1].step_id if steps else 0, rest[0].step_id if rest else 0)
    return Compacted(method, cut, system, CompactionSummary(), "", rest, None, tokens_of(steps))


def continued(compacted: Compacted, steps: Sequence[Step], keep_last: int) -> Compacted:
    """Return a context with the steps that came since; of the last one, no more than the tail may have."""
    *others, last = span_between(steps, compacted.steps[0].step_id, steps[-1].step_id + 1)
    return dataclasses.replace(compacted, steps=(*others, elided(last, keep_last)))


def introduction(compacted: Compacted) -> str:
    """Return what is said above a summary: that it is one, of which steps, and what follows it."""
    begun, first, last = len(compacted.system) + 1, compacted.steps[0].step_id, compacted.steps[-1].step_id
    gone = f"steps {begun} to {first - 1}" if begun < first - 1 else f"step {begun}"
    kept = f"steps {first} to {last} follow unchanged" if first < last else f"step {last} follows unchanged"
    return f"{SUMMARY_BEGINS} It replaces {gone} of {last}; {kept}."


def _introduced(compacted: Compacted) -> str:
    """Return a summary as a message; it stands in the user's place, and is none of the user's."""
    if not compacted.summary_text:
        return ""
    return f"{introduction(compacted)}\n\n{compacted.summary_text}\n\n{SUMMARY_ENDS}"


def as_markdown(compacted: Compacted) -> str:
    """Return a context to paste into a new session; system prompts are left out, the new session has its own."""
    parts = ["# The session so far"]
    if compacted.summary_text:
        parts += [introduction(compacted), compacted.summary_text]
    if compacted.summary.items:
        parts.append("(What the provider's compaction gave back is encrypted; `--json` has it.)")
    if compacted.steps:
        parts += ["## The last steps, unchanged", text_of(compacted.steps)]
    return "\n\n".join(parts) + "\n"


def as_openai_messages(compacted: Compacted) -> list[dict[str, Any]]:
    """Return a context as messages in OpenAI's form; reasoning is left out."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": step.message} for step in compacted.system]
    if summary := _introduced(compacted):
        messages.append({"role": "user", "content": summary})
    for step in map(_accepted, compacted.steps):
        answers, loose = _answers(step)
        if step.source is not Source.AGENT:
            role = "user" if step.source is Source.USER else "system"
            messages += [{"role": role, "content": text} for text in [_joined(step.message, *loose)] if text]
            continue
        calls = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in step.calls
        ]
        if calls or step.message.strip():
            said: dict[str, Any] = {"role": "assistant", "content": step.message if step.message.strip() else None}
            messages.append(said | ({"tool_calls": calls} if calls else {}))
        messages += [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in answers.items()]
        messages += [{"role": "user", "content": text} for text in [_joined(*loose)] if text]
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
    yield "user", _text(_introduced(compacted))
    for step in map(_accepted, compacted.steps):
        answers, loose = _answers(step)
        if step.source is not Source.AGENT:
            yield "user", _text(_joined(step.message, *loose))
            continue
        uses = [
            {"type": "tool_use", "id": call.call_id, "name": call.name, "input": dict(call.arguments)}
            for call in step.calls
        ]
        yield "assistant", [*_text(step.message), *uses]
        # Results stand first in the message that answers.
        told = [{"type": "tool_result", "tool_use_id": call_id, "content": text} for call_id, text in answers.items()]
        yield "user", [*told, *_text(_joined(*loose))]


def _answers(step: Step) -> tuple[dict[str, str], list[str]]:
    """Return what each call of a step gave back, by its id, and what answers no call of it."""
    results = {result.call_id: result.text for result in step.results}
    own = {call.call_id: results.get(call.call_id, _NO_RESULT) for call in step.calls}
    return own, [result.text for result in step.results if result.call_id not in own]


def _accepted(step: Step) -> Step:
    """Return a step with ids and names of calls that services accept; some agents record longer ones, or with dots."""
    ids = {
        call.call_id: call.call_id if _ID.fullmatch(call.call_id) else f"call_{step.step_id}_{number}"
        for number, call in enumerate(step.calls, 1)
    }
    calls = (
        dataclasses.replace(
            call, call_id=ids[call.call_id], name=_NOT_IN_NAME.sub("_", call.name)[:_MOST_OF_NAME] or "tool"
        )
        for call in step.calls
    )
    results = (dataclasses.replace(each, call_id=ids.get(each.call_id, each.call_id)) for each in step.results)
    return dataclasses.replace(step, calls=tuple(calls), results=tuple(results))


def _joined(*texts: str) -> str:
    return "\n".join(text for text in texts if text.strip())


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []


def as_atif_document(compacted: Compacted, head: SessionHead) -> dict[str, Any]:
    """Return a context as a trajectory: the summary is a step of the user, steps that stayed are marked as copied."""
    return as_atif(Session(head, tuple(_renumbered(compacted))))


def _renumbered(compacted: Compacted) -> Iterator[Step]:
    summary = [Step(0, Source.USER, text)] if (text := _introduced(compacted)) else []
    stayed: Iterable[Step] = (
        *(dataclasses.replace(step, copied=True) for step in compacted.system),
        *summary,
        *(dataclasses.replace(step, copied=True) for step in compacted.steps),
    )
    for number, step in enumerate(stayed, 1):
        yield dataclasses.replace(step, step_id=number)
