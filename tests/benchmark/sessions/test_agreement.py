"""The artifact index beside git, on a session made by real work."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.sessions.agreement import PathAgreement, precision, recall
from tests.tools.recorded import short_session

pytestmark = pytest.mark.slow


def test_figures_are_over_all_paths() -> None:
    found = [
        PathAgreement(both=frozenset("abc"), only_index=frozenset("d")),
        PathAgreement(both=frozenset("e"), only_git=frozenset("fghi")),
    ]
    assert (precision(found), recall(found)) == (4 / 5, 4 / 8)
    assert (precision([]), recall([])) == (None, None)


def test_disagreements_are_named(tmp_path: Path) -> None:
    recorder = short_session(tmp_path)
    # What this program writes, no index can see.
    recorder.run("python3 -c 'exec(chr(111)+\"pen(chr(122),chr(119)).close()\")'")
    told = recorder.done("compare", str(recorder.finished(tmp_path / "shop-1"))).splitlines()
    assert told == [
        "shop-1: created: precision 1.000 (1 of 1), recall 0.500 of 2",
        "  only git says created: src/z",
        "shop-1: modified: precision 1.000 (1 of 1), recall 1.000 of 1",
        "shop-1: deleted: precision - (0 of 0), recall - of 0",
        "shop-1: at every step: F1 0.900 (9 right, 0 only of the index, 2 only of git)",
        "1 sessions: created: precision 1.000 (1 of 1), recall 0.500 of 2",
        "1 sessions: modified: precision 1.000 (1 of 1), recall 1.000 of 1",
        "1 sessions: deleted: precision - (0 of 0), recall - of 0",
        "1 sessions: all: precision 1.000 (2 of 2), recall 0.667 of 3",
        "1 sessions: at every step: F1 0.900 (9 right, 0 only of the index, 2 only of git)",
    ]
