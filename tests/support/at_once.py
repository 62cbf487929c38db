"""Processes that begin at one moment: each says `ready`, and goes on once it is told."""

from __future__ import annotations

import subprocess


def go(*processes: subprocess.Popen[str]) -> None:
    """Wait until every process has said `ready`, then let them all go."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
