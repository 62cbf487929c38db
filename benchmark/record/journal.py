"""The lines of a journal: what was asked for, what was loaded, and every attempt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, get_args

from benchmark.matrix import Scenario
from benchmark.record.base import Count, Flat, Record, from_json
from ctxsift.backends.base import Generation, LoadInfo
from ctxsift.errors import InputError
from ctxsift.files import read_bytes

JOURNAL_VERSION = 2
_HINT = "move it away and run again"


class Line(Record, tag_field="type", frozen=True, kw_only=True):
    """What every line has.

    Attributes:
        at_s: seconds since this part of the journal was opened.

    """

    at_s: float = 0.0


class Owner(Record, frozen=True, kw_only=True):
    """The process that writes."""

    pid: int
    host: str
    began: str


class RunIdentity(Record, frozen=True, kw_only=True):
    """What makes a run this run; the first line of its journal.

    Attributes:
        timestamp: UTC, e.g. 20260518T065257Z.
        scenario: the row of the matrix.
        forgive_latency: leave latency out of the score where the machine was disturbed.

    """

    timestamp: str
    scenario: Scenario
    corpus_sha256: str
    prompt_version: str
    scorer_version: str
    recovery_enabled: bool
    forgive_latency: bool = False
    max_output_tokens: int
    weights_sha256: str | None
    case_ids: list[str]
    seed: int


class RunLine(Line, tag="run", frozen=True, kw_only=True):
    """The first line."""

    FLAT: ClassVar[Mapping[str, Flat]] = {"identity": Flat(), "owner": Flat()}

    journal_version: int
    identity: RunIdentity
    owner: Owner | None = None


class ResumedLine(Line, tag="resumed", frozen=True, kw_only=True):
    """Another process went on with the journal."""

    FLAT: ClassVar[Mapping[str, Flat]] = {"owner": Flat()}

    owner: Owner | None = None


class LoadedLine(Line, tag="loaded", frozen=True, kw_only=True):
    """The model is ready."""

    FLAT: ClassVar[Mapping[str, Flat]] = {"load": Flat()}

    load: LoadInfo


class Sample(Record, frozen=True, kw_only=True):
    """The machine since the sample before.

    Attributes:
        wall_s: how long that was.
        other_cpu_s: CPU seconds of all other processes, steal included.
        steal_s: CPU seconds that a host gave to others.
        memory_stall_s: seconds in which something waited for memory (Linux PSI `some`); 0 where it is not told.
        load: one-minute load average.
        mhz: mean clock of the cores; None where it is not told.

    """

    wall_s: float
    other_cpu_s: float
    steal_s: float
    memory_stall_s: float
    load: float
    mhz: float | None


class AttemptLine(Line, frozen=True, kw_only=True):
    """One attempt at a unit.

    Attributes:
        attempt: 1 for the first.
        key: of everything that can change the answer (see `benchmark.run.identity`).

    """

    case_id: str
    attempt: Count
    key: str


class AnswerLine(AttemptLine, tag="generation", frozen=True, kw_only=True):
    """An attempt that brought an answer.

    Attributes:
        elapsed_ms: from the first attempt to the answer, waiting included.
        machine: how quiet the machine was; None where the sample before is too young.

    """

    FLAT: ClassVar[Mapping[str, Flat]] = {"generation": Flat()}

    generation: Generation
    input_chars_cut: Count
    elapsed_ms: float | None = None
    rss_bytes: Count | None = None
    machine: Sample | None = None


class FailureLine(AttemptLine, tag="failure", frozen=True, kw_only=True):
    """An attempt that brought none."""

    error: str


class ScenarioFailedLine(Line, tag="scenario_failed", frozen=True, kw_only=True):
    """Nothing more can be asked."""

    error: str


JournalLine: TypeAlias = RunLine | ResumedLine | LoadedLine | AnswerLine | FailureLine | ScenarioFailedLine
_LINES: Any = JournalLine
_KINDS = {kind.__struct_config__.tag for kind in get_args(JournalLine)}
_TAG_FIELD = str(Line.__struct_config__.tag_field)
_RUN, _VERSION = RunLine.__struct_config__.tag, "journal_version"


class _OtherVersionError(ValueError):
    """The journal is of another version, whose lines may look different."""


def read_journal(path: Path) -> list[JournalLine]:
    """Return the lines of a journal.

    A last line that was torn by a crash is left out, and so are lines of kinds that only a younger version knows.

    Raises:
        InputError: it cannot be read, a line before the last is damaged, or the first is not a run identity.

    """
    lines = read_bytes(path, "name another file", most_mb=500).split(b"\n")
    complete = lines[:-1]  # a line without its newline was never finished
    found: list[JournalLine] = []
    for number, line in enumerate(complete, 1):
        try:
            record = parse_line(line)
        except _OtherVersionError as error:
            raise InputError(f"{path}:{number}", f"{error} is not {JOURNAL_VERSION}", "start a new run") from error
        except (ValueError, RecursionError) as error:
            # A file system may have torn a line that it had made room for.
            if number == len(complete) and not line.strip(b"\0"):
                break
            what = f"the journal is damaged ({str(error)[:120]})"
            raise InputError(f"{path}:{number}", what, _HINT) from error
        if record is not None:
            found.append(record)
    if not found or not isinstance(found[0], RunLine):
        raise InputError(f"{path}:1", "is not the journal of a run", "name another file")
    return found


def parse_line(line: bytes) -> JournalLine | None:
    """Return a line; None for one of an unknown kind. Raises ValueError when it is damaged."""
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    tag = value.get(_TAG_FIELD)
    if tag not in _KINDS:
        return None
    if tag == _RUN and value.get(_VERSION) != JOURNAL_VERSION:
        raise _OtherVersionError(f"journal version {str(value.get(_VERSION))[:20]}")
    record: JournalLine = from_json(_LINES, value)
    return record
