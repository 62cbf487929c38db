"""Case files that are wrong are refused in one line that names file, place and hint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmark.cases import Rules
from benchmark.corpus import load_corpus
from ctxsift.errors import InputError
from tests.support.frozen import CAPTURE

NAME = CAPTURE.name


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A corpus of one capture with its cases."""
    folder = tmp_path / "java"
    folder.mkdir()
    for suffix in (".yaml", ".txt"):
        shutil.copy(CAPTURE.with_suffix(suffix), folder)
    return folder / f"{NAME}.yaml"


def test_a_copy_of_a_case_file_is_read(file: Path) -> None:
    cases = load_corpus(file.parents[1]).cases
    assert len(cases) > 1
    assert {case.capture.name for case in cases} == {f"java/{NAME}"}
    assert cases[0].where.startswith(f"{file}: /cases/")


@pytest.mark.parametrize(
    ("old", "new", "refusal"),
    [
        ("capture:", "capture: [", ":4: not valid YAML: "),
        ("cases:", "cases: []\nodd:", ": /odd: unknown field; "),
        ("family: ", "familiy: ", ": /cases/0/familiy: unknown field; did you mean family?"),
        ("  tool: ", "  tol: ", ": /capture/tol: unknown field; did you mean tool?"),
        ("rules:", "rules:\n      max_word: 3", ": /cases/0/rules/max_word: unknown field; did you mean max_words"),
        ("rules:", "rules:\n      max_items: 0", ": /cases/0/rules/max_items: 0 is too small; give 1 or more"),
        ("intent: ", "# ", ": /cases/0/intent: required field is missing; add 'intent'"),
        ("intent: recall", "intent: recal", ": /cases/0/intent: 'recal' is unknown; did you mean recall?"),
        ("intent: recall", "intent: json", ": /cases/0/output_mode: plain_text cannot be used with json; use json"),
        ("difficulty: easy", "difficulty: [hard]", ": /cases/0/difficulty: expected a string, got a list"),
        ("title: ", "title: ' '\n    rationale: ", ": /cases/0/title: is empty; give it a value"),
        ("title: ", "title: 2024-01-01 #", ": /cases/0/title: expected a string, got a date"),
        ("title: ", "title: 0x" + "f" * 9000 + " #", ": not valid YAML: holds a number of 9,002 digits"),
        ("title: ", "? 0x" + "f" * 9000 + "\n    : 1 #", ": not valid YAML: holds a number of 9,002 digits"),
        ("id: java-caused-by-recall", "id: ../java", ": /cases/0/id: '../java' is not a usable id; use a-z, 0-9"),
        ("id: java-caused-by-recall", "id: java-root-cause-exact", "the id java-root-cause-exact is also used in "),
        ("origin: captured", "origin: invented", ": /capture/origin: 'invented' is unknown; known: captured, written"),
        ("normalised:", "normalised: x #", ": /capture/normalised: expected a list, got a string"),
        (
            "exit_code: ",
            "exit_code: yes #",
            ": /capture/exit_code: expected a whole number or nothing, got true or false",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(file: Path, old: str, new: str, refusal: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_corpus(file.parents[1])
    assert refusal in str(caught.value)
    assert NAME in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cases", ["[]", "{}", "x", "", "[1]"])
def test_a_file_without_cases_is_refused(file: Path, cases: str) -> None:
    head = file.read_text(encoding="utf-8").partition("cases:")[0]
    file.write_text(f"{head}cases: {cases}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"/cases(/0)?: (is empty|expected a (list|mapping), got )"):
        load_corpus(file.parents[1])


def test_rules_are_read_as_they_are_written(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    rules = text.index("rules:")
    written = "rules: {max_lines: 3, forbidden: [a, b], pattern: 'x.*', order: [c]}\n    tags: []\n"
    file.write_text(text[:rules] + written, encoding="utf-8")
    (case,) = load_corpus(file.parents[1]).cases
    assert case.rules == Rules(max_lines=3, forbidden=("a", "b"), pattern="x.*", order=("c",))
