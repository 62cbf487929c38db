"""Where in an answer the payload may stand: what parses, and the lines and values that the input holds."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ctxsift.answers.grounding import Ground, content_words, fold
from ctxsift.answers.meta_language import ANSWER_LABEL
from ctxsift.answers.payloads import MAX_CHARS, parse_payload
from ctxsift.intents import Intent
from ctxsift.prompts import Request

_FENCE = re.compile(r"^[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)$", re.MULTILINE)
_BOXED = re.compile(r"\\boxed\{(?:\\text\{)?([^{}\n]{1,500})\}")
# A key may be a test's id, such as tests/test_app.py::test_reads[utf-8], or a name with its module in front.
_KEY_WORD = r"[\w\"'./@-](?:[\w\"'./@\[\]-]|:(?=\S))*"
_YAML_LINE = re.compile(rf"[ \t]*(?:- |-$|{_KEY_WORD}(?: {_KEY_WORD}){{0,3}}:(?:\s|$)|#|[ \t]+\S)")
# At the beginning of a line, or behind words that announce it.
_BRACKET = re.compile(r"(?:^[ \t>]*|[:=`.!?][ \t]*|\b(?:is|are|JSON)[ \t]+)(?P<bracket>[{\[])", re.MULTILINE)
_BRACKET_ABOVE_ALL = re.compile(r"^[{\[]", re.MULTILINE)
_ANY_BRACKET = re.compile(r'[{}\[\]]|"(?:[^"\\\n]|\\.)*+"')
_ANNOUNCEMENT = re.compile(r"^([^\n]*:)[ \t\r]*\n[ \t\r]*\n", re.MULTILINE)
_EMPHASIS = re.compile(r"\A(\*\*|__|`|\"|')(.+)\1\Z")
# What looks like an item of a payload, whether it parses or not.
ITEM = {
    Intent.JSON: re.compile(r"[ \t]*[{\[][ \t]*(?:[\"\d{\[]|$)"),
    Intent.YAML: re.compile(r"[ \t]*(?:- )?\S(?:[^\n:]|:(?=\S)){0,60}:[ \t]+\S+(?:[ \t]+\S+){0,4}[ \t]*$"),
    Intent.TABLE: re.compile(r"[^\n|]*\|"),
    Intent.BULLET_LIST: re.compile(r"[ \t]*(?:\d{1,2}[.)]|[-+*•–—])[ \t]+\S"),
}
# Far more than honest answers have; hostile ones have one in every character.
_MOST_STARTS = 200
SHORTEST_LINE = 12
# A value of more words is a sentence, unless the input has it.
_MOST_WORDS = 6


class Candidate(NamedTuple):
    """text[start:end] may be the payload; it stands in a fence, in a box or behind a label where `marked`."""

    start: int
    end: int
    marked: bool = False


def candidates(text: str, request: Request, quotable: Ground) -> list[Candidate]:
    """Return what in `text` fulfils the contract of a request, in order, none within another.

    For the plain intents there is nothing that could be told from other prose.
    """
    if len(text) > MAX_CHARS:
        return []
    find = _FINDERS.get(request.intent)
    if find is None:
        return []
    marked = [Candidate(*_trimmed(text, *span), marked=True) for span in _fenced(text)]
    found = [each for each in marked if fulfils(text[each.start : each.end], request, quotable)]
    if request.intent is Intent.EXACT_FORMAT:
        found += _values(text, quotable)
    # A line of its own is a weak sign of a value, beside a label or a box.
    if request.intent is not Intent.EXACT_FORMAT or not found:
        found += [Candidate(*_trimmed(text, *span)) for span in find(text, request, quotable)]
    outer: list[Candidate] = []
    for each in sorted(set(found), key=lambda c: (c.start, -c.end, not c.marked)):
        if each.end > each.start and (not outer or each.start >= outer[-1].end):
            outer.append(each)
    return outer


def fulfils(text: str, request: Request, quotable: Ground) -> bool:
    """Say whether a text is a payload of the contract and nothing else. Plain text is whatever it says."""
    if not text.strip():
        return False
    if request.intent is Intent.EXACT_LINES:
        exact = _exact_lines(request)
        return all(line.strip() in exact for line in text.splitlines() if line.strip())
    if request.intent is Intent.EXACT_FORMAT:
        boxed = _BOXED.search(text) is not None and text not in quotable
        return not boxed and "\n" not in text.strip() and (text.strip() in quotable or len(text.split()) <= _MOST_WORDS)
    return request.intent not in _FINDERS or parse_payload(request.intent, text) is not None


def covers(later: str, earlier: str, request: Request) -> bool:
    """Say whether a candidate holds everything that an earlier one does."""
    return _parts(earlier, request) <= _parts(later, request)


def _parts(text: str, request: Request) -> frozenset[str]:
    value = parse_payload(request.intent, text)
    if value is None:
        return frozenset(fold(line) for line in text.splitlines() if line.strip())
    return frozenset(_leaves(value))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key).casefold()
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield fold(str(value))


def is_grounded(value: str, quotable: Ground) -> bool:
    """Say whether the input holds a value, or all the words that it is composed of; numbers may be counts."""
    return value in quotable or not {w for w in content_words(value) if not w.isdecimal()} - quotable.words


def input_lines(text: str, quotable: Ground, shortest: int = SHORTEST_LINE) -> set[str]:
    """Return the lines of a text that are lines of the input, whatever bullet or quotes stand around them."""
    folded = (fold(line.strip(" \t-*•>`\"'")) for line in text.splitlines())
    return {line for line in folded if len(line) >= shortest and line in quotable.lines}


def rows(text: str) -> set[str]:
    """Return the lines of a text that look like rows of a table."""
    return {fold(line) for line in text.splitlines() if line.count("|") > 1}


def _exact_lines(request: Request) -> frozenset[str]:
    return frozenset(line.strip() for line in request.raw_input.split("\n"))


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Yield what stands between a fence and the next one that is the same and closes it; in one pass over the text."""
    fences = list(_FENCE.finditer(text))
    closers: dict[str, list[int]] = {}
    for number, fence in enumerate(fences):
        if not fence["info"].strip():
            closers.setdefault(fence["fence"], []).append(number)
    number = 0
    while number < len(fences):
        closing = closers.get(fences[number]["fence"], [])
        at = bisect_right(closing, number)
        if at < len(closing):
            yield fences[number].end() + 1, fences[closing[at]].start()
            number = closing[at]
        number += 1


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out blank lines above and blanks below; the first line keeps its indentation."""
    piece = text[start:end]
    head = re.match(r"(?:[ \t\r]*\n)*", piece)
    return start + (head.end() if head else 0), start + len(piece.rstrip())


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    position = 0
    for line in text.splitlines(keepends=True):
        yield position, position + len(line), line.rstrip("\r\n")
        position += len(line)


def _runs(text: str, belongs: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield the stretches of lines that belong together; blank lines may stand between them."""
    start, end = None, 0
    for a, b, line in _lines(text):
        if line.strip() and belongs(line):
            start, end = (a if start is None else start), b
        elif line.strip() and start is not None:
            yield start, end
            start = None
    if start is not None:
        yield start, end


def _json(text: str, request: Request, quotable: Ground) -> Iterator[tuple[int, int]]:
    """Yield what decodes; nothing within what does not, and no brackets within a sentence."""
    del request, quotable
    decoder = json.JSONDecoder()
    position, starts = 0, 0
    unclosed: set[int] = set()
    while starts < _MOST_STARTS and (match := _BRACKET.search(text, position)):
        start = match.start("bracket")
        starts += 1
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = _end_of_brackets(text, start, unclosed)
            continue
        if parse_payload(Intent.JSON, text[start:end]) is not None:
            yield start, end
        position = end


def _end_of_brackets(text: str, start: int, unclosed: set[int]) -> int:
    """Return where brackets end that open at `start`; where they never do, the next line that opens some.

    `unclosed` are the brackets found to have no end, so that the text behind them is read once.
    """
    open_ones: list[int] = []
    for bracket in _ANY_BRACKET.finditer(text, start) if start not in unclosed else ():
        if bracket.group() in "{[":
            open_ones.append(bracket.start())
        elif bracket.group() in "}]":
            open_ones.pop()
            if not open_ones:
                return bracket.end()
    unclosed.update(open_ones)
    again = _BRACKET_ABOVE_ALL.search(text, start + 1)
    return again.start() if again else len(text)


def _tables(text: str, request: Request, quotable: Ground) -> Iterator[tuple[int, int]]:
    del request, quotable
    for start, end in _runs(text, lambda line: "|" in line):
        if parse_payload(Intent.TABLE, text[start:end]) is not None:
            yield start, end


def _bullets(text: str, request: Request, quotable: Ground) -> Iterator[tuple[int, int]]:
    del request, quotable
    for start, end in _runs(text, lambda line: line.startswith(("- ", "* ", "• ", "  "))):
        if parse_payload(Intent.BULLET_LIST, text[start:end]) is not None:
            yield start, end


def _yaml(text: str, request: Request, quotable: Ground) -> Iterator[tuple[int, int]]:
    del request, quotable
    # A key above a blank line announces what follows.
    announced = {m.group(1) for m in _ANNOUNCEMENT.finditer(text)}
    for start, end in _runs(text, lambda line: _YAML_LINE.match(line) is not None and line not in announced):
        if parse_payload(Intent.YAML, text[start:end]) is not None:
            yield start, end


def _verbatim(text: str, request: Request, quotable: Ground) -> Iterator[tuple[int, int]]:
    del quotable
    exact = _exact_lines(request)
    yield from _runs(text, lambda line: line.strip() in exact)


def _values(text: str, quotable: Ground) -> Iterator[Candidate]:
    """Yield values in a box, behind a label or in a line of their own."""
    for boxed in _BOXED.finditer(text):
        if is_grounded(boxed[1], quotable):
            yield Candidate(*boxed.span(1), marked=True)
    for start, _, line in _lines(text):
        label = ANSWER_LABEL.match(line)
        first = label.end() if label else 0
        value = line[first:].strip()
        if not value:
            continue
        at = start + line.index(value, first)
        inner = _EMPHASIS.match(value)
        if inner and inner.group(2) in quotable and value not in quotable:
            at, value = at + len(inner.group(1)), inner.group(2)
        if label and is_grounded(value, quotable):
            yield Candidate(at, at + len(value), marked=True)


def _own_lines(text: str, request: Request, quotable: Ground) -> Iterator[tuple[int, int]]:
    """Yield lines that are a value: without the end of a sentence, of few words or quoted."""
    for start, _, line in _lines(text):
        bare = line.strip()
        ends = bare.endswith((".", ":", "?", "!", "…", "```", "**")) or ANSWER_LABEL.match(line) is not None
        if not ends and re.search(r"\w", bare) and fulfils(line, request, quotable):
            at = start + line.index(bare)
            yield at, at + len(bare)


_FINDERS: dict[Intent, Callable[[str, Request, Ground], Iterator[tuple[int, int]]]] = {
    Intent.JSON: _json,
    Intent.YAML: _yaml,
    Intent.TABLE: _tables,
    Intent.BULLET_LIST: _bullets,
    Intent.EXACT_LINES: _verbatim,
    Intent.EXACT_FORMAT: _own_lines,
}
