"""What other programs keep by rule, on sessions small enough to count by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmark.probes.loading import recorded_named
from ctxsift.sessions.compaction.methods import create_method
from ctxsift.sessions.compaction.records import CompactionSummary, Cut, Cycle
from ctxsift.sessions.compaction.transcript import text_of, text_of_step, tokens_in
from ctxsift.sessions.records import Source, Step, ToolCall, ToolResult
from ctxsift.sessions.speakers import words_of

# Codex keeps the newest user messages up to so many tokens, in its own compaction (not that of its service).
CODEX_LIMIT = 20_000


def says(number: int, text: str, source: Source = Source.AGENT) -> Step:
    return Step(number, source, text)


def calls(number: int, tool: str, output: str, message: str = "", **arguments: str) -> Step:
    call = ToolCall(f"call-{number}", tool, dict(arguments))
    return Step(number, Source.AGENT, message, calls=(call,), results=(ToolResult(call.call_id, output),))


def kept(name: str, span: Sequence[Step], budget: int, previous: CompactionSummary | None = None) -> CompactionSummary:
    made = create_method(name).compact(Cycle(Cut(99, 99), previous or CompactionSummary(), tuple(span), budget))
    assert made.tokens <= budget
    return made


TWO_TURNS = (
    says(1, "First task.", Source.USER),
    says(2, "Done with the first. " + "a" * 300),
    says(3, "Second task.", Source.USER),
    calls(4, "bash", "b" * 300, command="ls"),
    says(5, "Done with the second."),
)


def test_opencode_keeps_whole_turns_while_they_fit() -> None:
    budget = tokens_in(text_of(TWO_TURNS[2:]))
    assert kept("opencode-rules", TWO_TURNS, budget).text == text_of(TWO_TURNS[2:])
    assert kept("opencode-rules", TWO_TURNS, tokens_in(text_of(TWO_TURNS))).text == text_of(TWO_TURNS)


def test_opencode_keeps_the_turn_that_does_not_fit_from_the_first_step_that_does() -> None:
    budget = tokens_in(text_of(TWO_TURNS[2:])) - 1
    assert kept("opencode-rules", TWO_TURNS, budget).text == text_of(TWO_TURNS[3:])
    # A call is never parted from its result, and nothing before a step that does not fit is kept.
    assert kept("opencode-rules", TWO_TURNS, tokens_in(text_of(TWO_TURNS[3:])) - 1).text == text_of(TWO_TURNS[4:])


def test_opencode_keeps_nothing_where_the_last_step_does_not_fit() -> None:
    assert kept("opencode-rules", (says(1, "short"), says(2, "x" * 4000)), 500).text == ""


def test_steps_that_stayed_before_are_older_than_the_span() -> None:
    before = kept("opencode-rules", TWO_TURNS, tokens_in(text_of(TWO_TURNS[2:])))
    new = says(6, "Third task.", Source.USER)
    room = tokens_in(text_of((*TWO_TURNS[4:], new)))
    assert kept("opencode-rules", [new], room, before).text == text_of((*TWO_TURNS[4:], new))


def test_pi_lists_what_its_tools_changed_and_what_they_only_read() -> None:
    span = (
        calls(1, "read", "r", path="src/b.py"),
        calls(2, "read", "r", path="src/a.py"),
        calls(3, "Edit", "ok", file_path="src/b.py"),
        calls(4, "write", "ok", path="new.py"),
        calls(5, "bash", "ok", command="cat other.py", path="no/file"),
        says(6, "y" * 4000),
    )
    files = "Files changed:\n- new.py\n- src/b.py\n\nFiles read:\n- src/a.py"
    # The last step is above any room that is left, and stays with its middle cut.
    assert kept("pi-rules", span, 200).text.startswith(f"{files}\n\n[agent, step 6]\nyyy")
    assert kept("pi-rules", span, tokens_in(files)).text == files
    later = kept("pi-rules", [calls(7, "edit", "ok", path="src/a.py")], 200, kept("pi-rules", span, 200))
    assert later.text.startswith("Files changed:\n- new.py\n- src/a.py\n- src/b.py\n\n[agent, step 7]")


def test_pi_leaves_files_out_that_exceed_the_budget_those_only_read_first() -> None:
    span = (calls(1, "read", "", path="a" * 100), calls(2, "write", "", path="b" * 100))
    assert kept("pi-rules", span, 30).text == "Files changed:\n- " + "b" * 100


@pytest.mark.parametrize(
    ("output", "message", "stays"),
    [
        # Its own words reach the limit: the step stays.
        ("r" * 100, "m" * 900, True),
        # Its result alone reaches it: the steps begin after it, and no call is parted from its result.
        ("r" * 900, "m" * 100, False),
    ],
)
def test_pi_keeps_the_step_that_reaches_the_limit_unless_its_results_do(output: str, message: str, stays: bool) -> None:
    span = (says(1, "old"), calls(2, "bash", output, message, command="make"), says(3, "Done."))
    text = kept("pi-rules", span, 150).text
    assert text.endswith(text_of_step(span[2]))
    assert ("step 2]" in text) is stays
    assert ("of the step left out here" in text) is stays
    assert "step 1]" not in text
    assert kept("pi-rules", span, 1000).text == text_of(span)


@pytest.mark.parametrize("words", [900, 100])
def test_pi_keeps_the_same_whether_an_earlier_cut_kept_the_step_or_not(words: int) -> None:
    message, output, stays = "m" * words, "r" * (1000 - words), words == 900
    span = (says(1, "old"), calls(2, "bash", output, message, command="make"), says(3, "Done."), says(4, "x" * 300))
    budget = tokens_in(text_of(span[1:3]))
    before = kept("pi-rules", span[:3], budget)
    assert before.text == text_of(span[1:3])
    later = kept("pi-rules", span[3:], budget, before).text
    assert later == kept("pi-rules", span, budget).text
    assert ("step 2]" in later) is stays


def test_the_rule_of_codex_comes_to_all_that_the_user_said() -> None:
    """Otherwise a control of its own would be due: one that cuts at its limit."""
    for recorded in recorded_named(()):
        said = [words_of(step) for step in recorded.session().steps if step.source is Source.USER]
        assert 0 < sum(tokens_in(message) for message in said) < CODEX_LIMIT
