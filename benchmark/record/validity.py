"""How far scores can be trusted: what right and wrong answers of known cases score, as it was measured last."""

from __future__ import annotations

import functools
from enum import StrEnum, auto
from pathlib import Path

import msgspec

from benchmark.record.base import Ratio, Record, Score, Sha256, sealed_text, unsealed
from benchmark.scoring.judge_error import FEWEST_SOURCES, AnswerSource, JudgeError
from ctxsift.backends.base import Count
from ctxsift.errors import InputError
from ctxsift.files import read_bytes

_HINT = "create it with: python -m benchmark.validity --write"
MEASURED = Path(__file__).parent.parent / "validity" / "measured.json"


# Measures that others read.
# Name of the source that pools the labelled answers of all models.
OF_MODELS = "models"
RIGHT_MEAN, WRONG_MEAN, AUC = "right answers, mean", "wrong answers, mean", "AUC, right against wrong"


class Half(StrEnum):
    """Whether anybody may have tuned the scorer or a statement on these answers."""

    HELD_OUT = "held out"
    TUNED = auto()
    # What models really answered, labelled by readers.
    MODELS = auto()
    # Models that give answers of known truth, in chosen shares.
    SIMULATED = auto()
    # The whole corpus, where no answers are needed.
    ALL = auto()


class Limit(StrEnum):
    """On which side of its bar a figure has to lie; the bar itself is good enough."""

    LEAST = "at least"
    MOST = "at most"


class ValidityFigure(Record, frozen=True, kw_only=True):
    """One figure with its bar.

    Attributes:
        count: answers, pairs of answers or cases it was taken over.
        limit, bar: None for a figure that is only told.

    """

    half: Half
    measure: str
    value: Score
    count: Count
    limit: Limit | None = None
    bar: Score | None = None

    @property
    def met(self) -> bool:
        """The value is on the right side of its bar, or has none."""
        if self.bar is None:
            return True
        # Sums of floats: gold is 100 to within the last digits.
        slack = 1e-9
        return self.value >= self.bar - slack if self.limit is Limit.LEAST else self.value <= self.bar + slack


class Judged(Record, frozen=True, kw_only=True):
    """One answer with its score.

    Attributes:
        kind: right, or in which way it is wrong.
        case_score: in [0, 1].

    """

    half: Half
    case_id: str
    kind: str
    text: str
    case_score: Ratio
    reasons: list[str]


class ScoredSource(Record, frozen=True, kw_only=True):
    """What the answers of one writer, or of all models, score while the scorer knows none of them.

    Attributes:
        right_mean, wrong_mean: mean case score of the right and of the wrong ones, in [0, 1].

    """

    name: str
    right_count: Count
    right_mean: Ratio
    wrong_count: Count
    wrong_mean: Ratio


class Validity(Record, frozen=True, kw_only=True):
    """All figures of one measurement.

    Attributes:
        sources: whom no statement was written for; how they differ is the error of the scorer.
        worst_right, best_wrong: the answers that tell most about what the scorer does not know.

    """

    scorer_version: str
    corpus_sha256: Sha256
    answers_sha256: Sha256
    labelled_sha256: Sha256
    figures: list[ValidityFigure]
    sources: list[ScoredSource]
    worst_right: list[Judged]
    best_wrong: list[Judged]

    @property
    def met(self) -> bool:
        """Every figure meets its bar."""
        return all(figure.met for figure in self.figures)

    @property
    def judge_error(self) -> JudgeError | None:
        """How far scores of prose may be off; None where too few sources were measured."""
        if len(self.sources) < FEWEST_SOURCES:
            return None
        sources = {each.name: AnswerSource(each.right_mean, each.wrong_mean) for each in self.sources}
        return JudgeError(tuple(sources.values()), sources.get(OF_MODELS))


def read_validity(path: Path = MEASURED) -> Validity:
    """Return the measurement in a file. Raises InputError when it is not one."""
    try:
        return unsealed(Validity, read_bytes(path, _HINT, most_mb=4))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(str(path), f"is not a valid measurement ({error})", "measure again") from error


@functools.cache
def measured_error(scorer_version: str, corpus_sha256: str) -> JudgeError | None:
    """Return how far scores of prose may be off; None where it was not measured for this scorer and this corpus."""
    if not MEASURED.exists():
        return None
    measured = read_validity()
    same = (measured.scorer_version, measured.corpus_sha256) == (scorer_version, corpus_sha256)
    return measured.judge_error if same else None


def validity_text(validity: Validity) -> str:
    """Return a measurement as its file holds it; floats are rounded, so that machines agree."""
    return sealed_text(_rounded(validity))


def _rounded(validity: Validity) -> Validity:
    def judged(answers: list[Judged]) -> list[Judged]:
        return [msgspec.structs.replace(answer, case_score=round(answer.case_score, 4)) for answer in answers]

    return msgspec.structs.replace(
        validity,
        figures=[msgspec.structs.replace(figure, value=round(figure.value, 6)) for figure in validity.figures],
        sources=[
            msgspec.structs.replace(each, right_mean=round(each.right_mean, 6), wrong_mean=round(each.wrong_mean, 6))
            for each in validity.sources
        ],
        worst_right=judged(validity.worst_right),
        best_wrong=judged(validity.best_wrong),
    )
