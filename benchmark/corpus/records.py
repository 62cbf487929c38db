"""Cases as files hold them: in YAML beside a capture, and as JSON lines in the published field names.

Field names are the keys of the files, unless a field says otherwise.
"""

from __future__ import annotations

import functools
import typing
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from benchmark.cases import Capture, Difficulty, Family, Origin, Rules
from benchmark.statements.model import MustNot, Statement
from benchmark.typed_input import NonBlank, NonEmpty, Positive
from ctxsift.contracts import OutputMode
from ctxsift.intents import Intent

Tokens = tuple[NonEmpty, ...]


class CaptureEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Where a raw output comes from; its name and ecosystem are those of file and folder. See cases.Capture."""

    tool: NonBlank
    version: NonBlank
    command: NonBlank
    exit_code: int | None = None
    origin: Origin
    normalised: Tokens = ()


class CaseEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One case of a YAML file. See cases.Case."""

    case_id: NonBlank = msgspec.field(name="id")
    title: NonBlank
    family: Family
    intent: Intent
    output_mode: OutputMode
    difficulty: Difficulty
    instruction: NonBlank
    expected_output: NonBlank
    alternatives: Tokens = ()
    required_anchors: Tokens = ()
    derived_anchors: Tokens = ()
    rules: Rules = Rules()
    statements: tuple[Statement, ...] = ()
    must_not: tuple[MustNot, ...] = ()
    tags: Tokens = ()
    rationale: str = ""


class CaptureFile(msgspec.Struct, frozen=True, kw_only=True):
    """A YAML file: one capture and the cases that use it."""

    capture: CaptureEntry
    cases: Annotated[tuple[CaseEntry, ...], msgspec.Meta(min_length=1)]


@dataclass(frozen=True)
class FormerKey:
    """The key that a field has in older rows."""

    key: str


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """How the published benchmark judges an answer.

    Attributes:
        format_check: the pattern of a regex_constrained case, else its output mode; the only field that is read.
        max_extra_tokens: words that brevity leaves free beyond gold.

    """

    format_check: str = ""
    anchor_check: Any = None
    max_extra_tokens: Any = None
    pass_rule: Any = None


class PublishedRules(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What only our corpora have of the rules. See cases.Rules."""

    max_lines: Positive | None = None
    max_words: Positive | None = None
    max_sentences: Positive | None = None
    max_items: Positive | None = None
    pattern: NonBlank | None = None
    order: Tokens = ()


class PublishedCase(msgspec.Struct, frozen=True, kw_only=True):
    """One JSON line: the published fields in their published order and, from `alternatives` on, our own.

    Attributes:
        domain: the ecosystem, by its older name.

    """

    case_id: NonBlank
    domain: str = ""
    title: str = ""
    instruction: NonBlank
    raw_input: NonBlank
    family: Family
    intent: Intent
    ecosystem: str = ""
    difficulty: Difficulty = Difficulty.MEDIUM
    output_mode: OutputMode | None = None
    expected_output: Annotated[NonBlank, FormerKey("ideal_summary")]
    required_anchors: Annotated[Tokens, FormerKey("must_preserve_tokens")] = ()
    forbidden_content: Tokens = ()
    judgement: Judgement | None = None
    tags: Tokens = ()
    rationale: str = ""
    alternatives: Tokens = ()
    derived_anchors: Tokens = ()
    rules: PublishedRules = PublishedRules()
    capture: Capture | None = None
    statements: tuple[Statement, ...] = ()
    must_not: tuple[MustNot, ...] = ()


def renamed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of JSON values with today's keys for those that an older row has in their place."""
    found = dict(row)
    for former, key in _former_keys().items():
        if former in found:
            found.setdefault(key, found.pop(former))
    return found


@functools.cache
def _former_keys() -> dict[str, str]:
    hints = typing.get_type_hints(PublishedCase, include_extras=True)
    marks = ((name, mark) for name, hint in hints.items() for mark in getattr(hint, "__metadata__", ()))
    return {mark.key: name for name, mark in marks if isinstance(mark, FormerKey)}
