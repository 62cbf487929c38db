"""Reading sessions takes time in proportion to their length, whatever they are made of."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxsift.sessions.artifacts.index import index_events
from ctxsift.sessions.importers.base import AgentLine
from ctxsift.sessions.reading import open_session
from ctxsift.sessions.records import Source
from ctxsift.sessions.redacting import Redactor
from tests.support.growing import KINDS

# Twice is what it takes; what is not in proportion takes four times, or has no end.
MOST_TIMES = 3.2
# What a session of no length may take.
_BASE_S = 0.02


def quickest(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the best of three."""
    found = []
    for _ in range(3):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


@pytest.mark.parametrize("kind", KINDS)
def test_twice_as_much_takes_twice_as_long(tmp_path: Path, kind: str) -> None:
    size, write = KINDS[kind]
    # A tenth of what `make perf` measures.
    small, large = size // 10, size // 5
    spent = []
    for each in (small, large):
        path = tmp_path / str(each)
        path.write_bytes(write(each))

        def read(path: Path = path) -> None:
            with open_session(path) as events:
                index_events(Redactor().events(events))

        spent.append(quickest(read))
    assert spent[1] < MOST_TIMES * (spent[0] + _BASE_S)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_step_with_very_many_calls(*, in_order: bool) -> None:
    def put_together(count: int) -> None:
        line = AgentLine()
        turn = line.begin(Source.AGENT)
        ids = [line.call(turn, f"c{number}", "bash", {}) for number in range(count)]
        for call_id in ids if in_order else reversed(ids):
            assert not line.has_answer(call_id, "done")
            assert line.result(call_id, "done") is turn
        assert not turn.waiting

    small, large = (quickest(lambda count=count: put_together(count)) for count in (10_000, 20_000))  # type: ignore[misc]
    assert large < MOST_TIMES * (small + _BASE_S)


def test_substitutions_within_hundreds_of_others_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(KINDS["substitutions in each other"][1](3000))
    with open_session(path) as events:
        assert not index_events(events).files
