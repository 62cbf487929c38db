"""The words of a command: options, operands, and the paths that it took without complaint."""

from __future__ import annotations

import re
from itertools import pairwise

from ctxsift.sessions.artifacts.shell_programs import program
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus


def operands(invocation: Invocation) -> list[str]:
    """Return the words that are neither options nor values of options."""
    with_value = program(invocation.name).with_value
    found: list[str] = []
    words = list(invocation.words[1:])
    while words:
        word = words.pop(0)
        if word == "--":
            return found + words
        if word.startswith("-") and word != "-":
            del words[: word in with_value]
        else:
            found.append(word)
    return found


def values(invocation: Invocation, *options: str) -> list[str]:
    """Return the values of options that take one."""
    return [value for option, value in pairwise(invocation.words) if option in options]


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


def has(invocation: Invocation, letters: str, *long: str) -> bool:
    """Return True if one of the one-letter options is set, alone or among others, or one of the long forms."""
    for word in invocation.words[1:]:
        together = re.fullmatch(r"-[A-Za-z]+", word) and not set(letters).isdisjoint(word)
        if together or (word.startswith("-") and word.partition("=")[0] in long):
            return True
    return False


def is_folder(run: ShellRun, path: str) -> bool:
    """Return True if a path is a folder as far as the session knows."""
    return bool(run.ledger.children(path)) or path in run.ledger.made_folders or path == run.folder
