"""Questions for all files that were created, modified or deleted: git has the answer, and a context some of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from benchmark.probes.judge import Mention, ProbeUnit, ProbeVerdict
from benchmark.probes.model import FileChange
from benchmark.probes.passages import Passage, read_context
from benchmark.sessions.agreement import by_git
from benchmark.sessions.records import Changes, StepTruth
from benchmark.whole_tokens import has_token

# What a line says of the files that it names. Contexts hold calls and outputs as well as prose.
_CHANGED: Mapping[FileChange, re.Pattern[str]] = {
    FileChange.CREATED: re.compile(
        r"(?i)\b(?:creat\w*|wrote|writ(?:e|es|ing|ten)|write_text|add(?:s|ed|ing)?|new)\b|(?<!>)> ?\S|^A\s"
    ),
    FileChange.MODIFIED: re.compile(
        r"(?i)\b(?:modif\w+|chang\w+|edit\w*|updat\w+|rewr\w+|wrote|writ(?:e|es|ing|ten)|write_text|fix\w*|repair\w*|"
        r"replac\w+|add(?:s|ed|ing)?|sed -i)\b|>> ?\S|\| +\d+ [+-]|^M\s"
    ),
    FileChange.DELETED: re.compile(r"(?i)\b(?:delet\w+|remov\w+|renam\w+|mov(?:e|es|ed|ing)|mv|rm)\b|^[DR]\s"),
}
# ... that nothing but a change of that kind is called.
_CLAIMED: Mapping[FileChange, re.Pattern[str]] = {
    FileChange.CREATED: re.compile(r"(?i)\b(?:created|new files?)\b"),
    FileChange.MODIFIED: re.compile(r"(?i)\b(?:modified|edited|changed)\b"),
    FileChange.DELETED: re.compile(r"(?i)\b(?:deleted|removed)\b"),
}
_UNTOLD = "no line names it with a word for the change"
_MOST_QUOTED = 160
_PATH = re.compile(r"[\w.~@+/-]+")
_LISTED = re.compile(r"\bin (\S+): (\S.*)")


@dataclass(frozen=True, slots=True)
class _Told:
    """What a line says of a file: how it may have been changed, and how it says outright that it was.

    Attributes:
        line: of the passage, from 0.

    """

    path: str
    changed: frozenset[FileChange]
    claimed: frozenset[FileChange]
    line: int
    quoted: str

    def found(self, passage: Passage) -> Mention:
        """Return it as a Mention."""
        return Mention(1.0, passage.place, passage.lines[self.line], self.quoted)


class FileJudge:
    """Tells which files of a project a context says were changed, and how.

    Args:
        truth: what git says after each step.
        folder: of the project, absolute.

    """

    def __init__(self, truth: Sequence[StepTruth], folder: str) -> None:
        self._folder = f"{folder.rstrip('/')}/"
        self._known: dict[str, tuple[_Told, ...]] = {}
        self._truth = {each.step_id: each.since_start for each in truth}
        self._paths = sorted({path for each in truth for path in _paths(each.since_start)})
        self._namesakes = Counter(_name(path) for path in self._paths)

    @property
    def paths(self) -> Sequence[str]:
        """All files that were ever changed."""
        return self._paths

    def gold(self, change: FileChange, step: int, kept: str) -> frozenset[str]:
        """Return the files that were changed so by a step, without those that the kept steps name."""
        return frozenset(by_git(self._truth[step])[change]) - self.named(kept)

    def named(self, text: str) -> frozenset[str]:
        """Return the files that a text names at all."""
        return frozenset(path for path in self._paths if has_token(text, _name(path)))

    def judge(self, unit: ProbeUnit) -> ProbeVerdict:
        """Return what a context has of the files that a probe asks for: those are its statements, in their order."""
        change, leaked, truth = unit.probe.files, self.named(unit.kept), self._truth[unit.step]
        assert change is not None
        gold = frozenset(by_git(truth)[change]) - leaked
        said: dict[str, Mention] = {}
        claimed: dict[str, Mention] = {}
        for passage in read_context(unit.context):
            for told in self._told(passage.text):
                if change in told.changed:
                    said[told.path] = told.found(passage)
                if change in told.claimed:
                    claimed[told.path] = told.found(passage)
        wrong = sorted(claimed.keys() - leaked - gold - _excused(change, truth))
        named = list(enumerate(sorted(gold)))
        return ProbeVerdict(
            {index: said[path] for index, path in named if path in said},
            {index: _UNTOLD for index, path in named if path not in said},
            invented={changed(path, change): claimed[path] for path in wrong},
        )

    def _told(self, passage: str) -> tuple[_Told, ...]:
        """Return what a passage says of each file; it is looked through once, however many contexts have it."""
        if passage not in self._known:
            here = [path for path in self._paths if _name(path) in passage]
            self._known[passage] = tuple(self._read(passage, here)) if here else ()
        return self._known[passage]

    def _read(self, passage: str, paths: Sequence[str]) -> Iterator[_Told]:
        for number, line in enumerate(passage.split("\n")):
            found = frozenset(change for change, words in _CHANGED.items() if words.search(line))
            claimed = frozenset(change for change, words in _CLAIMED.items() if words.search(line))
            if found or claimed:
                whole = _spelt_out(line)
                quoted = line[:_MOST_QUOTED]
                yield from (_Told(path, found, claimed, number, quoted) for path in paths if self._names(whole, path))

    def _names(self, line: str, path: str) -> bool:
        """Return True if a line names a path: whole, or by its end where no other file of the project ends so.

        A copy elsewhere (`/tmp/old/src/a.py`) is another file.
        """
        name = _name(path)
        if name not in line:
            return False
        ends = {path[at:] for at in range(len(path)) if at == 0 or path[at - 1] == "/"}
        if self._namesakes[name] > 1:
            ends = ends - {name} | {path}
        found = (each.removeprefix(self._folder).removeprefix("./").rstrip(".") for each in _PATH.findall(line))
        return any(each in ends for each in found)


def changed(path: str, change: FileChange) -> str:
    """Return what became of a file, as a statement."""
    return f"{path} was {change}"


def _spelt_out(line: str) -> str:
    """Return a line in which files that are listed with their folder (`in src: a.py, b.py`) have their whole paths."""
    listed = _LISTED.search(line)
    if not listed:
        return line
    paths = (f"{listed[1].rstrip('/')}/{name.strip()}" for name in listed[2].rstrip(".").split(","))
    return line[: listed.start()] + ", ".join(paths)


def _excused(change: FileChange, truth: Changes) -> Set[str]:
    """Return files of which one may say so as well: what was created was edited afterwards, as often as not."""
    return by_git(truth)[FileChange.CREATED] if change is FileChange.MODIFIED else frozenset()


def _paths(changes: Changes) -> Set[str]:
    return set().union(*by_git(changes).values())


def _name(path: str) -> str:
    return path.rpartition("/")[2]
