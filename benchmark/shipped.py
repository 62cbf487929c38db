"""Files of the repository's root that the package ships, for commands that run in any folder."""

from __future__ import annotations

from pathlib import Path

from ctxsift.files import exists

_PACKAGE = Path(__file__).parent


def here_or_shipped(default: Path) -> Path:
    """Return the path of a default file: the one of this folder, or else the one that the package ships.

    Args:
        default: a bare file name, such as `matrix.json`.

    """
    if exists(default):
        return default
    # A wheel has it in the package, a clone at its root. If neither has it, the error names the bare file name.
    return next((path for folder in (_PACKAGE, _PACKAGE.parent) if exists(path := folder / default)), default)
