"""Variants: the same cases under other names and numbers, as sound as the first edition."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmark.cases import Capture, Case, Corpus, Difficulty, Family, Rules
from benchmark.corpus.__main__ import main
from benchmark.corpus.checks import check_variant
from benchmark.corpus.loader import load_corpus
from benchmark.corpus.variants import variant_of
from ctxsift.contracts import OutputMode
from ctxsift.intents import Intent
from tests.support.depth import depth

_LOG = """\
2026-03-04 10:15:59 worker[41873] \x1b[1mtidewatch/gauges.py\x1b[0m:117 read_gauge failed
2026-03-04 10:16:07 worker[41873] retry of tidewatch/gauges.py:117 in 250 ms
2026-03-04 23:58:30 commit 3bbf3951c0de by /usr/lib/python3/dist-packages/tidelib.py, HTTP 404
escaped: "\\ntidewatch is down", id 123e4567-e89b-12d3-a456-426614174000, 12 of 1,417
"""


def _case(gold: str, **changes: object) -> Case:
    fields: dict[str, object] = {
        "case_id": "made-up",
        "title": "made up",
        "capture": Capture("python/made-up", "python", "python", command="python -m tidewatch", exit_code=1),
        "family": Family.RECALL,
        "intent": Intent.RECALL,
        "output_mode": OutputMode.PLAIN_TEXT,
        "difficulty": Difficulty.EASY,
        "instruction": "Where does tidewatch fail?",
        "raw_input": _LOG,
        "expected_output": gold,
        "alternatives": (),
        "required_anchors": ("tidewatch/gauges.py:117",),
        "derived_anchors": (),
        "rules": Rules(),
        "tags": (),
        "rationale": "",
        "where": "made-up",
    }
    return Case(**(fields | changes))  # type: ignore[arg-type]


def _variant(seed: int, gold: str = "read_gauge at tidewatch/gauges.py:117", **changes: object) -> Case:
    return variant_of(Corpus(Path("x"), (_case(gold, **changes),), "0" * 64), seed).cases[0]


@pytest.fixture(scope="module")
def packaged() -> Corpus:
    return load_corpus()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, depth(1, 2) + 1))
def test_a_variant_is_as_sound_as_the_corpus(packaged: Corpus, seed: int) -> None:
    assert check_variant(packaged, seed) == []


@pytest.mark.slow
def test_most_inputs_and_golds_change(packaged: Corpus) -> None:
    pairs = list(zip(packaged.cases, variant_of(packaged, 1).cases, strict=True))
    assert sum(old.raw_input != new.raw_input for old, new in pairs) > 0.9 * len(pairs)
    assert sum(old.expected_output != new.expected_output for old, new in pairs) > 0.65 * len(pairs)
    assert [old.case_id for old, _ in pairs] == [new.case_id for _, new in pairs]


def test_a_seed_draws_the_same_variant_and_another_another() -> None:
    assert _variant(7) == _variant(7)
    assert _variant(7).raw_input != _variant(8).raw_input


def test_what_is_compared_changes_with_the_output() -> None:
    new = _variant(3)
    assert "tidewatch" not in new.raw_input + new.instruction + new.expected_output + new.capture.command
    (anchor,) = new.required_anchors
    assert anchor in new.raw_input
    assert anchor in new.expected_output
    assert new.instruction.split()[2] in new.raw_input
    # A name keeps its length and what is behind an escape is still a name.
    assert len(new.raw_input.splitlines()[0]) == len(_LOG.splitlines()[0])
    assert new.raw_input.count(anchor.partition("/")[0]) == _LOG.count("tidewatch")


def test_what_a_tool_prints_of_itself_stays() -> None:
    new = _variant(3).raw_input
    for text in ("worker[", "/usr/lib/python3/dist-packages/", "HTTP 404", "1,417", "retry of", "commit "):
        assert text in new


def test_numbers_hashes_and_times_change_together() -> None:
    new = _variant(5).raw_input
    assert "41873" not in new
    assert "3bbf3951c0de" not in new
    assert "123e4567" not in new
    assert len(set(re.findall(r"worker\[(\d+)\]", new))) == 1
    clocks = [tuple(map(int, found)) for found in re.findall(r"(\d\d):(\d\d):(\d\d)", new)]
    seconds = [3600 * h + 60 * m + s for h, m, s in clocks]
    assert seconds[1] - seconds[0] == 8
    assert all(0 <= second < 86400 for second in seconds)
    assert len(set(re.findall(r"\d{4}-\d\d-\d\d(?= )", new))) == 1
    assert "2026-03-04" not in new


def test_sums_and_alphabetical_orders_stay_true() -> None:
    assert "41873" in _variant(5, derived_anchors=("2 workers",)).raw_input
    assert "tidewatch" in _variant(5, instruction="Files of tidewatch, in alphabetical order.").raw_input


@pytest.mark.slow
def test_the_command_prints_and_checks_variants(packaged: Corpus, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["show", packaged.cases[0].case_id, "--dataset", "variant:4"]) == 0
    shown = capfd.readouterr().out
    assert main(["show", packaged.cases[0].case_id]) == 0
    assert shown != capfd.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main(["variant", "--seed", "0"])
    assert "is no whole number from 1 on" in capfd.readouterr().err
