"""An answer -> the outcome of its case: one of three types, as the result keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import UNSET
from msgspec.structs import replace

from benchmark.cases import Case
from benchmark.record.journal import MOST_ERROR_CHARS
from benchmark.record.result import InstrumentFailure, ModelFailure, Outcome, Question, Scored, UnscoredAnswer
from benchmark.record.views import ScoredView
from benchmark.record.write import why_unreadable
from benchmark.scoring import Embedder, score_view
from ctxsift.answers.validation import Status
from ctxsift.asking import Answer
from ctxsift.compression import View, examine, failure_of, tokens_of
from ctxsift.gate import objections


def question_of(case: Case) -> Question:
    """Return what is asked in a case, and its gold, as the result keeps it."""
    return Question(
        case_id=case.case_id,
        capture=case.capture.name,
        title=case.title,
        domain=case.capture.ecosystem,
        tool=case.capture.tool,
        family=str(case.family),
        intent=str(case.intent),
        output_mode=str(case.output_mode),
        difficulty=str(case.difficulty),
        command=case.request.command,
        exit_code=case.request.exit_code,
        instruction=case.instruction,
        says=[statement.says for statement in case.statements],
        tags=list(case.tags),
        raw_input=case.raw_input,
        expected_output=case.expected_output,
        required_anchors=list(case.anchors),
    )


def unanswered(case: Case, error: str, attempts: int) -> InstrumentFailure:
    """Return the outcome of a case that got no answer."""
    return InstrumentFailure(question=question_of(case), error=error[:MOST_ERROR_CHARS], attempts=attempts)


def prepare(cases: Sequence[Case], embedder: Embedder) -> None:
    """Work out what grading these cases needs, whatever is answered: it is kept, and takes ten times an answer's share.

    Where answers come while others are asked for, that would hold them up.
    """
    for case in cases:
        raw, *_ = examine(case.expected_output, case.request)
        _scored(raw, case, embedder)
        embedder.count_tokens(case.raw_input)


def grade(
    case: Case,
    answer: Answer,
    embedder: Embedder,
    *,
    recovery_enabled: bool,
    attempts: int,
    elapsed_ms: float | None,
    rss_bytes: int | None = None,
) -> Outcome:
    """Recover, validate and score one answer. A fault of ours is not a bad answer but an instrument failure."""
    generation = answer.generation
    try:
        raw, recovered, recovery = examine(
            generation.text, case.request, recovery_enabled=recovery_enabled, tokens=tokens_of(generation)
        )
        scored_raw = _scored(raw, case, embedder)
        scored = scored_raw if recovered is raw else _scored(recovered, case, embedder)
        input_tokens = embedder.count_tokens(case.raw_input)
        reason = failure_of(generation, raw)
        # What failed or was rejected is not printed in any case.
        valid = reason is None and recovered.validation.status is not Status.REJECTED
        held_back = objections(recovered.text, case.request, recovered.validation).sure if valid else ()
    except Exception as error:
        return unscored(case, answer, f"scoring failed: {type(error).__name__}: {error}", attempts)
    kind: Callable[..., Scored | ModelFailure] = partial(ModelFailure, failure_reason=reason) if reason else Scored
    outcome = kind(
        question=question_of(case),
        generation=generation,
        attempts=attempts,
        elapsed_ms=elapsed_ms,
        input_tokens=input_tokens,
        read_tokens=None if generation.read is None else embedder.count_tokens(generation.read),
        input_chars_cut=answer.input_chars_cut,
        cpu_rss_bytes=rss_bytes,
        recovery_steps=list(recovery.steps),
        held_back=list(held_back),
        recovered=scored,
        raw=scored_raw,
    )
    problem = why_unreadable(outcome)
    return unscored(case, answer, f"the outcome cannot be recorded: {problem}", attempts) if problem else outcome


def unscored(case: Case, answer: Answer, error: str, attempts: int) -> InstrumentFailure:
    """Return the outcome of a case whose answer is there, but no score of it; an answer that is no record is left out.

    Args:
        case: what was asked.
        answer: `rescore` tries it again.
        error: why there is no score.
        attempts: until the answer came.

    """
    kept = UnscoredAnswer(generation=answer.generation, input_chars_cut=answer.input_chars_cut)
    failure = unanswered(case, error, attempts)
    whole = replace(failure, unscored_answer=kept)
    return failure if why_unreadable(whole) else whole


def _scored(view: View, case: Case, embedder: Embedder) -> ScoredView:
    validation = view.validation
    scores = score_view(view.text, validation, case, embedder)
    return ScoredView(
        output=view.text,
        output_tokens=embedder.count_tokens(view.text),
        **{name: part.score for name, part in scores.parts.items()},
        case_score=scores.case_score,
        validation_status=validation.status,
        validation_flags=[*validation.reasons, *validation.flags],
        ungrounded_facts=list(validation.ungrounded),
        missing_tokens=list(scores.missing),
        thought_density=validation.thought.density,
        thought_markers=validation.thought.markers,
        thought_spans=[(span.start, span.end) for span in validation.thought.spans] or UNSET,
        reasons={name: list(part.reasons) for name, part in scores.parts.items() if part.reasons},
    )
