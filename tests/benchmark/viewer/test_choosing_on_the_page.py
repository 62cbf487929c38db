"""The page chooses what the terminal chooses: its scripts only leave out what is beyond the limits."""

from __future__ import annotations

import itertools
import json
import subprocess
from typing import Any

import msgspec
import pytest

from benchmark.analysis.choosing import USES, Needs, choose, shelves
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.record.read import find_results
from benchmark.render.choosing import facts_text, sentence
from benchmark.viewer.board_data import detail, overview
from benchmark.viewer.choosing_data import choosers
from benchmark.viewer.page import FOLDER
from benchmark.viewer.page_data import Gathered, gather
from tests.conftest import ROOT
from tests.support.mixed import mixed_results

LIMITS = [
    (gb, s, local) for gb, s, local in itertools.product((None, 0.5, 1.0, 3.0), (None, 6.0, 10.0, 25.0), (False, True))
]
_CHOICES = """
import {{ choiceOf, limitsOf }} from {module};
const {{ choosers, queries }} = JSON.parse(await new Promise((done) => {{
  let text = "";
  process.stdin.on("data", (part) => {{ text += part; }}).on("end", () => done(text));
}}));
const found = choosers.map(({{ shelves }}) => shelves.map((shelf) => queries.map((query) => {{
  const {{ cards, words }} = choiceOf(shelf, limitsOf(query));
  return {{ words, cards: cards.map((card) => card && [card.key, ...card.facts]) }};
}})));
process.stdout.write(JSON.stringify(found));
"""


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    mixed = mixed_results(tmp_path_factory.mktemp("choosing"))
    return gather([*find_results([PACKAGED_RESULTS / "easy"]), *find_results([mixed])])


def chosen_by_scripts(gathered: Gathered) -> list[list[list[dict[str, Any]]]]:
    queries = [
        {
            **({"gb": str(gb)} if gb is not None else {}),
            **({"s": str(s)} if s is not None else {}),
            **({"local": "1"} if local else {}),
        }
        for gb, s, local in LIMITS
    ]
    told = json.dumps({"choosers": msgspec.to_builtins(choosers(gathered)), "queries": queries})
    script = _CHOICES.format(module=json.dumps((FOLDER / "choose.js").as_uri()))
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        input=told,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[list[list[dict[str, Any]]]] = json.loads(done.stdout)
    return found


def test_the_page_chooses_what_the_terminal_chooses(gathered: Gathered) -> None:
    keys = {shown.result: shown.key for shown in gathered.shown}
    expected = []
    for board in gathered.boards:
        found = shelves(board)
        told = [
            [choose(shelf, Needs(shelf.use, None if gb is None else gb * 1e9, s, local)) for gb, s, local in LIMITS]
            for shelf in found
        ]
        expected += [told] if found else []
    shown = chosen_by_scripts(gathered)
    assert len(shown) == len(expected) > 3
    cards = 0
    for board_shown, board_told in zip(shown, expected, strict=True):
        for shelf_shown, shelf_told in zip(board_shown, board_told, strict=True):
            for page, terminal in zip(shelf_shown, shelf_told, strict=True):
                assert page["words"] == sentence(terminal)
                chosen = (terminal.best, terminal.smallest, terminal.fastest) if terminal.best else ()
                assert page["cards"] == [each and [keys[each.row.result], *facts_text(each)] for each in chosen]
                cards += len(chosen)
    assert cards > 90


def test_the_board_tells_what_models_are_as_far_as_files_do(gathered: Gathered) -> None:
    told = overview(gathered, [])
    assert told.model_columns == ["quantization", "parameters", "file", "peak memory"]
    assert told.has_choosers
    about = {row.label: row.about_model for row in told.results}
    (small,) = (info for label, info in about.items() if info and label.startswith("cpu-smollm2"))
    assert small.figures["file"] == 98_362_432
    assert small.texts["file"] == "98 MB"
    shown = next(each for each in gathered.shown if each.result.name == "cpu-smollm2-135m-q4_1")
    (model,) = (group for group in detail(shown).identity if group.heading == "Model")
    lines = {line.label: line.content for line in model.lines}
    assert (lines["licence"], lines["quantization"]) == ("Apache-2.0", "Q4_1")


def test_very_many_results_are_chosen_by_all_cases_alone(gathered: Gathered, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [shelf.use for shelf in choosers(gathered)[0].shelves] == list(USES)
    monkeypatch.setattr("benchmark.viewer.choosing_data.MOST_COMPARED", 3)
    assert {shelf.use for chooser in choosers(gathered) for shelf in chooser.shelves} == {"all"}
