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

from benchmark.render.csv import harmless
from benchmark.utilization import Utilization, utilization
from benchmark.utilization.__main__ import main
from benchmark.utilization.tables import read_table
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
        ({"contexts_column": "pred.context"}, "row 1: pred.context: no such column; known: contexts; name"),
        ({"contexts_column": "contexts.first"}, "row 1: contexts.first: no such column"),
        ({"contexts_column": lambda _: [1]}, "row 1: contexts: chunk 1 is a number"),
    ],
)
def test_errors_name_row_and_column(columns: dict[str, Any], expected: str) -> None:
    rows = [{"contexts": ["a"], "labels": [1], "pred": {"contexts": ["a"]}}]
    with pytest.raises(InputError, match=expected):
        utilization(rows, labels_column="labels", **columns)


def test_no_rows() -> None:
    with pytest.raises(InputError, match="rows: the list is empty"):
        utilization([], labels_column="labels")


NOTHING: list[Any] = [[], None, float("nan"), "", " ", "[]"]


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize("labelled", [True, False])
def test_a_row_without_chunks_is_undefined(nothing: Any, labelled: bool) -> None:
    rows = [*ROWS, {"question": "d?", "contexts": nothing, "answer": "s", "labels": []}]
    labels = "labels" if labelled else None
    before, found = utilization(ROWS, labels_column=labels), utilization(rows, labels_column=labels)
    assert (found.count, found.undefined) == (before.count, before.undefined + 1)
    assert found.mean_precision == before.mean_precision
    assert (found.rows[3].state, found.rows[3].chunks, found.rows[3].precision) == ("undefined", 0, None)


def test_a_row_that_lacks_the_column_has_no_chunks_unless_all_do() -> None:
    rows = [*ROWS, {"question": "d?", "answer": "s", "labels": []}]
    assert utilization(rows, labels_column="labels").rows[3].chunks == 0
    with pytest.raises(InputError, match="row 1: context: no such column"):
        utilization(rows, contexts_column="context", labels_column="labels")


@pytest.mark.parametrize("nothing", [b"null", b"[]"])
@pytest.mark.parametrize(
    "rest", [b"", b'{"question": "Which port?", "contexts": ["listens on 8080"], "answer": "8080"}\n']
)
def test_the_command_counts_rows_without_chunks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rest: bytes, nothing: bytes
) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"question": "b?", "contexts": %b, "answer": "z"}\n' % nothing + rest)
    page = tmp_path / "page.html"
    assert main([str(path), "-o", str(page)]) == 0
    assert "undefined (no relevant chunk), left out of the mean: rows 1" in capsys.readouterr().out
    assert page.exists()
    assert main([str(path), "--csv"]) == 0
    assert main([str(path), "--fail-below", ".5"]) == (0 if rest else 1)


@pytest.mark.parametrize("name", ["page_content", "text", "content"])
@pytest.mark.parametrize("write", [json_lines, comma_separated, parquet])
def test_documents_of_frameworks_are_read(tmp_path: Path, name: str, write: Write) -> None:
    rows = [
        row | {"contexts": [{name: text, "metadata": {"source": "a.md", "page": 1}} for text in row["contexts"]]}
        for row in ROWS
    ]
    assert utilization(rows, labels_column="labels").rows == utilization(ROWS, labels_column="labels").rows
    assert main([str(write(tmp_path, rows)), *PLAIN]) == 0


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_signs_that_end_lines_elsewhere_stand_in_cells(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(f'question,contexts,answer\nwhy{sign}so?,"[""a"", ""b""]",x{sign}\nb,"[""c""]",y\n')
    found = read_table(path)
    assert [row.values["question"] for row in found] == [f"why{sign}so?", "b"]
    assert found[0].values["answer"] == f"x{sign}"
    assert "row 2 (line 3)" in found[1].where


def test_other_separators_of_lines_stand_within_cells(tmp_path: Path) -> None:
    said = "one\u2028two\u2029three\x85four\x0bfive\x1csix"
    path = tmp_path / "a.csv"
    path.write_text(f'question,contexts\n"{said}","[""{said[:12]}""]"\n', encoding="utf-8", newline="")
    (row,) = read_table(path)
    assert row.values == {"question": said, "contexts": f'["{said[:12]}"]'}
    assert harmless(said) == "one\\u2028two\\u2029three\\x85four\\x0bfive\\x1csix"
