"""The answers of a batch of Transformers while they grow: their tokens, their ends, and when these came."""

from __future__ import annotations

import time
from typing import Any

from ctxsift.backends.base import FinishReason
from ctxsift.backends.cuda import DeviceWatch
from ctxsift.backends.loops import LoopDetector


class _BatchRow:
    """One answer of a batch while it grows."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.finish: FinishReason = "length"
        self.ended_ms = 0.0
        self.open = True
        self._loop = LoopDetector()

    def push(self, token: int, now_ms: float, ends: frozenset[int]) -> None:
        self.ended_ms = now_ms
        if token in ends:
            self.finish, self.open = "stop", False
            return
        self.tokens.append(token)
        if self._loop.push(token):
            self.finish, self.open = "loop", False


class Rows:
    """Hears of every token of a batch, notes times, and says which rows are done: a stopping criterion."""

    def __init__(self, torch: Any, watch: DeviceWatch, count: int, ends: frozenset[int]) -> None:
        self._torch, self._watch, self._ends = torch, watch, ends
        self._started = time.perf_counter()
        self.rows = [_BatchRow() for _ in range(count)]
        self.first_ms = 0.0

    def __call__(self, input_ids: Any, *_: Any, **__: Any) -> Any:
        """Take the newest token of each row; return which rows are done, a tensor of one flag a row."""
        # Reading the tokens waits for the device, so the clock below is the device's too.
        newest = input_ids[:, -1].tolist()
        self._watch.synchronize()
        now_ms = (time.perf_counter() - self._started) * 1000
        self.first_ms = self.first_ms or now_ms
        for row, token in zip(self.rows, newest, strict=True):
            if row.open:
                row.push(token, now_ms, self._ends)
        return self._torch.tensor([not row.open for row in self.rows], device=input_ids.device)
