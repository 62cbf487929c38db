"""A result over three cases: one that is judged by statements, one in prose that has none, one that needs none.

And a measurement of how far such scores can be trusted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmark.cases import Case
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.outcome import grade
from benchmark.grading.result import build_result
from benchmark.matrix import Track
from benchmark.record.read import read_result
from benchmark.record.result import Result
from benchmark.record.validity import Half, Judged, Limit, Validity, ValidityFigure
from benchmark.record.write import write_result
from benchmark.scoring import SCORER_VERSION, Embedder
from benchmark.statements.model import MustNot, Statement
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation
from tests.conftest import ROOT
from tests.support.frozen import page_cases

WITH, WITHOUT, NO_PROSE = "alembic-unique-index-summary", "psql-seed-lost-rows-summary", "jest-calendar-json"
STATEMENTS = (
    Statement(
        "9d51b8c2e7f0 could not create uq_patients_email",
        names=("9d51b8c2e7f0",),
        terms=(("failed", "could not create"),),
    ),
    Statement("patients.email has duplicates", terms=(("email",), ("duplicate", "the same email"))),
    Statement(
        "7c93e0f4ab68 is the last revision that went through", names=("7c93e0f4ab68",), terms=(("went through",),)
    ),
)
WRONG = MustNot("the database is at 9d51b8c2e7f0", names=("9d51b8c2e7f0",), terms=(("is now at",),))
# It says the first, leaves out the second, and contradicts.
ANSWER = "Revision 9d51b8c2e7f0 failed to create uq_patients_email. Even so, the database is now at 9d51b8c2e7f0."


def worded_cases() -> list[Case]:
    """Return the three cases."""
    by_id = {case.case_id: case for case in page_cases().cases}
    return [
        dataclasses.replace(by_id[WITH], statements=STATEMENTS, must_not=(WRONG,)),
        dataclasses.replace(by_id[WITHOUT], statements=(), must_not=()),
        by_id[NO_PROSE],
    ]


def result_of(cases: Sequence[Case], embedder: Embedder, name: str = "worded") -> Result:
    """Return a result of a model that answers ANSWER where there are statements, else gold."""
    record = read_result(ROOT / "tests" / "data" / "results" / "v2" / "model-00.json.gz").record
    scenario = dataclasses.replace(record.scenario, name=name, track=Track.CPU)
    outcomes = [
        grade(
            case,
            _answer(ANSWER if case.statements else case.expected_output),
            embedder,
            recovery_enabled=True,
            attempts=1,
            elapsed_ms=100.0,
            rss_bytes=None,
        )
        for case in cases
    ]
    assert record.run is not None
    planned = [case.case_id for case in cases]
    run = replace(record.run, scorer_version=SCORER_VERSION, complete=True, case_ids=planned)
    return build_result(scenario, record.warmup, run, outcomes, cases, ReferenceScores(embedder))


def _answer(text: str) -> Answer:
    generation = Generation(
        text=text,
        finish_reason="stop",
        prompt_tokens=100,
        completion_tokens=30,
        prefill_ms=30.0,
        decode_ms=70.0,
        total_ms=100.0,
        model="a model",
    )
    return Answer(generation, input_chars_cut=0)


def result_file(folder: Path, cases: Sequence[Case], embedder: Embedder, name: str = "worded") -> Path:
    """Write the result and return its file."""
    file = folder / f"{name}.json"
    write_result(file, result_of(cases, embedder, name))
    return file


def measurement(scorer_version: str = SCORER_VERSION) -> Validity:
    """Return a measurement of six figures, two of them beyond their bars."""

    def figure(half: Half, measure: str, value: float, limit: Limit | None, bar: float | None) -> ValidityFigure:
        return ValidityFigure(half=half, measure=measure, value=value, count=40, limit=limit, bar=bar)

    def judged(half: Half, kind: str, score: float) -> Judged:
        return Judged(half=half, case_id=WITH, kind=kind, text=f"<b>{kind}</b>\n{ANSWER}", case_score=score, reasons=[])

    return Validity(
        scorer_version=scorer_version,
        corpus_sha256="a" * 64,
        answers_sha256="b" * 64,
        labelled_sha256="c" * 64,
        figures=[
            figure(Half.ALL, "gold, final score", 100.0, Limit.LEAST, 100.0),
            figure(Half.ALL, "best baseline, final score", 26.25, Limit.MOST, 25.0),
            figure(Half.TUNED, "right answers, mean", 0.96, Limit.LEAST, 0.95),
            figure(Half.HELD_OUT, "right answers, mean", 0.9, Limit.LEAST, 0.93),
            figure(Half.HELD_OUT, "wrong answers, mean", 0.31, Limit.MOST, 0.4),
            figure(Half.HELD_OUT, "irrelevant answers, mean", 0.05, None, None),
        ],
        sources=[],
        worst_right=[judged(Half.HELD_OUT, "right", 0.31)],
        best_wrong=[judged(Half.TUNED, "outcome", 0.84)],
    )
