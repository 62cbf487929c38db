"""A hidden git repository outside the working folder: a commit for every step, and what changed from one to another."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmark.sessions.records import Changes
from ctxsift.errors import InputError

_SETTINGS = (
    *("-c", "core.autocrlf=false", "-c", "core.quotePath=false", "-c", "core.excludesFile=/dev/null"),
    *("-c", "user.name=recorder", "-c", "user.email=recorder@example.invalid", "-c", "commit.gpgSign=false"),
    *("-c", "gc.auto=0", "-c", "advice.addEmbeddedRepo=false", "-c", "diff.renameLimit=5000"),
)


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The hidden repository of a working folder.

    It leaves out what the .gitignore of the work leaves out, and repositories inside the project; nothing else.
    """

    git_dir: Path
    work_tree: Path

    def begin(self) -> str:
        """Make the repository and return the commit of the starting files."""
        self._git("init", "--quiet", "--initial-branch=steps")
        return self.commit("start")

    def commit(self, message: str) -> str:
        """Commit the files as they are and return the commit."""
        self._stage()
        self._git("commit", "--quiet", "--allow-empty", "--no-verify", "--message", message)
        return self._git("rev-parse", "HEAD").strip()

    def outside_changes(self, commit: str) -> list[str]:
        """Return the paths that differ from a commit although no step changed them."""
        self._stage()
        return [path for path in self._git("diff", "--cached", "--name-only", "-z", commit).split("\0") if path]

    def restore(self, commit: str) -> None:
        """Make the files those of a commit; ignored files stay as they are."""
        self._stage()
        self._git("read-tree", "--reset", "-u", commit)

    def tree(self, commit: str) -> str:
        """Return the id of the files of a commit: the same for the same names and contents."""
        return self._git("rev-parse", f"{commit}^{{tree}}").strip()

    def files(self, commit: str) -> dict[str, str]:
        """Return the paths of a commit, each with the id of its content and its mode."""
        entries = self._git("ls-tree", "-r", "-z", commit).split("\0")
        parts = [entry.partition("\t") for entry in entries if entry]
        return {path: f"{meta.split()[0]} {meta.split()[2]}" for meta, _, path in parts}

    def changes(self, old: str, new: str) -> Changes:
        """Return what git says of the difference between two commits."""
        words = iter(self._git("diff", "--name-status", "--find-renames", "-z", old, new).split("\0"))
        found: dict[str, list[Any]] = {"A": [], "M": [], "D": [], "R": []}
        for status in words:
            if not status:
                continue
            kind = "M" if status[0] == "T" else status[0]
            found[kind].append(tuple(islice(words, 2)) if kind == "R" else next(words))
        created, modified, deleted, renamed = (tuple(sorted(found[kind])) for kind in "AMDR")
        return Changes(created=created, modified=modified, deleted=deleted, renamed=renamed)

    def _stage(self) -> None:
        # git takes a repository in the folder for a submodule, and fails where that has no commit yet.
        others = self._git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
        if inner := [path for path in others if path.endswith("/")]:
            with (self.git_dir / "info" / "exclude").open("a", encoding="utf-8") as file:
                file.writelines("/" + re.sub(r"([\\*?\[])", r"\\\1", path) + "\n" for path in inner)
        self._git("add", "--all")

    def _git(self, *arguments: str) -> str:
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
        }
        done = subprocess.run(
            ["git", f"--git-dir={self.git_dir}", f"--work-tree={self.work_tree}", *_SETTINGS, *arguments],
            cwd=self.work_tree,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            told = done.stderr.decode("utf-8", "replace").strip()
            raise InputError(str(self.work_tree), f"git {arguments[0]} failed ({told})", "see what it says")
        return done.stdout.decode("utf-8", "surrogateescape")
