"""The compressors of the matrix, and their adapters, with real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark.matrix import DEFAULT_MATRIX, Scenario, Track, load_matrix
from tests.conftest import ROOT, Run, write_matrix
from tests.support.runs import SMALL
from tools.compressors import __main__ as compressors
from tools.compressors.replay import simple_command

ADAPTERS = ROOT / "tools" / "compressors"
ROWS = [row for row in load_matrix(ROOT / DEFAULT_MATRIX) if row.track is Track.COMMAND]
REQUEST: dict[str, Any] = {
    "output": "\n3 items\r\nFAILED a\n1 failed\n",
    "instruction": "Which failed?",
    "command": "CI=1 /usr/bin/pytest -q 'a b' | tee log",
    "exit_code": 3,
    "intent": "recall",
}


def adapted(name: str, *arguments: str, **changes: Any) -> tuple[int, str, str]:
    """Return exit code, stdout and stderr of an adapter."""
    command = [sys.executable, str(ADAPTERS / name), *arguments]
    done = subprocess.run(command, input=json.dumps(REQUEST | changes).encode(), capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_says_how_to_install_it_and_names_files_that_exist(row: Scenario) -> None:
    assert (row.phase, row.enabled) == ("compressors", False)
    assert row.install
    assert all((ROOT / word).is_file() for word in row.command if word.startswith("./"))
    # What is not told the question is marked so.
    told = row.stdin == "json" or any("instruction" in word.lower() for word in row.command)
    assert told or not row.question


def test_there_are_rows_enough_for_a_board() -> None:
    assert len(ROWS) >= 15
    assert {"tool-tooltrim", "tool-headroom-crusher", "tool-tokenjuice", "tool-ripgrep", "tool-tail"} <= {
        row.name for row in ROWS
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("pytest -q", ["pytest", "-q"]),
        ("A=1 B='x y' make -j2 && echo done", ["make", "-j2"]),
        ("git log --format='%h | %s' | head", ["git", "log", "--format=%h | %s"]),
        ("(cd x; ls)", ["command"]),
        ("echo 'never closed", ["echo", "'never", "closed"]),
        ("make\nmake install", ["make"]),
        ("", ["command"]),
    ],
)
def test_the_first_command_of_a_shell_line(line: str, words: list[str]) -> None:
    assert simple_command(line) == words


def test_a_wrapper_runs_the_command_and_sees_what_was_captured() -> None:
    _, printed, _ = adapted("replay.py", "sh", "-c", 'printf "<%s>" "$@"; "$@"; echo "code $?"', "wrapper")
    assert printed == f"<pytest><-q><a b>{REQUEST['output']}code 3\n"
    for command in (REQUEST["command"], "cat notes"):
        assert adapted("replay.py", "env", command=command) == (3, REQUEST["output"], "")


def test_tokenjuice_is_told_the_command_and_its_text_is_taken(tmp_path: Path) -> None:
    program = tmp_path / "tokenjuice.py"
    program.write_text(
        "import json, sys; asked = json.load(sys.stdin); assert sys.argv[1:] == ['reduce-json']\n"
        "print(json.dumps({'inlineText': repr(asked), 'stats': {}}))"
    )
    asked = {
        "toolName": "exec",
        "command": "pytest -q 'a b'",
        "argv": ["pytest", "-q", "a b"],
        "combinedText": REQUEST["output"],
        "exitCode": 3,
    }
    _, printed, _ = adapted("with_tokenjuice.py", sys.executable, str(program), command="pytest -q 'a b'")
    assert printed == repr(asked)
    assert adapted("with_tokenjuice.py", sys.executable, "-c", "exit('no rules')") == (1, "", "no rules\n")


def test_the_page_is_written_from_results(
    tmp_path: Path, runner: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads((ROOT / DEFAULT_MATRIX).read_text())["scenarios"]
    behind = next(row for row in rows if row["name"] == "extractor-behind-ripgrep")
    write_matrix(tmp_path, *rows, behind | {"name": "behind-tail", "before": "tool-tail"})
    names = ("tool-tail", "tool-sed", "control-gold", "control-extractor", "behind-tail")
    done = runner(*SMALL, *(word for name in names for word in ("--scenario", name)))
    assert done.returncode == 0, done.stderr
    page = tmp_path / "docs" / "compressors.md"
    page.parent.mkdir()
    page.write_text(f"# Before\n\n{compressors.BEGIN}old\n{compressors.END}\nAfter\n")
    monkeypatch.chdir(tmp_path)
    assert compressors.main(["--results", "results"]) == 0
    text = page.read_text()
    assert text.startswith("# Before\n")
    assert text.endswith("\nAfter\n")
    assert "old" not in text.splitlines()
    for words in ("| tool-tail (blind) |", "| *control-gold* |", "tail (GNU coreutils)", "apt-get install coreutils"):
        assert words in text
    (row,) = (line for line in text.splitlines() if line.startswith("| extractor | tool-tail | 12 |"))
    assert "%" in row


def test_what_is_not_installed_is_left_out_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", "/nowhere")
    assert list(compressors.ready(ROWS)) == []
    assert (
        "left out: tool-ripgrep: there is no program sh; install it: apt-get install ripgrep" in capsys.readouterr().err
    )
