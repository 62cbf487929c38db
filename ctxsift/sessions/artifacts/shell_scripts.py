"""Patches and scripts that a command line applies and runs."""

from __future__ import annotations

import re
from typing import NamedTuple

from ctxsift.sessions.artifacts.node_scripts import javascript_ops
from ctxsift.sessions.artifacts.patches import BEGIN, apply_patch
from ctxsift.sessions.artifacts.scripts import FileOp, OpKind, python_ops
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus


def run_patch(run: ShellRun, invocation: Invocation) -> None:
    """`patch` and `apply_patch`: from a heredoc or a word; else what the output names."""
    if invocation.name != "patch":
        text = invocation.text or next((word for word in invocation.words[1:] if BEGIN in word), "")
        if invocation.status is not CommandStatus.FAILED:
            apply_patch(run.ledger, text, run.folder)
        return
    for name in re.findall(r"^patching file '?(.+?)'?$", run.output, re.MULTILINE):
        run.ledger.edit(run.path(name), "patch")


_STOPPED = re.compile(r'File "(?:<stdin>|<string>|-)", line (\d+), in <module>')


class _Script(NamedTuple):
    """A script, its arguments, and the path of its file; the path is empty if the command contains the script."""

    text: str | None
    arguments: list[str]
    path: str = ""


def _script_of(run: ShellRun, invocation: Invocation) -> _Script:
    words = list(invocation.words)
    inline = next((n for n, word in enumerate(words) if re.fullmatch(r"-[a-z]*[ce]|-p|--eval", word)), 0)
    if inline and inline + 1 < len(words):
        return _Script(words[inline + 1], words[inline + 2 :])
    if invocation.text is not None:
        return _Script(invocation.text, [word for word in words[1:] if word != "-"])
    plain = [word for word in words[1:] if not word.startswith("-") and UNKNOWN not in word]
    path = run.path(plain[0]) if plain else ""
    file = run.ledger.files.get(path)
    return _Script(file.work.text if file and file.changed and file.work else None, plain[1:], path)


def run_script(run: ShellRun, invocation: Invocation) -> None:
    """Take down a script given in a heredoc, behind `-c` or `-e`, or in a file whose text the session wrote."""
    name, script = invocation.name, _script_of(run, invocation)
    source, arguments, path = script.text, script.arguments, script.path
    if not source:
        return
    if name in ("bash", "sh", "zsh", "dash"):
        outer = dict(run.variables)
        run.variables |= {str(number): word for number, word in enumerate(arguments, 1)}
        folder = run.folder
        run.walk(source, invocation.code)
        run.folder, run.variables = folder, outer
        return
    if name.startswith("python"):
        stopped = re.findall(rf'File "{re.escape(path)}", line (\d+), in <module>', run.output) if path else []
        stopped = stopped or _STOPPED.findall(run.output)
        broken = re.search(r"^(?:SyntaxError|IndentationError): ", run.output, re.MULTILINE) and not stopped
        if not broken:
            ops = python_ops(source, arguments, run.matches, int(stopped[0]) if stopped else None)
            apply_ops(run, ops, name)
    elif invocation.status is not CommandStatus.FAILED or not re.search(r"Error:", run.output):
        apply_ops(run, javascript_ops(source), name)


def apply_ops(run: ShellRun, ops: list[FileOp], program: str) -> None:
    """Take down what a script did; a file that it read and then wrote was edited."""
    read: set[str] = set()
    for op in ops:
        path = run.path(op.path)
        match op.kind:
            case OpKind.READ:
                read.add(path)
                run.ledger.read(path, f"{program} script")
            case OpKind.WRITE if path in read:
                run.ledger.edit(path, f"{program} script")
            case OpKind.WRITE:
                run.ledger.write(path, None, f"{program} script")
            case OpKind.APPEND:
                run.ledger.append(path, None, f"{program} script")
            case OpKind.DELETE:
                run.ledger.delete(path, f"{program} script", sure=False)
