"""What is wrong with probes is found before anything is measured with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.probes.__main__ import main
from tests.benchmark.probes.worked import worked_example, written


def check(folder: Path, capsys: pytest.CaptureFixture[str], text: str | None = None) -> tuple[int, str]:
    code = main(["check", "ledgerline", "--probes", str(written(folder, text))])
    shown = capsys.readouterr()
    return code, shown.out + shown.err


def test_the_worked_example_is_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = check(tmp_path, capsys)
    assert (code, "ledgerline: 2 probes, asked 4 times" in shown) == (0, True), shown


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("id: rounding", "idd: rounding", "/probes/1/idd: unknown field; did you mean"),
        ("must_not:", "no:", "/probes/0/"),
        ("rounding-at-first", "no-locale", "no-locale is used twice"),
        ("evidence: [98]", "evidence: [998]", "the session has no step 998"),
        ("evidence: [99]", "evidence: [99, 147]", "never asked: step 147 is kept"),
        ("until: 148", "until: 99", "step 99 is not after the evidence"),
        ("evidence: [99]", "evidence: [58]", "no step of the evidence says 'it rounds half up'"),
        ("says: it rounds half up", "says: it rounds somehow", "`says` does not say it"),
        ("What does share() do with half a cent?", "Is it half up?", "the question itself says"),
        ("unless: [installed nowhere]", "unless: [installed here]", "installed nowhere near the'"),
        ("terms: [[half down]]", "terms: [[half up]]", "says what it must not: it rounds half down"),
        ("- says: it rounds half down", "- says: it rounds badly", "must_not/1: `says` does not break it"),
        ("unless: [installed nowhere]", "unless: [installed nowhere, was]", "must_not/1: unless 'was' excuses nearly"),
        ("evidence: [98]", "evidence: [240]", "step 98 says 'locale.atof needs"),
        ("terms: [[truncate, cut off, cut the rest off]]", "terms: [[a.py]]", "'a.py' contains an identifier"),
    ],
)
def test_each_fault_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, told: str
) -> None:
    assert right in worked_example()
    code, shown = check(tmp_path, capsys, worked_example().replace(right, wrong))
    assert code
    assert told in shown


_NEVER = """unanswerable:
  - id: never
    question: Which key signs the export?
    never_said: [signing key]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("never_said: [signing key]", "never_said: [Rounding]", "(never): the session says 'Rounding'"),
        ("id: never", "id: no-locale", "no-locale is used twice"),
        ("never_said:", "said:", "/unanswerable/0/said: unknown field"),
    ],
)
def test_a_question_without_an_answer_asks_for_what_is_never_mentioned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], right: str, wrong: str, told: str
) -> None:
    assert check(tmp_path, capsys, worked_example() + _NEVER)[0] == 0
    code, shown = check(tmp_path, capsys, worked_example() + _NEVER.replace(right, wrong))
    assert code
    assert told in shown


def test_too_few_must_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fewer = worked_example().replace("      - says: it rounds half down\n        terms: [[half down]]\n", "")
    assert "2 must_not; write at least 3" in check(tmp_path, capsys, fewer)[1]


def test_names_that_can_be_swapped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loose = """
probes:
  - id: who-sees-what
    type: recall
    question: Which bank is about which cause?
    evidence: [10, 11]
    statements:
      - says: money.py fails first and dates.py afterwards
        names: [money.py, dates.py]
"""
    shown = check(tmp_path, capsys, loose)[1]
    assert "'money.py' and 'dates.py' swapped the answer is as good: bind them in pairs" in shown


LEAKING = """
probes:
  - id: version
    type: recall
    question: Which version is released?
    evidence: [235]
    statements:
      - says: it is release 0.5.0
        names: [0.5.0]
        terms: [[release, version]]
    must_not:
      - {says: it is 0.4.0, names: [0.4.0], terms: [[we release]]}
      - {says: it is 0.6.0, names: [0.6.0]}
      - {says: it is 1.0.0, names: [1.0.0]}
"""


def test_a_planted_leak_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Steps 256 to 275 stay at the last cut, and say the version again."""
    code, shown = check(tmp_path, capsys, LEAKING)
    assert code
    assert "never asked: the kept steps say every vital statement" in shown
    assert "version: kept steps say statements/0 at cut 5; it does not count there" in shown


def test_there_is_nothing_to_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "ledgerlin"]) == 2
    assert main(["check", "--probes", "x.yaml"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "did you mean ledgerline" in told[0]
    assert "contains probes of one session" in told[1]
