"""Commands that change, move and remove files."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.paths import is_windows
from ctxsift.sessions.artifacts.shell_operands import complained, failed_quietly, files_of, has, is_folder, operands
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus
from ctxsift.sessions.artifacts.versions import Before


def run_sed(run: ShellRun, invocation: Invocation) -> None:
    """`sed`: with `-i` an edit, else a look."""
    words = list(invocation.words)
    inplace = [n for n, word in enumerate(words) if re.match(r"-[A-Za-z]*i|--in-place", word) and word != "-i''"]
    scripted = any(re.fullmatch(r"-[A-Za-z]*[ef]|--expression.*|--file.*", word) for word in words[1:])
    if inplace and words[inplace[0] + 1 : inplace[0] + 2] == [""]:
        del words[inplace[0] + 1]
    found = operands(Invocation(tuple(words), invocation.status, invocation.code))
    if inplace and words[inplace[0]] == "-i" and found and re.fullmatch(r"\.(?:bak|orig|tmp|backup|old)", found[0]):
        # BSD takes the ending of a backup as a word of its own.
        found = found[1:]
    script = [] if scripted else found[:1]
    shown = " ".join(word for word in words[1:] if word not in found[len(script) :])
    if inplace and failed_quietly(run, invocation):
        return
    for path in files_of(run, invocation, found[len(script) :]):
        if not inplace:
            run.ledger.read(path, f"sed {shown}")
        elif not _changes_nothing(run, path, script):
            run.ledger.edit(path, f"sed {shown}")


def _changes_nothing(run: ShellRun, path: str, script: list[str]) -> bool:
    """Return True if a substitution of plain words does not occur in a file whose text is known."""
    file = run.ledger.files.get(path)
    match = re.fullmatch(r"s([/|#,@])([\w ]+)\1.*\1[a-z]*", script[0]) if script else None
    return bool(match and file and file.work and file.work.text is not None and match[2] not in file.work.text)


def run_perl(run: ShellRun, invocation: Invocation) -> None:
    """`perl -i`: an edit."""
    if not any(re.match(r"-[a-z0-9]*p?i", word) for word in invocation.words[1:4]):
        return
    at = next((n for n, word in enumerate(invocation.words) if re.fullmatch(r"-[a-zA-Z0-9]*e", word)), 0)
    for path in files_of(run, invocation, list(invocation.words[at + 2 :]) if at else []):
        run.ledger.edit(path, f"perl {' '.join(invocation.words[1 : at + 2])}")


def tee(run: ShellRun, invocation: Invocation) -> None:
    """`tee`: what is piped in goes into files."""
    to_end = has(invocation, "a", "--append")
    for path in files_of(run, invocation, operands(invocation)):
        if to_end:
            run.ledger.append(path, invocation.text)
        else:
            run.ledger.write(path, invocation.text, "tee")


def set_content(run: ShellRun, invocation: Invocation) -> None:
    """`Set-Content`, `Add-Content`, `Out-File`: the first operand is the file, a second one what goes into it."""
    for path in files_of(run, invocation, operands(invocation)[:1]):
        if invocation.name == "add-content" or any(word.lower() == "-append" for word in invocation.words):
            run.ledger.append(path, None)
        else:
            run.ledger.write(path, None, invocation.name)


def touch(run: ShellRun, invocation: Invocation) -> None:
    """`touch`: an empty file where there was none."""
    if not failed_quietly(run, invocation):
        for path in files_of(run, invocation, operands(invocation)):
            run.ledger.touch(path)


def make_folders(run: ShellRun, invocation: Invocation) -> None:
    """`mkdir`: what is in a new folder is new."""
    unless_there = has(invocation, "p", "--parents")
    for path in files_of(run, invocation, operands(invocation)):
        new = not unless_there or run.ledger.exists(path) is False
        run.ledger.make_folder(path, new=new)


def remove(run: ShellRun, invocation: Invocation) -> None:
    """`rm`: files, and folders with what is known of them."""
    if failed_quietly(run, invocation):
        return
    recursive = has(invocation, "r", "--recursive") or has(invocation, "R")
    sure, detail = not has(invocation, "f", "--force"), " ".join(invocation.words)[:200]
    for word in operands(invocation):
        folder = word.endswith("/") or recursive
        for path in files_of(run, invocation, [word.rstrip("/") or word]):
            if is_folder(run, path) and not recursive:
                continue
            bare = recursive and path not in run.ledger.files and not run.ledger.children(path)
            named = path + "/" if folder and bare and "." not in path.rpartition("/")[2].lstrip(".") else path
            run.ledger.delete(named, sure=sure, detail=detail)


_RECURSIVE = (("r", "--recursive"), ("R",), ("a", "--archive"))


def _targets(run: ShellRun, invocation: Invocation, words: list[str]) -> list[tuple[str, str]]:
    """Return source and target of each file of `cp` and `mv`; into a folder the names stay."""
    into = next((invocation.words[n + 1] for n, word in enumerate(invocation.words[:-1]) if word == "-t"), "")
    *sources, target = [*words, into] if into else words
    if UNKNOWN in target or not sources:
        return []
    place = run.path(target)
    inside = bool(into) or len(sources) > 1 or target.endswith(("/", "/.")) or target in (".", "..")
    inside = inside or (is_folder(run, place) and not has(invocation, "T"))
    whole = invocation.name == "mv" or any(has(invocation, *each) for each in _RECURSIVE)
    # Of `rsync`, `src/` is what is in it; and `src` goes into a folder, be it there or not.
    is_rsync = invocation.name == "rsync"
    found = []
    for source in sources:
        if UNKNOWN in source or any(complained(run, invocation.name, word) for word in (source, target)):
            continue
        # A pattern is still here where no file is known that it matches: then all of a folder is meant.
        whole_folder = source.endswith(("/.", "/*")) or (is_rsync and source.endswith("/"))
        origin = run.path(source.rpartition("/")[0] or "/" if whole_folder else source)
        goes_inside = inside or (is_rsync and is_folder(run, origin))
        end = place + ("" if whole_folder else "/" + origin.rpartition("/")[2]) if goes_inside else place
        found.append((f"{origin}/", f"{end}/") if whole and _unknown_folder(run, origin) else (origin, end))
    return found


def _unknown_folder(run: ShellRun, path: str) -> bool:
    """Return True if a path seems to be a folder whose files are not known: `lib`, not `LICENSE`."""
    known = path in run.ledger.files or path in run.ledger.seen or bool(run.ledger.children(path))
    name = path.rpartition("/")[2]
    return not known and "." not in name[1:] and name == name.lower()


def move(run: ShellRun, invocation: Invocation) -> None:
    """`mv`."""
    words = operands(invocation)
    if len(words) < 2 or failed_quietly(run, invocation):
        return
    careful = has(invocation, "n", "--no-clobber")
    for source, target in _targets(run, invocation, words):
        if careful and run.ledger.exists(target):
            continue
        run.ledger.move(source, target)


def copy(run: ShellRun, invocation: Invocation) -> None:
    """`cp` and its like, on this machine."""
    words = operands(invocation)
    remote = any(re.match(r"[\w.@-]+:", word) and not is_windows(word) for word in words)
    if len(words) < 2 or failed_quietly(run, invocation) or remote:
        return
    careful = has(invocation, "n", "--no-clobber")
    for source, target in _targets(run, invocation, words):
        if careful and run.ledger.exists(target):
            continue
        run.ledger.copy(source, target)


def link(run: ShellRun, invocation: Invocation) -> None:
    """`ln`."""
    words = operands(invocation)
    for target in files_of(run, invocation, words[1:2]) if not failed_quietly(run, invocation) else []:
        run.ledger.write(target, None, f"link to {words[0]}", before=Before.UNKNOWN)


def change_mode(run: ShellRun, invocation: Invocation) -> None:
    """`chmod`: git counts it as a change."""
    words = [word for word in invocation.words[1:] if word not in ("-R", "-v", "-f")]
    for path in files_of(run, invocation, words[1:]):
        if not is_folder(run, path):
            run.ledger.mode(path, words[0])


def fetch(run: ShellRun, invocation: Invocation) -> None:
    """`curl` and `wget`: files that they send and write, unless the transfer is known to have failed."""
    words = invocation.words
    if invocation.status is CommandStatus.FAILED:
        return
    for path in files_of(run, invocation, _sent(words)):
        run.ledger.read(path, f"sent by {invocation.name}")
    named = [words[n + 1] for n, word in enumerate(words[:-1]) if word in ("-o", "--output", "-O", "--output-document")]
    addresses = [word for word in operands(invocation) if "://" in word]
    if invocation.name == "curl":
        by_name = any(re.fullmatch(r"-[a-zA-Z]*O|--remote-name", word) for word in words[1:])
        named = [w for n, w in enumerate(words) if n and re.fullmatch(r"-[a-zA-Z]*o|--output", words[n - 1])]
    else:
        by_name = not named
    if by_name:
        named = [re.split(r"[?#]", each)[0].rpartition("/")[2] for each in addresses]
    for path in files_of(run, invocation, named):
        run.ledger.write(path, None, f"from {addresses[0]}" if addresses else "")


def _sent(words: tuple[str, ...]) -> list[str]:
    """Return the files that are sent: `-T FILE`, `-d @FILE`, `-F name=@FILE;type=...` of curl, `--post-file=FILE`."""
    found = []
    curl = words[0].endswith("curl")
    for option, word in zip(words, (*words[1:], ""), strict=True):
        if match := re.match(r"--(?:post|body)-file=(.+)", option):
            found.append(match[1])
        elif curl and option in ("-T", "--upload-file"):
            found.append(word)
        elif curl and option in ("-d", "--data", "--data-binary", "--json") and word.startswith("@"):
            found.append(word[1:])
        elif curl and option in ("-F", "--form") and (match := re.match(r"[^=]*=[@<]([^;,]+)", word)):
            found.append(match[1])
    return found


def convert(run: ShellRun, invocation: Invocation) -> None:
    """`dd`: one file into another, or into a part of it."""
    given = dict(word.split("=", 1) for word in invocation.words[1:] if "=" in word)
    if failed_quietly(run, invocation) or complained(run, "dd", given.get("if") or UNKNOWN):
        return
    for path in files_of(run, invocation, [given.get("if", "")]):
        run.ledger.read(path)
    for path in files_of(run, invocation, [given.get("of", "")]):
        if "seek" in given or "notrunc" in given.get("conv", ""):
            run.ledger.edit(path, "dd")
        else:
            run.ledger.write(path, None, "dd")


def truncate(run: ShellRun, invocation: Invocation) -> None:
    """`truncate`."""
    for path in files_of(run, invocation, operands(invocation)):
        run.ledger.edit(path, " ".join(invocation.words[:3]))
