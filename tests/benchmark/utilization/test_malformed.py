"""Malformed data: exit code 2 and one line that names file, row and column."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.utilization.__main__ import main

GOOD = b'{"question": "q", "contexts": ["a", "b"], "answer": "x", "labels": [1, 0]}\n'
HEADER = b"question,contexts,answer,labels\n"


def parquet(**columns: list[Any]) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


MALFORMED: list[tuple[str, bytes, str]] = [
    ("a.jsonl", b"", "a.jsonl: has no rows"),
    ("a.jsonl", b"\n \n", "a.jsonl: has no rows"),
    ("a.jsonl", b"{", "row 1 (line 1): not valid JSON"),
    ("a.jsonl", GOOD + b"\n" + b"oops\n", "row 2 (line 3): not valid JSON"),
    ("a.jsonl", GOOD + b"[1, 2]\n", "row 2 (line 2): is not a JSON object"),
    ("a.jsonl", GOOD + b"null\n", "row 2 (line 2): is not a JSON object"),
    ("a.jsonl", b'{"question": NaN}\n', "row 1 (line 1): not valid JSON"),
    ("a.jsonl", b'{"contexts": ["a"], "labels": [1e999]}\n', "row 1 (line 1): not valid JSON"),
    ("a.jsonl", b'{"contexts": ' + b"[" * 100_000 + b"\n", "row 1 (line 1): not valid JSON"),
    ("a.jsonl", b"\xff\xfe{}\n", "cannot be read as UTF-8"),
    (
        "a.jsonl",
        GOOD.replace(b"contexts", b"context"),
        "row 1 (line 1): contexts: no such column; did you mean context",
    ),
    ("a.jsonl", GOOD.replace(b"labels", b"label"), "labels: no such column; did you mean label"),
    ("a.jsonl", GOOD + GOOD.replace(b'["a", "b"]', b"null"), "row 2 (line 2): labels: has 2 labels for 0 chunks"),
    (
        "a.jsonl",
        GOOD.replace(b'["a", "b"]', b'[{"page_content": "a"}, {"x": "b"}]'),
        "chunk 2 is a mapping with no text under",
    ),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b'["a", {"text": "b", "content": "c"}]'), "texts under text and content"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b"7"), "contexts: is a number, not a list"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b"true"), "contexts: is true or false, not a list"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b'{"a": "b"}'), "contexts: is a mapping, not a list"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b'"a b"'), "contexts: is a text, not a list"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b"\"['a', 'b']\""), "Python notation (repr)"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b'["a", 3]'), "contexts: chunk 2 is a number, not a text"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b'["a", null]'), "contexts: chunk 2 is missing, not a text"),
    ("a.jsonl", GOOD.replace(b'["a", "b"]', b'["a", ["b"]]'), "contexts: chunk 2 is a list, not a text"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b"[2, 0]"), "labels: label 1 is '2'; write 1 for a relevant chunk"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b"[0.5, 0]"), "labels: label 1 is '0.5'"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b"[1, null]"), "labels: label 2 is 'None'"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b'[1, "0"]'), "labels: label 2 is '0'"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b"[1]"), "labels: has 1 labels for 2 chunks"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b"[]"), "labels: is empty"),
    ("a.jsonl", GOOD.replace(b"[1, 0]", b"1"), "labels: is a number, not a list"),
    ("a.jsonl.gz", b"no gzip at all", "cannot be read"),
    ("a.jsonl.gz", gzip.compress(GOOD, mtime=0)[:-9], "cannot be read"),
    ("a.csv", b"", "a.csv: has no rows"),
    ("a.csv", HEADER, "a.csv: has no rows"),
    ("a.csv", b"question,question\n1,2\n", "header: names the column 'question' twice"),
    ("a.csv", HEADER + b'q,"[""a""]"\n', "row 1 (line 2): has 2 cells, the header has 4"),
    ("a.csv", HEADER + b'q,["a", "b"],x,[1]\n', "row 1 (line 2): has 5 cells, the header has 4"),
    ("a.csv", HEADER + b'q,"[""a""]",x,"[1]\n', "row 1 (line 2): not valid CSV"),
    ("a.csv", HEADER + b'q,"[""a""]"x,y,[1]\n', "row 1 (line 2): not valid CSV"),
    ("a.csv", HEADER + b"q,\"['a', 'b']\",x,\"[1,0]\"\n", "row 1 (line 2): contexts: is a list in Python notation"),
    ("a.csv", HEADER + b"q,\"['a' 'b']\",x,\"[1,0]\"\n", "contexts: is a list in Python notation"),
    ("a.csv", HEADER + b"q,,x,[1]\n", "labels: has 1 labels for 0 chunks"),
    ("a.csv", HEADER + b'q,"[""a""]",x,1\n', "labels: is a number, not a list"),
    ("a.csv", HEADER.replace(b",", b";") + b"q;[];x;[1]\n", "contexts: no such column"),
    ("a.parquet", b"", "not valid Parquet"),
    ("a.parquet", b"PAR1 no more PAR1", "a.parquet: "),
    ("a.parquet", parquet(contexts=[["a"]], labels=[[1]])[:-20], "a.parquet: "),
    ("a.parquet", parquet(contexts=[], labels=[]), "a.parquet: has no rows"),
    (
        "a.parquet",
        parquet(contexts=[["a"], []], labels=[[1], [1]]),
        "a.parquet: row 2: labels: has 1 labels for 0 chunks",
    ),
    ("a.parquet", parquet(contexts=[["a"], None], labels=[[1], [1]]), "row 2: labels: has 1 labels for 0 chunks"),
    ("a.parquet", parquet(contexts=[[b"a"]], labels=[[1]]), "row 1: contexts: chunk 1 is a bytes, not a text"),
    ("a.parquet", parquet(contexts=[["a", "b"]], labels=[[1, 3]]), "row 1: labels: label 2 is '3'"),
    ("a.txt", GOOD, "a.txt: has an unknown file format; give a .jsonl, .csv or .parquet file"),
    ("a.json", GOOD, "a.json: has an unknown file format"),
]


@pytest.mark.parametrize(("name", "content", "expected"), MALFORMED)
def test_malformed_files_end_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, expected: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert main([str(path), "--labels-column", "labels"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {path}")
    assert len(printed.err.splitlines()) == 1
    assert expected in printed.err


def test_missing_files_and_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name, expected in (("nowhere.jsonl", "no such file"), ("folder.csv", "is not a file")):
        assert main([str(tmp_path / name), "--labels-column", "labels"]) == 2
        assert expected in capsys.readouterr().err
