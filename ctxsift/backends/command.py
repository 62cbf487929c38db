"""Any compressor as a program: it is started anew for every request, in a folder and with a HOME that are empty.

A program that fails at a request has failed, as a model may fail; that it is missing, or fails at a line of input
already, is found while it is loaded.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctxsift.backends.base import Ability, Generation, Limits, LoadInfo, ModelSpec, Traits
from ctxsift.backends.baselines import reference_generation, reference_load_info
from ctxsift.backends.registry import COMMAND
from ctxsift.confined import Bounds, Ran, run_confined
from ctxsift.errors import BackendError, LoadError
from ctxsift.intents import Intent
from ctxsift.programs import Placeholder, Program, Stdin, environment, filled, hashes, located
from ctxsift.prompts import Message, Request
from ctxsift.scratch import Scratch, remove_left
from ctxsift.settings import Settings
from ctxsift.strict_json import decode
from ctxsift.terminal import one_line

# The first requests are put twice, to find programs whose answer changes by itself.
_PUT_TWICE = 3
_VERSION_TIMEOUT_S = 30.0
# As the version of a program that does not tell it.
UNKNOWN_VERSION = "unknown"
_LINE = Request("ok\n", "What does it say?", Intent.SUMMARY, "echo ok", 0)
_CHANGES = "two answers to the same request differ"
_NOT_UTF8 = "the answer is not UTF-8"
_LEFT_FILES = "left files in its folder or HOME"
_HAS_REPLACED = "removed or replaced its folder or HOME"
_UNDELETABLE = "left files that cannot be removed in its folder or HOME"
_LEFT_PROCESSES = "left processes behind"
_STDERR_ONLY = "printed to stderr alone"


@dataclass(frozen=True)
class _Reply:
    """What a program made of a request; without a fault, the text is its answer."""

    ran: Ran
    text: str
    fault: str
    remarks: tuple[str, ...]


def _missing(specs: Sequence[ModelSpec], settings: Settings) -> Sequence[str | None]:
    del settings
    return [_why_not_there(spec.options.program) for spec in specs]


def _why_not_there(program: Program | None) -> str | None:
    if program is None:
        return "nothing says how the program is called; write a row of track 'command'"
    try:
        located(program.command, program.env)
        if program.version_command:
            # Behind an adapter, it alone names the program.
            located(program.version_command, program.env)
    except OSError as error:
        name = str(error.filename)
        if name.startswith("."):
            return f"there is no file {one_line(name)} here; name it from the folder in which the runner is started"
        hint = f"install it: {program.install}" if program.install else "install it, or put it on PATH"
        return f"there is no program {one_line(name)}; {hint}"
    return None


class CommandBackend:
    """Run the program in `spec.options.program` as a compressor; see AsyncBackend and AsyncRequestBackend."""

    traits = Traits(missing=_missing, abilities=frozenset({Ability.REQUESTS}))

    def __init__(self) -> None:
        self._program = Program(())
        self._command: list[str] = []
        self._stop = threading.Event()
        self._asked = itertools.count()

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Find the program and run it on a line of input; `load_ms` is the time that takes once it is warm.

        Raises:
            LoadError: it is missing, or fails at that line.

        """
        if problem := _why_not_there(spec.options.program):
            raise LoadError(problem)
        assert spec.options.program is not None
        remove_left()
        program = self._program = spec.options.program
        self._command = located(program.command, program.env)
        for _ in range(program.warmup + 1):
            reply = self._put(_LINE)
        if reply.fault:
            hint = f"; if it is not installed: {program.install}" if program.install else ""
            raise LoadError(f"on a line of input it {reply.fault}{hint}")
        name = Path(program.command[0]).name
        settings = {"program": program.answering, "sha256": hashes(program.command, self._command)}
        return replace(
            reference_load_info(COMMAND, self._version() or UNKNOWN_VERSION),
            engine=name,
            threads=0,
            load_ms=reply.ran.wall_ms,
            # As JSON has it, so that what is read back is the same.
            settings=json.loads(json.dumps(settings)),
        )

    async def aopen(self) -> None:
        """Nothing to open."""

    async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Raise BackendError: to a program, messages mean nothing."""
        del messages, limits
        raise BackendError("this backend only accepts compression requests, not raw messages")

    async def agenerate_request(self, request: Request, limits: Limits) -> Generation:
        """Put a request to the program; the token limit does not apply. Raises BackendError if no folder can be made.

        When the one who waits is cancelled, the program is ended.
        """
        del limits
        try:
            return await asyncio.to_thread(self._answer, request)
        except asyncio.CancelledError:
            self._stop.set()
            raise
        except OSError as error:
            raise BackendError(f"no folder for the program could be made: {error}") from error

    async def aclose(self) -> None:
        """End what is still running."""
        self._stop.set()

    def _answer(self, request: Request) -> Generation:
        reply = self._put(request)
        remarks = reply.remarks
        if not reply.fault and next(self._asked) < _PUT_TWICE and self._put(request).text != reply.text:
            remarks = (*remarks, _CHANGES)
        generation = reference_generation(reply.text, reply.ran.wall_ms, self._program.command[0])
        return replace(generation, fault=reply.fault, remarks=remarks)

    def _put(self, request: Request) -> _Reply:
        folder = Scratch.made()
        try:
            reply = self._put_in(folder.path, request)
        finally:
            is_gone = folder.removed()
        return reply if is_gone else replace(reply, text="", fault=reply.fault or _UNDELETABLE)

    def _put_in(self, folder: Path, request: Request) -> _Reply:
        work, home, raw = folder / "work", folder / "home", _bytes(request.raw_input)
        for each in (work, home, folder / "tmp"):
            each.mkdir()
        file = folder / "input" / "output.txt"
        file.parent.mkdir()
        file.write_bytes(raw)
        values = _values(request, file)
        program = self._program
        try:
            ran = run_confined(
                filled(self._command, values),
                stdin=_stdin(program.stdin, request, raw),
                env=environment(program, home, values),
                folder=work,
                bounds=Bounds(program.timeout_s),
                whole=folder,
                stop=self._stop,
            )
        except (OSError, ValueError) as error:
            # A request may be too long for an argument, or hold a character that none can carry.
            ran = Ran(b"", 0, 0.0, f"cannot be started: {error}", "", left_processes=False)
        if not all(each.is_dir() and not each.is_symlink() for each in (work, home)):
            ran = replace(ran, beyond=ran.beyond or _HAS_REPLACED)
        return _read(program, ran, left_files=_holds_files(work) or _holds_files(home))

    def _version(self) -> str:
        """Return the first line that the version command prints, on either stream; empty where it fails."""
        if not self._program.version_command:
            return ""
        folder = Scratch.made()
        home = folder.path
        try:
            command = located(self._program.version_command, self._program.env)
            env = environment(self._program, home, _values(_LINE, home))
            ran = run_confined(command, stdin=None, env=env, folder=home, bounds=Bounds(_VERSION_TIMEOUT_S))
        except (OSError, ValueError) as error:
            raise LoadError(f"its version command cannot be run: {error}") from error
        finally:
            folder.removed()
        if ran.exit_code != 0:
            return ""
        lines = [line.strip() for line in ran.output.decode("utf-8", errors="replace").splitlines() if line.strip()]
        return one_line(next(iter(lines), ran.last_words))[:200]


def _holds_files(folder: Path) -> bool:
    try:
        return any(folder.iterdir())
    except OSError:
        # It has closed the folder to us, or made something else of it.
        return True


def _bytes(text: str) -> bytes:
    # Half characters, which JSON may hold, are no UTF-8.
    return text.encode("utf-8", errors="replace")


def _values(request: Request, file: Path) -> dict[Placeholder, str]:
    return {
        Placeholder.INSTRUCTION: request.instruction,
        Placeholder.COMMAND: request.command or "",
        Placeholder.EXIT_CODE: "" if request.exit_code is None else str(request.exit_code),
        Placeholder.INTENT: str(request.intent),
        Placeholder.INPUT_FILE: str(file),
    }


def _stdin(kind: Stdin, request: Request, raw: bytes) -> bytes | None:
    match kind:
        case Stdin.OUTPUT:
            return raw
        case Stdin.JSON:
            told = dict(
                output=request.raw_input,
                instruction=request.instruction,
                command=request.command,
                exit_code=request.exit_code,
                intent=str(request.intent),
            )
            return json.dumps(told).encode()
        case Stdin.NONE:
            return None


def _read(program: Program, ran: Ran, *, left_files: bool) -> _Reply:
    """Return the answer in what a program printed, or why there is none."""
    text = ran.output.decode("utf-8", errors="replace")
    remarks = {
        _NOT_UTF8: text.encode() != ran.output,
        _LEFT_FILES: left_files,
        _LEFT_PROCESSES: ran.left_processes,
        _STDERR_ONLY: bool(ran.last_words) and not text.strip(),
    }
    fault = ran.beyond or ("" if program.is_ok(ran.exit_code) else _ended(ran.exit_code))
    if not fault and program.output_pointer is not None:
        try:
            text = _at(program.output_pointer, text)
        except (ValueError, LookupError, TypeError) as error:
            fault = f"printed no JSON with a text at {program.output_pointer} ({str(error)[:80]})"
    if fault and ran.last_words:
        fault = f"{fault}: {one_line(ran.last_words)}"
    return _Reply(ran, "" if fault else text, fault, tuple(remark for remark, holds in remarks.items() if holds))


def _ended(exit_code: int) -> str:
    return f"exited with {exit_code}" if exit_code >= 0 else f"was killed by signal {-exit_code}"


def _at(pointer: str, text: str) -> str:
    """Return the text at a JSON pointer (RFC 6901). Raises ValueError, LookupError or TypeError if there is none."""
    value: Any = decode(text.encode())
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    if not isinstance(value, str):
        raise TypeError("it is no text")
    return value
