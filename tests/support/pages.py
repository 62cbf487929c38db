"""Pages and the results they show, as tests read them."""

from __future__ import annotations

import base64
import functools
import gzip
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from benchmark.compare import main as compare_main
from benchmark.viewer.__main__ import main as viewer_main
from tests.conftest import ROOT
from tests.support.processes import run_inside


@functools.lru_cache(maxsize=512)
def _unpacked(page: str, name: str) -> bytes:
    found = re.search(rf'id="pack-{name}">([^<]*)<', page)
    assert found
    return gzip.decompress(base64.b64decode(found[1]))


def pack(page: str, name: str) -> Any:
    """Unpack what the page holds under a name, as the browser does."""
    return json.loads(_unpacked(page, name))


def overview_of(page: str) -> Any:
    """Return what the page holds for its first view."""
    found = re.search(r'<script type="application/json" id="overview">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def documents(tree: Path) -> dict[str, Any]:
    """Return the result files of a tree as they are written, by the scenario's name."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in tree.rglob("*.json")}


def run_viewer(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m benchmark.viewer` in this process."""
    return run_inside(viewer_main, [str(each) for each in arguments], ROOT, os.environ | environment)


def page_of(*arguments: str | Path) -> str:
    """Write the page of results (the last argument) and return it."""
    done = run_viewer(*arguments[:-1], "-o", arguments[-1])
    assert done.returncode == 0, done.stderr
    return Path(arguments[-1]).read_text(encoding="utf-8")


def compared(*files: str | Path) -> Any:
    """Return what `python -m benchmark.compare --json` says of results."""
    done = run_inside(compare_main, [*map(str, files), "--json"], ROOT, os.environ)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
