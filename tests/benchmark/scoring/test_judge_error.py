"""The error of the scorer: shares of right answers, and by how much a score may be off."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.scoring.judge_error import AnswerSource, JudgeError
from benchmark.statistics import DRAWS

SOURCES = tuple(AnswerSource(0.75 + 0.02 * step, 0.05 + 0.03 * step) for step in range(6))
ERROR = JudgeError(SOURCES)


def test_share_right_solves_the_mixture() -> None:
    share = 0.4
    score = share * ERROR.right_mean + (1 - share) * ERROR.wrong_mean
    assert ERROR.share_right(score) == pytest.approx(share)
    # By hand: (0.5 - 0.1) / (0.9 - 0.1).
    assert JudgeError(SOURCES, AnswerSource(0.9, 0.1)).share_right(0.5) == pytest.approx(0.5)
    assert (ERROR.share_right(0.0), ERROR.share_right(1.0)) == (0.0, 1.0)


def test_draws_are_those_of_the_author_and_lie_around_the_share() -> None:
    drawn = ERROR.drawn_shares(0.5, "model")
    assert drawn.shape == (DRAWS,)
    assert np.array_equal(drawn, ERROR.drawn_shares(0.5, "model"))
    assert not np.array_equal(drawn, ERROR.drawn_shares(0.5, "another"))
    assert np.array_equal(ERROR.drawn_shares(0.5, "/a/model.gguf"), ERROR.drawn_shares(0.5, "/b/c/model.gguf"))
    assert abs(drawn.mean() - ERROR.share_right(0.5)) < 0.02
    assert drawn.min() >= 0
    assert drawn.max() <= 1


def test_a_core_is_shifted_by_as_much_of_it_as_is_prose() -> None:
    half = ERROR.shift_of_core([0.5] * 10, 20, "model")
    whole = ERROR.shift_of_core([0.5] * 20, 20, "model")
    assert np.allclose(2 * np.asarray(half), whole)
    # 0.8 of the core is the mean.
    assert np.allclose(whole, 0.8 * ERROR.shift(0.5, "model"))
    assert abs(np.mean(whole)) < 1e-12
    assert ERROR.shift_of_core([], 20, "model") == 0.0


def test_sources_that_agree_leave_nothing_uncertain() -> None:
    same = JudgeError((AnswerSource(0.9, 0.1),) * 5)
    assert np.ptp(same.shift(0.5, "model")) == 0
    assert np.ptp(ERROR.shift(0.5, "model")) > 0.05


def test_a_low_score_leaves_no_room_for_lenient_sources() -> None:
    """Where hardly anything scores, wrong answers cannot have scored much: the error is small."""
    assert np.std(ERROR.shift(0.02, "model")) < np.std(ERROR.shift(0.5, "model")) / 3
