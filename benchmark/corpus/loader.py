"""Reads a corpus folder: per capture one text file and, beside it, its provenance and cases in YAML."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark.cases import Capture, Case, Corpus, KnownAnswer
from benchmark.corpus.answers import answers_in
from benchmark.corpus.jsonl import read_jsonl
from benchmark.corpus.records import CaptureEntry, CaptureFile, CaseEntry
from benchmark.corpus.statement_checks import check_statements
from benchmark.corpus.variants import variant_of
from benchmark.patterns import PatternError, compiled
from benchmark.typed_input import place_in, read_object
from benchmark.yaml_input import yaml_document
from ctxsift.contracts import contract_of
from ctxsift.errors import InputError
from ctxsift.files import exists, read_text

DEFAULT_CORPUS = Path(__file__).parent / "data"
_VARIANT = re.compile(r"variant:(\d{1,9})")
_SAFE_ID = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")


def load_corpus(path: Path = DEFAULT_CORPUS, *, judge_gold: bool = True) -> Corpus:
    """Load the corpus in the folder or JSONL file `path`, or the variant `variant:N` of the packaged one.

    Args:
        path: of the corpus.
        judge_gold: refuse a case whose gold does not say its own statements; the packaged corpus is never asked.

    Raises:
        InputError: naming the file, the place in it and the hint.

    """
    if (variant := _VARIANT.fullmatch(str(path))) and not exists(path):
        return variant_of(load_corpus(), int(variant[1]))
    if not exists(path):
        raise InputError(str(path), "no such file or folder", "give --dataset the folder of a corpus, or a .jsonl file")
    if path.is_file():
        cases, sha256 = read_jsonl(path)
    else:
        cases, sha256 = _load_folder(path)
    if path == DEFAULT_CORPUS:
        cases = _with_known_answers(cases)
    seen: dict[str, str] = {}
    for case in cases:
        _check_pattern(case)
        # The packaged corpus is proved by its tests; doing it at every start would take longer than reading it.
        if path != DEFAULT_CORPUS:
            check_statements(case, against_gold=judge_gold)
        if case.case_id in seen:
            raise InputError(case.where, f"the id {case.case_id} is also used in {seen[case.case_id]}", "rename one")
        seen[case.case_id] = case.where
    return Corpus(path, tuple(sorted(cases, key=lambda c: c.case_id)), sha256)


def _with_known_answers(cases: list[Case]) -> list[Case]:
    """Return the cases with the answers that the scorer may know."""
    known: dict[str, list[KnownAnswer]] = {}
    for each in answers_in():
        if not each.held_out and (each.is_right or each.is_wrong):
            known.setdefault(each.case_id, []).append(KnownAnswer(each.text, each.is_right, each.writer))
    return [replace(case, known=tuple(known.get(case.case_id, ()))) for case in cases]


def _check_pattern(case: Case) -> None:
    """Raise InputError for a pattern that would match nothing, whatever a model answers."""
    if case.rules.pattern is not None:
        try:
            compiled(case.rules.pattern)
        except PatternError as error:
            where = place_in(case.where, "rules", "pattern")
            raise InputError(where, f"the pattern cannot be used: {error}", "fix the pattern, or remove it") from None


def _load_folder(path: Path) -> tuple[list[Case], str]:
    files = sorted(path.rglob("*.yaml"))
    if not files:
        raise InputError(
            str(path), "contains no .yaml files", "give --dataset the folder of a corpus, or a .jsonl file"
        )
    cases: list[Case] = []
    digest = hashlib.sha256()
    for file in files:
        cases += _load_file(file, digest, is_packaged=path == DEFAULT_CORPUS)
    return cases, digest.hexdigest()


def _load_file(file: Path, digest: Any, *, is_packaged: bool) -> list[Case]:
    text = _read(file)
    raw_input = _read(file.with_suffix(".txt"))
    for part in (text, raw_input):
        digest.update(hashlib.sha256(part.encode()).digest())
    document = yaml_document(text, str(file), is_ours=is_packaged)
    found = read_object(CaptureFile, document, str(file))
    capture = _capture(found.capture, file)
    return [_case(entry, capture, raw_input, f"{file}: /cases/{index}") for index, entry in enumerate(found.cases)]


def _read(file: Path) -> str:
    # Carriage returns and a byte order mark are part of what a tool printed.
    hint = "put the capture next to the case file, as .txt"
    return read_text(file, hint, most_mb=2 if file.suffix == ".yaml" else 20, encoding="utf-8")


def _capture(entry: CaptureEntry, file: Path) -> Capture:
    return Capture(
        name=f"{file.parent.name}/{file.stem}",
        ecosystem=file.parent.name,
        tool=entry.tool,
        version=entry.version,
        command=entry.command,
        exit_code=entry.exit_code,
        origin=entry.origin.value,
        normalised=entry.normalised,
    )


def _case(entry: CaseEntry, capture: Capture, raw_input: str, where: str) -> Case:
    if not _SAFE_ID.match(entry.case_id):
        problem = f"{entry.case_id!r} is not a usable id"
        raise InputError(place_in(where, "id"), problem, "use a-z, 0-9, dots, dashes and underscores")
    modes = contract_of(entry.intent).modes
    if entry.output_mode not in modes:
        problem = f"{entry.output_mode} cannot be used with {entry.intent}"
        raise InputError(f"{where}/output_mode", problem, f"use {', '.join(modes)}")
    return Case(
        case_id=entry.case_id,
        title=entry.title,
        capture=capture,
        family=entry.family,
        intent=entry.intent,
        output_mode=entry.output_mode,
        difficulty=entry.difficulty,
        instruction=entry.instruction,
        raw_input=raw_input,
        expected_output=entry.expected_output,
        alternatives=entry.alternatives,
        required_anchors=entry.required_anchors,
        derived_anchors=entry.derived_anchors,
        rules=entry.rules,
        tags=entry.tags,
        rationale=entry.rationale,
        where=where,
        statements=entry.statements,
        must_not=entry.must_not,
    )
