"""The artifact index as a part of a summary: what was changed first, then checks, commits, failures, what was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from ctxsift.sessions.artifacts.command_log import known_as
from ctxsift.sessions.artifacts.records import (
    Artifacts,
    Check,
    CheckRun,
    CheckState,
    FailedCommand,
    FileEntry,
    FileState,
)
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN

# Of the budget of a summary; what the index leaves is the method's.
SHARE = 0.3
HEADING = "Files and commands"
_MOST_OF_LINE = 160
# Of checks, commits and failed commands.
_LATEST = 8


def index_text(artifacts: Artifacts, tokens: int) -> str:
    """Return what a session touched within `tokens` tokens; empty where nothing fits or nothing was touched.

    Files of one state and folder share a line. Where not all of it fits, files that were changed leave a third to
    checks, commits and failed commands; files that were only looked at come last.
    """
    room = tokens * CHARACTERS_PER_TOKEN - len(HEADING) - 3
    changed, told = list(_changed(artifacts)), list(_commands(artifacts))
    for_commands = min(sum(len(line) + 1 for line in told), room // 3)
    first = _fitting(changed, room - for_commands)
    second = _fitting(told, room - _size(first))
    rest = _fitting([*changed[len(first) :], *_looked_at(artifacts)], room - _size(first) - _size(second))
    lines = [*first, *second, *rest]
    return "\n".join((f"## {HEADING}", *lines)) if lines else ""


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """Return the first lines within `room` characters, each with its line break; the last one may be cut."""
    fitting = []
    for line in lines:
        if len(line) + 1 > room:
            if room > _MOST_OF_LINE // 2:
                fitting.append(f"{line[: room - 5]} ...")
            break
        fitting.append(line)
        room -= len(line) + 1
    return fitting


def _changed(artifacts: Artifacts) -> Iterator[str]:
    changed = [entry for entry in artifacts.files if entry.changed]
    # Lists of renames are the longest; each is told once, under the new name.
    last = (FileState.RENAMED, FileState.RENAMED_AWAY)
    for state in (*(each for each in FileState if each not in last), FileState.RENAMED):
        yield from _files(state.value, [entry for entry in changed if entry.state is state])


def _commands(artifacts: Artifacts) -> Iterator[str]:
    """Yield lines on checks, commits and failures. No failure is told twice."""
    checks = artifacts.checks[-_LATEST:]
    yield from _checks(checks)
    for commit in artifacts.commits[-_LATEST:]:
        yield _short(f"- commit {commit.revision or '?'}, step {commit.step_id}: {commit.subject}")
    yield from _failures(artifacts.failed, checks)


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    """Yield lines on checks; those that one command line ran, and that failed for one reason, share theirs."""
    same_name = Counter(check.command for check in checks)
    lines: dict[CheckRun | Check, list[str]] = {}
    for check in checks:
        where = f" in {check.folder}" if same_name[check.command] > 1 and check.folder != "." else ""
        last = check.runs[-1]
        shared = last if check.state is CheckState.FAILED and last.key_line else check
        lines.setdefault(shared, []).append(f"{check.command}{where}")
    for shared, commands in lines.items():
        last = shared.runs[-1] if isinstance(shared, Check) else shared
        failed = last.state is CheckState.FAILED
        within = f", within {last.within}" if last.within and failed else ""
        why = f" ({last.key_line})" if last.key_line and last.state is not CheckState.PASSED else ""
        yield _short(f"- check {last.state}, step {last.step_id}: {'; '.join(commands)}{within}{why}")


def _failures(failed: Sequence[FailedCommand], checks: Sequence[Check]) -> Iterator[str]:
    """Yield lines on commands that failed, each failure once; that of a check that still fails is told with it."""
    failing = [(known_as(check.command), check.runs[-1]) for check in checks if check.state is CheckState.FAILED]
    steps: dict[tuple[str, str], list[int]] = {}
    for each in failed:
        if any(
            check in each.checks and (last.step_id == each.step_id or last.key_line == each.key_line)
            for check, last in failing
        ):
            continue
        same = ("; ".join(each.checks) or each.command, each.key_line)
        # In the order of the last steps.
        steps[same] = [*steps.pop(same, []), each.step_id]
    for (command, line), (*before, last_step) in list(steps.items())[-_LATEST:]:
        again = f" and {len(before)} times before" if len(before) > 1 else " and once before" if before else ""
        why = f": {line}" if line else ""
        yield _short(f"- failed, step {last_step}{again}: {command}{why}")


def _looked_at(artifacts: Artifacts) -> Iterator[str]:
    for state in (FileState.READ, FileState.INSPECTED):
        yield from _files(state.value, [each for each in artifacts.files if not each.changed and each.state is state])


def _files(state: str, entries: Sequence[FileEntry]) -> Iterator[str]:
    folders: dict[str, list[str]] = {}
    for entry in entries:
        path, other = PurePosixPath(entry.path), PurePosixPath(entry.counterpart)
        where = "" if str(path.parent) == "." else f" in {path.parent}"
        name = path.name + ("/" if entry.path.endswith("/") else "")
        if entry.counterpart:
            preposition = "from" if entry.state is FileState.RENAMED else "to"
            moved = other.name == path.name
            where += f", {preposition} {other.parent}" if moved else ""
            name += "" if moved else f" ({preposition} {entry.counterpart})"
        folders.setdefault(where, []).append(name)
    for where, names in folders.items():
        yield f"- {state}{where}: {', '.join(names)}"


def _short(line: str) -> str:
    return line if len(line) <= _MOST_OF_LINE else f"{line[: _MOST_OF_LINE - 4]} ..."
