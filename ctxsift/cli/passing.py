"""Output that passes through unchanged."""

from __future__ import annotations

import codecs
import os
import sys

from ctxsift.cli.parser import EXIT_USAGE
from ctxsift.cli.signals import Signals
from ctxsift.cli.source import InputSource, standard_input
from ctxsift.errors import CtxsiftError
from ctxsift.streams import reader_gone, stderr_has_room
from ctxsift.terminal import printable, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ctxsift.cli.compress_json import PrintedCompression
    from ctxsift.cli.model import LoadedCompression

# What is longer than this is printed as it comes, so that memory is bounded. No model reads a hundredth of it.
MOST_MB = 64
MOST_BYTES = MOST_MB * 1_000_000
_ROOM_S = 1.0


def note(text: str) -> None:
    """Say something on stderr, unless that would keep the output waiting."""
    if stderr_has_room(_ROOM_S):
        tell(f"ctxsift: {text}")


def write(data: bytes) -> None:
    """Write to stdout at once."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(text: str) -> None:
    """Write text and the end of its line; a terminal gets none of the escape sequences in it, which it would obey."""
    shown = printable(text, limit=len(text)) if os.isatty(1) else text
    write(f"{shown}\n".encode("utf-8", errors="backslashreplace"))


def pass_on(chunks: Iterable[bytes], source: InputSource) -> None:
    """Write what is made of a source as it comes; when nobody reads it any more, neither does the source."""
    for chunk in chunks:
        write(chunk)
        if reader_gone():
            source.stop_reading()


def refuse(problem: str, command: list[str], signals: Signals) -> int:
    """Say what is wrong with the arguments; what is piped in passes through, a command is not run."""
    note(problem)
    if not command and not os.isatty(0):
        source = standard_input(signals)
        pass_on(source.everything(), source)
    return EXIT_USAGE


def told(error: BaseException) -> str:
    """Return an error in words."""
    return str(error) if isinstance(error, CtxsiftError) else f"{type(error).__name__}: {error}"


def problem_with(source: InputSource, signals: Signals) -> str | None:
    """Return why no model is asked about what was read, or heard; None when nothing speaks against it."""
    if signals.first is not None:
        return f"interrupted by {signals.first.name}"
    if source.fault is not None:
        return f"standard input cannot be read ({source.fault.strerror or source.fault})"
    return None if source.ended else f"the output is longer than {MOST_MB} MB"


def give_back(source: InputSource, why: str | None, *, as_json: bool, answered: LoadedCompression | None = None) -> int:
    """Print the original output, and to stderr why, if there is a reason to tell; return the exit code."""
    if why is not None:
        note(f"{why}; printing the original output")
    settled = _codes(source) if source.ended else None

    def codes() -> tuple[int, int | None]:
        # A signal that comes while it is printed changes nothing.
        return settled or _codes(source)

    if as_json:
        _give_back_as_json(source, why, answered, lambda: codes()[1])
    else:
        pass_on(source.everything(), source)
    return codes()[0]


def _codes(source: InputSource) -> tuple[int, int | None]:
    """Return our exit code, and what is known of the command's."""
    return source.exit_code, source.known_exit_code


def _give_back_as_json(
    source: InputSource, why: str | None, answered: LoadedCompression | None, code: Callable[[], int | None]
) -> None:
    from ctxsift.cli.compress_json import PrintedCompression, original_as_json, with_answer

    source.read(MOST_BYTES, past_signals=True)

    def printed() -> PrintedCompression:
        made = PrintedCompression(
            answer="", answer_is="original", fallback=why, exit_code=code(), compression_ratio=1.0
        )
        return made if answered is None else with_answer(made, answered)

    # Of what has no end in sight there is no telling yet whether it is UTF-8, and no reading it twice.
    text = codecs.iterdecode(source.everything(), "utf-8", "replace") if source.ended else ()
    original = None if source.ended and _is_utf8(source.everything()) else source.everything()
    pass_on(original_as_json(text, original, printed), source)


def _is_utf8(chunks: Iterable[bytes]) -> bool:
    try:
        for _ in codecs.iterdecode(chunks, "utf-8"):
            pass
    except UnicodeDecodeError:
        return False
    return True
