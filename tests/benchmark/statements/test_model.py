"""Statements as data."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT

_FREED = """
import gc, sys
import msgspec
from benchmark.statements import model
for kind in (model.Statement, model.MustNot):
    msgspec.json.Decoder(kind)
del kind, model, sys.modules["benchmark.statements.model"], sys.modules["benchmark.statements"]
gc.collect()
"""


def test_what_msgspec_knows_of_statements_can_be_freed() -> None:
    # Freed memory is overwritten then, so that whoever reads it crashes each time.
    environ = os.environ | {"PYTHONMALLOC": "debug"}
    done = subprocess.run([sys.executable, "-c", _FREED], cwd=ROOT, env=environ, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")[-400:]
