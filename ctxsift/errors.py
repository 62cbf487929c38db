"""Every error this project raises on purpose.

CtxsiftError
├── InputError              what a person gave is wrong: names file, place and hint
└── BackendError            a model could not be used
    ├── WeightsError        its weights are missing, incomplete or not GGUF
    ├── LoadError           the engine refused them
    ├── PromptTooLongError  the prompt does not fit the context
    ├── RefusedError        every request of this kind is refused: wrong key, no such model or ability
    └── InstrumentError     an answer never came, and the model is not to blame
        ├── TransientError  ... for a reason that may pass by itself
        ├── WorkerCrashedError
        └── WorkerTimeoutError
"""

from __future__ import annotations

import signal
from collections.abc import Iterable

from ctxsift.terminal import one_line

_MOST_SHOWN = 800
# The share of letters from which on two words are the same but for a slip, wherever it is.
_ALIKE = 0.8
_LEAST_BEGUN = 3


class CtxsiftError(Exception):
    """The root of the tree."""


class InputError(CtxsiftError):
    """Something a person wrote cannot be used.

    Args:
        where: the file and the place in it (JSON pointer, line) or the option.
        problem: what is wrong, in a few words.
        hint: what to do about it.

    """

    def __init__(self, where: str, problem: str, hint: str = "") -> None:
        self.where, self.problem, self.hint = where, problem, hint
        # One line that is safe for a terminal, whatever a file name or a library's message contains.
        parts = (f"{where}: {problem}", hint)
        super().__init__("; ".join(one_line(part[:_MOST_SHOWN]) for part in parts if part))


class BackendError(CtxsiftError):
    """A model could not be used."""


class WeightsError(BackendError):
    """The weights of a model are missing, incomplete or of another format."""


class LoadError(BackendError):
    """The engine could not load the weights."""


class PromptTooLongError(BackendError):
    """The prompt does not fit; both figures are tokens."""

    def __init__(self, prompt_tokens: int, room: int) -> None:
        self.prompt_tokens, self.room = prompt_tokens, room
        super().__init__(f"the prompt has {prompt_tokens} tokens, the context has room for {room}")


class RefusedError(BackendError):
    """The next request will be refused as this one was; asking again only costs time."""


class InstrumentError(BackendError):
    """An answer never came. Never scored as a bad answer."""


class TransientError(InstrumentError):
    """An answer did not come for a reason that may pass: too many requests, a fault of the server, a lost connection.

    Attributes:
        retry_after_s: how long the service asks to wait, in seconds; None when it does not say.

    """

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        self.retry_after_s = retry_after_s
        super().__init__(message)


class WorkerCrashedError(InstrumentError):
    """The process that held the model died.

    Attributes:
        signal_number: the signal that killed it, or None when it left with an exit code.

    """

    def __init__(self, returncode: int | None, stderr_tail: str) -> None:
        self.returncode, self.stderr_tail = returncode, stderr_tail
        self.signal_number = -returncode if returncode is not None and returncode < 0 else None
        if self.signal_number is None:
            how = f"exit code {returncode}"
        else:
            try:
                how = signal.Signals(self.signal_number).name
            except ValueError:
                how = f"signal {self.signal_number}"
        tail = f"; last words: {stderr_tail}" if stderr_tail else ""
        super().__init__(f"the model process died ({how}){tail}")


class WorkerTimeoutError(InstrumentError):
    """The process that held the model did not answer in time and was ended."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s; the model process was ended")


def near_names(word: str, known: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return the known words that `word` may be a slip for, nearest first.

    Likeness alone takes `vscode` for `codex`: where little of a word is right, its beginning must be, or all of it.
    """
    import difflib

    # The dashes of options are no letters that they share.
    short, names = word[:100].lstrip("-"), {name.lstrip("-"): name for name in sorted(known)}

    def is_slip(name: str) -> bool:
        is_alike = difflib.SequenceMatcher(None, name, short).ratio() >= _ALIKE
        return is_alike or name[:1] == short[:1] or short in name or name in short

    found = [name for name in difflib.get_close_matches(short, names, n=4 * limit, cutoff=0.5) if is_slip(name)]
    # However little it is of the whole, a beginning is one.
    begun = [name for name in names if len(short) >= _LEAST_BEGUN and name.startswith(short) and name not in found]
    return [names[name] for name in (*found, *begun)][:limit]


def did_you_mean(word: str, known: Iterable[str], *, limit: int = 3) -> str:
    """Return 'did you mean a, b?' for the known words nearest to `word`, or else what is known."""
    names = sorted(set(known))
    if near := near_names(word, names, limit=limit):
        return f"did you mean {', '.join(near)}?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"known: {shown}" if names else "there are none"
