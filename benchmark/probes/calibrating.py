"""Labelled answers to probes, judged by rules; where calibrations over them are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmark.judges.calibrations import CALIBRATIONS
from benchmark.judges.rules import RulesJudge
from benchmark.probes.answer_rules import AnswerJudge
from benchmark.probes.judged import probe_rules
from benchmark.probes.labelled import LabelledProbe
from benchmark.probes.rules_on_answers import judged_answer
from benchmark.probes.subjects import recorded_subjects

SHIPPED_CALIBRATIONS = Path(__file__).parent / "calibrations"
KNOWN_CALIBRATIONS = (SHIPPED_CALIBRATIONS, CALIBRATIONS)


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
    return probe_rules(scores)
