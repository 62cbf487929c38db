"""The mark of the corpus: in every file of cases, in every exported row, in the README."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmark.cases import Corpus
from benchmark.corpus.canary import CANARY_LINE, CANARY_STRING, unmarked
from benchmark.corpus.jsonl import case_row
from benchmark.corpus.loader import DEFAULT_CORPUS


def test_every_file_of_the_corpus_is_marked() -> None:
    assert list(unmarked(DEFAULT_CORPUS)) == []
    assert CANARY_STRING in (DEFAULT_CORPUS.parent / "README.md").read_text()


def test_a_file_without_the_mark_is_found(tmp_path: Path) -> None:
    shutil.copytree(DEFAULT_CORPUS / "go", tmp_path / "go")
    file = min((tmp_path / "go").glob("*.yaml"))
    file.write_text(file.read_text().removeprefix(CANARY_LINE))
    assert list(unmarked(tmp_path)) == [file]


def test_rows_for_other_tools_are_marked(corpus: Corpus) -> None:
    assert {case_row(case)["canary"] for case in corpus.cases} == {CANARY_STRING}
