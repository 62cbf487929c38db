"""What decides the questions of a run, for resume and compare: where it differs, other things were asked."""

from __future__ import annotations

from dataclasses import dataclass

from benchmark.record.journal import RunIdentity
from benchmark.record.result import Run


@dataclass(frozen=True)
class Questions:
    """Prompt and corpus.

    Attributes:
        prompt_sha256: of all words that we add to a question; None where an older journal does not tell it.

    """

    prompt_version: str
    prompt_sha256: str | None
    corpus_sha256: str


def questions_of(run: RunIdentity | Run) -> Questions:
    """Return what decides the questions of a run, by its journal or its result."""
    return Questions(run.prompt_version, run.prompt_sha256, run.corpus_sha256)
