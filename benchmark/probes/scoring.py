"""The rubric: fourteen criteria in six dimensions, 0 to 5; what rules cannot judge is unscored, which is no 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum, auto

from benchmark.probes.asking import Asking
from benchmark.probes.file_sets import FileSet
from benchmark.probes.judging import Said
from benchmark.probes.model import FileChange, ProbeType, Tag

FULL = 5.0
# What a first contradiction leaves, and each further one.
_FIRST_LEAVES, _NEXT_LEAVES = 0.3, 0.6


class Criterion(StrEnum):
    """What the rubric asks about."""

    ACCURACY_FACTUAL = auto()
    ACCURACY_TECHNICAL = auto()
    CONTEXT_CONVERSATION_STATE = auto()
    CONTEXT_ARTIFACT_STATE = auto()
    ARTIFACT_FILES_CREATED = auto()
    ARTIFACT_FILES_MODIFIED = auto()
    ARTIFACT_KEY_DETAILS = auto()
    COMPLETENESS_COVERAGE = auto()
    COMPLETENESS_DEPTH = auto()
    CONTINUITY_WORK_STATE = auto()
    CONTINUITY_TODO_STATE = auto()
    CONTINUITY_REASONING = auto()
    INSTRUCTION_FORMAT = auto()
    INSTRUCTION_CONSTRAINTS = auto()


class Dimension(StrEnum):
    """What criteria belong to; its score is the mean of those that are scored."""

    ACCURACY = auto()
    CONTEXT = auto()
    ARTIFACT = auto()
    COMPLETENESS = auto()
    CONTINUITY = auto()
    INSTRUCTION = auto()

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """Those whose names begin with it."""
        return tuple(criterion for criterion in Criterion if criterion.startswith(self))


def score_of(asking: Asking, said: Said, files: FileSet | None) -> float:
    """Return how well a context answers a probe, 0 to 5.

    What of the vital statements that count is said, less where what stands last contradicts them; for all files of a
    kind, F1.
    """
    if files is not None:
        return FULL * files.f1
    return FULL * _share(asking.counted.vital, said) * _left(asking, said)


def criteria_of(asking: Asking, said: Said, files: FileSet | None) -> dict[Criterion, float]:
    """Return the criteria that a probe is scored on, 0 to 5; the others are unscored."""
    return dict(_files(asking, files) if files is not None else _statements(asking, said))


def _statements(asking: Asking, said: Said) -> Iterator[tuple[Criterion, float]]:
    score, counted, probe = score_of(asking, said, None), asking.counted, asking.probe
    yield Criterion.ACCURACY_FACTUAL, score
    yield Criterion.COMPLETENESS_COVERAGE, FULL * _share(counted.vital, said)
    for tag, criterion in _TAGGED.items():
        if tag in probe.tags:
            yield criterion, score
    if probe.type in _TYPED:
        yield _TYPED[probe.type], score
    if counted.names:
        yield Criterion.ARTIFACT_KEY_DETAILS, FULL * len(counted.names & said.names.keys()) / len(counted.names)
    if counted.okay:
        yield Criterion.COMPLETENESS_DEPTH, FULL * _share(counted.okay, said)


def _files(asking: Asking, files: FileSet) -> Iterator[tuple[Criterion, float]]:
    score = FULL * files.f1
    yield Criterion.CONTEXT_ARTIFACT_STATE, score
    if asking.probe.files is FileChange.CREATED:
        yield Criterion.ARTIFACT_FILES_CREATED, score
    elif asking.probe.files is FileChange.MODIFIED:
        yield Criterion.ARTIFACT_FILES_MODIFIED, score


_TAGGED: Mapping[Tag, Criterion] = {
    Tag.TECHNICAL: Criterion.ACCURACY_TECHNICAL,
    Tag.STATE: Criterion.CONTEXT_CONVERSATION_STATE,
    Tag.TODO: Criterion.CONTINUITY_TODO_STATE,
}
_TYPED: Mapping[ProbeType, Criterion] = {
    ProbeType.CONTINUATION: Criterion.CONTINUITY_WORK_STATE,
    ProbeType.DECISION: Criterion.CONTINUITY_REASONING,
    ProbeType.CONSTRAINT: Criterion.INSTRUCTION_CONSTRAINTS,
}


def _share(statements: frozenset[int], said: Said) -> float:
    return sum(said.shares.get(index, 0.0) for index in statements) / len(statements)


def _left(asking: Asking, said: Said) -> float:
    if not asking.contradicted(said):
        return 1.0
    counted = asking.counted
    wrong = len(counted.must_not & said.must_not.keys()) + len(counted.vital & said.crossed.keys())
    return _FIRST_LEAVES * _NEXT_LEAVES ** (wrong - 1)
