"""Paths as a session writes them: bases, home folders, patterns. Nothing is looked up on this machine."""

from __future__ import annotations

import posixpath
import re
from fnmatch import fnmatchcase

_HOME = re.compile(r"((?:[A-Z]:)?/(?:Users|home)/[^/]+|/root)(?=/|$)")
_DRIVE = re.compile(r"([A-Za-z]):(?=[\\/]|$)")
# How Git Bash, Cygwin and WSL write a drive.
_MOUNTED = re.compile(r"/(?:mnt/|cygdrive/)?([A-Za-z])(?=/|$)")
_BRACES = re.compile(r"\{([^{},]*(?:,[^{},]*)+|\d{1,3}\.\.\d{1,3})\}")
_LONGEST_GLOB, _MOST_BRACES = 1_000, 50
_MOST_PARENTS = 64


def is_windows(folder: str) -> bool:
    """Return True if a folder has a drive, in whatever spelling."""
    return bool(_DRIVE.match(folder))


def resolve(path: str, folder: str) -> str:
    """Return `path` as seen from `folder`, without `.` and `..`.

    A path of Windows is written in one way, whoever wrote it: `C:/Users/me`; below `folder`, in the case of `folder`.
    """
    windows = is_windows(folder)
    folder = resolve(folder, "") if windows else folder
    if windows or _DRIVE.match(path):
        path = path.replace("\\", "/")
    if windows:
        path = _MOUNTED.sub(r"\1:", path, count=1) if _MOUNTED.match(path) else path
    path = _DRIVE.sub(lambda drive: f"{drive[1].upper()}:", path) if _DRIVE.match(path) else path
    if path.startswith("~") and (home := home_of(folder)):
        path = home + path[1:] if path == "~" or path.startswith("~/") else path
    absolute = path.startswith(("/", "~")) or is_windows(path)
    found = posixpath.normpath(path if absolute else posixpath.join(folder, path))
    if windows and found.casefold().startswith(f"{folder.casefold()}/"):
        found = folder + found[len(folder) :]
    return found.replace("//", "/", 1) if found.startswith("//") else found


def home_of(folder: str) -> str:
    """Return the home folder that `folder` lies in; empty where it tells none."""
    match = _HOME.match(folder)
    return match[1] if match else ""


def shown(path: str, folder: str) -> str:
    """Return `path` relative to `folder` where it lies below it, else unchanged."""
    if folder and path != folder and path.startswith(folder.rstrip("/") + "/"):
        return path[len(folder.rstrip("/")) + 1 :]
    return path


def below(path: str, folder: str) -> bool:
    """Return True if `path` lies somewhere below `folder`; everything relative lies below `.`."""
    if folder in (".", ""):
        return not path.startswith(("/", "~", ".."))
    return path.startswith(folder.rstrip("/") + "/")


def parents(path: str) -> list[str]:
    """Return every folder that a path lies in, the outermost _MOST_PARENTS of them."""
    parts = path.split("/", _MOST_PARENTS)[:-1]
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def is_pattern(path: str) -> bool:
    """Return True if a shell would look for files that match."""
    return any(mark in path for mark in "*?[")


def matches(glob: str, path: str) -> bool:
    """Return True if a path matches a glob, of which no star but the folder `**` crosses a slash."""
    if len(glob) > _LONGEST_GLOB:
        return glob == path
    names = path.split("/")
    # How many of the names what stood before may have taken.
    taken = {0}
    for part in glob.split("/"):
        if part == "**":
            taken = set(range(min(taken), len(names) + 1))
        else:
            taken = {number + 1 for number in taken if number < len(names) and fnmatchcase(names[number], part)}
        if not taken:
            return False
    return len(names) in taken


def braces(text: str) -> list[str]:
    """Expand `a{b,c}` and `{1..3}`; at most 200 results. What has more lists than _MOST_BRACES stays as it is."""
    if text.count("{") > _MOST_BRACES:
        return [text]
    match = _BRACES.search(text)
    if not match:
        return [text]
    inside = match[1]
    if "," in inside:
        parts = inside.split(",")
    else:
        first, last = (int(end) for end in inside.split(".."))
        parts = [str(number) for number in range(first, last + 1)]
    found: list[str] = []
    for part in parts:
        found.extend(braces(text[: match.start()] + part + text[match.end() :]))
        if len(found) >= 200:
            break
    return found[:200]
