"""What standard input or a command prints: read to its end, whatever signals come in between.

The command shares our terminal and process group. A key such as Ctrl-C reaches it by itself; a signal to us alone is
passed on to it and to its children. Then it may end in its own time, and all that it still prints is read.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import signal
import time

from ctxsift.cli.parser import EXIT_USAGE
from ctxsift.cli.signals import Signals, is_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

# After a signal to us alone; a person who pressed a key can press it again.
_PATIENCE_S = 5.0
# After the command has ended: a process that it left in the background may hold the pipe for ever.
_GRACE_S = 1.0
_CHUNK = 1 << 20
# As much as may stand in a pipe.
_PIPE = 1 << 20
# Of piped input, after a signal to us alone: its writer may never end.
_LAST_WORDS = 16 << 20


class InputSource:
    """Reads a descriptor; use `standard_input` or `command_output`.

    Args:
        signals: what says that we are to end.
        descriptor: where to read.
        process: the command that writes there; None for standard input.
        told: the exit code of what wrote standard input, where the caller tells it.

    Attributes:
        data: all that `read` has read.
        ended: nothing more will come.
        fault: why reading failed; None when it did not.
        left_open: the command has ended, but another process still holds its output.

    """

    def __init__(
        self,
        signals: Signals,
        descriptor: int,
        process: subprocess.Popen[bytes] | None = None,
        told: int | None = None,
    ) -> None:
        self._signals, self._descriptor, self._process, self._code_told = signals, descriptor, process, told
        self._at_end = self._exited = self._told = self._killed = False
        self._deadline: float | None = None
        self._allowance = math.inf
        self.data = bytearray()
        self.ended = self.left_open = False
        self.fault: OSError | None = None

    @property
    def runs_command(self) -> bool:
        """Whether a command prints it that we have started."""
        return self._process is not None

    @property
    def exit_code(self) -> int:
        """The command's, as a shell reports it: 128 + its number for a signal. Without one 0, or that of our signal."""
        if self.fault is not None:
            return EXIT_USAGE
        code = self._process.poll() if self._process is not None else None
        if code is not None:
            return code if code >= 0 else 128 - code
        return 128 + self._signals.first if self._signals.first is not None else 0

    @property
    def known_exit_code(self) -> int | None:
        """The same, but of what wrote standard input what the caller tells; None where nobody does."""
        return self.exit_code or (0 if self.runs_command else self._code_told)

    def read(self, most: int, *, past_signals: bool = False) -> None:
        """Read to the end into `data`, or until it has more than `most` bytes, or until a signal has come."""
        while len(self.data) <= most and (chunk := self._chunk(past_signals=past_signals)):
            self.data += chunk

    def everything(self) -> Iterator[bytes]:
        """Yield `data` in pieces, then what comes until the end as it comes."""
        for at in range(0, len(self.data), _CHUNK):
            yield bytes(self.data[at : at + _CHUNK])
        while chunk := self._chunk(past_signals=True):
            before = time.monotonic()
            yield chunk
            if self._deadline is not None:
                # The time in which whoever reads us had no room is not the command's.
                self._deadline += time.monotonic() - before

    def stop_reading(self) -> None:
        """Close the pipe, as whoever reads what we print has done; the command's end is still waited for."""
        self._at_end = True
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()

    def _chunk(self, *, past_signals: bool) -> bytes:
        """Return the next bytes, waiting for them; none at the end, or after a signal."""
        while not self.ended and (past_signals or self._signals.first is None):
            self._heed_signals()
            self._heed_exit()
            if self._at_end and (self._process is None or self._exited):
                self.ended = True
            elif self._allowance <= 0:
                self._past_deadline()
            elif self._signals.wait(None if self._at_end else self._descriptor, self._deadline):
                if chunk := self._read_some():
                    return chunk
            elif self._is_late():
                self._past_deadline()
        return b""

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() >= self._deadline

    def _read_some(self) -> bytes:
        if self._is_late():
            # What is in the pipe already is still taken.
            self._allowance = min(self._allowance, _PIPE)
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            self.fault, self._at_end = error, True
            return b""
        self._at_end = not chunk
        self._allowance -= len(chunk)
        return chunk

    def _heed_signals(self) -> None:
        number = self._signals.first
        if number is not None and not self._told:
            self._told = True
            if not is_key(number):
                self._pass_on(number)
        if self._signals.insisted and not self._killed:
            self._kill()

    def _pass_on(self, number: signal.Signals) -> None:
        if self._process is None:
            self._allowance = _LAST_WORDS
        elif not self._exited:
            _send(self._process, number)
        if not self._exited and (self._process is None or number != signal.SIGHUP):
            # What ignores the end of its terminal, as `nohup` makes it, is to run on.
            self._deadline = time.monotonic() + _PATIENCE_S

    def _kill(self) -> None:
        self._killed, self._allowance = True, math.inf
        self._deadline = time.monotonic()
        if self._process is not None:
            _send(self._process, signal.SIGKILL)
            self._deadline += _GRACE_S

    def _heed_exit(self) -> None:
        if self._process is not None and not self._exited and self._process.poll() is not None:
            self._exited = True
            self._deadline = time.monotonic() + _GRACE_S

    def _past_deadline(self) -> None:
        if self._process is not None and not self._exited and not self._killed:
            self._kill()
        else:
            self.ended, self.left_open = True, self._exited and not self._at_end


def standard_input(signals: Signals, told: int | None = None) -> InputSource:
    """Return what is piped in; `told` is the exit code of what wrote it, where the caller tells it."""
    return InputSource(signals, 0, told=told)


def command_output(command: Sequence[str], signals: Signals) -> InputSource:
    """Run a command with our standard input; return what it prints to both streams. Raises OSError, ValueError."""
    try:
        process = _run(command)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        import shutil

        # A script that does not say by what to run it; shells and execvp(3) take it for one of theirs.
        process = _run(["/bin/sh", shutil.which(command[0]) or command[0], *command[1:]])
    assert process.stdout is not None
    return InputSource(signals, process.stdout.fileno(), process)


def _run(command: Sequence[str]) -> subprocess.Popen[bytes]:
    import subprocess

    return subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a command and, as a terminal would, to its children; those in groups of their own left out."""
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        command = psutil.Process(process.pid)
        groups = {os.getpgrp(), os.getpgid(process.pid)}
        # The parent first: a shell whose child is killed goes on to its next line.
        for member in (command, *command.children(recursive=True)):
            with contextlib.suppress(psutil.Error, OSError):
                if os.getpgid(member.pid) in groups:
                    member.send_signal(number)
                    # One that is stopped would not notice.
                    member.send_signal(signal.SIGCONT)
