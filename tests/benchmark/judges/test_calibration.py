"""May a judge be believed? Figures by hand and by the library, and judges that must not be."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from msgspec import structs
from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

from benchmark.judges import agreement as figures
from benchmark.judges.agreement import agreement_of, kappa, lead_of, rho, stretched
from benchmark.judges.calibration import DEGENERATE, FEWEST_LABELS, LabelledAnswer, answers_sha256, calibrate
from benchmark.judges.calibrations import calibration_of, drawn
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.records import Agreement, Calibration, JudgedAnswer, Use, uses
from benchmark.judges.rubric import Criterion
from benchmark.probes.calibrating import rules_on
from benchmark.probes.labelled import LabelledPart, labelled_answers
from benchmark.record.judged_quality import ScoredCriterion

ACCURACY, COVERAGE = Criterion.ACCURACY_FACTUAL, Criterion.COMPLETENESS_COVERAGE


def floats(*values: float) -> figures.Floats:
    return np.asarray(values, dtype=float)


def test_kappa_by_hand_and_by_the_library() -> None:
    given, known = floats(0, 1, 2, 5), floats(0, 2, 2, 5)
    # In squares of half points: what is seen comes to 4, and each given beside each known comes to 432.
    by_pairs = [(2 * (a - b)) ** 2 for a in given for b in known]
    assert sum(by_pairs) == 432
    assert kappa(given, known) == pytest.approx(1 - (4 / 4) / (432 / 16))
    whole = cohen_kappa_score([0, 1, 2, 5], [0, 2, 2, 5], weights="quadratic", labels=range(6))
    assert kappa(given, known) == pytest.approx(whole)
    drawn = random.Random(1)
    some, others = ([drawn.randrange(6) for _ in range(60)] for _ in range(2))
    expected = cohen_kappa_score(some, others, weights="quadratic", labels=range(6))
    assert kappa(floats(*some), floats(*others)) == pytest.approx(expected)


def test_half_points() -> None:
    # Below the middle of two half points down, from it on up; nothing leaves 0 to 5.
    assert kappa(floats(0.24, 4.76, 1.3), floats(0, 5, 1.5)) == 1
    assert kappa(floats(0.25, 4.75, 1.2), floats(0.5, 5, 1)) == 1
    assert kappa(floats(2.5, 0, 5), floats(2.5, 0, 5)) == 1
    below_one = kappa(floats(2.5, 0, 5), floats(3, 0, 5))
    assert below_one is not None
    assert 0.9 < below_one < 1


def test_rho() -> None:
    assert rho(floats(1, 2, 3), floats(0, 4, 5)) == pytest.approx(1)
    assert rho(floats(1, 2, 3), floats(5, 4, 0)) == pytest.approx(-1)
    # 1 - 6 * 2 / (4 * 15)
    assert rho(floats(1, 2, 3, 4), floats(2, 1, 3, 4)) == pytest.approx(0.8)


def test_what_is_not_defined_is_none() -> None:
    assert kappa(floats(3, 3, 3), floats(3, 3, 3)) is None
    assert kappa(floats(5), floats(5)) is None
    assert kappa(floats(5, 5), floats(1, 5)) == 0
    assert rho(floats(3, 3), floats(1, 5)) is None
    assert rho(floats(1, 5), floats(3, 3)) is None
    assert rho(floats(), floats()) is None
    assert agreement_of([], [], []) == Agreement(answers=0)
    found = agreement_of([None, None], [1, 5], ["a", "b"])
    assert (found.answers, found.unscored, found.kappa, found.rho, found.kappa_interval) == (0, 2, None, None, None)
    alone = agreement_of([4], [1], ["a"])
    assert (alone.kappa, alone.rho, alone.rho_interval) == (0, None, None)


def test_what_is_unscored_is_counted_and_left_out() -> None:
    scores, labels = [5.0, None, 4.0, 1.0, None, 0.0], [5.0, 0.0, 1.0, 1.0, 5.0, 0.5]
    found = agreement_of(scores, labels, list("abcdef"))
    rest = [(a, b, c) for a, b, c in zip(scores, labels, "abcdef", strict=True) if a is not None]
    alone = agreement_of(*map(list, zip(*rest, strict=True)))
    assert found == structs.replace(alone, unscored=2)
    assert (found.answers, found.unscored, found.kappa) == (4, 2, alone.kappa)
    assert (found.wrong, found.passed, found.bias) == (3, 1, 0.625)


def test_intervals_need_sessions() -> None:
    scores, labels = [0.0, 5.0, 1.0, 4.0, 5.0] * 4, [0.0, 5.0, 2.0, 4.0, 3.0] * 4
    four = agreement_of(scores, labels, list("abcd") * 5)
    assert (four.kappa_interval, four.rho_interval) == (None, None)
    five = agreement_of(scores, labels, [*"abcde"] * 4)
    assert five.kappa_interval
    assert five.kappa is not None
    assert five.kappa_interval[0] <= five.kappa <= five.kappa_interval[1] <= 1
    lead, interval = lead_of(scores, labels, labels, [*"abcde"] * 4)
    assert lead == pytest.approx(five.kappa - 1)
    assert interval
    assert interval[1] <= 0


def test_stretched_to_labels() -> None:
    assert stretched([0, 1], [1, 5]) == pytest.approx([1, 5])
    assert stretched([3, 3], [1, 5]) == pytest.approx([3, 3])
    assert all(0 <= each <= 5 for each in stretched([0, 0, 0, 9], [0, 5, 5, 5]))


# Judges over labelled answers ----------------------------------------------------------------------------------------

Says = Callable[[LabelledAnswer, float], float | None]


def judged(answers: Sequence[LabelledAnswer], says: Says) -> dict[str, JudgedAnswer]:
    found = {}
    for each in answers:
        scores = {name: ScoredCriterion(score=says(each, label)) for name, label in each.labels.items()}
        input_id = each.judged.input_id
        found[input_id] = JudgedAnswer(input_id=input_id, scores=scores)
    return found


def calibrated(answers: Sequence[LabelledAnswer], says: Says) -> Calibration:
    return calibrate(answers, judged(answers, says), judge="j", version="1", identity="i")


@pytest.fixture(scope="module")
def labelled() -> list[LabelledAnswer]:
    """The labelled answers, by the two criteria that all have a label for."""
    return [
        replace(each.answer, labels={name: each.answer.labels[name] for name in (ACCURACY, COVERAGE)})
        for each in labelled_answers()
        if {ACCURACY, COVERAGE} <= each.answer.labels.keys()
    ]


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "_DRAWS", 20)


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", DEGENERATE)
def test_a_degenerate_judge_may_be_used_for_nothing(labelled: list[LabelledAnswer], name: str) -> None:
    found = calibrated(labelled, lambda each, _: DEGENERATE[name](each))
    assert [each.criterion for each in found.criteria] == [ACCURACY, COVERAGE]
    for each in found.criteria:
        assert each.use is Use.NOT_TO_BE_USED, each.why
        assert each.why
        assert not each.types


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(
    ("says", "most"),
    [
        (lambda _, label: label, {Use.MAY_BE_USED}),
        (lambda _, label: max(0.0, label - 2.5), {Use.LOWER_BOUND_ONLY, Use.NOT_TO_BE_USED}),
        (lambda each, _: int(each.judged.input_id[-6:], 16) % 6, {Use.NOT_TO_BE_USED}),
    ],
    ids=["the labels", "too strict", "noise"],
)
def test_what_a_judge_may_be_used_for(labelled: list[LabelledAnswer], says: Says, most: set[Use]) -> None:
    found = calibrated(labelled, says)
    assert {each.use for each in found.criteria} <= most
    assert {found.use_of(each) for each in (ACCURACY, COVERAGE)} <= most
    assert {use for each, use in uses(found).items() if each not in (ACCURACY, COVERAGE)} == {Use.NOT_CALIBRATED}


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_rules_judge_coverage_and_nothing_else() -> None:
    answers = labelled_answers([LabelledPart.QUALITIES])
    found = calibration_of(answers, rules_on(answers))
    by_name = {each.criterion: each for each in found.criteria}
    assert by_name[COVERAGE].use is Use.MAY_BE_USED, by_name[COVERAGE].why
    assert by_name[COVERAGE].agreement.unscored == 0
    accuracy = by_name[ACCURACY]
    assert accuracy.use is Use.NOT_CALIBRATED
    assert (accuracy.agreement.answers, accuracy.agreement.unscored) == (0, len(answers))


def small(count: int, sessions: int = 6) -> list[LabelledAnswer]:
    """Return answers with labels from 0 to 5 in turn."""
    return [
        LabelledAnswer(
            JudgeInput("What?", f"answer {number}", (COVERAGE,), "so"),
            f"s{number % sessions}",
            "recall" if number % 2 else "decision",
            {COVERAGE: float(number % 6 if number % 5 else 0)},
        )
        for number in range(count)
    ]


@pytest.mark.usefixtures("few_draws")
def test_nothing_is_said_of_few_labels_and_few_sessions() -> None:
    assert calibrated(small(19), lambda _, label: label).criteria == []
    (found,) = calibrated(small(40, sessions=4), lambda _, label: label).criteria
    assert (found.use, found.why) == (Use.NOT_TO_BE_USED, "too few sessions to tell")
    (same,) = calibrated([replace(each, labels={COVERAGE: 3.0}) for each in small(30)], lambda *_: 3.0).criteria
    assert (same.use, same.agreement.kappa) == (Use.NOT_TO_BE_USED, None)


@pytest.mark.usefixtures("few_draws")
def test_what_a_judge_leaves_unscored_counts_against_nobody() -> None:
    answers = small(60)
    silent = {each.judged.input_id for each in answers[:7]}
    found = calibrated(answers, lambda each, label: None if each.judged.input_id in silent else label)
    (coverage,) = found.criteria
    assert (coverage.agreement.answers, coverage.agreement.unscored) == (53, 7)
    assert (coverage.agreement.kappa, coverage.use) == (1, Use.MAY_BE_USED)
    assert set(coverage.types) == {"recall", "decision"}
    # Who is not there at all is unscored, too.
    some = {key: value for key, value in judged(answers, lambda _, label: label).items() if key not in silent}
    (again,) = calibrate(answers, some, judge="j", version="1", identity="i").criteria
    assert again == coverage
    (none,) = calibrate(answers, {}, judge="j", version="1", identity="i").criteria
    assert (none.use, none.agreement.unscored) == (Use.NOT_CALIBRATED, 60)


@pytest.mark.usefixtures("few_draws")
@dataclass(frozen=True)
class Placed:
    """A labelled answer, and its place among those of its session."""

    answer: LabelledAnswer
    place: int


def test_a_draw_takes_as_many_from_each_session_and_other_places_in_each(labelled: list[LabelledAnswer]) -> None:
    answers = [
        Placed(replace(labelled[0], session=f"s{session}"), place) for session in range(8) for place in range(12)
    ]
    found = drawn(answers, 24)
    assert Counter(each.answer.session for each in found) == {f"s{session}": 3 for session in range(8)}
    # Files list right and wrong answers of each session in the same order, so a draw of the same places is lopsided.
    assert len({each.place for each in found}) > 3
    assert drawn(answers, 24) == found
    assert drawn(answers, None) == drawn(answers, 1000) == answers


def test_who_scores_little_earns_nothing() -> None:
    answers = small(60)
    known = judged(answers, lambda _, label: label)
    some = dict(list(known.items())[: FEWEST_LABELS - 1])
    found = calibrate(answers, some, judge="j", version="1", identity="i")
    (coverage,) = found.criteria
    assert (found.answers, found.judged, coverage.use) == (60, 19, Use.NOT_CALIBRATED)
    assert coverage.why == "it scores 19 of 60 that have a label, and 20 are needed"


def test_labelled_answers_are_known_by_what_they_say() -> None:
    answers = small(20)
    assert answers_sha256(answers) == answers_sha256(answers[::-1])
    other = [replace(answers[0], labels={COVERAGE: 0.5}), *answers[1:]]
    assert len({answers_sha256(answers), answers_sha256(answers[1:]), answers_sha256(other)}) == 3
