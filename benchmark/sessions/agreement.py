"""How far the artifact index and git agree on what a recorded session did to the project's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from benchmark.sessions.records import Changes, StepTruth
from ctxsift.sessions.artifacts.index import index_for, index_session
from ctxsift.sessions.artifacts.records import Artifacts, FileState
from ctxsift.sessions.records import Session, Source

KINDS = ("created", "modified", "deleted")
# A rename is a deletion and a creation. What the index does not know (`written`) it does not say.
_SAID: Mapping[FileState, str] = {
    FileState.CREATED: "created",
    FileState.RENAMED: "created",
    FileState.MODIFIED: "modified",
    FileState.DELETED: "deleted",
    FileState.RENAMED_AWAY: "deleted",
}


@dataclass(frozen=True, slots=True)
class PathAgreement:
    """Paths of one kind, as the index and as git have them.

    Attributes:
        both: in both.
        only_index: false; lower precision.
        only_git: missed; lower recall.

    """

    both: frozenset[str] = frozenset()
    only_index: frozenset[str] = frozenset()
    only_git: frozenset[str] = frozenset()


def share(part: int, whole: int) -> float | None:
    """Return a share in [0, 1]; None of nothing."""
    return part / whole if whole else None


def precision(found: Iterable[PathAgreement]) -> float | None:
    """Return the share of what the index says that git says, too, over all; None where it says nothing."""
    each = list(found)
    right = sum(len(one.both) for one in each)
    return share(right, right + sum(len(one.only_index) for one in each))


def recall(found: Iterable[PathAgreement]) -> float | None:
    """Return the share of what git says that the index says, too, over all; None where git says nothing."""
    each = list(found)
    right = sum(len(one.both) for one in each)
    return share(right, right + sum(len(one.only_git) for one in each))


def agreement(session: Session, truth: Sequence[StepTruth], ignored: Set[str]) -> dict[str, PathAgreement]:
    """Return what the index says of a whole session beside what git says, by kind; `ignored` are not tracked by git."""
    return _beside(index_session(session), truth[-1].since_start, ignored)


def at_every_step(session: Session, truth: Sequence[StepTruth], ignored: Set[str]) -> tuple[int, int, int]:
    """Return how many paths both say after each step, only the index and only git, added up over the steps.

    Args:
        session: as recorded, or read from another format; what programs wrote in the user's name is no step of it.
        truth: of each step.
        ignored: paths that git does not track.

    Raises:
        ValueError: the session has more or fewer steps than the truth.

    """
    index, both, only_index, only_git = index_for(session.head), 0, 0, 0
    for step, true in zip((each for each in session.steps if each.source is not Source.SYSTEM), truth, strict=True):
        index.add(step)
        for each in _beside(index.artifacts(), true.since_start, ignored).values():
            both += len(each.both)
            only_index += len(each.only_index)
            only_git += len(each.only_git)
    return both, only_index, only_git


def _beside(artifacts: Artifacts, changes: Changes, ignored: Set[str]) -> dict[str, PathAgreement]:
    said, true = by_kind(artifacts), by_git(changes)
    return {
        kind: PathAgreement(
            frozenset(said[kind] & true[kind]),
            frozenset(said[kind] - true[kind] - ignored),
            frozenset(true[kind] - said[kind]),
        )
        for kind in KINDS
    }


def by_kind(artifacts: Artifacts) -> dict[str, set[str]]:
    """Return the project's files that the index says were created, modified or deleted."""
    made: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for entry in artifacts.files:
        kind = _SAID.get(entry.state)
        if kind and not entry.path.startswith(("/", "~")):
            made[kind].add(entry.path)
    return made


def by_git(changes: Changes) -> dict[str, set[str]]:
    """Return the same as git has it."""
    return {
        "created": {*changes.created, *(new for _, new in changes.renamed)},
        "modified": set(changes.modified),
        "deleted": {*changes.deleted, *(old for old, _ in changes.renamed)},
    }
