"""The words of a command: options, operands, and the paths that it took without complaint."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus

# Options of these commands that take a value of their own.
_WITH_VALUE = {
    "head": "-n -c --lines --bytes", "tail": "-n -c --lines --bytes", "sed": "-e -f --expression --file",
    "awk": "-F -v -f", "cut": "-d -f -c", "sort": "-k -t -o", "cp": "-t", "mv": "-t", "touch": "-d -t -r",
    "truncate": "-s", "patch": "-p -i -d -o", "jq": "--indent", "install": "-m -o -g", "less": "-p", "nl": "-b -w",
    "curl": "-o --output -H --header -X -d --data --data-raw -u -A -m --max-time -F -b -c -w -e --connect-timeout",
    "wget": "-O --output-document -P --header --timeout -t", "rsync": "-e --exclude --include",
    "diff": "-U --exclude -x", "split": "-l -b", "tree": "-L -I -P", "stat": "-c -f", "fold": "-w", "bat": "-r -l",
    "get-content": "-Encoding -TotalCount -Tail", "set-content": "-Value -Encoding", "add-content": "-Value -Encoding",
    "out-file": "-Encoding -Width", "remove-item": "-ErrorAction", "move-item": "-ErrorAction",
    "copy-item": "-ErrorAction",
}  # fmt: skip


def operands(invocation: Invocation) -> list[str]:
    """Return the words that are neither options nor values of options."""
    with_value = _WITH_VALUE.get(invocation.name, "").split()
    found, words, only = [], list(invocation.words[1:]), False
    while words:
        word = words.pop(0)
        if word == "--":
            only = True
        elif not only and word.startswith("-") and word != "-":
            if word in with_value and words:
                words.pop(0)
        else:
            found.append(word)
    return found


def files_of(run: ShellRun, invocation: Invocation, words: list[str]) -> list[str]:
    """Return the paths of words that a command took without complaint."""
    taken = []
    for word in words:
        if not word or UNKNOWN in word or word == "-" or word.startswith(("/dev/", "<(")):
            continue
        if complained(run, invocation.name, word):
            if "No such file" in run.output:
                run.ledger.missing(run.path(word))
            continue
        taken.append(run.path(word))
    return taken


def complained(run: ShellRun, name: str, word: str) -> bool:
    """Return True if a program names a word in a complaint; of words that are long paths, the end may do."""
    return run.printed.complains(name, word) or (
        "/" in word and run.printed.complains(name, "/" + word.rpartition("/")[2] + ":")
    )


def failed_quietly(run: ShellRun, invocation: Invocation) -> bool:
    """Return True if a command failed without naming what it could not do: then it did nothing."""
    return invocation.status is CommandStatus.FAILED and invocation.name not in run.printed.complaints()


def has(invocation: Invocation, letter: str, *long: str) -> bool:
    """Return True if a one-letter option is set, alone or among others, or one of its long forms."""
    for word in invocation.words[1:]:
        if not word.startswith("-"):
            continue
        if word in long or any(word.startswith(f"{each}=") for each in long):
            return True
        if re.fullmatch(r"-[A-Za-z]+", word) and letter in word:
            return True
    return False


def is_dry_run(invocation: Invocation) -> bool:
    """Return True if a command only tells what it would do."""
    if invocation.name == "rsync" and has(invocation, "n"):
        return True
    return any(re.fullmatch(r"--dry[-_]?run(?:=(?!none|false).*)?|-WhatIf", word) for word in invocation.words[1:])


def is_folder(run: ShellRun, path: str) -> bool:
    """Return True if a path is a folder as far as the session knows."""
    return bool(run.ledger.children(path)) or path in run.ledger.made_folders or path == run.folder
