"""What a model says is checked before it counts as a summary."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ctxsift.answers.validation import VISIBLE_THOUGHT
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation, Limits, checked, kept
from ctxsift.compression import Compression, Failure, compression
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from ctxsift.sessions.compaction.transcript import tokens_in

# A step of recovery.
_THOUGHT = "thought_prose"
_FAILED = {
    Failure.TOKEN_LIMIT: "it was cut off at the token limit",
    Failure.LOOP: "it repeated itself without end",
    Failure.CONTENT_FILTER: "the service's filter cut it off",
    Failure.CUT_OFF: "its model did not end it itself",
    Failure.EMPTY_ANSWER: "it was empty",
    Failure.TRUNCATED_REASONING: "it was still thinking at the token limit",
}


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer after recovery, and what is wrong with it: in words that complete "an earlier answer ...", or empty."""

    text: str
    defect: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is held to.

    Attributes:
        source: what it is to summarise.
        stands_for: tokens of all that the summary is to stand for; `source` may be a piece of it.
        task: what was asked; lines of it are no answer.
        most: tokens that it may have.
        sections: headings that it must have, with at least one point in all.
        is_list: it is points, one a line: where it was cut off, those before are an answer.

    """

    source: str
    stands_for: int
    task: str
    most: int
    sections: Sequence[str] = ()
    is_list: bool = False


def check(generation: Generation, limits: Limits, wanted: Wanted) -> CheckedAnswer:
    """Return a model's answer, asked with `limits`, as a summary. Raises InstrumentError: it is damaged."""
    if generation.finish_reason == "loop" or (wanted.is_list and generation.finish_reason == "length"):
        generation = dataclasses.replace(generation, text=_told_once(generation.text), finish_reason="stop")
    request = Request(wanted.source, "Write the notes.", Intent.SUMMARY)
    made = compression(request, Answer(kept(checked(generation), limits), 0))
    text, verdict = _with_first_section(made, wanted.sections), made.recovered.validation
    if made.failure is not None:
        return CheckedAnswer(text, _FAILED[made.failure])
    if verdict.reasons:
        return CheckedAnswer(text, f"it was rejected ({', '.join(verdict.reasons)})")
    if VISIBLE_THOUGHT in verdict.flags and not _begins_with_heading(text, wanted.sections):
        return CheckedAnswer(text, "it thought aloud")
    return CheckedAnswer(text, _defect(text, wanted))


def _told_once(text: str) -> str:
    """Return an answer that was broken off without its last line, and without lines that it had before."""
    return "\n".join(dict.fromkeys(text.splitlines()[:-1]))


def _with_first_section(made: Compression, sections: Sequence[str]) -> str:
    """Return an answer with what stood below a heading that was asked for: "The user wants ..." is no thought there."""
    removed = next((step.removed for step in made.recovery.steps if step.name == _THOUGHT), "")
    headings = (_heading(section).search(removed) for section in sections)
    begins = min((found.start() for found in headings if found), default=len(removed))
    return "\n\n".join(filter(None, (removed[begins:].strip(), made.recovered.text.strip())))


def _begins_with_heading(text: str, sections: Sequence[str]) -> bool:
    first = text.partition("\n")[0]
    return any(_heading(section).fullmatch(first) for section in sections)


def _heading(section: str) -> re.Pattern[str]:
    return re.compile(rf"(?mi)^\W*{re.escape(section)}\W*$")


def _defect(text: str, wanted: Wanted) -> str:
    size = tokens_in(text)
    if size >= wanted.stands_for:
        return "it was longer than what it is to stand for"
    if missing := [section for section in wanted.sections if not _heading(section).search(text)]:
        return f"it had no heading {', '.join(f'## {section}' for section in missing)}"
    headings = {_bare(section) for section in wanted.sections}
    points = {_bare(line) for line in text.splitlines()} - headings - {"", "none"}
    if points & ({_bare(line) for line in wanted.task.splitlines()} - headings):
        return "it repeated the question"
    if not points:
        return "it had no point under any heading"
    return f"it had {size:,} tokens, {wanted.most:,} are allowed" if size > wanted.most else ""


def _bare(line: str) -> str:
    return " ".join(re.findall(r"\w+", line.casefold()))
