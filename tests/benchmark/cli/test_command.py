"""The skeleton of every command: one-line refusals, exit codes, help."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmark import compare, report, rescore
from benchmark.cli.command import (
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    add_results,
    command_parser,
    print_json,
    run_command,
    unwritten,
)
from benchmark.corpus import __main__ as corpus_command
from benchmark.race import __main__ as race_command
from ctxsift.errors import InputError
from tests.conftest import ROOT

Main = Callable[[Sequence[str]], int]
MAINS = [report.main, compare.main, rescore.main, corpus_command.main, race_command.main]
V2 = ROOT / "tests" / "data" / "results" / "v2"


@pytest.mark.parametrize(
    ("main", "arguments"),
    # Of results that nobody names, report and compare show the packaged ones.
    [*((main, ["--nonsense"]) for main in MAINS), (rescore.main, []), (corpus_command.main, [])],
)
def test_bad_usage_is_one_line(main: Main, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == EXIT_USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert told.err.startswith("error: ")


@pytest.mark.parametrize("main", MAINS)
def test_help_has_examples_and_exit_codes(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert shown.count("examples:") == shown.count("exit codes:") == 1


@pytest.mark.parametrize(
    ("fault", "code", "told"),
    [
        (InputError("x.json", "is not a result file", "name another"), 2, "error: x.json: is not a result file;"),
        (PermissionError(13, "Permission denied", "x.json"), 2, "Permission denied"),
        (KeyboardInterrupt(), EXIT_INTERRUPTED, "interrupted"),
    ],
)
def test_faults_end_in_one_line(fault: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    def handler(_: argparse.Namespace) -> int:
        raise fault

    parser = command_parser("nothing", "Do nothing.")
    add_results(parser)
    assert run_command(parser, handler, ["x.json"]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main([str(V2), "--csv", str(tmp_path / "none" / "cases.csv")]) == EXIT_USAGE
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "error: --markdown, --csv: cannot be written (No such file or directory); name another file\n"


def test_json_bears_half_characters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"path": "a\udcff"})
    assert json.loads(capsys.readouterr().out) == {"path": "a\udcff"}


@pytest.mark.slow
def test_the_corpus_in_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert corpus_command.main(["stats", "--json"]) == 0
    quotas = json.loads(capsys.readouterr().out)
    assert {"quota": "cases in total", "value": 280, "least": 280, "most": 280, "met": True} in quotas
    assert corpus_command.main(["show", "nowhere"]) == EXIT_USAGE
    assert "is not in the corpus" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "meant", "said"),
    [
        (OSError(28, "No space left on device"), ["a.html", "b.png"], "a.html, b.png: cannot be written (No space"),
        (OSError(28, "No space left on device"), [], "a file: cannot be written (No space left on device)"),
        (OSError(13, "Permission denied", "c.png"), ["a.html"], "c.png: cannot be written (Permission denied)"),
        (OSError("the disk is gone"), ["a.html"], "a.html: cannot be written (the disk is gone)"),
    ],
)
def test_what_cannot_be_written_is_named(error: OSError, meant: list[str], said: str) -> None:
    assert unwritten(error, *meant).startswith(said)
