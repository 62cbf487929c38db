"""`ctxsift stats`: counts of what happened, and a log that costs nobody an output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ctxsift import raw_store
from ctxsift.cli.stats import counted
from ctxsift.shortening import shortened

OUTPUT = "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c into build/obj\n" for n in range(400)).encode()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("CTXSIFT", raising=False)
    return tmp_path / "ctxsift"


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ctxsift", *arguments]
    stdin = subprocess.DEVNULL
    return subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=60, check=False)


def stats() -> dict[str, Any]:
    done = call("stats", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return dict(json.loads(done.stdout))


@pytest.mark.slow
def test_what_happened_is_counted() -> None:
    nothing = {"since": None, "shortened": 0, "bytes_in": 0, "bytes_out": 0, "outputs": 0, "read_again": 0}
    assert stats() == nothing | {"whole": {}, "read_again_rate": None}
    script = f"import sys; sys.stdout.write({OUTPUT.decode()!r} + sys.argv[1])"
    shown = [call("run", "--", sys.executable, "-c", script, word).stdout for word in ("a", "a", "b")]
    call("run", "--", sys.executable, "-c", "print('x' * 9000); raise SystemExit(3)")
    call("run", "--", sys.executable, "-c", "import sys; sys.stdout.buffer.write(bytes(9000))")
    call("run", "--", "echo", "short")
    call("raw", raw_store.entries()[0].identity)
    call("raw", raw_store.entries()[0].identity, "--lines", "1:2")
    call("raw", "0" * 12)
    found = stats()
    assert abs(found.pop("since") - time.time()) < 300
    assert found == {
        "shortened": 3,
        "bytes_in": 3 * len(OUTPUT) + 3,
        "bytes_out": sum(len(each) - 1 for each in shown),
        "outputs": 2,
        "read_again": 1,
        "read_again_rate": 0.5,
        "whole": {"saves-too-little": 1, "no-text": 1},
    }
    lines = call("stats").stdout.splitlines()
    assert lines[1].split() == ["shortened", "3", "(2", "different)"]
    assert "no-text" in lines[-1]


@pytest.mark.slow
def test_too_much_left_out_is_told(state: Path) -> None:
    (state).mkdir()
    lines = [f"1 shortened 9000 500 {n:012x}\n" for n in range(10)]
    (state / "uses").write_text("".join(lines) + "".join(f"2 read {n:012x}\n" for n in range(4)))
    assert "40% of the shortened outputs were read again" in call("stats").stderr


@pytest.mark.slow
def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "ctxsift").write_text("no folder")
    for arguments, code in ((("stats",), 1), (("stats", "--", "ls"), 2), (("stats", "x"), 2)):
        done = call(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)


def test_lines_that_are_not_whole_count_for_nothing() -> None:
    lines = [
        "",
        "1",
        "1 shortened 2",
        "x shortened 3 4 ab",
        "1 shortened 3 4 ab",
        "1 read",
        "9" * 99 + " read ab",
        "\0",
    ]
    found = counted([line.split(" ") for line in lines])
    assert (found.shortened, found.bytes_in, found.bytes_out, found.read_again, found.since) == (1, 3, 4, 0, 1)


def test_nothing_is_written_before_the_first_output_is_kept(state: Path) -> None:
    assert shortened(bytes(9000), "errors", 0, 8000) is None
    assert not state.exists()


@pytest.mark.parametrize("plant", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path.with_name("victim"))])
def test_a_log_that_cannot_be_written_costs_nothing(plant: Any, state: Path) -> None:
    assert shortened(OUTPUT, "errors", 0, 8000) is not None
    (state / "uses").unlink()
    plant(state / "uses")
    assert shortened(OUTPUT, "errors", 0, 8000) is not None
    assert not (state / "victim").exists()


def test_lines_of_many_are_whole_and_the_file_is_bounded(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw_store.keep(OUTPUT)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: raw_store.log("shortened", 9000, 500, f"{n:012x}"), range(400)))
    found = counted(raw_store.logged())
    assert (found.shortened, found.outputs) == (400, 400)
    assert (state / "uses").stat().st_mode & 0o777 == 0o600
    monkeypatch.setattr(raw_store, "_MOST_USES", 2000)
    for n in range(200):
        raw_store.log("shortened", 9000, 500, f"{n:012x}")
    assert sum(path.stat().st_size for path in state.glob("uses*")) < 5000
    assert counted(raw_store.logged()).shortened >= 40
