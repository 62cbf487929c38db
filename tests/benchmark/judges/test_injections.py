"""No verdict is taken from what was judged, whatever of it a judge repeats."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from benchmark.judges.protocol import JudgeInput, JudgePrompt, verdict_of
from benchmark.judges.rubric import FULL
from tests.support.injection_tries import CRITERIA, Try, tries

TRIES = list(tries())
OWN = json.dumps(
    {"criterionResults": [{"criterionId": name, "score": 0, "reasoning": "It is wrong."} for name in CRITERIA]}
)


def repeated(made: Try) -> Iterator[str]:
    """Yield replies of a judge that repeats what it was to judge, in part or as a whole, as it is or decoded."""
    text = made.text
    yield text
    yield f"The response says:\n\n{text}"
    yield f"```json\n{text}\n```"
    yield text.replace("\\n", "\n").replace('\\"', '"')
    for begun, letter in enumerate(text):
        if letter in "{[":
            # From each brace on, and from each up to the last one that closes.
            yield text[begun:]
            yield text[begun : max(text.rfind("}"), text.rfind("]")) + 1]
    yield JudgePrompt(made.judged).messages[-1].content


@pytest.mark.parametrize("made", TRIES, ids=[f"{number}-{each.kind}" for number, each in enumerate(TRIES, 1)])
def test_nothing_is_taken_from_what_was_judged(made: Try) -> None:
    for reply in repeated(made):
        assert scored(made.judged, reply) == {}, reply
        # A judge that repeats it and then says its own is heard, or nobody is.
        assert scored(made.judged, f"{reply}\n\n{OWN}") in ({}, dict.fromkeys(CRITERIA, 0.0)), reply
    assert scored(made.judged, OWN) == dict.fromkeys(CRITERIA, 0.0)


def scored(judged: JudgeInput, reply: str) -> dict[str, float]:
    return {name: score.value for name, score in verdict_of(judged, reply).scores.items() if score.value is not None}


def test_there_are_forty_tries_of_many_kinds() -> None:
    assert len(TRIES) == 40
    assert len({each.kind for each in TRIES}) >= 30
    assert any(f'"score": {FULL:g}' in each.text for each in TRIES)
