"""The verdict that a reply holds: of all objects in it, the one that its judge gave as such, or why there is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmark.judges.fencing import plain
from ctxsift.answers.envelope import read_envelope
from ctxsift.answers.grounding import ground
from ctxsift.answers.marks import MODEL_TOKENS, MarkKind
from ctxsift.intents import Intent
from ctxsift.strict_json import containers, refuse_constant

# Far above any honest reply.
_MOST_CHARS = 50_000
_MOST_DEPTH = 40
_UNSEEN = "\ufeff\u200b"
# An object, or a list of objects; braces of prose (`{x}`, `{}`) begin none.
_BEGIN = re.compile(r"(?:\[\s*+)?\{(?=\s*+(?:[\"'“‘]|[\w$]++\s*+:|//|/\*))")
# What may stand above a verdict, and below it: no words but those of a fence.
_ABOVE, _BELOW = re.compile(r"\W*+(?:(?<=[`~])\w++)?\W*+"), re.compile(r"\W*+")
# Of bounded length: what is searched may hold nothing but the beginnings of comments.
_SKIPPED = r"\s++|//[^\n]{0,300}+(?=\n|\Z)"
_TOKEN = re.compile(
    rf"""(?P<skipped>{_SKIPPED} | ,(?=(?:{_SKIPPED})*+[\]}}]))
    | (?P<string> "(?:[^"\\]|\\.)*+(?:"|\\?\Z) | '(?:[^'\\]|\\.)*+(?:'|\\?\Z))
    | (?P<name> [A-Za-z_$][\w$]*+(?=\s*+:))
    | (?P<opens> [{{\[]) | (?P<closes> [\]}}])
    | (?P<other> [:,] | -?[0-9][0-9.eE+-]*+ | (?:true|false|null|True|False|None|none|NaN|-?Infinity)\b)""",
    re.DOTALL | re.VERBOSE,
)
_CLOSES = {"{": "}", "[": "]"}
# In small letters as well: what was shown is compared in them.
_OF_PYTHON = {"True": "true", "False": "false", "None": "null", "none": "null"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[\"\\/bfnrt])|\\(.?)|\"", re.DOTALL)
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}(?:\.0*)?")

_Verdict = TypeVar("_Verdict")


@dataclass(frozen=True)
class NoVerdict:
    """Why a reply holds no verdict: words that follow "the reply is no verdict"."""

    reason: str


@dataclass(frozen=True)
class _Object:
    """What stands in a text as an object, or as a list of objects.

    Attributes:
        start, end: where.
        values: what it holds; none where it is malformed.
        certain: where the text ends before it does, what it holds without the string that it ends with; else None.

    """

    start: int
    end: int
    values: tuple[dict[str, Any], ...] = ()
    certain: dict[str, Any] | None = None


def verdict_in(
    reply: str, shown: Sequence[str], accepts: Callable[[dict[str, Any]], _Verdict | None]
) -> _Verdict | NoVerdict:
    """Return the verdict in a judge's reply, or why there is none.

    Thought is passed over, and so are objects that stand in what the judge was shown. Of the others, the first decides
    if the reply begins with it, else the last if the reply ends with it, else all, if they agree.

    Args:
        reply: what the judge said.
        shown: what it was told, the judged texts among it.
        accepts: returns what an object says, None where it is no verdict. Its keys are in small letters.

    """
    text = _without_thought(reply)
    if text is None:
        return NoVerdict("nothing follows its thought")
    found = list(_objects(text, shown))
    if not found:
        return NoVerdict("it holds no object" if text.strip() else "it is empty")
    own = _own(found, shown)
    if not own:
        return NoVerdict("its objects are quoted from what was shown")
    first, last = own[0], own[-1]
    begins = _ABOVE.fullmatch(text, 0, first.start) is not None
    if begins:
        own = [first]
    elif _BELOW.fullmatch(text, last.end):
        own = [last]
    verdicts = [_read(each, accepts, may_be_cut=begins) for each in own]
    said = [each for each in verdicts if each is not None]
    if len(said) < len(verdicts):
        return NoVerdict("its object says none")
    return said[0] if all(each == said[0] for each in said) else NoVerdict("its objects disagree")


def whole_number(value: object) -> int | None:
    """Return the whole number that a value of JSON stands for (1, 1.0, "1", true), else None."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value.strip().partition(".")[0])
    return int(value) if isinstance(value, int) else None


def _without_thought(reply: str) -> str | None:
    """Return what a reply says outside thought and turns of others; None where thought is all there is."""
    text = reply.strip(f"{_UNSEEN} \t\r\n")[:_MOST_CHARS]
    # What was shown is no ground: a mark of thought that the reply quotes is taken for one, never one for a quotation.
    envelope = read_envelope(text, ground(""), intent=Intent.JSON)
    ends_in_thought = any(mark.kind is MarkKind.CLOSE and mark.end == len(text) for mark in MODEL_TOKENS.marks(text))
    if envelope.unterminated or ends_in_thought:
        return None
    return "".join(text[piece.start : piece.end] for piece in envelope.of("answer"))


def _objects(text: str, shown: Sequence[str]) -> Iterator[_Object]:
    """Yield the outermost objects; a malformed one ends the text, unless it is quoted: nobody knows where it ends."""
    position = 0
    while begun := _BEGIN.search(text, position):
        found = _object_at(text, begun.start())
        if isinstance(found, _Object):
            yield found
            position = found.end
        elif any(text[begun.start() : found + 1] in each for each in shown):
            position = begun.end()
        else:
            yield _Object(begun.start(), len(text))
            return


def _object_at(text: str, start: int, most_depth: int = _MOST_DEPTH) -> _Object | int:
    """Return the object that begins at `start`, or where it ceases to be one."""
    words: list[str] = []
    closing: list[str] = []
    position = start
    while token := _TOKEN.match(text, position):
        kind, word = token.lastgroup, token[0]
        if (kind == "opens" and len(closing) == most_depth) or (kind == "closes" and closing[-1] != word):
            return position
        position = token.end()
        if kind == "skipped":
            continue
        if kind == "opens":
            closing.append(_CLOSES[word])
        elif kind == "closes":
            closing.pop()
        words.append(_as_json(kind, word))
        if not closing:
            return _Object(start, position, _values(words))
    if position < len(text) or not words[-1].startswith(('"', "]", "}")):
        return position
    # A string may be cut where a container that is closed is not.
    sure = [*words[:-1], "null"] if words[-1].startswith('"') else words
    certain = _values([*sure, *reversed(closing)])
    return _Object(start, position, _values([*words, *reversed(closing)]), certain[0] if certain else {})


def _as_json(kind: str | None, word: str) -> str:
    if kind == "name":
        return f'"{word}"'
    if kind != "string":
        return _OF_PYTHON.get(word, word)
    inner = word[1:-1] if len(word) > 1 and word.endswith(word[0]) and _is_closed(word) else word[1:]
    return f'"{_ESCAPE.sub(_escaped, inner)}"'


def _is_closed(word: str) -> bool:
    return (len(word) - 1 - len(word[:-1].rstrip("\\"))) % 2 == 0


def _escaped(found: re.Match[str]) -> str:
    """Return an escape as JSON has it; one that JSON does not know stands for its letters."""
    if found[1]:
        return found[0]
    if found[2] is None:
        return '\\"'
    return found[2] if found[2] == "'" else f"\\\\{found[2]}"


def _values(words: Sequence[str]) -> tuple[dict[str, Any], ...]:
    try:
        value = json.loads(" ".join(words), strict=False, object_pairs_hook=_unique, parse_constant=refuse_constant)
    except ValueError:
        return ()
    values = value if isinstance(value, list) else [value]
    return tuple(values) if all(isinstance(each, dict) for each in values) else ()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if made.setdefault(key.lower(), value) != value:
            raise ValueError(f"{key!r} has two values")
    return made


def _own(found: Sequence[_Object], shown: Sequence[str]) -> list[_Object]:
    """Return the objects that stand in nothing that the judge was shown."""
    levels = (inner.level for each in found for value in each.values for inner in containers(value))
    # An equal object is as deep; an empty container within has no level.
    known = list(_shown_objects(shown, max(levels, default=0) + 2))
    return [
        each for each in found if not each.values or not all(_is_among(value, each, known) for value in each.values)
    ]


def _is_among(value: dict[str, Any], found: _Object, known: Sequence[Any]) -> bool:
    as_read = _comparable(value)
    if found.certain is None:
        return as_read in known
    # It may be the beginning of one.
    begun = json.dumps(as_read).rstrip("]}").removesuffix('"')
    return any(json.dumps(each).startswith(begun) for each in known)


def _shown_objects(shown: Sequence[str], most_depth: int) -> Iterator[Any]:
    """Yield every object in texts, those in others, in strings and in comments too, as they are compared."""
    for text in dict.fromkeys(version for each in shown for version in (plain(each), plain(each.replace("\\", "")))):
        for begun in _BEGIN.finditer(text):
            found = _object_at(text, text.index("{", begun.start()), most_depth)
            yield from map(_comparable, found.values if isinstance(found, _Object) else ())


def _comparable(value: Any) -> Any:
    """Return a value so that what reads the same is equal."""
    if isinstance(value, dict):
        return {plain(key): _comparable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_comparable(inner) for inner in value]
    number = whole_number(value)
    if number is not None:
        return number
    return "".join(plain(value.replace("\\", "")).split()) if isinstance(value, str) else value


def _read(found: _Object, accepts: Callable[[dict[str, Any]], _Verdict | None], *, may_be_cut: bool) -> _Verdict | None:
    """Return what an object says; nothing of what it says may hang on a string that was cut."""
    if len(found.values) != 1:
        return None
    if found.certain is not None and (not may_be_cut or accepts(found.certain) is None):
        return None
    return accepts(found.values[0])
