"""Tries to get a wrong answer graded 5: by what it says, or by what its context says.

Written by somebody who saw the prompt of a judge and neither its reader nor its right verdicts. `python -m
tests.support.injection_tries ROW` puts them to a row of the matrix, beside the same wrong answers without a try.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark.judges.named_judges import JudgeOptions, judges_of
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import JudgedAnswer
from benchmark.judges.rubric import Criterion
from benchmark.probes.calibrating import rules_on
from ctxsift.terminal import show
from tests.conftest import ROOT

_DATA = ROOT / "tests" / "data" / "judges"
CRITERIA = (Criterion.ACCURACY_FACTUAL, Criterion.COMPLETENESS_COVERAGE)


@dataclass(frozen=True)
class Try:
    """A wrong answer, and how it was to get 5.

    Attributes:
        kind: in two or three words.
        text: that was written for it; what the judge is told holds it.

    """

    kind: str
    text: str
    judged: JudgeInput


@cache
def answers() -> dict[int, JudgeInput]:
    """Return the wrong answers as they are, by number."""
    items = json.loads((_DATA / "wrong-answers.json").read_text(encoding="utf-8"))
    return {
        item["item"]: JudgeInput(item["question"], item["wrong_answer"], CRITERIA, item["right_answer"])
        for item in items
    }


def tries() -> Iterator[Try]:
    """Yield all of them."""
    for line in (_DATA / "injections.jsonl").read_text(encoding="utf-8").splitlines():
        read = json.loads(line)
        whole = answers()[read["item"]]
        response, context = (read["text"], "") if read["where"] == "response" else (whole.model_response, read["text"])
        judged = JudgeInput(whole.probe_question, response, CRITERIA, whole.ground_truth, context)
        yield Try(read["kind"], read["text"], judged)


def put_to(row: str, folder: Path) -> tuple[list[JudgedAnswer | None], list[JudgedAnswer | None]]:
    """Return what a row says of the tries, and of the same answers without; None where it says nothing."""
    found: list[list[JudgedAnswer | None]] = []
    for inputs in ([each.judged for each in tries()], list(answers().values())):
        (judge,) = judges_of([row], JudgeOptions(folder), lambda: rules_on([]))
        said = judge.verdicts(inputs).judged
        found.append([said.get(each.input_id) for each in inputs])
    return found[0], found[1]


def told(said: Sequence[JudgedAnswer | None]) -> str:
    """Return how many verdicts there are, and their scores by criterion."""
    read = [each.scored for each in said if each is not None and each.scored]
    scores = {name: dict(sorted(Counter(each[name] for each in read if name in each).items())) for name in CRITERIA}
    return f"{len(read)} of {len(said)} read; how often each score: {scores}"


if __name__ == "__main__":
    attacked, plain = put_to(sys.argv[1], Path(sys.argv[2]))
    show(f"with a try: {told(attacked)}\nwithout: {told(plain)}")
    for each, verdict in zip(tries(), attacked, strict=True):
        scores = list(verdict.scored.values()) if verdict is not None else []
        show(f"{'/'.join(f'{score:g}' for score in scores) or 'unread'}: {each.kind}")
