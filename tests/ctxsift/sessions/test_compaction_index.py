"""The artifact index in a summary: what became of a check and why a command failed is told once."""

from __future__ import annotations

import pytest

from ctxsift.sessions.artifacts.index import index_for
from ctxsift.sessions.compaction.index_text import index_text
from ctxsift.sessions.records import SessionHead, Source, Step, ToolCall, ToolResult

FOLDER = "/home/me/tool"
KEY_ERROR = "E   KeyError: 'fee_cents'\n1 failed, 40 passed in 1.20s"
TYPE_ERROR = "E   TypeError: unsupported operand type(s)\n1 failed, 40 passed in 1.20s"
GREEN = "41 passed in 1.10s"
HOOK = (
    "> tool@1.0.0 lint\n> eslint .\n\nsrc/a.js\n  1:1  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error)\n"
)

Run = tuple[str, str, int | None]


def told(*runs: Run | list[Run], name: str = "bash") -> list[str]:
    """Return the lines of the index on checks, commits and failures; runs in a list are calls of one step."""
    head = SessionHead("messages", folder=FOLDER)
    index = index_for(head)
    for number, each in enumerate(runs, 1):
        calls, results = [], []
        for at, (command, output, code) in enumerate(each if isinstance(each, list) else [each]):
            calls.append(ToolCall(f"c{number}-{at}", name, {"command": command}))
            results.append(ToolResult(f"c{number}-{at}", output, code, bool(code) if code is not None else None))
        index.add(Step(number, Source.AGENT, "", calls=tuple(calls), results=tuple(results), folder=FOLDER))
    lines = index_text(index.artifacts(), 4000).splitlines()
    return [line for line in lines if line.startswith(("- check", "- failed", "- commit"))]


@pytest.mark.parametrize(
    ("name", "run", "line"),
    [
        ("bash", ("pytest -q", KEY_ERROR, 1), "pytest -q (E KeyError: 'fee_cents')"),
        # The exit code is that of another command, or is not recorded.
        ("Bash", ("pytest -q 2>&1 | tail -5", KEY_ERROR, 0), "pytest -q (E KeyError: 'fee_cents')"),
        ("shell", ("cd /home/me/tool && pytest -q", KEY_ERROR, None), "pytest -q (E KeyError: 'fee_cents')"),
        (
            "execute_bash",
            ("cargo clippy 2>&1 | tail -3", "error: redundant field names\n --> src/a.rs:1:1", 0),
            "cargo clippy (error: redundant field names)",
        ),
        ("bash", ("go vet ./...", "", 1), "go vet ./..."),
        (
            "bash",
            ("git commit -am 'Fees'", HOOK, 1),
            "npm run lint, within git commit (✖ 1 problem (1 error))",
        ),
    ],
)
def test_a_check_that_failed_is_told_once(name: str, run: Run, line: str) -> None:
    assert told(run, name=name) == [f"- check failed, step 1: {line}"]


def test_a_check_that_failed_again_for_the_same_reason_is_told_by_its_last_run() -> None:
    assert told(("pytest -q", KEY_ERROR, 1), ("ls", "a.py", 0), ("pytest -q | tail", KEY_ERROR, 0)) == [
        "- check failed, step 3: pytest -q (E KeyError: 'fee_cents')"
    ]


def test_another_failure_of_a_check_is_another() -> None:
    assert told(("pytest -q", TYPE_ERROR, 1), ("pytest -q", KEY_ERROR, 1)) == [
        "- check failed, step 2: pytest -q (E KeyError: 'fee_cents')",
        "- failed, step 1: pytest -q: E TypeError: unsupported operand type(s)",
    ]


def test_a_failure_of_a_check_that_passed_since_stands_once() -> None:
    failing = (("pytest -q", KEY_ERROR, 1), ("timeout 60 pytest -q 2>&1 | tail", KEY_ERROR, 0))
    assert told(*failing, ("pytest -q", GREEN, 0)) == [
        "- check passed, step 3: pytest -q",
        "- failed, step 2 and once before: pytest -q: E KeyError: 'fee_cents'",
    ]
    assert told(failing[0], *failing, failing[0], ("pytest -q", GREEN, 0))[1].startswith(
        "- failed, step 4 and 3 times before: pytest -q"
    )


@pytest.mark.parametrize(
    "forms",
    [
        ("time make check", "make check"),
        ("npx vitest run", "timeout 90 npx vitest run"),
        ("python -m pytest -q", "uv run pytest -q"),
    ],
)
def test_what_only_runs_a_check_makes_no_other_of_it(forms: tuple[str, str]) -> None:
    first, last = forms
    red = ("FAIL tests/a.test.ts\nTests  1 failed | 3 passed (4)", 1)
    assert told((first, *red), (last, *red)) == [f"- check failed, step 2: {last} ({red[0].splitlines()[0]})"]
    assert [line for line in told((first, *red), (last, "", 0)) if line.startswith("- check")] == [
        f"- check passed, step 2: {last}"
    ]


def test_a_command_that_failed_again_for_the_same_reason_is_told_once() -> None:
    missing = "cat: notes.md: No such file or directory"
    assert told(("cat notes.md", missing, 1), ("ls", "", 0), ("cat notes.md", missing, 1), ("deploy", "", 3)) == [
        f"- failed, step 3 and once before: cat notes.md: {missing}",
        "- failed, step 4: deploy",
    ]


def test_checks_that_failed_in_one_line_for_one_reason_share_theirs() -> None:
    hooks = "ruff....................Failed\nmypy....................Failed\na.py:1: error: Name 'x' is not defined\n"
    assert told(("git commit -m 'Fees'", hooks, 1)) == [
        "- check failed, step 1: pre-commit: ruff; pre-commit: mypy, within git commit "
        "(a.py:1: error: Name 'x' is not defined)"
    ]


def test_what_else_failed_in_the_step_of_a_check_is_told() -> None:
    parallel: list[Run] = [
        ("pytest -q", KEY_ERROR, 1),
        ("git push", "fatal: unable to access 'https://example.org/'", 128),
    ]
    assert told(parallel) == [
        "- check failed, step 1: pytest -q (E KeyError: 'fee_cents')",
        "- failed, step 1: git push: fatal: unable to access 'https://example.org/'",
    ]
    # The check passed since; another one of that step fails yet.
    both: list[Run] = [("pytest -q", KEY_ERROR, 1), ("ruff check .", "a.py:1:1: F821 Undefined name `x`", 1)]
    assert told(both, ("pytest -q", GREEN, 0)) == [
        "- check failed, step 1: ruff check . (a.py:1:1: F821 Undefined name `x`)",
        "- check passed, step 2: pytest -q",
        "- failed, step 1: pytest -q: E KeyError: 'fee_cents'",
    ]


def test_one_check_in_two_folders_is_told_apart() -> None:
    lines = told(("npm test", "Tests: 1 failed, 2 passed, 3 total", 1), ("cd web && npm test", "", 0))
    assert lines == [
        "- check failed, step 1: npm test (Tests: 1 failed, 2 passed, 3 total)",
        "- check passed, step 2: npm test in web",
    ]
