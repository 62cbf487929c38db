"""Results cut to some of their cases, compared with the best baseline on these cases alone."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from msgspec.structs import replace as with_fields

from benchmark.cases import Case
from benchmark.corpus import load_corpus
from benchmark.grading.baselines import shipped_case_scores
from benchmark.grading.summary import standing_of
from benchmark.record.read import StoredResult
from benchmark.record.result import Run
from benchmark.record.validity import measured_error
from benchmark.scoring import SCORER_VERSION


def cut_to(result: StoredResult, names: Iterable[str]) -> StoredResult:
    """Return a result with some of its cases alone.

    Its summary says where it lies between the best baseline and gold on these cases, or nothing of that where the
    scores of baselines are unknown; other figures of the summary are still those of all cases.

    Args:
        result: of any corpus.
        names: ids of cases, in any order; those without an answer are left out.

    """
    wanted = set(names)
    cases = {name: case for name, case in result.cases.items() if name in wanted}
    run, record = result.record.run, result.record
    scores = _baselines(run, tuple(cases)) if run and cases else {}
    standing = None
    if run is not None and scores:
        error = measured_error(run.scorer_version, run.corpus_sha256)
        standing = standing_of(list(cases.values()), scores, error, record.scenario.model)
    summary = with_fields(record.summary, standing=standing)
    return replace(result, cases=cases, record=with_fields(record, summary=summary))


def _baselines(run: Run, names: tuple[str, ...]) -> dict[str, list[float]]:
    """Return the stored scores of gold and baselines on cases; empty where there are none."""
    if run.scorer_version != SCORER_VERSION or not run.recovery_enabled:
        return {}
    sha256, cases = _packaged_cases()
    return _shipped(names) if sha256 == run.corpus_sha256 and cases.keys() >= set(names) else {}


@functools.lru_cache(maxsize=64)
def _shipped(names: tuple[str, ...]) -> dict[str, list[float]]:
    _, cases = _packaged_cases()
    return shipped_case_scores([cases[name] for name in names])


@functools.cache
def _packaged_cases() -> tuple[str, Mapping[str, Case]]:
    corpus = load_corpus()
    return corpus.sha256, {case.case_id: case for case in corpus.cases}
