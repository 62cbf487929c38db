"""Text -> accepted, soft_accepted or rejected, with stable reason names. Knows the request, never the gold."""

from __future__ import annotations

import functools
import html
import re
from dataclasses import dataclass
from enum import StrEnum

from ctxsift.answers.envelope import is_quoted, is_spoken_of, read_envelope
from ctxsift.answers.grounding import Ground, ground
from ctxsift.answers.marks import MODEL_TOKENS, MarkFinder, MarkKind
from ctxsift.answers.payloads import is_continuation, outer_fence, parse_payload
from ctxsift.answers.thought_density import Thought, thought_of
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent
from ctxsift.prompts import (
    COMMAND_HEADING,
    FORMAT_HEADING,
    TASK_HEADING,
    Request,
    command_lines,
    exit_code_lines,
    scaffold_lines,
)


class Status(StrEnum):
    """The verdict on one answer."""

    ACCEPTED = "accepted"
    SOFT_ACCEPTED = "soft_accepted"
    REJECTED = "rejected"


# Reasons to reject.
EMPTY_OUTPUT = "empty_output"
CONTROL_TOKEN_LEAK = "control_token_leak"
PROMPT_ECHO = "prompt_echo"
RAW_ECHO = "raw_echo"
VISIBLE_THOUGHT = "visible_thought"
UNTERMINATED_REASONING = "unterminated_reasoning"
BROKEN_STRUCTURE = "broken_structure"
PROSE_FOR_EXACT_VALUE = "prose_for_exact_value"
NON_VERBATIM_LINES = "non_verbatim_lines"
# Flags of an answer that is usable all the same; visible thought is one of them under plain text.
UNGROUNDED_FACTS = "ungrounded_facts"
OUTER_FENCE = "outer_fence"
MARKUP_IN_PLAIN_TEXT = "markup_in_plain_text"
VERBATIM_EXCERPT = "verbatim_excerpt"
SMALL_TALK = "small_talk"
WHITESPACE_CHANGED = "whitespace_changed"
BULLET_MARKER = "bullet_marker"
WRAPPED_BULLET = "wrapped_bullet"

# What leaves nothing on a screen, by any name: control codes, characters without width or ink.
_UNSEEN = re.compile(
    r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\s\x00-\x1f\x7f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]+"
)
_MARKUP_LINE = re.compile(r"\s*(?:#{1,6} |[-*+•] |\d+[.)] |\||```|~~~|[{}\[\]]\s*$)")
# A hundred times the longest honest answer; what is longer is neither read nor recovered.
MAX_ANSWER_CHARS = 200_000
# Under this length an input is too short for its repetition to mean that nothing was compressed.
_LONG_INPUT_LINES = 12
_LONG_INPUT_CHARS = 2000
_ECHO_SHARE = 0.6
_MOSTLY_THOUGHT = 0.85
_INTRO = re.compile(
    r"\A\s*(?:(?:sure|certainly|of course|okay|ok|absolutely|alright|hello|hi)\b[^\n:]{0,80}?[,.!]?\s+)?"
    r"(?:here(?:'s|’s| is| are)|(?:below|the following) (?:is|are) (?:the|a|your|my)\b)"
    r"\b[^\n]{0,160}:[ \t]*\n+|\A\s*(?:sure|certainly|of course|absolutely)[,.!][^\n]{0,120}[:!.][ \t]*\n+",
    re.IGNORECASE,
)
_OUTRO = re.compile(
    r"(?<!\n)\n+[ \t]*(?:let me know|(?:i )?hope (?:this|that)|feel free|if you (?:need|have) (?:any|more|further)"
    r"|is there anything|would you like|please (?:let me know|feel free))\b[^\n]*\s*\Z",
    re.IGNORECASE,
)
_QUOTES = " \t\"'`*"
_KEY_END = re.compile(r"[\"']?\s*:(?=\s|\Z)")
_MOST_LABELLED = 2000
_LABEL = re.compile(r"(?:[A-Z]\w*:\s+){1,3}")
_NUMBER = re.compile(r"[\d.]+")
# Versions, addresses and figures are facts, but no names.
_NAME = re.compile(r"(?!v?\d).*[A-Za-z]{2}")
# The words of `AccessShareLocks` and `not_null_violation`.
_SHORTEST_PART = 3
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+")
# Where a name that somebody put together falls apart: `Garage.Enter`, `int/float`, `500s`.
_SEAM = re.compile(r"[./-]|(?<=\d)(?=[a-z])")
_FACT = re.compile(
    r"""(?x)
    (?<![\w./-])(?:
        [\w.@~+-]{0,200}/[\w./@+-]*\w(?::\d+)*            # paths
      | (?!(?:i\.e|e\.g)\b)[\w-]+(?:\.[\w-]+)*\.[A-Za-z]\w{0,5}(?::\d+)*  # file names, dotted names
      | v?\d+(?:\.\d+)+[\w.-]*\w?                   # versions and decimals
      | 0x[0-9a-fA-F]+ | \d{4,}                     # addresses, long numbers
      | (?!L\d)[A-Z]{1,6}-?\d{2,}                  # error codes, but not L18 for line 18
      | \w+_\w+ | [a-z]+[A-Z]\w+ | [A-Z][a-z0-9]+[A-Z]\w+   # identifiers
      | \d+(?:ms|s|KB|MB|GB|KiB|MiB|GiB|B|%)        # figures with a unit
    )(?![\w])"""
)


@dataclass(frozen=True)
class Validation:
    """The verdict, why, and what was seen on the way.

    Attributes:
        reasons: hard failures, empty unless rejected.
        flags: quality flags of an answer that is not perfect but usable.
        ungrounded: facts that stand neither in the input nor in the command, its exit code or the instruction.

    """

    status: Status
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    ungrounded: tuple[str, ...]
    thought: Thought


def validate(text: str, request: Request, tokens: MarkFinder = MODEL_TOKENS) -> Validation:
    """Judge the first 200,000 characters of `text` as an answer to `request`. Never raises.

    Args:
        text: an answer, raw or recovered.
        request: what was asked.
        tokens: the marks of the model that said it.

    """
    text = text[:MAX_ANSWER_CHARS]
    contract = contract_of(request.intent)
    quotable = ground(request.quotable)
    thought = thought_of(text, quotable, request.instruction, request.intent, tokens)
    reasons: list[str] = []
    flags: list[str] = []
    if is_blank(text):
        return Validation(Status.REJECTED, (EMPTY_OUTPUT,), (), (), thought)
    if not (thought.unterminated or _answers(text, request, quotable, tokens)):
        reasons.append(EMPTY_OUTPUT)
    if leaked_tokens(text, quotable, tokens):
        reasons.append(CONTROL_TOKEN_LEAK)
    if echoed_lines(text, request):
        reasons.append(PROMPT_ECHO)
    if repeats_input(text, request.raw_input):
        reasons.append(RAW_ECHO)
    if thought.unterminated:
        reasons.append(UNTERMINATED_REASONING)
    if thought.spans:
        mild = contract.kind is ContractKind.PLAIN or (
            contract.kind is ContractKind.STRUCTURED and not _is_mostly_thought(text, thought)
        )
        (flags if mild else reasons).append(VISIBLE_THOUGHT)
    {ContractKind.PLAIN: _plain, ContractKind.STRICT: _strict, ContractKind.STRUCTURED: _structured}[contract.kind](
        text, request, reasons, flags
    )
    ungrounded = ungrounded_facts(text, request)
    if ungrounded:
        flags.append(UNGROUNDED_FACTS)
    status = Status.REJECTED if reasons else Status.SOFT_ACCEPTED if flags else Status.ACCEPTED
    return Validation(status, tuple(reasons), tuple(flags), ungrounded, thought)


def is_blank(text: str) -> bool:
    """Say whether a text shows nothing: no character in it has ink."""
    return not _UNSEEN.sub("", html.unescape(text) if "&" in text else text)


def _answers(text: str, request: Request, quotable: Ground, tokens: MarkFinder) -> bool:
    """Say whether anything stands beside the marks of a model and what is thought between them."""
    structured = contract_of(request.intent).kind is ContractKind.STRUCTURED
    envelope = read_envelope(text, quotable, tokens, request.intent if structured else None)
    return any(not is_blank(text[piece.start : piece.end]) for piece in envelope.of("answer"))


def _is_mostly_thought(text: str, thought: Thought) -> bool:
    """Say whether a document is a monologue: thought in one cell, field or comment leaves the others usable."""
    lines = [line for line in text.splitlines() if line.strip()]
    return thought.density >= _MOSTLY_THOUGHT or 2 * thought.markers >= len(lines) > 1


def _plain(text: str, request: Request, reasons: list[str], flags: list[str]) -> None:
    del reasons
    if any(_MARKUP_LINE.match(line) for line in text.splitlines()):
        flags.append(MARKUP_IN_PLAIN_TEXT)
    if excerpt_lines(text, request.raw_input) >= 2:
        flags.append(VERBATIM_EXCERPT)
    if intro_end(text, request.quotable) or outro_start(text, request.quotable) < len(text):
        flags.append(SMALL_TALK)


def _strict(text: str, request: Request, reasons: list[str], flags: list[str]) -> None:
    lines = [line for line in text.splitlines() if line.strip()]
    if request.intent is Intent.EXACT_LINES:
        exact = {line.rstrip("\r") for line in request.raw_input.split("\n")}
        stripped = {line.strip() for line in exact}
        if any(line.strip() not in stripped for line in lines):
            reasons.append(NON_VERBATIM_LINES)
        elif any(line not in exact for line in lines):
            flags.append(WHITESPACE_CHANGED)
    elif len(lines) > 1 or (text.strip() not in request.quotable and is_prose(text.strip())):
        reasons.append(PROSE_FOR_EXACT_VALUE)


def _structured(text: str, request: Request, reasons: list[str], flags: list[str]) -> None:
    fence = outer_fence(text)
    payload = fence if fence is not None else text
    if parse_payload(request.intent, payload) is None:
        reasons.append(BROKEN_STRUCTURE)
        return
    if fence is not None:
        flags.append(OUTER_FENCE)
    if request.intent is Intent.BULLET_LIST:
        others = [line for line in payload.splitlines() if line.strip() and not line.startswith("- ")]
        wrapped = sum(map(is_continuation, others))
        if wrapped:
            flags.append(WRAPPED_BULLET)
        if wrapped < len(others):
            flags.append(BULLET_MARKER)


def intro_end(text: str, raw_input: str) -> int:
    """Return where words like "Sure! Here is the summary:" above an answer end, or 0."""
    match = _INTRO.match(text)
    return match.end() if match and _is_chatter(match, raw_input) else 0


def outro_start(text: str, raw_input: str) -> int:
    """Return where words like "Let me know if ..." below an answer begin, or the length of `text`."""
    offset = max(0, len(text) - 600)
    match = _OUTRO.search(text[offset:])
    return offset + match.start() if match and _is_chatter(match, raw_input) else len(text)


def _is_chatter(match: re.Match[str], raw_input: str) -> bool:
    return not has_fact(match.group()) and match.group().strip() not in raw_input


def leaked_tokens(text: str, quotable: Ground, tokens: MarkFinder = MODEL_TOKENS) -> list[str]:
    """Return the control and role tokens in `text` that are no quotations of the input.

    Marks of reasoning are thought, and a box in plain letters (`<result>`) may be markup.
    """
    found: set[str] = set()
    for mark in tokens.marks(text):
        says = text[mark.start : mark.end]
        plain_box = mark.kind in (MarkKind.BOX_OPEN, MarkKind.BOX_CLOSE) and mark.in_plain_letters
        if mark.kind in (MarkKind.OPEN, MarkKind.CLOSE) or plain_box:
            continue
        if not is_quoted(text, mark.start, mark.end, quotable) and not is_spoken_of(text, mark):
            found.add(says)
    return sorted(found)


def echoed_lines(text: str, request: Request) -> list[str]:
    """Return the lines of `text` that repeat the scaffold of our own prompt."""
    known = {*scaffold_lines(), *exit_code_lines(request)}
    command, *further = command_lines(request) or ("",)
    echoed, command_echoed = [], False
    for line in text.splitlines():
        bare = line.strip().lstrip("-*•> ")
        task = _tells(bare, TASK_HEADING, request.instruction)
        told = _tells(bare, COMMAND_HEADING, command)
        ours = bare in known or task or told or bare.startswith(FORMAT_HEADING)
        # "Task:" alone is also a key, where the output speaks of tasks.
        a_key = bare == TASK_HEADING and "task" in ground(request.quotable).words
        if ours and not a_key and bare not in request.raw_input:
            echoed.append(line)
            command_echoed = command_echoed or told
        elif command_echoed and line in further:
            echoed.append(line)
    return echoed


def _tells(line: str, heading: str, text: str) -> bool:
    """Say whether a line is a heading of ours with the beginning of what stood there, or with nothing."""
    return line.startswith(heading) and text.removeprefix(heading).strip().startswith(line[len(heading) :].strip()[:40])


def repeats_input(text: str, raw_input: str) -> bool:
    """Say whether `text` repeats most of a long input: nothing was compressed."""
    lines = [line.strip() for line in raw_input.splitlines() if line.strip()]
    if len(lines) < _LONG_INPUT_LINES and len(raw_input) < _LONG_INPUT_CHARS:
        return False
    said = {line.strip() for line in text.splitlines()}
    repeated = sum(len(line) for line in lines if line in said)
    return repeated >= _ECHO_SHARE * sum(map(len, lines))


def excerpt_lines(text: str, raw_input: str) -> int:
    """Return how many lines of `text` are whole lines of the input (short lines do not count)."""
    known = _long_lines(raw_input)
    return sum(line.strip() in known for line in text.splitlines())


@functools.lru_cache(maxsize=512)
def _long_lines(raw_input: str) -> frozenset[str]:
    return frozenset(bare for line in raw_input.splitlines() if len(bare := line.strip()) >= 12)


def is_prose(line: str) -> bool:
    """Say whether one line is a sentence rather than a value."""
    # Quotes and a label around a value neither make nor unmake a sentence.
    line = line.strip(_QUOTES)
    # Looking for labels takes the square of a word's length; no value is that long.
    line = _LABEL.sub("", line) if len(line) <= _MOST_LABELLED else line
    words = line.split()
    if re.match(r"(?i)(?:the|it|this|there|here|based on|according to|sure|yes|no|i|we|in)\b,? ", line):
        return len(words) >= 4
    return len(words) >= 8 and sum(word.isalpha() and word.islower() for word in words) >= len(words) / 2


def has_fact(text: str) -> bool:
    """Say whether `text` holds a path, identifier, number, version or code: it is more than chatter then."""
    return _FACT.search(text) is not None


def ungrounded_facts(text: str, request: Request) -> tuple[str, ...]:
    """Return paths, identifiers, numbers, versions and error codes that nobody gave the model."""
    return tuple(fact for fact, is_given in _facts(text, request).items() if not is_given)


def names_given(text: str, request: Request) -> list[bool]:
    """Return of each file, identifier and code that `text` names whether somebody gave the model it, or its words."""
    given = f"{request.quotable}\n{request.instruction}".lower()
    named = {fact: is_given for fact, is_given in _facts(text, request).items() if _NAME.match(fact)}
    return [is_given or _has_words_of(fact, given) for fact, is_given in named.items()]


def _has_words_of(name: str, given: str) -> bool:
    parts = [part.lower() for part in _PART.findall(name) if len(part) >= _SHORTEST_PART]
    return bool(parts) and all(part.removesuffix("s") in given for part in parts)


def _facts(text: str, request: Request) -> dict[str, bool]:
    """Return the facts of a text, and whether somebody gave them to the model."""
    exit_code = "" if request.exit_code is None else request.exit_code
    given = f"{request.quotable}\n{request.instruction}\n{exit_code}".lower()
    found: dict[str, bool] = {}
    for match in _FACT.finditer(text[:100_000]):
        # A key names a fact; it is none.
        if request.intent in (Intent.JSON, Intent.YAML) and _KEY_END.match(text, match.end()):
            continue
        if fact := match.group().rstrip(".-"):
            found[fact] = all(_is_given(part, given) for part in fact.split(":")) or _is_glued(fact, given)
    return found


def _is_glued(fact: str, given: str) -> bool:
    """Return True for a name that words without blanks are glued to, if it is given."""
    pieces = [piece for piece in _UNSPACED.split(fact) if piece]
    return pieces != [fact] and bool(pieces) and all(_is_given(piece, given) for piece in pieces)


def _is_given(fact: str, given: str) -> bool:
    """Return True for what stands in a lower-case text, or is put together of names and words of it.

    `Garage.Enter`, `int/float`, `500s` and `9.x` are; a path with a file name, and a number, have to stand there whole.
    """
    low = fact.lower()
    if low in given:
        return True
    if _NUMBER.fullmatch(low) or ("/" in low and "." in low):
        return False
    return all(part in given for part in _SEAM.split(low) if part and part != "x")
