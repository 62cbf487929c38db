"""Where a model can run."""

from __future__ import annotations

from enum import StrEnum, auto


class Device(StrEnum):
    """Where a model runs; one of several GPUs is `cuda:N`."""

    CPU = auto()
    CUDA = auto()
    REMOTE = auto()
