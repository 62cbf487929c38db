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


_READ: dict[Identity, Callable[[Run], str]] = {
    Identity.SCORER: lambda run: run.scorer_version,
    Identity.CORPUS: lambda run: questions_of(run).corpus_sha256,
    Identity.PROMPT: lambda run: questions_of(run).prompt_version,
}


@dataclass(frozen=True)
class Mismatch:
    """Results that differ in an identity.

    Attributes:
        values: each once, in the order of the results; None for files of the published layout, which do not tell it.

    """

    identity: Identity
    values: tuple[str | None, ...]


def mismatches(results: Sequence[StoredResult]) -> tuple[Mismatch, ...]:
    """Return what the results do not have in common."""
    found = []
    for identity, read in _READ.items():
        values = tuple(dict.fromkeys(read(run) if (run := result.record.run) else None for result in results))
        if len(values) > 1:
            found.append(Mismatch(identity, values))
    return tuple(found)
