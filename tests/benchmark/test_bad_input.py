"""Bad input through the command line: exit 2, one line that names place and hint, no traceback, nothing written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmark.corpus import DEFAULT_CORPUS
from tests.conftest import Run, scenario, scripted, write_matrix

pytestmark = pytest.mark.slow


def refused(runner: Run, *arguments: str) -> str:
    """Run, check the manners of the refusal, and return its one line."""
    done = runner(*arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stderr


def test_missing_matrix(runner: Run) -> None:
    assert "nowhere.json: no such file; name a matrix with --matrix" in refused(runner, "--matrix", "nowhere.json")


def test_matrix_that_is_no_json(runner: Run, tmp_path: Path) -> None:
    (tmp_path / "matrix.json").write_text('{"scenarios": [\n  {"name": "a",}\n]}')
    assert "matrix.json:2:" in refused(runner)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([], "matrix.json: is not a JSON object"),
        ({}, "matrix.json: /scenarios: required field is missing"),
        ({"scenario": []}, "unknown field; did you mean scenarios?"),
        ({"scenarios": {}}, "matrix.json: /scenarios: is not a list"),
        ({"scenarios": []}, "matrix.json: /scenarios: is empty"),
        ({"scenarios": ["cpu"]}, "matrix.json: /scenarios/0: expected a mapping, got a string"),
    ],
)
def test_matrix_of_another_shape(runner: Run, tmp_path: Path, document: Any, expected: str) -> None:
    (tmp_path / "matrix.json").write_text(json.dumps(document))
    assert expected in refused(runner)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"maxoutput_tokens": 3}, "/scenarios/0/maxoutput_tokens: unknown field; did you mean max_output_tokens"),
        ({"model": None}, "/scenarios/0/model: required field is missing; add 'model'"),
        ({"phase": 3}, "/scenarios/0/phase: expected a string, got a whole number"),
        ({"max_output_tokens": "64"}, "/scenarios/0/max_output_tokens: expected a whole number, got a string"),
        ({"max_output_tokens": 0}, "/scenarios/0/max_output_tokens: 0 is too small; give 1 or more"),
        ({"concurrency": True}, "/scenarios/0/concurrency: expected a whole number, got true or false"),
        ({"enabled": "yes"}, "/scenarios/0/enabled: expected true or false, got a string"),
        ({"model": "  "}, "/scenarios/0/model: is empty"),
        ({"track": "cpus"}, "/scenarios/0/track: 'cpus' is unknown; did you mean cpu?"),
        ({"device": "cuda"}, "/scenarios/0/device: 'cuda' does not go with track cpu; write 'cpu'"),
        ({"track": "gpu", "gguf_filename": None}, "/scenarios/0/device: 'cpu' does not go with track gpu"),
        ({"gguf_filename": None, "model": "owner/name"}, "/scenarios/0/gguf_filename: required field is missing"),
        ({"track": "remote", "device": "remote"}, "/scenarios/0/gguf_filename: does not go with track remote"),
        ({"name": "../x"}, "/scenarios/0/name: '../x' is not a safe file name"),
        ({"name": "a/b"}, "/scenarios/0/name: 'a/b' is not a safe file name"),
        ({"name": ".."}, "/scenarios/0/name: '..' is not a safe file name"),
        ({"command": ["cat"]}, "/scenarios/0/command: does not go with track cpu; remove it"),
    ],
)
def test_matrix_row(runner: Run, tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    write_matrix(tmp_path, scenario(**change))
    assert f"matrix.json: {expected}" in refused(runner)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"command": None}, "/command: required field is missing; write the program and its arguments"),
        ({"command": "cat"}, "/command: expected a list, got a string"),
        ({"command": ["cat", ""]}, "/command/1: is empty"),
        ({"command": ["a\0"]}, "/command: holds a NUL character"),
        ({"command": ["sh", "-c", "x {intent}"]}, "/command: {intent} stands inside the script of a shell; quotes in"),
        ({"comand": ["cat"]}, "/comand: unknown field; did you mean command"),
        ({"stdin": "raw"}, "/stdin: 'raw' is unknown; known: json, none, output"),
        ({"output_pointer": "text"}, "/output_pointer: 'text' is not a JSON pointer; write e.g. /result/text"),
        ({"env": {"A=B": "c"}}, "/env: 'A=B' cannot be set"),
        ({"timeout_s": 0}, "/timeout_s: 0 is too small"),
        ({"ok_exit_codes": [256]}, "/ok_exit_codes/0: 256 is too large; give 255 or less"),
        ({"ok_exit_codes": "all"}, "/ok_exit_codes: 'all' is unknown; known: any"),
        ({"marker": "("}, "/marker: is not a regular expression"),
        ({"max_output_tokens": 64}, "/max_output_tokens: does not go with track command; remove it"),
        ({"device": "cuda"}, "/device: 'cuda' does not go with track command; write 'cpu'"),
    ],
)
def test_matrix_row_of_a_program(runner: Run, tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    row = {"track": "command", "command": ["cat"], "gguf_filename": None, "max_output_tokens": None}
    write_matrix(tmp_path, scenario(**row | change))
    assert f"matrix.json: /scenarios/0{expected}" in refused(runner)


def test_duplicate_scenario_names(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario(), scenario(name="CPU-test"))
    assert "/scenarios/1/name: 'CPU-test' is also the name of /scenarios/0" in refused(runner)


def test_duplicate_field_in_a_row(runner: Run, tmp_path: Path) -> None:
    (tmp_path / "matrix.json").write_text('{"scenarios": [{"name": "a", "name": "b"}]}')
    assert "the field 'name' appears twice" in refused(runner)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--scenario", "cpu-tets"], "--scenario cpu-tets: is not in the matrix; did you mean cpu-test?"),
        (["--phase", "tset"], "--phase tset: is not in the matrix; did you mean test?"),
        (["--case-id", "java-root-cause"], "did you mean java-root-cause-exact"),
        (["--split", "x"], "--split: 'x' is not dev or test"),
        (["--max-cases", "0"], "--max-cases: 0 is below 1; give 1 or more"),
        (["--max-cases", "-3"], "--max-cases: -3 is below 1"),
        (["--name", "../elsewhere"], "--name ../elsewhere: is not a folder name"),
        (["--name", "a" * 201], "--name aaaaaaaaaaaaaaaaaaaa...: is too long (limit: 200 bytes)"),
        (["--env-file", "missing.env"], "missing.env: no such file; check --env-file"),
        (["--dataset", "missing"], "missing: no such file or folder"),
    ],
)
def test_options(runner: Run, tmp_path: Path, arguments: list[str], expected: str) -> None:
    write_matrix(tmp_path, scenario())
    assert expected in refused(runner, *arguments)


def test_nothing_selected(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario(enabled=False))
    assert "selection: no enabled scenario matches; enable one" in refused(runner, "--phase", "test")


def test_unknown_option_is_usage(runner: Run, tmp_path: Path) -> None:
    told = "error: unrecognized arguments: --scenaris x; did you mean --scenario"
    assert told in refused(runner, "--scenaris", "x")
    assert "--maxcases 3; did you mean --max-cases" in refused(runner, "--maxcases", "3")
    assert "mine.jsonl; did you mean --dataset mine.jsonl?; see --help" in refused(runner, "mine.jsonl")
    assert "error: unrecognized arguments: --zzz; see --help" in refused(runner, "--zzz")
    assert "argument --max-cases: invalid int value: 'abc'" in refused(runner, "--max-cases", "abc")


def test_setting_of_another_type(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario())
    (tmp_path / "my.env").write_text("CTXSIFT_TIMEOUT_MS=soon\n")
    assert "my.env: CTXSIFT_TIMEOUT_MS: 'soon' is not a whole number" in refused(runner, "--env-file", "my.env")


def test_output_folder_that_cannot_be_written(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario())
    (tmp_path / "taken").write_text("a file")
    assert "--output-dir taken: cannot be written" in refused(runner, "--output-dir", "taken")


def test_output_folder_on_a_file_system_that_refuses(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario())
    assert "cannot be written" in refused(runner, "--output-dir", "/proc/self/results")


class TestDataset:
    """The same manners for a corpus."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        write_matrix(tmp_path, scripted(tmp_path, default="x"))
        source = DEFAULT_CORPUS / "java"
        shutil.copytree(source, tmp_path / "data" / "java")
        return tmp_path / "data"

    def refuse(self, runner: Run, folder: Path, old: str, new: str) -> str:
        file = folder / "java" / "java-caused-by-chain.yaml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        return refused(runner, "--dataset", "data")

    @pytest.mark.parametrize(
        ("old", "new", "expected"),
        [
            ("capture:", "capture: [", ".yaml:4: not valid YAML"),
            ("family: ", "familiy: ", "/cases/0/familiy: unknown field; did you mean family?"),
            ("intent: ", "# ", "/cases/0/intent: required field is missing"),
            ("intent: recall", "intent: recal", "/cases/0/intent: 'recal' is unknown; did you mean recall?"),
            ("intent: recall", "intent: json", "/cases/0/output_mode: plain_text cannot be used with json; use json"),
            ("difficulty: easy", "difficulty: [easy]", "/cases/0/difficulty: expected a string, got a list"),
            ("id: java-caused-by-recall", "id: ../java", "/cases/0/id: '../java' is not a usable id"),
            ("id: java-caused-by-recall", "id: java-root-cause-exact", "is also used in"),
            ("origin: captured", "origin: invented", "/capture/origin: 'invented' is unknown"),
        ],
    )
    def test_case_file(self, runner: Run, folder: Path, old: str, new: str, expected: str) -> None:
        assert expected in self.refuse(runner, folder, old, new)

    def test_capture_without_text(self, runner: Run, folder: Path) -> None:
        next(folder.rglob("*.txt")).unlink()
        assert "no such file; put the capture next to the case file" in refused(runner, "--dataset", "data")

    def test_capture_that_is_no_utf8(self, runner: Run, folder: Path) -> None:
        next(folder.rglob("*.txt")).write_bytes(b"\xff\xfe broken")
        assert "cannot be read as UTF-8" in refused(runner, "--dataset", "data")

    def test_folder_without_cases(self, runner: Run, folder: Path) -> None:
        (folder / "java").rename(folder.parent / "elsewhere")
        assert "contains no .yaml files" in refused(runner, "--dataset", "data")

    def test_dataset_that_is_a_file(self, runner: Run, folder: Path) -> None:
        assert "required field is missing" in refused(runner, "--dataset", "matrix.json")


def test_nothing_is_written_when_input_is_refused(runner: Run, tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario())
    refused(runner, "--case-id", "nope")
    assert [path.name for path in tmp_path.iterdir()] == ["matrix.json"]


def test_a_row_that_nobody_asks_for_stops_no_run(runner: Run, tmp_path: Path) -> None:
    good, bad = scripted(tmp_path, default="x"), scenario(name="bad", phase="later", max_output_tokens=0)
    write_matrix(tmp_path, good, bad)
    done = runner("--scenario", "scripted", "--max-cases", "1")
    assert done.returncode == 0, done.stderr
    assert "left out of the matrix: matrix.json: /scenarios/1/max_output_tokens: 0 is too small" in done.stderr
    assert "/scenarios/1/max_output_tokens: 0 is too small" in refused(runner, "--scenario", "bad")
    assert "/scenarios/1/max_output_tokens: 0 is too small" in refused(runner, "--phase", "later")
    assert "/scenarios/1/max_output_tokens: 0 is too small" in refused(runner)


def test_a_model_that_is_a_file_needs_no_other_name(runner: Run, tmp_path: Path) -> None:
    (tmp_path / "here.gguf").write_bytes(b"GGUF")
    write_matrix(tmp_path, scenario(model="here.gguf", gguf_filename=None))
    assert "here.gguf: the GGUF header is cut off or damaged" in runner("--max-cases", "1").stderr
