"""Changed cases as a data set of their own: the runner, the scorer and gold know them like any other."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.cases import Case, Corpus
from benchmark.corpus import load_corpus
from benchmark.corpus.checks import check_scores
from benchmark.corpus.jsonl import case_row
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.scoring import Embedder
from benchmark.stress.figures import Estimate, Values, estimate, gain
from ctxsift.files import write_atomically

_HASH_CHARS = 12


@dataclass(frozen=True)
class Changed:
    """A case after a change.

    Attributes:
        case: with an id of its own; on the capture of the unchanged one, with which it is drawn.
        base: id of the unchanged case.
        kind: of the change.

    """

    case: Case
    base: str
    kind: str


def changed(case: Case, kind: str, raw_input: str | None = None) -> Changed:
    """Return a case with another input (None: the same), under the id `<id>--<kind>`."""
    text = case.raw_input if raw_input is None else raw_input
    # What is known of answers to the old input need not hold for another.
    return Changed(replace(case, case_id=id_of(case.case_id, kind), raw_input=text, known=()), case.case_id, kind)


def id_of(base: str, kind: str) -> str:
    """Return the id of a case after a change."""
    return f"{base}--{kind.replace(' ', '-')}"


def by_turns(cases: Sequence[Case], seed: int) -> list[Case]:
    """Return cases in an order that a seed draws: one of each capture first, then a second one of each."""
    seen: Counter[str] = Counter()
    turns: list[tuple[int, Case]] = []
    for case in random.Random(seed).sample(cases, len(cases)):
        turns.append((seen[case.capture.name], case))
        seen[case.capture.name] += 1
    return [case for _, case in sorted(turns, key=lambda turn: turn[0])]


def is_document(case: Case) -> bool:
    """Say whether the whole output is one JSON document, which a line more would break."""
    try:
        json.loads(case.raw_input)
    except ValueError:
        return False
    return True


def places(case: Case) -> list[int]:
    """Return before which lines something can stand: not at an end, within an entry, or within what gold copies."""
    if is_document(case):
        return []
    lines = case.raw_input.split("\n")
    copied = {line.strip() for reference in case.references for line in reference.splitlines()}
    return [
        place
        for place in range(1, len(lines))
        if lines[place][:1].strip() and not {lines[place - 1].strip(), lines[place].strip()} <= copied
    ]


def keeps_gold(case: Case, embedder: Embedder) -> bool:
    """Say whether gold and each of its equals are accepted and score exactly 100."""
    return not any(check_scores(case, embedder))


def written(cases: Iterable[Case], folder: Path, name: str) -> Corpus:
    """Write cases as the data set `<name>-<hash>.jsonl` of a folder, and return it, sorted by id.

    The hash is that of its text: the same cases make the same file, and other cases overwrite no file whose run may
    still be continued.
    """
    text = "".join(json.dumps(case_row(case)) + "\n" for case in cases)
    path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:_HASH_CHARS]}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)
    return load_corpus(path, judge_gold=False)


def answers_of(result: StoredResult) -> Mapping[str, Answered]:
    """Return the answers of a result by the ids of their cases."""
    return {case.question.case_id: case for case in result.record.cases if isinstance(case, Answered)}


def is_usable(answer: Answered) -> bool:
    """Say whether the product would pass an answer on: it is not rejected, and not held back (refusals, for one)."""
    return answer.recovered.usable and not answer.held_back


def score_values(answers: Mapping[str, Answered]) -> Values:
    """Return the case score of each answer, 0 to 100."""
    return _values(answers, lambda answer: 100.0 * answer.recovered.case_score)


def kept_values(answers: Mapping[str, Answered]) -> Values:
    """Return the percentage of the anchors that each answer keeps."""
    return _values(answers, lambda answer: 100.0 * answer.recovered.preserve)


def second_values(answers: Mapping[str, Answered]) -> Values:
    """Return the generation time of each answer in seconds."""
    return _values(answers, lambda answer: answer.generation.total_ms / 1000.0)


def _values(answers: Mapping[str, Answered], value: Callable[[Answered], float]) -> Values:
    return {name: (value(answer), answer.question.cluster) for name, answer in answers.items()}


def paired(beside: Mapping[str, str | None], values: Values) -> tuple[Estimate | None, Estimate | None]:
    """Return the mean of a figure over cases, and how far it is from that of the cases that they are compared with.

    Args:
        beside: id of each case -> id of the one that it is compared with; None for a case that is compared with none.
        values: of both.

    """
    after = {name: values[name] for name in beside if name in values}
    before = {name: values[other] for name, other in beside.items() if other is not None and other in values}
    return estimate(after), gain(before, after) if before else None
