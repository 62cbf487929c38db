"""The files of a session: which version stands in the working tree, what each step did with them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ctxsift.sessions.artifacts.file_states import state_of
from ctxsift.sessions.artifacts.paths import below, matches, parents, shown
from ctxsift.sessions.artifacts.records import Action, FileEntry, FileState, IndexLimits, Touch
from ctxsift.sessions.artifacts.versions import Before, Tracked, Version, same, token_of

_MOST_FOLDERS = 50


@dataclass(slots=True)
class Ledger:
    """The files of a session, kept within `limits`; `step_id` is the step that is read now."""

    limits: IndexLimits
    folder: str = ""
    step_id: int = 0
    files: dict[str, Tracked] = field(default_factory=dict)
    # Paths that were listed; a dictionary keeps their order.
    seen: dict[str, None] = field(default_factory=dict)
    # Folders whose listing was complete: a path in them (or, where it is deep, below them) that was not listed is
    # not there.
    listed: dict[tuple[str, bool], frozenset[str]] = field(default_factory=dict)
    # What git held in a folder before the session changed anything there.
    tracked: dict[str, frozenset[str]] = field(default_factory=dict)
    # Folders that the session made, or made sure of; of them those that were not there before.
    made_folders: set[str] = field(default_factory=set)
    new_folders: set[str] = field(default_factory=set)
    # Folders that were renamed or copied as a whole: where from, by which step. Files of theirs may come up later.
    brought: dict[str, tuple[str, Action, int]] = field(default_factory=dict)
    # What searches for names of files printed, by folder and words.
    searches: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    left_out: int = 0
    # Every folder that some known path lies in: most paths are no folders, and this tells it at once.
    _folders: set[str] = field(default_factory=set)
    _order: int = 0
    _kept_text: int = 0

    # What is known

    def known(self) -> list[str]:
        """Return every path that stands there now as far as the session tells."""
        there = [path for path, file in self.files.items() if file.work is not None and not path.endswith("/")]
        return there + [path for path in self.seen if path not in self.files]

    def children(self, folder: str) -> list[str]:
        """Return every known path below a folder."""
        prefix = folder.rstrip("/")
        if prefix not in (".", "") and prefix not in self._folders:
            return []
        return [path for path in self.known() if below(path, folder)]

    def matching_all(self, glob: str) -> list[str]:
        """Return the files and folders that match a glob."""
        depth = glob.count("/")
        fixed = re.split(r"[*?\[]", glob, maxsplit=1)[0]
        paths = [path for path in self.known() if path.startswith(fixed)]
        if "**" not in glob:
            # A folder matches where the beginning of a path does.
            paths = list(dict.fromkeys("/".join(path.split("/")[: depth + 1]) for path in paths))
        return [path for path in paths if matches(glob, path)]

    def exists(self, path: str) -> bool | None:
        """Return whether a file or folder stands there now; None where the session does not tell."""
        if file := self.files.get(path):
            if file.work is None:
                return False
            if file.before is Before.THERE or file.work is not file.start:
                return True
        if path in self.seen or path in self.made_folders or self.children(path):
            return True
        return False if self._not_listed(path) else None

    def see(self, path: str) -> None:
        """Take down that a path was listed: it is there."""
        if file := self.files.get(path):
            file.was_there()
        elif len(self.seen) < self.limits.known_paths:
            self.seen[path] = None
            self._folders.update(parents(path))

    def missing(self, path: str) -> None:
        """Take down that a path was looked for in vain."""
        if path not in self.files and path not in self.seen:
            self._listing((path, False), frozenset())

    def list_all(self, folder: str, paths: list[str], *, deep: bool = True) -> None:
        """Take down that these are all that stands in a folder, or `deep` below it."""
        self._listing((folder, deep), frozenset(paths))

    def list_tracked(self, folder: str, paths: list[str]) -> None:
        """Take down all that git holds in a folder: what it does not hold is not there, as far as work goes."""
        for path in paths:
            self.see(path)
        self.list_all(folder, paths)
        changed = any(file.changed and below(path, folder) for path, file in self.files.items())
        if not changed and len(self.tracked) < _MOST_FOLDERS:
            self.tracked.setdefault(folder, frozenset(paths))

    def remember_search(self, words: tuple[str, ...], paths: list[str]) -> None:
        """Keep the names that a search printed: the next command may work on them."""
        self.searches[words] = paths
        if len(self.searches) > 50:
            self.searches.pop(next(iter(self.searches)))

    def _listing(self, key: tuple[str, bool], paths: frozenset[str]) -> None:
        self.listed.pop(key, None)
        self.listed[key] = paths
        while len(self.listed) > 400 or sum(map(len, self.listed.values())) > self.limits.known_paths:
            self.listed.pop(next(iter(self.listed)))

    def _not_listed(self, path: str) -> bool:
        if any(below(path, folder) for folder in self.new_folders):
            return True
        for (folder, deep), paths in self.listed.items():
            if path == folder and not paths:
                return True
            if below(path, folder) and path not in paths and (deep or "/" not in shown(path, folder)):
                return True
        return False

    def make_folder(self, path: str, *, new: bool) -> None:
        """Take down a folder that stands there now; what is in a `new` one is new."""
        if len(self.made_folders) < self.limits.files:
            self.made_folders.add(path)
            self.new_folders.update({path} if new else ())

    # What happens

    def read(self, path: str, detail: str = "", *, part: bool = False) -> None:
        """Take down that a file was read, or with `part` looked at in part."""
        file = self._file(path, there=True)
        self._touch(file, Action.INSPECTED if part else Action.READ, detail)

    def write(self, path: str, text: str | None = None, detail: str = "", *, before: Before = Before.UNKNOWN) -> None:
        """Write a whole file; `text` is its new text where the call holds it, `before` what its result says."""
        file = self._file(path)
        if not file.changed:
            file.settle(before)
        self._put(file, self._version(text), Action.WRITTEN, detail)

    def append(self, path: str, text: str | None = None, detail: str = "") -> None:
        """Write to the end of a file, which may be new."""
        file = self._file(path)
        old = file.work.text if file.work else "" if file.before is Before.MISSING else None
        joined = old + text if old is not None and text is not None else None
        self._put(file, self._version(joined), Action.APPENDED, detail)

    def edit(self, path: str, detail: str = "", *, old: str = "", new: str = "", everywhere: bool = False) -> None:
        """Change a part of a file that stands there; `old` and `new` where the call names them."""
        file = self._file(path, there=True)
        work = file.work or file.start
        if old and old == new:
            version = work
        elif old and work.text is not None and old in work.text:
            version = self._version(work.text.replace(old, new, -1 if everywhere else 1))
        elif work.previous and (work.old, work.new) == (new, old):
            version = work.previous
        elif not old + new:
            version = self.unknown()
        else:
            # Edits are kept as they are only while they are short: they may have to be recognised backwards.
            kept = file.depth < 50 and len(old) + len(new) <= 4000
            token = token_of(f"{work.token}\0{old}\0{new}")
            version = Version(token, None, work, old, new) if kept else Version(token)
            file.depth += 1
        self._put(file, version, Action.EDITED, detail)

    def touch(self, path: str) -> None:
        """Create an empty file unless it stands there."""
        if self.exists(path) is False:
            self.write(path, "", "empty", before=Before.MISSING)
        elif self.exists(path) is None:
            self.write(path, None, "touched")

    def mode(self, path: str, detail: str) -> None:
        """Change the mode of a file."""
        file = self._file(path, there=True)
        work = file.work or file.start
        self._put(file, Version(token_of(work.token + detail), work.text), Action.MODE, detail)

    def delete(self, path: str, detail: str = "", *, sure: bool = True) -> None:
        """Remove a file, or a folder with all that is known of it; not `sure`: it may not have been there."""
        path = path.rstrip("/") or path
        inside = self.children(path)
        for folders in (self.made_folders, self.new_folders):
            folders.difference_update([each for each in folders if each == path or below(each, path)])
        self.brought = {each: told for each, told in self.brought.items() if each != path and not below(each, path)}
        if inside and path not in self.files:
            for child in inside:
                self.delete(child, detail)
            return
        there = self.exists(path)
        if there is False and not sure:
            return
        known = there is not None or sure
        file = self._file(path, there=known)
        if not known:
            file.unsure = not file.changed
        self._put(file, None, Action.DELETED, detail)

    def move(self, source: str, target: str) -> None:
        """Rename a file, or a folder with all that is known of it."""
        if source == target:
            return
        inside = self.children(source)
        if source.endswith("/") or (inside and source not in self.files):
            self._bring(source.rstrip("/"), target.rstrip("/"), Action.MOVED_HERE)
        if inside and source not in self.files:
            for child in inside:
                self.move(child, target + child[len(source) :])
            self.new_folders.discard(source)
            self.made_folders.discard(source)
            return
        before_target = self.exists(target)
        origin = self._file(source, there=True)
        file = self._file(target)
        if before_target is None and not file.changed and file.before is Before.UNKNOWN:
            # A target that stands there would be lost; nobody moves a file onto another unless it is known.
            file.settle(Before.MISSING)
        version = origin.work or origin.start
        file.depth = origin.depth
        file.moved_from = origin.moved_from or source
        if file.moved_from == target:
            file.moved_from = ""
        self._put(file, version, Action.MOVED_HERE, f"from {shown(source, self.folder)}")
        self._put(origin, None, Action.MOVED_AWAY, f"to {shown(target, self.folder)}")
        for path in {source, origin.moved_from} - {"", target}:
            if named := self.files.get(path):
                named.moved_to = target
        origin.moved_from = ""
        file.moved_to = ""

    def copy(self, source: str, target: str) -> None:
        """Copy a file, or a folder with all that is known of it."""
        inside = self.children(source)
        if source.endswith("/") or (inside and source not in self.files):
            self._bring(source.rstrip("/"), target.rstrip("/"), Action.COPIED_HERE)
        if inside and source not in self.files:
            for child in inside:
                self.copy(child, target + child[len(source) :])
            return
        self.read(source)
        origin = self.files[source]
        file = self._file(target)
        self._put(file, origin.work or origin.start, Action.COPIED_HERE, f"from {shown(source, self.folder)}")

    def restore(self, file: Tracked, version: Version | None, detail: str) -> None:
        """Put back a version that a repository holds; None: the file goes."""
        if same(file.work, version):
            return
        if version is not None and file.moved_to:
            # Its name is taken back; what it was renamed to is a file of its own.
            file.moved_to = ""
        self._put(file, version, Action.RESTORED if version else Action.DELETED, detail)

    # Bookkeeping

    def _file(self, path: str, *, there: bool = False) -> Tracked:
        """Return a file, which is taken up if it is new; `there`: the step shows that it stood there before."""
        file = self.files.get(path)
        if file is None:
            came = self._brought(path) if there or path in self.seen else None
            file = came or self._new(path)
        if there and any(below(path, folder) and path not in held for folder, held in self.tracked.items()):
            # A branch, a patch or a program has brought it.
            file.came()
        elif there:
            file.was_there()
        return file

    def _new(self, path: str) -> Tracked:
        start = Version(f"start of {path}")
        file = Tracked(path, start, work=start, staged=start, head=start)
        if path in self.seen:
            file.settle(Before.THERE)
        elif self._not_listed(path):
            file.settle(Before.MISSING)
        self.files[path] = file
        self._folders.update(parents(path))
        self._make_room()
        return file

    def _bring(self, source: str, target: str, action: Action) -> None:
        """Take down that a folder was renamed or copied."""
        origin, _, _ = self.brought.get(source, (source, action, 0))
        if action is Action.MOVED_HERE:
            self.brought.pop(source, None)
        if origin != target and len(self.brought) < self.limits.files:
            self.brought[target] = (origin, action, self.step_id)

    def _brought(self, path: str) -> Tracked | None:
        """Return a file that came with its folder; None where no folder that it lies in was renamed or copied."""
        folder = next((each for each in reversed(self.brought) if below(path, each)), None)
        if folder is None:
            return None
        told, now = self.brought.pop(folder), self.step_id
        source, action, self.step_id = told
        self.seen.pop(path, None)
        take = self.move if action is Action.MOVED_HERE else self.copy
        take(source + path[len(folder) :], path)
        self.brought[folder], self.step_id = told, now
        return self.files.get(path)

    def _put(self, file: Tracked, version: Version | None, action: Action, detail: str) -> None:
        self._order += 1
        file.first_change = file.first_change or self._order
        if version is not None:
            file.unsure = False
        file.work = version
        self._touch(file, action, detail)

    def _touch(self, file: Tracked, action: Action, detail: str) -> None:
        line = " ".join(detail[: 4 * self.limits.detail].split())
        if len(line) > self.limits.detail:
            line = line[: self.limits.detail - 1] + "…"
        touch = Touch(self.step_id, action, line)
        if touch in file.touches[-3:]:
            return
        file.touches.append(touch)
        if len(file.touches) > self.limits.touches:
            del file.touches[self.limits.touches // 3]
            file.left_out += 1

    def unknown(self) -> Version:
        """Return a version that is like no other."""
        self._order += 1
        return Version(f"version {self._order}")

    def _version(self, text: str | None) -> Version:
        if text is None:
            return self.unknown()
        if len(text) > self.limits.content or self._kept_text + len(text) > self.limits.contents:
            return Version(token_of(text))
        self._kept_text += len(text)
        return Version(token_of(text), text)

    def _make_room(self) -> None:
        if len(self.files) <= self.limits.files:
            return
        *older, _ = self.files
        path = next((path for path in older if not self.files[path].changed), older[0])
        del self.files[path]
        self.left_out += 1

    def entries(self) -> tuple[FileEntry, ...]:
        """Return the files that were touched: changed ones in the order of their first change, then the others."""
        changed = sorted((file for file in self.files.values() if file.changed), key=lambda file: file.first_change)
        others = [file for file in self.files.values() if not file.changed and file.touches]
        return tuple(self._entry(file) for file in changed + others)

    def _entry(self, file: Tracked) -> FileEntry:
        state = state_of(file, self.files)
        counterpart = {FileState.RENAMED: file.moved_from}.get(state, file.moved_to)
        return FileEntry(
            shown(file.path, self.folder), state, tuple(file.touches), shown(counterpart, self.folder), file.left_out
        )
