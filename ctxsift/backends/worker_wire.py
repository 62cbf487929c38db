"""What a worker and its parent exchange: one JSON object a line, in the form of these records."""

from __future__ import annotations

import json

import msgspec

from ctxsift.backends.base import Decoding, Generation, Limits, LoadInfo, LogProbability, ModelSpec
from ctxsift.errors import BackendError, InstrumentError, LoadError, PromptTooLongError, WeightsError
from ctxsift.prompts import Message, Request
from ctxsift.strict_json import learn


class LoadModel(msgspec.Struct, tag=True, frozen=True):
    """Load; see Backend.load."""

    spec: ModelSpec


class AskMessages(msgspec.Struct, tag=True, frozen=True):
    """Answer one or more prompts, all decoded in the same way."""

    prompts: list[list[Message]]
    limits: Limits
    decoding: Decoding


class AskRequest(msgspec.Struct, tag=True, frozen=True):
    """Answer a request; see RequestBackend."""

    request: Request
    limits: Limits


class MeasureText(msgspec.Struct, tag=True, frozen=True):
    """Tell log-probabilities; see MeasuringBackend."""

    messages: list[Message]
    text: str


class WorkerFault(msgspec.Struct, tag=True, frozen=True):
    """A BackendError on its way: name of its class, message, and both figures of a PromptTooLongError."""

    kind: str
    message: str
    figures: tuple[int, int] | None = None


class ModelLoaded(msgspec.Struct, tag=True, frozen=True):
    """What came of LoadModel."""

    load: LoadInfo


class OneAnswered(msgspec.Struct, tag=True, frozen=True):
    """What came of AskRequest, or of one of several prompts."""

    generation: Generation


class EachAnswered(msgspec.Struct, tag=True, frozen=True):
    """What came of AskMessages."""

    each: list[OneAnswered | WorkerFault]


class TextMeasured(msgspec.Struct, tag=True, frozen=True):
    """What came of MeasureText."""

    tokens: list[LogProbability]


Errand = LoadModel | AskMessages | AskRequest | MeasureText
Done = ModelLoaded | OneAnswered | EachAnswered | TextMeasured


class WorkerReply(msgspec.Struct, frozen=True):
    """What the child says, and what it has used up to then."""

    content: Done | WorkerFault
    rss_bytes: int
    cpu_s: float


learn(WorkerReply)


def line_of(message: msgspec.Struct) -> str:
    """Return a record as a line. Raises TypeError for a value that is none of JSON."""
    # Not by msgspec: text may hold half characters, which are no UTF-8.
    return json.dumps(msgspec.to_builtins(message, enc_hook=_plain)) + "\n"


def _plain(value: object) -> object:
    """Return a value of a library's own kind as a plain one: torch tells its version as a kind of string."""
    for kind in (str, int, float):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"{type(value).__name__} is not a value of JSON")


def error_of(fault: WorkerFault) -> BackendError:
    """Return the error that a fault stands for; what is no error of ours keeps its name."""
    if fault.figures is not None:
        return PromptTooLongError(*fault.figures)
    if fault.kind in (LoadError.__name__, WeightsError.__name__):
        return LoadError(fault.message)
    for known in (InstrumentError, BackendError):
        if fault.kind == known.__name__:
            return known(fault.message)
    return BackendError(f"{fault.kind}: {fault.message}")


def fault_of(error: Exception) -> WorkerFault:
    """Return an error as it travels."""
    figures = (error.prompt_tokens, error.room) if isinstance(error, PromptTooLongError) else None
    return WorkerFault(type(error).__name__, " ".join(str(error).split())[:500], figures)
