"""Which known words are suggested for one that nobody knows."""

from __future__ import annotations

import pytest

from ctxsift.errors import did_you_mean, near_names

HOSTS = ["claude", "codex", "gemini", "opencode", "pi"]


@pytest.mark.parametrize(
    ("word", "known", "near"),
    [
        ("vscode", HOSTS, []),
        ("cursor", HOSTS, []),
        ("claud", HOSTS, ["claude"]),
        ("xlaude", HOSTS, ["claude"]),
        ("pencode", HOSTS, ["opencode"]),
        ("toi", ["toy", "last"], ["toy"]),
        ("cpus", ["cpu", "gpu"], ["cpu"]),
        ("gold", ["control-gold", "control-echo"], ["control-gold"]),
        ("qwen", ["qwen2.5-coder-0.5b", "smollm2"], ["qwen2.5-coder-0.5b"]),
        ("--buget", ["--budget", "--json"], ["--budget"]),
        # Two dashes are no beginning that options share.
        ("--vscode", [f"--{host}" for host in HOSTS], []),
    ],
)
def test_only_what_may_be_a_slip_is_near(word: str, known: list[str], near: list[str]) -> None:
    assert near_names(word, known) == near


def test_where_nothing_is_near_all_is_listed() -> None:
    assert did_you_mean("vscode", HOSTS) == "known: claude, codex, gemini, opencode, pi"
