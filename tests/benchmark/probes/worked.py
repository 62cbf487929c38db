"""The worked example of docs/probes.md."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT

_PAGE = ROOT / "docs" / "probes.md"


def worked_example() -> str:
    """Return the probes of the page, as YAML."""
    found = re.search(r"```yaml\n(probes:.*?)```", _PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def written(folder: Path, text: str | None = None) -> Path:
    """Return a file with these probes, or with the worked example."""
    path = folder / "probes.yaml"
    path.write_text(worked_example() if text is None else text, encoding="utf-8")
    return path
