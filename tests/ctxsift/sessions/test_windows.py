"""Sessions recorded on Windows: one file is one entry, however its path is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import ArtifactIndex, index_session
from ctxsift.sessions.artifacts.paths import resolve
from ctxsift.sessions.artifacts.records import Artifacts, CheckState, FileState
from ctxsift.sessions.records import Source, Step, ToolCall, ToolResult
from tests.ctxsift.sessions.samples import claude, lines, read, result, use

SHOP = "C:\\Users\\me\\shop"


def touched(*calls: tuple[str, dict[str, Any]], folder: str = SHOP, output: str = "") -> Artifacts:
    index = ArtifactIndex(folder)
    for number, (name, arguments) in enumerate(calls, 1):
        call, done = ToolCall("c", name, arguments), ToolResult("c", output)
        index.add(Step(number, Source.AGENT, "", calls=(call,), results=(done,)))
    return index.artifacts()


@pytest.mark.parametrize(
    ("path", "folder", "found"),
    [
        ("C:\\Users\\me\\shop\\a.py", SHOP, "C:/Users/me/shop/a.py"),
        ("c:\\users\\me\\Shop\\src\\A.py", SHOP, "C:/Users/me/shop/src/A.py"),
        ("c:/Users/me/shop/a.py", SHOP, "C:/Users/me/shop/a.py"),
        ("src\\a.py", "c:\\Users\\me\\shop\\", "C:/Users/me/shop/src/a.py"),
        (".\\src\\..\\a.py", SHOP, "C:/Users/me/shop/a.py"),
        ("/c/Users/me/shop/a.py", SHOP, "C:/Users/me/shop/a.py"),
        ("/mnt/c/Users/me/shop/a.py", SHOP, "C:/Users/me/shop/a.py"),
        ("/d/data.csv", SHOP, "D:/data.csv"),
        ("~/notes.md", SHOP, "C:/Users/me/notes.md"),
        ("/tmp/x", SHOP, "/tmp/x"),
        ("C:\\x.py", "/work", "C:/x.py"),
        # Where nothing tells of Windows, a backslash is a character of a name, and a letter one of a folder.
        ("a\\b.py", "/work", "/work/a\\b.py"),
        ("/c/x.py", "/work", "/c/x.py"),
    ],
)
def test_a_path_is_written_in_one_way(path: str, folder: str, found: str) -> None:
    assert resolve(path, folder) == found
    assert resolve(found, folder) == found


def test_one_file_is_one_entry() -> None:
    made = touched(
        ("Read", {"file_path": "C:\\Users\\me\\shop\\src\\cart.py"}),
        ("Edit", {"file_path": "c:\\Users\\me\\shop\\src\\cart.py", "old_string": "a", "new_string": "b"}),
        ("Bash", {"command": "cat /c/Users/me/shop/src/cart.py && sed -i s/b/c/ src/cart.py"}),
        ("Bash", {"command": 'rm "C:\\Users\\me\\shop\\src\\old.py"'}),
        ("Write", {"file_path": "D:\\elsewhere\\x.py", "content": "x"}),
    )
    assert {file.path: file.state for file in made.files} == {
        "src/cart.py": FileState.MODIFIED,
        "src/old.py": FileState.DELETED,
        "D:/elsewhere/x.py": FileState.WRITTEN,
    }


@pytest.mark.parametrize("command", ["python.exe -m pytest", ".venv/Scripts/pytest.exe", "npm.cmd run test"])
def test_checks_run_there(tmp_path: Path, command: str) -> None:
    session = read(
        tmp_path,
        lines(
            claude("user", "Fix it", 1, cwd=SHOP),
            claude("assistant", [use("t1", "Bash", command=command)], 2, cwd=SHOP, message={"id": "m"}),
            claude("user", [result("t1", "Exit code 1\n1 failed, 3 passed in 0.1s", is_error=True)], 3, cwd=SHOP),
        ),
    )
    assert [check.state for check in index_session(session).checks] == [CheckState.FAILED]
