"""`ctxsift lost`: what the last compaction of a session dropped, for a person and for the hook of an agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from benchmark.probes.lost import loss_of
from benchmark.probes.lost_command import MOST_LINES, lines
from benchmark.probes.model import ProbeType
from ctxsift.errors import InputError

ORDER = "Never write to the migrations folder without asking me first."
REASON = "I keep the rounding in cart.py because invoices are printed from the cents column."


def said(number: int, role: str, content: object, **more: object) -> dict[str, Any]:
    """Return a record of Claude Code."""
    message = {"role": role, "content": content} | ({"id": f"m{number}"} if role == "assistant" else {})
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number > 1 else None,
        "sessionId": "s",
        "version": "2.1.39",
        "cwd": "/home/dev/shop",
        "timestamp": f"2026-11-20T10:00:{number:02}.000Z",
        "message": message,
        **more,
    }


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()


def write_session(path: Path, summary: str | None, *, works_on: bool = False, made: str = "") -> Path:
    """Write a session of Claude Code that was compacted, or not where there is no summary."""
    tool = {
        "type": "tool_use",
        "id": "t1",
        "name": "Write",
        "input": {"file_path": "/home/dev/shop/tax.py", "content": "x"},
    }
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "File created successfully"}
    records = [
        said(1, "user", f"Add a tax rate to the shop. {ORDER}"),
        said(2, "assistant", [{"type": "text", "text": REASON}, tool]),
        said(3, "user", [result]),
        said(4, "assistant", [{"type": "text", "text": "The rate is in place, and the tests of the cart pass."}]),
    ]
    if summary is not None:
        boundary = {
            "type": "system", "subtype": "compact_boundary", "uuid": "u5", "parentUuid": None, "sessionId": "s",
            "logicalParentUuid": "u4", "timestamp": "2026-11-20T10:00:05.000Z", "content": "Conversation compacted",
            "compactMetadata": {"trigger": "auto", "preTokens": 150_000},
        }  # fmt: skip
        records += [
            boundary,
            said(6, "user", summary, isCompactSummary=True, parentUuid="u5", timestamp=made or ago(0)),
        ]
    if works_on:
        records.append(said(7, "assistant", [{"type": "text", "text": "On with the next task."}]))
    path.write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return path


def test_orders_of_the_user_come_first(tmp_path: Path) -> None:
    loss = loss_of(write_session(tmp_path / "s.jsonl", "The user wants a tax rate. Work goes on."))
    assert loss.dropped[0].type is ProbeType.CONSTRAINT
    assert loss.dropped[0].text == ORDER
    assert loss.dropped[-1].type is ProbeType.ARTIFACT
    assert loss.lost == len(loss.dropped) == loss.asked


def test_what_the_summary_says_is_not_lost(tmp_path: Path) -> None:
    summary = f"Orders: {ORDER}\n{REASON}\nFiles: tax.py was created."
    loss = loss_of(write_session(tmp_path / "s.jsonl", summary))
    assert loss.lost == 0 < loss.asked


@pytest.mark.parametrize(
    ("summary", "problem"), [(None, "records no compaction"), (" ", "is encrypted or not recorded")]
)
def test_a_session_without_a_summary_is_refused(tmp_path: Path, summary: str | None, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        loss_of(write_session(tmp_path / "s.jsonl", summary))


def ctxsift(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the console script; what it does to the signals of a process is for a process of its own."""
    whole = [sys.executable, "-m", "ctxsift", *arguments]
    return subprocess.run(whole, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_counts_lists_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", "The user wants a tax rate.", works_on=True)
    listed = ctxsift("lost", str(path))
    assert listed.returncode == 0
    shown = listed.stdout.splitlines()
    assert shown[0].startswith("The compaction after step ")
    assert shown[1] == f"- step 1, user's instruction: {ORDER}"
    loss = loss_of(path)
    assert lines(loss, most=1)[-1] == f"... and {len(loss.dropped) - 1} more: ctxsift lost --all"
    told = json.loads(ctxsift("lost", "--json", str(path)).stdout)
    assert (told["lost"], told["dropped"][0]["text"]) == (loss.lost, ORDER)


def test_the_command_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    refused = ctxsift("lost", str(tmp_path / "none.jsonl"))
    assert refused.returncode == 2
    assert "none.jsonl" in refused.stderr


def hooked(given: bytes, most_waited: float = 20) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as Claude Code does; it waits so many seconds at most."""
    code = "import sys, benchmark.probes.lost_command as command; from ctxsift.cli.main import main"
    code += f"; command.MOST_WAITED = {most_waited}; sys.exit(main(['lost', '--hook']))"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, input=given, capture_output=True, env=os.environ, timeout=60, check=False)


def event(path: Path, source: str = "compact") -> bytes:
    return json.dumps({"hook_event_name": "SessionStart", "source": source, "transcript_path": str(path)}).encode()


def told(answer: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Return the lines that Claude Code shows the agent."""
    assert (answer.returncode, answer.stderr) == (0, b"")
    reply = json.loads(answer.stdout)["hookSpecificOutput"]
    assert reply["hookEventName"] == "SessionStart"
    found: str = reply["additionalContext"]
    return found.splitlines()


@pytest.mark.parametrize("works_on", [False, True])
def test_an_agent_is_told_after_a_compaction(tmp_path: Path, *, works_on: bool) -> None:
    path = write_session(tmp_path / "s.jsonl", "The user wants a tax rate.", works_on=works_on)
    shown = told(hooked(event(path)))
    assert ORDER in shown[1]
    assert len(shown) <= MOST_LINES


def test_a_summary_may_be_recorded_after_the_hook_is_called(tmp_path: Path) -> None:
    # So does Claude Code 2.1.332 (28 November 2026).
    path = write_session(tmp_path / "s.jsonl", None)
    later = write_session(tmp_path / "later.jsonl", "The user wants a tax rate.").read_bytes()

    def record() -> None:
        time.sleep(2)
        path.write_bytes(later)

    writing = threading.Thread(target=record)
    writing.start()
    answer = hooked(event(path))
    writing.join()
    assert ORDER in told(answer)[1]


def test_an_agent_is_told_nothing_else(tmp_path: Path) -> None:
    just = write_session(tmp_path / "just.jsonl", "The user wants a tax rate.")
    # Of a compaction before this one, whose summary is not recorded; or there is nothing that could be read.
    later = write_session(tmp_path / "later.jsonl", "The user wants a tax rate.", works_on=True, made=ago(300))
    quiet = [
        event(just, "startup"),
        event(later),
        event(write_session(tmp_path / "never.jsonl", None)),
        event(tmp_path / "none.jsonl"),
        b"{",
        b"[]",
        b"",
        b'{"a": 1}',
        b"\xff",
    ]
    for given in quiet:
        answer = hooked(given, most_waited=0.3)
        assert (answer.returncode, answer.stdout) == (0, b""), given


def test_it_is_a_subcommand_like_the_others() -> None:
    assert "show what the last compaction of a session dropped" in ctxsift("--help").stdout
