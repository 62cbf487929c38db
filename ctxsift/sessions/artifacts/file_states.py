"""What became of a file: its first version against the one that stands now."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from ctxsift.sessions.artifacts.records import Action, FileState
from ctxsift.sessions.artifacts.versions import Before, Tracked, same

# Of a changed file by what is known of its start: where it stands now, and where it is gone.
_STATES: Mapping[Before, tuple[FileState, FileState]] = {
    Before.THERE: (FileState.MODIFIED, FileState.DELETED),
    Before.MISSING: (FileState.CREATED, FileState.CREATED_AND_REMOVED),
    Before.UNKNOWN: (FileState.WRITTEN, FileState.WRITTEN_AND_REMOVED),
}


def state_of(file: Tracked, files: Mapping[str, Tracked]) -> FileState:
    """Return what became of a file since the start of the session; `files` are all that are known."""
    if not file.changed:
        actions = map(attrgetter("action"), file.touches)
        return FileState.READ if Action.READ in actions else FileState.INSPECTED
    now, gone = _STATES[file.before]
    if file.work is None:
        target = files.get(file.moved_to)
        moved = target is not None and target.work is not None and target.moved_from == file.path
        if moved and gone is FileState.DELETED:
            return FileState.RENAMED_AWAY
        return FileState.REMOVED_IF_PRESENT if file.unsure and file.before is not Before.MISSING else gone
    if file.before is not Before.MISSING and same(file.work, file.start):
        return FileState.REVERTED
    origin = files.get(file.moved_from) if file.before is not Before.THERE else None
    renamed = origin is not None and origin.before is not Before.MISSING and origin.work is None
    return FileState.RENAMED if renamed else now
