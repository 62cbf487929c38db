"""Commands know their default files in any folder."""

import tomllib
from pathlib import Path

import pytest

from benchmark.matrix import DEFAULT_MATRIX, load_matrix
from benchmark.probes.scenarios import DEFAULT_SCENARIOS, read_scenarios
from benchmark.shipped import here_or_shipped
from tests.conftest import ROOT, scripted, write_matrix


def test_an_empty_folder_has_the_files_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = load_matrix(ROOT / DEFAULT_MATRIX), read_scenarios(ROOT / DEFAULT_SCENARIOS)
    monkeypatch.chdir(tmp_path)
    assert (load_matrix(), read_scenarios()) == here


def test_a_file_of_this_folder_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_matrix(tmp_path, scripted(tmp_path, "mine"))
    assert [row.name for row in load_matrix()] == ["mine"]


def test_a_file_that_nobody_has_is_named_as_it_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert here_or_shipped(Path("none.json")) == Path("none.json")


def test_the_wheel_has_both() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    shipped = {str(name): f"benchmark/{name}" for name in (DEFAULT_MATRIX, DEFAULT_SCENARIOS)}
    assert build["force-include"] == shipped
