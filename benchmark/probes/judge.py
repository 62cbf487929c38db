"""What a judge is: it is given a probe with what is left, and says how much of each statement is said, where and why.

Rules are one (`benchmark/probes/judging.py`). Nothing outside a judge knows how it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from typing import Protocol

from benchmark.probes.model import Probe
from benchmark.sessions.records import StepTruth
from benchmark.statements.model import Statement


class Need(StrEnum):
    """What a judge reads of a unit beside the question and the statements; the rest is not shown to it."""

    CONTEXT = auto()
    ANSWER = auto()
    GOLD = auto()


@dataclass(frozen=True, slots=True)
class Counted:
    """What of a probe counts at a cut, by index; the rest stands in the steps that are kept.

    Attributes:
        vital, okay: statements.
        names: see `Probe.names`.

    """

    vital: frozenset[int]
    okay: frozenset[int]
    must_not: frozenset[int]
    names: frozenset[int]

    @property
    def statements(self) -> list[int]:
        """Vital and okay ones, in their order."""
        return sorted(self.vital | self.okay)


@dataclass(frozen=True, slots=True)
class ProbeUnit:
    """A probe at a cut, with what is left there. Nothing in it tells which method left it.

    Attributes:
        statements: of a right answer; of a probe that asks for files, one for each file.
        counted: of these statements, and of the probe's `must_not` and names.
        step: the last one that stood.
        kept: text of the steps that are kept, whatever the method; what it says does not count.
        context, answer, gold: text; empty where the judge does not need it.

    """

    probe: Probe
    statements: tuple[Statement, ...]
    counted: Counted
    step: int
    kept: str = ""
    context: str = ""
    answer: str = ""
    gold: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """Something that is said.

    Attributes:
        share: how much of it, in [0, 1].
        place: where, for people: a step, or the heading above it.
        line: of the text that was judged, from 1; 0 where that is not known.
        why: a few words, or those that say it.

    """

    share: float = 1.0
    place: str = ""
    line: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class ProbeVerdict:
    """What is said of one probe, by index.

    Attributes:
        statements: those of which something stands there; where the share is 0, they are touched, and not said.
        missing: why others are not said; those without a reason need not stand here.
        must_not: rules that are broken.
        crossed: statements whose values are given to the wrong names.
        reworded: statements whose names and numbers stand together, whatever is said of them: in other words, perhaps.
        invented: what is no part of a right answer and said to be one, in words; of a probe that asks for files.
        names: see `Probe.names`.
        contradiction: what holds in the end and is wrong, in words, and where; None where a right answer holds, or
            nothing.

    """

    statements: Mapping[int, Mention] = field(default_factory=dict)
    missing: Mapping[int, str] = field(default_factory=dict)
    must_not: Mapping[int, Mention] = field(default_factory=dict)
    crossed: Mapping[int, Mention] = field(default_factory=dict)
    reworded: Mapping[int, Mention] = field(default_factory=dict)
    invented: Mapping[str, Mention] = field(default_factory=dict)
    names: frozenset[int] = frozenset()
    contradiction: tuple[str, Mention] | None = None

    def share(self, index: int) -> float:
        """Return how much of a statement is said, in [0, 1]."""
        found = self.statements.get(index)
        return found.share if found else 0.0


class ProbeJudge(Protocol):
    """Says what is said. The same units come to the same verdicts, in whatever order they are judged.

    Attributes:
        name: as results tell it.
        version: another one may come to other verdicts.
        needs: what it reads.

    """

    name: str
    version: str
    needs: frozenset[Need]

    def judge(self, unit: ProbeUnit) -> ProbeVerdict:
        """Return what is said of a probe."""
        ...


@dataclass(frozen=True, slots=True)
class SessionProbes:
    """What a judge knows of a session before it judges.

    Attributes:
        truth: what git says of the files after each step; empty where that is not known.
        folder: of the project, absolute.

    """

    probes: Sequence[Probe]
    truth: Sequence[StepTruth] = ()
    folder: str = ""


# Makes the judge of one session.
JudgeFactory = Callable[[SessionProbes], ProbeJudge]


def title_of(judge: ProbeJudge) -> str:
    """Return what results call a judge."""
    return f"{judge.name}, version {judge.version}"
