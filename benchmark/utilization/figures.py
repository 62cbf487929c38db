"""From verdicts to the figures of rows and of a data set, and to what is wrong with these."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

import numpy as np

from benchmark.statistics import Clusters, bootstrap_means, interval_of, percentile
from benchmark.utilization.formula import context_utilization, precision_at
from benchmark.utilization.records import (
    BINS,
    ChunkVerdict,
    DataRow,
    RiskSign,
    RowState,
    RowUtilization,
    Spread,
    Utilization,
)

LOW_MEAN, LOW_MEDIAN, HIGH_DEVIATION, LOW_HIGHEST, SMALL_SAMPLE = 0.5, 0.5, 0.3, 0.8, 30
MANY_UNSCORED = 0.05


def row_utilization(question: DataRow, verdicts: Sequence[ChunkVerdict], k: int | None) -> RowUtilization:
    """Return the figures of a row, given a verdict on each of its chunks or, for speed, on each of the top K."""
    top = list(verdicts[:k])
    known = [verdict.relevant for verdict in top if verdict.relevant is not None]
    whole = len(known) == len(top)
    utilization = context_utilization(known) if whole else None
    precision = precision_at(known) if whole else None
    state = RowState.UNSCORED if not whole else RowState.UNDEFINED if utilization is None else RowState.DEFINED
    return RowUtilization(
        row=question.number,
        question=question.question,
        state=state,
        utilization=None if utilization is None else float(utilization),
        precision=None if precision is None else float(precision),
        chunks=len(top),
        relevant=sum(known),
        verdicts=top,
    )


def summarized(
    source: str, verdicts_by: str, k: int | None, questions: Sequence[DataRow], rows: list[RowUtilization]
) -> Utilization:
    """Return the figures of a data set.

    Args:
        source: file, or how the rows came about.
        verdicts_by: who decided what is relevant.
        k: ranks that count.
        questions: the rows of the data.
        rows: the figures of each.

    """
    defined = [(row.utilization, q) for q, row in zip(questions, rows, strict=True) if row.utilization is not None]
    values = [value for value, _ in defined]
    states = [row.state for row in rows]
    undefined, unscored = states.count(RowState.UNDEFINED), states.count(RowState.UNSCORED)
    precisions = [row.precision for row in rows if row.precision is not None]
    spread = _spread(values, Clusters.of(tuple(sorted(set(q.contexts))) for _, q in defined)) if values else None
    return Utilization(
        source=source,
        verdicts_by=verdicts_by,
        k=k,
        count=len(values),
        undefined=undefined,
        unscored=unscored,
        unscored_share=unscored / len(rows),
        spread=spread,
        mean_with_zeros=statistics.fmean([*values, *[0.0] * undefined]) if values or undefined else None,
        mean_precision=statistics.fmean(precisions) if precisions else None,
        histogram=np.histogram(values, bins=BINS, range=(0, 1))[0].tolist(),
        warnings=list(_warnings(spread, len(values), unscored / len(rows))),
        rows=rows,
    )


def _spread(values: Sequence[float], clusters: Clusters) -> Spread:
    drawn = interval_of(bootstrap_means(values, clusters), clusters)
    return Spread(
        mean=statistics.fmean(values),
        median=statistics.median(values),
        lowest=min(values),
        quartile_1=percentile(values, 25),
        quartile_3=percentile(values, 75),
        highest=max(values),
        deviation=statistics.stdev(values) if len(values) > 1 else None,
        interval=None if drawn is None else (drawn.low, drawn.high),
    )


def _warnings(spread: Spread | None, count: int, unscored: float) -> Iterator[RiskSign]:
    """Yield the signs of risk, that rows are left out, and that a sample is small."""
    if unscored >= MANY_UNSCORED:
        text = f"{100 * unscored:.0f}% of the rows are unscored: the figures are those of the others"
        yield RiskSign(figure="unscored_share", value=unscored, threshold=MANY_UNSCORED, text=text)
    if spread is not None:
        if spread.mean < LOW_MEAN:
            yield _low("mean", spread.mean, LOW_MEAN, "needed chunks stand behind others")
        if spread.median < LOW_MEDIAN:
            yield _low("median", spread.median, LOW_MEDIAN, "half of the rows have needed chunks behind others")
        if spread.deviation is not None and spread.deviation > HIGH_DEVIATION:
            text = f"the standard deviation {spread.deviation:.2f} is above {HIGH_DEVIATION}: ranking is uneven"
            yield RiskSign(figure="deviation", value=spread.deviation, threshold=HIGH_DEVIATION, text=text)
        if spread.highest < LOW_HIGHEST:
            yield _low("highest", spread.highest, LOW_HIGHEST, "no row has its needed chunks first")
    if count < SMALL_SAMPLE:
        text = f"the sample is small: {count} defined row{'' if count == 1 else 's'}, fewer than {SMALL_SAMPLE}"
        yield RiskSign(figure="count", value=count, threshold=SMALL_SAMPLE, text=text)


def _low(figure: str, value: float, threshold: float, meaning: str) -> RiskSign:
    text = f"the {figure} {value:.2f} is below {threshold}: {meaning}"
    return RiskSign(figure=figure, value=value, threshold=threshold, text=text)
