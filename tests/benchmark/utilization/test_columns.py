"""Columns by name, dotted path and function, from every format, give the same figures."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.utilization import Utilization, utilization
from benchmark.utilization.__main__ import main
from ctxsift.errors import InputError

ROWS: list[dict[str, Any]] = [
    {"question": "a?", "contexts": ["x, 1", 'y "2"\n'], "answer": "p", "labels": [0, 1]},
    {"question": "b?", "contexts": ["z é", "x", "w"], "answer": "q", "labels": [1, 0, 1]},
    {"question": "c?", "contexts": ["v"], "answer": "r", "labels": [0]},
]
PLAIN = ["--labels-column", "labels"]
OTHER = [
    *("--question-column", "ask", "--contexts-column", "pred.contexts"),
    *("--ground-truth-column", "truth.text", "--labels-column", "pred.meta.labels"),
]
Write = Callable[[Path, list[dict[str, Any]]], Path]


def nested(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "ask": row["question"],
        "pred": {"contexts": row["contexts"], "meta": {"labels": row["labels"]}},
        "truth": {"text": row["answer"]},
    }


def json_lines(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "data.jsonl"
    # A byte order mark, line ends of Windows and empty lines are no data.
    path.write_text("\ufeff" + "\r\n\r\n".join(map(json.dumps, rows)), encoding="utf-8", newline="")
    return path


def packed(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "data.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    return path


def comma_separated(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "data.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(
            {key: value if isinstance(value, str) else json.dumps(value) for key, value in row.items()} for row in rows
        )
    return path


def parquet(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "data.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def measured(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> dict[str, Any]:
    assert main([str(path), *options, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found.pop("source") == str(path)
    return found


@pytest.mark.parametrize("write", [json_lines, packed, comma_separated, parquet])
def test_every_format_and_mapping_gives_the_same_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    plain = measured(capsys, write(tmp_path, ROWS), *PLAIN)
    assert [row["utilization"] for row in plain["rows"]] == [0.5, 5 / 6, None]
    assert [row["question"] for row in plain["rows"]] == ["a?", "b?", "c?"]
    assert measured(capsys, write(tmp_path, [nested(row) for row in ROWS]), *OTHER) == plain


def test_names_with_dots_are_names_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"pred.contexts": row["contexts"], "labels": row["labels"]} for row in ROWS]
    found = measured(capsys, comma_separated(tmp_path, rows), "--contexts-column", "pred.contexts", *PLAIN)
    assert found["count"] == 2


def figures(found: Utilization) -> list[float | None]:
    return [row.utilization for row in found.rows]


def test_from_python_by_name_path_and_function() -> None:
    by_name = utilization(ROWS, labels_column="labels")
    rows = [nested(row) for row in ROWS]
    by_path = utilization(
        rows,
        question_column="ask",
        contexts_column="pred.contexts",
        answer_column="truth.text",
        labels_column="pred.meta.labels",
    )
    by_function = utilization(
        rows,
        question_column=lambda row: row["ask"],
        contexts_column=lambda row: row["pred"]["contexts"],
        answer_column=lambda row: row["truth"]["text"],
        labels_column=lambda row: row["pred"]["meta"]["labels"],
    )
    assert figures(by_name) == figures(by_path) == figures(by_function) == [0.5, 5 / 6, None]


def test_a_function_that_fails_is_named_with_its_row() -> None:
    def contexts(row: dict[str, Any]) -> list[str]:
        return [row["contexts"][1]]

    with pytest.raises(InputError, match="row 3: contexts: its function raised IndexError"):
        utilization(ROWS, contexts_column=contexts, labels_column=lambda _: [1])


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"contexts_column": "pred.context"}, "row 1: pred.context: no such column; did you mean contexts"),
        ({"contexts_column": "contexts.first"}, "row 1: contexts.first: no such column"),
        ({"contexts_column": lambda _: []}, "row 1: contexts: is empty"),
        ({"contexts_column": lambda _: [1]}, "row 1: contexts: chunk 1 is a number"),
    ],
)
def test_errors_name_row_and_column(columns: dict[str, Any], expected: str) -> None:
    rows = [{"contexts": ["a"], "labels": [1], "pred": {"contexts": ["a"]}}]
    with pytest.raises(InputError, match=expected):
        utilization(rows, labels_column="labels", **columns)


def test_no_rows() -> None:
    with pytest.raises(InputError, match="rows: are empty"):
        utilization([], labels_column="labels")
