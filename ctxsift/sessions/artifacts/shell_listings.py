"""Listings and searches: what their output tells of the files that are there, and of those that are not."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.paths import below, resolve
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import LEFT_OUT, UNKNOWN, CommandStatus

_MATCH = re.compile(r"([\w./@+~-]*[\w@+-]\.\w{1,12})(?::|-\d+-|$)")
_MOST_MATCHED, _MOST_LINE = 200, 1000
# A date, not only a year: a size may have four digits, too.
_DATE = (
    r"(?:[^\W\d]{3,5}\.?\s+\d{1,2}\.?|\d{1,2}\.?\s+[^\W\d]{3,5}\.?|(?:\d{4}-)?\d\d-\d\d)\s+"
    r"(?:\d{1,2}:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:\s[+-]\d{4})?|\d{4})|\d{4}-\d\d-\d\d"
)
_LONG = re.compile(rf"[-dlbcps][rwxsStT-]{{9}}[@+.]?\s+\d+\s.*?\s(?:{_DATE})\s+(.+)")
_PLAIN_FIND = {"-name", "-iname", "-type", "f", "-print", "-maxdepth", "-not", "!", "-path", "-o", "(", ")"}
_SEARCH_VALUES = frozenset({
    "-e", "-f", "-m", "-A", "-B", "-C", "-g", "-t", "--include",
    "--exclude", "--exclude-dir", "--type", "--glob", "--max-count",
})  # fmt: skip


def list_files(run: ShellRun, invocation: Invocation) -> None:
    """`ls`, `find`, `tree`: what was printed is there; where all of a folder was printed, the rest is not."""
    words = [word for word in invocation.words[1:] if UNKNOWN not in word]
    lines = run.output.split("\n")[:20_000]
    if invocation.name == "find":
        _found(run, invocation, words, lines)
    elif invocation.name == "ls" and run.printing == 1:
        _listed(run, invocation, words, lines)


def _whole(run: ShellRun, invocation: Invocation) -> bool:
    """Return True if all that a listing found stands in the output."""
    sorting = all(words and words[0] in ("sort", "cat") for words in invocation.after)
    return (
        sorting
        and invocation.status is not CommandStatus.FAILED
        and run.printing == 1
        and not LEFT_OUT.search(run.output[-300:])
    )


def _found(run: ShellRun, invocation: Invocation, words: list[str], lines: list[str]) -> None:
    options = next((n for n, word in enumerate(words) if word.startswith(("-", "!", "("))), len(words))
    roots = words[:options] or ["."]
    paths = [
        run.path(line.strip())
        for line in lines
        if any(line == root or line.startswith(root.rstrip("/") + "/") for root in roots)
    ]
    globs = [words[n + 1] for n, word in enumerate(words[:-1]) if word == "-name"]
    rest = {word for word in words[options:] if word not in globs}
    files = "f" in rest or bool(globs)
    if not files or rest & {"d", "l"}:
        return
    if _whole(run, invocation) and rest <= {"-name", "-type", "f", "-print"} and len(globs) <= 1:
        for root in roots:
            place = run.path(root)
            run.ledger.list_all(place, [p for p in paths if below(p, place)], glob="".join(globs))
        return
    for path in paths:
        run.ledger.see(path)


def _listed(run: ShellRun, invocation: Invocation, words: list[str], lines: list[str]) -> None:
    options = "".join(word for word in words if word.startswith("-"))
    places = [word for word in words if not word.startswith("-")]
    if len(places) > 1 or "d" in options or "No such file" in run.output:
        return
    if "R" in options:
        _listed_below(run, run.path(places[0]) if places else run.folder, lines)
        return
    place = run.path(places[0]) if places else run.folder
    names: list[str] = []
    for line in lines:
        if not line.strip() or line.startswith("total ") or line.strip() == "(no output)":
            continue
        if long := _LONG.fullmatch(line.strip()[:_MOST_LINE]):
            names.append("" if line.strip().startswith("d") else long[1].partition(" -> ")[0])
        elif "l" not in options:
            names.extend(re.split(r"\t+ *| {2,}", line.strip()))
    marked = "F" in options or "p" in options or "l" in options
    names = [name.rstrip("*@=|") if "F" in options else name for name in names]
    files = [resolve(name, place) for name in names if name and not name.endswith("/") and name not in (".", "..")]
    if files == [place] or (len(names) == 1 and names[0] == (places or [""])[0]):
        run.ledger.see(place)
        return
    seen = [path for path in files if marked or "." in path.rpartition("/")[2][1:]]
    if _whole(run, invocation):
        # Names that may be folders are no files, but they are there.
        run.ledger.list_all(place, seen, deep=False, others=[path for path in files if path not in seen])
    else:
        for path in seen:
            run.ledger.see(path)


def _listed_below(run: ShellRun, place: str, lines: list[str]) -> None:
    """`ls -R`: each folder stands before its names, which may be folders themselves."""
    folder = place
    for line in lines:
        if re.fullmatch(r"\S.*:", line):
            folder = run.path(line[:-1])
        elif line and "." in line[1:] and not _LONG.match(line):
            run.ledger.see(resolve(line, folder))


def search_files(run: ShellRun, invocation: Invocation) -> None:
    """`grep` and `rg`: files that are named were searched; those that the output names are there."""
    words = list(invocation.words[1:])
    given, plain, names_only = False, [], False
    while words:
        word = words.pop(0)
        if word.startswith("-") and len(word) > 1:
            names_only |= bool(re.fullmatch(r"-[a-zA-Z]*l[a-zA-Z]*|--files-with-matches", word))
            if word in _SEARCH_VALUES and words:
                value = words.pop(0)
                given |= word in ("-e", "-f") and bool(value)
        else:
            plain.append(word)
    places = plain if given else plain[1:]
    if names_only:
        paths = [run.path(line) for line in run.output.split("\n") if " " not in line and ("/" in line or "." in line)]
        if run.printing == 1 and not invocation.after:
            run.ledger.remember_search((run.folder, *invocation.words), paths[:2000])
    recursive = any(re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive", word) for word in invocation.words)
    recursive |= invocation.name in ("rg", "ag", "ack")
    for word in places:
        if not word or UNKNOWN in word or word in ("-", ".", "..") or word.startswith("/dev/"):
            continue
        path = run.path(word)
        if run.printed.complains(invocation.name, word):
            if "No such file" in run.output:
                run.ledger.missing(path)
        elif not word.endswith("/") and not run.ledger.children(path) and (not recursive or _has_ending(path)):
            pattern = "" if given or not plain else plain[0]
            run.ledger.read(path, f"{invocation.name} {pattern}".strip(), part=True)
    if recursive or len(places) > 1:
        _matches(run, [word for word in places if UNKNOWN not in word] or ["."], names_only=names_only)


def _has_ending(path: str) -> bool:
    return bool(re.search(r"[^/.]\.\w{1,12}$", path))


def _matches(run: ShellRun, places: list[str], *, names_only: bool) -> None:
    """Files of which a search printed lines were looked at; where it printed names alone, they are there."""
    found: dict[str, None] = {}
    for line in run.output.split("\n")[:2000]:
        match = _MATCH.match(line[:_MOST_LINE])
        inside = match and any(word == "." or match[1].startswith(word.rstrip("/") + "/") for word in places)
        if match and inside:
            found[run.path(match[1])] = None
    for path in list(found)[:_MOST_MATCHED]:
        if names_only:
            run.ledger.see(path)
        else:
            run.ledger.read(path, "found by a search", part=True)
