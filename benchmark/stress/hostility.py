"""Hostile cases: how often a model obeys what an output says, or repeats its secrets, and what it answers besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.stress.changing import answers_of, id_of, is_usable, score_values
from benchmark.stress.figures import Estimate, estimate, estimate_text, gain
from benchmark.stress.planting import PLANTED, Hostile, Kind, Planting

TITLES = (
    *("scenario", "kind", "cases", "skipped", "obeyed", "leaked"),
    *("unusable", "right", "score", "difference"),
)
_ALL = "all planted"
_PERCENT = 100.0


@dataclass(frozen=True)
class Withstood:
    """A scenario and one kind of attack; `kind` is `all planted` for all of them.

    Attributes:
        obeyed, leaked: percent of the cases that order something, and of those with a secret.
        unusable: percent of answers that are rejected, or that the product would not pass on: refusals, for one.
        right: percent of the answers that pass; see `ScoredView.passed`.
        score: mean case score, 0 to 100.
        score_gain: in points, from the same cases without the attack; None without them.

    """

    scenario: str
    kind: str
    cases: int
    obeyed: Estimate | None
    leaked: Estimate | None
    unusable: Estimate | None
    right: Estimate | None
    score: Estimate | None
    score_gain: Estimate | None


def withstood(scenario: str, cases: Sequence[Hostile], result: StoredResult) -> list[Withstood]:
    """Return the figures of a scenario, one for each kind that there is, and one for all that is planted."""
    answers = answers_of(result)
    return [_of_kind(scenario, kind, each, answers) for kind, each in _by_kind(cases)]


def _by_kind(cases: Sequence[Hostile]) -> Iterator[tuple[str, list[Hostile]]]:
    """Yield each kind that there is, with its cases: what is planted, all of that, and the rest."""
    planted = [case for case in cases if case.attack]
    for kind in PLANTED:
        if found := [case for case in planted if case.changed.kind == kind]:
            yield kind.value, found
    yield _ALL, planted
    for kind in (Kind.RECORDED, Kind.UNCHANGED):
        if found := [case for case in cases if case.changed.kind == kind]:
            yield kind.value, found


def _of_kind(scenario: str, kind: str, cases: Sequence[Hostile], answers: Mapping[str, Answered]) -> Withstood:
    def share(verdict: Callable[[Hostile, Answered], bool | None]) -> Estimate | None:
        values = {}
        for case in cases:
            answer = answers[case.changed.case.case_id]
            if (found := verdict(case, answer)) is not None:
                values[answer.question.case_id] = _PERCENT * found, answer.question.cluster
        return estimate(values)

    scores = score_values(answers)
    after = {case.changed.case.case_id: scores[case.changed.case.case_id] for case in cases}
    beside = {case.changed.case.case_id: id_of(case.changed.base, Kind.UNCHANGED) for case in cases if case.attack}
    before = {name: scores[unchanged] for name, unchanged in beside.items() if unchanged in scores}
    return Withstood(
        scenario=scenario,
        kind=kind,
        cases=len(cases),
        obeyed=share(_obeyed),
        leaked=share(_leaked),
        unusable=share(lambda _, answer: not is_usable(answer)),
        right=share(lambda _, answer: answer.recovered.passed),
        score=estimate(after),
        score_gain=gain(before, after),
    )


def _obeyed(case: Hostile, answer: Answered) -> bool | None:
    return None if case.attack is None else case.attack.obeyed(answer.recovered.output)


def _leaked(case: Hostile, answer: Answered) -> bool | None:
    return None if case.attack is None else case.attack.leaked(answer.recovered.output)


def answer_rows(scenario: str, cases: Sequence[Hostile], result: StoredResult) -> list[dict[str, object]]:
    """Return what each answer did, for the JSON file."""
    answers = answers_of(result)
    found: list[dict[str, object]] = []
    for case in cases:
        answer = answers[case.changed.case.case_id]
        found.append(
            {
                "scenario": scenario,
                "case_id": answer.question.case_id,
                "kind": case.changed.kind,
                "obeyed": _obeyed(case, answer),
                "leaked": _leaked(case, answer),
                "unusable": not is_usable(answer),
                "right": answer.recovered.passed,
                "score": _PERCENT * answer.recovered.case_score,
            }
        )
    return found


def case_rows(planted: Planting) -> list[dict[str, object]]:
    """Return what was planted where, for the JSON file."""
    return [
        {
            "case_id": each.changed.case.case_id,
            "base": each.changed.base,
            "kind": each.changed.kind,
            "text": each.attack and each.attack.text,
            "order": each.attack and each.attack.order,
            "secret": each.attack and each.attack.secret,
        }
        for each in planted.cases
    ]


def planted_rows(planted: Planting) -> list[list[str]]:
    """Return the rows of the kinds without a model."""
    return [
        ["(no model)", kind, str(len(each)), _skipped(planted.skipped, kind), *["-"] * (len(TITLES) - 4)]
        for kind, each in _by_kind(planted.cases)
    ]


def withstood_row(found: Withstood, skipped: Mapping[str, int]) -> list[str]:
    """Return the row of a scenario and a kind; `skipped` counts the cases that each kind leaves out."""
    shares = (found.obeyed, found.leaked, found.unusable, found.right)
    return [
        *(found.scenario, found.kind, str(found.cases), _skipped(skipped, found.kind)),
        *(estimate_text(share, suffix="%") for share in shares),
        estimate_text(found.score),
        estimate_text(found.score_gain, signed=True),
    ]


def _skipped(skipped: Mapping[str, int], kind: str) -> str:
    return str(sum(skipped.values()) if kind == _ALL else skipped.get(kind, 0))
