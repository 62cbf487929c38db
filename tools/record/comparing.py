"""The artifact index beside git, for recorded sessions; as lines to print."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmark.sessions.agreement import KINDS, PathAgreement, agreement, by_kind, precision, recall
from benchmark.sessions.loader import START, RecordedSession
from ctxsift.sessions.artifacts.index import index_session
from tools.record.replaying import unpack


def compared(sessions: Sequence[RecordedSession]) -> Iterator[str]:
    """Yield what the index and git say of the created, modified and deleted files of sessions.

    First the figures of each session and its disagreements, then the figures of all.

    Raises:
        InputError: a session cannot be read.

    """
    found: dict[str, list[PathAgreement]] = {kind: [] for kind in KINDS}
    for recorded in sessions:
        one = agreement(recorded, _ignored(recorded))
        for kind in KINDS:
            found[kind].append(one[kind])
            yield f"{recorded.name}: {_figures(kind, [one[kind]])}"
            yield from (f"  only the index says {kind}: {path}" for path in sorted(one[kind].only_index))
            yield from (f"  only git says {kind}: {path}" for path in sorted(one[kind].only_git))
    for kind in KINDS:
        yield f"{len(sessions)} sessions: {_figures(kind, found[kind])}"
    yield f"{len(sessions)} sessions: {_figures('all', [each for kind in KINDS for each in found[kind]])}"


def _figures(kind: str, found: Iterable[PathAgreement]) -> str:
    each = list(found)
    right = sum(len(one.both) for one in each)
    said = right + sum(len(one.only_index) for one in each)
    true = right + sum(len(one.only_git) for one in each)
    return f"{kind}: precision {_share(precision(each))} ({right} of {said}), recall {_share(recall(each))} of {true}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _ignored(recorded: RecordedSession) -> frozenset[str]:
    """Return the paths in the index that the .gitignore of the starting files leaves out."""
    paths = sorted(set().union(*by_kind(index_session(recorded.session())).values()))
    with tempfile.TemporaryDirectory() as made:
        unpack(recorded.folder / START, Path(made))
        done = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin", "-z"],
            cwd=Path(made) / recorded.provenance.name,
            input="\0".join(paths).encode(),
            capture_output=True,
            check=False,
        )
    return frozenset(path for path in done.stdout.decode().split("\0") if path)
