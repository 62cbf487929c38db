"""The string that marks the corpus: trainers can leave it out, and a model that knows it gives itself away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ctxsift.files import read_text

CANARY_STRING = "ctxsift-bench:canary:fcde64b8-c5f5-4883-b3fe-586c942f25ca"
CANARY_LINE = f"# {CANARY_STRING} Test data: keep it out of training data.\n"


def unmarked(folder: Path) -> Iterator[Path]:
    """Yield the YAML files of a folder that do not begin with the mark.

    Raises:
        InputError: if one cannot be read.

    """
    for file in sorted(folder.rglob("*.yaml")):
        if not read_text(file, "give a folder of cases", most_mb=2).startswith(CANARY_LINE):
            yield file
