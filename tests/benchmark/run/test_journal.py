"""The journal survives torn lines, and names damage."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.record.journal import AnswerLine, FailureLine, RunLine, read_journal
from benchmark.run.journal import Journal
from ctxsift.backends.base import Generation
from ctxsift.errors import InputError
from tests.benchmark.run.test_identity import IDENTITY

TEXT = "line\nbreak \ud800 é"


def answer(case_id: str = "one", text: str = TEXT) -> AnswerLine:
    generation = Generation(text, "stop", 1, 1, 1.0, 1.0, 2.0, "m")
    return AnswerLine(case_id=case_id, attempt=1, key="k", generation=generation, input_chars_cut=0)


def test_journal_reads_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, IDENTITY) as journal:
        journal.append(answer())
        journal.append(FailureLine(case_id="two", attempt=1, key="k", error="why"))
    first, second, third = read_journal(path)
    assert isinstance(first, RunLine)
    assert first.identity == IDENTITY
    assert isinstance(second, AnswerLine)
    assert second.generation == answer().generation
    assert isinstance(third, FailureLine)
    assert third.error == "why"


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, IDENTITY) as journal:
        journal.append(answer("one"))
        journal.append(answer("two"))
    path.write_bytes(path.read_bytes()[:-cut])
    assert [line.case_id for line in read_journal(path) if isinstance(line, AnswerLine)] == ["one"]


def test_damage_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path, IDENTITY) as journal:
        journal.append(answer())
        journal.append(answer())
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], lines[1][:5], *lines[2:]]))
    with pytest.raises(InputError, match=r"j\.jsonl:2: the journal is damaged"):
        read_journal(path)


def test_a_file_that_is_no_journal_is_named(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_text('{"type": "other"}\n')
    with pytest.raises(InputError, match="is not the journal"):
        read_journal(path)
