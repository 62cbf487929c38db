"""`ctxsift compact --follow`: sessions that still grow."""

from __future__ import annotations

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

from tests.conftest import ROOT
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow

ARGUMENTS = ("--follow", "--threshold", "1500", "--keep-last", "200", "--max-tokens", "300", "--json")
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
        (["--follow", str(tmp_path)], "give one with --threshold N"),
        (["--follow", "--threshold", "20000", str(tmp_path / "none")], "no such file"),
    ):
        command = [sys.executable, "-m", "ctxsift", "compact", *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
