"""`ctxsift session files`: the index as text and as JSON, from a file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ctxsift.cli.session_files import render_files, steps_in_words
from ctxsift.sessions.artifacts.index import ArtifactIndex
from ctxsift.sessions.artifacts.records import Artifacts
from ctxsift.sessions.records import Source, Step, ToolCall, ToolResult
from tests.conftest import ROOT


def _session(folder: Path) -> Path:
    """Write a session in the format of Pi: one file written, one command that fails, one check."""
    calls: list[tuple[str, dict[str, str], str, bool]] = [
        ("write", {"path": "new.py", "content": "x = 1\n"}, "Successfully wrote 6 bytes to new.py", False),
        ("bash", {"command": "cat gone.py"}, "cat: gone.py: No such file\n\nCommand exited with code 1", True),
        ("bash", {"command": "npm test | tail"}, "done", False),
        (
            "bash",
            {"command": "git add -A && git commit -m New"},
            "[main 1234567] New\n create mode 100644 new.py",
            False,
        ),
    ]
    lines: list[object] = [{"type": "session", "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/home/me/tool"}]
    for number, (name, arguments, output, failed) in enumerate(calls):
        call = {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": arguments}
        result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": name, "isError": failed}
        asked: dict[str, object] = {"role": "assistant", "content": [call], "stopReason": "toolUse"}
        answered = result | {"content": [{"type": "text", "text": output}]}
        lines.extend({"type": "message", "message": message} for message in (asked, answered))
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ctxsift", "session", "files", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_page_shows_what_is_printed() -> None:
    page = (ROOT / "docs" / "artifact-index.md").read_text(encoding="utf-8")
    (name, shown), *_ = re.findall(r"```\n\$ ctxsift session files (\S+)\n(.*?)```", page, re.DOTALL)
    done = _run(str(ROOT / name))
    assert (done.returncode, done.stdout.rstrip()) == (0, shown.rstrip())


def test_text_names_the_steps(tmp_path: Path) -> None:
    done = _run(str(_session(tmp_path)))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "files changed: 1",
        "  created  new.py",
        "             step 1",
        "             1: written 1 line",
        "",
        "commands that failed: 1",
        "  step 2  cat gone.py",
        "            exit code 1: cat: gone.py: No such file",
        "",
        "checks: 1",
        "  outcome not shown  npm test",
        "                       step 3",
        "",
        "commits: 1",
        "  1234567  New",
        "             step 4, main",
    ]


def test_json_holds_every_entry(tmp_path: Path) -> None:
    told = json.loads(_run(str(_session(tmp_path)), "--json").stdout)
    assert [(entry["path"], entry["state"], entry["step_ids"]) for entry in told["files"]] == [
        ("new.py", "created", [1])
    ]
    assert told["failed_commands"][0]["step_id"] == 2
    assert told["checks"][0]["runs"] == [{"step_id": 3, "state": "outcome not shown"}]
    assert told["commits"][0] == {"step_id": 4, "subject": "New", "revision": "1234567", "branch": "main"}


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("no session", encoding="utf-8")
    done = _run(str(tmp_path / "x.txt"))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("steps", "words"), [([3], "step 3"), ([7, 3, 5, 6, 5], "steps 3, 5-7"), ([1, 2], "steps 1-2")]
)
def test_steps_in_words(steps: list[int], words: str) -> None:
    assert steps_in_words(steps) == words


def test_a_session_without_files_says_so() -> None:
    assert render_files(Artifacts()) == ["The session touched no file and ran no check."]


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (ToolResult("c", "cat: gone.py: No such file", None, is_error=True), None),
        (ToolResult("c", "cat: gone.py: No such file\n\nCommand exited with code 2", None, is_error=True), 2),
        (ToolResult("c", "cat: gone.py: No such file", 3, is_error=True), 3),
        (ToolResult("c", '{"output": "cat: gone.py: No such file", "metadata": {"exit_code": 4}}', None, True), 4),
    ],
)
def test_an_exit_code_is_told_only_where_the_file_states_one(result: ToolResult, code: int | None) -> None:
    call = ToolCall("c", "Bash", {"command": "cat gone.py"})
    step = Step(1, Source.AGENT, "", calls=(call,), results=(result,))
    index = ArtifactIndex("/w")
    index.add(step)
    assert [each.exit_code for each in index.artifacts().failed] == [code]
