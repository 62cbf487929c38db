"""Commands that failed, checks with their runs, commits: what a session's command lines came to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ctxsift.sessions.artifacts.checks import bare, kind_of
from ctxsift.sessions.artifacts.outcomes import key_line
from ctxsift.sessions.artifacts.records import (
    Check,
    CheckKind,
    CheckRun,
    CheckState,
    Commit,
    FailedCommand,
    IndexLimits,
)
from ctxsift.sessions.artifacts.shell_programs import program
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandStatus
from ctxsift.sessions.artifacts.verdicts import fails, nothing_ran, verdict

_STOPPED_CODES = frozenset({124, 130, 137, 143})
_BANNER = re.compile(r"^> \S+@\S+ (\S+)$", re.MULTILINE)

_HOOK = re.compile(r"^(\S.{0,75}?)\.{3,}(?:\(.*\))?(Passed|Failed)$", re.MULTILINE)


@dataclass(slots=True)
class _Runs:
    command: str
    kind: CheckKind
    runs: list[CheckRun] = field(default_factory=list)
    left_out: int = 0


@dataclass(slots=True)
class CommandLog:
    """What the command lines of a session came to, within limits."""

    limits: IndexLimits
    step_id: int = 0
    failed: list[FailedCommand] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    _checks: dict[tuple[str, str], _Runs] = field(default_factory=dict)

    def checks(self) -> tuple[Check, ...]:
        """Return the checks, the one that ran last at the end."""
        return tuple(
            Check(runs.command, runs.kind, folder, tuple(runs.runs), runs.left_out)
            for (folder, _), runs in self._checks.items()
        )

    def fail(self, command: str, line: str, code: int | None = None, checks: Iterable[str] = ()) -> None:
        """Take down a command that failed, with the checks that it failed by; a call is taken down once."""
        own = tuple(dict.fromkeys(known_as(self.short(check)) for check in checks))
        entry = FailedCommand(self.step_id, self.short(command), self.short(line), code, own)
        if entry in self.failed[-5:]:
            return
        self.failed.append(entry)
        self._keep(self.failed, self.limits.failed, "failed commands")

    def commit(self, subject: str, revision: str, branch: str) -> None:
        """Take down a commit."""
        self.commits.append(Commit(self.step_id, self.short(subject), revision, branch))
        self._keep(self.commits, self.limits.commits, "commits")

    def check(
        self, folder: str, command: str, kind: CheckKind, state: CheckState, line: str = "", within: str = ""
    ) -> None:
        """Take down a run of a check, which is shown as it ran last."""
        command = self.short(command)
        key = (folder, known_as(command))
        runs = self._checks.pop(key, _Runs(command, kind))
        runs.command = command
        self._checks[key] = runs
        runs.runs.append(CheckRun(self.step_id, state, self.short(line), within))
        if len(runs.runs) > self.limits.runs:
            del runs.runs[self.limits.runs // 3]
            runs.left_out += 1
        if len(self._checks) > self.limits.checks:
            self._checks.pop(next(iter(self._checks)))
            self.left_out["checks"] = self.left_out.get("checks", 0) + 1

    def settle(self, folder: str, command: str, state: CheckState, line: str) -> bool:
        """Take down how a check ended that had not ended yet; return False where it had, or has not now, either."""
        runs = self._checks.get((folder, known_as(self.short(command))))
        if runs is None or state is CheckState.NOT_SHOWN or runs.runs[-1].state is not CheckState.NOT_SHOWN:
            return False
        runs.runs[-1] = CheckRun(self.step_id, state, self.short(line), runs.runs[-1].within)
        return True

    def short(self, text: str) -> str:
        """Return text as one line of the length that is kept."""
        line = " ".join(text[: 4 * self.limits.detail].split())
        return line if len(line) <= self.limits.detail else line[: self.limits.detail - 1] + "…"

    def _keep(self, entries: list[FailedCommand] | list[Commit], most: int, kind: str) -> None:
        if len(entries) > most:
            del entries[0]
            self.left_out[kind] = self.left_out.get(kind, 0) + 1


def benign(run: ShellRun, code: int) -> bool:
    """Return True if an exit code is an answer and no failure: grep that found nothing, diff that found something."""
    words = run.failing or ("",)
    asking = program(words[0]).answers or words[:2] in (("git", "diff"), ("git", "grep"))
    return code == 1 and asking and words[0] not in run.printed.complaints()


def known_as(command: str) -> str:
    """Return what tells a check from others: its command without what only runs it (`time make check`)."""
    words = command.split()
    return " ".join(words[len(words) - len(bare(words)) :])


def check_of(invocation: Invocation) -> tuple[str, CheckKind] | None:
    """Return the command of a check and its kind; None where a command is no check."""
    words = [word for word in invocation.words if UNKNOWN not in word]
    kind = kind_of(bare(words))
    return (" ".join(words), kind) if kind else None


def outcome(
    run: ShellRun, invocation: Invocation, kind: CheckKind, said: frozenset[str], *, alone: bool, mixed: bool
) -> tuple[CheckState, str]:
    """Return how a check ended and why.

    Args:
        run: the command line.
        invocation: the check in it.
        kind: what kind of check it is.
        said: lines that the command line itself printed; they tell nothing of the check.
        alone: no other check printed the rest of the output.
        mixed: other commands may have printed parts of it.

    """
    output = "\n".join(line for line in run.output.split("\n") if line.strip() not in said) if said else run.output
    if invocation.status is CommandStatus.PASSED:
        idle = alone and kind is CheckKind.TEST and nothing_ran(output)
        return (CheckState.NOT_SHOWN if idle else CheckState.PASSED), ""
    if invocation.code in _STOPPED_CODES:
        return CheckState.ABORTED, ""
    if invocation.status is CommandStatus.FAILED:
        return CheckState.FAILED, key_line(run.output)
    return verdict(output, kind, invocation.after, mixed=mixed) if alone else (CheckState.NOT_SHOWN, "")


def hook_checks(output: str, *, made: bool) -> list[tuple[str, CheckKind, CheckState]]:
    """Return the checks that hooks ran inside a commit: scripts of package.json, hooks of pre-commit.

    `made`: the commit was made, so that nothing in them failed.
    """
    found: list[tuple[str, CheckKind, CheckState]] = []
    # npm prints the script of the root first; what follows are those of its workspaces.
    scripts = _BANNER.findall(output)[:1]
    for script in scripts:
        if kind := kind_of(["npm", "run", script]):
            state = CheckState.PASSED if made else CheckState.FAILED if fails(output, kind) else CheckState.NOT_SHOWN
            found.append((f"npm run {script}", kind, state))
    for name, told in _HOOK.findall(output):
        kind = kind_of(name.split()[:1]) or CheckKind.LINT
        state = CheckState.PASSED if told == "Passed" else CheckState.FAILED
        found.append((f"pre-commit: {name.strip()}", kind, state))
    return found
