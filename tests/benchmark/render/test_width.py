"""What is printed at the width of a terminal: every line names its row, and nothing is wider than it has to be."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmark.analysis.comparison import Measure, compare
from benchmark.analysis.leaderboard import build_leaderboard
from benchmark.analysis.ranking import rank_results
from benchmark.record.read import find_results
from benchmark.render.matrix import print_matrix
from benchmark.render.pair import print_pair
from benchmark.render.terminal import print_leaderboards
from tests.conftest import ROOT, published_layout

V2 = ROOT / "tests" / "data" / "results" / "v2"
COUNT = 12


def test_every_line_of_every_block_of_a_matrix_names_its_row(tmp_path: Path) -> None:
    results = find_results(
        [
            published_layout(tmp_path / f"{n}.json", f"result-{n:02d}", {f"c{k}": (n + k) % 10 / 10 for k in range(30)})
            for n in range(COUNT)
        ]
    )
    board = build_leaderboard(results, with_all=True)
    ranking = rank_results([row.result for row in board.rows])
    out = io.StringIO()
    print_matrix(Console(file=out, width=80), board, ranking, Measure.CORE)
    rows = [line for line in out.getvalue().splitlines() if line.startswith("│")]
    assert len(rows) > COUNT
    assert len(rows) % COUNT == 0
    for place, row in enumerate(rows):
        number = place % COUNT + 1
        assert row.split()[1:3] == [str(number), board.rows[number - 1].label]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_legend_fits_the_width(width: int) -> None:
    board = build_leaderboard(find_results([V2]))
    out = io.StringIO()
    print_leaderboards(Console(file=out, width=width), [board])
    text = out.getvalue()
    legend = text[text.index("\nref: ") :].splitlines()
    assert len(legend) >= len(board.marks)
    assert all(len(line) <= width for line in legend)


def test_piped_output_goes_by_columns() -> None:
    command = [sys.executable, "-m", "benchmark.report", str(V2), "--items", "--top", "5"]
    widths = {}
    for columns in ("", "80"):
        environ = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"PYTHONUTF8": "1"}
        if columns:
            environ["COLUMNS"] = columns
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=True)
        tables = [line for line in done.stdout.splitlines() if line.startswith(("│", "┃"))]
        widths[columns] = max(map(len, tables))
    assert widths["80"] <= 80 < widths[""]


def test_a_pair_fits_eighty_columns() -> None:
    files = sorted((ROOT / "benchmark" / "packaged_results" / "easy").glob("cpu-qwen*.json.gz"))
    a, b = find_results(files)
    out = io.StringIO()
    print_pair(Console(file=out, width=80), compare(a, b), None)
    tables = [line for line in out.getvalue().splitlines() if line.startswith("┃")]
    # Quality, latency, intents: each in one piece, with its verdict.
    assert len(tables) == 3
    assert all(len(line) <= 80 for line in tables)
