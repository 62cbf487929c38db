"""Which cases run, and in which order."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Sequence
from enum import StrEnum

from benchmark.cases import EASY_TIER, Case, Corpus, Split, split_of
from ctxsift.errors import InputError, did_you_mean
from ctxsift.intents import Intent


class CaseOrder(StrEnum):
    """Which cases come first where only some run."""

    EASY_FIRST = "easy-first"
    MIXED = "mixed"


def stratified(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases in a fixed order in which every stretch of eight holds all intents, while they last."""
    cases = tuple(cases)
    groups = [
        sorted((c for c in cases if c.intent is intent), key=lambda c: hashlib.sha256(c.case_id.encode()).digest())
        for intent in Intent
    ]
    rounds = itertools.zip_longest(*groups)
    return tuple(case for row in rounds for case in row if case is not None)


def beside_each_other(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases with those on the same input behind the first of them: their prompts begin alike."""
    groups: dict[tuple[str | None, int | None, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.request.command, case.request.exit_code, case.request.raw_input), []).append(case)
    return tuple(case for group in groups.values() for case in group)


def _named(corpus: Corpus, case_ids: Sequence[str]) -> list[Case]:
    by_id = {case.case_id: case for case in corpus.cases}
    for case_id in case_ids:
        if case_id not in by_id:
            raise InputError(f"--case-id {case_id}", "is not in the corpus", did_you_mean(case_id, by_id))
    return [by_id[case_id] for case_id in case_ids]


def select_cases(
    corpus: Corpus,
    *,
    case_ids: Sequence[str] = (),
    max_cases: int | None = None,
    split: Split | None = None,
    order: CaseOrder = CaseOrder.EASY_FIRST,
) -> tuple[Case, ...]:
    """Return the cases to run, in their order; that of a whole run is always mixed.

    Of the easy tier as of the others, every stretch of eight holds all intents, while they last.

    Raises:
        InputError: an unknown id (nearest ones shown), a limit below 1, or no case in that split.

    """
    if max_cases is not None and max_cases < 1:
        raise InputError("--max-cases", f"{max_cases} is below 1", "give 1 or more")
    chosen = _named(corpus, case_ids) if case_ids else corpus.cases
    if split is not None:
        chosen = [case for case in chosen if split_of(case.capture.name) is split]
        if not chosen:
            raise InputError(f"--split {split}", "has none of these cases", "leave it out, or choose other cases")
    cases = tuple(dict.fromkeys(chosen))
    if max_cases is None or order is CaseOrder.MIXED:
        return stratified(cases)[:max_cases]
    easy = [case for case in cases if EASY_TIER in case.tags]
    others = [case for case in cases if EASY_TIER not in case.tags]
    return (*stratified(easy), *stratified(others))[:max_cases]
