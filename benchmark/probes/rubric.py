"""Which criteria of the rubric an answer to a probe is judged by. The published framework gives no such table."""

from __future__ import annotations

from collections.abc import Mapping

from benchmark.judges.rubric import Criterion
from benchmark.probes.model import FileChange, ProbeType

_ALL = (
    Criterion.ACCURACY_FACTUAL,
    Criterion.ACCURACY_TECHNICAL,
    Criterion.ARTIFACT_KEY_DETAILS,
    Criterion.COMPLETENESS_COVERAGE,
    Criterion.COMPLETENESS_DEPTH,
)
_BY_TYPE: Mapping[ProbeType, tuple[Criterion, ...]] = {
    ProbeType.ARTIFACT: (Criterion.CONTEXT_ARTIFACT_STATE,),
    ProbeType.CONTINUATION: (
        Criterion.CONTEXT_CONVERSATION_STATE,
        Criterion.CONTINUITY_WORK_STATE,
        Criterion.CONTINUITY_TODO_STATE,
    ),
    ProbeType.DECISION: (Criterion.CONTINUITY_REASONING,),
    ProbeType.CONSTRAINT: (Criterion.INSTRUCTION_CONSTRAINTS,),
}
_BY_CHANGE: Mapping[FileChange, Criterion] = {
    FileChange.CREATED: Criterion.ARTIFACT_FILES_CREATED,
    FileChange.MODIFIED: Criterion.ARTIFACT_FILES_MODIFIED,
}


def criteria_asked(kind: ProbeType, files: FileChange | None = None) -> tuple[Criterion, ...]:
    """Return what an answer is judged by, in the order of the rubric.

    No answer is judged by `instruction_format`: a probe asks for no format.

    Args:
        kind: of the probe.
        files: that it asks for, where it asks for all of a kind.

    """
    found = {*_ALL, *_BY_TYPE.get(kind, ())}
    if files is not None and files in _BY_CHANGE:
        found.add(_BY_CHANGE[files])
    return tuple(each for each in Criterion if each in found)
