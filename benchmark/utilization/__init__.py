"""Context utilization: whether the chunks that an answer needed are ranked before those it did not."""

from benchmark.utilization.formula import context_utilization, precision_at
from benchmark.utilization.judging import Judge, RecordedJudge
from benchmark.utilization.measuring import utilization
from benchmark.utilization.records import ChunkVerdict, RowUtilization, State, Utilization

__all__ = [
    "ChunkVerdict",
    "Judge",
    "RecordedJudge",
    "RowUtilization",
    "State",
    "Utilization",
    "context_utilization",
    "precision_at",
    "utilization",
]
