"""`ctxsift compact --follow`: sessions that still grow."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import pytest

from ctxsift.cli.compact_follow import Followed
from ctxsift.cli.main import build_parser
from ctxsift.sessions.compaction.cutting import cuts_by_threshold
from ctxsift.sessions.compaction.journal import CompactionJournal
from ctxsift.sessions.compaction.weights import SECTIONS
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Session, SessionHead, Source, Step, ToolCall, ToolResult
from tests.conftest import ROOT
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow

ARGUMENTS = ("--follow", "--threshold", "1500", "--keep-last", "200", "--budget", "300", "--json")
WAIT_S = 40


def message(role: str, text: str) -> str:
    return json.dumps({"role": role, "content": text}) + "\n"


def turns(first: int, count: int) -> str:
    """Return turns of about 100 tokens each."""
    parts = []
    for at in range(first, first + count):
        parts.append(message("user", f"Please change part {at} of the importer, because reason {at} holds. " * 3))
        parts.append(message("assistant", f"Part {at} is changed now, `part_{at}` reads the file. " * 4))
    return "".join(parts)


@contextmanager
def following(path: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Queue[dict[str, Any]]]]:
    """Follow a session; the results come out of the queue, one for each line."""
    command = [sys.executable, "-m", "ctxsift", "compact", str(path), *ARGUMENTS, *arguments]
    results: Queue[dict[str, Any]] = Queue()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals
    ) as process:

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                results.put(json.loads(line))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            yield process, results
        finally:
            process.kill()
            reader.join()


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


def test_each_new_cut_is_printed_as_the_session_grows(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(turns(0, 16))
    with following(path) as (process, results):
        first = results.get(timeout=WAIT_S)
        assert len(first["cycles"]) == 1
        last = first["cycles"][-1]["after_step"]
        for at in range(16, 46, 15):
            # A line that is still being written is no step yet.
            text = turns(at, 15)
            append(path, text[:-40])
            append(path, text[-40:])
            told = results.get(timeout=WAIT_S)
            assert told["cycles"][0]["after_step"] > last
            assert told["cycles"][-1]["tokens"] < told["cycles"][-1]["tokens_before"]
            assert "## Intent" in told["summary"]
            last = told["cycles"][-1]["after_step"]
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 130
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_a_call_that_still_runs_is_not_parted_from_its_result(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    path.write_text(
        turns(0, 8) + json.dumps({"role": "assistant", "content": "Build. " * 600, "tool_calls": [call]}) + "\n"
    )
    with following(path) as (_, results):
        # The step would be cut off now, if it were done.
        threading.Event().wait(3)
        assert results.empty()
        append(path, json.dumps({"role": "tool", "tool_call_id": "c1", "content": "built"}) + "\n")
        append(path, message("user", "Thanks."))
        assert results.get(timeout=WAIT_S)["cycles"][0]["after_step"] == 17


def test_a_session_begun_anew_is_followed_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(turns(0, 16))
    with following(path) as (_, results):
        results.get(timeout=WAIT_S)
        path.write_text(turns(100, 17))
        assert "Please change part 100" in results.get(timeout=WAIT_S)["summary"]


def test_turns_that_are_taken_back_leave_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"

    def tree(first: int, count: int, parent: str | None) -> str:
        """Return turns as Pi writes them, each after the one before."""
        records = []
        for at, line in enumerate(turns(first, count).splitlines()):
            name = f"e{first}-{at}"
            records.append({"type": "message", "id": name, "parentId": parent, "message": json.loads(line)})
            parent = name
        return "".join(json.dumps(record) + "\n" for record in records)

    path.write_text(tree(0, 16, None))
    with following(path) as (_, results):
        assert "Part 4 is changed" in results.get(timeout=WAIT_S)["summary"]
        append(path, tree(100, 17, "e0-1"))
        told = results.get(timeout=WAIT_S)["summary"]
        assert "Please change part 0 of" in told
        assert "Part 4 is changed" not in told


def test_the_file_is_written_anew_at_each_cut(tmp_path: Path) -> None:
    path, output = tmp_path / "session.jsonl", tmp_path / "so-far.json"
    path.write_text(turns(0, 16))
    with following(path, "-o", str(output)):
        seen: list[int] = []
        for _ in range(400):
            threading.Event().wait(0.1)
            if output.exists() and (after := json.loads(output.read_text())["cycles"][-1]["after_step"]) not in seen:
                seen.append(after)
                if len(seen) == 2:
                    break
                append(path, turns(16, 15))
        assert len(seen) == 2
        assert seen == sorted(seen)


def test_it_needs_a_threshold_and_a_session(tmp_path: Path) -> None:
    for arguments, told in (
        (["--follow", str(tmp_path)], "add --threshold N"),
        (["--follow", "--threshold", "20000", str(tmp_path / "none")], "no such file"),
    ):
        command = [sys.executable, "-m", "ctxsift", "compact", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr


def last_cut(path: Path) -> int:
    """Return the step after which the session is cut last, as it stands now."""
    *_, cut = cuts_by_threshold(read_session(path).steps, 1500, 200, 300)
    return cut.after_step


def settled(path: Path, output: Path) -> dict[str, Any]:
    """Return what stands in a result once it was made at the last cut of the session."""
    last = last_cut(path)
    for _ in range(10 * WAIT_S):
        if output.exists() and (told := json.loads(output.read_text()))["cycles"][-1]["after_step"] == last:
            del told["cycles"][-1]["seconds"]
            return {"cycle": told["cycles"][-1], "summary": told["summary"]}
        threading.Event().wait(0.1)
    raise AssertionError(f"{output} does not tell of the cut after step {last}")


def stopped(process: subprocess.Popen[str]) -> str:
    """Send Ctrl-C; return what was said on stderr."""
    process.send_signal(signal.SIGINT)
    assert process.wait(WAIT_S) == 130
    assert process.stderr is not None
    return process.stderr.read()


def other_session(count: int) -> str:
    """Return turns of other work after the same first step."""
    first, rest = turns(0, 1).splitlines(keepends=True), turns(200, count).splitlines(keepends=True)
    return "".join((first[0], *rest[1:]))


def test_another_session_with_the_same_first_step_is_another(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(turns(0, 16))
    with following(path) as (process, results):
        results.get(timeout=WAIT_S)
        # It has more steps than were read.
        path.write_text(other_session(20))
        told = results.get(timeout=WAIT_S)
        assert "part_201" in told["summary"]
        assert "Please change part 1 of" not in told["summary"]
        assert "was restarted" in stopped(process)


@pytest.mark.parametrize("model", [False, True])
def test_killed_after_the_second_cut_it_goes_on_to_the_same_result(tmp_path: Path, *, model: bool) -> None:
    notes = "\n".join(f"## {section}\n- Part 3 of the importer, because reason 3 holds" for section in SECTIONS)
    script, log = tmp_path / "script.json", tmp_path / "log"
    script.write_text(json.dumps({"default": notes, "log": str(log)}))
    arguments = ("--backend", "scripted", "--model", str(script)) if model else ()
    ends, journals = [], []
    for name, runs in (("whole", [[0, 16, 32, 48]]), ("killed", [[0, 16], [32, 48]])):
        path, output = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.json"
        for first, *others in runs:
            append(path, "" if path.exists() else turns(first, 16))
            # Killed before the last result was written.
            output.unlink(missing_ok=True)
            with following(path, *arguments, "-o", str(output)) as (process, _):
                end = settled(path, output)
                for at in others if first == 0 else (first, *others):
                    append(path, turns(at, 16))
                    end = settled(path, output)
                told = stopped(process) if first else ""
        assert ("resuming after the cut at step" in told) == (name == "killed")
        ends.append(end)
        journals.append([json.loads(line) for line in Path(f"{output}.journal").read_text().splitlines()])
    assert ends[0] == ends[1]
    cuts = [[line["cut"] for line in journal if "cut" in line] for journal in journals]
    assert cuts[0] == cuts[1]
    assert len(cuts[0]) > 3
    if model:
        asked = [sum("generation" in line for line in journal) for journal in journals]
        assert asked[0] == asked[1] >= len(cuts[0])
        assert len(log.read_text().splitlines()) == sum(asked)


def test_a_restart_with_another_session_of_the_same_first_step_begins_anew(tmp_path: Path) -> None:
    first, second, output = tmp_path / "first.jsonl", tmp_path / "second.jsonl", tmp_path / "so-far.json"
    first.write_text(turns(0, 16))
    second.write_text(other_session(20))
    with following(first, "-o", str(output)):
        one = settled(first, output)
    output.unlink()
    with following(second, "-o", str(output)) as (process, _):
        other = settled(second, output)
        assert "going on" not in stopped(process)
    assert "part_201" in other["summary"]
    assert "Please change part 1 of" not in other["summary"]
    # The first one goes on all the same.
    output.unlink()
    with following(first, "-o", str(output)) as (process, _):
        assert settled(first, output) == one
        assert "resuming after the cut at step" in stopped(process)


def options_for(folder: Path, *arguments: str) -> argparse.Namespace:
    return build_parser().parse_args(["compact", str(folder / "session.jsonl"), *ARGUMENTS, *arguments])


def session_of(folder: Path, text: str) -> Session:
    path = folder / "session.jsonl"
    path.write_text(text)
    return read_session(path)


def parts(first: int, end: int) -> tuple[Step, ...]:
    return tuple(
        Step(at, (Source.USER, Source.AGENT)[at % 2], f"Part {at} is in `part_{at}`. " * 40) for at in range(first, end)
    )


def test_what_came_to_a_step_since_it_was_taken_counts_with_and_without_a_restart(tmp_path: Path) -> None:
    call = ToolCall("c1", "bash", {"command": "pytest -q"})
    first, tested = Step(1, Source.USER, "Go."), Step(2, Source.AGENT, "I test it.", calls=(call,))
    late = dataclasses.replace(tested, results=(ToolResult("c1", "1 failed, 2 passed", 1),))
    begun = Session(SessionHead("messages"), (first, tested, *parts(3, 12)))
    longer = Session(SessionHead("messages"), (first, late, *parts(3, 24)))

    options, path = options_for(tmp_path), tmp_path / "journal"
    one = Followed(options, begun, None, CompactionJournal(path))
    assert one.recall(begun) is None
    assert one.add(begun, settled=True)
    other = Followed(options, longer, None, CompactionJournal(path))
    standing = other.recall(longer)
    assert standing is not None
    assert standing.cut.after_step < 12
    assert one.goes_on(longer)
    found, again = one.add(longer, settled=True), other.add(longer, settled=True)
    assert [dataclasses.replace(each, seconds=0.0) for each in found] == [
        dataclasses.replace(each, seconds=0.0) for each in again
    ]
    assert "check failed, step 2: pytest -q" in found[-1].summary_text


def test_a_torn_line_of_the_journal_costs_one_cut(tmp_path: Path) -> None:
    options, path = options_for(tmp_path), tmp_path / "journal"
    session = session_of(tmp_path, turns(0, 60))
    made = Followed(options, session, None, CompactionJournal(path)).add(session, settled=True)
    assert len(made) > 2
    path.write_bytes(path.read_bytes()[:-100])
    again = Followed(options, session, None, CompactionJournal(path))
    standing = again.recall(session)
    assert standing == dataclasses.replace(made[-2], seconds=0.0)
    (last,) = again.add(session, settled=True)
    assert dataclasses.replace(last, seconds=0.0) == dataclasses.replace(made[-1], seconds=0.0)


@pytest.mark.parametrize(
    "changed", [("--budget", "301"), ("--method", "regenerative"), ("--keep-secrets",), ("--threshold", "1600")]
)
def test_other_options_are_another_run(tmp_path: Path, changed: tuple[str, ...]) -> None:
    session, path = session_of(tmp_path, turns(0, 40)), tmp_path / "journal"
    Followed(options_for(tmp_path), session, None, CompactionJournal(path)).add(session, settled=True)
    assert Followed(options_for(tmp_path, *changed), session, None, CompactionJournal(path)).recall(session) is None
    assert Followed(options_for(tmp_path), session, None, CompactionJournal(path)).recall(session) is not None


def test_a_session_is_known_by_its_id_and_by_all_its_steps(tmp_path: Path) -> None:
    options, path = options_for(tmp_path), tmp_path / "journal"
    session = session_of(tmp_path, turns(0, 40))
    followed = Followed(options, session, None, CompactionJournal(path))
    made = followed.add(session, settled=True)
    other_id = dataclasses.replace(session, head=dataclasses.replace(session.head, session_id="another"))
    assert Followed(options, other_id, None, CompactionJournal(path)).recall(other_id) is None
    assert followed.goes_on(session)
    for at in (1, made[-1].cut.after_step - 1, len(session.steps) - 1):
        steps = list(session.steps)
        steps[at] = dataclasses.replace(steps[at], message="Another one.")
        edited = dataclasses.replace(session, steps=tuple(steps))
        assert not followed.goes_on(edited)
        standing = Followed(options, edited, None, CompactionJournal(path)).recall(edited)
        after = standing.cut.after_step if standing else 0
        assert after == max((each.cut.after_step for each in made if each.cut.after_step <= at), default=0)


def test_an_id_that_is_known_later_is_the_sessions(tmp_path: Path) -> None:
    options, path = options_for(tmp_path), tmp_path / "journal"
    whole = session_of(tmp_path, turns(0, 40))
    whole = dataclasses.replace(whole, head=dataclasses.replace(whole.head, session_id="s-1"))
    begun = Session(SessionHead("messages"), whole.steps[:2])
    followed = Followed(options, begun, None, CompactionJournal(path))
    assert followed.add(begun, settled=True) == []
    assert followed.goes_on(whole)
    made = followed.add(whole, settled=True)
    standing = Followed(options, whole, None, CompactionJournal(path)).recall(whole)
    assert standing is not None
    assert standing.cut == made[-1].cut


def test_a_journal_that_cannot_be_written_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(turns(0, 16))
    with following(path, "--journal", str(tmp_path / "missing" / "journal")) as (process, results):
        results.get(timeout=WAIT_S)
        append(path, turns(16, 16))
        results.get(timeout=WAIT_S)
        said = stopped(process)
    assert said.count("cuts cannot be saved (No such file or directory)") == 1
