"""Does a recorded session again, in a fresh copy of its starting files, and compares the files."""

from __future__ import annotations

import fnmatch
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmark.sessions.loader import START, RecordedSession
from ctxsift.errors import InputError
from tools.record.calls import Done, call
from tools.record.journal import Begun
from tools.record.recording import now, private_texts, sandbox_of, snapshots_of
from tools.record.sandbox import HOME


@dataclass(frozen=True, slots=True)
class StepDifference:
    """A step that went otherwise than it was recorded.

    Attributes:
        files: whether the files after it differ, although they were the same before it.
        exit_codes: recorded and replayed, where they differ.

    """

    step_id: int
    files: bool
    exit_codes: tuple[int | None, int | None] | None


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay.

    Attributes:
        calls: how many were done.
        differences: of single steps.
        files: paths that differ at the end.
        excepted: those of them that may, by the session's `varies`.

    """

    calls: int
    differences: tuple[StepDifference, ...]
    files: tuple[str, ...]
    excepted: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether the files at the end are those that were recorded, but for exceptions."""
        return set(self.files) <= set(self.excepted)


def replay(recorded: RecordedSession, tools: Mapping[str, str]) -> Replay:
    """Do a session again and compare the files after each step, and at the end.

    Args:
        recorded: the session.
        tools: folders of this machine for those that the session had; see `Sandbox`.

    Raises:
        InputError: a folder of tools is not named, or the session cannot be read or done.
        OSError: a file cannot be written.

    """
    provenance = recorded.provenance
    if missing := set(provenance.tools) - tools.keys():
        wanted = ", ".join(sorted(missing))
        raise InputError(recorded.name, f"needs a folder for {wanted}", "name it with --tool FOLDER:NAME")
    with tempfile.TemporaryDirectory(prefix="replay-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        begun = Begun(
            name=provenance.name,
            at=now(),
            commit="",
            environment=provenance.environment,
            tools=dict(tools),
            search=provenance.search,
            private=private_texts(),
        )
        sandbox, snapshots = sandbox_of(folder, begun), snapshots_of(folder, begun.name)
        sandbox.prepare()
        unpack(recorded.folder / START, snapshots.work_tree.parent)
        commit, calls, differences = snapshots.begin(), 0, list[StepDifference]()
        shell, differed = f"{HOME}/{begun.name}", False
        for step, truth in zip(recorded.session().steps, recorded.truth(), strict=True):
            if not step.calls:
                continue
            calls += 1
            one, result = step.calls[0], step.results[0]
            done: Done = call(sandbox, one.name, one.arguments, step.folder or shell)
            commit = snapshots.commit(f"step {step.step_id}")
            differs = snapshots.tree(commit) != truth.tree
            codes = (result.exit_code, done.exit_code) if result.exit_code != done.exit_code else None
            if (differs and not differed) or codes:
                differences.append(StepDifference(step.step_id, differs and not differed, codes))
            differed = differs
        files = tuple(_different(provenance.files, snapshots.files(commit)))
    excepted = tuple(each for each in files if any(fnmatch.fnmatch(each, pattern) for pattern in provenance.varies))
    return Replay(calls, tuple(differences), files, excepted)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack the starting files of a session into a folder. Raises InputError."""
    try:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter=_owned_by_us)
    except (OSError, tarfile.TarError) as error:
        raise InputError(str(archive), f"cannot be unpacked ({error})", "restore the folder") from error


def _owned_by_us(entry: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    return tarfile.tar_filter(entry, folder).replace(uid=None, gid=None, uname=None, gname=None, deep=False)  # type: ignore[arg-type]


def _different(recorded: Mapping[str, str], replayed: Mapping[str, str]) -> Iterator[str]:
    for path in sorted(recorded.keys() | replayed.keys()):
        if recorded.get(path) != replayed.get(path):
            yield path
