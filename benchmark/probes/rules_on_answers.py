"""An answer to a probe at a cut, judged by rules: what the steps that are kept say does not count here either."""

from __future__ import annotations

from benchmark.judges.rubric import Criterion
from benchmark.probes.answer_rules import (
    ANSWER_RULES_VERSION,
    AnswerJudge,
    AnswerVerdict,
    FilesAsked,
    StatementVerdict,
)
from benchmark.probes.asking import ProbeAtCut
from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.records import AskedProbe, JudgedStatement, JudgedWrong

JUDGE_TITLE = f"rules on answers, version {ANSWER_RULES_VERSION}"
_NOT_SAID = StatementVerdict(0.0, "not said")


def judged_answer(subject: ProbedSubject, asking: ProbeAtCut, answer: str, judge: AnswerJudge) -> AskedProbe:
    """Return what an answer to a probe at a cut is worth."""
    unit = subject.unit_of(asking, "")
    verdict = judge.judge(asking.probe, answer, _files(subject, asking), asking.counted.statements)
    return AskedProbe(
        session=subject.name,
        probe=asking.probe.probe_id,
        type=asking.probe.type,
        made_by=asking.probe.made_by,
        at=asking.at,
        age=asking.age,
        score=verdict.coverage,
        criteria={Criterion.COMPLETENESS_COVERAGE: verdict.coverage},
        statements=[_statement(index, verdict) for index in unit.counted.statements],
        wrong=[JudgedWrong(says=says) for says in verdict.contradictions],
        answer=answer,
        abstains=verdict.abstains,
    )


def _files(subject: ProbedSubject, asking: ProbeAtCut) -> FilesAsked | None:
    if asking.probe.files is None:
        return None
    gold = frozenset(subject.files_at(asking))
    return FilesAsked(gold, frozenset(subject.files.paths) - gold)


def _statement(index: int, verdict: AnswerVerdict) -> JudgedStatement:
    found = verdict.shares.get(index, _NOT_SAID)
    return JudgedStatement(index=index, share=found.share, why=_why(found))


def _why(found: StatementVerdict) -> str:
    """Return the words that say a statement; where it is not said, what is wrong with those that are there."""
    words = ", ".join(found.matched)
    if found.share or not words:
        return words or found.reason
    return f"{found.reason if found.contradiction else 'no more than'}: {words}"
