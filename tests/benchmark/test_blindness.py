"""A model, recovery and validation never see gold, anchors, rules, family or title."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

import pytest

from benchmark.cases import Capture, Case, Corpus, Difficulty, Family, KnownAnswer, Rules
from benchmark.run.selection import select_cases
from benchmark.statements.model import MustNot, Statement
from ctxsift import compress, examine, generate, recover, validate
from ctxsift.answers.thought_density import find_thought
from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelSpec
from ctxsift.prompts import Message

VISIBLE = {"raw_input", "instruction", "intent"}
CHANGES: dict[str, Any] = {
    "case_id": "other-id",
    "title": "PLANTED title",
    "family": Family.RECALL,
    "output_mode": None,
    "difficulty": Difficulty.HARD,
    "expected_output": "PLANTED gold",
    "alternatives": ("PLANTED alternative",),
    "required_anchors": ("PLANTED anchor",),
    "derived_anchors": ("PLANTED derived",),
    "rules": Rules(max_words=7, forbidden=("PLANTED decoy",), pattern="PLANTED.*", order=("PLANTED order",)),
    "tags": ("PLANTED tag",),
    "statements": (Statement("PLANTED statement", terms=(("PLANTED term",),)),),
    "must_not": (MustNot("PLANTED falsehood", terms=(("PLANTED term",),)),),
    "known": (KnownAnswer("PLANTED answer", is_right=False, writer="PLANTED writer"),),
    "rationale": "PLANTED rationale",
    "where": "PLANTED place",
}
# Fields of a capture.
TOLD = {"command", "exit_code"}
PROVENANCE: dict[str, Any] = {
    "name": "PLANTED name",
    "ecosystem": "PLANTED ecosystem",
    "tool": "PLANTED tool",
    "version": "PLANTED version",
    "origin": "PLANTED origin",
    "normalised": ("PLANTED",),
}


class RecordingBackend:
    """Keeps the bytes of every request."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []

    def load(self, spec: ModelSpec) -> LoadInfo:
        raise AssertionError

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        self.requests.append(json.dumps([[asdict(m) for m in messages], asdict(limits)]).encode())
        return Generation("an answer", "stop", 1, 1, 1.0, 1.0, 2.0, "recording")

    def close(self) -> None:
        pass


def request_bytes(case: Case) -> bytes:
    backend = RecordingBackend()
    compress(case.request, backend, Limits(8))
    return b"\n".join(backend.requests)


def changed(case: Case) -> list[Case]:
    cases = [replace(case, **{name: value}) for name, value in CHANGES.items() if value is not None]
    return [*cases, *(replace(case, capture=replace(case.capture, **{name: to})) for name, to in PROVENANCE.items())]


def test_every_field_of_a_case_is_either_visible_or_changed_here() -> None:
    assert {f.name for f in fields(Case)} == VISIBLE | set(CHANGES) | {"capture"}
    assert {f.name for f in fields(Capture)} == TOLD | set(PROVENANCE)


def test_request_bytes_stay_equal_when_gold_fields_change(corpus: Corpus) -> None:
    for case in corpus.cases:
        before = request_bytes(case)
        for other in changed(case):
            assert request_bytes(other) == before
        assert b"PLANTED" not in before


@pytest.mark.parametrize(
    ("field", "value"), [("raw_input", "other\n"), ("instruction", "Something else."), ("intent", None)]
)
def test_request_bytes_change_with_what_is_visible(corpus: Corpus, field: str, value: str | None) -> None:
    first, second = select_cases(corpus, max_cases=2)
    change: dict[str, Any] = {field: second.intent if value is None else value}
    other = replace(first, **change)
    assert request_bytes(other) != request_bytes(first)


def test_request_bytes_change_with_command_and_exit_code(corpus: Corpus) -> None:
    told = corpus.cases[0]
    assert told.capture.command
    changes: list[dict[str, Any]] = [{"command": "other"}, {"command": " "}, {"exit_code": 77}, {"exit_code": None}]
    found = {request_bytes(replace(told, capture=replace(told.capture, **change))) for change in ({}, *changes)}
    assert len(found) == 5
    untold = replace(told, capture=replace(told.capture, command="", exit_code=None))
    assert b"Command that was run" not in request_bytes(untold)
    assert b"Exit code" not in request_bytes(untold)


def test_recovery_validation_and_thought_take_nothing_but_the_request() -> None:
    takers = (recover, validate, examine, generate)
    for function in takers:
        annotations = " ".join(str(p.annotation) for p in inspect.signature(function).parameters.values())
        assert "Case" not in annotations
    assert set(inspect.signature(find_thought).parameters) == {"text", "raw_input", "instruction", "intent"}
