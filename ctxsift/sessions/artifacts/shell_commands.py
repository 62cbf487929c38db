"""What commands do: one handler by effect, and those that concern the command line itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ctxsift.sessions.artifacts.shell_files import (
    change_mode,
    copy,
    edit_stream,
    fetch,
    link,
    make_folders,
    move,
    remove,
    tee,
    touch,
)
from ctxsift.sessions.artifacts.shell_looks import filter_files, inspect_files, list_files, read_files, search_files
from ctxsift.sessions.artifacts.shell_programs import program
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_scripts import run_patch, run_script
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus

_MOST_ROUNDS = 200


def handler(name: str) -> Handler | None:
    """Return what takes down a command by the name of its program; None for one that does nothing with files."""
    return _HANDLERS.get(program(name).effect)


def _echo(run: ShellRun, invocation: Invocation) -> None:
    words = list(invocation.words[1:])
    text = " ".join(words)
    if UNKNOWN in text or (words and words[0].startswith("-")) or "\\" in text:
        run.produced = None
    elif invocation.name == "echo":
        run.produced = text + "\n"
    else:
        run.produced = words[0] if len(words) == 1 and "%" not in words[0] else None


def _change_folder(run: ShellRun, invocation: Invocation) -> None:
    words = [word for word in invocation.words[1:] if word != "--"]
    if invocation.status is CommandStatus.FAILED and "cd" in run.printed.complaints():
        return
    back = invocation.name == "popd" or words[:1] == ["-"]
    target = run.previous if back else run.path(words[0]) if words and UNKNOWN not in words[0] else ""
    if target:
        run.previous, run.folder = run.folder, target


def _set(run: ShellRun, invocation: Invocation) -> None:
    run.pipefail |= "pipefail" in invocation.words


def _xargs(run: ShellRun, invocation: Invocation) -> None:
    words, mark = list(invocation.words[1:]), ""
    while words and words[0].startswith("-"):
        option = words.pop(0)
        value = words.pop(0) if option in program("xargs").with_value and words else option[2:]
        mark = value if option.startswith("-I") else mark
    listed = run.listed(invocation.before[0]) if invocation.before else None
    # A filter between them takes names away that are not known.
    if not words or not listed or len(invocation.before) > 1:
        return
    rounds = [[word.replace(mark, path) for word in words] for path in listed] if mark else [[*words, *listed]]
    for each in rounds[:_MOST_ROUNDS]:
        run.handle(run, Invocation(tuple(each), invocation.status, None))


Handler = Callable[[ShellRun, Invocation], None]
_HANDLERS: Mapping[str, Handler] = {
    "read": read_files, "part": read_files, "inspect": inspect_files, "filter": filter_files, "search": search_files,
    "list": list_files, "sed": edit_stream, "echo": _echo, "folder": _change_folder, "set": _set, "write": tee,
    "touch": touch, "make": make_folders, "remove": remove, "move": move, "copy": copy, "link": link,
    "mode": change_mode, "fetch": fetch, "script": run_script, "patch": run_patch, "xargs": _xargs,
}  # fmt: skip
