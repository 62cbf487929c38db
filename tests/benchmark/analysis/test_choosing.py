"""Which result to choose: by the ranks of the board, within limits, and nothing where nothing beats a baseline."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import pytest
from msgspec import structs

from benchmark.analysis import choosing
from benchmark.analysis.choosing import ALL, USES, Needs, Shortlist, choose, needs_of, shelves
from benchmark.analysis.leaderboard import Leaderboard, build_leaderboard
from benchmark.cli.command import PACKAGED_RESULTS, PUBLISHED_RESULTS
from benchmark.matrix import Track
from benchmark.record.read import StoredResult, find_results, stored
from benchmark.render.choosing import ONLY_CARD, facts_text, sentence
from benchmark.report import main as report_main
from ctxsift.errors import InputError
from tests.conftest import ROOT, published_layout
from tests.support.processes import run_inside

SMALL, LARGE = "cpu-qwen2.5-coder-0.5b-q4_k_m", "cpu-qwen2.5-coder-1.5b-q4_k_m"
GB = 1e9


@pytest.fixture(scope="module")
def easy() -> list[StoredResult]:
    return find_results([PACKAGED_RESULTS / "easy"])


@pytest.fixture(scope="module")
def board(easy: list[StoredResult]) -> Leaderboard:
    return build_leaderboard(easy)


@pytest.fixture(scope="module")
def by_use(board: Leaderboard) -> dict[str, Shortlist]:
    # The easy tier has five cases of each intent.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "FEWEST_CASES", 5)
        return {shelf.use: shelf for shelf in shelves(board)}


def cards(shelf: Shortlist, needs: Needs) -> list[str | None]:
    found = choose(shelf, needs)
    return [each.row.label if each else None for each in (found.best, found.smallest, found.fastest)]


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("json", Needs("json")),
        ("JSON, 2 GB, 5 s", Needs("json", 2e9, 5.0)),
        ("local,500MB , 250 ms", Needs(ALL, 5e8, 0.25, local=True)),
        ("lines, 1.5GB", Needs("exact-lines", 1.5e9)),
        ("all", Needs()),
    ],
)
def test_words_are_understood(text: str, needs: Needs) -> None:
    assert needs_of(text) == needs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jsn", "--choose 'jsn': is neither a use nor a limit; did you mean json?"),
        ("json, 5 parsec", "'5 parsec': is neither a use nor a limit; write e.g. 'json, 2 GB, 5 s, local'"),
        ("json, yaml", "'yaml': gives a value that another part already gives"),
        ("json, ", "--choose '': is neither a use nor a limit"),
        ("1 GB, 900 MB", "'900 mb': gives a value that another part"),
    ],
)
def test_words_that_are_not_known_are_refused_with_those_that_are(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        needs_of(text)
    assert message in str(caught.value)
    if "neither a use" in message:
        assert all(use in str(caught.value) for use in USES)


def test_all_cases_are_chosen_by_the_board(board: Leaderboard, by_use: dict[str, Shortlist]) -> None:
    shelf = by_use[ALL]
    assert [shelf.candidates[option.candidate].row for option in shelf.options] == [
        row for row in board.rows if row.rank is not None
    ]
    beaten = board.beaten_by
    for option in shelf.options:
        result = shelf.candidates[option.candidate].row.result
        for other in shelf.options:
            rival = shelf.candidates[other.candidate].row.result
            apart = rival in beaten[result] or result in beaten[rival]
            assert (other.candidate in option.smallest) == (other.candidate in option.fastest) == (not apart)
    assert cards(shelf, Needs()) == [LARGE] * 3


def test_a_part_stands_to_the_best_baseline_as_a_whole_does(board: Leaderboard, by_use: dict[str, Shortlist]) -> None:
    for candidate in by_use[ALL].candidates:
        reference = candidate.row.summary.reference
        assert reference is not None
        assert candidate.gain == (reference.core_difference, reference.core_difference_interval)
    assert set(by_use) == set(USES)
    assert sum(shelf.candidates[0].case_count for use, shelf in by_use.items() if use != ALL) == 40
    # A board of the cases of one use has the same floor, by the same rule.
    assert by_use["json"].floor is not None
    assert by_use["json"].floor[0] == "extractor"


def test_smallest_and_fastest_are_as_good_as_the_best_within_the_limits(by_use: dict[str, Shortlist]) -> None:
    assert cards(by_use["json"], Needs("json")) == [LARGE, SMALL, SMALL]
    assert cards(by_use["json"], Needs("json", memory_bytes=GB)) == [SMALL] * 3
    assert cards(by_use["json"], Needs("json", seconds=10.0, local=True)) == [SMALL] * 3
    # A result that lies above no baseline is never chosen, however small and fast it is.
    found = choose(by_use["json"], Needs("json", seconds=5.0))
    assert (found.best, found.smallest, found.fastest, found.fitting, found.above) == (None, None, None, 1, 0)
    assert found.first is not None
    assert sentence(found).startswith(
        "Nothing is recommended. On 5 cases: 1 of 3 complete results within the limits. None is significantly better "
        f"than the best baseline (extractor, 23.4), which uses no model. Closest: {found.first.row.label}, -"
    )
    none = choose(by_use["json"], Needs("json", memory_bytes=1.0))
    assert sentence(none) == "Nothing is recommended. On 5 cases: none of 3 complete results within the limits."


def test_a_few_cases_recommend_nothing(board: Leaderboard) -> None:
    (shelf,) = shelves(board, ("json",))
    assert cards(shelf, Needs("json")) == [None] * 3
    assert sentence(choose(shelf, Needs("json"))) == (
        "Nothing is recommended. On 5 cases: 3 of 3 complete results within the limits. That is too few cases to rely "
        "on: at least 10 are needed."
    )


def as_service(result: StoredResult) -> StoredResult:
    row = dataclasses.replace(result.record.scenario, name="service", track=Track.REMOTE, device="remote")
    return stored(Path("service.json"), structs.replace(result.record, scenario=row))


def test_a_service_takes_no_memory_and_is_not_local(easy: list[StoredResult], monkeypatch: pytest.MonkeyPatch) -> None:
    large = next(result for result in easy if result.name == LARGE)
    monkeypatch.setattr(choosing, "FEWEST_CASES", 5)
    (shelf,) = shelves(build_leaderboard([*easy, as_service(large)]), ("json",))
    tight = Needs("json", memory_bytes=0.9 * GB)
    assert cards(shelf, tight) == ["service", SMALL, SMALL]
    assert cards(shelf, dataclasses.replace(tight, local=True)) == [SMALL] * 3
    assert "none here: a service" in facts_text(next(each for each in shelf.candidates if each.row.label == "service"))
    # Who limits memory is told that a service is within any limit.
    told = "A service needs no memory on this machine, so a limit of memory does not leave it out"
    assert told in sentence(choose(shelf, tight))
    assert told not in sentence(choose(shelf, dataclasses.replace(tight, local=True)))
    assert told not in sentence(choose(shelf, Needs("json")))


def test_what_does_not_tell_its_memory_is_within_no_limit(easy: list[StoredResult]) -> None:
    large = next(result for result in easy if result.name == LARGE)
    silent = structs.replace(large.record, summary=structs.replace(large.record.summary, peaks=None))
    (shelf,) = shelves(build_leaderboard([stored(large.path, silent)]), (ALL,))
    assert cards(shelf, Needs()) == [LARGE, None, LARGE]
    assert cards(shelf, Needs(memory_bytes=1e15)) == [None] * 3
    assert sentence(choose(shelf, Needs(memory_bytes=1e15))) == (
        "Nothing is recommended. On 40 cases: none of 1 complete result within the limits. 1 result left out: memory "
        "unknown."
    )
    # What another limit leaves out in any case is not counted.
    assert "unknown" not in sentence(choose(shelf, Needs(memory_bytes=1e15, seconds=1e-9)))


def test_published_files_are_chosen_by_rank_alone(tmp_path: Path) -> None:
    paths = [
        published_layout(tmp_path / f"{name}.json", name, {f"c{n}": score for n in range(30)})
        for name, score in (("good", 0.9), ("bad", 0.1))
    ]
    (shelf,) = shelves(build_leaderboard(find_results(paths)), (ALL,))
    found = choose(shelf, Needs())
    assert found.best is not None
    assert found.best.row.label == "good"
    assert "Baselines were not scored on these cases" in sentence(found)


def test_baselines_that_are_not_known_recommend_nothing() -> None:
    # Another scorer gave these scores.
    earlier = build_leaderboard(find_results([ROOT / "tests" / "data" / "results" / "v2"]))
    for shelf in shelves(earlier, ("json", "summary")):
        assert not shelf.options
        assert "The scores of the baselines on these cases are unknown" in sentence(choose(shelf, Needs(shelf.use)))


def test_the_command_prints_cards_sentence_and_json(tmp_path: Path) -> None:
    def report(*arguments: str) -> tuple[int, str, str]:
        done = run_inside(report_main, [str(PACKAGED_RESULTS / "easy"), *arguments], tmp_path, os.environ)
        return done.returncode, done.stdout, done.stderr

    code, shown, _ = report("--choose", "all, 1 GB")
    assert code == 0
    # One result is all that there is to choose, so it stands there once.
    assert ONLY_CARD in shown
    assert shown.count(SMALL) == 1
    assert LARGE not in shown
    assert "1 beat the best baseline (told-lines, 12.0): the whole interval in 'above baseline' is greater" in shown
    code, told, _ = report("--choose", "all, 1 GB", "--json")
    (document,) = json.loads(told)
    assert {card["label"] for card in document["cards"].values()} == {SMALL}
    assert document["sentence"] in shown
    code, _, refused = report("--choose", "poetry")
    assert code == 2
    assert refused.startswith("error: --choose 'poetry': is neither a use nor a limit; write e.g.")


def test_why_nothing_can_be_chosen_for_a_use(tmp_path: Path) -> None:
    baseline = ROOT / "tests" / "data" / "results" / "v2" / "control-tf-idf.json.gz"
    for path, why in ((PUBLISHED_RESULTS, "do not record what kind of answer"), (baseline, "no PATH for the runs")):
        done = run_inside(report_main, [str(path), "--choose", "json"], tmp_path, os.environ)
        assert (done.returncode, why in done.stderr) == (2, True), done.stderr
