"""docs/utilization.md: its values are those of the formula, its thresholds ours, its Python runs."""

from __future__ import annotations

import re
from fractions import Fraction

from benchmark.utilization import context_utilization, figures, precision_at
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "utilization.md").read_text(encoding="utf-8")


def test_values() -> None:
    rows = re.findall(r"^\| ([01 ]+) \| (\S+) \| (\S+) \|$", PAGE, re.MULTILINE)
    assert len(rows) > 8
    for verdicts, shown, precision in rows:
        found = list(map(int, verdicts.split()))
        assert context_utilization(found) == (None if shown == "undefined" else Fraction(shown))
        assert precision_at(found) == Fraction(precision)


def test_thresholds() -> None:
    assert f"low mean | the mean is below {figures.LOW_MEAN} |" in PAGE
    assert f"low median | the median is below {figures.LOW_MEDIAN} |" in PAGE
    assert f"deviation is above {figures.HIGH_DEVIATION} |" in PAGE
    assert f"low maximum | the maximum is below {figures.LOW_HIGHEST} |" in PAGE
    assert f"fewer than {figures.SMALL_SAMPLE} rows are defined |" in PAGE


def test_python() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
