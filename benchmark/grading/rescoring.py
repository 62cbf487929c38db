"""Stored answers, scored again by the present scorer, recovery and corpus. No model runs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from benchmark.cases import Case, Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.outcome import grade, unanswered
from benchmark.grading.result import STATISTICS, build_result
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered, InstrumentFailure, Outcome, Question, Result, Run
from benchmark.scoring import SCORER_VERSION, Embedder
from ctxsift.answers.recovery import RECOVERY_VERSION
from ctxsift.asking import Answer
from ctxsift.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Move:
    """A case whose score changed; figures in [0, 1]."""

    case_id: str
    before: float
    after: float


@dataclass(frozen=True)
class Rescored:
    """One result, scored again.

    Attributes:
        moves: cases whose score changed, widest first.
        skipped: cases left out since the corpus now asks something else there (`skip_changed`).

    """

    stored: StoredResult
    record: Result
    moves: tuple[Move, ...]
    skipped: tuple[str, ...]


def rescore(
    stored: StoredResult, corpus: Corpus, references: ReferenceScores, *, skip_changed: bool = False
) -> Rescored:
    """Score the answers of a result again; times, answers and the description of the run stay as they are.

    Raises:
        InputError: the file has no raw answers of ours, or a case is gone from the corpus or asks something else now.

    """
    record, run = stored.record, stored.record.run
    if run is None:
        raise InputError(
            str(stored.path), "uses the published layout of CtxSift", "rescore only results of this runner"
        )
    by_id = {case.case_id: case for case in corpus.cases}
    outcomes: list[Outcome] = []
    skipped: list[str] = []
    for number, before in enumerate(record.cases):
        case_id = before.question.case_id
        case = by_id.get(case_id)
        problem = _difference(before.question, case)
        if case is not None and not problem:
            graded = _regraded(before, _as_asked(case, before.question), run.recovery_enabled, references.embedder)
            outcomes.append(_with_verdict(before, graded))
            if isinstance(outcomes[-1], InstrumentFailure) and isinstance(before, Answered):
                raise InputError(
                    f"{stored.path}: /cases/{number}",
                    outcomes[-1].error,
                    "this is a bug in the scorer; please report it",
                )
        elif skip_changed:
            skipped.append(case_id)
        else:
            near = "" if case else f" ({did_you_mean(case_id, by_id)})"
            hint = (
                "name the corpus it was run with: --dataset; or leave such cases out: --skip-changed --output-dir DIR"
            )
            raise InputError(f"{stored.path}: /cases/{number}", f"{case_id} {problem}{near}", hint)
    after = _rescored_run(run, corpus, outcomes)
    result = build_result(record.scenario, record.warmup, after, outcomes, corpus.cases, references)
    if result.summary.prose is not UNSET:
        result = replace(result, judge=record.judge)
    return Rescored(stored, result, _moves(stored, outcomes), tuple(skipped))


def _difference(question: Question, case: Case | None) -> str:
    """Return why an answer can no longer be scored, or an empty text."""
    if case is None:
        return "is not in the corpus"
    request = _as_asked(case, question).request
    asked = (question.raw_input, question.instruction, question.intent, question.command, question.exit_code)
    now = (request.raw_input, request.instruction, str(request.intent), request.command, request.exit_code)
    return "" if asked == now else "asks something else by now"


def _as_asked(case: Case, question: Question) -> Case:
    """Return a case without what a model was not told of the command; earlier prompts told nothing of it."""
    untold: dict[str, Any] = {}
    if question.command is None:
        untold |= dict(command="")
    if question.exit_code is None:
        untold |= dict(exit_code=None)
    return dataclasses.replace(case, capture=dataclasses.replace(case.capture, **untold)) if untold else case


def _regraded(before: Outcome, case: Case, recovery_enabled: bool, embedder: Embedder) -> Outcome:
    if isinstance(before, Answered):
        answer = Answer(before.generation, before.input_chars_cut)
        elapsed_ms, rss_bytes = before.elapsed_ms, before.cpu_rss_bytes
    elif before.unscored_answer is UNSET:
        return unanswered(case, before.error, before.attempts)
    else:
        answer = Answer(before.unscored_answer.generation, before.unscored_answer.input_chars_cut)
        elapsed_ms = rss_bytes = None
    return grade(
        case,
        answer,
        embedder,
        recovery_enabled=recovery_enabled,
        attempts=before.attempts,
        elapsed_ms=elapsed_ms,
        rss_bytes=rss_bytes,
    )


def _with_verdict(before: Outcome, after: Outcome) -> Outcome:
    """Return an outcome with where it came from, and what a judge said of it, if it would be told the same today."""
    if not isinstance(before, Answered) or not isinstance(after, Answered):
        return after
    after = replace(after, machine=before.machine)
    told = [(each.recovered.output, each.question.expected_output) for each in (before, after)]
    return replace(after, judged_quality=before.judged_quality) if told[0] == told[1] else after


def _rescored_run(run: Run, corpus: Corpus, outcomes: list[Outcome]) -> Run:
    answered = sum(isinstance(outcome, Answered) for outcome in outcomes)
    return replace(
        run,
        corpus_sha256=corpus.sha256,
        corpus_cases=len(corpus.cases),
        recovery_version=RECOVERY_VERSION,
        scorer_version=SCORER_VERSION,
        statistics=STATISTICS,
        complete=not run.error and answered == len(run.case_ids),
    )


def _moves(stored: StoredResult, outcomes: list[Outcome]) -> tuple[Move, ...]:
    after = {o.question.case_id: o.recovered.case_score for o in outcomes if isinstance(o, Answered)}
    moves = [
        Move(case.case_id, case.score, after[case.case_id])
        for case in stored.cases.values()
        if case.case_id in after and after[case.case_id] != case.score
    ]
    return tuple(sorted(moves, key=lambda move: -abs(move.after - move.before)))
