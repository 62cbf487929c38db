"""What git holds of the session's files: index, commits, stashes and branches, as far as the session made them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.paths import below
from ctxsift.sessions.artifacts.versions import Before, Tracked, Version, same

# What git reports of a file that the session did not see changing, by the letter of `git status`.
_REPORTED: Mapping[str, Callable[[Ledger, str, str], None]] = {
    "D": Ledger.delete,
    "M": Ledger.edit,
    "U": Ledger.edit,
    "A": lambda ledger, path, detail: ledger.write(path, None, detail, before=Before.MISSING),
}
_MOST_KEPT, _MOST_BRANCHES = 60, 50
# A branch that nothing has named yet is called so by those who name it.
_FIRST_NAMES = ("main", "master")


@dataclass(eq=False, slots=True)
class _Commit:
    """A commit: what its tree holds of the session's files; a file that it does not name is as at the start."""

    revision: str = ""
    tree: dict[str, Version | None] = field(default_factory=dict)

    def holds(self, file: Tracked) -> Version | None:
        return self.tree.get(file.path, None if file.before is Before.MISSING else file.start)


@dataclass(slots=True)
class Repository:
    """Every repository that the session works in; a folder belongs to the innermost root that is known."""

    ledger: Ledger
    roots: set[str] = field(default_factory=set)
    # The commits of each branch, the last one at the end; the first is the one the session began on.
    _lines: dict[tuple[str, str], list[_Commit]] = field(default_factory=dict)
    # Root, what the tracked files held, and what files and index held of those that were put aside.
    _stashes: list[tuple[str, _Commit, dict[str, tuple[Version | None, Version | None]]]] = field(default_factory=list)
    _branch: dict[str, str] = field(default_factory=dict)
    _left: dict[str, str] = field(default_factory=dict)
    # Roots of which git has told what differs, and files that differed before the session did anything.
    # Roots where the session went to a branch that it knew nothing of.
    _strayed: set[str] = field(default_factory=set)
    _told: set[str] = field(default_factory=set)
    _of_user: set[str] = field(default_factory=set)

    def root(self, folder: str) -> str:
        """Return the root that `folder` belongs to; one that nothing tells of is guessed from the session's folder."""
        inside = [root for root in self.roots if folder == root or below(folder, root)]
        if inside:
            return max(inside, key=len)
        own = self.ledger.folder
        return own if own and (folder == own or below(folder, own)) else folder

    def files(self, folder: str, paths: list[str] | None = None) -> list[Tracked]:
        """Return the files of the repository of `folder`; of them only `paths` and what lies below them."""
        root = self.root(folder)
        found = [
            file for path, file in self.ledger.files.items() if below(path, root) and self._owner(path, root) == root
        ]
        if paths is None:
            return found
        return [file for file in found if any(file.path == path or below(file.path, path) for path in paths)]

    def _owner(self, path: str, root: str) -> str:
        return max((each for each in self.roots | {root} if below(path, each)), key=len)

    # Index and commits

    def add(self, folder: str, paths: list[str] | None, *, tracked_only: bool = False) -> None:
        """Put files into the index: all of the repository, or `paths` and what lies below them."""
        for file in self.files(folder, paths):
            if not tracked_only or file.head is not None or file.staged is not None:
                file.staged = file.work

    def remove(self, folder: str, paths: list[str]) -> None:
        """Take files out of the index alone."""
        for file in self.files(folder, paths):
            file.staged = None

    def commit(
        self,
        folder: str,
        revision: str,
        *,
        everything: bool = False,
        paths: list[str] | None = None,
        amend: bool = False,
    ) -> None:
        """Take down a commit; with `amend` it takes the place of the one before."""
        if everything or paths:
            self.add(folder, paths or None, tracked_only=True)
        tree = {}
        for file in self.files(folder):
            file.head = file.staged
            if file.head is not file.start:
                tree[file.path] = file.head
        line = self._line(self.root(folder))
        if amend and len(line) > 1:
            line.pop()
        line.append(_Commit(revision, tree))
        del line[1:-_MOST_KEPT]

    def _line(self, root: str) -> list[_Commit]:
        return self._lines.setdefault((root, self._branch.get(root, "")), [_Commit()])

    def _of_branch(self, root: str, name: str) -> list[_Commit] | None:
        """Return the commits of a branch; None of one that the session has not been on."""
        line = self._lines.get((root, name))
        return line or (self._lines.get((root, "")) if name in _FIRST_NAMES else None)

    def _at(self, root: str, revision: str) -> int:
        """Return the place of a revision among the commits of the branch; -1 where the session does not know it."""
        line = self._line(root)
        if match := re.fullmatch(r"(?:HEAD|@)(?:~(\d*)|(\^*))", revision):
            back = len(match[2]) if match[1] is None else int(match[1] or 1)
            return max(len(line) - 1 - back, -1)
        return max((n for n, each in enumerate(line) if each.revision and _is(each.revision, revision)), default=-1)

    def _named(self, root: str, revision: str) -> _Commit | None:
        """Return what a revision, a branch or a stash holds; None where the session does not know it."""
        if match := re.fullmatch(r"stash(?:@\{(\d+)\})?", revision):
            own = [held for each, held, _ in reversed(self._stashes) if each == root]
            return own[int(match[1] or 0)] if int(match[1] or 0) < len(own) else None
        if line := self._of_branch(root, revision):
            return line[-1]
        at = self._at(root, revision)
        return self._line(root)[at] if at >= 0 else None

    def unstage(self, folder: str, paths: list[str] | None) -> None:
        """Put back in the index what the last commit holds."""
        for file in self.files(folder, paths):
            file.staged = file.head

    def restore(self, folder: str, paths: list[str], *, head: bool, detail: str) -> None:
        """Put back what the index holds, or with `head` the last commit."""
        for file in self.files(folder, paths):
            if file.changed and file.path in paths and not same(file.work, file.head if head else file.staged):
                # Git refuses a path that it does not hold.
                file.settle(Before.THERE)
            if file.changed and file.tracked():
                file.staged = file.head if head else file.staged
                if file.staged is not None:
                    self.ledger.restore(file, file.staged, detail)

    def bring(self, folder: str, paths: list[str], revision: str, detail: str) -> None:
        """Put files of another revision into the working tree and the index."""
        held = self._named(self.root(folder), revision)
        for file in self.files(folder, paths):
            version = held.holds(file) if held else self.ledger.unknown() if file.changed else file.work
            if version is not None:
                self.ledger.restore(file, version, detail)
                file.staged = version

    def reset(self, folder: str, revision: str, *, keep: str) -> None:
        """Go back to a revision; `keep` is soft, mixed or hard."""
        root = self.root(folder)
        line, at = self._line(root), self._at(root, revision)
        if at >= 0:
            del line[at + 1 :]
        for file in self.files(folder):
            tracked = file.tracked()
            file.head = line[at].holds(file) if at >= 0 else file.head
            if keep != "soft":
                file.staged = file.head
            if keep == "hard" and (tracked or file.tracked()) and file.changed:
                self.ledger.restore(file, file.head if at >= 0 else self.ledger.unknown(), "git reset --hard")

    def report(self, folder: str, told: list[tuple[str, str, bool]], detail: str, *, whole: bool) -> None:
        """Learn from git which files are not as the index or the last commit has them.

        Args:
            folder: where git ran.
            told: paths with the letter of `git status`, and whether the index is meant.
            detail: the command.
            whole: of all files. When git first tells that, what the session did not change is the user's.

        """
        root = self.root(folder)
        for path, letter, staged in told:
            file = self.ledger.files.get(path)
            if file and not (same(file.staged, file.head) if staged else same(file.work, file.staged)):
                continue
            if root not in self._told and not (file and file.changed):
                self._of_user.add(path)
            elif path in self._of_user:
                continue
            elif letter in _REPORTED and self.ledger.exists(path) is not (letter == "A"):
                _REPORTED[letter](self.ledger, path, detail)
            if staged and (file := self.ledger.files.get(path)):
                file.staged = file.work
        if whole:
            self._told.add(root)

    # Stashes and branches

    def stash(self, folder: str, *, untracked: bool, told: bool, index: bool, paths: list[str] | None = None) -> None:
        """Put changes aside, but not those in the `index`; `told`: git said so, be there a change or not."""
        held = _Commit()
        kept: dict[str, tuple[Version | None, Version | None]] = {}
        for file in self.files(folder, paths):
            tracked = file.tracked()
            dirty = not same(file.work, file.head) or not same(file.staged, file.head)
            held.tree[file.path] = file.work if tracked else file.head
            if dirty and (tracked or untracked) and file.changed:
                kept[file.path] = (file.work, file.staged)
                file.staged = file.staged if index else file.head
                self.ledger.restore(file, file.staged, "git stash")
        if kept or told:
            self._stashes.append((self.root(folder), held, kept))
        del self._stashes[:-_MOST_KEPT]

    def unstash(self, folder: str, number: int, *, restore: bool, drop: bool) -> None:
        """Bring back what was put aside, the last one being number 0; `drop` it, or both."""
        root = self.root(folder)
        own = [stash for stash in self._stashes if stash[0] == root]
        if number >= len(own):
            return
        chosen = own[-1 - number]
        for path, (work, staged) in chosen[2].items() if restore else ():
            if file := self.ledger.files.get(path):
                self.ledger.restore(file, work, "git stash pop")
                file.staged = staged if file.head is None else file.head
        if drop:
            self._stashes.remove(chosen)

    def branch(self, folder: str, name: str, *, switch: bool) -> None:
        """Make a branch at the last commit."""
        root = self.root(folder)
        if len(self._lines) < _MOST_BRANCHES:
            self._lines[root, name] = list(self._line(root))
        if switch:
            self._left[root], self._branch[root] = self._branch.get(root, ""), name

    def name_branch(self, folder: str, name: str) -> None:
        """Learn the name of the branch that the session is on."""
        root = self.root(folder)
        if root not in self._branch:
            self._lines[root, name] = self._lines.pop((root, ""), [_Commit()])
            self._branch[root] = name

    def switch(self, folder: str, name: str) -> None:
        """Go to a branch. What one holds that the session has not been on is not known."""
        root = self.root(folder)
        current, line = self._branch.get(root, ""), self._line(root)
        name = self._left.get(root, "") if name == "-" else name
        target = self._lines.get((root, name))
        if target is None and current and root not in self._strayed:
            # A branch without a name is the one the session began on.
            target = self._lines.pop((root, ""), None)
        if target is None:
            self._strayed.add(root)
            own = [file for file in self.files(folder) if file.head is not file.start and file.changed]
            target = [*line, _Commit(tree=line[-1].tree | {file.path: self.ledger.unknown() for file in own})]
        self._lines[root, name] = target
        for file in self.files(folder):
            self._take(file, target[-1].holds(file), f"git checkout {name}")
        self._left[root], self._branch[root] = current, name

    def merge(self, folder: str, name: str, revision: str) -> None:
        """Bring the commits of a branch of this session into the current one."""
        root = self.root(folder)
        theirs, own = self._of_branch(root, name), self._line(root)
        base = next((each for each in reversed(theirs or []) if each in own), None)
        if not theirs or base is None:
            return
        for file in self.files(folder):
            fork, there = base.holds(file), theirs[-1].holds(file)
            if not same(there, fork) and same(file.head, fork):
                self._take(file, there, f"git merge {name}")
                file.staged = there
        self.commit(folder, revision)

    def _take(self, file: Tracked, version: Version | None, detail: str) -> None:
        clean = same(file.work, file.head) and same(file.staged, file.head)
        file.head = version
        if clean:
            self.ledger.restore(file, version, detail)
            file.staged = version


def _is(revision: str, asked: str) -> bool:
    return bool(asked) and (revision.startswith(asked) or asked.startswith(revision))
