"""Reads a corpus folder: per capture one text file and, beside it, its provenance and cases in YAML."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmark.corpus.cases import Capture, Case, Difficulty, Family, Rules
from benchmark.corpus.jsonl import read_jsonl
from benchmark.fields import Fields
from ctxsift.contracts import Intent, OutputMode, contract_of
from ctxsift.errors import InputError
from ctxsift.files import exists, read_text
from ctxsift.payloads import yaml_events

DEFAULT_CORPUS = Path(__file__).parent / "data"
_SAFE_ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_CAPTURE_FIELDS = ("tool", "version", "command", "exit_code", "origin", "normalised")
_CASE_FIELDS = (
    *("id", "title", "family", "intent", "output_mode", "difficulty", "instruction", "expected_output"),
    *("alternatives", "required_anchors", "derived_anchors", "rules", "tags", "rationale"),
)
_RULE_FIELDS = ["max_lines", "max_words", "max_sentences", "max_items", "forbidden", "pattern", "order"]
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Corpus:
    """All cases, sorted by id, and the hash of everything in them."""

    path: Path
    cases: tuple[Case, ...]
    sha256: str


def load_corpus(path: Path = DEFAULT_CORPUS) -> Corpus:
    """Load the corpus in the folder or JSONL file `path`.

    Raises:
        InputError: naming the file, the place in it and the mend.

    """
    if not exists(path):
        raise InputError(str(path), "no such dataset", "give --dataset the folder of a corpus, or a .jsonl file")
    if path.is_file():
        cases, sha256 = read_jsonl(path)
    else:
        cases, sha256 = _load_folder(path)
    seen: dict[str, str] = {}
    for case in cases:
        if case.case_id in seen:
            raise InputError(case.where, f"the id {case.case_id} stands also in {seen[case.case_id]}", "rename one")
        seen[case.case_id] = case.where
    return Corpus(path, tuple(sorted(cases, key=lambda c: c.case_id)), sha256)


def _load_folder(path: Path) -> tuple[list[Case], str]:
    files = sorted(path.rglob("*.yaml"))
    if not files:
        raise InputError(str(path), "holds no .yaml file", "give --dataset the folder of a corpus, or a .jsonl file")
    cases: list[Case] = []
    digest = hashlib.sha256()
    for file in files:
        cases += _load_file(file, digest)
    return cases, digest.hexdigest()


def _load_file(file: Path, digest: Any) -> list[Case]:
    text = _read(file)
    raw_input = _read(file.with_suffix(".txt"))
    for part in (text, raw_input):
        digest.update(hashlib.sha256(part.encode()).digest())
    try:
        for _ in yaml_events(text):
            pass
        document = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{file}:{line}", f"no YAML: {error.problem}", "mend the syntax there") from error
    except Exception as error:  # a bad tagged scalar raises whatever its constructor stumbles over
        raise InputError(str(file), f"no YAML: {error}", "mend the syntax") from error
    fields = Fields(document, str(file))
    fields.refuse_unknown(("capture", "cases"))
    capture = _capture(fields.inner("capture"), file)
    rows = fields.raw("cases")
    if not isinstance(rows, list) or not rows:
        raise InputError(fields.place("cases"), "is no list of cases", "add at least one")
    return [_case(Fields(row, f"{fields.place('cases')}/{i}"), capture, raw_input) for i, row in enumerate(rows)]


def _read(file: Path) -> str:
    # Carriage returns and a mark at the beginning are part of what a tool printed.
    mend = "every case file needs its capture as .txt beside it"
    return read_text(file, mend, most_mb=2 if file.suffix == ".yaml" else 20, encoding="utf-8")


def _capture(fields: Fields, file: Path) -> Capture:
    fields.refuse_unknown(_CAPTURE_FIELDS)
    origin = fields.text("origin")
    if origin not in ("captured", "written"):
        raise InputError(fields.place("origin"), f"{origin!r} is unknown", "say captured or written")
    return Capture(
        name=f"{file.parent.name}/{file.stem}",
        ecosystem=file.parent.name,
        tool=fields.text("tool"),
        version=fields.text("version"),
        command=fields.text("command"),
        exit_code=fields.whole("exit_code", 0) or 0,
        origin=origin,
        normalised=fields.texts("normalised"),
    )


def _case(fields: Fields, capture: Capture, raw_input: str) -> Case:
    fields.refuse_unknown(_CASE_FIELDS)
    case_id = fields.text("id")
    if not _SAFE_ID.match(case_id):
        raise InputError(fields.place("id"), f"{case_id!r} is no id", "use a-z, 0-9, dot, dash, underscore")
    intent = fields.choice("intent", Intent)
    mode = fields.choice("output_mode", OutputMode)
    modes = contract_of(intent).modes
    if mode not in modes:
        raise InputError(fields.place("output_mode"), f"{mode} does not go with {intent}", f"use {', '.join(modes)}")
    return Case(
        case_id=case_id,
        title=fields.text("title"),
        capture=capture,
        family=fields.choice("family", Family),
        intent=intent,
        output_mode=mode,
        difficulty=fields.choice("difficulty", Difficulty),
        instruction=fields.text("instruction"),
        raw_input=raw_input,
        expected_output=fields.text("expected_output"),
        alternatives=fields.texts("alternatives"),
        required_anchors=fields.texts("required_anchors"),
        derived_anchors=fields.texts("derived_anchors"),
        rules=_rules(fields.inner("rules")) if fields.has("rules") else Rules(),
        tags=fields.texts("tags"),
        rationale=fields.text("rationale", ""),
        where=fields.where,
    )


def _rules(fields: Fields) -> Rules:
    fields.refuse_unknown(_RULE_FIELDS)
    return Rules(
        max_lines=fields.whole("max_lines", least=1),
        max_words=fields.whole("max_words", least=1),
        max_sentences=fields.whole("max_sentences", least=1),
        max_items=fields.whole("max_items", least=1),
        forbidden=fields.texts("forbidden"),
        pattern=fields.text("pattern") if fields.has("pattern") else None,
        order=fields.texts("order"),
    )
