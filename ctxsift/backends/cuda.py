"""All that is special about GPUs: what torch sees of them, whether that is enough, their clock and their memory.

`python -m ctxsift.backends.cuda` prints what torch sees as JSON. Others ask it that way, because importing torch takes
seconds and half a gigabyte that a runner has no other use for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec

from ctxsift.extras import Extra, install_hint

# Each with the compute capability it needs, after the installation guide of bitsandbytes.
_CAPABILITIES = {"none": (0, 0), "bnb-8bit": (7, 5), "bnb-4bit-nf4": (6, 0), "bnb-4bit-fp4": (6, 0)}
QUANTIZATIONS = tuple(_CAPABILITIES)
_PACKAGES = ("torch", "transformers", "accelerate", "bitsandbytes")
_LOOK_TIMEOUT_S = 120


@dataclass(frozen=True)
class Gpu:
    """One GPU.

    Attributes:
        capability: its compute capability, e.g. (8, 9).

    """

    name: str
    memory_bytes: int
    capability: tuple[int, int]


@dataclass(frozen=True)
class Sight:
    """What torch sees.

    Attributes:
        versions: of the packages the gpu track needs; those that are not installed are not in it.
        cuda_build: the CUDA version torch was built for; None for a build without.
        available: torch can use a GPU now.
        unasked: what `versions` says is unknown, since the process that looks failed.
        error: why torch could not even be asked; None when it could.

    """

    versions: dict[str, str]
    cuda_build: str | None = None
    available: bool = False
    gpus: tuple[Gpu, ...] = ()
    error: str | None = None
    unasked: bool = False


def look() -> Sight:
    """Return what torch sees, from within this process."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    try:
        import torch
    except Exception as error:  # a build for another driver fails in many ways
        return Sight(versions, error=f"{type(error).__name__}: {error}")
    available = torch.cuda.is_available()
    seen = [torch.cuda.get_device_properties(i) for i in range(torch.cuda.device_count())] if available else []
    gpus = tuple(Gpu(str(gpu.name), int(gpu.total_memory), (int(gpu.major), int(gpu.minor))) for gpu in seen)
    return Sight(versions, torch.version.cuda, available, gpus)


def look_from_outside() -> Sight:
    """Return what torch sees, without importing it here."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "ctxsift.backends.cuda"],
            capture_output=True,
            text=True,
            timeout=_LOOK_TIMEOUT_S,
            check=True,
        )
        told = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        words = (getattr(error, "stderr", None) or str(error)).split()
        return Sight({}, error=f"torch could not be asked: {' '.join(words)[-200:]}", unasked=True)
    sight: Sight = msgspec.convert(told, Sight)
    return sight


def problem_of(sight: Sight, device: str, quantization: str) -> str | None:
    """Return why `device` cannot run a model of this quantization, in one line; None when it can."""
    missing = [name for name in ("torch", "transformers", "accelerate") if name not in sight.versions]
    if missing and not sight.unasked:
        verb = "is" if len(missing) == 1 else "are"
        return f"{', '.join(missing)} {verb} not installed; {install_hint(Extra.GPU)}"
    if sight.error:
        return f"torch cannot be used: {sight.error}"
    torch = f"torch {sight.versions['torch']}"
    if not sight.available:
        if sight.cuda_build is None:
            hint = "install a build of torch for CUDA (https://pytorch.org/get-started)"
            return f"device {device!r} needs a GPU, but {torch} was built without CUDA; {hint}"
        hint = "check the driver with nvidia-smi"
        return f"device {device!r} needs a GPU, but {torch} (for CUDA {sight.cuda_build}) sees none; {hint}"
    index = index_of(device)
    if index >= len(sight.gpus):
        seen = ", ".join(f"cuda:{i} {gpu.name} ({gpu.memory_bytes >> 30} GB)" for i, gpu in enumerate(sight.gpus))
        return f"device {device!r} does not exist; {torch} sees {seen}"
    if quantization != "none" and "bitsandbytes" not in sight.versions:
        return f"quantization {quantization!r} needs bitsandbytes: pip install bitsandbytes"
    gpu, needed = sight.gpus[index], _CAPABILITIES[quantization]
    if gpu.capability < needed:
        has = ".".join(map(str, gpu.capability))
        return f"quantization {quantization!r} needs compute capability {needed[0]}.{needed[1]}; {gpu.name} has {has}"
    return None


def index_of(device: str) -> int:
    """Return the number of the GPU that `cuda` or `cuda:N` names."""
    return int(device.partition(":")[2] or 0)


class DeviceWatch:
    """Waits for a device and reads its memory; on a CPU there is nothing to wait for and nothing to read."""

    def __init__(self, torch: Any, device: str) -> None:
        self._cuda = torch.cuda if device.startswith("cuda") else None
        self._index = index_of(device) if self._cuda else 0

    def name(self) -> str | None:
        """Return the name of the GPU; None on a CPU."""
        return str(self._cuda.get_device_properties(self._index).name) if self._cuda is not None else None

    def synchronize(self) -> None:
        """Return once everything that was started on the device is done."""
        if self._cuda is not None:
            self._cuda.synchronize(self._index)

    def reset_peak(self) -> None:
        """Begin a new peak of memory."""
        if self._cuda is not None:
            self._cuda.reset_peak_memory_stats(self._index)

    def peak_bytes(self) -> int | None:
        """Return the most bytes that were allocated since; None on a CPU."""
        return int(self._cuda.max_memory_allocated(self._index)) if self._cuda is not None else None


if __name__ == "__main__":
    print(json.dumps(asdict(look())))
