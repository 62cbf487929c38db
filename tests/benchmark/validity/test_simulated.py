"""Simulated models: the figures tell a scorer whose error is known from one whose error is not."""

from __future__ import annotations

import numpy as np
import pytest

from benchmark.record.validity import Half, read_validity
from benchmark.validity.simulated import SimulatedAnswers, simulated_figures


def source(number: int, right: float, wrong: float) -> SimulatedAnswers:
    rng = np.random.default_rng(number)
    return SimulatedAnswers(
        f"w{number}",
        list(np.clip(rng.normal(right, 0.1, 40), 0, 1)),
        list(np.clip(rng.normal(wrong, 0.1, 40), 0, 1)),
    )


def test_sources_alike_are_covered_and_one_apart_is_not() -> None:
    alike = [source(number, 0.8, 0.2) for number in range(8)]
    held, *_ = simulated_figures(alike, 60)
    # Seven play well; the eighth's right answers score as its wrong ones do elsewhere.
    apart = [*alike[:7], source(9, 0.3, 0.05)]
    missed, *_ = simulated_figures(apart, 60)
    assert held.value > 0.9
    assert missed.value < held.value
    assert {figure.half for figure in simulated_figures(alike, 60)} == {Half.SIMULATED}


def test_six_sources_say_nothing() -> None:
    assert not list(simulated_figures([source(number, 0.8, 0.2) for number in range(6)], 60))


def test_the_measured_figures_lie_where_they_should() -> None:
    found = {figure.measure: figure.value for figure in read_validity().figures if figure.half is Half.SIMULATED}
    assert 0.93 <= found.pop("intervals that hold the share right") <= 0.97
    assert found.pop("models 10 points apart, the worse one called better") <= 0.03
    assert found == pytest.approx({"models of equal truth, one called better": 0.05}, abs=0.05)
