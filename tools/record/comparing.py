"""The artifact index beside git, for recorded sessions; as lines to print."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmark.sessions.agreement import KINDS, PathAgreement, agreement, at_every_step, by_kind, precision, recall
from benchmark.sessions.loader import START, RecordedSession
from ctxsift.sessions.artifacts.index import index_session
from tools.convert_session.forms import read_back
from tools.record.replaying import unpack


def compared(sessions: Sequence[RecordedSession], forms: Iterable[str] = ()) -> Iterator[str]:
    """Yield what the index and git say of the created, modified and deleted files of sessions.

    First the figures of each session and its disagreements, then the figures of all; at the end, and at every step.
    Then, for each of `forms`, the figures at every step where the sessions are read from that format.

    Raises:
        InputError: a session cannot be read.

    """
    found: dict[str, list[PathAgreement]] = {kind: [] for kind in KINDS}
    steps: list[tuple[int, int, int]] = []
    ignored = {recorded.folder: ignored_of(recorded) for recorded in sessions}
    for recorded in sessions:
        session, truth = recorded.session(), recorded.truth()
        one = agreement(session, truth, ignored[recorded.folder])
        steps.append(at_every_step(session, truth, ignored[recorded.folder]))
        for kind in KINDS:
            found[kind].append(one[kind])
            yield f"{recorded.name}: {_figures(kind, [one[kind]])}"
            yield from (f"  only the index says {kind}: {path}" for path in sorted(one[kind].only_index))
            yield from (f"  only git says {kind}: {path}" for path in sorted(one[kind].only_git))
        yield f"{recorded.name}: {_at_every_step(steps[-1:])}"
    for kind in KINDS:
        yield f"{len(sessions)} sessions: {_figures(kind, found[kind])}"
    yield f"{len(sessions)} sessions: {_figures('all', [each for kind in KINDS for each in found[kind]])}"
    yield f"{len(sessions)} sessions: {_at_every_step(steps)}"
    for form in forms:
        own = []
        for recorded in sessions:
            own.append(at_every_step(read_back(recorded, form), recorded.truth(), ignored[recorded.folder]))
            yield f"{form}, {recorded.name}: {_at_every_step(own[-1:])}"
        yield f"{form}, {len(sessions)} sessions: {_at_every_step(own)}"
        steps += own
    if forms:
        yield f"{len(sessions)} sessions, in all formats: {_at_every_step(steps)}"


def _figures(kind: str, found: Iterable[PathAgreement]) -> str:
    each = list(found)
    right = sum(len(one.both) for one in each)
    said = right + sum(len(one.only_index) for one in each)
    true = right + sum(len(one.only_git) for one in each)
    return f"{kind}: precision {_share(precision(each))} ({right} of {said}), recall {_share(recall(each))} of {true}"


def _at_every_step(steps: Iterable[tuple[int, int, int]]) -> str:
    both, only_index, only_git = (sum(column) for column in zip(*steps, strict=True))
    share = _share(2 * both / (2 * both + only_index + only_git or 1))
    return f"at every step: F1 {share} ({both} right, {only_index} only of the index, {only_git} only of git)"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def ignored_of(recorded: RecordedSession) -> frozenset[str]:
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
