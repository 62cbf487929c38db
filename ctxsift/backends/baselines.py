"""Compressors that take no model: the floor under every score.

Each gets the same request as a model and knows nothing of gold. A model that is not better than these is not worth
its watts.
"""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence

from ctxsift.backends.base import Ability, Generation, Limits, LoadInfo, ModelSpec, Traits
from ctxsift.backends.baselines_extractor import extract
from ctxsift.backends.baselines_shapes import Field, Row, requested_fields, shaped, wants_many
from ctxsift.backends.registry import BASELINES as BASELINES_NAME
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.errors import BackendError, LoadError, did_you_mean
from ctxsift.intents import Intent
from ctxsift.prompts import Message, Request
from ctxsift.relevance import nearest_lines

BASELINES_VERSION = "3"
_OK = "ok"
_LINES = 20
_PICKED_LINES, _TOLD_LINES = 5, 6
_EDGES = " \t-*|>=#~^.,;:"
_ERROR_LINE = re.compile(r"error|fail|fatal|exception|panic|cannot|denied", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]\w+|\d+")


def empty(request: Request) -> str:
    """Say nothing."""
    del request
    return ""


def ok(request: Request) -> str:
    """Say `ok`."""
    del request
    return _OK


def shaped_ok(request: Request) -> str:
    """Say `ok` in the format that the contract requires, under the keys or columns that the instruction names."""
    fields = requested_fields(request.instruction, request.intent) or (Field("result", ""),)
    structured = request.intent in (Intent.JSON, Intent.YAML, Intent.TABLE)
    row: Row = {field.name: [_OK] if field.is_list else _OK for field in fields} if structured else {"": _OK}
    return shaped(request.intent, fields, [row], many=wants_many(request.instruction))


def echo(request: Request) -> str:
    """Repeat the whole output."""
    return request.raw_input


def instruction(request: Request) -> str:
    """Repeat the instruction."""
    return request.instruction


def first_lines(request: Request) -> str:
    """Act like `head -n 20`."""
    return "\n".join(request.raw_input.splitlines()[:_LINES])


def last_lines(request: Request) -> str:
    """Act like `tail -n 20`."""
    return "\n".join(request.raw_input.splitlines()[-_LINES:])


def error_lines(request: Request) -> str:
    """Act like `grep -iE 'error|fail|...'`."""
    return "\n".join(line for line in request.raw_input.splitlines() if _ERROR_LINE.search(line))


def last_error_line(request: Request) -> str:
    """Act like `grep -iE 'error|fail|...' | tail -n 1`; give the last line if none mentions an error."""
    lines = [line for line in request.raw_input.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if _ERROR_LINE.search(line)), lines[-1] if lines else "")


def tf_idf(request: Request) -> str:
    """Pick the five lines nearest to the instruction by the cosine of their TF-IDF vectors, in their own order."""
    lines = [line for line in request.raw_input.splitlines() if line.strip()]
    best = by_tf_idf(lines, request.instruction)[:_PICKED_LINES]
    return "\n".join(lines[index] for index in sorted(best))


def by_tf_idf(lines: Sequence[str], instruction: str) -> list[int]:
    """Return the numbers of lines, those nearest to an instruction by the cosine of their TF-IDF vectors first."""
    bags = [Counter(word.lower() for word in _WORD.findall(line)) for line in lines]
    frequency = Counter(word for bag in bags for word in bag)
    # Smoothed as scikit-learn does it: idf = ln((1 + n) / (1 + df)) + 1
    idf = {word: math.log((1 + len(lines)) / (1 + count)) + 1 for word, count in frequency.items()}
    wanted = {word.lower() for word in _WORD.findall(instruction)}

    def nearness(index: int) -> float:
        weights = {word: count * idf[word] for word, count in bags[index].items()}
        norm = math.sqrt(sum(weight * weight for weight in weights.values()))
        return sum(weight * idf[word] for word, weight in weights.items() if word in wanted) / norm if norm else 0.0

    return sorted(range(len(lines)), key=lambda i: (-nearness(i), i))


def told_lines(request: Request) -> str:
    """State the six lines nearest to the instruction, one sentence each; for values, act like `extractor`."""
    prose = contract_of(request.intent).kind is ContractKind.PLAIN or request.intent is Intent.BULLET_LIST
    best = nearest_lines(request.raw_input.splitlines(), request.instruction)[:_TOLD_LINES] if prose else []
    lines = dict.fromkeys(line.text.strip(_EDGES) for line in sorted(best, key=lambda line: line.place) if line.weight)
    told = [f"It says that {line}." for line in lines if line]
    if not told:
        return extract(request)
    if request.intent is Intent.BULLET_LIST:
        return shaped(request.intent, (), [{"": sentence} for sentence in told])
    return " ".join(told)


BASELINES: dict[str, Callable[[Request], str]] = {
    "empty": empty,
    "ok": ok,
    "shaped-ok": shaped_ok,
    "echo": echo,
    "instruction": instruction,
    "first-20-lines": first_lines,
    "last-20-lines": last_lines,
    "error-lines": error_lines,
    "last-error-line": last_error_line,
    "tf-idf": tf_idf,
    "extractor": extract,
    "told-lines": told_lines,
}
# Those that look at no instruction.
BLIND = frozenset({"empty", "ok", "echo", "first-20-lines", "last-20-lines", "error-lines", "last-error-line"})


def baseline_answer(name: str, request: Request) -> str:
    """Return what the baseline `name` makes of a request."""
    # As a model is shown it; of the command, no baseline knows.
    return BASELINES[name](Request(request.raw_input.strip("\n"), request.instruction.strip(), request.intent))


class ReferenceBackend:
    """What backends without a model have in common: they answer requests, and nothing else. See RequestBackend."""

    traits = Traits(abilities=frozenset({Ability.REQUESTS}))

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Raise BackendError: without a model, messages mean nothing."""
        del messages, limits
        raise BackendError("this backend only accepts compression requests, not raw messages")

    def close(self) -> None:
        """Nothing to free."""


class BaselinesBackend(ReferenceBackend):
    """Run the baseline that `spec.model` names; see RequestBackend."""

    def __init__(self) -> None:
        self._name = ""

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Choose the compressor. Raises LoadError when there is none of that name."""
        if spec.model not in BASELINES:
            raise LoadError(f"there is no baseline {spec.model!r}; {did_you_mean(spec.model, BASELINES)}")
        self._name = spec.model
        return reference_load_info(BASELINES_NAME, BASELINES_VERSION)

    def generate_request(self, request: Request, limits: Limits) -> Generation:
        """Compress a request; the token limit does not apply. See RequestBackend."""
        del limits
        started = time.perf_counter()
        text = baseline_answer(self._name, request)
        return reference_generation(text, (time.perf_counter() - started) * 1000, self._name)


def reference_load_info(backend: str, version: str) -> LoadInfo:
    """Return what a backend without a model says of itself."""
    return LoadInfo(
        backend=backend,
        engine=backend,
        engine_version=version,
        architecture="",
        chat_template="none",
        chat_template_note="",
        chat_template_sha256=hashlib.sha256(b"").hexdigest(),
        context_tokens=0,
        threads=1,
        load_ms=0.0,
    )


def reference_generation(text: str, total_ms: float, name: str) -> Generation:
    """Return an answer for which no model read or wrote a token."""
    return Generation(
        text=text,
        finish_reason="stop",
        prompt_tokens=None,
        completion_tokens=None,
        prefill_ms=None,
        decode_ms=None,
        total_ms=total_ms,
        model=name,
    )
