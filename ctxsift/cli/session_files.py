"""What `ctxsift session files` prints: the artifact index with its evidence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console

from ctxsift.rich_text import block
from ctxsift.sessions.artifacts.records import LOOKS, Artifacts, CheckRun, FileEntry, as_json
from ctxsift.terminal import in_line, show, show_json

_MOST_LOOKED_AT = 40
# Of the changes of one file, the last ones.
_MOST_CHANGES = 3


def print_files(artifacts: Artifacts, *, as_document: bool) -> None:
    """Print an index: `as_document` as JSON, else as text; through a pager where stdout is a terminal."""
    if as_document:
        show_json(as_json(artifacts))
        return
    text = "\n".join(render_files(artifacts))
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        show(text)
        return
    os.environ.setdefault("LESS", "-FRX")
    with console.pager():
        console.print(block(text), soft_wrap=True)


def render_files(artifacts: Artifacts) -> list[str]:
    """Return an index as lines; every entry names the steps that show it."""
    changed = [entry for entry in artifacts.files if entry.changed]
    looked_at = [entry for entry in artifacts.files if not entry.changed]
    # The latest ones are the likeliest to be asked for.
    shown = looked_at[-_MOST_LOOKED_AT:]
    lines = [*_section("files changed", [_file(entry) for entry in changed], len(changed))]
    lines += _section("files only looked at", [_file(entry) for entry in shown], len(looked_at))
    lines += _section(
        "commands that failed",
        [
            (f"step {each.step_id}", each.command, f"{_code(each.exit_code)}{each.key_line}")
            for each in artifacts.failed
        ],
        len(artifacts.failed),
    )
    checks = [
        (check.state.value, _named(check.command, check.folder), _run(check.runs[-1], len(check.runs) - 1))
        for check in artifacts.checks
    ]
    lines += _section("checks", checks, len(checks))
    commits = [
        (each.revision or "?", each.subject, f"step {each.step_id}" + (f", {each.branch}" if each.branch else ""))
        for each in artifacts.commits
    ]
    lines += _section("commits", commits, len(commits))
    if artifacts.left_out:
        counts = ", ".join(f"{number} {kind}" for kind, number in artifacts.left_out.items())
        lines += ["", f"left out to stay within the limits: {counts}"]
    return lines[1:] or ["The session touched no file and ran no check."]


def _section(title: str, rows: Sequence[tuple[str, ...]], total: int) -> Iterator[str]:
    """Yield a title and its rows, the first column as wide as it needs to be."""
    if not rows:
        return
    yield ""
    yield f"{title}: {total}" + (f", the last {len(rows)}" if len(rows) < total else "")
    width = max(len(row[0]) for row in rows)
    for first, second, *more in rows:
        yield in_line(f"  {first:<{width}}  {second}")
        for each in more:
            if each:
                yield in_line(f"  {'':<{width}}    {each}")


def _file(entry: FileEntry) -> tuple[str, ...]:
    arrow = {"renamed": "<-"}.get(entry.state.value, "->")
    name = f"{entry.path} {arrow} {entry.counterpart}" if entry.counterpart else entry.path
    left_out = f" and {entry.touches_left_out} touches between" if entry.touches_left_out else ""
    changes = [touch for touch in entry.touches if touch.action not in LOOKS]
    last = [f"{touch.step_id}: {touch.action.value} {touch.detail}".rstrip() for touch in changes[-_MOST_CHANGES:]]
    return entry.state.value, name, f"{steps_in_words(entry.step_ids)}{left_out}", *last


def _named(command: str, folder: str) -> str:
    return command if folder == "." else f"{command}  (in {folder})"


def _run(run: CheckRun, earlier: int) -> str:
    parts = [f"step {run.step_id}", f"in {run.within}" if run.within else "", run.key_line]
    more = f"{earlier} earlier run{'s' if earlier > 1 else ''}" if earlier else ""
    return ", ".join(part for part in (*parts, more) if part)


def _code(code: int | None) -> str:
    return "" if code is None else f"exit code {code}: "


def steps_in_words(step_ids: Iterable[int]) -> str:
    """Return step ids as `step 3` or `steps 3, 5-7`."""
    ranges: list[list[int]] = []
    for step_id in sorted(set(step_ids)):
        if ranges and ranges[-1][1] == step_id - 1:
            ranges[-1][1] = step_id
        else:
            ranges.append([step_id, step_id])
    told = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)
    return f"step {told}" if len(ranges) == 1 and ranges[0][0] == ranges[0][1] else f"steps {told}"
