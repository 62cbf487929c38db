"""How a case can end: one of three types, never a string to be parsed."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.corpus import Case
from benchmark.scoring import Embedder, Scores, score_view
from ctxsift.compress import Answer, View, examine
from ctxsift.recovery import Recovery


@dataclass(frozen=True)
class ScoredView:
    """One view with its verdict, its scores and its length in tokens (of the scorer's tokenizer)."""

    view: View
    scores: Scores
    tokens: int


@dataclass(frozen=True)
class Examined:
    """An answer in both views, and what the attempt took.

    Attributes:
        input_tokens: length of the raw input in tokens of the scorer's tokenizer, the same for all models.
        attempts: how many were needed until an answer came.
        rss_bytes: memory of the model's process after the answer, where it is known.

    """

    answer: Answer
    raw: ScoredView
    recovered: ScoredView
    recovery: Recovery
    input_tokens: int
    attempts: int
    rss_bytes: int | None


@dataclass(frozen=True)
class Scored:
    """The model answered and ended by itself."""

    case: Case
    examined: Examined


@dataclass(frozen=True)
class ModelFailure:
    """The model answered with nothing, or was cut off; scored as what it is.

    Attributes:
        reason: `empty_answer`, `token_limit` or `loop`.

    """

    case: Case
    examined: Examined
    reason: str


@dataclass(frozen=True)
class InstrumentFailure:
    """An answer never came, or the scorer failed on it; the model is not to blame, and nothing is scored.

    Attributes:
        answer: what the scorer failed on; kept, so that `rescore` can try again.

    """

    case: Case
    error: str
    attempts: int
    answer: Answer | None = None


Outcome = Scored | ModelFailure | InstrumentFailure
_REASONS = {"length": "token_limit", "loop": "loop"}


def judge(
    case: Case, answer: Answer, embedder: Embedder, *, recovery_enabled: bool, attempts: int, rss_bytes: int | None
) -> Outcome:
    """Recover, validate and score one answer. A fault of ours in that is no bad answer: it is an instrument failure."""
    try:
        return _judge(case, answer, embedder, recovery_enabled, attempts, rss_bytes)
    except Exception as error:
        return InstrumentFailure(case, f"scoring failed: {type(error).__name__}: {error}", attempts, answer)


def _judge(
    case: Case, answer: Answer, embedder: Embedder, recovery_enabled: bool, attempts: int, rss_bytes: int | None
) -> Scored | ModelFailure:
    raw, recovered, recovery = examine(answer.generation.text, case.request, recovery_enabled=recovery_enabled)
    scored_raw = _scored(raw, case, embedder)
    scored = scored_raw if recovered is raw else _scored(recovered, case, embedder)
    input_tokens = embedder.count_tokens(case.raw_input)
    examined = Examined(answer, scored_raw, scored, recovery, input_tokens, attempts, rss_bytes)
    if not answer.generation.text.strip():
        return ModelFailure(case, examined, "empty_answer")
    reason = _REASONS.get(answer.generation.finish_reason)
    return ModelFailure(case, examined, reason) if reason else Scored(case, examined)


def _scored(view: View, case: Case, embedder: Embedder) -> ScoredView:
    scores = score_view(view.text, view.validation, case, embedder)
    return ScoredView(view, scores, embedder.count_tokens(view.text))
