"""One call of a shell tool: the files it touched, the checks it ran, the commits it made, whether it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ctxsift.sessions.artifacts.checks import bare
from ctxsift.sessions.artifacts.command_log import CommandLog, benign, check_of, hook_checks, outcome
from ctxsift.sessions.artifacts.git_state import Repository
from ctxsift.sessions.artifacts.git_words import run_git
from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.outcomes import CallEnd, Ending, body, clean, key_line
from ctxsift.sessions.artifacts.paths import resolve, shown
from ctxsift.sessions.artifacts.records import CheckKind, CheckState
from ctxsift.sessions.artifacts.shell_commands import handler
from ctxsift.sessions.artifacts.shell_programs import program
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import CommandOutput, CommandStatus
from ctxsift.sessions.artifacts.verdicts import verdict
from ctxsift.sessions.artifacts.versions import Before

_MOST_OUTPUT = 1_000_000
_OPEN_FILE = re.compile(r"^\[File: (.+?) \(\d+ lines total\)\]", re.MULTILINE)
_NOT_APPLIED = re.compile(
    r"have NOT been applied|edit(?:s|ing)? (?:was|were|has|have) not (?:been )?applied|introduced new syntax error"
    r"|^Usage: |^Error\b|No file open|No replacement was performed|already exists",
    re.MULTILINE | re.IGNORECASE,
)
_WINDOW = re.compile(r"\s*(open|create|edit|insert|append|goto|scroll_up|scroll_down|search_file)\b(.*)", re.DOTALL)
_CRASH = re.compile(r"^Traceback \(most recent call last\)|^\w*Error: .*\n\s+at |^Segmentation fault", re.MULTILINE)
_NO_COMMAND = re.compile(r"\bcommand not found\b|: not found$|is not recognized as", re.MULTILINE)


@dataclass(slots=True)
class ShellCalls:
    """Reads the calls of shell tools, one after the other."""

    ledger: Ledger
    repository: Repository
    log: CommandLog
    _checks: list[tuple[Invocation, str, str, CheckKind]] = field(default_factory=list)
    _failed: list[tuple[str, str]] = field(default_factory=list)
    _crashed: bool = False
    _said: list[str] = field(default_factory=list)
    _mixed: bool = False

    def read(self, command: str, text: str, ended: CallEnd, folder: str) -> str:
        """Take down one command line with its output; return the folder that it ended in."""
        ending, code = ended.ending, ended.code
        output = clean(body(text)[:_MOST_OUTPUT])
        if (match := _WINDOW.match(command)) and self._window(match[1], match[2], output, folder):
            return folder
        self._checks, self._failed, self._said = [], [], []
        self._crashed = self._mixed = False
        run = ShellRun(self.ledger, self.repository, self._handle, folder, CommandOutput(output), command)
        run.walk(command, code if ending is Ending.RUN else None)
        failed = self._judge_checks(run, command, aborted=ending is Ending.ABORTED)
        if ending is Ending.RUN:
            self._judge(run, command, ended, failed)
        return run.folder

    def later(self, text: str, code: int | None) -> None:
        """Take down what the last command line printed after its call, where its only check had not ended."""
        if len(self._checks) != 1:
            return
        invocation, folder, command, kind = self._checks[0]
        output = clean(body(text)[:_MOST_OUTPUT])
        state, line = verdict(output, kind, invocation.after, mixed=self._mixed)
        if state is CheckState.NOT_SHOWN and code is not None and not invocation.after and not self._mixed:
            state, line = (CheckState.FAILED, key_line(output)) if code else (CheckState.PASSED, "")
        if self.log.settle(self._folder(folder), command, state, line) and state is CheckState.FAILED:
            self.log.fail(command, line, code or None, (command,))

    def _handle(self, run: ShellRun, invocation: Invocation) -> None:
        if check := check_of(invocation):
            self._checks.append((invocation, run.folder, *check))
        elif invocation.name in ("echo", "printf"):
            self._said.append(" ".join(invocation.words[1:]).strip())
        elif not invocation.before and invocation.shows and not program(invocation.name).quiet:
            self._mixed = True
        if "--dry-run" in invocation.words:
            return
        if invocation.name == "git":
            made, within = run_git(run, invocation), "git commit"
            for revision, branch, subject in made:
                self.log.commit(subject, revision, branch)
                within = f"git commit {revision}".strip()
            if "commit" in invocation.words[1:4]:
                for command, kind, state in hook_checks(run.output, made=bool(made)):
                    self._check(self._folder(run.folder), command, kind, state, key_line(run.output), within)
        elif take_down := handler(invocation.name):
            take_down(run, invocation)
        elif not check and (inner := tuple(bare(list(invocation.words))))[1:] != invocation.words[1:]:
            # What only runs another command: `sudo rm`, `uv run python`.
            self._handle(run, replace(invocation, words=inner))
        if invocation.status is CommandStatus.NOT_SHOWN and invocation.name.startswith(("python", "node")):
            self._crashed |= bool(_CRASH.search(run.output))

    def _folder(self, folder: str) -> str:
        return shown(folder, self.ledger.folder) if folder != self.ledger.folder else "."

    def _judge_checks(self, run: ShellRun, command_line: str, *, aborted: bool) -> bool:
        """Take down the checks of a command line; return True if one failed although the exit code hides it."""
        hidden = False
        for invocation, folder, command, kind in self._checks:
            # `npm test && echo OK` says OK of the test; behind a pipe or `;` it says so in any case.
            unasked = bool(invocation.after) or "&&" not in command_line
            said = frozenset(self._said if unasked else ())
            state, line = outcome(run, invocation, kind, said, alone=len(self._checks) == 1, mixed=self._mixed)
            if aborted and state in (CheckState.NOT_SHOWN, CheckState.PASSED):
                state, line = CheckState.ABORTED, ""
            hidden |= state is CheckState.FAILED
            self._check(self._folder(folder), command, kind, state, line)
        return hidden

    def _check(
        self, folder: str, command: str, kind: CheckKind, state: CheckState, line: str, within: str = ""
    ) -> None:
        if state is CheckState.FAILED:
            self._failed.append((command, line))
        else:
            line = ""
        self.log.check(folder, command, kind, state, line, within)

    def _judge(self, run: ShellRun, command: str, ended: CallEnd, check_failed: bool) -> None:
        if code := ended.code:
            failed = not benign(run, code)
        else:
            told = code is None and (run.failing or _NO_COMMAND.search(run.output[-2000:])) and not benign(run, 1)
            failed = self._crashed or bool(told)
        if failed or (check_failed and not code):
            line = key_line(run.output)
            # Where one line tells why both failed, or nothing else failed, it is the check's failure.
            checks = (check for check, why in self._failed if why == line or not failed)
            # Who says only that it failed says no exit code.
            self.log.fail(command, line, (ended.is_stated and code) or None, checks)

    # The windowed editor of SWE-agent: commands of its shell that work on an open file

    def _window(self, name: str, rest: str, output: str, folder: str) -> bool:
        """Take down a command on the open file, which only the output names; return False if it is none."""
        shown_file = _OPEN_FILE.search(output)
        refused = _NOT_APPLIED.search(output) if name in ("edit", "insert", "create", "append") else None
        if not shown_file and not refused:
            return False
        given = rest.strip().split("\n")[0].strip().strip("'\"")
        path = resolve(shown_file[1], folder) if shown_file else resolve(given, folder) if name == "create" else ""
        if refused:
            complaint = output[output.rfind("\n", 0, refused.start()) + 1 :].partition("\n")[0]
            self.log.fail(f"{name} {shown(path, self.ledger.folder) or given}", complaint)
            if path and name == "create":
                self.ledger.read(path, "open")
            return True
        lines = rest.strip("\n").split("\n")
        first = next((line.strip() for line in lines[1:] if line.strip() not in ("", "end_of_edit")), "")
        if name == "create":
            self.ledger.write(path, None, "new file", before=Before.MISSING)
        elif name in ("edit", "insert", "append"):
            self.ledger.edit(path, f"{name} {lines[0].strip()[:60]} {first}".rstrip())
        elif name == "search_file":
            self.ledger.read(path, f"search {given}", part=True)
        else:
            self.ledger.read(path, f"{name} {given}".strip())
        return True
