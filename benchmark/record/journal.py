"""The lines of a journal: what was asked for, what was loaded, and every attempt."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar, TypeAlias, get_args

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from benchmark.matrix import Scenario
from benchmark.record.base import (
    Figure,
    Flat,
    Record,
    Seconds,
    Sha256,
    Timestamp,
    Whole,
    from_json,
    refusal,
    to_json,
)
from ctxsift.backends.base import Count, Generation, LoadInfo, Milliseconds
from ctxsift.errors import InputError
from ctxsift.files import open_regular, reading
from ctxsift.strict_json import check, decode, learn

JOURNAL_VERSION = 3
# The workload of whoever names none: requests of the product.
COMPRESS = "compress"
# Version 2 is the same without checksums.
_READABLE, _FIRST_SEALED = (2, 3), 3
_MEGABYTE = 1_000_000
_LONGEST_LINE = 8 * _MEGABYTE
_MOST_VALUES = 200_000
# Of 10,000 cases with 100 attempts each; and so many that nothing is left to be resumed.
_MOST_LINES, _MOST_DAMAGED = 1_000_000, 10_000
_SHOWN_CHARS = 120
# What is kept of an error.
MOST_ERROR_CHARS = 10_000
_CHECKSUM = "checksum"
# The last key of a line: the first 16 digits of the SHA-256 of the line without it.
_SEAL = re.compile(rb', "checksum": "([0-9a-f]{16})"\}\n?\Z')


class JournalRecord(Record, tag_field="type", frozen=True, kw_only=True):
    """What every line has.

    Attributes:
        at_s: seconds since this part of the journal was opened.

    """

    at_s: Seconds = 0.0


class Owner(Record, frozen=True, kw_only=True):
    """The process that writes."""

    pid: Count
    host: str
    began: str


class Shard(Record, frozen=True, kw_only=True):
    """A part of a run that a job of its own asks.

    Attributes:
        index: from 1.
        count: of all shards.
        case_ids: of all shards, in the order of the run.

    """

    index: Annotated[int, Meta(ge=1)]
    count: Annotated[int, Meta(ge=1)]
    case_ids: Annotated[list[str], Meta(min_length=1)]

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


class RunIdentity(Record, frozen=True, kw_only=True):
    """What makes a run this run; the first line of its journal.

    Attributes:
        timestamp: UTC, e.g. 20260518T065257Z.
        workload: what kind of thing is asked.
        options: what else of the workload may not change between the parts of a run.
        scenario: the row of the matrix.
        corpus_sha256: of all that may be asked.
        prompt_sha256: of all words that we add to a question; None in older journals.
        scorer_version: of the grader.
        forgive_latency: leave latency out of the score where the machine was disturbed.
        case_ids: of all units.
        shard: which part of a run this is; None for a whole one.

    """

    timestamp: Timestamp
    workload: str = COMPRESS
    options: dict[str, Any] = {}
    scenario: Scenario
    corpus_sha256: Sha256
    prompt_version: str
    prompt_sha256: str | None = None
    scorer_version: str
    recovery_enabled: bool = True
    forgive_latency: bool = False
    max_output_tokens: Count
    weights_sha256: Sha256 | None
    case_ids: Annotated[list[str], Meta(min_length=1)]
    seed: Whole
    shard: Shard | None = None

    def __post_init__(self) -> None:
        if len(set(self.case_ids)) < len(self.case_ids):
            raise ValueError("a case is named twice")


class RunLine(JournalRecord, tag="run", frozen=True, kw_only=True):
    """The first line."""

    FLAT: ClassVar[Mapping[str, Flat]] = {"identity": Flat(), "owner": Flat()}

    journal_version: Count
    identity: RunIdentity
    owner: Owner | None = None


class ResumedLine(JournalRecord, tag="resumed", frozen=True, kw_only=True):
    """Another process went on with the journal."""

    FLAT: ClassVar[Mapping[str, Flat]] = {"owner": Flat()}

    owner: Owner | None = None


class Hardware(Record, frozen=True, kw_only=True):
    """A kind of machine: times of two machines may be put together where all of this is equal.

    Attributes:
        accelerator: its GPUs by name, where the model runs on one.

    """

    cpu: str
    cpu_cores_physical: Count | None
    cpu_cores_logical: Count | None
    accelerator: str | None = None

    def __str__(self) -> str:
        cores = f"{self.cpu}, {self.cpu_cores_logical or '?'} cores"
        return f"{cores}, {self.accelerator}" if self.accelerator else cores


class LoadedLine(JournalRecord, tag="loaded", frozen=True, kw_only=True):
    """The model is ready.

    Attributes:
        hardware: where it runs; None in older journals.
        node: names the place where a run has several; answers that it gives have the same.

    """

    FLAT: ClassVar[Mapping[str, Flat]] = {"load": Flat()}

    load: LoadInfo
    hardware: Hardware | None = None
    node: str = ""


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

    wall_s: Seconds
    other_cpu_s: Figure
    steal_s: Figure
    memory_stall_s: Figure
    load: Figure
    mhz: Figure | None


def with_sample(samples: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """Return one or two samples that come to the same as all before and a new one: their sums, and the last."""
    if not samples:
        return (new,)
    clocks = [sample.mhz for sample in (*samples, new) if sample.mhz is not None]
    before = samples[0]
    sums = Sample(
        wall_s=before.wall_s + new.wall_s,
        other_cpu_s=before.other_cpu_s + new.other_cpu_s,
        steal_s=before.steal_s + new.steal_s,
        memory_stall_s=before.memory_stall_s + new.memory_stall_s,
        load=before.load,
        mhz=min(clocks, default=None),
    )
    last = replace(new, wall_s=0.0, other_cpu_s=0.0, steal_s=0.0, memory_stall_s=0.0, mhz=max(clocks, default=None))
    return sums, last


class AttemptLine(JournalRecord, frozen=True, kw_only=True):
    """One attempt at a unit.

    Attributes:
        case_id: the id of the unit.
        attempt: 1 for the first.
        key: of everything that can change the answer (see `benchmark.run.identity`).

    """

    workload: str = COMPRESS
    case_id: str
    attempt: Annotated[int, Meta(ge=1, le=2**53)]
    key: Annotated[str, Meta(min_length=1, max_length=64)]


class AnswerLine(AttemptLine, tag="generation", frozen=True, kw_only=True):
    """An attempt that brought an answer.

    Attributes:
        elapsed_ms: from the first attempt to the answer, waiting included.
        machine: how quiet the machine was; None where the sample before is too young.
        node: that of the line which says where the model runs.

    """

    FLAT: ClassVar[Mapping[str, Flat]] = {"generation": Flat()}

    generation: Generation
    input_chars_cut: Count
    elapsed_ms: Milliseconds | None = None
    rss_bytes: Count | None = None
    machine: Sample | None = None
    node: str = ""


class FailureLine(AttemptLine, tag="failure", frozen=True, kw_only=True):
    """An attempt that brought none."""

    error: str


class ScenarioFailedLine(JournalRecord, tag="scenario_failed", frozen=True, kw_only=True):
    """Nothing more can be asked."""

    error: str


JournalLine: TypeAlias = RunLine | ResumedLine | LoadedLine | AnswerLine | FailureLine | ScenarioFailedLine
_LINES: Any = JournalLine
learn(_LINES)
_KINDS = {kind.__struct_config__.tag for kind in get_args(JournalLine)}
_TAG_FIELD = str(JournalRecord.__struct_config__.tag_field)
_RUN, _VERSION = RunLine.__struct_config__.tag, "journal_version"


class _OtherVersionError(ValueError):
    """The journal is of another version, whose lines may look different."""


@dataclass(frozen=True)
class PlacedLine:
    """A line and where it is.

    Attributes:
        offset: of its first byte.

    """

    offset: int
    line: JournalLine


def read_journal(path: Path) -> Iterator[JournalLine]:
    """Yield the intact lines of a journal; see `placed_lines`."""
    return (placed.line for placed in placed_lines(path))


def placed_lines(path: Path, damaged: Callable[[int, str], None] | None = None) -> Iterator[PlacedLine]:
    """Yield the lines of a journal and where they are, one at a time: it may be larger than memory.

    A last line that was torn by a crash is left out, and so are lines of kinds that only a younger version knows.

    Args:
        path: the file.
        damaged: called with the number of a damaged line and what is wrong with it; that line is left out.

    Raises:
        InputError: it cannot be read, or its first line is not the intact identity of a run.

    """
    with reading(path, "name another file") as file:
        lines = _finished_lines(file)
        number, offset, content = next(lines, (1, 0, b"{}"))
        first = _first_line(path, content)
        yield PlacedLine(offset, first)
        run, sealed = first.identity, first.journal_version >= _FIRST_SEALED
        cases = frozenset(run.case_ids)
        bad = 0
        for number, offset, content in lines:
            try:
                if number > _MOST_LINES:
                    raise ValueError(f"it has more than {_MOST_LINES:,} lines")
                line = parse_line(content, sealed=sealed)
                _refuse_foreign(line, run.workload, cases)
            except (ValueError, RecursionError) as error:
                bad += 1
                if bad > _MOST_DAMAGED or number > _MOST_LINES:
                    what = f"the journal is damaged ({str(error)[:_SHOWN_CHARS]}), and so are {bad - 1:,} lines before"
                    raise InputError(f"{path}:{number}", what, "start a new run") from error
                if damaged:
                    damaged(number, str(error)[:_SHOWN_CHARS])
                continue
            # Who seals a line seals all that follow.
            sealed = sealed or _SEAL.search(content) is not None
            if line is not None:
                yield PlacedLine(offset, line)


def read_line(path: Path, offset: int = 0) -> JournalLine | None:
    """Return the line that begins at an offset of a journal; None for one of an unknown kind.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged.

    """
    with open_regular(path) as file:
        file.seek(offset)
        return parse_line(file.readline(_LONGEST_LINE + 1))


def _first_line(path: Path, content: bytes) -> RunLine:
    try:
        line = parse_line(content)
    except _OtherVersionError as error:
        raise InputError(f"{path}:1", f"{error} is not {JOURNAL_VERSION}", "start a new run") from error
    except (ValueError, RecursionError) as error:
        what = f"the journal is damaged ({str(error)[:_SHOWN_CHARS]})"
        raise InputError(f"{path}:1", what, "move it away and run again") from error
    if not isinstance(line, RunLine):
        raise InputError(f"{path}:1", "is not the journal of a run", "name another file")
    return line


def _refuse_foreign(line: JournalLine | None, workload: str, cases: frozenset[str]) -> None:
    """Raise ValueError for a line that belongs to another run."""
    if isinstance(line, RunLine):
        raise ValueError("the first line of a journal, amid one")
    if isinstance(line, AttemptLine) and (line.case_id not in cases or line.workload != workload):
        raise ValueError("an attempt at a case that is not of this run")


def _finished_lines(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Yield number, offset and content of the lines that end in a newline; of one that is too long, its beginning."""
    number = offset = 0
    blank: tuple[int, int, bytes] | None = None
    while content := file.readline(_LONGEST_LINE + 1):
        length, part = len(content), content
        while not part.endswith(b"\n"):
            # Too long, or never finished.
            part = file.readline(_LONGEST_LINE + 1)
            length += len(part)
            if not part:
                return
        if blank is not None:
            yield blank
        number, blank = number + 1, None
        if content.strip(b"\0\n"):
            yield number, offset, content
        else:
            # A file system may have torn the last line, having made room for it.
            blank = number, offset, content
        offset += length


def parse_line(line: bytes, *, sealed: bool = False) -> JournalLine | None:
    """Return a line; None for one of an unknown kind.

    Args:
        line: its bytes.
        sealed: it has to have a checksum, as any line of version 3; where there is one, it is checked in any case.

    Raises:
        ValueError: it is damaged.

    """
    if len(line) > _LONGEST_LINE:
        raise ValueError(f"longer than {_LONGEST_LINE // _MEGABYTE} MB")
    seal = _SEAL.search(line)
    if seal is not None and _digest(line[: seal.start()] + b"}") != seal[1]:
        raise ValueError("its checksum does not fit")
    value = decode(line, most_values=_MOST_VALUES)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    tag = value.get(_TAG_FIELD)
    if tag == _RUN:
        version = value.get(_VERSION)
        if version not in _READABLE:
            raise _OtherVersionError(f"journal version {str(version)[:20]}")
        sealed = sealed or version >= _FIRST_SEALED
    if sealed and seal is None:
        raise ValueError("it has no checksum")
    if not isinstance(tag, str | None):
        raise ValueError("its type is not a text")
    if tag not in _KINDS:
        return None
    try:
        record: JournalLine = from_json(_LINES, value)
    except msgspec.ValidationError as error:
        raise ValueError(": ".join(refusal(error))) from error
    return record


def encode_line(line: JournalLine) -> bytes:
    """Return a line as it is written. Raises ValueError, naming the field, when it would not be read back."""
    try:
        written = to_json(line)
        check(written)
        content = json.dumps(written).encode()
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    content = content[:-1] + f', "{_CHECKSUM}": "{_digest(content).decode()}"}}'.encode()
    parse_line(content, sealed=True)
    return content + b"\n"


def _digest(content: bytes) -> bytes:
    """Return the checksum of a line without its checksum."""
    return hashlib.sha256(content).hexdigest()[:16].encode()
