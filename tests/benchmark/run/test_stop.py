"""Asking for the end of a run, from threads and from signal handlers."""

from __future__ import annotations

import signal

import pytest

from benchmark.run.signals import stopping_by_signals
from benchmark.run.stop import Stop


def test_what_is_over_is_not_ended() -> None:
    stop, ended = Stop(), list[str]()
    with stop.on_request(lambda: ended.append("first")):
        pass
    with stop.on_request(lambda: ended.append("second")):
        stop.request()
        stop.request()
        with stop.on_request(lambda: ended.append("late")):
            pass
    assert ended == ["second", "late"]
    assert stop.requested


def test_a_signal_may_come_while_an_action_is_added() -> None:
    stop, ended = Stop(), list[str]()

    class Interrupted(list[object]):
        def append(self, action: object) -> None:
            super().append(action)
            signal.raise_signal(signal.SIGTERM)

    stop._actions = Interrupted()  # type: ignore[assignment]
    with stopping_by_signals(stop), stop.on_request(lambda: ended.append("once")):
        assert ended == ["once"]


def test_handlers_are_put_back(capfd: pytest.CaptureFixture[str]) -> None:
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = [signal.getsignal(number) for number in numbers]
    stop = Stop()
    with stopping_by_signals(stop):
        for number in numbers:
            signal.raise_signal(number)
    assert stop.requested
    assert capfd.readouterr().err == "stopping: what was answered is kept; press again to leave at once\n"
    assert [signal.getsignal(number) for number in numbers] == before
