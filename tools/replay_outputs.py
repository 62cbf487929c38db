"""Passes the shell outputs of recorded sessions through the rules of `ctxsift run`: what is saved, what is missed.

    python -m tools.replay_outputs              # the sessions that come with the benchmark, as a table
    python -m tools.replay_outputs --hook       # only outputs of commands that `ctxsift hook` would shorten
    python -m tools.replay_outputs --list       # each fact that a later step needs, below the table

A line that was cut is needed later if it holds a fact (a path, an identifier, a number) that the agent uses afterwards
in a message or in the arguments of a call, or if it tells of a failure and the agent quotes it whole; and if nothing
that the agent had seen until then holds the same: no message, no call, no other output, no line that was shown. The
agent would have had to read the stored output again, once for each output with such a line.

What the agent would have done without those lines is not known: it knew them, and did not say all that it used.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmark.sessions.loader import DEFAULT_SESSIONS, RecordedSession, recorded_sessions
from ctxsift.cli.hook_commands import may_be_shortened
from ctxsift.cli.parser import DEFAULT_MAX_BYTES, DEFAULT_MIN_BYTES, DEFAULT_QUESTION
from ctxsift.extract import shows_failure
from ctxsift.sessions.compaction.weights import names_in
from ctxsift.sessions.records import JsonValue, Source, Step, ToolCall, ToolResult
from ctxsift.shortening import reads_kept, shortened

_SHELL = "bash"
_STATE = "XDG_STATE_HOME"
# Shorter ones are said without having been read.
_SHORTEST_QUOTE = 20


@dataclass(frozen=True, slots=True)
class Missed:
    """A fact of a line that was cut, and the steps that print it and need it.

    Attributes:
        step: printed it.
        output: number of the output within the session, from 0; a step may have several.
        needed_at: the first later step that uses it.

    """

    step: int
    output: int
    needed_at: int
    text: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of the shell outputs of a session; sizes in bytes.

    Attributes:
        outputs: results of its shell that are not empty.
        shortened: of those, how many were.
        before, after: size of all of them, as recorded and as they would have been shown.
        missed: each fact once.

    """

    name: str
    outputs: int
    shortened: int
    before: int
    after: int
    missed: tuple[Missed, ...]

    @property
    def saved(self) -> float:
        """Which share of the bytes is not shown, 0 to 1."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def read_again(self) -> int:
        """How many outputs would have been read again."""
        return len({each.output for each in self.missed})


@dataclass(slots=True)
class _Seen:
    """What the agent has seen so far, and what it would have seen but for the rules."""

    names: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    facts: dict[str, tuple[int, int]] = field(default_factory=dict)
    errors: dict[str, tuple[int, int]] = field(default_factory=dict)

    def see(self, text: str) -> None:
        self.names.update(_names(text))
        self.texts.append(text)

    def lose(self, lines: Sequence[str], at: tuple[int, int]) -> None:
        for line in lines:
            for name in _names(line):
                self.facts.setdefault(name, at)
            if len(line.strip()) >= _SHORTEST_QUOTE and shows_failure(line):
                self.errors.setdefault(line.strip(), at)

    def missing(self, said: str) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield what a text uses that was seen in lines alone that were cut."""
        for name in _names(said):
            if name in self.facts and name not in self.names and not self._stands(name):
                yield name, self.facts.pop(name)
        for line in [each for each in self.errors if each in said]:
            at = self.errors.pop(line)
            if not self._stands(line):
                yield line, at

    def _stands(self, text: str) -> bool:
        # A name may stand within a longer one.
        return any(text in each for each in self.texts)


def replayed(name: str, steps: Sequence[Step], *, as_hook: bool = False) -> Replayed:
    """Return what the rules make of the shell outputs of some steps; what is shortened is written to the store.

    Args:
        name: of the session.
        steps: in their order.
        as_hook: shorten only outputs of commands that print for the record, as `ctxsift hook` does.

    Raises:
        OSError: the store cannot be written to.

    """
    seen, missed = _Seen(), list[Missed]()
    outputs = cut = before = after = 0
    for step in steps:
        said = "\n".join((step.message, *(text for call in step.calls for text in _strings(call.arguments))))
        if step.source is Source.AGENT:
            missed += [Missed(*at, step.step_id, text) for text, at in seen.missing(said)]
        seen.see(said)
        calls = {call.call_id: call for call in step.calls}
        for result in step.results:
            call = calls.get(result.call_id)
            if call is None or call.name != _SHELL or not result.text:
                seen.see(result.text)
                continue
            short = _short(call, result, as_hook=as_hook)
            before += len(result.text.encode())
            after += len((result.text if short is None else short).encode())
            seen.see(result.text if short is None else short)
            if short is not None:
                shown = set(short.split("\n"))
                seen.lose([line for line in result.text.split("\n") if line not in shown], (step.step_id, outputs))
                cut += 1
            outputs += 1
    return Replayed(name, outputs, cut, before, after, tuple(missed))


def _short(call: ToolCall, result: ToolResult, *, as_hook: bool) -> str | None:
    command, data = str(call.arguments.get("command", "")), result.text.encode()
    if len(data) < DEFAULT_MIN_BYTES or reads_kept(command) or (as_hook and not may_be_shortened(command)):
        return None
    return shortened(data, DEFAULT_QUESTION, result.exit_code, DEFAULT_MAX_BYTES)


def _names(text: str) -> tuple[str, ...]:
    # What stands between backticks would be one name.
    return names_in(text.replace("`", " "))


def _strings(value: JsonValue | Mapping[str, JsonValue]) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)


@contextmanager
def _store_of_its_own() -> Iterator[None]:
    """Keep what is shortened meanwhile in a folder that is deleted afterwards."""
    kept = os.environ.get(_STATE)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[_STATE] = folder
        try:
            yield
        finally:
            os.environ.pop(_STATE)
            if kept is not None:
                os.environ[_STATE] = kept


def table(rows: Sequence[Replayed]) -> str:
    """Return the figures of sessions and of all together, as a table in Markdown."""
    head = [
        "| session | outputs | shortened | bytes | shown | saved | read again |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    outputs, short = sum(row.outputs for row in rows), sum(row.shortened for row in rows)
    before, after = sum(row.before for row in rows), sum(row.after for row in rows)
    total = _row(Replayed("all", outputs, short, before, after, ()), sum(row.read_again for row in rows))
    return "\n".join((*head, *(_row(row, row.read_again) for row in rows), total))


def _row(row: Replayed, again: int) -> str:
    return (
        f"| {row.name} | {row.outputs} | {row.shortened} | {row.before:,} | {row.after:,} | {row.saved:.0%} | {again} |"
    )


def _replay(sessions: Sequence[RecordedSession], *, as_hook: bool) -> list[Replayed]:
    with _store_of_its_own():
        return [replayed(each.name, each.session().steps, as_hook=as_hook) for each in sessions]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table. Raises InputError where a session is not as it was recorded; OSError."""
    parser = argparse.ArgumentParser(prog="python -m tools.replay_outputs", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_SESSIONS, help="holds recorded sessions")
    parser.add_argument("--hook", action="store_true", help="shorten only what `ctxsift hook` would")
    parser.add_argument("--list", action="store_true", help="list what a later step needs of lines that were cut")
    options = parser.parse_args(arguments)
    rows = _replay(list(recorded_sessions(options.folder)), as_hook=options.hook)
    print(table(rows))
    if options.list:
        for row in rows:
            for each in row.missed:
                print(f"{row.name}: step {each.step}, needed at step {each.needed_at}: {each.text[:120]}")


if __name__ == "__main__":
    main()
