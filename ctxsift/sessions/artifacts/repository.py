"""What git holds of the session's files: index, commits, stashes and branches, as far as the session made them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.paths import below
from ctxsift.sessions.artifacts.versions import Before, Tracked, Version, same

_MOST_KEPT = 200
_MOST_BRANCHES = 50

Heads = dict[str, "Version | None"]


@dataclass(slots=True)
class _Change:
    """A commit: what it turned into what."""

    files: dict[str, tuple[Version | None, Version | None]]
    revision: str = ""


@dataclass(slots=True)
class Repository:
    """Every repository that the session works in; a folder belongs to the innermost root that is known."""

    ledger: Ledger
    roots: set[str] = field(default_factory=set)
    # The commits of each branch, in the order in which `HEAD~1` goes back.
    _lines: dict[tuple[str, str], list[_Change]] = field(default_factory=dict)
    _stashes: list[tuple[str, dict[str, tuple[Version | None, Version | None]]]] = field(default_factory=list)
    _branch: dict[str, str] = field(default_factory=dict)
    _left: dict[str, str] = field(default_factory=dict)
    _heads: dict[tuple[str, str], Heads] = field(default_factory=dict)
    _forks: dict[tuple[str, str], Heads] = field(default_factory=dict)

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
        changed = {
            file.path: (file.head, file.staged) for file in self.files(folder) if not same(file.head, file.staged)
        }
        for file in self.files(folder):
            file.head = file.staged
        line = self._line(self.root(folder))
        if amend and line:
            last = line.pop()
            for path, (before, after) in last.files.items():
                changed[path] = (before, changed[path][1] if path in changed else after)
            self._made(self.root(folder), changed, revision)
        elif not amend:
            self._made(self.root(folder), changed, revision)

    def _line(self, root: str) -> list[_Change]:
        return self._lines.setdefault((root, self._branch.get(root, "")), [])

    def _made(self, root: str, files: dict[str, tuple[Version | None, Version | None]], revision: str) -> None:
        line = self._line(root)
        line.append(_Change(files, revision))
        del line[:-_MOST_KEPT]

    def unstage(self, folder: str, paths: list[str] | None) -> None:
        """Put back in the index what the last commit holds."""
        for file in self.files(folder, paths):
            file.staged = file.head

    def restore(self, folder: str, paths: list[str], *, head: bool, told: int | None, detail: str) -> None:
        """Put back what the index holds, or with `head` the last commit; `told` is the number that git printed."""
        files = [file for file in self.files(folder, paths) if file.changed]
        dirty = [file for file in files if not same(file.work, file.head if head else file.staged)]
        sure = sum(file.tracked() for file in dirty)
        for file in dirty:
            if file.path in paths:
                # Git refuses a path that it does not hold.
                file.settle(Before.THERE)
            elif told is not None and not file.tracked():
                unsure = len(dirty) - sure
                file.settle(Before.MISSING if told <= sure else Before.THERE if told == sure + unsure else file.before)
        files = [file for file in files if file.tracked()]
        for file in files:
            version = file.head if head else file.staged
            if version is not None:
                self.ledger.restore(file, version, detail)
            if head:
                file.staged = file.head

    def reset(self, folder: str, back: int | str, *, keep: str) -> None:
        """Go back some commits, or to a revision; `keep` is soft, mixed or hard."""
        undone: list[_Change] = []
        own = self._line(self.root(folder))
        if isinstance(back, int):
            undone = own[len(own) - back :] if 0 < back <= len(own) else []
        else:
            at = [number for number, change in enumerate(own) if _is(change.revision, back)]
            undone = own[at[-1] + 1 :] if at else []
        for change in reversed(undone):
            own.remove(change)
            for path, (before, _) in change.files.items():
                if file := self.ledger.files.get(path):
                    file.head = before
        for file in self.files(folder):
            tracked = file.tracked() or any(file.path in change.files for change in undone)
            if keep != "soft":
                file.staged = file.head
            if keep == "hard" and tracked and file.changed:
                self.ledger.restore(file, file.head, "git reset --hard")

    def revert(self, folder: str, revision: str, made: str) -> bool:
        """Undo one commit by another; return False if the session does not know what it holds."""
        root = self.root(folder)
        match = re.fullmatch(r"(?:HEAD|@)(?:~(\d*)|(\^*))", revision)
        if match:
            back = len(match[2]) if match[1] is None else int(match[1] or 1)
            own = self._line(root)
            wanted = own[len(own) - 1 - back : len(own) - back] if back < len(own) else []
        else:
            lines = [line for (of, _), line in self._lines.items() if of == root]
            wanted = [each for line in lines for each in line if _is(each.revision, revision)]
        for change in wanted[-1:]:
            for path, (before, after) in change.files.items():
                file = self.ledger.files.get(path)
                if file and same(file.head, after):
                    self.ledger.restore(file, before, f"git revert {revision}")
                    file.staged = before
        self.commit(folder, made)
        return bool(wanted)

    # Stashes and branches

    def stash(self, folder: str, *, untracked: bool, told: bool, paths: list[str] | None = None) -> None:
        """Put changes aside; `told`: git said that it did, so that there is a stash whatever it holds."""
        kept: dict[str, tuple[Version | None, Version | None]] = {}
        for file in self.files(folder, paths):
            tracked = file.tracked()
            dirty = not same(file.work, file.head) or not same(file.staged, file.head)
            if dirty and (tracked or untracked) and file.changed:
                kept[file.path] = (file.work, file.staged)
                self.ledger.restore(file, file.head, "git stash")
                file.staged = file.head
        if kept or told:
            self._stashes.append((self.root(folder), kept))
        del self._stashes[:-_MOST_KEPT]

    def unstash(self, folder: str, number: int, *, restore: bool, drop: bool) -> None:
        """Bring back what was put aside, the last one being number 0; `drop` it, or both."""
        root = self.root(folder)
        own = [stash for stash in self._stashes if stash[0] == root]
        if number >= len(own):
            return
        chosen = own[-1 - number]
        if restore:
            for path, (work, staged) in chosen[1].items():
                if file := self.ledger.files.get(path):
                    self.ledger.restore(file, work, "git stash pop")
                    file.staged = staged if file.head is None else file.head
        if drop:
            self._stashes.remove(chosen)

    def branch(self, folder: str, name: str, *, switch: bool) -> None:
        """Make a branch at the last commit."""
        root = self.root(folder)
        heads = {file.path: file.head for file in self.files(folder)}
        self._forks[root, name] = heads
        if len(self._forks) > _MOST_BRANCHES:
            oldest = next(iter(self._forks))
            del self._forks[oldest]
            self._heads.pop(oldest, None)
            self._lines.pop(oldest, None)
        self._heads[root, name] = dict(heads)
        if switch:
            self._heads[root, self._branch.get(root, "")] = dict(heads)
            self._left[root] = self._branch.get(root, "")
            self._lines[root, name] = list(self._line(root))
            self._branch[root] = name

    def name_branch(self, folder: str, name: str) -> None:
        """Learn the name of the branch that the session is on."""
        root = self.root(folder)
        if root not in self._branch:
            self._branch[root] = name
            if (root, "") in self._heads:
                self._heads[root, name] = self._heads.pop((root, ""))
            self._lines[root, name] = self._lines.pop((root, ""), [])

    def switch(self, folder: str, name: str) -> None:
        """Go to a branch; what one holds that the session has not been on is not known."""
        root = self.root(folder)
        current = self._branch.get(root, "")
        name = self._left.get(root, "") if name == "-" else name
        self._heads[root, current] = {file.path: file.head for file in self.files(folder)}
        if (root, name) not in self._heads and current and (root, "") in self._heads:
            # The one branch without a name is the one the session began on.
            self._heads[root, name] = self._heads.pop((root, ""))
            self._lines[root, name] = self._lines.pop((root, ""), [])
        if target := self._heads.get((root, name)):
            for file in self.files(folder):
                self._take(file, target.get(file.path, self._start(file)), f"git checkout {name}")
        self._left[root], self._branch[root] = current, name

    def merge(self, folder: str, name: str, revision: str) -> None:
        """Bring the commits of a branch of this session into the current one."""
        root = self.root(folder)
        theirs = self._heads.get((root, name))
        if theirs is None:
            return
        fork = self._forks.get((root, name), {})
        changed: dict[str, tuple[Version | None, Version | None]] = {}
        for file in self.files(folder):
            base = fork.get(file.path, self._start(file))
            there = theirs.get(file.path, base)
            if not same(there, base) and same(file.head, base):
                changed[file.path] = (file.head, there)
                self._take(file, there, f"git merge {name}")
        self._made(root, changed, revision)

    def _take(self, file: Tracked, version: Version | None, detail: str) -> None:
        clean = same(file.work, file.head) and same(file.staged, file.head)
        file.head = version
        if clean:
            self.ledger.restore(file, version, detail)
            file.staged = version

    @staticmethod
    def _start(file: Tracked) -> Version | None:
        return None if file.before is Before.MISSING else file.start


def _is(revision: str, asked: str) -> bool:
    return bool(revision) and bool(asked) and (revision.startswith(asked) or asked.startswith(revision))
