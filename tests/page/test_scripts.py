"""The page's scripts that need no browser: `node --test tests/page/`."""

from __future__ import annotations

import subprocess

from tests.conftest import ROOT


def test_the_scripts_that_need_no_browser() -> None:
    done = subprocess.run(
        ["node", "--test", "tests/page/"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:]
