"""Which part of a command line failed, told by its exit code, its output and which programs are silent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto

from ctxsift.sessions.artifacts.shell import Node, Pipeline, Simple
from ctxsift.sessions.artifacts.shell_programs import program
from ctxsift.sessions.artifacts.shell_words import plain_text

# Stands for what only the shell knew; a word with it names no path.
UNKNOWN = "\0"
_MOST_LINES, _MOST_WORDS = 20_000, 500
_LONGEST_LINE, _MOST_COMPLAINTS = 500, 1000
_COMPLAINT = re.compile(
    r"(?:[\w./-]*sh(?:\[\d+\])?: (?:line \d+: )?)?(?:\d+: )?([\w.+-]+)(?::\d+)?:"
    r" (?!Nothing to be done|'.+' is up to date)(.+)"
)
# Of git, those that say so when they fail.
_OUTSPOKEN_GIT = frozenset(
    {"add", "rm", "mv", "checkout", "switch", "restore", "stash", "tag", "branch", "push", "pull", "fetch", "status"}
)
_GIT_REFUSES = re.compile(r"^(?:fatal|error): |^CONFLICT ", re.MULTILINE)
_NO_COMMIT = re.compile(r"nothing (?:added )?to commit|no changes added to commit|\bhook\b")
# An output that says so is not whole.
LEFT_OUT = re.compile(
    r"truncated|left out|omitted|\[\d+ more|more (?:lines|results|matches)|results? limit", re.IGNORECASE
)
# What git prints of a commit: branch, revision, subject.
MADE = re.compile(r"^\[(\S+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$", re.MULTILINE)


class CommandStatus(Enum):
    """How one command ended, as far as it shows."""

    PASSED = auto()
    FAILED = auto()
    NOT_SHOWN = auto()


@dataclass(slots=True)
class CommandOutput:
    """What a command line printed, and what programs said in it about themselves."""

    output: str
    _complaints: dict[str, str] | None = field(default=None)

    def status(
        self, pipeline: Pipeline, code: int | None, *, any_or: bool, all_or: bool, stops: bool, alone: bool
    ) -> tuple[CommandStatus, int | None]:
        """Return how a part of a chain ended, and its exit code where the chain's is its own.

        Args:
            pipeline: the part.
            code: of the chain.
            any_or: an operator behind it is `||`.
            all_or: no operator behind it is another.
            stops: it is the part that failed.
            alone: the chain has no other.

        """
        complained = self._complained(pipeline)
        if any_or:
            if code and all_or:
                return CommandStatus.FAILED, None
            plain = CommandStatus.PASSED if self._outspoken(pipeline) else CommandStatus.NOT_SHOWN
            return (CommandStatus.FAILED if complained else plain), None
        if code == 0:
            return CommandStatus.PASSED, 0
        if code is None:
            plain = CommandStatus.PASSED if self._outspoken(pipeline) and not alone else CommandStatus.NOT_SHOWN
            return (CommandStatus.FAILED if complained else plain), None
        if stops:
            return CommandStatus.FAILED, code
        return CommandStatus.PASSED, 0

    def stop(self, parts: tuple[tuple[str, Pipeline], ...]) -> int:
        """Return which part of a failed chain failed: one that complained, else one that may fail in silence."""
        for number, (_, pipeline) in enumerate(parts):
            if self._complained(pipeline):
                return number
        silent = [
            number
            for number, (_, pipeline) in enumerate(parts)
            if not self._outspoken(pipeline) and not self._git_went_well(plain_words(pipeline.parts[-1]))
        ]
        started = [number for number in silent if self._started(parts[number][1])]
        return started[-1] if started else silent[0] if silent else len(parts) - 1

    def _started(self, pipeline: Pipeline) -> bool:
        """Return True if the output shows that a command began: its program's banner."""
        words = plain_words(pipeline.parts[0])
        if words[:2] == ("git", "commit"):
            return bool(_NO_COMMIT.search(self.output))
        if len(words) > 1 and words[0] in ("npm", "pnpm", "yarn", "bun"):
            script = re.escape(words[2] if words[1] == "run" and len(words) > 2 else words[1])
            return bool(re.search(rf"^> \S+ {script}$", self.output, re.MULTILINE))
        return "pytest" in words and "test session starts" in self.output

    def _git_went_well(self, words: tuple[str, ...]) -> bool:
        """Return True if the output shows that a git command did what it was asked: git complains or says so."""
        if len(words) < 2 or words[0] != "git":
            return False
        if words[1] == "commit":
            return bool(MADE.search(self.output))
        return words[1] in _OUTSPOKEN_GIT and not _GIT_REFUSES.search(self.output)

    def _outspoken(self, pipeline: Pipeline) -> bool:
        return program((plain_words(pipeline.parts[-1]) or ("",))[0]).says and not pipeline.negated

    def _complained(self, pipeline: Pipeline) -> bool:
        words = plain_words(pipeline.parts[-1])
        return bool(words) and any(self.complains(words[0], word) for word in words[1:] if len(word) > 1)

    def complaints(self) -> dict[str, str]:
        """Return by program the lines of the output in which it says by its name what went wrong."""
        if self._complaints is None:
            told: dict[str, list[str]] = {}
            for line in self.output.split("\n")[:_MOST_LINES]:
                if len(line) < _LONGEST_LINE and (match := _COMPLAINT.fullmatch(line)):
                    told.setdefault(match[1], []).append(match[2])
            self._complaints = {program: "\n".join(lines[:_MOST_COMPLAINTS]) for program, lines in told.items()}
        return self._complaints

    def complains(self, name: str, about: str) -> bool:
        """Return True if a program says that something went wrong with a word it was given."""
        return about in self.complaints().get(name, "")


def plain_words(node: Node) -> tuple[str, ...]:
    """Return the words of a simple command as they are written; UNKNOWN for those that the shell expands."""
    if not isinstance(node, Simple):
        return ()
    return tuple(plain_text(word) or UNKNOWN for word in node.words[:_MOST_WORDS])
