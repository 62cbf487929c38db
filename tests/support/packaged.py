"""What every run in this process may share: the packaged corpus, read once, and what its references score."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.cases import Corpus
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.grading import baselines
from benchmark.grading.baselines import ReferenceScores
from benchmark.run import run_group


def keep_corpus(patched: pytest.MonkeyPatch, corpus: Corpus) -> None:
    """Let runs inside this process take the packaged corpus as it was read once: its records are frozen."""

    def load(path: Path = DEFAULT_CORPUS) -> Corpus:
        return corpus if path == DEFAULT_CORPUS else load_corpus(path)

    patched.setattr(run_group, "load_corpus", load)


@contextlib.contextmanager
def already_loaded(corpus: Corpus, references: ReferenceScores) -> Iterator[None]:
    """Let the runner find the packaged corpus already read, and score with these references and their embedder."""

    def scores(embedder: object) -> ReferenceScores:
        return references

    with pytest.MonkeyPatch.context() as patched:
        keep_corpus(patched, corpus)
        patched.setattr("benchmark.scoring.Embedder", lambda: references.embedder)
        patched.setattr(baselines, "ReferenceScores", scores)
        yield
