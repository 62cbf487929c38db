"""How many threads a machine has room for."""

from __future__ import annotations

import subprocess
import sys
import time

import psutil
import pytest

from ctxsift.backends.room import Room, room


@pytest.mark.parametrize(
    ("threads", "cores", "others", "expected"),
    [
        (2, 2, 0.0, 2),
        (2, 2, 0.4, 2),
        (2, 2, 0.7, 1),
        (2, 2, 1.0, 1),
        (2, 2, 6.0, 1),
        (4, 8, 3.0, 4),  # of eight logical cores five are free
        (4, 8, 6.2, 2),
        (1, 16, 16.0, 1),
        (2, 2, -0.1, 2),  # clocks disagree a little
    ],
)
def test_a_busy_core_is_left_to_who_keeps_it_busy(threads: int, cores: int, others: float, expected: int) -> None:
    assert room(threads, cores, others) == expected


@pytest.mark.slow
def test_what_others_do_is_seen() -> None:
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(psutil.cpu_count() or 1)]
    try:
        space = Room(2)
        time.sleep(1.0)
        assert space.threads() == 1
    finally:
        for each in spinning:
            each.kill()
            each.wait()
