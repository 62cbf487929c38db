"""How far scores of prose may be off because the scorer is, as draws that join those of a bootstrap.

Of a model's answers in prose a share p is right. In the mean, its right answers score R and its wrong ones W, so all of
them score pR + (1 - p)W (the mixture behind Rogan and Gladen's estimator, 1978). R and W depend on who writes: they
were measured for many sources, and a model is one more source. Each draw gives it those of one measured source.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from benchmark.statistics import CONFIDENCE, DRAWS, Floats, student_quantile

# Of the quality core, what the mean of the case scores makes up; the tail term is left as it is.
OF_MEAN = 0.80
# From fewer sources nothing can be said of another one.
FEWEST_SOURCES = 5


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Somebody whose answers are known to be right or wrong: the mean case score of either kind, in [0, 1]."""

    right_mean: float
    wrong_mean: float


@dataclass(frozen=True)
class JudgeError:
    """What the scorer makes of right and wrong answers of sources that it does not know.

    Attributes:
        sources: five or more.
        models: what real models come to, by labels of their answers; None where nobody labelled any.

    """

    sources: tuple[AnswerSource, ...]
    models: AnswerSource | None = None

    @property
    def right_mean(self) -> float:
        """R, over all sources."""
        return sum(each.right_mean for each in self.sources) / len(self.sources)

    @property
    def wrong_mean(self) -> float:
        """W, over all sources."""
        return sum(each.wrong_mean for each in self.sources) / len(self.sources)

    def share_right(self, mean_score: float) -> float:
        """Return the share of answers that are right, in [0, 1], by R and W of models, or else the mean of all sources.

        Args:
            mean_score: of the answers, in [0, 1].

        """
        usual = self.models or AnswerSource(self.right_mean, self.wrong_mean)
        return float(_share(mean_score, np.float64(usual.right_mean), np.float64(usual.wrong_mean)))

    def drawn_shares(self, mean_scores: float | Floats, author: str) -> Floats:
        """Return the share that is right for R and W of one source a draw, shape (draws,).

        Args:
            mean_scores: of the answers in each draw, shape (draws,), or one for all.
            author: the model; two runs of one are given the same sources, wherever its file lies.

        """
        return _share(mean_scores, *self._drawn(author))

    def shift(self, mean_score: float, author: str) -> Floats:
        """Return by how much the mean score would be another if its share right were drawn, shape (draws,), mean 0."""
        shares = self.drawn_shares(mean_score, author)
        shift: Floats = (shares - shares.mean()) * (self.right_mean - self.wrong_mean)
        return shift

    def shift_of_core(self, prose_scores: Sequence[float], of_all: int, author: str) -> Floats | float:
        """Return the same for the quality core of a result, in [0, 1]; 0 where it has no prose.

        Args:
            prose_scores: case scores of its answers in prose.
            of_all: how many answers it has, prose or not.
            author: as above.

        """
        if not prose_scores:
            return 0.0
        shift: Floats = OF_MEAN * len(prose_scores) / of_all * self.shift(float(np.mean(prose_scores)), author)
        return shift

    def _drawn(self, author: str) -> tuple[Floats, Floats]:
        count = len(self.sources)
        seed = int.from_bytes(hashlib.sha256(author.rpartition("/")[2].encode()).digest()[:8])
        places = np.random.default_rng(seed).integers(0, count, DRAWS)
        # Another source may lie outside all that were measured: a prediction interval, by Student's t.
        normal = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
        wider = math.sqrt((count + 1) / count) * student_quantile(count - 1) / normal
        right, wrong = (
            around + wider * (np.array(means)[places] - around)
            for around, means in (
                (self.right_mean, [each.right_mean for each in self.sources]),
                (self.wrong_mean, [each.wrong_mean for each in self.sources]),
            )
        )
        return np.minimum(right, 1.0), np.maximum(wrong, 0.0)


def _share(mean_score: float | Floats, right: Floats | np.float64, wrong: Floats | np.float64) -> Floats:
    found: Floats = np.clip((mean_score - wrong) / (right - wrong), 0.0, 1.0)
    return found
