"""The probes that ship are sound."""

from __future__ import annotations

import pytest

from benchmark.probes.checking import check_probes
from benchmark.probes.loading import WrittenProbes, written_probes

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("written", written_probes(), ids=lambda each: each.recorded.name)
def test_nothing_is_wrong_with_them(written: WrittenProbes) -> None:
    session = written.recorded.session()
    checked = check_probes(session, written.probes, written.path.name, written.unanswerable, written.acts)
    assert [f"{problem.where}: {problem.text}" for problem in checked.problems] == []
    # What counts is asked, and never said by the steps that are kept: those statements are taken out.
    assert all(checked.asked.values())
    assert len(written.unanswerable) >= 2
    assert len(written.acts) >= 2
