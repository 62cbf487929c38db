"""Numbers, nesting and patterns that people write: within bounds, or refused in one line that names the place."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmark.corpus import load_corpus
from benchmark.corpus.jsonl import case_row
from benchmark.matrix import load_matrix
from ctxsift.errors import InputError
from ctxsift.settings import load_settings
from tests.conftest import Run, scenario, scripted, write_matrix

REMOTE = scenario(name="r", track="remote", model="openai/x", device="remote", gguf_filename=None)


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


# A value of the field extra_body, the place in it that is named, and the problem.
BODIES = [
    ('{"a": {"b": [1, NaN]}}', "/a/b/1", "nan is not a number that JSON has"),
    ('{"a": -Infinity}', "/a", "-inf is not a number that JSON has"),
    ('{"a": 1e999}', "/a", "inf is not a number that JSON has"),
    (f'{{"a": {"9" * 30}}}', "/a", f"{'9' * 30} is too large"),
    (f'{{"a": {nested(40)}}}', "/a", "is nested too deeply"),
    (f'{{"a": {nested(900)}}}', "/a", "is nested too deeply"),
    ('{"\\ud800": 1}', "", "holds half a character"),
    ('{"a": "\\udfff"}', "/a", "holds half a character"),
]


def refused(folder: Path, text: str) -> str:
    (folder / "matrix.json").write_text(text)
    with pytest.raises(InputError) as caught:
        load_matrix(folder / "matrix.json")
    return str(caught.value)


def row_text(**written: str) -> str:
    """Return a matrix of one remote row with fields of which the JSON is given."""
    fields = {name: json.dumps(value) for name, value in REMOTE.items()} | written
    return f'{{"scenarios": [{{{", ".join(f"{json.dumps(name)}: {text}" for name, text in fields.items())}}}]}}'


@pytest.mark.parametrize(("body", "place", "problem"), BODIES)
def test_what_json_cannot_pass_on_is_refused_where_it_stands(
    tmp_path: Path, body: str, place: str, problem: str
) -> None:
    message = refused(tmp_path, row_text(extra_body=body))
    assert f": /scenarios/0/extra_body{place}: {problem}" in message
    assert "; " in message


@pytest.mark.parametrize("levels", [1000, 100_000])
def test_nesting_that_no_parser_bears_is_refused(tmp_path: Path, levels: int) -> None:
    assert "is nested too deeply; " in refused(tmp_path, row_text(extra_body=nested(levels)))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (dict(max_output_tokens="10000000000"), "/max_output_tokens: 10000000000 is too large; give 1000000 or less"),
        (dict(max_output_tokens="1e10"), "/max_output_tokens: expected a whole number"),
        (dict(max_output_tokens="NaN"), "/max_output_tokens: nan is not a number"),
        (dict(concurrency="1001"), "/concurrency: 1001 is too large; give 1000 or less"),
        (dict(concurrency="1" + "0" * 400), "/concurrency: 1000"),
    ],
)
def test_numbers_beyond_reason_are_refused(tmp_path: Path, fields: dict[str, str], problem: str) -> None:
    assert problem in refused(tmp_path, row_text(**fields))


def test_what_is_within_bounds_is_taken(tmp_path: Path) -> None:
    body: dict[str, Any] = {"seed": 2**64 - 1, "low": -(2**63), "x": 1.5, "deep": json.loads(nested(20)), "t": "語\x00"}
    path = write_matrix(tmp_path, REMOTE | dict(max_output_tokens=1_000_000, concurrency=1000, extra_body=body))
    (found,) = load_matrix(path)
    assert (found.max_output_tokens, found.concurrency, found.extra_body) == (1_000_000, 1000, body)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TIMEOUT_MS", "86400001", "too large; give 1 to 86400000"),
        ("TIMEOUT_MS", "1" + "0" * 300, "too large; give 1 to 86400000"),
        ("TIMEOUT_MS", "nan", "not a whole number; give 1 to"),
        ("RETRIES", "101", "too large; give 0 to 100"),
        ("RETRIES", "-1", "not a whole number; give 0 to 100"),
        ("MAX_OUTPUT_TOKENS", "1000001", "too large; give 1 to 1000000"),
        ("LLM_REASONING_BUDGET", "1000001", "too large; give 1 to 1000000"),
        ("LLM_REASONING_BUDGET", "9" * 5000, "not a whole number; give 1 to 1000000"),
    ],
)
def test_settings_beyond_reason_are_refused(name: str, value: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load_settings(None, {f"CTXSIFT_{name}": value})
    message = str(caught.value)
    assert message.startswith(f"the environment: CTXSIFT_{name}: ")
    assert said in message
    assert len(message) < 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["--case-timeout", "1e10"],
        ["--case-timeout", "604801"],
        ["--case-timeout", "1e400"],
        ["--case-timeout", "nan"],
        ["--max-cases", "0"],
        ["--max-cases", "9" * 5000],
        ["--devices", "cuda:99999999999999999999"],
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_options_beyond_reason_are_one_line(tmp_path: Path, runner: Run, arguments: list[str]) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    done = runner(*arguments)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert arguments[0] in line


@pytest.mark.slow
def test_the_longest_time_that_may_be_given_can_be_waited_for(tmp_path: Path, runner: Run) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x") | dict(max_output_tokens=1_000_000, concurrency=1000))
    done = runner("--max-cases", "1", "--case-timeout", "604800")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("body", ['{"a": NaN}', '{"a": 1e999}', f'{{"a": {nested(900)}}}'], ids=["nan", "inf", "deep"])
def test_a_run_refuses_what_json_cannot_pass_on(tmp_path: Path, runner: Run, body: str) -> None:
    (tmp_path / "matrix.json").write_text(row_text(extra_body=body))
    done = runner("--remote", "--max-cases", "1")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: matrix.json: /scenarios/0/extra_body/a: ")


# Patterns of rules --------------------------------------------------------------------------------------------------

# A pattern, and why it is refused.
REFUSED = {
    "nested": ("(" * 3000 + "a" + ")" * 3000, "characters"),
    "less nested": ("(?:" * 400 + "a" + ")" * 400, "opening parentheses"),
    "look-ahead": ("(?=" * 400 + "a" + ")" * 400, "opening parentheses"),
    "a huge repeat": ("a{99999999999999999999}", "repeat count too big"),
    "a huge number": ("a{" + "9" * 1900 + "}", "repeat count too big"),
    "long": ("a" * 1_000_000, "characters"),
    "many": ("|".join(map(str, range(10_000))), "characters"),
    "open": ("(a\x1b", "missing"),
}
# Those that match in good time, or are ended.
USED = {
    "large repeats": "((a{1,10000}){1,10000}){1,99999999}",
    "catastrophic": "(a|aa)+$",
    "recursive": "(?R)",
    "most groups": "(" * 100 + "a" + ")" * 100,
}


def corpus_with(folder: Path, pattern: str) -> Path:
    row = case_row(next(case for case in load_corpus().cases if case.rules.pattern))
    row["rules"]["pattern"] = pattern
    row["judgement"] = None
    path = folder / "corpus.jsonl"
    path.write_text(json.dumps(row) + "\n")
    return path


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.slow
def test_a_pattern_that_cannot_be_used_is_refused(tmp_path: Path, name: str) -> None:
    pattern, why = REFUSED[name]
    with pytest.raises(InputError) as caught:
        load_corpus(corpus_with(tmp_path, pattern))
    place, _, reason = str(caught.value).partition(": the pattern cannot be used: ")
    assert place.endswith("corpus.jsonl:1: /rules/pattern")
    assert why in reason
    assert len(reason) < 200


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nested", "look-ahead", "a huge repeat"])
def test_check_and_run_refuse_a_pattern_in_one_line(tmp_path: Path, runner: Run, name: str) -> None:
    corpus_with(tmp_path, REFUSED[name][0])
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    check = [sys.executable, "-m", "benchmark.corpus", "check", "--dataset", "corpus.jsonl"]
    checked = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    for done in (checked, runner("--dataset", "corpus.jsonl")):
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert line.startswith("error: corpus.jsonl:1: /rules/pattern: the pattern cannot be used: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", USED)
def test_a_run_with_a_pattern_that_explodes_ends(tmp_path: Path, runner: Run, name: str) -> None:
    corpus_with(tmp_path, USED[name])
    write_matrix(tmp_path, scripted(tmp_path, default="a" * 1999 + "!"))
    done = runner("--dataset", "corpus.jsonl")
    assert done.returncode == 0, done.stderr


def test_bounds_leave_room_for_what_is_packaged() -> None:
    from benchmark.patterns import LONGEST_PATTERN, MOST_GROUPS

    patterns = [case.rules.pattern for case in load_corpus().cases if case.rules.pattern]
    assert max(map(len, patterns)) < LONGEST_PATTERN / 10
    assert max(pattern.count("(") for pattern in patterns) < MOST_GROUPS / 4
