"""Which part of a run a job asks: named by a person, or by the environment of a job array."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmark.cases import Case
from ctxsift.errors import InputError

# As many as the largest array of a common cluster.
MOST_SHARDS = 100_000
COUNT, SHARD = "CTXSIFT_SHARDS", "CTXSIFT_SHARD"
_TASK, _TASKS = "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"
_FIRST, _LAST = "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX"
_COMPLETION = "JOB_COMPLETION_INDEX"


@dataclass(frozen=True)
class ShardName:
    """The index-th of count shards.

    Attributes:
        index: from 1 to count.
        count: from 1 to MOST_SHARDS.

    """

    index: int
    count: int

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def part_of(self, cases: Iterable[Case]) -> tuple[Case, ...]:
        """Return the cases of this shard, in their order: all that stand on one capture, so that it is read once."""
        return tuple(case for case in cases if shard_index(case.capture.name, self.count) == self.index)


def shard_index(name: str, count: int) -> int:
    """Return the shard, from 1 to count, that what has this name belongs to; new names move no old ones."""
    # Other bytes than those that tell development from test.
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[8:16], "big") % count + 1


def read_shard(text: str) -> ShardName:
    """Return a shard by what was typed, e.g. `3/16`. Raises ValueError for what is none."""
    found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
    index, count = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= index <= count <= MOST_SHARDS:
        raise ValueError(f"{text!r} is not a shard; write e.g. 1/16 to 16/16")
    return ShardName(index, count)


def shard_of(environment: Mapping[str, str]) -> ShardName | None:
    """Return the shard that a job array means by its variables; None where there is none.

    `CTXSIFT_SHARD` is taken as it is typed. `CTXSIFT_SHARDS` says how many there are: with it, the index is that of a
    Slurm array, which counts from 1, or of a Kubernetes job, which counts from 0. Without it, only a whole Slurm array
    is understood: one that is started again for some of its jobs has another number of them.

    Raises:
        InputError: naming the variable that is wrong, or that is missing.

    """
    if told := environment.get(SHARD):
        try:
            return read_shard(told)
        except ValueError as error:
            raise InputError(SHARD, str(error), "or leave it out") from None
    count = shard_count(environment)
    if (task := _number(environment, _TASK)) is not None:
        return _of_slurm(environment, task, count)
    if (index := _number(environment, _COMPLETION)) is not None:
        if count is None:
            raise InputError(
                f"{_COMPLETION}={index}", "the number of shards is not known", f"set {COUNT}, or give --shard"
            )
        return _within(_COMPLETION, index, index + 1, count)
    if count is not None and count > 1:
        hint = f"give --shard I/{count}, or run it as a Slurm array or a Kubernetes indexed job"
        raise InputError(f"{COUNT}={count}", "the number of this shard is not known", hint)
    return None


def shard_count(environment: Mapping[str, str]) -> int | None:
    """Return the number of shards that CTXSIFT_SHARDS says, if it is set. Raises InputError where it is none."""
    count = _number(environment, COUNT)
    if count is not None and not 1 <= count <= MOST_SHARDS:
        raise InputError(f"{COUNT}={count}", "is not a number of shards", f"give 1 to {MOST_SHARDS}")
    return count


def _of_slurm(environment: Mapping[str, str], task: int, count: int | None) -> ShardName:
    tasks, first, last = (_number(environment, name) for name in (_TASKS, _FIRST, _LAST))
    whole = count if count is not None else tasks
    if whole is not None and whole > 1 and (first, last, tasks) == (0, whole - 1, whole):
        return _within(_TASK, task, task + 1, whole)
    # One job of a larger array that is started again looks like an array of one.
    partial = tasks in (None, 1) or (first, last) not in ((None, None), (1, tasks))
    if count is None and partial:
        what = "the number of shards is not known, because this array is not 1 to N"
        raise InputError(f"{_TASK}={task}", what, f"set {COUNT}, or give --shard (1/1 for a whole run)")
    assert whole is not None
    return _within(_TASK, task, task, whole)


def _within(variable: str, told: int, index: int, count: int) -> ShardName:
    if not 1 <= index <= count:
        hint = "number the jobs of a Slurm array from 1 (--array=1-N), of a Kubernetes job from 0"
        raise InputError(f"{variable}={told}", f"is not one of the {count} shards", hint)
    return ShardName(index, count)


def _number(environment: Mapping[str, str], name: str) -> int | None:
    told = environment.get(name)
    if not told:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", told):
        raise InputError(f"{name}={told[:20]}", "is not a whole number", "leave it out, or give --shard I/N")
    return int(told)


def array_of(indices: Iterable[int]) -> str:
    """Return indices as Slurm writes them, e.g. `2,5-7`; `parallel` and shells can read it too."""
    runs: list[list[int]] = []
    for index in sorted(set(indices)):
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
