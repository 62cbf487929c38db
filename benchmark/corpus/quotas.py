"""What the packaged corpus has to contain: how many cases of which kind, on how many captures, how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmark.cases import Case, Difficulty, Family, Origin
from ctxsift.contracts import Intent, OutputMode

CASES = 280
MAX_TOKENS = 6000


@dataclass(frozen=True)
class Quota:
    """One demand on the corpus as a whole.

    Attributes:
        least, most: the bounds, both inclusive; None where there is none.

    """

    name: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        """The value lies within its bounds."""
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    @property
    def wanted(self) -> str:
        """The bounds in words."""
        if self.least == self.most:
            return f"{self.least:g}"
        if self.most is None:
            return f"at least {self.least:g}"
        return f"at most {self.most:g}" if self.least is None else f"{self.least:g} to {self.most:g}"


def quotas(cases: Sequence[Case], count_tokens: Callable[[str], int]) -> Iterator[Quota]:
    """Yield every quota with its value in these cases."""
    lines = [len(case.raw_input.splitlines()) for case in cases]
    total = max(1, len(cases))
    yield Quota("cases in total", len(cases), CASES, CASES)
    yield Quota("distinct captures", len({case.capture.name for case in cases}), 120)
    yield Quota("cases on real captures, %", 100 * sum(c.capture.origin == Origin.CAPTURED for c in cases) / total, 60)
    yield Quota("tools", len({case.capture.tool for case in cases}), 40)
    yield Quota("ecosystems", len({case.capture.ecosystem for case in cases}), 12)
    busiest = max(Counter(case.capture.tool for case in cases).values(), default=0)
    yield Quota("cases of the most frequent tool, %", 100 * busiest / total, None, 6)
    for family in Family:
        yield Quota(f"family {family}", sum(case.family is family for case in cases), 32)
    for intent in Intent:
        much = intent in (Intent.SUMMARY, Intent.RECALL)
        yield Quota(
            f"intent {intent}", sum(c.intent is intent for c in cases), 50 if much else 14, 75 if much else None
        )
    for mode in OutputMode:
        yield Quota(f"output mode {mode}", sum(case.output_mode is mode for case in cases), 1)
    for difficulty, share in ((Difficulty.EASY, 25), (Difficulty.MEDIUM, 50), (Difficulty.HARD, 25)):
        value = 100 * sum(case.difficulty is difficulty for case in cases) / total
        yield Quota(f"difficulty {difficulty}, %", value, share - 5, share + 5)
    yield Quota("median input, lines", median(lines) if lines else 0, 40)
    yield Quota("inputs above 100 lines", sum(n > 100 for n in lines), 70)
    yield Quota("inputs above 250 lines", sum(n > 250 for n in lines), 25)
    yield Quota("inputs under 12 lines", sum(n < 12 for n in lines), None, 40)
    yield Quota("hostile cases (tag)", sum(_is_hostile(case) for case in cases), 8)
    yield Quota("longest input, tokens", max((count_tokens(c.raw_input) for c in cases), default=0), None, MAX_TOKENS)


def _is_hostile(case: Case) -> bool:
    return any(word in tag for tag in case.tags for word in ("hostile", "secret", "end-of-turn", "markup", "html"))
