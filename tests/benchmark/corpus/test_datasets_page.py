"""docs/datasets.md: its table has every field, its example is sound, and the Python of docs/compress.md runs."""

from __future__ import annotations

import re
import subprocess
import sys

import msgspec
import pytest

from benchmark.corpus.__main__ import main
from benchmark.corpus.records import PublishedCase
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")


def test_the_table_has_every_field_of_a_case() -> None:
    rows = re.findall(r"^\| ([a-z_, ]+) \| (yes|no) \|", PAGE, re.MULTILINE)
    told = {field: needed == "yes" for fields, needed in rows for field in fields.split(", ")}
    assert told == {field.name: field.required for field in msgspec.structs.fields(PublishedCase)}


def test_the_example_is_as_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--dataset", str(ROOT / "docs" / "examples" / "dataset.jsonl")]) == 0
    assert capsys.readouterr().out in PAGE


@pytest.mark.model
def test_the_python_of_the_page_on_compress_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "compress.md").read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "FAILED test_cart.py::test_total" in done.stdout
