"""Reading what comes from outside, and writing without a trace of a writer that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ctxsift.errors import InputError
from ctxsift.files import PRIVATE, files_below, read_bytes, write_atomically


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a device", "nothing"])
def test_only_files_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "link to a device":
        path.symlink_to("/dev/zero")
    elif kind == "device":
        path = Path("/dev/zero")
    with pytest.raises(InputError, match="is not a file" if kind != "nothing" else "no such file"):
        read_bytes(path, "name another", most_mb=1)


def test_folders_behind_links_are_searched_once(tmp_path: Path) -> None:
    real, tree = tmp_path / "real", tmp_path / "tree"
    (real / "run").mkdir(parents=True)
    tree.mkdir()
    (real / "run" / "a.json").write_text("{}")
    (real / "run" / "back").symlink_to(tree)
    (tree / "link").symlink_to(real)
    (tree / "same").symlink_to(real)
    (tree / "broken.json").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tree / "pipe.json")
    (tree / ".hidden.json").write_text("{}")
    refused: list[InputError] = []
    # What is no file is told by whoever reads it.
    odd = [tree / "broken.json", tree / "pipe.json"]
    found = list(files_below(tree, (".json",), refused.append))
    assert found == sorted([*odd, tree / "link" / "run" / "a.json"])
    assert not refused


def test_a_folder_has_its_own_name_and_not_that_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "z" / "run").mkdir(parents=True)
    (tmp_path / "z" / "run" / "a.json").write_text("{}")
    (tmp_path / "latest").symlink_to(tmp_path / "z" / "run")
    refused: list[InputError] = []
    assert list(files_below(tmp_path, (".json",), refused.append)) == [tmp_path / "z" / "run" / "a.json"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    refused: list[InputError] = []
    assert not list(files_below(tmp_path / "gone", (".json",), refused.append))
    assert [error.where for error in refused] == [str(tmp_path / "gone")]


def test_the_mask_of_a_person_is_respected(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_atomically(tmp_path / "x", "secret")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_a_killed_writer_leaves_nothing_after_the_next_one(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from ctxsift.files import write_atomically\n"
        "while True: write_atomically(Path(sys.argv[1]), 'y' * 2_000_000)"
    )
    path = tmp_path / "x.json"
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", program, str(path)]) as process:
            while not any(tmp_path.glob(".x.json*")):
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
        assert not path.exists() or path.read_text() == "y" * 2_000_000
    write_atomically(path, "whole")
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]
    assert path.read_text() == "whole"


def test_writers_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "x"
    texts = [letter * 300_000 for letter in "abcdefgh"]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda text: write_atomically(path, text), texts * 4))
    assert path.read_text() in texts
    assert [file.name for file in tmp_path.iterdir()] == ["x"]


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("untouched")
    (tmp_path / ".x.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError, match="symbolic links"):
        write_atomically(tmp_path / "x", "new")
    assert (tmp_path / "victim").read_text() == "untouched"


def test_a_device_stays_one(tmp_path: Path) -> None:
    # By way of links: were it replaced, it would be the link, and not the device of the machine.
    null, full = tmp_path / "null", tmp_path / "full"
    null.symlink_to("/dev/null")
    full.symlink_to("/dev/full")
    write_atomically(null, "a page")
    with pytest.raises(OSError, match="No space left"):
        write_atomically(full, "a page")
    assert [path.is_char_device() for path in (null, full)] == [True, True]


def test_a_name_of_a_stream_stays_one(tmp_path: Path) -> None:
    code = "from pathlib import Path; from ctxsift.files import write_atomically as w; w(Path('/dev/fd/1'), 'a page')"
    with (tmp_path / "page").open("w+") as page:
        subprocess.run([sys.executable, "-c", code], stdout=page, timeout=60, check=True)
        page.seek(0)
        assert page.read() == "a page"
    assert [path.name for path in tmp_path.iterdir()] == ["page"]


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomically(path, "open")
    write_atomically(tmp_path / "b.json", "secret", mode=PRIVATE)
    assert path.stat().st_mode & 0o044
    assert (tmp_path / "b.json").stat().st_mode & 0o777 == 0o600
    write_atomically(tmp_path / "b.json", "written anew")
    assert (tmp_path / "b.json").stat().st_mode & 0o777 == 0o600
