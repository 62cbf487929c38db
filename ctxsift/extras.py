"""What the extras of the package bring, and how to install them."""

from __future__ import annotations

from enum import StrEnum


class Extra(StrEnum):
    """An extra of `pyproject.toml` that messages name."""

    CPU = "cpu"
    GPU = "gpu"
    REMOTE = "remote"
    JUDGES = "judges"
    RAY = "ray"
    PARQUET = "parquet"


_BRINGS = {
    Extra.CPU: "models on this machine",
    Extra.GPU: "models on a GPU",
    Extra.REMOTE: "models of services",
    Extra.JUDGES: "figures on the agreement of judges",
    Extra.RAY: "workers on several machines",
    Extra.PARQUET: "Parquet files",
}


# What takes long, or may fail, is said before it is begun.
_COSTS = {Extra.CPU: " (compiles about ten minutes, needs a C++ compiler)"}


def install_hint(extra: Extra) -> str:
    """Return what an extra brings and the command that installs it, in a clone, too: pip adds to what is installed."""
    return f"{_BRINGS[extra]} need: pip install 'ctxsift-bench[{extra}]'{_COSTS.get(extra, '')}"
