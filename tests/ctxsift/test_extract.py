"""Lines picked by rule: in their order and wording, gaps named, what matters among them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from ctxsift.extract import MOST_CHARS, extract, shows_failure

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


def test_tests_that_passed_do_not_take_the_room_of_failures() -> None:
    def listed(number: int) -> str:
        return f"test_cart.py::test_many[{number}] {'FAILED' if number % 7 == 3 else 'PASSED'}".ljust(73) + "[ 42%]"

    failures = [
        f"____ test_many[{number}] ____\n\n    def test_many(n):\n>       assert n % 7 != 3\n"
        f"E       assert ({number} % 7) != 3\n\ntest_cart.py:{number}: AssertionError"
        for number in range(3, 90, 7)
    ]
    text = extract("\n".join([*map(listed, range(90)), *failures, "13 failed, 77 passed in 2.29s"]), "").text
    assert text.count("PASSED") <= 2
    assert sum(line.startswith("E ") for line in text.split("\n")) == len(failures) == 13


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


PODS = [f"shop-{n * 37 % 91:x}c{n}-e8dfc   1/1     Running            0          {n % 40}d" for n in range(120)]
TAP = [line for n in range(1, 200) for line in (f"ok {n} - adds items {n}", "  ---", f"  duration_ms: {n}.38", "  ...")]
LINKING = [f"gcc -O2 -Wall -c src/unit{n}.c -o build/unit{n}.o" for n in range(120)]
UNITTEST = [f"test_error_handling_{n} (tests.test_errors.TestErrors) ... ok" for n in range(150)]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (PODS, ["shop-9ac1-22b3d   0/1     CrashLoopBackOff   37         2d"]),
        (TAP, ["not ok 200 - keeps order", "  location: 'money.test.js:212:1'"]),
        (LINKING, ["unit3.c:(.text+0x4): undefined reference to `total'", "collect2: ld returned 1 exit status"]),
        (LINKING, ["Speicherzugriffsfehler"]),
        (UNITTEST, ["test_refund (tests.test_refund.TestRefund) ... FAIL", "AssertionError: 1900 != 1899"]),
        ([f"npm warn deprecated p{n}@1.{n}.0: it has an error, upgrade" for n in range(90)], ["npm error ERESOLVE"]),
    ],
)
def test_what_is_unlike_the_other_lines_is_kept(lines: list[str], told: list[str]) -> None:
    half = len(lines) // 2 // 4 * 4
    found = extract("\n".join([*lines[:half], *told, *lines[half:]]), "what is it?").text.split("\n")
    assert [line for line in found if line in told] == told


def lint(module: int) -> list[str]:
    level = "error" if module == 23 else "warning"
    return [f"/srv/shop/module{module:02}.ts", f"  40:6  {level}  'total' is never used  no-unused-vars", ""]


def pod(number: int) -> list[str]:
    state = "OOMKilled" if number == 23 else "Completed"
    return [f"Name: job-{number}", "Containers:", "  api:", "    Last State:", f"      Reason: {state}", ""]


def advice(number: int) -> list[str]:
    command = 'rm -rf "$DIR/"' if number == 23 else f"cp $src_{number} dst"
    return [
        f"In scripts/job{number}.sh line 9:",
        command,
        "   ^-- SC2115: use :? here" if number == 23 else "   ^-- quote",
        "",
    ]


def issue(number: int) -> list[str]:
    said = "we add the index" if number == 23 else "any news?"
    return [
        f"===== #{900 + number}",
        "title: Rounding",
        *[f"comment {n}: thanks" for n in range(5)],
        f"comment 5: {said}",
    ]


@pytest.mark.parametrize(
    ("record", "question", "told"),
    [
        (lint, "which file has an error?", ["/srv/shop/module23.ts", "  40:6  error  'total' is never used"]),
        (pod, "which container was killed?", ["Containers:", "  api:", "    Last State:", "      Reason: OOMKilled"]),
        (advice, "what may delete everything? SC2115?", ["In scripts/job23.sh", 'rm -rf "$DIR/"', "   ^-- SC2115"]),
        (issue, "which issue decides on an index?", ["===== #923", "comment 5: we add the index"]),
    ],
)
def test_a_line_brings_the_headings_that_it_stands_under(
    record: Callable[[int], list[str]], question: str, told: list[str]
) -> None:
    lines = [line for number in range(60) for line in record(number)]
    found = extract("\n".join(lines), question).text.split("\n")
    own = [line for line in found if not GAP.fullmatch(line)]
    at = next(place for place, line in enumerate(own) if line.startswith(told[-1]))
    # Nothing of another record stands between them.
    above = own[at - len(told) + 1 : at + 1]
    assert all(line.startswith(each) for line, each in zip(above, told, strict=True)), above


def test_failures_that_are_left_out_are_counted() -> None:
    lines = [f"FAILED tests/test_area.py::test_case_{n} - value {n} differs" for n in range(300)]
    found = extract("\n".join(lines), "which tests fail?").text
    left_out = sum(int(count) for count in re.findall(r"(\d+) of them with a failure", found))
    assert left_out + found.count("FAILED") == 300


def test_a_line_that_comes_back_is_shown_once_and_counted() -> None:
    lines = [line for n in range(200) for line in (QUIET[n], *(["no connection to db-2"] if n % 5 == 0 else []))]
    found = extract("\n".join(lines), "how often was there no connection to db-2?").text.split("\n")
    assert found.count("no connection to db-2") == 1
    assert found[found.index("no connection to db-2") + 1] == "... this line occurs 40 times ..."


def test_colours_and_progress_bars_hide_nothing_and_stay_as_they_are() -> None:
    told = "\x1b[31mE\x1b[0m   \x1b[1massert 27 == 26\x1b[0m"
    bar = "".join(f"\r{n} %" for n in range(100)) + "\rno room is left"
    lines = [f"\x1b[32m{line}\x1b[0m" for line in QUIET]
    found = extract("\n".join([*lines[:200], told, bar, *lines[200:]]), "why?").text.split("\n")
    assert told in found
    assert any(line.endswith("no room is left") for line in found)


def test_a_failure_in_the_middle_of_a_long_line_is_shown() -> None:
    long = "x " * 400 + "ERROR: no room is left" + " x" * 400
    found = extract("\n".join([*QUIET[:200], long, *QUIET[200:]]), "why?").text.split("\n")
    (shown,) = [line for line in found if line.startswith("x x")]
    assert "ERROR: no room is left" in shown
    assert sum(map(int, re.findall(r"\.\.\. (\d+) characters \.\.\.", shown))) + 700 == len(long)


@pytest.mark.parametrize(
    ("line", "fails"),
    [
        ("E   AssertionError: 1900 != 1899", True),
        ("2 failed, 1 passed", True),
        ("test_errors (tests.TestErrors) ... ok", False),
        ("  ✓ handles a failed login (3 ms)", False),
        ("tests/test_failures.py::test_one PASSED   [ 12%]", False),
        ("found 0 errors", False),
        ("no errors, 2 failures", True),
        ("Compilation échouée", True),
        ("copied 12 files", False),
    ],
)
def test_a_line_shows_a_failure_or_not(line: str, *, fails: bool) -> None:
    assert shows_failure(line) is fails
