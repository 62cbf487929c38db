"""Turns a recording into the files that ship: the session, the truth, the starting files, where it comes from."""

from __future__ import annotations

import json
import platform
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import msgspec

from benchmark.sessions.loader import PROVENANCE, SESSION, START, TRUTH, sha256_of
from benchmark.sessions.records import Provenance, Split, StepTruth
from ctxsift.errors import InputError
from ctxsift.files import write_atomically
from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.records import Session, SessionHead, Source, Step, ToolCall, ToolResult
from tools.record.journal import Taken
from tools.record.recording import Recording
from tools.record.redacting import PublicRedactor

AGENT = "recorded"
_VERSION = {"go": "go version", "java": "java -version", "javac": "javac -version"}
_PROGRAMS = (
    *("bash", "git", "python", "python3", "pip", "pytest", "uv", "node", "npm", "npx", "tsc", "go", "java", "javac"),
    *("mvn", "ruby", "bundle", "gem", "cargo", "rustc", "gcc", "g++", "clang", "make", "cmake", "php", "perl", "jq"),
    *("sqlite3", "sed", "awk", "grep", "rg", "diff", "patch", "valgrind", "gdb"),
)


def finish(recording: Recording, target: Path, *, split: Split, licence: str, varies: Iterable[str]) -> Provenance:
    """Write the files of a recording to a folder and return where it comes from.

    Args:
        recording: with at least one step.
        target: the folder; made if need be.
        split: see `Provenance`.
        licence: see `Provenance`.
        varies: see `Provenance`.

    Raises:
        InputError: nothing was recorded, or a step holds what would give this machine away.
        OSError: a file cannot be written.

    """
    steps, begun = recording.journal.steps, recording.journal.begun
    if not steps:
        raise InputError(str(recording.folder), "has no step", "record some first")
    for number, taken in enumerate(steps, 1):
        if private := recording.private_in(taken):
            raise InputError(
                f"step {number}", f"holds {private!r}, which is from this machine", "record that part of the work again"
            )
    redactor = PublicRedactor()
    own = [_step(number, taken) for number, taken in enumerate(steps, 1)]
    public = [redactor.step(step) for step in own]
    head = SessionHead(AGENT, begun.name, AGENT, folder=recording.project, started=begun.at, title=begun.name)
    session = Session(head, tuple(public), redacted=dict(redactor.counts))
    target.mkdir(parents=True, exist_ok=True)
    write_atomically(target / SESSION, json.dumps(as_atif(session), indent=1) + "\n")
    write_atomically(target / TRUTH, b"".join(msgspec.json.encode(each) + b"\n" for each in _truth(recording)))
    shutil.copyfile(recording.folder / START, target / START)
    provenance = Provenance(
        name=begun.name,
        split=split,
        licence=licence,
        began=begun.at,
        ended=steps[-1].at,
        system=f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {platform.system()} {platform.machine()}",
        versions=_versions(recording),
        environment=begun.environment,
        search=begun.search,
        tools=sorted(begun.tools),
        steps=len(steps),
        redacted=dict(redactor.counts),
        redacted_steps=[step.step_id for step, shown in zip(own, public, strict=True) if step != shown],
        varies=list(varies),
        files=recording.snapshots.files(recording.commit),
        sha256={name: sha256_of(target / name) for name in (SESSION, TRUTH, START)},
    )
    text = json.dumps(msgspec.to_builtins(provenance), indent=1, ensure_ascii=False)
    write_atomically(target / PROVENANCE, text + "\n")
    return provenance


def _step(number: int, taken: Taken) -> Step:
    call_id = f"call-{number}"
    called = bool(taken.tool)
    return Step(
        number,
        Source(taken.source),
        taken.message,
        calls=(ToolCall(call_id, taken.tool, taken.arguments),) if called else (),
        results=(ToolResult(call_id, taken.output, taken.exit_code, taken.is_error),) if called else (),
        timestamp=taken.at,
        folder=taken.folder,
    )


def _truth(recording: Recording) -> Iterable[StepTruth]:
    snapshots, start = recording.snapshots, recording.journal.begun.commit
    previous = start
    for number, taken in enumerate(recording.journal.steps, 1):
        yield StepTruth(
            step_id=number,
            seconds=taken.seconds,
            tree=snapshots.tree(taken.commit),
            since_start=snapshots.changes(start, taken.commit),
            since_previous=snapshots.changes(previous, taken.commit),
        )
        previous = taken.commit


def _versions(recording: Recording) -> dict[str, str]:
    commands = [str(step.arguments["command"]) for step in recording.journal.steps if step.tool == "bash"]
    words = set(re.findall(r"[\w+.-]+", " ".join(commands)))
    named = [each for each in _PROGRAMS if each in words or each in ("bash", "git")]
    lines = (f"command -v {each} >&- && {_VERSION.get(each, f'{each} --version')} 2>&1 | head -n 1" for each in named)
    found = {}
    for each, line in zip(named, lines, strict=True):
        ran = recording.sandbox.run(line, recording.project, 30)
        if ran.exit_code == 0 and ran.output.strip():
            found[each] = ran.output.strip().splitlines()[0]
    return found
