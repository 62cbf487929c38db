"""Changed cases as a data set of their own: the runner, the scorer and gold know them like any other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmark.cases import Case, Corpus
from benchmark.corpus import load_corpus
from benchmark.corpus.checks import check_scores
from benchmark.corpus.jsonl import case_row
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.scoring import Embedder
from benchmark.stress.figures import Values
from ctxsift.files import write_atomically


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


def keeps_gold(case: Case, embedder: Embedder) -> bool:
    """Say whether gold and each of its equals are accepted and score exactly 100."""
    return not any(check_scores(case, embedder))


def written(cases: Iterable[Case], path: Path) -> Corpus:
    """Write cases as the data set `path` (.jsonl) and return it, sorted by id; the same cases make the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(json.dumps(case_row(case)) + "\n" for case in cases))
    return load_corpus(path, judge_gold=False)


def answers_of(result: StoredResult) -> Mapping[str, Answered]:
    """Return the answers of a result by the ids of their cases."""
    return {case.question.case_id: case for case in result.record.cases if isinstance(case, Answered)}


def score_values(answers: Mapping[str, Answered]) -> Values:
    """Return the case score of each answer, 0 to 100."""
    return {name: (100.0 * answer.recovered.case_score, answer.question.cluster) for name, answer in answers.items()}
