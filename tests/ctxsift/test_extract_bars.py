"""What the extract keeps of outputs of forty tools: strings that decide, by a writer who knew nothing of its rules.

33 are what the tools printed, seven are written by hand in a tool's format. Half of them were looked at while the rules
were made. Before that, 80 % of the strings of that half were kept, and 83 % of the other.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
from collections.abc import Iterator
from typing import Any

import pytest

from benchmark.cases import Case
from benchmark.corpus.loader import load_corpus
from benchmark.scoring.anchors import missing_anchors
from ctxsift.cli.parser import DEFAULT_QUESTION
from ctxsift.extract import MOST_CHARS, extract, shows_failure
from tests.conftest import ROOT

# What a user would type who has no such rules.
GREP = re.compile(
    r"error|fail|fatal|exception|panic|warn|not ok|denied|refused|not found|killed|undefined", re.IGNORECASE
)


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    with gzip.open(ROOT / "tests" / "data" / "tool-outputs.jsonl.gz", "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def test_it_keeps_the_strings_that_decide(cases: list[dict[str, Any]]) -> None:
    assert len(cases) == 40
    kept = total = whole = 0
    for case in cases:
        text = extract(case["output"], case["question"]).text
        found = [needle in text for needle in case["needles"]]
        kept, total, whole = kept + sum(found), total + len(found), whole + all(found)
    assert kept >= 0.9 * total
    assert whole >= 32


def test_it_keeps_most_of_them_when_nobody_asks(cases: list[dict[str, Any]]) -> None:
    texts = [extract(case["output"], DEFAULT_QUESTION).text for case in cases]
    assert share_kept(cases, texts) >= 0.82
    # Which the rules were not made on.
    assert share_kept(cases[::2], texts[::2]) >= 0.82
    assert sum(map(len, texts)) <= 0.25 * sum(len(case["output"]) for case in cases)


def share_kept(cases: list[dict[str, Any]], texts: list[str]) -> float:
    found = [needle in text for case, text in zip(cases, texts, strict=True) for needle in case["needles"]]
    return sum(found) / len(found)


def grepped(output: str, around: int, most_chars: int) -> str:
    """Return lines with a word of failure and so many around them, cut to a length."""
    lines = output.split("\n")
    places = [place for place, line in enumerate(lines) if GREP.search(line)]
    kept = {near for place in places for near in range(place - around, place + around + 1)}
    return "\n".join(line for place, line in enumerate(lines) if place in kept)[:most_chars]


@pytest.mark.parametrize("half", [0, 1])
def test_each_half_keeps_its_strings_and_no_plain_search_comes_near(half: int, cases: list[dict[str, Any]]) -> None:
    some = cases[half::2]
    texts = [extract(case["output"], case["question"]).text for case in some]
    simple = [
        [grepped(case["output"], around, len(text)) for case, text in zip(some, texts, strict=True)]
        for around in (0, 1, 3)
    ]
    ends = [case["output"][-len(text) :] for case, text in zip(some, texts, strict=True)]
    assert share_kept(some, texts) >= 0.85
    assert max(share_kept(some, others) for others in (*simple, ends)) <= 0.5


def test_it_takes_a_quarter_of_the_characters(cases: list[dict[str, Any]]) -> None:
    texts = [extract(case["output"], case["question"]).text for case in cases]
    assert sum(map(len, texts)) <= 0.25 * sum(len(case["output"]) for case in cases)
    assert max(map(len, texts)) <= 1.6 * MOST_CHARS


def test_no_failed_run_looks_as_if_all_had_passed(cases: list[dict[str, Any]]) -> None:
    for case in cases:
        # `diff` ends with 1 where files differ.
        if case["exit_code"] and case["tool"] != "diff":
            lines = extract(case["output"], case["question"]).text.split("\n")
            assert any(map(shows_failure, lines)), case["name"]


@pytest.fixture(scope="module")
def corpus() -> tuple[Case, ...]:
    return load_corpus().cases


@pytest.mark.slow
@pytest.mark.parametrize(("most_chars", "share", "of_chars"), [(MOST_CHARS, 0.9, 0.6), (2500, 0.82, 0.42)])
def test_it_keeps_the_anchors_of_right_answers(
    most_chars: int, share: float, of_chars: float, corpus: tuple[Case, ...]
) -> None:
    shares, sizes, total = [], 0, 0
    for case in corpus:
        anchors = [each for each in case.required_anchors if not missing_anchors(case.raw_input, [each])]
        if anchors:
            text = extract(case.raw_input, case.instruction, most_chars=most_chars).text
            shares.append(1 - len(missing_anchors(text, anchors)) / len(anchors))
            sizes, total = sizes + len(text), total + len(case.raw_input)
    assert len(shares) > 200
    assert statistics.mean(shares) >= share
    assert sizes <= of_chars * total


@pytest.mark.slow
def test_no_failed_run_of_the_corpus_looks_as_if_all_had_passed(corpus: tuple[Case, ...]) -> None:
    failed = [case for case in corpus if case.capture.exit_code and any(map(shows_failure, case.raw_input.split("\n")))]
    assert len(failed) > 100
    for case in failed:
        lines = extract(case.raw_input, case.instruction).text.split("\n")
        assert any(map(shows_failure, lines)), case.case_id


def indented_above(lines: list[str], place: int) -> int | None:
    """Return the place of the nearest line above that is indented less and says something."""
    depth = len(lines[place]) - len(lines[place].lstrip())
    for above in range(place - 1, -1, -1):
        line = lines[above]
        if any(map(str.isalnum, line)) and len(line) - len(line.lstrip()) < depth:
            return above
    return None


def kept_under_headings(output: str, question: str) -> Iterator[bool]:
    """Yield, for each kept line that stands under another and once in the output, whether that one is kept, too."""
    lines, shown = output.split("\n"), set(extract(output, question).text.split("\n"))
    # Of the last lines no heading is kept.
    for place, line in enumerate(lines[:-6]):
        if line in shown and line[:1].isspace() and any(map(str.isalnum, line)) and lines.count(line) == 1:
            above = indented_above(lines, place)
            if above is not None and len(lines[above]) < 400:
                yield lines[above] in shown


def test_a_line_is_kept_with_the_one_that_it_stands_under(cases: list[dict[str, Any]]) -> None:
    found = [under for case in cases for under in kept_under_headings(case["output"], case["question"])]
    assert len(found) > 400
    assert sum(found) >= 0.95 * len(found)
