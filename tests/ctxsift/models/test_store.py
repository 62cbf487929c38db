"""Answers by key: two runs that write to one file, kills, torn lines, and files that hold something else."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxsift.errors import InputError
from ctxsift.models.store import Store, StoreEntry
from tests.conftest import ROOT
from tests.support.at_once import go
from tests.support.depth import depth


class Kept(StoreEntry, frozen=True, kw_only=True):
    text: str


class Counted(StoreEntry, frozen=True, kw_only=True):
    count: int


def opened(path: Path) -> Store[Kept]:
    return Store(path, Kept, "holds no answers", "name another file")


def kept(key: str, text: str = "said") -> Kept:
    return Kept(key=key, text=text)


def found(path: Path, *keys: str) -> list[str | None]:
    store = opened(path)
    entries = [store.get(key) for key in keys]
    return [entry.text if entry else None for entry in entries]


def test_what_is_put_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    texts = ["", "two\nlines", "\x00\x1b[2J\u2028", "half \ud83d of a character", "数" * 9_000]
    store = opened(path)
    assert store.get("0") is None
    assert not path.exists()
    for number, text in enumerate(texts):
        assert store.put(kept(str(number), text)).text == text
    assert found(path, *"01234") == texts
    assert [json.loads(line)["text"] for line in path.read_bytes().splitlines()] == texts


def test_the_first_answer_to_a_key_stands(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    one, other = opened(path), opened(path)
    assert one.put(kept("a", "first")).text == "first"
    # Both had asked before either knew.
    assert other.put(kept("a", "second")).text == "first"
    other.put(kept("b", "third"))
    assert one.get("b") == kept("b", "third")
    assert path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize(
    "end",
    [
        b'{"key": "c", "te',
        b"{",
        b'{"key": "c", "text": "half of a \xe6',
        b"\0\0\0\0",
        b'{"key": "c", "te\0\0',
        b'{"key": "c", "te\n{"key": "d", "t',
        b'{"key": "c"}\n',
        b'{"key": "c", "text": 5, "of": "another version"}\n',
        b"\n\n",
    ],
)
@pytest.mark.parametrize("before", [0, 2])
def test_a_torn_line_takes_no_other_with_it(tmp_path: Path, end: bytes, before: int) -> None:
    path = tmp_path / "kept"
    for key in "ab"[:before]:
        opened(path).put(kept(key))
    with path.open("ab") as file:
        file.write(end)
    if end == b'{"key": "c"}\n' and not before:
        # It could be anything.
        with pytest.raises(InputError):
            opened(path)
        return
    opened(path).put(kept("e"))
    opened(path).put(kept("f"))
    assert found(path, *"abcdef") == [*["said"] * before, *[None] * (4 - before), "said", "said"]
    assert path.read_bytes().count(b'"said"') == before + 2


def test_a_last_line_whose_end_is_missing_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text('{"key": "a", "text": "said"}')
    opened(path).put(kept("b"))
    assert found(path, "a", "b") == ["said", "said"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("my notes\n", 1),
        ("my notes", 1),
        ("\n\nmy notes\n", 3),
        ('{"question": "q?", "answer": "a", "contexts": []}\n' * 3, 1),
        ('{"key": "a", "count": 5}\n', 1),
        ('{"a file": "of JSON", "key": "a"}', 1),
        ('["key", "text"]\n', 1),
        ("null\n", 1),
        ("\x7fELF\x00\x01", 1),
        ("[" * 100_000, 1),
    ],
)
def test_a_file_that_holds_something_else_is_refused_and_left_as_it_is(tmp_path: Path, content: str, line: int) -> None:
    path = tmp_path / "mine"
    path.write_text(content)
    with pytest.raises(InputError) as refused:
        opened(path)
    assert str(refused.value) == f"{path}:{line}: holds no answers; name another file"
    assert path.read_text() == content


def test_a_file_of_other_answers_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counted"
    Store(path, Counted, "", "").put(Counted(key="a", count=1))
    with pytest.raises(InputError, match=":1: holds no answers"):
        opened(path)


def test_the_head_of_earlier_versions_is_none_of_the_entries(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_text('{"format": "1"}\n')
    with pytest.raises(InputError):
        opened(path)
    store = Store(path, Kept, "holds no answers", "name another file", head={"format": "1"})
    store.put(kept("a"))
    assert found(path, "a") == ["said"]


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a device"])
def test_only_a_file_is_written_to(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "kept"
    store = opened(path)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path("/dev/full")
        (tmp_path / "kept").symlink_to(path)
    with pytest.raises(InputError, match="is not a file"):
        opened(path)
    with pytest.raises(OSError, match=r"is not a file|Is a directory"):
        store.put(kept("a"))
    assert store.get("a") == kept("a")


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with path.open("wb") as file:
        file.truncate(500_000_001)
    with pytest.raises(InputError, match="is larger than 500 MB; name another file"):
        opened(path)


def test_what_cannot_be_written_is_known_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kept"
    store = opened(path)
    with pytest.raises(FileNotFoundError):
        store.put(kept("a"))
    path.parent.mkdir()
    store.put(kept("b"))
    assert store.get("a") == kept("a")
    assert found(path, "a", "b") == [None, "said"]


def test_a_file_that_was_removed_meanwhile_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    one, other = opened(path), opened(path)
    one.put(kept("a"))
    assert other.get("a") == kept("a")
    path.unlink()
    one.put(kept("b"))
    assert other.get("b") == kept("b")
    assert found(path, "a", "b") == [None, "said"]


# Processes ---------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from tests.ctxsift.models.test_store import kept, opened
path, name, count, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store = opened(path)
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    store.put(kept(f"{name} {number}", "x" * size))
    print(number, flush=True)
"""


def writer(path: Path, name: str, count: int, size: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count), str(size)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_runs_at_once_lose_nothing(tmp_path: Path) -> None:
    count = 60
    for attempt in range(depth(3, 20)):
        path = tmp_path / f"kept-{attempt}"
        processes = [writer(path, name, count, 5_000) for name in "abc"]
        go(*processes)
        assert [process.communicate(timeout=60) and process.returncode for process in processes] == [0, 0, 0]
        keys = [json.loads(line)["key"] for line in path.read_bytes().splitlines()]
        assert sorted(keys) == sorted(f"{name} {number}" for name in "abc" for number in range(count))


@pytest.mark.slow
def test_what_was_put_is_there_after_a_kill(tmp_path: Path) -> None:
    path, drawn = tmp_path / "kept", random.Random(3)
    told: list[str] = []
    # The other one is never killed, and never waits for a lock that a dead process left.
    other = writer(path, "other", 150, 5_000)
    go(other)
    for name in map(str, range(depth(3, 20))):
        process = writer(path, name, 10_000, 300_000)
        go(process)
        time.sleep(drawn.uniform(0.02, 0.6))
        process.send_signal(signal.SIGKILL)
        told += [f"{name} {number}" for number in process.communicate(timeout=60)[0].split()]
    assert other.communicate(timeout=60)
    assert other.returncode == 0
    store = opened(path)
    assert len(told) > 3
    assert [key for key in (*told, *(f"other {number}" for number in range(150))) if store.get(key) is None] == []
