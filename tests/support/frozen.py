"""Cases that stay as they are, whatever becomes of the corpus: for tests that need a case, and not this corpus."""

from __future__ import annotations

from functools import cache

from benchmark.cases import Corpus
from benchmark.corpus import load_corpus
from tests.conftest import ROOT

FOLDER = ROOT / "tests" / "data" / "cases"
# A capture with its cases, as an author writes them.
CAPTURE = FOLDER / "java" / "java-caused-by-chain"
CASES = FOLDER / "page.jsonl"


@cache
def page_cases() -> Corpus:
    """Return cases of every intent, three captures of which have two questions each."""
    return load_corpus(CASES)
