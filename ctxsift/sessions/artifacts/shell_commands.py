"""Which command does what: one table by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ctxsift.sessions.artifacts.shell_files import (
    change_mode,
    convert,
    copy,
    fetch,
    link,
    make_folders,
    move,
    remove,
    run_perl,
    run_sed,
    set_content,
    tee,
    touch,
    truncate,
)
from ctxsift.sessions.artifacts.shell_listings import list_files, search_files
from ctxsift.sessions.artifacts.shell_looks import READ_PART, filter_files, inspect_files, read_files
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_scripts import run_patch, run_script
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus

_READ_WHOLE = {
    "cat",
    "bat",
    "less",
    "more",
    "nl",
    "tac",
    "xxd",
    "strings",
    "source",
    ".",
    "od",
    "hexdump",
    "base64",
    "column",
    "get-content",
    "gc",
    "type",
}
_INSPECT = {
    "wc",
    "stat",
    "md5sum",
    "sha256sum",
    "shasum",
    "diff",
    "cmp",
    "du",
    "comm",
    "file",
    "sort",
    "uniq",
    "cut",
    "fold",
}


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
    words = [word for word in invocation.words[1:] if word not in ("--", "-P", "-L")]
    if invocation.status is CommandStatus.FAILED and "cd" in run.printed.complaints():
        return
    if invocation.name == "popd":
        target = run.stack.pop() if run.stack else ""
    elif words[:1] == ["-"]:
        target = run.previous
    elif words and UNKNOWN not in words[0] and not re.fullmatch(r"\+\d", words[0]):
        target = run.path(words[0])
    else:
        target = ""
    if target:
        if invocation.name == "pushd":
            run.stack.append(run.folder)
        run.previous, run.folder = run.folder, target


def _settings(run: ShellRun, invocation: Invocation) -> None:
    if invocation.name == "set":
        run.pipefail |= "pipefail" in invocation.words
        return
    for word in invocation.words[1:]:
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():
            run.variables[name] = value


def _xargs(run: ShellRun, invocation: Invocation) -> None:
    words = list(invocation.words[1:])
    mark = ""
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-n", "-P", "-L", "-I", "-d", "-s") and words:
            value = words.pop(0)
            mark = value if option == "-I" else mark
        elif option.startswith("-I"):
            mark = option[2:]
    listed = run.listed(invocation.before[:1])
    if not words or not listed:
        return
    # A filter between them takes names away that are not known.
    if len(invocation.before) > 1:
        return
    rounds = [[word.replace(mark, path) for word in words] for path in listed] if mark else [[*words, *listed]]
    for each in rounds[:200]:
        run.handle(run, Invocation(tuple(each), invocation.status, None))


def _find(run: ShellRun, invocation: Invocation) -> None:
    words = list(invocation.words)
    found = run.found(words)
    if "-delete" in words:
        for path in found:
            run.ledger.delete(path, " ".join(words)[:200])
    for option in ("-exec", "-execdir"):
        if option in words:
            command = words[words.index(option) + 1 :]
            end = next((n for n, word in enumerate(command) if word in (";", "+")), len(command))
            for path in found[:200]:
                each = [word.replace("{}", path) for word in command[:end]]
                if each:
                    run.handle(run, Invocation(tuple(each), CommandStatus.NOT_SHOWN, None))
    if not {"-delete", "-exec", "-execdir"} & set(words):
        list_files(run, invocation)


Handler = Callable[[ShellRun, Invocation], None]
HANDLERS: Mapping[str, Handler] = (
    dict.fromkeys(_READ_WHOLE | READ_PART, read_files)
    | dict.fromkeys(_INSPECT, inspect_files)
    | dict.fromkeys(("awk", "gawk", "jq", "yq"), filter_files)
    | dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "ack"), search_files)
    | dict.fromkeys(("echo", "printf"), _echo)
    | dict.fromkeys(("cd", "pushd", "popd", "set-location", "sl"), _change_folder)
    | dict.fromkeys(("remove-item", "ri", "del", "erase"), remove)
    | dict.fromkeys(("move-item", "mi", "move", "rename-item", "ren"), move)
    | dict.fromkeys(("copy-item", "copy"), copy)
    | dict.fromkeys(("set-content", "add-content", "out-file"), set_content)
    | dict.fromkeys(("export", "declare", "local", "set", "readonly"), _settings)
    | dict.fromkeys(("python", "python2", "python3", "node", "bun", "bash", "sh", "zsh", "dash", "tsx"), run_script)
    | dict.fromkeys(("patch", "apply_patch", "applypatch"), run_patch)
    | dict.fromkeys(("curl", "wget"), fetch)
    | dict.fromkeys(("ls", "tree", "fd"), list_files)
    | {
        "sed": run_sed, "gsed": run_sed, "perl": run_perl, "tee": tee, "touch": touch, "mkdir": make_folders,
        "rm": remove, "unlink": remove, "mv": move, "cp": copy, "install": copy, "rsync": copy, "ln": link,
        "chmod": change_mode, "dd": convert,
        "xargs": _xargs, "find": _find, "truncate": truncate,
    }
)  # fmt: skip
