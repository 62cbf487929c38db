"""How a case can end: one of three types, never a string to be parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.corpus import Case
from benchmark.scoring import Embedder, Scores, score_view
from ctxsift.backends.base import Generation
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
        elapsed_ms: from the first attempt to the answer, waiting included; None in results of older versions.
        rss_bytes: memory of the model's process after the answer, where it is known.

    """

    answer: Answer
    raw: ScoredView
    recovered: ScoredView
    recovery: Recovery
    input_tokens: int
    attempts: int
    elapsed_ms: float | None
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
        reason: `empty_answer`, `token_limit`, `truncated_reasoning` (the limit came before the answer) or `loop`.

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


_END_OF_REASONING = re.compile(r"</(?:think|thinking|reasoning)>")
Outcome = Scored | ModelFailure | InstrumentFailure


def prepare(cases: Sequence[Case], embedder: Embedder) -> None:
    """Work out what judging these cases needs, whatever is answered: it is kept, and takes ten times an answer's share.

    Where answers come while others are asked for, that would hold them up.
    """
    for case in cases:
        raw, *_ = examine(case.expected_output, case.request)
        _scored(raw, case, embedder)
        embedder.count_tokens(case.raw_input)


def judge(
    case: Case,
    answer: Answer,
    embedder: Embedder,
    *,
    recovery_enabled: bool,
    attempts: int,
    elapsed_ms: float | None,
    rss_bytes: int | None = None,
) -> Outcome:
    """Recover, validate and score one answer. A fault of ours in that is no bad answer: it is an instrument failure."""
    try:
        raw, recovered, recovery = examine(answer.generation.text, case.request, recovery_enabled=recovery_enabled)
        scored_raw = _scored(raw, case, embedder)
        scored = scored_raw if recovered is raw else _scored(recovered, case, embedder)
        input_tokens = embedder.count_tokens(case.raw_input)
    except Exception as error:
        return InstrumentFailure(case, f"scoring failed: {type(error).__name__}: {error}", attempts, answer)
    examined = Examined(answer, scored_raw, scored, recovery, input_tokens, attempts, elapsed_ms, rss_bytes)
    reason = _failure(answer.generation, raw)
    return ModelFailure(case, examined, reason) if reason else Scored(case, examined)


def _failure(generation: Generation, raw: View) -> str | None:
    silent = not generation.text.strip()
    if generation.finish_reason == "length":
        # Tokens were spent, and none of them is the answer: they were thoughts, whether we were shown them or not.
        hidden = silent and (generation.reasoning or not generation.text)
        begun = generation.begins_in_reasoning and not _END_OF_REASONING.search(generation.text)
        return "truncated_reasoning" if hidden or begun or raw.validation.thought.unterminated else "token_limit"
    if silent:
        return "empty_answer"
    return "loop" if generation.finish_reason == "loop" else None


def _scored(view: View, case: Case, embedder: Embedder) -> ScoredView:
    scores = score_view(view.text, view.validation, case, embedder)
    return ScoredView(view, scores, embedder.count_tokens(view.text))
