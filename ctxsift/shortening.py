"""An output as lines picked by rule and a last line that says where all of it is; or nothing, and it is printed whole.

No model is asked. Whatever speaks against an extract (it saves little, it does not fit, it hides why a command failed,
the original cannot be kept) leaves the output as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctxsift import raw_store
from ctxsift.extract import MOST_CHARS, extract, shows_failure

_LEAST_SAVED_BYTES, _LEAST_SAVED_SHARE = 1500, 0.25
# What a command that failed said at its end is there whatever else is picked.
_LAST_LINES = 5
_LONGEST_ID = "0" * 64
_HEAD = "[ctxsift: "
# How lines of the log begin, after their time; a number of bytes follows.
SHORTENED, WHOLE = "shortened", "whole"
# A path into the store, or what has printed what it holds, or an extract.
_OF_OURS = re.compile(r"\bctxsift/raw\b|\bctxsift\S*\s+(?:raw|run|compress)\b|\b[0-9a-f]{12,64}\.log\b")


@dataclass(frozen=True)
class _Draft:
    """Lines that may be printed, and how many of the original's they are."""

    text: str
    shown: int

    def fits(self, room: int) -> bool:
        """Say whether it has so many bytes at most."""
        return _size(self.text) <= room


@dataclass(frozen=True)
class _Printed:
    """What is printed in place of an output, and the ID under which that is kept."""

    text: str
    identity: str

    @property
    def size(self) -> int:
        """In bytes."""
        return _size(self.text)


def reads_kept(command: str) -> bool:
    """Say whether a command prints an output that is kept, or was shortened already: that is never shortened."""
    return _OF_OURS.search(command) is not None


def shortened(data: bytes, question: str, exit_code: int | None, most_bytes: int) -> str | None:
    """Return what is printed in place of an output, which is on disk then; None where it is printed as it is.

    Args:
        data: the output.
        question: what is wanted from it.
        exit_code: of the command; None where it is not known, and no word is said about it.
        most_bytes: that lines and last line may have.

    Raises:
        OSError: the original cannot be kept, so nothing may stand in for it.

    """
    try:
        found = _shortened(data, question, exit_code, most_bytes)
    except OSError:
        raw_store.log(WHOLE, len(data), "cannot-be-kept")
        raise
    if isinstance(found, str):
        raw_store.log(WHOLE, len(data), found)
        return None
    raw_store.log(SHORTENED, len(data), found.size, found.identity)
    return found.text


def _shortened(data: bytes, question: str, exit_code: int | None, most_bytes: int) -> _Printed | str:
    """Return what is printed in place of an output, or, in a word, why it is printed as it is. Raises OSError."""
    text = _text(data)
    if text is None:
        return "no-text"
    if text.rstrip().rpartition("\n")[2].startswith(_HEAD):
        return "is-an-extract"
    total = text.count("\n") + (not text.endswith("\n"))
    room = min(most_bytes, len(data) - _LEAST_SAVED_BYTES, int(len(data) * (1 - _LEAST_SAVED_SHARE)))
    room -= _size(_last_line(total, total, exit_code, _LONGEST_ID)) + 2
    draft = _fitting(text, question, room, exit_code)
    if isinstance(draft, str):
        return draft
    identity = raw_store.keep(data)
    return _Printed(f"{draft.text}\n{_last_line(draft.shown, total, exit_code, identity)}", identity)


def _text(data: bytes) -> str | None:
    """Return an output as text; None where it is none."""
    try:
        return None if b"\x00" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _last_line(shown: int, total: int, exit_code: int | None, identity: str) -> str:
    code = "" if exit_code is None else f"exit {exit_code}, "
    path = str(raw_store.path_of(identity))
    # A path of odd bytes, or with a line break, could not be typed, and would be no text in what we answer.
    where = f"{path} or: " if path.isprintable() else ""
    return f"{_HEAD}{shown:,} of {total:,} lines, {code}extractor; all: {where}ctxsift raw {identity}]"


def _size(text: str) -> int:
    return len(text.encode(errors="surrogateescape"))


def _fitting(text: str, question: str, room: int, exit_code: int | None) -> _Draft | str:
    """Return the first draft that has room, if it hides a failure with more of the end; or why neither will do."""
    lines = text.rstrip("\n").split("\n")
    # What is not known to have succeeded may have failed.
    fitting = (each for each in _drafts(lines, question, room, 0 if exit_code == 0 else _LAST_LINES) if each.fits(room))
    draft = next(fitting, None)
    if draft is None:
        return "saves-too-little"
    if not (exit_code and _hides_failure(draft.text)):
        return draft
    # It failed without a word of failure: then lines unlike the others and the end of the output have to tell.
    last = _lines_within(lines, room * 3 // 8)
    draft = _draft(lines, question, room * 3 // 4, last)
    return draft if last >= _LAST_LINES and draft.fits(room) else "hides-the-failure"


def _hides_failure(text: str) -> bool:
    return not any(map(shows_failure, text.split("\n")))


def _drafts(lines: list[str], question: str, room: int, last: int) -> Iterator[_Draft]:
    for most_chars in (min(room * 3 // 4, max(MOST_CHARS, room // 2)), room // 2, room // 4, room // 8):
        yield _draft(lines, question, most_chars, last)


def _draft(lines: list[str], question: str, most_chars: int, last: int) -> _Draft:
    """Return an extract of all but the last lines, and these as they are."""
    at = max(0, len(lines) - last)
    tail = "\n".join(lines[at:])
    found = extract("\n".join(lines[:at]), question, most_chars=max(0, most_chars - len(tail)))
    return _Draft("\n".join(part for part in (found.text, tail) if part), found.shown + len(lines) - at)


def _lines_within(lines: list[str], most_bytes: int) -> int:
    """Return how many of the last lines have room in so many bytes."""
    size = 0
    for count, line in enumerate(reversed(lines)):
        size += _size(line) + 1
        if size > most_bytes:
            return count
    return len(lines)
