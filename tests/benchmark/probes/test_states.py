"""Kept, in other words, or lost: of a statement, and of a probe."""

from __future__ import annotations

import pytest

from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.records import AskedProbe, GoldStatement, JudgedStatement, JudgedWrong, PosedProbe, RightAnswer
from benchmark.probes.states import ProbeState, state_of
from benchmark.statements.model import Weight

POSED = PosedProbe(
    session="barn",
    probe="port",
    type=ProbeType.RECALL,
    made_by=Maker.HAND,
    question="Which port does the gate listen on, and since when?",
    evidence=[3],
    gold=[
        RightAnswer(
            at=0,
            text="7411, since 2.3, on both machines",
            statements=[
                GoldStatement(says="the gate listens on 7411", weight=Weight.VITAL),
                GoldStatement(says="it has done so since 2.3", weight=Weight.VITAL),
                GoldStatement(says="both machines have it", weight=Weight.OKAY),
            ],
        )
    ],
    must_not=["it listens on 7412"],
)


@pytest.mark.parametrize(
    ("score", "statements", "wrong", "state"),
    [
        (5, "kk-", False, ProbeState.KEPT),
        (2.5, "k--", False, ProbeState.KEPT),
        (2.5, "kr-", False, ProbeState.KEPT),
        (0, "rr-", False, ProbeState.OTHER_WORDS),
        (0, "rrr", False, ProbeState.OTHER_WORDS),
        (1.5, "kr-", True, ProbeState.LOST),
        (0, "r--", False, ProbeState.LOST),
        (0, "--r", False, ProbeState.LOST),
        (0, "rr-", True, ProbeState.LOST),
        (1.5, "kk-", True, ProbeState.LOST),
    ],
)
def test_a_probe_is_in_other_words_where_all_that_is_missing_is(
    score: float, statements: str, wrong: bool, state: ProbeState
) -> None:
    asked = AskedProbe(
        session="barn",
        probe="port",
        type=ProbeType.RECALL,
        made_by=Maker.HAND,
        at=1,
        age=0,
        score=score,
        criteria={},
        statements=[
            JudgedStatement(index=index, share=each == "k", reworded=each == "r")
            for index, each in enumerate(statements)
        ],
        wrong=[JudgedWrong(says="it listens on 7412")] if wrong else [],
    )
    assert state_of(asked, POSED) is state
