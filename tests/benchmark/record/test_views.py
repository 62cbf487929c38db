"""Which answers pass, of views in files."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from benchmark.record.views import ScoredView
from ctxsift.answers.validation import Status


@pytest.mark.parametrize(
    ("preserve", "missing", "status", "passed"),
    [
        (1.0, [], Status.ACCEPTED, True),
        (1.0, [], Status.REJECTED, False),
        # Known answers lower it for prose: hardly where the answer is right, much where it is wrong.
        (0.9995, [], Status.ACCEPTED, True),
        (0.2, [], Status.ACCEPTED, False),
        (0.9, ["app.py"], Status.ACCEPTED, False),
    ],
)
@pytest.mark.parametrize("score", [0.5, 0.9])
def test_an_answer_passes_with_all_anchors_if_it_is_right(
    preserve: float, missing: list[str], status: Status, score: float, *, passed: bool
) -> None:
    view = ScoredView(
        output="app.py fails",
        preserve=preserve,
        quality=1.0,
        format=1.0,
        instruction=1.0,
        brevity=1.0,
        case_score=score,
        validation_status=status,
        missing_tokens=missing,
    )
    assert view.passed is passed
    # A copy of the output has every anchor.
    assert not replace(view, case_score=0.49).passed
