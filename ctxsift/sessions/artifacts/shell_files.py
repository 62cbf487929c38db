"""Commands that change, move and remove files."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.paths import is_windows
from ctxsift.sessions.artifacts.shell_operands import (
    complained,
    failed_quietly,
    files_of,
    has,
    is_folder,
    operands,
    values,
)
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus


def edit_stream(run: ShellRun, invocation: Invocation) -> None:
    """`sed` and `perl`: with `-i` an edit, else a look."""
    words = list(invocation.words)
    inplace = [n for n, word in enumerate(words) if re.match(r"-[A-Za-z0-9]*i|--in-place", word)]
    if inplace and words[inplace[0] + 1 : inplace[0] + 2] == [""]:
        # BSD takes the ending of a backup as a word of its own.
        del words[inplace[0] + 1]
    scripted = any(re.fullmatch(r"-\w*[ef]|--expression.*|--file.*", word) for word in words[1:])
    found = operands(Invocation(tuple(words), invocation.status, invocation.code))
    script, files = ([], found) if scripted else (found[:1], found[1:])
    shown = " ".join([invocation.name, *(word for word in words[1:] if word not in files)])
    if inplace and failed_quietly(run, invocation):
        return
    for path in files_of(run, invocation, files):
        if not inplace:
            run.ledger.read(path, shown)
        elif not _changes_nothing(run, path, script):
            run.ledger.edit(path, shown)


def _changes_nothing(run: ShellRun, path: str, script: list[str]) -> bool:
    """Return True if a substitution of plain words does not occur in a file whose text is known."""
    file = run.ledger.files.get(path)
    match = re.fullmatch(r"s([/|#,@])([\w ]+)\1.*\1[a-z]*", script[0]) if script else None
    return bool(match and file and file.work and file.work.text is not None and match[2] not in file.work.text)


def tee(run: ShellRun, invocation: Invocation) -> None:
    """`tee`: what is piped in goes into files."""
    for path in files_of(run, invocation, operands(invocation)):
        if has(invocation, "a", "--append"):
            run.ledger.append(path, invocation.text)
        else:
            run.ledger.write(path, invocation.text, "tee")


def touch(run: ShellRun, invocation: Invocation) -> None:
    """`touch`: an empty file where there was none."""
    if not failed_quietly(run, invocation):
        for path in files_of(run, invocation, operands(invocation)):
            run.ledger.touch(path)


def make_folders(run: ShellRun, invocation: Invocation) -> None:
    """`mkdir`: what is in a new folder is new."""
    unless_there = has(invocation, "p", "--parents")
    for path in files_of(run, invocation, operands(invocation)):
        run.ledger.make_folder(path, new=not unless_there or run.ledger.exists(path) is False)


def remove(run: ShellRun, invocation: Invocation) -> None:
    """`rm`: files, and folders with what is known of them."""
    if failed_quietly(run, invocation):
        return
    recursive = has(invocation, "rR", "--recursive")
    sure, detail = not has(invocation, "f", "--force"), " ".join(invocation.words)[:200]
    for word in operands(invocation):
        for path in files_of(run, invocation, [word.rstrip("/") or word]):
            if is_folder(run, path) and not recursive:
                continue
            bare = recursive and path not in run.ledger.files and not run.ledger.children(path)
            named = path + "/" if bare and "." not in path.rpartition("/")[2].lstrip(".") else path
            run.ledger.delete(named, sure=sure, detail=detail)


def _targets(run: ShellRun, invocation: Invocation) -> list[tuple[str, str]]:
    """Return source and target of each file of `cp` and `mv`; into a folder the names stay."""
    into = values(invocation, "-t")
    named = [*operands(invocation), *into]
    sources, target = named[:-1], "".join(named[-1:])
    place = run.path(target)
    inside = bool(into) or len(sources) > 1 or target.endswith(("/", "/.")) or is_folder(run, place)
    whole = invocation.name == "mv" or has(invocation, "rRa", "--recursive", "--archive")
    careful = has(invocation, "n", "--no-clobber")
    found = []
    for source in [] if failed_quietly(run, invocation) else sources:
        if any(UNKNOWN in word or complained(run, invocation.name, word) for word in (source, target)):
            continue
        # A pattern is still here where no file is known that it matches: then all of a folder is meant.
        whole_folder = source.endswith(("/.", "/*"))
        origin = run.path(re.sub(r"/\*$", "/", source))
        end = place + "/" + origin.rpartition("/")[2] if inside and not whole_folder else place
        if not (careful and run.ledger.exists(end)):
            found.append((f"{origin}/", f"{end}/") if whole and _unknown_folder(run, origin) else (origin, end))
    return found


def _unknown_folder(run: ShellRun, path: str) -> bool:
    """Return True if a path seems to be a folder whose files are not known: `lib`, not `LICENSE`."""
    known = path in run.ledger.files or path in run.ledger.seen or bool(run.ledger.children(path))
    name = path.rpartition("/")[2]
    return not known and "." not in name[1:] and name == name.lower()


def move(run: ShellRun, invocation: Invocation) -> None:
    """`mv`."""
    for source, target in _targets(run, invocation):
        run.ledger.move(source, target)


def copy(run: ShellRun, invocation: Invocation) -> None:
    """`cp` and its like, on this machine."""
    if not any(re.match(r"[\w.@-]+:", word) and not is_windows(word) for word in operands(invocation)):
        for source, target in _targets(run, invocation):
            run.ledger.copy(source, target)


def link(run: ShellRun, invocation: Invocation) -> None:
    """`ln`."""
    words = operands(invocation)
    for target in files_of(run, invocation, words[1:2]) if not failed_quietly(run, invocation) else []:
        run.ledger.write(target, None, f"link to {words[0]}")


def change_mode(run: ShellRun, invocation: Invocation) -> None:
    """`chmod`: git counts it as a change."""
    words = [word for word in invocation.words[1:] if word not in ("-R", "-v", "-f")]
    for path in files_of(run, invocation, words[1:]):
        if not is_folder(run, path):
            run.ledger.mode(path, words[0])


def fetch(run: ShellRun, invocation: Invocation) -> None:
    """`curl`: the files that it sends and writes, unless the transfer is known to have failed."""
    if invocation.status is CommandStatus.FAILED:
        return
    sent = values(invocation, "-d", "--data", "--data-binary", "--json", "-F", "--form")
    told = [re.match(r"(?:[^=]*=)?[@<]([^;,]+)", each) for each in sent]
    for path in files_of(run, invocation, [match[1] for match in told if match]):
        run.ledger.read(path, "sent by curl")
    for path in files_of(run, invocation, values(invocation, "-o", "--output")):
        address = next((word for word in operands(invocation) if "://" in word), "")
        run.ledger.write(path, None, f"from {address}")
