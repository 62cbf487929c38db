"""What rules give for the criteria of the rubric; what they cannot judge is unscored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmark.judges.rubric import FULL, Criterion
from benchmark.probes.judge import ProbeUnit, ProbeVerdict
from benchmark.probes.model import FileChange, ProbeType, Tag

# What a first contradiction leaves, and each further one.
_FIRST_LEAVES, _NEXT_LEAVES = 0.3, 0.6


def score_of(unit: ProbeUnit, said: ProbeVerdict) -> float:
    """Return how well a probe is answered, 0 to 5.

    What of the vital statements that count is said, less where what holds in the end contradicts them; for all files
    of a kind, F1.
    """
    if unit.probe.files is not None:
        return FULL * _f1(unit, said)
    return FULL * _share(unit.counted.vital, said) * _left(unit, said)


def criteria_of(unit: ProbeUnit, said: ProbeVerdict) -> dict[Criterion, float]:
    """Return the criteria that a probe is scored on, 0 to 5; the others are unscored."""
    return dict(_files(unit, said) if unit.probe.files is not None else _statements(unit, said))


def _statements(unit: ProbeUnit, said: ProbeVerdict) -> Iterator[tuple[Criterion, float]]:
    score, counted, probe = score_of(unit, said), unit.counted, unit.probe
    yield Criterion.ACCURACY_FACTUAL, score
    yield Criterion.COMPLETENESS_COVERAGE, FULL * _share(counted.vital, said)
    for tag, criterion in _TAGGED.items():
        if tag in probe.tags:
            yield criterion, score
    if probe.type in _TYPED:
        yield _TYPED[probe.type], score
    if counted.names:
        yield Criterion.ARTIFACT_KEY_DETAILS, FULL * len(counted.names & said.names) / len(counted.names)
    if counted.okay:
        yield Criterion.COMPLETENESS_DEPTH, FULL * _share(counted.okay, said)


def _files(unit: ProbeUnit, said: ProbeVerdict) -> Iterator[tuple[Criterion, float]]:
    score = score_of(unit, said)
    yield Criterion.CONTEXT_ARTIFACT_STATE, score
    if unit.probe.files is FileChange.CREATED:
        yield Criterion.ARTIFACT_FILES_CREATED, score
    elif unit.probe.files is FileChange.MODIFIED:
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


def _share(statements: frozenset[int], said: ProbeVerdict) -> float:
    return sum(said.share(index) for index in statements) / len(statements)


def _f1(unit: ProbeUnit, said: ProbeVerdict) -> float:
    """Return the harmonic mean of precision and recall over files; there is at least one."""
    gold = unit.counted.vital
    right = sum(said.share(index) for index in gold)
    return 2 * right / (len(gold) + right + len(said.invented))


def _left(unit: ProbeUnit, said: ProbeVerdict) -> float:
    if said.contradiction is None:
        return 1.0
    counted = unit.counted
    wrong = len(counted.must_not & said.must_not.keys()) + len(counted.vital & said.crossed.keys())
    # A judge may contradict without a rule that was broken.
    return _FIRST_LEAVES * _NEXT_LEAVES ** max(0, wrong - 1)
