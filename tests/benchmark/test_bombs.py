"""Small files that would come to very much: refused before they do."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark.probes.acts import call_of
from benchmark.probes.loading import read_probes
from benchmark.probes.scenarios import read_scenarios
from benchmark.record.read import RESULT_FILE
from benchmark.typed_input import json_lines
from benchmark.utilization.tables import read_table
from benchmark.yaml_input import yaml_document
from ctxsift.answers.payloads import parse_yaml
from ctxsift.errors import InputError
from ctxsift.sessions.reading import read_session

LONG = "x" * 1_000_000
MERGES = "\n".join(
    ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 10))]
)
ALIASES = "\n".join(["a0: &a0 x", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))])
ITEMS = "- a\n" * 200_000
TIME_OF_DAY = "a: " + ":".join(["1"] * 100_000)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (MERGES, "comes to more than 100,000 nodes"),
        (ALIASES, "comes to more than 100,000 nodes"),
        (ITEMS, "comes to more than 100,000 nodes"),
        (TIME_OF_DAY, "holds a number of 199,999 digits"),
        ("a: &a [*a]", "the alias 'a' stands within what it names"),
    ],
    ids=["merges", "aliases", "items", "digits", "itself"],
)
@pytest.mark.parametrize("reads", [read_probes, read_scenarios])
def test_yaml_is_bounded_before_it_is_loaded(
    tmp_path: Path, text: str, problem: str, reads: Callable[[Path], object]
) -> None:
    path = tmp_path / "written.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=f"not valid YAML: {problem}"):
        reads(path)


def test_aliases_and_merges_that_people_write_are_read() -> None:
    text = "base: &b {a: 1}\nmore: {<<: *b, c: &two [1, 2]}\nagain: [*two, *two]\n"
    wanted = {"base": {"a": 1}, "more": {"a": 1, "c": [1, 2]}, "again": [[1, 2], [1, 2]]}
    assert yaml_document(text, "a.yaml") == wanted


def test_an_answer_in_yaml_may_not_hold_a_number_that_takes_long_to_read() -> None:
    assert parse_yaml(TIME_OF_DAY[:40_000]) is None
    assert parse_yaml("at: 1:30:00") == {"at": 5400}


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (pa.DictionaryArray.from_arrays([0] * 3800, [LONG]), "unpacks to more than 256 MB"),
        (
            pa.ListArray.from_arrays([0, 3800], pa.DictionaryArray.from_arrays([0] * 3800, [LONG])),
            "unpacks to more than 256 MB",
        ),
        (pa.nulls(6_000_000, pa.int8()), "has more than 5,000,000 rows and values"),
        (pa.ListArray.from_arrays([0, 6_000_000], pa.nulls(6_000_000, pa.int8())), "has more than 5,000,000 rows"),
    ],
    ids=["one text", "one text in one row", "rows", "values in one row"],
)
def test_parquet_is_bounded_by_what_it_comes_to(tmp_path: Path, column: pa.Array, problem: str) -> None:
    path = tmp_path / "small.parquet"
    pq.write_table(pa.table({"contexts": column}), path, compression="zstd")
    assert path.stat().st_size < 100_000
    del column
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    try:
        with pytest.raises(InputError, match=problem):
            read_table(path)
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()
    assert pa.total_allocated_bytes() - before < 50_000_000


def test_parquet_of_every_kind_of_column_is_read(tmp_path: Path) -> None:
    pairs = pa.array([[("k", "v")], []], type=pa.map_(pa.string(), pa.string()))
    columns = {"a": ["x", None], "b": [["x", "x"], None], "c": [{"d": "x"}, {"d": None}], "e": [1, None]}
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns | {"pairs": pairs}), path)
    first, second = (row.values for row in read_table(path))
    assert first == {"a": "x", "b": ["x", "x"], "c": {"d": "x"}, "e": 1, "pairs": [("k", "v")]}
    assert second == {"a": None, "b": None, "c": {"d": None}, "e": None, "pairs": []}


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("a.json.gz", RESULT_FILE.read),
        ("a.jsonl.gz", read_table),
        ("a.csv.gz", read_table),
        ("a.yaml.gz", read_probes),
        ("session.jsonl.gz", read_session),
    ],
)
def test_what_is_packed_is_bounded_unpacked(tmp_path: Path, name: str, reads: Callable[[Path], object]) -> None:
    path = tmp_path / name
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(300):
            file.write(b" " * 1_000_000)
    with pytest.raises(InputError, match=r"is larger than|times its size unpacked"):
        reads(path)


PROBE = """- id: p{n}
  type: recall
  question: Which?
  evidence: {evidence}
  statements: {statements}
"""
SAYS = "[{says: it is a, names: [a]}]"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("".join(PROBE.format(n=n, evidence=[1], statements=SAYS) for n in range(501)), "asks 501 questions"),
        (PROBE.format(n=0, evidence=[1] * 51, statements=SAYS), "/probes/0/evidence: "),
        (PROBE.format(n=0, evidence=[1], statements=f"[{SAYS[1:-1]}{f', {SAYS[1:-1]}' * 24}]"), "has 25 parts"),
        (
            PROBE.format(n=0, evidence=[1], statements=f"[{{says: all, names: {[f'n{n}' for n in range(25)]}}}]"),
            "/probes/0/statements/0: has 25 parts",
        ),
    ],
    ids=["probes", "evidence", "statements", "names"],
)
def test_probes_that_would_be_looked_for_without_end_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "probes.yaml"
    path.write_text(f"probes:\n{text}")
    with pytest.raises(InputError, match=problem):
        read_probes(path)


def test_lines_of_json_end_where_files_end_them_and_are_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "1\u2028\x852"}\r\n\n{"b": 2}\n')
    assert [value for _, value in json_lines(path, "hint", 1)] == [{"a": "1\u2028\x852"}, {"b": 2}]
    path.write_text("[" * 5000 + "]" * 5000)
    with pytest.raises(InputError, match="jsonl:1: is not JSON"):
        list(json_lines(path, "hint", 1))


def test_arguments_of_a_call_that_are_nested_without_end_are_none() -> None:
    assert call_of({"tool": "run", "arguments": "[" * 100_000}) is None
