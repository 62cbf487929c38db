"""Recorded sessions as they ship: found, checked, read."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from benchmark.sessions.loader import open_recorded, recorded_sessions
from ctxsift.errors import InputError
from tests.tools.recorded import short_session

pytestmark = pytest.mark.slow


def test_sessions_are_found_by_name_and_checked(tmp_path: Path) -> None:
    recorder, shipped = short_session(tmp_path), tmp_path / "data"
    recorder.finished(shipped / "b")
    recorder.done("finish", str(shipped / "a"), "--split", "test", "--licence", "MIT")
    found = list(recorded_sessions(shipped))
    assert [(each.name, each.split) for each in found] == [("a", "test"), ("b", "dev")]
    assert len(found[0].truth()) == len(found[0].session().steps) == found[0].provenance.steps

    changed = shipped / "b" / "truth.jsonl.gz"
    changed.write_bytes(gzip.compress(gzip.decompress(changed.read_bytes()) + b"\n"))
    with pytest.raises(InputError, match=r"truth\.jsonl\.gz: is not the file that provenance\.json describes"):
        open_recorded(shipped / "b")


def test_shipped_sessions_are_those_that_were_recorded() -> None:
    for each in recorded_sessions():
        assert [step.step_id for step in each.truth()] == [step.step_id for step in each.session().steps]
