"""Lines picked by rule: in their order and wording, gaps named, what matters among them."""

from __future__ import annotations

import re

import pytest

from ctxsift.extract import MOST_CHARS, extract

QUIET = [f"[{n:03}] copying asset {n * 37 % 991} to dist" for n in range(400)]
GAP = re.compile(r"\.\.\. ([\d,]+) lines? \.\.\.")


def test_failing_lines_come_with_those_that_follow_and_gaps_are_counted() -> None:
    trouble = ["Error: ENOSPC writing dist/app.js", "    at write (fs.js:12)", "    at pack (pack.js:88)"]
    lines = [*QUIET[:150], *trouble, *QUIET[150:]]
    found = extract("\n".join(lines) + "\n", "why did it stop?").text.split("\n")
    at = found.index(trouble[0])
    assert found[at : at + 4] == [*trouble, QUIET[150]]
    assert found[0] == lines[0]
    assert found[-3:] == lines[-3:]
    kept = [line for line in found if not GAP.fullmatch(line)]
    assert kept == [line for line in lines if line in set(kept)]
    assert sum(int(match[1].replace(",", "")) for line in found if (match := GAP.fullmatch(line))) + len(kept) == len(
        lines
    )


def test_lines_near_the_question_are_kept() -> None:
    lines = [*QUIET[:200], "peak memory of the worker: 812 MB", *QUIET[200:]]
    assert lines[200] in extract("\n".join(lines), "What was the peak memory?").text.split("\n")


def test_only_lines_that_are_the_same_to_the_byte_fold() -> None:
    found = extract("start\n" + "WARN retry\n" * 40 + "WARN retry \nend\n", "what happened?").text.split("\n")
    assert found == ["start", "WARN retry", "... the same line 39 more times ...", "WARN retry ", "end"]


@pytest.mark.parametrize("output", ["error: " + "x" * 900_000, "\n".join(f"error {n} in x{n}" for n in range(90_000))])
def test_it_stays_short_whatever_the_output(output: str) -> None:
    assert len(extract(output, "which errors?").text) < 2 * MOST_CHARS


@pytest.mark.parametrize("output", ["", "\n\n", "one line", "a\nb\n"])
def test_what_is_short_is_all_there(output: str) -> None:
    assert extract(output, "what?").text == output.rstrip("\n")


@pytest.mark.parametrize("line", ["FATAL: x", "Échec: Error 3", "Module NOT found", "panic: é"])
def test_a_failing_line_is_one_in_any_case_and_beside_any_letter(line: str) -> None:
    assert line in extract("\n".join([*QUIET[:200], line, *QUIET[200:]]), "?").text.split("\n")


def test_lines_shorter_than_the_mark_of_their_gap_are_shown() -> None:
    trouble = ["", "error: first", "  |", "", "  ^", "", "  =", "", "error: second"]
    found = extract("\n".join([*trouble, *QUIET]), "errors")
    assert found.text.split("\n")[: len(trouble)] == trouble
    marks = [line for line in found.text.split("\n") if GAP.fullmatch(line)]
    assert found.shown == len(found.text.split("\n")) - len(marks)
