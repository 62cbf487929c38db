"""Steps as text, and about how many tokens they have: one estimate for everything that compaction measures."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence

import msgspec

from ctxsift.prompts import cut_middle
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN
from ctxsift.sessions.records import JsonValue, Source, Step, ToolCall

# What `cut_middle` leaves at least, and what its marker takes, in characters.
_LEAST_KEPT, _MARKER = 40, 60
# The lines that steps and calls begin with in a text, for whoever reads one: which step it is, which tool.
STEP_LINE = re.compile(rf"\[(?:{'|'.join(Source)}), (step \d+)\]")
CALL_LINE = re.compile(r"> (\S+)")


def tokens_in(text: str) -> int:
    """Return about how many tokens a text has, rounded up: four characters each, as everywhere with sessions."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def characters_of(step: Step) -> int:
    """Return how many characters a step has: message, reasoning, arguments (as JSON) and results."""
    called = sum(len(msgspec.json.encode(call.arguments)) for call in step.calls)
    return len(step.message) + len(step.reasoning) + called + sum(len(result.text) for result in step.results)


def tokens_of(steps: Iterable[Step]) -> int:
    """Return about how many tokens steps have."""
    return -(-sum(characters_of(step) for step in steps) // CHARACTERS_PER_TOKEN)


def text_of(steps: Iterable[Step]) -> str:
    """Return steps as readable text, whole."""
    return "\n\n".join(filter(None, (text_of_step(step) for step in steps)))


def text_of_step(step: Step) -> str:
    """Return a step as readable text: who speaks, the message, each call with its result."""
    parts = [step.reasoning.strip(), step.message.strip()]
    results = {result.call_id: result.text for result in step.results}
    for call in step.calls:
        parts += [text_of_call(call), results.pop(call.call_id, "").strip()]
    parts += [text.strip() for text in results.values()]
    body = "\n".join(part for part in parts if part)
    return f"[{step.source}, step {step.step_id}]\n{body}" if body else ""


def text_of_call(call: ToolCall) -> str:
    """Return a call as text: the tool, then its arguments; texts of several lines as they are."""
    told = []
    for name, value in call.arguments.items():
        shown = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        told.append(f"{name}:\n{shown}" if "\n" in shown else f"{name}: {shown}")
    return "\n".join((f"> {call.name}", *told))


def system_prompts(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return what the system says before anybody else speaks."""
    end = next((at for at, step in enumerate(steps) if step.source is not Source.SYSTEM), len(steps))
    return tuple(steps[:end])


def elided(step: Step, most: int) -> Step:
    """Return a step with the middle of its longest texts left out, so that it has about `most` tokens.

    Results go first, then texts in arguments, then reasoning and message.
    """
    room = most * CHARACTERS_PER_TOKEN
    for shorten in (_shorter_results, _shorter_arguments, _shorter_words):
        over = characters_of(step) - room
        if over <= 0:
            break
        step = shorten(step, over)
    return step


def _shorter_results(step: Step, over: int) -> Step:
    lengths = [len(result.text) for result in step.results]
    kept = _shares(lengths, over)
    results = (
        dataclasses.replace(result, text=_cut(result.text, room, "of output"))
        for result, room in zip(step.results, kept, strict=True)
    )
    return dataclasses.replace(step, results=tuple(results))


def _shorter_arguments(step: Step, over: int) -> Step:
    texts = [value for call in step.calls for value in call.arguments.values() if isinstance(value, str)]
    kept = iter(_shares([len(text) for text in texts], over))

    def shortened(value: JsonValue) -> JsonValue:
        return _cut(value, next(kept), "of the argument") if isinstance(value, str) else value

    calls = (
        dataclasses.replace(call, arguments={name: shortened(value) for name, value in call.arguments.items()})
        for call in step.calls
    )
    return dataclasses.replace(step, calls=tuple(calls))


def _shorter_words(step: Step, over: int) -> Step:
    reasoning, message = _shares([len(step.reasoning), len(step.message)], over)
    return dataclasses.replace(
        step, reasoning=_cut(step.reasoning, reasoning, "of reasoning"), message=_cut(step.message, message, "of text")
    )


def _shares(lengths: Sequence[int], over: int) -> list[int]:
    """Return how much of each text may stay where `over` characters too many stand: the same limit for all."""
    room = max(0, sum(lengths) - over)
    limit = max(lengths, default=0)
    # The longest ones are cut to one length; what shorter ones do not use is theirs.
    left, among = room, len(lengths)
    for length in sorted(lengths):
        if length * among >= left:
            limit = left // among
            break
        left -= length
        among -= 1
    return [min(length, limit) for length in lengths]


def _cut(text: str, room: int, what: str) -> str:
    if len(text) <= max(room, _LEAST_KEPT + _MARKER):
        return text
    return cut_middle(text, max(_LEAST_KEPT, room - _MARKER), what=what)
