"""Commands that look at files: which ones were read, and what listings tell of those that are there and are not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxsift.sessions.artifacts.paths import resolve
from ctxsift.sessions.artifacts.shell_operands import files_of, has, is_folder, operands, values
from ctxsift.sessions.artifacts.shell_programs import program
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import LEFT_OUT, UNKNOWN, CommandStatus

_MATCH = re.compile(r"([\w./@+~-]*[\w@+-]\.\w{1,12})(?::|-\d+-|$)")
_NAME = re.compile(r"^(?=[^ \n]{0,999}[/.])[^ \n]{1,999}$", re.MULTILINE)
_MOST_LINES, _MOST_FOUND, _MOST_MATCHED, _MOST_LINE = 20_000, 2000, 200, 1000
# A date, not only a year: a size may have four digits, too.
_DATE = (
    r"(?:[^\W\d]{3,5}\.?\s+\d{1,2}\.?|\d{1,2}\.?\s+[^\W\d]{3,5}\.?|(?:\d{4}-)?\d\d-\d\d)\s+"
    r"(?:\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:\s[+-]\d{4})?|\d{4})|\d{4}-\d\d-\d\d"
)
_LONG = re.compile(rf"[-dlbcps][rwxsStT-]{{9}}[@+.]?\s+\d+\s.*?\s(?:{_DATE})\s+(.+)")


def read_files(run: ShellRun, invocation: Invocation) -> None:
    """`cat` and its like: whole files, or their beginnings and ends."""
    part = " ".join(invocation.words[:-1]) if program(invocation.name).effect == "part" else ""
    cut = [" ".join(words) for words in invocation.after if words and words[0] in ("head", "tail", "grep", "sed")]
    for path in files_of(run, invocation, operands(invocation)):
        if not path.endswith("/"):
            run.ledger.read(path, part or ("| " + cut[0] if cut else ""))
    if invocation.name == "cat" and invocation.text is not None and not operands(invocation):
        run.produced = invocation.text if not re.search(r"[$`]", invocation.text) else None


def inspect_files(run: ShellRun, invocation: Invocation) -> None:
    """`wc`, `diff` and their like."""
    for path in files_of(run, invocation, operands(invocation)):
        if not is_folder(run, path):
            run.ledger.read(path, invocation.name, part=True)


def filter_files(run: ShellRun, invocation: Invocation) -> None:
    """`awk`, `jq` and their like: a program first, then files."""
    scripted = any(word in ("-f", "--from-file") for word in invocation.words)
    for path in files_of(run, invocation, operands(invocation)[not scripted :]):
        if "=" not in path.rpartition("/")[2]:
            run.ledger.read(path)


def list_files(run: ShellRun, invocation: Invocation) -> None:
    """`ls`, `find`: what was printed is there; where `ls` printed all of a folder, the rest is not."""
    words = [word for word in invocation.words[1:] if UNKNOWN not in word]
    lines = run.output.split("\n")[:_MOST_LINES]
    if invocation.name == "find":
        _found(run, words, lines)
    elif run.printing == 1 and not has(invocation, "dR") and "No such file" not in run.output:
        _listed(run, invocation, words, lines)


def _whole(run: ShellRun, invocation: Invocation) -> bool:
    """Return True if all that a listing found stands in the output."""
    passing = all(words and words[0] in ("sort", "cat") for words in invocation.after)
    return passing and invocation.status is not CommandStatus.FAILED and not LEFT_OUT.search(run.output[-300:])


def _found(run: ShellRun, words: list[str], lines: list[str]) -> None:
    options = next((n for n, word in enumerate(words) if word.startswith(("-", "!", "("))), len(words))
    roots = tuple(root.rstrip("/") for root in words[:options] or ["."])
    if not {"f", "-name"} & set(words[options:]) or {"d", "l"} & set(words[options:]):
        return
    for line in lines:
        if line in roots or line.startswith(tuple(f"{root}/" for root in roots)):
            run.ledger.see(run.path(line.strip()))


def _listed(run: ShellRun, invocation: Invocation, words: list[str], lines: list[str]) -> None:
    places = [word for word in words if not word.startswith("-")]
    if len(places) > 1:
        return
    place = run.path(places[0]) if places else run.folder
    names = list(_names_in(lines, long=has(invocation, "l")))
    if has(invocation, "F"):
        names = [name.rstrip("*@=|") for name in names]
    files = [resolve(name, place) for name in names if name not in ("", ".", "..") and not name.endswith("/")]
    if files == [place] or names == places:
        run.ledger.see(place)
        return
    # Names that may be folders are no files, but they are there.
    tells_folders = has(invocation, "lFp")
    for path in files:
        if tells_folders or "." in path.rpartition("/")[2][1:]:
            run.ledger.see(path)
    if _whole(run, invocation):
        run.ledger.list_all(place, files, deep=False)


def _names_in(lines: list[str], *, long: bool) -> Iterator[str]:
    """Yield the names that `ls` printed, those of folders empty where it tells them by their rows."""
    for line in lines:
        bare = line.strip()
        if row := _LONG.fullmatch(bare[:_MOST_LINE]):
            yield "" if bare.startswith("d") else row[1].partition(" -> ")[0]
        elif not long and bare not in ("", "(no output)") and not line.startswith("total "):
            yield from re.split(r"\t+ *| {2,}", bare)


def search_files(run: ShellRun, invocation: Invocation) -> None:
    """`grep` and `rg`: files that are named were searched; those that the output names are there."""
    given, plain = values(invocation, "-e", "-f"), operands(invocation)
    pattern, places = ("", plain) if given else ("".join(plain[:1]), plain[1:])
    names_only = has(invocation, "l", "--files-with-matches")
    if names_only and run.printing == 1 and not invocation.after:
        paths = list(map(run.path, _NAME.findall(run.output)[:_MOST_FOUND]))
        run.ledger.remember_search((run.folder, *invocation.words), paths)
    recursive = has(invocation, "rR", "--recursive") or invocation.name in ("rg", "ag", "ack")
    for path in files_of(run, invocation, places):
        if not run.ledger.children(path) and (not recursive or re.search(r"[^/.]\.\w{1,12}$", path)):
            run.ledger.read(path, f"{invocation.name} {pattern}".strip(), part=True)
    if recursive or len(places) > 1:
        _matches(run, [word for word in places if UNKNOWN not in word] or ["."], names_only=names_only)


def _matches(run: ShellRun, places: list[str], *, names_only: bool) -> None:
    """Files of which a search printed lines were looked at; where it printed names alone, they are there."""
    found: dict[str, None] = {}
    for line in run.output.split("\n")[:_MOST_FOUND]:
        match = _MATCH.match(line[:_MOST_LINE])
        if match and any(word == "." or match[1].startswith(word.rstrip("/") + "/") for word in places):
            found[run.path(match[1])] = None
    for path in list(found)[:_MOST_MATCHED]:
        if names_only:
            run.ledger.see(path)
        else:
            run.ledger.read(path, "found by a search", part=True)
