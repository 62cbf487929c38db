"""Raw text -> recovered text, by removing wrappers and nothing else.

Every step only deletes, is named, and is recorded with what it deleted. The result is given back only if
its verdict is no worse than the raw answer's; otherwise the raw answer stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ctxsift.contracts import Intent, Kind, contract_of
from ctxsift.payloads import parse_payload
from ctxsift.prompts import Request
from ctxsift.thought import Thought, find_thought
from ctxsift.validation import (
    CONTROL_TOKEN,
    MAX_ANSWER_CHARS,
    Status,
    echoed_lines,
    intro_end,
    is_quoted,
    outer_fence,
    outro_start,
    validate,
)

RECOVERY_VERSION = "2"
_MAX_ROUNDS = 8
_RANK = {Status.ACCEPTED: 2, Status.SOFT_ACCEPTED: 1, Status.REJECTED: 0}

_END_OF_TURN = re.compile(
    r"<\|(?:im_end|eot_id|end|endoftext|end_of_text|return|eom_id|end_of_turn)\|>|<end_of_turn>|</s>|<eos>|<｜end▁of▁sentence｜>",
    re.IGNORECASE,
)
# Possessive quantifiers keep every pattern linear: an answer may be a megabyte of blanks.
_HEADER = re.compile(
    r"\A\s*+(?:<\|start\|>\s*+assistant\s*+)?<\|channel\|>\s*+final\s*+<\|message\|>"
    r"|\A\s*+(?:<\|im_start\|>|<\|start_header_id\|>|<\|start_of_role\|>|<start_of_turn>|<\|start\|>)?\s*+"
    r"(?:assistant|model)(?:\s*+(?:<\|end_header_id\|>|<\|end_of_role\|>|<\|message\|>|:))?[ \t\r]*+\n++"
    r"|\A\s*+(?:<\|(?:assistant|im_start|start)\|>)[ \t]*+\n?|\A\s*+<\|start_of_role\|>assistant<\|end_of_role\|>",
    re.IGNORECASE,
)
_ROLES = r"(?:user|human|system|assistant|model|instruction)"
_TURN = re.compile(rf"(?<=\n)(?:### )?{_ROLES}[ \t]*+:?[ \t\r]*+(?:\n|\Z)", re.IGNORECASE)
# A label with words behind it is a turn only after a blank line: "User: www-data" may be an answer's own line.
_TURN_LABEL = re.compile(r"(?<=\n)(?:### ?)?(?:User|Human|Assistant|Instruction):[ \t]", re.IGNORECASE)
_ANSWER_LABEL = re.compile(
    r"\A\s*(?:\*\*)?(?:final answer|answer|response|result|output|summary)(?:\*\*)?:(?:\*\*)?"
    r"(?:(?:[ \t]*\n)+|[ \t])",
    re.IGNORECASE,
)
_ANSWER_TAG = re.compile(
    r"\A\s*<(answer|final_answer|response|result|output)>[ \t]*\r?\n?(.*?)\r?\n?[ \t]*</\1>\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_OPEN_FENCE = re.compile(r"\A\s*(?:```|~~~)[\w+-]*[ \t]*\n")
_CLOSE_FENCE = re.compile(r"\n(?:```|~~~)[ \t]*\Z")
_BLANK_HEAD = re.compile(r"\A(?:[ \t\r]*\n)+")


@dataclass(frozen=True)
class Step:
    """One deletion: the step's stable name and the text it took away."""

    name: str
    removed: str


@dataclass(frozen=True)
class Recovery:
    """The recovered text and how it came about; no steps when nothing was done."""

    text: str
    steps: tuple[Step, ...]


def recover(text: str, request: Request) -> Recovery:
    """Remove wrappers from `text` where that is safe under the contract. Idempotent; never raises."""
    if not text.strip() or len(text) > MAX_ANSWER_CHARS:
        return Recovery(text, ())
    current = text
    steps: list[Step] = []
    for _ in range(_MAX_ROUNDS):
        before = current
        for name, step in _STEPS:
            cut = step(current, request)
            if cut != current and cut.strip():
                steps.append(Step(name, _removed(current, cut)))
                current = cut
        if current == before:
            break
    else:
        # Wrappers without end are no wrappers.
        return Recovery(text, ())
    if current == text:
        return Recovery(text, ())
    if _RANK[validate(current, request).status] < _RANK[validate(text, request).status]:
        return Recovery(text, ())
    return Recovery(current, tuple(steps))


def _removed(before: str, after: str) -> str:
    """Return what was deleted: exact for a cut at one or both ends, else all parts in order."""
    at = before.find(after)
    if at != -1:
        return before[:at] + before[at + len(after) :]
    removed, position = [], 0
    for character in before:
        if position < len(after) and character == after[position]:
            position += 1
        else:
            removed.append(character)
    return "".join(removed)


def _thought(text: str, request: Request) -> Thought:
    return find_thought(text, raw_input=request.quotable, instruction=request.instruction, intent=request.intent)


def _reasoning_blocks(text: str, request: Request) -> str:
    thought = _thought(text, request)
    blocks = [s for s in thought.spans if s.kind == "block"]
    if thought.unterminated and blocks:
        # What follows an opened block is unknown ground; only what stands before it can be the answer.
        blocks = blocks[:-1] if not text[: blocks[-1].start].strip() else blocks
    kept, position = [], 0
    for span in blocks:
        kept.append(text[position : span.start])
        position = span.end
    kept.append(text[position:])
    return "".join(kept) if blocks else text


def _invented_turns(text: str, request: Request) -> str:
    for match in _END_OF_TURN.finditer(text):
        if text[: match.start()].strip() and not is_quoted(match, request.quotable):
            return text[: match.start()]
    if parse_payload(request.intent, text) is not None:
        return text
    for pattern, after_blank_line in ((_TURN, False), (_TURN_LABEL, True)):
        for turn in pattern.finditer(text):
            before = text[: turn.start()]
            if after_blank_line and not before[-4:].replace("\r", "").endswith("\n\n"):
                continue
            if before.strip() and turn.group().strip() not in request.quotable:
                return before
            break
    return text


def _role_header(text: str, request: Request) -> str:
    match = _HEADER.match(text)
    # `model:` is also a key.
    if match and "<" not in match.group() and parse_payload(request.intent, text) is not None:
        return text
    return text[match.end() :] if match and not is_quoted(match, request.quotable) else text


def _control_tokens(text: str, request: Request) -> str:
    return CONTROL_TOKEN.sub(lambda m: m.group() if is_quoted(m, request.quotable) else "", text)


def _prompt_scaffold(text: str, request: Request) -> str:
    echoed = set(echoed_lines(text, request))
    if not echoed:
        return text
    lines = text.splitlines(keepends=True)
    while lines and (not lines[0].strip() or lines[0].rstrip("\r\n") in echoed):
        lines.pop(0)
    while lines and (not lines[-1].strip() or lines[-1].rstrip("\r\n") in echoed):
        lines.pop()
    return "".join(lines)


def _thought_preamble(text: str, request: Request) -> str:
    thought = _thought(text, request)
    position = 0
    for span in thought.spans:
        if span.kind == "prose" and not text[position : span.start].strip():
            position = span.end
        else:
            break
    rest = text[position:].lstrip(" \t") if position and text[position : position + 1] != "\n" else text[position:]
    if not position or not rest.strip():
        return text
    kind = contract_of(request.intent).kind
    if kind is Kind.STRUCTURED and not _is_payload(rest, request):
        return text
    return rest


def _thought_epilogue(text: str, request: Request) -> str:
    """Cut trailing paragraphs that are thought from end to end."""
    thought = _thought(text, request)
    end = len(text.rstrip())
    for span in reversed(thought.spans):
        if span.kind != "prose" or text[span.end : end].strip():
            break
        end = len(text[: span.start].rstrip())
    # Only at a paragraph's border: within one, what stands before belongs to the same train of words.
    between = text[end:].lstrip(" \t\r")
    return text[:end] if end and between.startswith("\n") and between.lstrip("\n\r \t") else text


def _answer_tag(text: str, request: Request) -> str:
    match = _ANSWER_TAG.match(text)
    return match.group(2) if match and f"<{match.group(1)}>" not in request.quotable else text


def _payload_intro(text: str, request: Request) -> str:
    rest = text[intro_end(text, request.quotable) :]
    if rest == text:
        return text
    structured = contract_of(request.intent).kind is Kind.STRUCTURED
    return text if structured and not _is_payload(rest, request) else rest


def _answer_label(text: str, request: Request) -> str:
    match = _ANSWER_LABEL.match(text)
    if not match or parse_payload(request.intent, text) is not None:
        return text
    first_line = text.strip().splitlines()[0].strip()
    if first_line in request.quotable:
        return text
    # The first of several exact lines may be indented; a value is not.
    rest = text[match.end() :]
    return rest if request.intent is Intent.EXACT_LINES else rest.lstrip(" \t")


def _outer_fence(text: str, request: Request) -> str:
    inner = outer_fence(text)
    if inner is not None:
        return text if text.strip() in request.quotable else inner
    opening = _OPEN_FENCE.match(text)
    if opening and text.count(opening.group().strip()[:3]) == 1 and opening.group().strip() not in request.quotable:
        return text[opening.end() :]
    closing = _CLOSE_FENCE.search(text)
    if closing and text.count(closing.group().strip()) == 1 and closing.group().strip() not in request.quotable:
        return text[: closing.start()]
    return text


def _closing_chatter(text: str, request: Request) -> str:
    if parse_payload(request.intent, text) is not None:
        return text
    return text[: outro_start(text, request.quotable)]


def _blank_edges(text: str, request: Request) -> str:
    del request
    head = _BLANK_HEAD.match(text)
    return text[head.end() if head else 0 :].rstrip()


def _is_payload(text: str, request: Request) -> bool:
    text = _ANSWER_LABEL.sub("", text)
    inner = outer_fence(text)
    return parse_payload(request.intent, inner if inner is not None else text) is not None


_STEPS: tuple[tuple[str, Callable[[str, Request], str]], ...] = (
    ("reasoning_block", _reasoning_blocks),
    ("role_header", _role_header),
    ("invented_turn", _invented_turns),
    ("control_token", _control_tokens),
    ("prompt_scaffold", _prompt_scaffold),
    ("thought_preamble", _thought_preamble),
    ("thought_epilogue", _thought_epilogue),
    ("answer_tag", _answer_tag),
    ("payload_intro", _payload_intro),
    ("answer_label", _answer_label),
    ("outer_fence", _outer_fence),
    ("closing_chatter", _closing_chatter),
    ("blank_edge", _blank_edges),
)
