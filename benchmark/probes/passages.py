"""A compacted context as passages in which statements are looked for: short texts whose every line is a sentence."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmark.probes.model import sentence
from ctxsift.sessions.compaction.transcript import CALL_LINE, STEP_LINE

# In characters. What a statement may say across sentences stands in one passage.
_MOST_PASSAGE, _MOST_LINE = 1_500, 4_000
_ARROW = re.compile(r"\s{0,40}(?:[-=]{1,40}>|→|⇒|➜)\s*")
# Between objects of a list, and what stands around values, in JSON.
_OBJECTS, _MARKS = re.compile(r"\}\s*,\s*\{"), re.compile(r'(?<!\w)["{}\[\]]+|(?<!["{}\[\]])["{}\[\]]+(?!\w)')
# What stands around and between words where a program passes on what the user typed or answered.
_PASSED_ON = re.compile(r'</?[a-z]+(?:[-_][a-z]+)+>|(?<=\?")=(?=")')
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_BULLET = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+(.*)")
_HUNK, _NUMBER = re.compile(r"@@ -\d.*@@"), re.compile(r"\s{0,40}\d{1,9}\t")
# Of a heading that is told as a place.
_MOST_HEADING = 80


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a context.

    Attributes:
        text: a sentence a line.
        place: the step it is of, or the heading above it; empty where there is neither.
        lines: for each of its lines, the line of the context that it begins in, from 1.

    """

    text: str
    place: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _PassageLine:
    """A line of a passage.

    Attributes:
        text: as a sentence; empty where a passage only begins.
        number: in the context, from 1.
        begins: the place of the passage that begins here; None where none does.

    """

    text: str
    number: int
    begins: str | None = None


def passages_of(text: str) -> tuple[str, ...]:
    """Return the texts of the passages of a context; see `read_context`."""
    return tuple(passage.text for passage in read_context(text))


@functools.lru_cache(maxsize=8)
def read_context(text: str) -> tuple[Passage, ...]:
    """Return the passages of a context.

    A heading, or a line that ends in a colon, is joined into the list below it, a tool into the line of its arguments
    below; arrows become words, JSON becomes prose; each line ends as a sentence; what a diff removes is left out. A
    passage begins at a step or a heading.
    """
    found: list[tuple[str, list[_PassageLine]]] = [("", [])]
    size = 0
    for line in _lines(text):
        if line.begins is not None or size + len(line.text) > _MOST_PASSAGE:
            found.append((found[-1][0] if line.begins is None else line.begins, []))
            size = 0
        if line.text:
            found[-1][1].append(line)
            size += len(line.text)
    return tuple(
        Passage("\n".join(line.text for line in lines), place, tuple(line.number for line in lines))
        for place, lines in found
        if lines
    )


def _lines(text: str) -> Iterator[_PassageLine]:
    """Yield lines as sentences, and where passages begin."""
    lead = step = ""
    for number, raw in _without_removed(text.split("\n")):
        line = raw.strip()
        if not line:
            continue
        if begun := STEP_LINE.fullmatch(line):
            lead, step = "", begun[1]
            yield _PassageLine("", number, step)
        elif heading := _HEADING.fullmatch(line):
            lead = heading[1].rstrip(":")
            # What looks like a heading in a step may be a comment in code.
            yield _PassageLine(sentence(lead), number, step or lead[:_MOST_HEADING])
        elif call := CALL_LINE.fullmatch(line):
            lead = call[1]
        else:
            bullet = _BULLET.fullmatch(line)
            content = bullet[1] if bullet else line
            # A line with a colon of its own says what it is about.
            joined = f"{lead}: {content}" if lead and bullet and ":" not in content else content
            if lead and not bullet:
                # The arguments of a call, or the end of a list.
                joined, lead = (f"{lead} {content}" if call_argument(content) else content), ""
            if content.endswith(":"):
                lead = content.rstrip(":")
            for piece in _pieces(_ARROW.sub(" to ", _PASSED_ON.sub(" ", _without_json(joined)))):
                yield _PassageLine(sentence(piece), number)


def _without_removed(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their numbers, without those that a diff removes: they were so, and are no more."""
    in_hunk = False
    for number, raw in enumerate(lines, 1):
        # Some tools number the lines of what they print.
        body = _NUMBER.sub("", raw)
        if _HUNK.match(body):
            in_hunk = True
            continue
        in_hunk = in_hunk and body[:1] in (" ", "+", "-", "\\")
        if not in_hunk:
            yield number, raw
        elif body[:1] not in ("-", "\\"):
            yield number, body[1:]


def call_argument(line: str) -> bool:
    """Return True if a line gives a path to a call."""
    return line.startswith(("path:", "file_path:"))


def _without_json(line: str) -> str:
    """Return a line with its JSON as prose: what is quoted stands by itself, each object is a sentence."""
    if '":' not in line:
        return line
    line = _OBJECTS.sub(". ", line).replace("\\n", ". ").replace('":', ": ")
    return " ".join(_MARKS.sub(" ", line).split())


def _pieces(line: str) -> Iterator[str]:
    while len(line) > _MOST_LINE:
        at = line.rfind(" ", 1, _MOST_LINE) if " " in line[1:_MOST_LINE] else _MOST_LINE
        yield line[:at]
        line = line[at:]
    yield line
