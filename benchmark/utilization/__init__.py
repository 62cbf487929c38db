"""Context utilization: whether the chunks that an answer needed are ranked before those it did not."""

from benchmark.utilization.formula import context_utilization, precision_at
from benchmark.utilization.judging import RecordedUtilizationJudge, UtilizationJudge
from benchmark.utilization.measuring import utilization
from benchmark.utilization.records import ChunkVerdict, RowState, RowUtilization, Utilization

__all__ = [
    "ChunkVerdict",
    "RecordedUtilizationJudge",
    "RowState",
    "RowUtilization",
    "Utilization",
    "UtilizationJudge",
    "context_utilization",
    "precision_at",
    "utilization",
]
