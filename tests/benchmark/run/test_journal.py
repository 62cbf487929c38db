"""The journal survives torn and damaged lines, names damage, and holds nothing that it would not read."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmark.record.journal import (
    AnswerLine,
    FailureLine,
    JournalLine,
    LoadedLine,
    RunLine,
    placed_lines,
    read_journal,
    read_line,
)
from benchmark.run.journal import Journal
from ctxsift.backends.base import Generation
from ctxsift.errors import InputError, InstrumentError
from tests.benchmark.run.test_identity import IDENTITY, LOAD
from tests.conftest import ROOT
from tests.support.at_once import go
from tests.support.depth import depth

RUN = replace(IDENTITY, case_ids=["one", "two"])
TEXT = "line\nbreak \ud800 é"


def answer(case_id: str = "one", text: str = TEXT) -> AnswerLine:
    generation = Generation(text, "stop", 1, 1, 1.0, 1.0, 2.0, "m")
    return AnswerLine(case_id=case_id, attempt=1, key="k", generation=generation, input_chars_cut=0)


def test_journal_reads_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, RUN) as journal:
        journal.append(answer())
        journal.append(FailureLine(case_id="two", attempt=1, key="k", error="why"))
    first, second, third = read_journal(path)
    assert isinstance(first, RunLine)
    assert first.identity == RUN
    assert isinstance(second, AnswerLine)
    assert second.generation == answer().generation
    assert isinstance(third, FailureLine)
    assert third.error == "why"


_WRITER = """
import sys, time
from pathlib import Path
from ctxsift.errors import InputError
from benchmark.run.journal import Journal
from tests.benchmark.run.test_journal import RUN, answer
path, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for attempt in range(int(sys.argv[3])):
    while True:
        try:
            journal = Journal(path, RUN, resumed=True)
            break
        except InputError as error:
            assert "is being written by" in str(error)
            time.sleep(0.001)
    with journal:
        for number in range(5):
            journal.append(answer(text=f"{name} {attempt} {number}"))
"""


@pytest.mark.slow
def test_of_two_that_resume_at_once_one_waits_and_no_line_is_lost(tmp_path: Path) -> None:
    path, times = tmp_path / "j.jsonl", depth(3, 20)
    Journal(path, RUN).__exit__(None, None, None)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path), name, str(times)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "ab"
    ]
    go(*processes)
    assert [process.communicate(timeout=100) and process.returncode for process in processes] == [0, 0]
    found = [line.generation.text for line in read_journal(path) if isinstance(line, AnswerLine)]
    assert sorted(found) == sorted(f"{name} {each} {n}" for name in "ab" for each in range(times) for n in range(5))
    # Nor do the lines of one stand among those of the other.
    assert [each.rpartition(" ")[2] for each in found] == [*"01234"] * 2 * times


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, RUN) as journal:
        journal.append(answer("one"))
        journal.append(answer("two"))
    path.write_bytes(path.read_bytes()[:-cut])
    assert [line.case_id for line in read_journal(path) if isinstance(line, AnswerLine)] == ["one"]


@pytest.mark.parametrize("how", ["cut", "flipped", "checksum lost", "checksum of another", "too long", "of no kind"])
def test_damage_in_the_middle_is_left_out_and_named(tmp_path: Path, how: str) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, RUN) as journal:
        journal.append(answer("one"))
        journal.append(answer("two"))
    lines = path.read_bytes().split(b"\n")
    spoiled = {
        "cut": lines[1][:5],
        "flipped": lines[1].replace(b"line", b"lime"),
        "checksum lost": lines[1][: lines[1].index(b', "checksum"')] + b"}",
        "checksum of another": lines[1][:-20] + lines[2][-20:],
        "too long": lines[1].replace(b"line", b"l" * 8_000_000),
        "of no kind": b'{"type": []}',
    }
    path.write_bytes(b"\n".join([lines[0], spoiled[how], *lines[2:]]))
    damaged: list[tuple[int, str]] = []
    kept = list(placed_lines(path, lambda *damage: damaged.append(damage)))
    assert [number for number, _ in damaged] == [2]
    assert [placed.line.case_id for placed in kept if isinstance(placed.line, AnswerLine)] == ["two"]
    assert read_line(path, kept[1].offset) == kept[1].line


def test_a_line_without_a_checksum_is_of_version_2_alone(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, RUN) as journal:
        journal.append(answer("one"))
    bare = [re.sub(rb', "checksum": "[0-9a-f]{16}"', b"", line) for line in path.read_bytes().splitlines(keepends=True)]
    older = bare[0].replace(b'"journal_version": 3', b'"journal_version": 2')
    path.write_bytes(older + bare[1])
    assert len(list(read_journal(path))) == 2
    # From the first line on that this version has written, all have one.
    with Journal(path, RUN, resumed=True):
        pass
    path.write_bytes(path.read_bytes() + bare[1])
    assert len(list(read_journal(path))) == 3
    path.write_bytes(bare[0] + bare[1])
    with pytest.raises(InputError, match="it has no checksum"):
        list(read_journal(path))


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (LoadedLine(load=dataclasses.replace(LOAD, settings={"a": [{}, float("nan")]})), "/settings/a/1"),
        (LoadedLine(load=dataclasses.replace(LOAD, load_ms=-1.0)), "/load_ms"),
        (LoadedLine(load=dataclasses.replace(LOAD, settings={"a": 10**30})), "/settings/a"),
        (LoadedLine(load=dataclasses.replace(LOAD, settings={"a": object()})), "object"),
        (
            LoadedLine(load=dataclasses.replace(LOAD, settings={"a": json.loads("[" * 99 + "]" * 99)})),
            "64",
        ),
        (replace(answer(), attempt=0), "/attempt"),
        (replace(answer(), elapsed_ms=float("inf")), "/elapsed_ms"),
        (replace(answer(), input_chars_cut=-1), "/input_chars_cut"),
        (answer(text="x" * 8_000_000), "longer than 8 MB"),
    ],
)
def test_nothing_is_written_that_would_not_be_read(tmp_path: Path, line: JournalLine, place: str) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, RUN) as journal:
        with pytest.raises(InstrumentError, match=f"cannot be recorded: .*{re.escape(place)}"):
            journal.append(line)
        journal.append(answer())
    damaged: list[tuple[int, str]] = []
    assert len(list(placed_lines(path, lambda *damage: damaged.append(damage)))) == 2
    assert not damaged


def test_an_identity_that_would_not_be_read_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    row = dataclasses.replace(RUN.scenario, extra_body={"a": float("nan")})
    with pytest.raises(InputError, match="/extra_body/a: is not a number"):
        Journal(path, replace(RUN, scenario=row))
    assert not path.exists()


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"type": "other"}\n')
    with pytest.raises(InputError, match="is not the journal"):
        list(read_journal(path))


def test_a_disk_that_is_full_from_the_start_leaves_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j.jsonl"

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("benchmark.run.journal.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        Journal(path, RUN)
    assert not path.exists()


def test_a_journal_is_read_whatever_its_size(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, RUN) as journal:
        journal.append(answer())
    # A hole: 600 MB that take no room, as a line that was never finished.
    with path.open("r+b") as file:
        file.truncate(600_000_000)
    assert [type(line) for line in read_journal(path)] == [RunLine, AnswerLine]
