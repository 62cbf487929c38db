"""What became of a file: its first version against the one that stands now."""

from __future__ import annotations

from collections.abc import Mapping

from ctxsift.sessions.artifacts.records import Action, FileState
from ctxsift.sessions.artifacts.versions import Before, Tracked, same


def state_of(file: Tracked, files: Mapping[str, Tracked]) -> FileState:
    """Return what became of a file since the start of the session; `files` are all that are known."""
    if not file.changed:
        actions = {touch.action for touch in file.touches}
        return FileState.READ if Action.READ in actions else FileState.INSPECTED
    if file.work is None:
        if file.before is Before.MISSING:
            return FileState.CREATED_AND_REMOVED
        target = files.get(file.moved_to)
        moved = target is not None and target.work is not None and target.moved_from == file.path
        if moved and file.before is Before.THERE:
            return FileState.RENAMED_AWAY
        if file.unsure:
            return FileState.REMOVED_IF_PRESENT
        return FileState.DELETED if file.before is Before.THERE else FileState.WRITTEN_AND_REMOVED
    if file.before is not Before.MISSING and same(file.work, file.start):
        return FileState.REVERTED
    if file.before is Before.THERE:
        return FileState.MODIFIED
    origin = files.get(file.moved_from)
    if origin is not None and origin.before is not Before.MISSING and origin.work is None:
        return FileState.RENAMED
    if file.before is Before.MISSING:
        return FileState.CREATED
    return FileState.WRITTEN
