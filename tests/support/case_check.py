"""Some cases of the packaged corpus, checked in seconds: `python -m tests.support.case_check ID...`.

What `python -m benchmark.corpus check --case` finds, what every kind of damage costs, and what stored answers score.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from benchmark.cases import Case
from benchmark.corpus import load_corpus
from benchmark.corpus.__main__ import main as check
from benchmark.corpus.answers import read_answers
from benchmark.scoring import Embedder
from ctxsift.terminal import one_line, show
from tests.support.damage import DAMAGES, Judge
from tests.support.results import blind_answers

_RIGHT, _WRONG = 0.7, 0.7


def findings(case: Case, judge: Judge) -> Iterator[str]:
    """Yield the damages that cost nothing, right answers that score little, and wrong ones that score much."""
    for damage in DAMAGES:
        text = damage.apply(case.expected_output, case)
        if text is not None and judge.raw(text, case) >= 1:
            yield f"{damage.name}: costs nothing"
    answers = [("blind reader", True, blind_answers().get(case.case_id))]
    stored = (each for each in read_answers().answers if each.case_id == case.case_id and not each.held_out)
    answers += [(each.kind, each.is_right, each.text) for each in stored]
    for kind, right, text in answers:
        score = None if text is None else judge.recovered(text, case)
        if score is None:
            yield f"{kind}: has no answer"
        elif score < _RIGHT if right else score > _WRONG:
            yield f"{kind} scores {score:.2f}: {text}"


def main(ids: Sequence[str]) -> int:
    """Print what is found, and return the exit code of the check; 1 if anything else is found."""
    code = check(["check", "--case", *ids])
    if code > 1:
        return code
    cases = [case for case in load_corpus().cases if case.case_id in ids]
    judge = Judge(cases, Embedder())
    for case in cases:
        for problem in findings(case, judge):
            show(one_line(f"{case.case_id}: {problem}"))
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
