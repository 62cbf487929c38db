"""Paths as a session writes them: bases, home folders, patterns. Nothing is looked up on this machine."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

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


@lru_cache(maxsize=1024)
def pattern(text: str, *, crossing: bool = False) -> re.Pattern[str]:
    """Compile a glob; `*` and `?` stop at a slash unless `crossing`, and `**` never does.

    What stands between two stars is found where it comes first, and nowhere else: what follows has most left then. So
    no glob takes longer than a path's length squared, whatever its stars.
    """
    if len(text) > _LONGEST_GLOB:
        return _literally(text)
    star, one = (".*?", ".") if crossing else ("[^/]*?", "[^/]")
    # For each star: itself and what follows; first what stands before all of them.
    parts: list[tuple[str, str]] = [("", "")]
    at = 0
    while at < len(text):
        character = text[at]
        if text.startswith("**/", at) and text[at - 1 : at] in ("", "/"):
            parts.append(("(?:.*?/)??", ""))
            at += 3
        elif text.startswith("**", at):
            parts.append((".*?", ""))
            at += 2
        elif character == "*":
            parts.append((star, ""))
            at += 1
        else:
            found, at = _one(text, at, one)
            parts[-1] = parts[-1][0], parts[-1][1] + found
    try:
        return re.compile(_joined(parts), re.DOTALL)
    except re.error:
        return _literally(text)


def _one(text: str, at: int, one: str) -> tuple[str, int]:
    """Return what matches the character or class at this place of a glob, and the place behind it."""
    if text[at] == "?":
        return one, at + 1
    if text[at] == "[" and (end := text.find("]", at + 2)) > 0:
        inside = text[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
        # No class holds a slash where a star does not.
        return f"{'' if one == '.' else '(?!/)'}[{'^' + inside[1:] if inside[0] in '!^' else inside}]", end + 1
    return re.escape(text[at]), at + 1


def _joined(parts: list[tuple[str, str]]) -> str:
    """Join stars and what follows them; only what has to reach the end of a path is tried at other places, too."""
    runs: list[list[tuple[str, str]]] = []
    for star, chunk in parts:
        if not runs or star.startswith((".", "(")):
            runs.append([])
        runs[-1].append((star, chunk))
    *before, (head, *stars) = runs
    fixed, ending = stars[:-1], "".join(map("".join, stars[-1:]))
    return (
        "".join(f"(?>{''.join(run[0])}{_at_first(run[1:])})" for run in before)
        + "".join(head)
        + _at_first(fixed)
        + ending
    )


def _at_first(stars: list[tuple[str, str]]) -> str:
    return "".join(f"(?>{star}{chunk})" for star, chunk in stars)


def _literally(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text))


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
