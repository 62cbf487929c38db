"""How far the artifact index and git agree on what a recorded session did to the project's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from benchmark.sessions.loader import RecordedSession
from benchmark.sessions.records import Changes
from ctxsift.sessions.artifacts.index import index_for, index_session
from ctxsift.sessions.artifacts.records import Artifacts, FileState

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


def agreement(recorded: RecordedSession, ignored: Set[str]) -> dict[str, PathAgreement]:
    """Return what the index says of a whole session beside what git says, by kind.

    Args:
        recorded: the session.
        ignored: paths that git does not track.

    Raises:
        InputError: the session cannot be read.

    """
    return _beside(index_session(recorded.session()), recorded.truth()[-1].since_start, ignored)


def at_every_step(recorded: RecordedSession, ignored: Set[str]) -> tuple[int, int, int]:
    """Return how many paths both say after each step, only the index and only git, added up over the steps.

    Args:
        recorded: the session.
        ignored: paths that git does not track.

    Raises:
        InputError: the session cannot be read.

    """
    session, truth = recorded.session(), {each.step_id: each.since_start for each in recorded.truth()}
    index, changes = index_for(session.head), Changes()
    both = only_index = only_git = 0
    for step in session.steps:
        index.add(step)
        changes = truth.get(step.step_id, changes)
        for each in _beside(index.artifacts(), changes, ignored).values():
            both, only_index, only_git = (
                both + len(each.both),
                only_index + len(each.only_index),
                only_git + len(each.only_git),
            )
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
