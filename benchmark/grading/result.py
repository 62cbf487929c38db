"""Outcomes of one scenario -> its result, whether they were just given or are scored again."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from benchmark.cases import Case, Split, split_of
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.summary import break_down, summarise
from benchmark.matrix import Scenario
from benchmark.record.result import Answered, Outcome, Result, Run, Statistics, Warmup
from benchmark.statistics import CONFIDENCE, DRAWS, SEED

STATISTICS = Statistics(method="percentile bootstrap of captures", seed=SEED, draws=DRAWS, confidence=CONFIDENCE)


def build_result(
    scenario: Scenario,
    warmup: Warmup,
    run: Run,
    outcomes: Sequence[Outcome],
    cases: Sequence[Case],
    references: ReferenceScores,
) -> Result:
    """Return the result made of what was measured and of outcomes that may be scored again.

    Args:
        scenario: the row of the matrix.
        warmup: what loading took.
        run: how the answers came to be.
        outcomes: one a case that was asked.
        cases: those of the outcomes, in any order.
        references: gold and the baselines.

    """
    by_id = {case.case_id: case for case in cases}
    answered = [by_id[o.question.case_id] for o in outcomes if isinstance(o, Answered)]
    return Result(
        scenario=scenario,
        warmup=warmup,
        run=run,
        summary=summarise(
            len(run.case_ids),
            outcomes,
            references.scores(answered, recovery_enabled=run.recovery_enabled) if answered else {},
            latency_ignored=run.latency_ignored,
        ),
        breakdowns=break_down(outcomes),
        cases=list(outcomes),
    )


def part_of(result: Result, split: Split) -> Result:
    """Return a result with the cases of one split alone, and the summary of these; reference rows are left out.

    Cases of which the file names no capture belong to no split.
    """
    cases = [c for c in result.cases if c.question.capture is not None and split_of(c.question.capture) is split]
    ignored = result.run is not None and result.run.latency_ignored
    summary = summarise(len(cases), cases, {}, latency_ignored=ignored)
    return replace(result, cases=cases, summary=summary, breakdowns=break_down(cases))
