"""Outcomes of one scenario -> its result, whether they were just given or are scored again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from benchmark.cases import Case, Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.summary import break_down, summarise
from benchmark.matrix import Scenario
from benchmark.record.result import Answered, Outcome, Question, Result, Run, Statistics, Warmup
from benchmark.record.validity import measured_error
from benchmark.statistics import CONFIDENCE, DRAWS, SEED

STATISTICS = Statistics(method="percentile bootstrap of captures", seed=SEED, draws=DRAWS, confidence=CONFIDENCE)


def build_result(
    scenario: Scenario,
    warmup: Warmup,
    run: Run,
    outcomes: Sequence[Outcome],
    cases: Sequence[Case],
    references: ReferenceScores | None,
) -> Result:
    """Return the result made of what was measured and of outcomes that may be scored again.

    Args:
        scenario: the row of the matrix.
        warmup: what loading took.
        run: how the answers came to be.
        outcomes: one a case that was asked.
        cases: those of the outcomes, in any order.
        references: gold and the baselines; None leaves these rows out.

    """
    by_id = {case.case_id: case for case in cases}
    answered = [by_id[o.question.case_id] for o in outcomes if isinstance(o, Answered)]
    known = references.scores(answered, recovery_enabled=run.recovery_enabled) if references and answered else {}
    return Result(
        scenario=scenario,
        warmup=warmup,
        run=run,
        summary=summarise(
            len(run.case_ids),
            outcomes,
            known,
            latency_ignored=run.latency_ignored,
            judge_error=measured_error(run.scorer_version, run.corpus_sha256),
            author=scenario.model,
        ),
        breakdowns=break_down(outcomes),
        cases=list(outcomes),
    )


def part_of(
    result: Result, keeps: Callable[[Question], bool], corpus: Corpus | None, references: ReferenceScores | None
) -> Result:
    """Return a result with some of its cases alone, and the summary of these.

    Args:
        result: as it is stored.
        keeps: returns True for the cases to keep.
        corpus: that the result is of; without it, the part has no reference rows.
        references: gold and the baselines on that corpus.

    """
    run = result.run
    cases = [case for case in result.cases if keeps(case.question)]
    scores: dict[str, list[float]] = {}
    answered = [case.question.case_id for case in cases if isinstance(case, Answered)]
    if corpus is not None and references is not None and run is not None and answered:
        by_id = {case.case_id: case for case in corpus.cases}
        scores = references.scores([by_id[name] for name in answered], recovery_enabled=run.recovery_enabled)
    summary = summarise(
        len(cases),
        cases,
        scores,
        latency_ignored=run is not None and run.latency_ignored,
        judge_error=measured_error(run.scorer_version, run.corpus_sha256) if run is not None else None,
        author=result.scenario.model,
    )
    return replace(result, cases=cases, summary=summary, breakdowns=break_down(cases))
