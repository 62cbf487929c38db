"""The labelled answers that ship: what judges are calibrated with. See answers/README.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from statistics import fmean

import msgspec

from benchmark.judges.calibration import LabelledAnswer
from benchmark.judges.protocol import JudgeInput
from benchmark.judges.rubric import Criterion
from benchmark.probes.answer_rules import abstains
from benchmark.probes.model import FileChange, ProbeType
from benchmark.probes.recorded import TUNED_ON, RubricLabel, published_answers, published_contexts, shipped_lines
from benchmark.probes.rubric import criteria_asked

LABELLED = "labelled.jsonl.gz"


class LabelledPart(StrEnum):
    """Of the labelled answers."""

    # Of readers, under the methods of 25 November 2026, with the contexts that they read.
    PUBLISHED = auto()
    # Of readers, about two more sessions.
    READERS = auto()
    # Confident and wrong.
    WRONG = auto()
    # Right in other words, partly right, wrong in six ways, padded, not known.
    QUALITIES = auto()


class LabelledLine(msgspec.Struct, frozen=True, kw_only=True, rename={"answer_id": "id", "part": "set"}):
    """A line of the file.

    Attributes:
        gold: the right answer, as the labelers saw it.
        kind: how it was to come out, where somebody wrote it for that; `method`: under which it was read.
        files: that the probe asks for, where it asks for all of a kind.

    """

    answer_id: str
    part: LabelledPart
    session: str
    probe: str
    type: ProbeType
    question: str
    gold: str
    answer: str
    labels: tuple[RubricLabel, ...]
    kind: str = ""
    method: str = ""
    files: FileChange | None = None


@dataclass(frozen=True)
class LabelledProbe:
    """A labelled answer, and which probe it answers."""

    probe: str
    part: LabelledPart
    kind: str
    answer: LabelledAnswer


def labelled_answers(
    parts: Sequence[LabelledPart] = tuple(LabelledPart),
    *,
    criteria: Sequence[Criterion] | None = None,
    with_context: bool = False,
) -> list[LabelledProbe]:
    """Return the labelled answers that ship, as judges are shown them.

    Args:
        parts: which of them.
        criteria: that are judged; None for those that go with the type of a probe.
        with_context: with the context that was read; answers without one are left out.

    Raises:
        InputError: they are damaged.

    """
    lines = [*_published()] if LabelledPart.PUBLISHED in parts else []
    contexts = {}
    if with_context:
        seen = {each.context: each.text for each in published_contexts(TUNED_ON)}
        contexts = {each.answer_id: seen[each.context] for each in published_answers(TUNED_ON)}
    else:
        lines += [each for each in shipped_lines(LABELLED, LabelledLine) if each.part in parts]
    return [_labelled(each, criteria, contexts.get(each.answer_id, "")) for each in lines]


def _published() -> Iterator[LabelledLine]:
    seen = {each.context: each for each in published_contexts(TUNED_ON)}
    for each in published_answers(TUNED_ON):
        context = seen[each.context]
        yield LabelledLine(
            answer_id=each.answer_id,
            part=LabelledPart.PUBLISHED,
            session=context.session,
            probe=each.probe,
            type=each.type,
            files=each.files,
            question=each.question,
            gold=each.gold,
            answer=each.answer,
            labels=each.labels,
            method=context.method,
        )


def _labelled(line: LabelledLine, criteria: Sequence[Criterion] | None, context: str) -> LabelledProbe:
    judged = JudgeInput(
        probe_question=line.question,
        model_response=line.answer,
        rubric_criteria=tuple(criteria or criteria_asked(line.type, line.files)),
        ground_truth=line.gold,
        compacted_context=context,
    )
    answer = LabelledAnswer(judged, line.session, line.type, labels_of(line.labels), abstains(line.answer))
    return LabelledProbe(line.probe, line.part, line.kind, answer)


def labels_of(labels: Sequence[RubricLabel]) -> dict[Criterion, float]:
    """Return the mean of the readers by criterion; a third one decides with them where two were far apart."""
    found: dict[Criterion, list[float]] = {}
    for label in labels:
        for criterion, value in label.criteria.items():
            found.setdefault(criterion, []).append(value)
    return {criterion: fmean(values) for criterion, values in found.items()}
