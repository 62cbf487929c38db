"""What the rules save in recorded sessions, and what they cut that a later step needs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from benchmark.sessions.loader import DEFAULT_SESSIONS, open_recorded
from ctxsift.cli.parser import DEFAULT_MAX_BYTES, DEFAULT_QUESTION
from ctxsift.sessions.records import Source, Step, ToolCall, ToolResult
from ctxsift.shortening import shortened
from tools.replay_outputs import Replayed, main, replayed

LINES = [f"[{n:03}] compiling module_{n * 37 % 991}.c into build/obj" for n in range(400)]
OUTPUT = "\n".join((*LINES, "built 400 files\n"))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def ran(number: int, command: str, output: str, message: str = "") -> Step:
    call = ToolCall(f"c{number}", "bash", {"command": command})
    return Step(number, Source.AGENT, message, calls=(call,), results=(ToolResult(f"c{number}", output, 0),))


def said(number: int, message: str, source: Source = Source.AGENT) -> Step:
    return Step(number, source, message)


def names(*, cut: bool) -> list[str]:
    """Return the files that the output names in lines that are cut, or shown."""
    shown = shortened(OUTPUT.encode(), DEFAULT_QUESTION, 0, DEFAULT_MAX_BYTES)
    assert shown is not None
    return [line.split()[2] for line in LINES if (line in shown.split("\n")) is not cut]


def missed(*steps: Step) -> list[tuple[int, int, str]]:
    return [(each.step, each.needed_at, each.text) for each in replayed("s", steps).missed]


def test_a_fact_of_a_cut_line_is_needed_where_nothing_else_says_it() -> None:
    gone, other, shown = names(cut=True)[50], names(cut=True)[60], names(cut=False)[0]
    make = ran(1, "make", OUTPUT)
    assert missed(make, said(2, f"`{gone}` is slow."), said(3, f"{gone} again")) == [(1, 2, gone)]
    assert missed(make, ran(2, f"wc {gone} {other}", "1\n")) == [(1, 2, gone), (1, 2, other)]
    assert missed(make, said(2, f"{shown} is slow.")) == []
    assert missed(make, said(2, f"What is {gone}?", Source.USER), said(3, f"{gone} is a file.")) == []
    assert missed(make, ran(2, "ls build", f"build/{gone}x\n"), said(3, f"{gone} is a file.")) == []
    assert missed(said(1, f"{gone} comes first."), ran(2, "make", OUTPUT), said(3, gone)) == []


def test_the_text_of_an_error_is_needed_where_it_is_quoted() -> None:
    many = "".join(f"error: the linker gave up on part {n} of it, as it said already\n" for n in range(400))
    short = shortened(many.encode(), DEFAULT_QUESTION, 0, DEFAULT_MAX_BYTES)
    assert short is not None
    cut = next(each for each in many.splitlines() if each not in short)
    assert (1, 2, cut) in missed(ran(1, "make", many), said(2, f"It says: {cut}"))
    assert missed(ran(1, "make", many), said(2, "It says: error: the linker gave up")) == []


def test_outputs_are_counted_and_what_reads_the_store_is_left_alone() -> None:
    steps = [ran(1, "make", OUTPUT), ran(2, "ctxsift raw a99a33275f99", OUTPUT), ran(3, "make -s", "ok\n")]
    found = replayed("s", [*steps, ran(4, "true", "")])
    assert (found.outputs, found.shortened, found.before) == (3, 1, 2 * len(OUTPUT) + 3)
    assert len(OUTPUT) + 3 < found.after < found.before - 1500
    assert found.saved == pytest.approx(1 - found.after / found.before)
    assert replayed("s", [ran(1, "cat log", OUTPUT)]).shortened == 1
    assert replayed("s", [ran(1, "cat log", OUTPUT)], as_hook=True).shortened == 0
    assert replayed("s", [ran(1, "make", OUTPUT)], as_hook=True).shortened == 1


def test_outputs_that_would_be_read_again_are_counted_once() -> None:
    gone, other = names(cut=True)[50], names(cut=True)[60]
    assert replayed("s", [ran(1, "make", OUTPUT), said(2, f"{gone}, {other}")]).read_again == 1


@pytest.mark.slow
def test_a_part_of_a_recorded_session(state: Path) -> None:
    steps = open_recorded(DEFAULT_SESSIONS / "harvestlog").session().steps
    found = replayed("harvestlog", steps[:24])
    assert isinstance(found, Replayed)
    assert 0 < found.shortened < found.outputs
    assert any(each.needed_at > each.step for each in found.missed)
    assert len(list(state.rglob("*.log"))) >= found.shortened


@pytest.mark.slow
def test_the_table_has_a_row_for_each_session_and_one_for_all(
    tmp_path: Path, state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DEFAULT_SESSIONS / "sheafc", tmp_path / "sessions" / "sheafc")
    main([str(tmp_path / "sessions"), "--list"])
    _, _, row, total, *listed = capsys.readouterr().out.splitlines()
    assert row.startswith("| sheafc | 102 |")
    assert row.split("|")[2:] == total.split("|")[2:]
    assert all(line.startswith("sheafc: step ") for line in listed)
    # Nothing is written where the user's outputs are.
    assert not state.exists()
    assert os.environ["XDG_STATE_HOME"] == str(state)
