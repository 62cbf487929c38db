"""`ctxsift session` as a person calls it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from atif import Trajectory

from tests.conftest import ROOT
from tests.ctxsift.sessions.samples import CLAUDE, CODEX, PI, PI_HEAD, claude, codex, lines, pi, read, zstd_compressed

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "ctxsift", "session"]


def call(
    folder: Path, *arguments: str, data: bytes = b"", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder that is the home, too."""
    known = {name: value for name, value in os.environ.items() if name not in ("CLAUDE_CONFIG_DIR", "CODEX_HOME")}
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
        cwd=folder,
        env=known | {"HOME": str(folder), "PYTHONPATH": str(ROOT)} | (env or {}),
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def on_this_machine(home: Path, folder: Path) -> tuple[Path, Path]:
    """Write a session of Claude Code and a newer one of Codex; return their paths."""
    project = home / ".claude" / "projects" / str(folder).replace("/", "-").replace("_", "-").replace(".", "-")
    day = home / ".codex" / "sessions" / "2026" / "03" / "01"
    old, new = project / "s-1.jsonl", day / "rollout-2026-03-01T10-00-00-c-1.jsonl"
    for path, content in (
        (old, lines(claude("user", "Go", 1, cwd=str(folder)))),
        (project / "agent-1.jsonl", lines(claude("user", "aside", 1, cwd=str(folder), isSidechain=True))),
        (new, lines(codex("session_meta", id="c-1", cwd="/else/where"))),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    now = time.time()
    os.utime(old, (now - 7200, now - 7200))
    return old, new


def test_list_shows_the_sessions_of_this_machine(tmp_path: Path) -> None:
    _, new = on_this_machine(tmp_path, tmp_path)
    done = call(tmp_path, "list")
    assert (done.returncode, done.stderr) == (0, "")
    head, first, second, total = done.stdout.splitlines()
    assert head.split() == ["age", "size", "agent", "folder", "file"]
    assert "Codex" in first
    assert first.rstrip().endswith(str(new))
    assert second.strip().startswith("2 h ")
    assert f"Claude Code  {tmp_path}" in second
    assert total == "2 of 2 sessions, the newest first."
    listed = json.loads(call(tmp_path, "list", "-n", "1", "--json").stdout)
    assert listed["total"] == 2
    assert [(each["path"], each["folder"]) for each in listed["sessions"]] == [(str(new), "/else/where")]


def test_list_leaves_out_what_subagents_did(tmp_path: Path) -> None:
    _, new = on_this_machine(tmp_path, tmp_path)
    meta: dict[str, Any] = {"id": "c-2", "cwd": "/else/where", "source": {"subagent": {"other": "guardian"}}}
    (new.parent / "rollout-2026-03-01T11-00-00-c-2.jsonl").write_bytes(lines(codex("session_meta", **meta)))
    listed = json.loads(call(tmp_path, "list", "--json").stdout)
    assert listed["total"] == 2
    assert {each["folder"] for each in listed["sessions"]} == {"/else/where", str(tmp_path)}
    assert "c-2" not in call(tmp_path, "list", "-n", "1").stdout


def test_list_has_packed_rollouts_of_codex_once(tmp_path: Path) -> None:
    _, new = on_this_machine(tmp_path, tmp_path)
    packed = new.with_name(f"{new.name}.zst")
    packed.write_bytes(zstd_compressed(new.read_bytes()))
    # While Codex unpacks one to go on, both are there.
    assert json.loads(call(tmp_path, "list", "--json").stdout)["total"] == 2
    new.unlink()
    listed = json.loads(call(tmp_path, "list", "--json").stdout)["sessions"]
    assert [(each["path"], each["folder"]) for each in listed][:1] == [(str(packed), "/else/where")]


def test_list_of_nothing(tmp_path: Path) -> None:
    done = call(tmp_path, "list")
    assert (done.returncode, done.stdout) == (0, "There is no session of Claude Code or Codex on this machine.\n")


def test_folders_of_the_agents_may_be_elsewhere(tmp_path: Path) -> None:
    on_this_machine(tmp_path / "x", tmp_path)
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "x" / ".claude"), "CODEX_HOME": str(tmp_path / "x" / ".codex")}
    assert "2 of 2 sessions" in call(tmp_path, "list", env=env).stdout


def test_without_a_file_the_newest_session_of_this_folder_is_read(tmp_path: Path) -> None:
    old, _ = on_this_machine(tmp_path, tmp_path)
    done = call(tmp_path, "show")
    assert (done.returncode, done.stderr) == (0, f"ctxsift: reading {old} (Claude Code)\n")
    assert "Go" in done.stdout
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = call(elsewhere, "stats", env={"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert "FILE: no Claude Code or Codex session began in this folder; name a FILE" in done.stderr


def test_show(tmp_path: Path) -> None:
    long = "".join(f"line {number}\n" for number in range(40))
    records = [PI_HEAD, pi("user", "Look\x1b[31m [bold]here[/bold]", 1), pi("user", long, 2)]
    (tmp_path / "s").write_bytes(lines(*records, {"type": "compaction", "summary": "Short.", "tokensBefore": 1234}))
    done = call(tmp_path, "show", "s")
    assert done.returncode == 0
    assert "Look\\x1b[31m [bold]here[/bold]" in done.stdout
    assert "  line 11\n  [... 28 lines more]\n" in done.stdout
    assert done.stdout.endswith("\n--- compaction at 1,234 tokens\n  Short.\n")
    whole = call(tmp_path, "show", "s", "--step", "2")
    assert whole.stdout.rstrip().endswith("line 39")
    assert "Look" not in whole.stdout


def test_show_names_calls_with_their_results(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(CLAUDE)
    shown = call(tmp_path, "show", "s").stdout
    assert "  > Bash\n    command: pytest -q\n    [exit code 1, error]\n    Exit code 1\n    1 failed\n" in shown
    step = json.loads(call(tmp_path, "show", "s", "--json", "--step", "2").stdout)
    assert (step["reasoning_content"], step["tool_calls"][0]["function_name"]) == ("Look first.", "Read")
    Trajectory.model_validate_json(call(tmp_path, "show", "s", "--json").stdout)


def test_stats(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(PI + b'{"type": "odd"}\n' + lines(pi("user", "I am jane@example.org", 65)))
    done = call(tmp_path, "stats", "s")
    assert (done.returncode, done.stderr) == (0, "")
    told = {line[:12].strip(): line[13:] for line in done.stdout.splitlines() if line[:12].strip()}
    assert told == {
        "session": "Pi · m-1 · /work/shop · 2026-03-01T10:00:00.000Z (pi)",
        "steps": "4: 2 user, 2 agent",
        "tool calls": "1: read 1",
        "results": "1",
        "tokens": "125 in (100 of them cached), 7 out, as counted by the provider in 1 steps",
        "text": "about 16 tokens (64 characters / 4)",
        "compactions": "after step 2 at 900 tokens, steps from 2 on kept",
        "time": "2026-03-01 10:00:01 to 2026-03-01 10:01:05 UTC (1 min 4 s)",
        "not read": "1: record odd 1",
        "secrets": "1 taken out: e-mail address 1",
    }
    figures = json.loads(call(tmp_path, "stats", "s", "--json", "--keep-secrets").stdout)
    assert (figures["steps"]["total"], figures["tool_calls"], figures["redacted"]) == (4, {"read": 1}, {})
    assert figures["tokens_counted_by_provider"] == {"steps": 1, "prompt": 125, "cached": 100, "completion": 7}


def test_convert(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(CODEX)
    done = call(tmp_path, "convert", "s", "-o", "out.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "ctxsift: wrote 3 steps to out.json\n")
    document = (tmp_path / "out.json").read_bytes()
    Trajectory.model_validate_json(document)
    assert read(tmp_path, document).steps == read(tmp_path, CODEX).steps
    done = call(tmp_path, "convert", "s", "-o", "no/such/folder.json")
    assert done.returncode == 1
    assert "no/such/folder.json: cannot be written (No such file or directory)" in done.stderr
    (tmp_path / "again").hardlink_to(tmp_path / "s")
    for output in ("s", "./s", "again"):
        done = call(tmp_path, "convert", "s", "-o", output)
        assert (done.returncode, done.stderr) == (
            2,
            f"ctxsift: -o {Path(output)}: s is read, and would be lost; name another file\n",
        )
    assert (tmp_path / "s").read_bytes() == CODEX


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "the following arguments are required: ACTION; see ctxsift session --help"),
        (["shwo"], "argument ACTION: invalid choice: 'shwo'; did you mean show?"),
        (["s"], "argument ACTION: 's' is a file; did you mean ctxsift session show s?"),
        (
            ["show", "--stp", "1"],
            "unrecognized arguments: --stp; did you mean --step?; see ctxsift session",
        ),
        (["show", "--step", "0"], "argument --step: '0' is not a whole number of at least 1"),
        (["show", "s", "--step", "9"], "--step 9: no such step; give a number from 1 to 3"),
        (["show", "missing.jsonl"], "missing.jsonl: no such file"),
        (["show", "."], ".: is not a file"),
        (["convert", "s"], "the following arguments are required: -o/--output"),
        (["stats", "empty"], "empty: is empty"),
        (["list", "--", "touch", "ran"], "--: session takes no command; leave out `--` and what follows it"),
    ],
)
def test_wrong_usage_is_an_error(tmp_path: Path, arguments: list[str], why: str) -> None:
    (tmp_path / "s").write_bytes(CODEX)
    (tmp_path / "empty").touch()
    done = call(tmp_path, *arguments, data=b"piped in\n")
    # Nothing passes through, and nothing is run.
    assert (done.returncode, done.stdout, (tmp_path / "ran").exists()) == (2, "", False)
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_tells_exit_codes_and_examples(tmp_path: Path) -> None:
    done = call(tmp_path, "--help")
    assert done.returncode == 0
    assert "examples:\n  ctxsift session list\n" in done.stdout
    assert "exit code: 0 success" in done.stdout


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(lines(PI_HEAD, *(pi("user", "x" * 100, number) for number in range(3000))))
    command = f"{' '.join(COMMAND)} show s | head -n 2"
    env = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=tmp_path, env=env, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_signal_ends_it(tmp_path: Path) -> None:
    pipe_of_records = tmp_path / "s"
    pipe_of_records.write_bytes(lines(PI_HEAD, *(pi("user", "x" * 400, number) for number in range(120_000))))
    with subprocess.Popen([*COMMAND, "stats", "s"], cwd=tmp_path, stdout=subprocess.PIPE, env=_env()) as process:
        time.sleep(0.7)
        process.terminate()
        assert process.wait(20) == 143


def _env() -> dict[str, str]:
    return dict(os.environ) | {"PYTHONPATH": str(ROOT)}


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(turns: int) -> float:
        path = tmp_path / "s"
        with path.open("wb") as file:
            file.write(lines(PI_HEAD))
            for number in range(turns):
                call_block: dict[str, Any] = {"type": "toolCall", "id": f"k{number}", "name": "read", "arguments": {}}
                file.write(lines(pi("assistant", [call_block], number)))
                file.write(lines(pi("toolResult", "x" * 4000, number, toolCallId=f"k{number}")))
        with subprocess.Popen([*COMMAND, "stats", "s"], cwd=tmp_path, stdout=subprocess.DEVNULL, env=_env()) as run:
            process, most = psutil.Process(run.pid), 0
            while run.poll() is None:
                with contextlib.suppress(psutil.Error):
                    most = max(most, process.memory_info().rss)
                time.sleep(0.005)
            assert run.returncode == 0
        return most / 1e6

    small, large = peak(10), peak(10_000)
    assert large - small < 30
