"""`python -m tools.record`: record the work on a project, step by step; finish and replay it."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmark.cli.command import EXIT_FAILED, EXIT_OK, BenchmarkParser, run_command
from benchmark.sessions.loader import open_recorded
from ctxsift.errors import InputError
from ctxsift.terminal import show, tell
from tools.convert_session.forms import FORMS
from tools.record.comparing import compared
from tools.record.finishing import finish
from tools.record.journal import Taken
from tools.record.recording import Recording, open_recording, start_recording
from tools.record.redacting import changed_call
from tools.record.replaying import Replay, replay

_EXAMPLES = """\
examples:
  export RECORDING=/tmp/shop-recording
  python -m tools.record start projects/shop
  echo 'The total is wrong for empty carts. Never touch the public API.' | python -m tools.record user
  python -m tools.record run --reason 'See what fails' -- 'python3 -m unittest'
  python -m tools.record read --reason 'Where the total is computed' src/cart.py --lines 1-80
  python -m tools.record edit --reason 'An empty cart costs nothing' src/cart.py --old 'return None' --new 'return 0'
  python -m tools.record edit --reason 'The same in the test' tests/test_cart.py <<'EOF'
  <<<<<<< OLD
      self.assertIsNone(total([]))
  =======
      self.assertEqual(total([]), 0)
  >>>>>>> NEW
  EOF
  python -m tools.record write --reason 'What was changed' CHANGES.md < changes.md
  echo 'Empty carts now cost 0.' | python -m tools.record say
  python -m tools.record finish sessions/shop --split dev --licence MIT
  python -m tools.record replay sessions/shop
  python -m tools.record compare sessions/* --as claude-code --as codex

Each call of run, read, write, edit, say and user is one step. The shell keeps its folder from step to step; what a
command leaves in the background ends with it. Paths are as in the sandbox: absolute, or from the folder of the shell.

exit codes: 0 the step was recorded, however its command ended; 1 a replay differs; 2 nothing was recorded: bad usage or
input
"""
_LINES = re.compile(r"([1-9]\d{0,8})-([1-9]\d{0,8})")
_EDIT = re.compile(r"<<<<<<< OLD\n(.*?)=======\n(.*?)>>>>>>> NEW\n?", re.DOTALL)
_MARK = re.compile(r"^(?:<<<<<<< OLD|=======|>>>>>>> NEW)$", re.MULTILINE)
_MARKS = 3


def build_parser() -> BenchmarkParser:
    """Return the parser of this command."""
    parser = BenchmarkParser(
        prog="python -m tools.record",
        description="Record the work on a project, step by step, as a session that can be replayed.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def added(name: str, handler: Any, summary: str, *, steps: bool = False) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=summary, description=summary)
        sub.set_defaults(handler=handler)
        if name not in ("replay", "compare"):
            given = os.environ.get("RECORDING")
            sub.add_argument(
                *("--out", "-o"),
                type=Path,
                default=Path(given) if given else None,
                metavar="FOLDER",
                help="folder of the recording; default: the environment variable RECORDING",
            )
        if steps:
            sub.add_argument("--reason", "-r", required=True, metavar="WHY", help="message of the agent for this call")
        return sub

    start = _add_start(added)
    replaying = added("replay", _replay, "repeat a finished session and compare the files")
    replaying.add_argument("session", type=Path, metavar="FOLDER", help="folder that `finish` wrote")
    comparing = added("compare", _compare, "compare the artifact index of finished sessions with git")
    comparing.add_argument("sessions", nargs="+", type=Path, metavar="FOLDER", help="folders that `finish` wrote")
    comparing.add_argument(
        "--as",
        dest="forms",
        action="append",
        choices=tuple(FORMS),
        default=[],
        help="also convert the sessions to this format, and compare what is read back",
    )
    for each in (start, replaying):
        each.add_argument(
            "--tool",
            action="append",
            default=[],
            metavar="FOLDER[:NAME]",
            help="show a folder of this machine as ~/NAME",
        )
    _add_steps(added)
    ending = added("finish", _finish, "write the session, the states of its files and its provenance")
    ending.add_argument("target", type=Path, metavar="FOLDER", help="folder to write the session to")
    ending.add_argument("--split", choices=("dev", "test"), required=True, help="test: never used for tuning")
    ending.add_argument("--licence", required=True, metavar="SPDX", help="licence of project and session, e.g. MIT")
    ending.add_argument(
        "--varies",
        action="append",
        default=[],
        metavar="PATTERN",
        help="files that contain times, so that replays may differ",
    )
    return parser


def _add_start(added: Callable[..., argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Return the parser of the subcommand that begins a recording."""
    start = added("start", _start, "start a recording with a copy of a project")
    start.add_argument(
        "project",
        type=Path,
        metavar="PROJECT_DIR",
        help="folder of the project, without installed packages or build outputs",
    )
    start.add_argument(
        "--name", metavar="NAME", help="name of the folder in the sandbox; default: the name of PROJECT_DIR"
    )
    start.add_argument(
        "--path",
        action="append",
        default=[],
        metavar="FOLDER",
        help="folder below the home to put first in PATH, e.g. .cargo/bin",
    )
    start.add_argument(
        "--env", action="append", default=[], metavar="NAME=VALUE", help="environment variable for commands"
    )
    return start


def _add_steps(added: Callable[..., argparse.ArgumentParser]) -> None:
    """Add what is a step of the session, or looks at them."""
    run = added("run", _run, "run a command with bash", steps=True)
    run.add_argument("--timeout", type=float, metavar="S", help="time limit in seconds; default: 120")
    run.add_argument("line", metavar="COMMAND", help="command line for bash -c, as one argument")
    for name, handler, summary in (
        ("read", _read, "show a file with line numbers"),
        ("write", _write, "write a whole file; reads its content from stdin"),
        ("edit", _edit, "replace text that occurs once in a file; give it as options, or on stdin between markers"),
    ):
        sub = added(name, handler, summary, steps=True)
        sub.add_argument("file", metavar="FILE")
        if name == "read":
            sub.add_argument("--lines", type=_range, metavar="A-B", help="show only these lines")
        if name == "edit":
            sub.add_argument("--old", metavar="TEXT", help="text to replace")
            sub.add_argument("--new", metavar="TEXT", help="replacement text")
    added("say", _say, "record an agent message that ends the turn; reads it from stdin")
    added("user", _user, "record a user message; reads it from stdin")
    added("status", _status, "print the steps recorded so far")
    added("undo", _undo, "undo changes that no step made, or a last step that cannot be recorded as it is")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command(build_parser(), lambda options: int(options.handler(options)), argv)


def _range(text: str) -> tuple[int, int]:
    found = _LINES.fullmatch(text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no range of lines, e.g. 20-60")
    return int(found[1]), int(found[2])


def _out(options: argparse.Namespace) -> Path:
    if options.out is None:
        raise InputError("--out", "is missing", "name the folder of the recording, or export RECORDING")
    return Path(options.out)


def _pairs(texts: Sequence[str], option: str, sign: str) -> dict[str, str]:
    parts = [text.partition(sign) for text in texts]
    if wrong := [name for name, found, _ in parts if not (name and found)]:
        raise InputError(option, f"{wrong[0]!r} has no {sign!r}", f"write it as NAME{sign}VALUE")
    return {name: value for name, _, value in parts}


def _tools(texts: Sequence[str]) -> dict[str, str]:
    tools = {}
    for text in texts:
        folder, _, name = text.partition(":")
        source = Path(folder).expanduser().absolute()
        if not source.is_dir():
            raise InputError(f"--tool {text}", "is not a folder", "name one of this machine")
        tools[name or source.name] = str(source)
    return tools


def _start(options: argparse.Namespace) -> int:
    folder, project = _out(options), options.project.absolute()
    start_recording(
        project,
        folder,
        options.name or project.name,
        environment=_pairs(options.env, "--env", "="),
        tools=_tools(options.tool),
        search=options.path,
    )
    with open_recording(folder) as recording:
        show(f"recording the work on {recording.project} in {folder}")
    return EXIT_OK


def _print(recording: Recording, step: Taken) -> int:
    if step.output:
        show(step.output)
    number = len(recording.journal.steps)
    if private := recording.private_in(step):
        tell(f"step {number} holds {private!r}, which is from this machine; `undo` it, and do it differently")
    elif changed_call(step):
        tell(
            f"step {number}: its call holds what looks like a secret or an e-mail address, which becomes ***; a "
            "replay will differ; `undo` it now, and do it differently (addresses at example.com stay)"
        )
    return EXIT_OK


def _call(options: argparse.Namespace, tool: str, arguments: dict[str, Any]) -> int:
    with open_recording(_out(options)) as recording:
        before = [(step.source, step.tool) for step in recording.journal.steps[-2:]]
        code = _print(recording, recording.call(options.reason, tool, arguments))
        # A message that ends no turn is easily missed.
        if len(before) == 2 and before[0][1] and before[1][0] == "user":
            tell(f"the user wrote before this step: {recording.journal.steps[-2].message}")
        return code


def _run(options: argparse.Namespace) -> int:
    return _call(options, "bash", {"command": options.line} | ({"timeout": options.timeout} if options.timeout else {}))


def _read(options: argparse.Namespace) -> int:
    first, last = options.lines or (0, 0)
    window = {"offset": first, "limit": last - first + 1} if options.lines else {}
    return _call(options, "read", {"path": options.file} | window)


def _stdin() -> str:
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise InputError("stdin", f"is not UTF-8 ({error})", "give text") from error


def _write(options: argparse.Namespace) -> int:
    return _call(options, "write", {"path": options.file, "content": _stdin()})


def _edit(options: argparse.Namespace) -> int:
    if (options.old is None) != (options.new is None):
        raise InputError("--old, --new", "one is missing", "give both, or neither and the texts on stdin")
    old, new = options.old, options.new
    if old is None:
        given = _stdin()
        found = _EDIT.fullmatch(given)
        # A second block would become part of the first one's new text.
        if not found or len(_MARK.findall(given)) != _MARKS:
            hint = "write <<<<<<< OLD, the old lines, =======, the new lines, >>>>>>> NEW, once each"
            raise InputError("stdin", "holds no old and new text between marks, or more than one", hint)
        old, new = found[1], found[2]
    return _call(options, "edit", {"path": options.file, "old_text": old, "new_text": new})


def _message(options: argparse.Namespace, source: str) -> int:
    text = _stdin().strip()
    if not text:
        raise InputError("stdin", "holds no message", "pipe it in")
    with open_recording(_out(options)) as recording:
        return _print(recording, recording.message(source, text))


def _say(options: argparse.Namespace) -> int:
    return _message(options, "agent")


def _user(options: argparse.Namespace) -> int:
    return _message(options, "user")


def _status(options: argparse.Namespace) -> int:
    with open_recording(_out(options)) as recording:
        steps = recording.journal.steps
        characters = sum(len(s.message) + len(s.output) + sum(len(str(v)) for v in s.arguments.values()) for s in steps)
        by_user = sum(step.source == "user" for step in steps)
        show(f"{len(steps)} steps, {by_user} by the user; about {characters // 4:,} tokens (characters / 4)")
        show(f"shell in {recording.shell_folder}")
        for path in recording.snapshots.outside_changes(recording.commit):
            show(f"changed by no step: {path}")
        for number, step in enumerate(steps, 1):
            if private := recording.private_in(step):
                show(f"step {number} holds {private!r}, which is from this machine")
    return EXIT_OK


def _undo(options: argparse.Namespace) -> int:
    with open_recording(_out(options)) as recording:
        show(recording.undo())
    return EXIT_OK


def _finish(options: argparse.Namespace) -> int:
    with open_recording(_out(options)) as recording:
        made = finish(recording, options.target, split=options.split, licence=options.licence, varies=options.varies)
    show(f"wrote {made.steps} steps to {options.target}")
    if made.redacted_steps:
        named = ", ".join(map(str, made.redacted_steps))
        show(f"secrets were taken out of steps {named}; a replay may differ there")
    return EXIT_OK


def _replay(options: argparse.Namespace) -> int:
    recorded = open_recorded(options.session)
    return _told(replay(recorded, _tools(options.tool)))


def _compare(options: argparse.Namespace) -> int:
    for line in compared([open_recorded(each) for each in options.sessions], options.forms):
        show(line)
    return EXIT_OK


def _told(done: Replay) -> int:
    for each in done.differences:
        if each.exit_codes:
            show(f"step {each.step_id}: exit code {each.exit_codes[1]}, recorded {each.exit_codes[0]}")
        if each.files:
            show(f"step {each.step_id}: the files differ from here on")
    for path in done.files:
        show(f"differs at the end{' (may: it varies)' if path in done.excepted else ''}: {path}")
    show(f"{done.calls} calls done again: the files at the end are {'the same' if done.same else 'not the same'}")
    return EXIT_OK if done.same else EXIT_FAILED


if __name__ == "__main__":
    raise SystemExit(main())
