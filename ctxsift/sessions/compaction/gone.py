"""Files that are gone: what was said of them while they were there tells of no present state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from ctxsift.sessions.artifacts.records import Artifacts, FileState
from ctxsift.sessions.compaction.records import SummaryEntry

_GONE = frozenset(
    {
        FileState.DELETED,
        FileState.RENAMED_AWAY,
        FileState.CREATED_AND_REMOVED,
        FileState.WRITTEN_AND_REMOVED,
    }
)
_PART = "/"
# A folder is known to be gone when so many files have left it and none is known to be in it.
_FEWEST_OF_FOLDER = 2
_MOST_PARTS = 24


class Gone:
    """The names of files and folders that went, and since when."""

    def __init__(self, artifacts: Artifacts) -> None:
        left = {each.path: max(each.step_ids, default=0) for each in artifacts.files if each.state in _GONE}
        standing = [each.path for each in artifacts.files if each.state not in _GONE]
        here = {name for path in standing for name in (*_file_names(path), *_folder_names(path))}
        self._since: dict[str, int] = {}
        folders: dict[str, list[int]] = {}
        for path, step in left.items():
            for name in _file_names(path):
                self._since[name] = max(step, self._since.get(name, 0))
            for name in _folder_names(path):
                folders.setdefault(name, []).append(step)
        self._since |= {name: max(steps) for name, steps in folders.items() if len(steps) >= _FEWEST_OF_FOLDER}
        self._here = here
        for name in here:
            self._since.pop(name, None)

    def said_before(self, entries: Iterable[SummaryEntry]) -> Iterator[SummaryEntry]:
        """Yield the entries but for those of the agent that speak of what is gone, and of nothing that is there.

        What was said in the step that removed a file, or later, may be about that; it stays.
        """
        for entry in entries:
            since = [self._since[name] for name in entry.names if name in self._since]
            outdated = since and 0 < entry.step_id < min(since) and not any(name in self._here for name in entry.names)
            if not outdated or entry.by_user or entry.is_listed:
                yield entry


def _file_names(path: str) -> Sequence[str]:
    """Return how a path may be called: by its last part, by its last two, and so on."""
    return tuple(accumulate(reversed(_parts(path)), lambda after, before: f"{before}{_PART}{after}"))


def _parts(path: str) -> list[str]:
    """Return the last parts of a path: nobody says more, and names of folders grow as the square of their depth."""
    return path.split(_PART)[-_MOST_PARTS:]


def _folder_names(path: str) -> Iterator[str]:
    """Yield how the folders of a path may be called: a slash tells a folder from a word."""
    *folders, _ = _parts(path)
    for end in range(1, len(folders) + 1):
        for name in _file_names(_PART.join(folders[:end])):
            yield f"{name}{_PART}"
            if _PART in name:
                yield name
