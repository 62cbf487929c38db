"""`ctxsift raw`: the bytes as they were, parts of them, and final words where they are gone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ctxsift import raw_store

pytestmark = pytest.mark.slow

DATA = b"".join(b"line %d of the build\r\n" % number for number in range(1, 3001)) + b"error \xff at the end"


@pytest.fixture
def identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return raw_store.keep(DATA)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def call(*arguments: str, most_s: float = 60) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ctxsift", "raw", *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=most_s, check=False)


def test_all_of_it_comes_byte_for_byte(identity: str) -> None:
    done = call(identity)
    assert (done.returncode, done.stdout, done.stderr) == (0, DATA, b"")


def test_what_could_not_be_printed_is_no_success(identity: str) -> None:
    command = [sys.executable, "-m", "ctxsift", "raw", identity]
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run(command, stdout=full, stderr=subprocess.DEVNULL, check=False).returncode == 1


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("--lines", "3:5"), (3, 4, 5)),
        (("--lines", ":2"), (1, 2)),
        (("--lines", "5"), (5,)),
        (("--lines", "2999:"), (2999, 3000, 0)),
        (("--grep", r"line (7|12) of"), (7, 12)),
        (("--grep", r"^error"), (0,)),
        (("--lines", "1:100", "--grep", "9 of the build$"), tuple(range(9, 100, 10))),
        (("--lines", "4000:"), ()),
        (("--grep", "not there"), ()),
    ],
)
def test_lines_are_chosen(identity: str, options: tuple[str, ...], numbers: tuple[int, ...]) -> None:
    done = call(identity, *options)
    lines = [b"line %d of the build\r\n" % number if number else b"error \xff at the end" for number in numbers]
    assert (done.returncode, done.stdout) == (0, b"".join(lines))
    given = " and ".join(option for option in options if option.startswith("--"))
    assert done.stderr.decode() == ("" if numbers else f"ctxsift: no line matches {given}\n")


def test_a_pattern_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    done = call(raw_store.keep(b"a" * 5000 + b"b"), "--grep", "^(a|aa)+$", most_s=40)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--grep: takes longer than 5 s; simplify the pattern" in done.stderr


def test_path_list_and_clear(identity: str) -> None:
    assert call(identity, "--path").stdout.decode() == f"{raw_store.path_of(identity)}\n"
    listed = call("--list").stdout.decode().split()
    assert listed[:2] == [identity, f"{len(DATA):,}"]
    assert call("--clear").stdout == b"removed: 1\n"
    assert (call("--list").stdout, names(raw_store.folder())) == (b"", ["expired"])


def test_what_is_gone_is_told_for_good(identity: str) -> None:
    raw_store.clear()
    done = call(identity)
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr == f"ctxsift: {identity} has been deleted. Do not retry; run its command again\n".encode()


@pytest.mark.parametrize("name", ["0123456789ab", "../../etc/passwd", "", "x\x1b[2J", "0123456789AB"])
def test_what_was_never_there_is_unknown(identity: str, name: str) -> None:
    done = call(name)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no output has this ID" in done.stderr
    assert b"\x1b" not in done.stderr


def test_without_a_folder_nothing_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert (call("--list").returncode, call("--clear").stdout, call("0123456789ab").returncode) == (
        0,
        b"removed: 0\n",
        1,
    )
    assert not names(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--list", "--clear"),
        ("a", "--list"),
        ("a", "--lines", "0:3"),
        ("a", "--lines", ":"),
        ("a", "--lines", "9:3"),
    ],
)
def test_bad_usage_is_told_in_one_line(identity: str, arguments: tuple[str, ...]) -> None:
    done = call(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


def test_a_bad_pattern_is_refused(identity: str) -> None:
    done = call(identity, "--grep", "a(")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    # It is no read of the output.
    assert raw_store.logged() == []
