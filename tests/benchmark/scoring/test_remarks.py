"""Reasons of answers that are judged by statements: each kind begins as reports and the page expect."""

from __future__ import annotations

import pytest

from benchmark.scoring.remarks import Remark, faults, reasons_of
from benchmark.statements.judging import judge
from benchmark.statements.model import MustNot, Statement

STATEMENTS = (
    Statement("the build failed", terms=(("build",), ("failed",))),
    Statement("port 8080 was in use", names=("8080",), terms=(("in use",),)),
)
WRONG = MustNot("the tests passed", terms=(("tests",), ("passed",)))


@pytest.mark.parametrize(
    ("answer", "remarks"),
    [
        ("The build failed. Port 8080 was in use.", [Remark.SAYS, Remark.SAYS]),
        ("The build failed.", [Remark.SAYS, Remark.UNSAID]),
        ("The build failed. All tests passed.", [Remark.SAYS, Remark.UNSAID, Remark.CONTRADICTS]),
    ],
)
def test_every_reason_begins_with_its_remark(answer: str, remarks: list[Remark]) -> None:
    reasons = reasons_of(judge(answer, STATEMENTS, (WRONG,)))
    found = [next(remark for remark in Remark if reason.startswith(remark)) for reason in reasons]
    assert found == remarks


def test_what_is_said_in_part_is_a_fault() -> None:
    counts = Statement("a.py has 2, b.py 5", pairs=((("a.py",), ("2 errors",)), (("b.py",), ("5 errors",))))
    reasons = tuple(reasons_of(judge("a.py has 2 errors.", (counts,))))
    assert reasons == (f"{Remark.IN_PART}a.py has 2, b.py 5",)
    assert faults(reasons) == list(reasons)


def test_no_beginning_is_that_of_another() -> None:
    assert not [(a, b) for a in Remark for b in Remark if a is not b and a.startswith(b)]


def test_faults_are_all_but_what_is_said_and_measured_and_contradictions_come_first() -> None:
    wrong = [f"{Remark.UNSAID}a", "pastes the output instead of saying it", f"{Remark.IN_PART}b"]
    reasons = [f"{Remark.SAYS}d", *wrong, f"{Remark.CONTRADICTS}e", f"{Remark.MEASURED}0.50, wording 0.20"]
    assert faults(reasons) == [f"{Remark.CONTRADICTS}e", *wrong]
