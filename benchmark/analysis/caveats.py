"""What makes results hard to compare, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from benchmark.record.questions import questions_of
from benchmark.record.read import StoredResult
from benchmark.record.result import Run


class Identity(Enum):
    """What has to be the same for a difference to be the model's."""

    SCORER = auto()
    CORPUS = auto()
    PROMPT = auto()


# The first that differs tells; words may have changed without a new version.
_READ: dict[Identity, tuple[Callable[[Run], str | None], ...]] = {
    Identity.SCORER: (lambda run: run.scorer_version,),
    Identity.CORPUS: (lambda run: questions_of(run).corpus_sha256,),
    Identity.PROMPT: (lambda run: questions_of(run).prompt_version, lambda run: questions_of(run).prompt_sha256),
}


@dataclass(frozen=True)
class Mismatch:
    """Results that differ in an identity.

    Attributes:
        values: each once, in the order of the results; None for files of the published layout, which do not tell it.

    """

    identity: Identity
    values: tuple[str | None, ...]


# What keeps a difference from being the model's, whatever it is.
_REFUSING = (Identity.SCORER, Identity.CORPUS)


def refusals(results: Sequence[StoredResult]) -> tuple[Mismatch, ...]:
    """Return what forbids a verdict on the results: another scorer, another corpus."""
    return tuple(mismatch for mismatch in mismatches(results) if mismatch.identity in _REFUSING)


def alike(a: StoredResult, b: StoredResult) -> bool:
    """Say whether there may be a verdict on two results; the same as no `refusals`, and quicker."""
    return _scored(a) == _scored(b)


def _scored(result: StoredResult) -> tuple[str | None, ...]:
    run = result.record.run
    return () if run is None else tuple(read(run) for identity in _REFUSING for read in _READ[identity])


def mismatches(results: Sequence[StoredResult]) -> tuple[Mismatch, ...]:
    """Return what the results do not have in common."""
    found = []
    runs = [result.record.run for result in results]
    for identity, readers in _READ.items():
        told = (tuple(dict.fromkeys(None if run is None else read(run) for run in runs)) for read in readers)
        if values := next((values for values in told if len(values) > 1), None):
            found.append(Mismatch(identity, values))
    return tuple(found)
