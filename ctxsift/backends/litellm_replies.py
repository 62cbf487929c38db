"""What a service said, typed at the door: a field of the wrong kind is not told, and never costs an answer."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from ctxsift.backends.base import MOST_COST_USD, MOST_COUNTED, FinishReason
from ctxsift.errors import BackendError, InstrumentError
from ctxsift.terminal import one_line

_MODEL_CHARS = 200
_DEEPEST = 8
_ENDING_CHARS = 60
# Services have words of their own for the end of an answer. What is none of these means that something else ended it.
_NOT_TOLD = frozenset(("", "null", "none", "unknown", "unspecified", "finishreasonunspecified"))
_BY_ITSELF = re.compile("stop(?:sequence)?|eos(?:token)?|endof(?:text|turn)|endturn|completed?|finish(?:ed)?")
_LIMIT = re.compile("length|(?<!rate)limit|maxtokens|maxoutput|maxnewtokens|contextwindow|truncat")
_FILTER = re.compile(
    "filter|safety|content|block|recitation|prohibited|refus|moderat|guardrail|toxic|policy|sensitive|spii"
)
# Services in Python say so of nothing, too.
_NO_ERROR: tuple[object, ...] = (None, False, "", "None", {}, [])
_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")
# JSON is UTF-8; of what else a service may declare, only these leave a text that looks like UTF-8 but is not.
_OLD_CHARSETS = {"iso-8859-1", "latin-1", "latin1", "windows-1252", "cp1252"}
_CHARSET = re.compile(r"charset\s*=\s*\"?([\w-]{1,40})", re.IGNORECASE)


T = TypeVar("T", bound=msgspec.Struct)


class _Part(msgspec.Struct):
    type: Any = None
    text: Any = None
    thinking: Any = None


class _Message(msgspec.Struct):
    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Problem(msgspec.Struct):
    message: Any = None


class _Choice(msgspec.Struct):
    message: Any = None
    text: Any = None
    finish_reason: Any = None
    error: Any = None


class _Details(msgspec.Struct):
    reasoning_tokens: Any = None


class _Usage(msgspec.Struct):
    prompt_tokens: Any = None
    completion_tokens: Any = None
    completion_tokens_details: Any = None


class _Document(msgspec.Struct):
    """A chat completion in OpenAI's words, or an error; anything may stand anywhere in it."""

    choices: Any = msgspec.UNSET
    model: Any = None
    usage: Any = None
    error: Any = None


@dataclass(frozen=True)
class ServiceAnswer:
    """One answer of a service; a count is None where it is not told, `model` empty.

    Attributes:
        ending: the service's word for an end that we do not know; else empty.

    """

    text: str
    reasoning: str
    finish_reason: FinishReason
    model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    ending: str = ""


@dataclass
class Exchange:
    """What went over the wire for one question: LiteLLM moves thoughts, drops headers, and wraps errors.

    Attributes:
        rehearsal: nothing may be sent.
        status, headers, document: of the last response; the document is the JSON of its body, None where it is none.
        said: the answer, where it came as a chat completion in OpenAI's words.
        problem: why there is no answer, where that is certain before LiteLLM hears of it.

    """

    rehearsal: bool = False
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    document: Any = None
    body: str = ""
    said: ServiceAnswer | None = None
    problem: BackendError | None = None


overheard: ContextVar[Exchange | None] = ContextVar("overheard", default=None)


def text_of(body: bytes, content_type: str) -> str:
    """Return a body as text; what cannot be decoded becomes U+FFFD."""
    declared = _CHARSET.search(content_type)
    if declared and declared[1].lower() in _OLD_CHARSETS:
        return body.decode(declared[1], errors="replace")
    return body.decode(json.detect_encoding(body), errors="replace")


def document_of(text: str) -> Any:
    """Return the JSON value of a text, None where it is none. Numbers that nobody can count to are None as well."""
    try:
        return json.loads(text, parse_int=_whole, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= 20 else None


def said_in(document: Any) -> ServiceAnswer | None:
    """Return the answer in a chat completion in OpenAI's words; None for a document of another kind.

    Raises:
        InstrumentError: it is a chat completion, and there is no answer in it.

    """
    sent = _read(_Document, document)
    if sent.choices is msgspec.UNSET:
        return None
    if not isinstance(sent.choices, list) or not sent.choices:
        raise InstrumentError(f"the service answered without a choice{_why(document)}")
    choice = _read(_Choice, sent.choices[0])
    if isinstance(choice.message, dict):
        message = _read(_Message, choice.message)
    elif isinstance(choice.text, str):
        # A completion of text, as older services give it.
        message = _Message(choice.text)
    else:
        raise InstrumentError(f"the service answered with a choice that holds no message{_why(sent.choices[0])}")
    text, thought = _content(message.content)
    for each, error in ((sent.choices[0], choice.error), (document, sent.error)):
        if error not in _NO_ERROR:
            # What there is of the answer ends where the error came.
            raise InstrumentError(f"the service gave up{_why(each)}")
    apart = (message.reasoning_content, message.reasoning, thought)
    usage = _read(_Usage, sent.usage)
    ended, ending = finish_reason(choice.finish_reason)
    return ServiceAnswer(
        text=whole_characters(text),
        reasoning=whole_characters(next((told for told in apart if isinstance(told, str) and told), "")),
        finish_reason=ended,
        model=model_name(sent.model),
        prompt_tokens=count(usage.prompt_tokens),
        completion_tokens=count(usage.completion_tokens),
        reasoning_tokens=count(_read(_Details, usage.completion_tokens_details).reasoning_tokens),
        ending=ending,
    )


def _read(kind: type[T], value: Any) -> T:
    """Return the fields of an object; of anything else, none."""
    return msgspec.convert(value, kind) if isinstance(value, dict) else kind()


def said_by_litellm(reply: Any) -> ServiceAnswer:
    """Return the answer as LiteLLM words it: of a provider that does not speak OpenAI's words.

    Raises:
        InstrumentError: there is none.

    """
    try:
        said = said_in(reply.model_dump(warnings=False))
    except (AttributeError, TypeError, ValueError, RecursionError):
        said = None
    if said is None:
        raise InstrumentError("the service answered with something that LiteLLM cannot read")
    return said


def price_by_litellm(reply: Any) -> float | None:
    """Return what an answer costs in US dollars by LiteLLM's list; None where it does not tell."""
    hidden = getattr(reply, "_hidden_params", None)
    return cost_usd(hidden.get("response_cost")) if isinstance(hidden, dict) else None


def _content(content: Any) -> tuple[str, str]:
    """Return text and thoughts of a message's content: text, nothing, or a list of parts."""
    if content is None or isinstance(content, str):
        return content or "", ""
    if not isinstance(content, list):
        raise InstrumentError(f"the service answered with content of type {type(content).__name__} instead of text")
    texts: list[str] = []
    thoughts: list[str] = []
    for each in content:
        part = _read(_Part, each)
        if part.type == "thinking":
            thoughts += _texts(part.thinking if isinstance(part.thinking, list) else [part.thinking])
        else:
            texts += _texts([each])
    if content and not texts and not thoughts:
        raise InstrumentError("the service answered with parts, none of which is text")
    return "".join(texts), "".join(thoughts)


def _texts(parts: Sequence[Any]) -> list[str]:
    """Return the texts of parts, some of which are their text."""
    told = (part if isinstance(part, str) else _read(_Part, part).text for part in parts)
    return [text for text in told if isinstance(text, str)]


def _why(document: Any) -> str:
    problem = error_message(document)
    return f": {problem}" if problem else ""


def error_message(document: Any) -> str:
    """Return what a document says of an error; empty where it says nothing."""
    problem = _read(_Document, document).error
    told = _read(_Problem, problem).message if isinstance(problem, dict) else problem
    return told if isinstance(told, str) and told not in _NO_ERROR else ""


def finish_reason(told: Any) -> tuple[FinishReason, str]:
    """Return why an answer ended, and the word for it where that is none that we know.

    Case and punctuation do not count. What is no text tells nothing.
    """
    word = re.sub(r"[\W_]+", "", told[:_MODEL_CHARS]).lower() if isinstance(told, str) else ""
    if word in _NOT_TOLD:
        return "unknown", ""
    if _BY_ITSELF.fullmatch(word):
        return "stop", ""
    if _LIMIT.search(word):
        return "length", ""
    if _FILTER.search(word):
        return "content_filter", ""
    return "other", one_line(whole_characters(told[:_ENDING_CHARS]))


def model_name(told: Any) -> str:
    """Return the name of a model on one line; empty where it is none."""
    return one_line(whole_characters(told[:_MODEL_CHARS])) if isinstance(told, str) else ""


def whole_characters(text: str) -> str:
    """Return `text` without halves of characters, which no file can hold."""
    return _HALF_CHARACTERS.sub("\ufffd", text)


def count(told: Any) -> int | None:
    """Return a number of tokens; None where it is no count."""
    return told if type(told) is int and 0 <= told <= MOST_COUNTED else None


def cost_usd(told: Any) -> float | None:
    """Return a price in US dollars; None where it is none, or nothing."""
    if type(told) not in (int, float) or not math.isfinite(told) or not 0 < told <= MOST_COST_USD:
        return None
    return float(told)


def plain_completion(document: dict[str, Any], said: ServiceAnswer) -> dict[str, Any]:
    """Return a completion for LiteLLM, which wants it for the price: nothing in it is of a kind it does not expect."""
    message = {"role": "assistant", "content": "ok"}
    choice = dict(index=0, message=message, finish_reason="stop")
    plain = dict(id="0", object="chat.completion", created=0, model=said.model or "m", choices=[choice])
    if said.prompt_tokens is None or said.completion_tokens is None:
        return plain
    total = said.prompt_tokens + said.completion_tokens
    return plain | dict(usage={**_numbers(document["usage"], _DEEPEST), "total_tokens": total})


def _numbers(told: dict[str, Any], depth: int) -> dict[str, Any]:
    """Return the numbers of a usage, by the names they have."""
    kept: dict[str, Any] = {}
    for name, value in told.items():
        if isinstance(value, dict):
            kept |= {name: _numbers(value, depth - 1)} if depth and not name.endswith("tokens") else {}
        elif name.endswith("tokens"):
            kept |= {name: value} if count(value) is not None else {}
        elif not name.endswith("details") and cost_usd(value) is not None:
            kept[name] = value
    return kept
