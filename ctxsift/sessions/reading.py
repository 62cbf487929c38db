"""Sessions read from files: recognised, imported, redacted; as a stream of events, or whole."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from ctxsift.errors import InputError
from ctxsift.files import reading
from ctxsift.sessions import lines
from ctxsift.sessions.importers.atif import Atif
from ctxsift.sessions.importers.base import Aside, Event, Importer, Skipped, TakenBack
from ctxsift.sessions.importers.claude_code import ClaudeCode
from ctxsift.sessions.importers.codex import Codex
from ctxsift.sessions.importers.messages import Messages
from ctxsift.sessions.importers.pi import Pi
from ctxsift.sessions.importers.swe_agent import MiniSweAgent, SweAgent
from ctxsift.sessions.importers.values import mapping, sequence, text
from ctxsift.sessions.records import Compaction, JsonValue, Session, SessionHead, Step
from ctxsift.sessions.redacting import Redactor

# The first that recognises a file reads it; messages are what many formats are made of, so they come last.
IMPORTERS: tuple[type[Importer], ...] = (Atif, SweAgent, MiniSweAgent, Pi, ClaudeCode, Codex, Messages)
# By so many values a file is recognised, or by fewer that are large.
_FIRST, _FIRST_BYTES = 50, 4_000_000
_MOST_SUBAGENTS = 500
_MOST_KINDS = 200
_READ_HINT = "ctxsift reads sessions of Claude Code, Codex, Pi, SWE-agent, ATIF and lists of messages"
_DATABASE = b"SQLite format 3\x00"


@contextlib.contextmanager
def open_session(path: Path, *, beside: Importer | None = None) -> Iterator[Iterator[Event]]:
    """Open a session as a stream of events: its own, then those of the files of its subagents.

    Args:
        path: of its file.
        beside: what has read the session that this one belongs to; what that has read is not read again.

    Raises:
        InputError: on entering, the file cannot be read or holds no session that is known; while the events are read,
            also when it cannot be read any further.

    """
    with reading(path, _READ_HINT) as raw:
        if raw.read(len(_DATABASE)) == _DATABASE:
            raise InputError(
                str(path), "is a SQLite database (Cursor stores its sessions in one), which ctxsift cannot read", ""
            )
        raw.seek(0)
        file = lines.unpacked(raw, str(path))
        first, rest = _begun(path, file)
        importer = _recognised(first)
        no_document = ""
        if importer is None or isinstance(first[0], Skipped):
            # A document whose lines are no values of their own; or lines of which the first is damaged.
            try:
                first, rest = [lines.document(file)], iter(())
                importer = _recognised(first)
            except ValueError as error:
                no_document = str(error)
                first, rest = _begun(path, file)
        if importer is None:
            raise InputError(str(path), _not_read(first, no_document), _READ_HINT)
        if beside is not None:
            importer.seen = beside.seen
        importer.begin([value for value in first if not isinstance(value, Skipped)])
        yield chain(importer.events(chain(first, rest)), _subagents(path, importer))


def _begun(path: Path, file: BinaryIO) -> tuple[Sequence[JsonValue | Skipped], Iterator[JsonValue | Skipped]]:
    """Return the first values of a file, and the others."""
    values = lines.values_of(file)
    first: list[JsonValue | Skipped] = []
    for value in islice(values, _FIRST):
        first.append(value)
        if file.tell() > _FIRST_BYTES:
            break
    if not first:
        raise InputError(str(path), "is empty", _READ_HINT)
    return first, values


def _recognised(first: Sequence[JsonValue | Skipped]) -> Importer | None:
    values = [value for value in first if not isinstance(value, Skipped)]
    if not values or _foreign(values):
        return None
    return next((importer() for importer in IMPORTERS if importer.recognises(values)), None)


def _foreign(values: Sequence[JsonValue]) -> str:
    """Return the agent whose sessions are known but not read, or nothing."""
    for value in values[:5]:
        fields = mapping(value)
        if "projectHash" in fields and "sessionId" in fields:
            return "Gemini CLI"
        ids = (mapping(fields.get("info")).get("id"), fields.get("sessionID"), fields.get("id"))
        if any(text(each).startswith("ses_") for each in ids):
            return "OpenCode"
        if "type" not in fields and "role" in fields and "content" in mapping(fields.get("message")):
            return "Cursor"
        if any("bubbleId" in mapping(each) for each in sequence(fields.get("conversation"))):
            return "Cursor"
    return ""


def _not_read(first: Sequence[JsonValue | Skipped], no_document: str) -> str:
    values = [value for value in first if not isinstance(value, Skipped)]
    if foreign := _foreign(values):
        return f"is a session of {foreign}, which is not read yet"
    return "is not in a known session format" if values else f"is not valid JSON ({no_document})"


def subagent_files(path: Path) -> list[Path]:
    """Return the files beside a session that may hold steps of its subagents, and are read with it."""
    # Older versions put those of all sessions of a folder together.
    shared = [*sorted((path.parent / "subagents").glob("agent-*.jsonl")), *sorted(path.parent.glob("agent-*.jsonl"))]
    return (_own_subagents(path) + shared)[:_MOST_SUBAGENTS]


def _own_subagents(path: Path) -> list[Path]:
    return sorted((path.parent / path.name.partition(".")[0] / "subagents").glob("agent-*.jsonl"))


def _subagents(path: Path, importer: Importer) -> Iterator[Event]:
    """Yield what agents did whose steps stand in files beside a session of Claude Code."""
    if not isinstance(importer, ClaudeCode) or path.name.startswith("agent-"):
        return
    session_id = importer.head.session_id
    own = _own_subagents(path)
    for each in subagent_files(path):
        name = each.name.removesuffix(".jsonl")
        try:
            with open_session(each, beside=importer) as events:
                head = SessionHead("")
                for event in events:
                    if isinstance(event, SessionHead):
                        head = event
                    elif each not in own and head.session_id != session_id:
                        break
                    elif isinstance(event, Step):
                        yield Aside(event, name)
                    elif isinstance(event, Skipped):
                        yield event
        except InputError:
            yield Skipped("file of a subagent that cannot be read")


class Tally:
    """How many of each kind; beyond _MOST_KINDS, of other kinds together."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, kind: str) -> None:
        """Count one."""
        known = kind in self.counts or len(self.counts) < _MOST_KINDS
        self.counts[kind if known else "other kinds"] += 1


def session_of(events: Iterable[Event], *, redacted: Counter[str] | None = None) -> Session:
    """Return a session made of its events."""
    head = SessionHead("")
    steps: list[Step] = []
    asides: dict[str, list[Step]] = {}
    compactions: list[Compaction] = []
    skipped = Tally()
    taken_back: set[int] = set()
    for event in events:
        if isinstance(event, Step):
            steps.append(event)
        elif isinstance(event, TakenBack):
            taken_back.update(event.steps)
        elif isinstance(event, Aside):
            asides.setdefault(event.subagent, []).append(event.step)
        elif isinstance(event, Compaction):
            compactions.append(event)
        elif isinstance(event, Skipped):
            skipped.add(event.kind)
        else:
            head = event
    demonstration = tuple(asides.pop("", ()))
    subagents = (Session(SessionHead(head.format, session_id=name), tuple(own)) for name, own in sorted(asides.items()))
    return Session(
        head,
        tuple(dataclasses.replace(step, taken_back=True) if step.step_id in taken_back else step for step in steps),
        tuple(compactions),
        demonstration,
        dict(skipped.counts),
        dict(redacted or {}),
        tuple(subagents),
    )


def read_session(path: Path, *, keep_secrets: bool = False) -> Session:
    """Return the session in a file, without secrets unless they are to be kept. Raises InputError."""
    redactor = Redactor()
    with open_session(path) as events:
        return session_of(events if keep_secrets else redactor.events(events), redacted=redactor.counts)
