"""Lines of what user and agent said, one by one, with what tells how much each may matter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ctxsift.sessions.compaction.records import SUMMARY_BEGAN, SUMMARY_BEGINS, SUMMARY_ENDS
from ctxsift.sessions.records import Source, Step, StepEnding
from ctxsift.sessions.replies import replies_in
from ctxsift.sessions.speakers import words_of

# What is longer is parted at the ends of its sentences; a sentence that is too long is cut. What a user says in one
# breath belongs together.
_LONG, _LONG_BY_USER, MOST_CHARACTERS = 200, 300, 300
_LONGEST_LEAD = 70
_FENCE = re.compile(r"\s*(?:```|~~~)")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|\[[ xX]\])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\s*(?:#{1,6}\s+|\*\*(?=[^*]+\*\*:?\s*\Z))")
_RULE = re.compile(r"[\s|:=_*~-]*\Z")
_SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+(?=\S)|(?<=[a-z`)][.!?])(?=[A-Z])")
_BEGINS = "|".join(map(re.escape, (SUMMARY_BEGINS, SUMMARY_BEGAN)))
_HANDED_ON = re.compile(rf"\s*(?:{_BEGINS}).*?(?:{re.escape(SUMMARY_ENDS)}|\Z)", re.DOTALL)
# So many lines of a message that differ in numbers alone are rows.
_FEWEST_ROWS = 8
_NUMBER = re.compile(r"\d+")
_MARKUP = re.compile(r"\*\*|(?<!\w)__|__(?!\w)")


@dataclass(frozen=True, slots=True)
class MessageLine:
    """A line of a message.

    Attributes:
        text: without its bullet and marks of bold text.
        lead: the heading or the line with a colon that it stands under; for bullets alone.
        by_user: the user said it.
        is_report: it stands in a message that ended the agent's turn.
        in_code: it stands in a fence.
        message: which message of the span it is of, counted from 0.
        place: where in what is said in its step.
        is_reply: the user answers with it to what the agent asked or wanted to do.
        is_row: it is one of many lines of the message that differ in numbers alone, as of an output that was pasted.

    """

    text: str
    step_id: int
    by_user: bool
    is_report: bool
    in_code: bool
    lead: str
    message: int
    place: int
    is_reply: bool = False
    is_row: bool = False


def lines_of(span: Iterable[Step]) -> Iterator[MessageLine]:
    """Yield the lines of all that user and agent said in a span; what a program says is not among them.

    What the user says in results of a step's calls is a message of its own. A summary that an earlier session left is
    nobody's; see `summary_in`.
    """
    number = 0
    for step in span:
        # A message without a call ends a turn; what was aborted reports nothing.
        report = step.source is Source.AGENT and not step.calls and step.ending is StepEnding.COMPLETE
        place = 0
        for source, said in utterances(step):
            by_user = source is Source.USER
            message = said.removeprefix(_as_handed_on(said)) if by_user else said
            is_reply = by_user and step.source is Source.AGENT
            longest_lead = MOST_CHARACTERS if is_reply else _LONGEST_LEAD
            rows = _rows(message) if by_user else frozenset[str]()
            for text, lead, in_code in _parts(message, rows, _LONG_BY_USER if by_user else _LONG, longest_lead):
                is_row = _alike(text) in rows
                yield MessageLine(text, step.step_id, by_user, report, in_code, lead, number, place, is_reply, is_row)
                place += 1
            number += 1


def summary_in(step: Step) -> str:
    """Return the summary that a message of the user hands on from an earlier session; empty where there is none."""
    whole = _as_handed_on(step.message) if step.source is Source.USER else ""
    _, _, text = whole.partition("\n\n")
    return text.removesuffix(SUMMARY_ENDS).strip()


def _as_handed_on(message: str) -> str:
    found = _HANDED_ON.match(message)
    return found[0] if found else ""


def utterances(step: Step) -> Iterator[tuple[Source, str]]:
    """Yield what user or agent say in a step: its message, then the user's words in results of its calls."""
    if step.source is not Source.SYSTEM and (message := words_of(step).strip()):
        yield step.source, message
    yield from ((Source.USER, reply) for reply in replies_in(step))


def _parts(message: str, rows: frozenset[str], longest: int, longest_lead: int) -> Iterator[tuple[str, str, bool]]:
    in_code, lead = False, ""
    for raw in message.splitlines():
        if _FENCE.match(raw):
            in_code = not in_code
            continue
        text, is_bullet, is_heading = without_marks(raw)
        if not text or _RULE.match(text):
            continue
        if is_heading or (text.endswith(":") and len(text) <= longest_lead and not in_code):
            lead = text.rstrip(": ")
            continue
        if lead and _alike(text) in rows:
            # What the user says above an output is no heading of its rows.
            yield lead, "", in_code
            lead = ""
        # A heading introduces a paragraph; a line with a colon, what is listed below it.
        is_paragraph = not is_bullet and not in_code and not raw.startswith((" ", "\t"))
        for part in _pieces(text, longest):
            yield part, lead, in_code
            lead = "" if is_paragraph else lead


def _rows(message: str) -> frozenset[str]:
    """Return what many lines of a message say, but for their numbers."""
    texts = (without_marks(raw)[0] for raw in message.splitlines())
    counts = Counter(_alike(text) for text in texts if any(map(str.isdigit, text)))
    return frozenset(text for text, count in counts.items() if count >= _FEWEST_ROWS)


def _alike(text: str) -> str:
    """Return a line with every number the same."""
    return _NUMBER.sub("7", text)


def without_marks(raw: str) -> tuple[str, bool, bool]:
    """Return a line without its marks of Markdown, and whether it is a bullet, a heading."""
    heading = _HEADING.match(raw)
    bullet = None if heading else _BULLET.match(raw)
    mark = heading or bullet
    text = _MARKUP.sub("", raw[mark.end() :] if mark else raw)
    return " ".join(text.split()), bullet is not None, heading is not None


def _pieces(text: str, longest: int) -> Iterator[str]:
    if len(text) <= longest:
        yield text
        return
    for sentence in sentences_of(text):
        yield sentence if len(sentence) <= MOST_CHARACTERS else sentence[: MOST_CHARACTERS - 4] + " ..."


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a line; what follows a semicolon counts as one."""
    return _SENTENCE_END.split(text)
