"""What is written for us says each thing once: a key that stands twice is refused with its place, in whatever file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.corpus.jsonl import case_row
from benchmark.corpus.loader import load_corpus
from benchmark.judges.named_judges import read_verdicts
from benchmark.probes.recorded import read_answers
from benchmark.record.read import read_result
from benchmark.utilization.measuring import utilization
from benchmark.utilization.records import Utilization
from benchmark.utilization.tables import read_table
from ctxsift.errors import InputError
from tests.conftest import published_layout


def row(**values: object) -> str:
    return json.dumps({"question": "Which?", "contexts": ["a"], "answer": "a", **values})


def verdict(key: str, value: object) -> str:
    whole = {"id": "a", "criterionResults": [{"criterionId": "accuracy_factual", "score": 5}]}
    return twice(json.dumps(whole), key, value)


def twice(text: str, key: str, value: object) -> str:
    """Return an object in JSON with a key that it has, once more before it."""
    return text.replace(f'"{key}": ', f'"{key}": {json.dumps(value)}, "{key}": ', 1)


def case() -> str:
    return twice(json.dumps(case_row(load_corpus().cases[0])), "raw_input", "another")


def result(key: str, value: object) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return twice(published_layout(Path(folder, "r.json"), "r", {"x": 0.5}).read_text(), key, value)


def measured(path: Path) -> Utilization:
    return utilization([each.values for each in read_table(path)])


Read = Callable[[Path], object]
CELLS = 'question,contexts,answer\nq,"[{""text"":""a"",""text"":""b""}]",a\n'
FILES: dict[str, tuple[str, Callable[[], str], Read, str]] = {
    "labels": ("rows.jsonl", lambda: twice(row(labels=[1]), "labels", [0]), measured, "row 1 (line 1): "),
    "chunk": ("rows.csv", lambda: CELLS, measured, "contexts: /0/text stands twice"),
    "raw input": ("corpus.jsonl", case, load_corpus, ":1: not valid JSON: /raw_input stands twice"),
    "id": ("verdicts.jsonl", lambda: verdict("id", "b"), read_verdicts, ":1: is not JSON (/id stands twice)"),
    "score": ("verdicts.jsonl", lambda: verdict("score", 0), read_verdicts, "/criterionResults/0/score stands twice"),
    "results": ("verdicts.jsonl", lambda: verdict("criterionResults", []), read_verdicts, "/criterionResults stands"),
    "answer": ("a.jsonl", lambda: twice('{"id": "a", "answer": "x"}', "answer", "y"), read_answers, "/answer stands"),
    "summary": ("r.json", lambda: result("summary", {}), read_result, "/summary stands twice"),
    "figure": ("r.json", lambda: result("final_score", 99.0), read_result, "/summary/final_score stands twice"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, name: str) -> None:
    file, written, read, told = FILES[name]
    path = tmp_path / file
    path.write_text(written())
    with pytest.raises(InputError) as caught:
        read(path)
    assert told in str(caught.value)
    assert "stands twice" in str(caught.value)
