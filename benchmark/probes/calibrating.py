"""Calibrations of judges: made over the labelled answers that ship, kept in files, found by whose they are."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from benchmark.judges.calibration import calibrate
from benchmark.judges.judges import Judge
from benchmark.judges.records import Calibration
from benchmark.judges.rubric import Criterion
from benchmark.probes.answer_judging import judged_answer
from benchmark.probes.answer_rules import AnswerJudge
from benchmark.probes.judged import RulesJudge
from benchmark.probes.labelled import LabelledProbe
from benchmark.probes.subjects import recorded_subjects
from benchmark.record.record_file import RecordFile

CALIBRATIONS = Path("results/calibrations")
SHIPPED_CALIBRATIONS = Path(__file__).parent / "calibrations"
CALIBRATION_FILE = RecordFile(Calibration, "calibration of a judge", 1, most_mb=4)


def drawn(answers: Sequence[LabelledProbe], most: int | None, seed: int = 0) -> list[LabelledProbe]:
    """Return at most so many of labelled answers, as many of each session as of any other; all where it is None."""
    if most is None or most >= len(answers):
        return list(answers)
    by_session: dict[str, list[LabelledProbe]] = {}
    for each in answers:
        by_session.setdefault(each.answer.session, []).append(each)
    shuffled = [random.Random(seed).sample(some, len(some)) for _, some in sorted(by_session.items())]
    turns = [each for turn in range(len(answers)) for some in shuffled for each in some[turn : turn + 1]]
    return turns[:most]


def rules_on(answers: Sequence[LabelledProbe]) -> RulesJudge:
    """Return the judge by rules of labelled answers, as questions are asked at the last cut of their sessions."""
    subjects = {each.name: each for each in recorded_subjects(sorted({each.answer.session for each in answers}))}
    asked = {
        (subject.name, asking.probe.probe_id): (subject, asking)
        for subject in subjects.values()
        for asking in subject.asked
        if asking.at == len(subject.cuts) - 1
    }
    judge, scores = AnswerJudge(), {}
    for each in answers:
        if found := asked.get((each.answer.session, each.probe)):
            judged = judged_answer(*found, each.answer.judged.model_response, judge)
            scores[each.answer.judged.input_id] = judged.criteria
    return RulesJudge(scores)


def calibration_of(answers: Sequence[LabelledProbe], judge: Judge) -> Calibration:
    """Return how far a judge agrees with labelled answers. Raises as `Judge.verdicts` and `calibrate` do."""
    verdicts = judge.verdicts([each.answer.judged for each in answers])
    return calibrate(
        [each.answer for each in answers],
        verdicts.judged,
        judge=judge.name,
        version=judge.version,
        identity=judge.identity,
    )


def known_calibration(identity: str, folders: Sequence[Path]) -> Calibration | None:
    """Return the calibration of a judge over most answers in folders; None where there is none. Raises InputError."""
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.json"))]
    found = [each for each in map(CALIBRATION_FILE.read, paths) if each.identity == identity]
    return max(found, key=lambda each: each.answers, default=None)


def criteria_named(names: Sequence[str] | None) -> tuple[Criterion, ...] | None:
    """Return criteria by name, in the order of the rubric; None for those that go with the type of a probe."""
    return tuple(each for each in Criterion if each in names) if names else None
