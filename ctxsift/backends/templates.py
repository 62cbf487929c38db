"""Chat templates: the model's own, or a named fallback for its architecture. Never a silent guess.

A model's own template is a program from outside: what it takes of time, memory and room is limited.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
import resource
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import FrameType

import psutil
from jinja2 import Environment, TemplateSyntaxError, meta

from ctxsift.answers.marks import MODEL_TOKENS, MarkKind
from ctxsift.errors import BackendError
from ctxsift.prompts import Message
from ctxsift.terminal import one_line

Render = Callable[[str, Sequence[Message]], str]

_TURNS = "{% for m in messages %}"
_CHATML = _TURNS + "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
_GEMMA = (
    "{{ bos_token }}" + _TURNS + "<start_of_turn>{{ 'model' if m['role'] == 'assistant' else 'user' }}\n"
    "{{ m['content'] }}<end_of_turn>\n{% endfor %}<start_of_turn>model\n"
)
_LLAMA3 = (
    "{{ bos_token }}" + _TURNS + "<|start_header_id|>{{ m['role'] }}<|end_header_id|>\n\n"
    "{{ m['content'] }}<|eot_id|>{% endfor %}<|start_header_id|>assistant<|end_header_id|>\n\n"
)
_PHI3 = _TURNS + "<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}<|assistant|>\n"
_GRANITE = (
    _TURNS + "<|start_of_role|>{{ m['role'] }}<|end_of_role|>{{ m['content'] }}<|end_of_text|>\n"
    "{% endfor %}<|start_of_role|>assistant<|end_of_role|>"
)
_PLAIN = "{{ bos_token }}" + _TURNS + "{{ m['role'] | capitalize }}:\n{{ m['content'] }}\n\n{% endfor %}Assistant:\n"


# Templates of models take milliseconds, and are a few thousand characters long.
RENDER_TIMEOUT_S = 5.0
_MEMORY_BYTES = 1_000_000_000
_LONGEST_TEMPLATE = 1_000_000
_LONGEST_NOTE = 160

# Name of a template that the model itself has.
OWN_TEMPLATE = "model"


class TemplateLimitError(BackendError):
    """A chat template takes more time, memory or room than a template may."""


@dataclass(frozen=True)
class Fallback:
    """A template by name, the control token its vocabulary must hold, and whether a system turn is known."""

    name: str
    template: str
    needs: str
    system_turn: bool = True


_CHATML_FALLBACK = Fallback("chatml", _CHATML, "<|im_start|>")
_GEMMA_FALLBACK = Fallback("gemma", _GEMMA, "<start_of_turn>", system_turn=False)
_LLAMA3_FALLBACK = Fallback("llama-3", _LLAMA3, "<|start_header_id|>")
PLAIN_FALLBACK = Fallback("plain", _PLAIN, "")

# In order of trial: "llama" is the architecture of several families that differ in their control tokens.
FALLBACKS: dict[str, tuple[Fallback, ...]] = {
    "gemma": (_GEMMA_FALLBACK,),
    "gemma2": (_GEMMA_FALLBACK,),
    "gemma3": (_GEMMA_FALLBACK,),
    "gemma3n": (_GEMMA_FALLBACK,),
    "llama": (_LLAMA3_FALLBACK, _CHATML_FALLBACK),
    "qwen2": (_CHATML_FALLBACK,),
    "qwen3": (_CHATML_FALLBACK,),
    "qwen35": (_CHATML_FALLBACK,),
    "lfm2": (_CHATML_FALLBACK,),
    "smollm3": (_CHATML_FALLBACK,),
    "phi3": (Fallback("phi-3", _PHI3, "<|assistant|>"),),
    "granite": (Fallback("granite", _GRANITE, "<|start_of_role|>"),),
    "granitehybrid": (Fallback("granite", _GRANITE, "<|start_of_role|>"),),
}

_SYNTAX = Environment(extensions=["jinja2.ext.loopcontrols", "jinja2.ext.do"], autoescape=False)
# As Qwen, SmolLM and GLM name it; as Granite and DeepSeek do.
_THINKING_SWITCHES = ("enable_thinking", "thinking")

_FIXED_DATE = datetime(2026, 1, 1)
_TODAY = re.compile(r"""strftime_now\(\s*(["'])(.*?)\1\s*\)""")
_CALLED = re.compile(r"strftime_now(?!\s+is\b)")
_LETTERS = "aAbBcdDeFHIjmMnpSTuUVwWxXyYzZ"

# Templates cut the reasoning of earlier turns out by the tag that closes it.
_CUT_AT = re.compile(r"""(?:split\(\s*|\bif\s+)(["'])(</((?!\w*(?:tool|function|call))\w+)>)\1""", re.IGNORECASE)
_LONGEST_OPENING = 200

_PROBE = (Message("system", "probe-system-6151"), Message("user", "probe-user-9241"))


@dataclass(frozen=True)
class ChatTemplate:
    """The template in use.

    Attributes:
        name: `model`, or `fallback:NAME`.
        note: why it is not the model's own as it stands; empty when it is.
        merges_system: the system message is put in front of the first user message.

    """

    name: str
    note: str
    template: str
    merges_system: bool

    @property
    def sha256(self) -> str:
        """Hash of the template and of how the system message is passed."""
        text = f"{self.merges_system}\n{self.template}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def write(self, messages: Sequence[Message], render: Render) -> str:
        """Return the prompt of these messages. Raises TemplateLimitError, and whatever `render` does."""
        return _rendered(self.template, merge_system(messages) if self.merges_system else messages, render)


def thinking_switches(template: str) -> dict[str, bool]:
    """Return what a template is told so that the model does not think before it answers; empty where it takes none."""
    try:
        taken = meta.find_undeclared_variables(_SYNTAX.parse(template))
    except TemplateSyntaxError:  # of a dialect that only its own engine reads
        return {}
    return {name: False for name in _THINKING_SWITCHES if name in taken}


def opens_reasoning(prompt: str, tags: Iterable[tuple[str, str]] = ()) -> bool:
    """Say whether a rendered prompt ends inside a reasoning block, as templates of models that always think do.

    Args:
        prompt: as the model reads it.
        tags: the template's own around reasoning (see `reasoning_tags`).

    """
    end = prompt[-_LONGEST_OPENING:].rstrip()
    marks = MODEL_TOKENS.extended((), tags).marks(end)
    return bool(marks) and marks[-1].kind is MarkKind.OPEN and marks[-1].end == len(end)


@functools.lru_cache(maxsize=8)
def reasoning_tags(template: str) -> tuple[tuple[str, str], ...]:
    """Return the tags by which a template cuts out the reasoning of earlier turns, where our table lacks them."""
    found = {(f"<{name}>", close) for _, close, name in _CUT_AT.findall(template) if f"<{name}>" in template}
    return tuple(sorted(pair for pair in found if MODEL_TOKENS.unlisted(pair)))


def merge_system(messages: Sequence[Message]) -> list[Message]:
    """Put system messages in front of the first user message, for templates without a system turn."""
    system = [m.content for m in messages if m.role == "system"]
    rest = [m for m in messages if m.role != "system"]
    if system and rest:
        rest[0] = Message(rest[0].role, "\n\n".join([*system, rest[0].content]))
    return rest


def choose_template(
    own: str | None, architecture: str, has_token: Callable[[str], bool], render: Render
) -> ChatTemplate:
    """Return the model's own template if it renders a conversation, else the fallback of its architecture.

    Args:
        own: the template in the model file, or None.
        architecture: as the model file names it.
        has_token: whether the vocabulary holds this control token as one token.
        render: (template, messages) -> prompt; may raise anything, and in the main thread take for ever.

    """
    note = "the model file has no chat template"
    if own:
        try:
            return _own(own, render)
        except Exception as error:
            note = f"the model's chat template is broken: {_reason(error)}"
    for fallback in (*FALLBACKS.get(architecture, ()), PLAIN_FALLBACK):
        if not fallback.needs or has_token(fallback.needs):
            break
    return ChatTemplate(f"fallback:{fallback.name}", note, fallback.template, not fallback.system_turn)


def _own(template: str, render: Render) -> ChatTemplate:
    """Return the template of a model; raises whatever is wrong with it."""
    dated = _dated(template)
    try:
        _probe(dated, _PROBE, render)
    except TemplateLimitError:
        raise
    except Exception as error:
        _probe(dated, merge_system(_PROBE), render)
        return ChatTemplate(OWN_TEMPLATE, f"system message merged into the user's: {_reason(error)}", dated, True)
    return ChatTemplate(OWN_TEMPLATE, "", dated, merges_system=False)


def _probe(template: str, messages: Sequence[Message], render: Render) -> None:
    prompt = _rendered(template, messages, render)
    for message in messages:
        if message.content not in prompt:
            raise ValueError(f"it drops the {message.role} message")


def _reason(error: Exception) -> str:
    return one_line(str(error))[:_LONGEST_NOTE] or type(error).__name__


def _dated(template: str) -> str:
    """Return a template that prints a fixed date for today's: the same case must be the same prompt every day."""
    with _limits(template):
        dated = _TODAY.sub(_on_fixed_date, template)
        # By another name, or with a format that is no literal, it is called all the same.
        return f"{_dating()}{dated}" if _CALLED.search(dated) else dated


def _on_fixed_date(call: re.Match[str]) -> str:
    # With a quote inside, it is no literal alone.
    return call[0] if call[1] in call[2] else repr(_FIXED_DATE.strftime(call[2]))


@functools.cache
def _dating() -> str:
    """Return a macro that stands in for `strftime_now` and knows one date only."""
    parts = (
        (f"%{flag}{letter}", _FIXED_DATE.strftime(f"%{flag}{letter}")) for letter in _LETTERS for flag in ("", "-")
    )
    filters = "".join(f"|replace({part!r}, {value!r})" for part, value in (("%%", "\0"), *parts, ("\0", "%")))
    return f"{{% macro strftime_now(format) %}}{{{{ format{filters} }}}}{{% endmacro %}}"


def _rendered(template: str, messages: Sequence[Message], render: Render) -> str:
    with _limits(template):
        prompt = render(template, messages)
    longest = _LONGEST_TEMPLATE + 4 * sum(len(message.content) for message in messages)
    if len(prompt) > longest:
        raise TemplateLimitError(f"the template writes {len(prompt):,} characters, where {longest:,} are plenty")
    return prompt


@contextlib.contextmanager
def _limits(template: str) -> Iterator[None]:
    """Limit what a template may take while it is worked on; raises TemplateLimitError."""
    if len(template) > _LONGEST_TEMPLATE:
        raise TemplateLimitError(f"the template is longer than {_LONGEST_TEMPLATE:,} characters")
    # Only the main thread hears signals; backends run in that of their process.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        with _memory_limit(), _time_limit():
            yield
    except MemoryError:
        raise TemplateLimitError(f"the template takes more than {_MEMORY_BYTES:,} bytes of memory") from None


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def late(_number: int, _frame: FrameType | None) -> None:
        raise TemplateLimitError(f"the template takes longer than {RENDER_TIMEOUT_S:g} s")

    handler = signal.signal(signal.SIGALRM, late)
    # Again after a second: an exception may get lost where Python can only report it.
    timer = signal.setitimer(signal.ITIMER_REAL, RENDER_TIMEOUT_S, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


@contextlib.contextmanager
def _memory_limit() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = psutil.Process().memory_info().vms + _MEMORY_BYTES
    limit = most if soft == resource.RLIM_INFINITY else min(soft, most)
    # Some systems have no such limit.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
