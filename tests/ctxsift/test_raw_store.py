"""Originals on disk: whole or not there, for their owner's eyes, bounded in number, size and age."""

from __future__ import annotations

import hashlib
import os
import random
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctxsift import raw_store
from tests.support.at_once import go
from tests.support.depth import depth

_LINK = "Too many levels of symbolic links|Not a directory"
DATA = b"one\r\ntwo\xff\nthree"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files will be; nothing is there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "ctxsift" / "raw"


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def age(path: Path, days: float) -> None:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_kept_is_there_byte_for_byte_for_its_owner_alone(store: Path) -> None:
    identity = raw_store.keep(DATA)
    path = raw_store.path_of(identity)
    assert identity == hashlib.sha256(DATA).hexdigest()[:12]
    assert (path, path.read_bytes(), raw_store.read(identity)) == (store / f"{identity}.log", DATA, DATA)
    assert (mode(path), mode(store), mode(store.parent)) == (0o600, 0o700, 0o700)
    assert raw_store.keep(DATA) == identity
    assert names(store) == [path.name]


def test_without_a_setting_it_is_in_the_folder_for_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in ("", "relative/state"):
        monkeypatch.setenv("XDG_STATE_HOME", given)
        assert raw_store.folder() == tmp_path / ".local" / "state" / "ctxsift" / "raw"


def test_another_output_with_the_same_id_gets_a_longer_one(store: Path) -> None:
    short = raw_store.keep(DATA)
    (store / f"{short}.log").write_bytes(b"something else")
    longer = raw_store.keep(DATA)
    assert longer == hashlib.sha256(DATA).hexdigest()[:16]
    assert raw_store.read(longer) == DATA
    # What was written over is no original.
    with pytest.raises(OSError, match="was changed"):
        raw_store.read(short)


def test_a_link_in_the_place_of_a_file_is_refused(store: Path, tmp_path: Path) -> None:
    identity = raw_store.keep(DATA)
    path = store / f"{identity}.log"
    path.unlink()
    target = tmp_path / "target"
    target.write_bytes(DATA)
    path.symlink_to(target)
    for refused in (lambda: raw_store.keep(DATA), lambda: raw_store.read(identity)):
        with pytest.raises(OSError, match=_LINK):
            refused()
    path.unlink()
    path.symlink_to(tmp_path / "not-there")
    with pytest.raises(OSError, match=_LINK):
        raw_store.keep(DATA)
    assert not (tmp_path / "not-there").exists()


@pytest.mark.parametrize("level", ["raw", "ctxsift"])
@pytest.mark.parametrize("others", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_to_is_refused(store: Path, level: str, others: int) -> None:
    raw_store.keep(DATA)
    (store if level == "raw" else store.parent).chmod(others)
    with pytest.raises(OSError, match="others may write to it"):
        raw_store.keep(DATA)


def test_a_folder_of_somebody_else_is_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw_store.keep(DATA)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(OSError, match="belongs to another user"):
        raw_store.keep(DATA)


def test_a_folder_that_others_may_read_is_closed_to_them(store: Path) -> None:
    store.mkdir(parents=True)
    store.chmod(0o755)
    raw_store.keep(DATA)
    assert mode(store) == 0o700


def test_a_folder_behind_a_link_is_refused(store: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    store.parent.mkdir()
    store.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=_LINK):
        raw_store.keep(DATA)
    assert not names(tmp_path / "elsewhere")


def test_files_go_a_week_after_they_were_read_last(store: Path) -> None:
    old, read = raw_store.keep(b"old"), raw_store.keep(b"read")
    for identity in (old, read):
        age(store / f"{identity}.log", 8)
    raw_store.read(read)
    new = raw_store.keep(b"new")
    assert {each.identity for each in raw_store.entries()} == {read, new}
    assert raw_store.is_expired(old)
    assert not raw_store.is_expired(read)
    assert not raw_store.is_expired("0" * 12)


def test_the_number_of_files_is_bounded(store: Path) -> None:
    kept = [raw_store.keep(b"%d" % number) for number in range(raw_store.MOST_FILES)]
    age(store / f"{kept[7]}.log", 1)
    raw_store.keep(b"one more")
    assert len(raw_store.entries()) == raw_store.MOST_FILES
    assert raw_store.is_expired(kept[7])


def test_their_size_is_bounded_and_what_was_just_written_stays(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raw_store, "_MOST_BYTES", 100)
    first, second = raw_store.keep(b"a" * 60), raw_store.keep(b"b" * 60)
    assert [each.identity for each in raw_store.entries()] == [second]
    assert raw_store.is_expired(first)
    third = raw_store.keep(b"c" * 200)
    assert [each.identity for each in raw_store.entries()] == [third]


def test_what_a_killed_writer_left_is_removed_in_time(store: Path) -> None:
    raw_store.keep(DATA)
    stale, fresh = store / ".x.log.1.tmp", store / ".y.log.2.tmp"
    stale.touch()
    fresh.touch()
    age(stale, 1)
    raw_store.keep(b"another")
    assert (stale.exists(), fresh.exists()) == (False, True)


def test_clearing_removes_all_and_remembers_the_ids(store: Path) -> None:
    identities = [raw_store.keep(b"a"), raw_store.keep(b"b")]
    assert raw_store.clear() == 2
    assert raw_store.entries() == []
    assert all(map(raw_store.is_expired, identities))


@pytest.mark.parametrize("fault", ["write", "fsync", "rename"])
def test_what_cannot_be_written_leaves_nothing(store: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    raw_store.keep(b"there")

    def fail(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    class Full:
        def __init__(self, descriptor: int, mode: str) -> None:
            self.fileno = descriptor

        def __enter__(self) -> Full:
            return self

        def __exit__(self, *error: object) -> None:
            os.close(self.fileno)

        write = fail

    before = names(store)
    with monkeypatch.context() as patch:
        patch.setattr(os, *(("fdopen", Full) if fault == "write" else (fault, fail)))
        with pytest.raises(OSError, match="No space left"):
            raw_store.keep(DATA)
    assert names(store) == before


@pytest.mark.slow
def test_fifty_writers_leave_whole_files(store: Path) -> None:
    code = "import sys; from ctxsift import raw_store; print(raw_store.keep(sys.argv[1].encode() * 40_000))"
    words = [f"output {number % 10} " for number in range(50)]
    running = [
        subprocess.Popen([sys.executable, "-c", code, word], stdout=subprocess.PIPE, text=True) for word in words
    ]
    told = [process.communicate(timeout=100)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0] * 50
    for identity, word in zip(told, words, strict=True):
        assert raw_store.read(identity) == word.encode() * 40_000
    assert names(store) == sorted({f"{identity}.log" for identity in told})


_LOGGER = """
import sys
from ctxsift import raw_store
raw_store._MOST_USES = int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    raw_store.log(sys.argv[1], number)
"""


def loggers(names: str, count: int, most: int) -> list[subprocess.Popen[str]]:
    """Start processes that log `count` lines each, and return them when all have begun."""
    command = [sys.executable, "-c", _LOGGER]
    found = [
        subprocess.Popen(
            [*command, name, str(most), str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    go(*found)
    return found


@pytest.mark.slow
def test_two_that_log_at_once_lose_no_line_also_as_the_file_is_begun_anew(store: Path) -> None:
    count = 800
    for _ in range(depth(3, 20)):
        raw_store.keep(DATA)
        raw_store.log("x", 0)
        length = len((store.parent / "uses").read_bytes())
        # Whole, it would be begun anew once.
        running = loggers("ab", count, count * (length + 2))
        assert [process.communicate(timeout=60) and process.returncode for process in running] == [0, 0]
        found = Counter((name, int(number)) for _, name, number in raw_store.logged() if name in "ab")
        assert found == Counter((name, number) for name in "ab" for number in range(count))
        for each in store.parent.glob("uses*"):
            each.unlink()


@pytest.mark.slow
def test_who_logs_and_is_killed_leaves_whole_lines(store: Path) -> None:
    raw_store.keep(DATA)
    chance = random.Random(61)
    for _ in range(10):
        running = loggers("ab", 1_000_000, 10**9)
        time.sleep(chance.uniform(0.01, 0.1))
        for process in running:
            process.kill()
            process.communicate()
    raw_store.log("last", 1)
    assert {len(words) for words in raw_store.logged()} == {3}
    assert raw_store.logged()[-1][1:] == ["last", "1"]
