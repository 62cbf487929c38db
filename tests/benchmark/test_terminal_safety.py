"""Nothing from outside reaches a terminal, a picture or a report raw: through a terminal and through a pipe."""

from __future__ import annotations

import ast
import copy
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmark.corpus import load_corpus
from benchmark.corpus.jsonl import case_row
from benchmark.record.read import as_result
from ctxsift.errors import InputError
from tests.conftest import ROOT, scenario, scripted, write_matrix

pytestmark = pytest.mark.slow

# A colour nobody uses, a title, a cleared screen in one and in two bytes, another direction, tags, a bell.
ESCAPES = "\x1b[38;5;201m\x1b]0;owned\x07\x1b[2J\x9b2J\u202e\u2066\u200b\U000e0041\x7f\r\n"
# ... and what no file name holds.
HOSTILE = f"{ESCAPES}\x00\ud800\ufffe\uffff\u2028<b>[red]x[/red]|`"
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What rich says: colours and faces of text; where bars are drawn, lines and the cursor.
_FACES = re.compile(r"\x1b\[(?:[0-9]|1;3[0-9]|[349][0-9]|38;5;(?!201)[0-9]+|38;2;[0-9;]+|[0-9];[349][0-9])*m")
_BARS = frozenset({"\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A"})
_OBEYED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def through_pipe(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run a module of Python; return its exit code and all that it printed."""
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "surrogateescape")


def through_terminal(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run a module of Python in a terminal; return its exit code and all that it printed."""
    ours, theirs = pty.openpty()
    environ = os.environ | {"TERM": "xterm-256color", "COLUMNS": "200"}
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, cwd=folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        content = b"".join(_read_all(ours))
        os.close(ours)
    text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return process.returncode, text


def _read_all(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # nobody is at the other end any more
            return
        if not piece:
            return
        yield piece


def obeyed(text: str, *, bars: bool = False) -> list[str]:
    """Return what a terminal would obey in a text, beside what rich says itself."""
    found = [each for each in _SEQUENCE.findall(text) if not _FACES.fullmatch(each) and not (bars and each in _BARS)]
    rest = _SEQUENCE.sub("", text)
    kept = "\n\t\r" if bars else "\n\t"
    return found + [c for c in rest if c not in kept and unicodedata.category(c) in _OBEYED]


def both_ways(arguments: list[str], folder: Path, *, bars: bool = False) -> str:
    """Run a command through a pipe and through a terminal; return what the pipe got, both being safe."""
    code, piped = through_pipe(arguments, folder)
    shown_code, shown = through_terminal(arguments, folder)
    assert "Traceback" not in piped + shown, piped[-2000:]
    assert obeyed(piped) == []
    assert obeyed(shown, bars=bars) == []
    assert "owned" in piped
    assert "owned" in shown
    assert code == shown_code
    return piped


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everything has a hostile name: corpus, models, matrix, results."""
    folder = tmp_path_factory.mktemp("place")
    quiet = [case for case in load_corpus().cases if "Traceback" not in case.raw_input]
    rows = [case_row(case) for case in quiet[:2]]
    for number, row in enumerate(rows):
        row |= {"case_id": f"{ESCAPES}{number}", "title": ESCAPES, "rationale": ESCAPES, "domain": ESCAPES}
        row["capture"] |= dict.fromkeys(("name", "ecosystem", "tool", "version", "command"), ESCAPES)
        row["tags"] = [ESCAPES]
        # Not in the input, which is a finding.
        row["required_anchors"] = [*row["required_anchors"], ESCAPES]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = scripted(folder, default=ESCAPES, engine_version=ESCAPES)
    hostile = folder / f"{ESCAPES}.json"
    Path(answers["model"]).rename(hostile)
    failing = scripted(folder, "failing", fail_load=ESCAPES)
    write_matrix(
        folder,
        answers | {"model": str(hostile), "phase": ESCAPES},
        failing | {"model": failing["model"], "quantization": ESCAPES},
        scenario(name="not-there", model=f"./{ESCAPES}", gguf_filename=f"{ESCAPES}.gguf"),
    )
    return folder


RUN = ["benchmark.runner", "--dataset", "corpus.jsonl"]


def test_scenarios_are_listed_safely(place: Path) -> None:
    listed = both_ways(["benchmark.runner", "--list-scenarios"], place)
    assert len(listed.splitlines()) == 4


def test_a_run_tells_models_versions_and_cases_safely(place: Path) -> None:
    told = both_ways([*RUN, "--scenario", "scripted", "--show-output"], place, bars=True)
    assert "loading" in told
    assert len(re.findall(r"(?m)^--- .*owned", told)) == 2


def test_what_fails_to_load_and_what_is_not_there_is_told_safely(place: Path) -> None:
    told = both_ways([*RUN, "--scenario", "failing", "--scenario", "not-there"], place, bars=True)
    assert "not ready: not-there: " in told


@pytest.mark.parametrize(
    "arguments",
    [
        ["benchmark.runner", "--scenario", ESCAPES],
        ["benchmark.runner", "--case-id", ESCAPES],
        ["benchmark.runner", "--max-cases", ESCAPES],
        ["benchmark.runner", ESCAPES],
        ["benchmark.runner", f"--{ESCAPES}"],
        ["benchmark.runner", "--matrix", ESCAPES],
        ["benchmark.runner", "--resume", ESCAPES],
        ["benchmark.runner", "--name", f"{ESCAPES}/"],
        ["benchmark.runner", "--devices", ESCAPES],
        ["benchmark.corpus", ESCAPES],
        ["benchmark.corpus", "show", ESCAPES],
        ["benchmark.report", ESCAPES],
        ["benchmark.compare", "--score", ESCAPES, "."],
    ],
    ids=lambda arguments: " ".join(arguments).replace(ESCAPES, "X"),
)
def test_arguments_are_refused_safely(place: Path, arguments: list[str]) -> None:
    code, told = through_pipe(arguments, place)
    assert code == 2
    assert obeyed(told) == []
    assert len(told.splitlines()) == 1
    assert "owned" in told


@pytest.mark.parametrize("command", ["check", "show", "export"])
def test_a_corpus_is_shown_safely(place: Path, command: str) -> None:
    ids = [f"{ESCAPES}0"] if command == "show" else []
    told = both_ways(["benchmark.corpus", command, "--dataset", "corpus.jsonl", *ids], place)
    if command == "export":
        rows = [json.loads(line) for line in told.splitlines()]
        assert {row["title"] for row in rows} == {ESCAPES}


def test_what_an_env_file_holds_is_told_safely(place: Path) -> None:
    (place / "bad.env").write_text(f"CTXSIFT_LLM_REASONING_MODE='{ESCAPES}'\n")
    told = both_ways([*RUN, "--env-file", "bad.env", "--scenario", "scripted"], place)
    assert "CTXSIFT_LLM_REASONING_MODE" in told


# Results ------------------------------------------------------------------------------------------------------------


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts(inner, (*path, key))


def _changed(document: Any, path: tuple[Any, ...]) -> None:
    for key in path[:-1]:
        document = document[key]
    document[path[-1]] = HOSTILE + document[path[-1]]


@pytest.fixture(scope="module")
def hostile_results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results in which every text that may be any text is hostile, and the names of groups, baselines, settings."""
    folder = tmp_path_factory.mktemp("hostile")
    command = [sys.executable, "-m", "benchmark.runner", "--scenario", "control-tf-idf", "--max-cases", "8"]
    subprocess.run([*command, "--output-dir", str(folder / "plain")], cwd=ROOT, check=True, capture_output=True)
    document = json.loads(next((folder / "plain").rglob("control-tf-idf.json")).read_text())
    document["scenario"]["track"] = "cpu"
    summary = document["summary"]
    summary["reference"] |= {"floor": HOSTILE, "controls": {HOSTILE: summary["reference"]["floor_score"]}}
    document["cases"][0] |= {"outcome": "model_failure", "failure_reason": HOSTILE}
    summary["model_failure_counts"] = {HOSTILE: 1}
    document["run"]["backend"]["settings"] = {HOSTILE: HOSTILE, "canary": HOSTILE}
    may: dict[tuple[Any, ...], bool] = {}
    changed = 0
    for path in list(_texts(document)):
        kind = tuple("*" if isinstance(key, int) else key for key in path)
        if kind not in may:
            trial = copy.deepcopy(document)
            _changed(trial, path)
            try:
                as_result(folder, trial)
                may[kind] = True
            except InputError:
                may[kind] = False
        if may[kind]:
            _changed(document, path)
            changed += 1
    assert changed > 300
    tree = folder / "results"
    tree.mkdir()
    for name in ("a", "b"):
        document["scenario"]["name"] = f"{HOSTILE}owned-{name}"
        (tree / f"{name}.json").write_text(json.dumps(document))
    return tree


@pytest.mark.parametrize(
    "arguments",
    [
        ["benchmark.report", ".", "--markdown", "../report.md", "--csv", "../cases.csv"],
        ["benchmark.report", ".", "--json"],
        ["benchmark.compare", "."],
        ["benchmark.compare", ".", "--markdown"],
        ["benchmark.rescore", ".", "--skip-changed", "--output-dir", "../rescored"],
    ],
    ids=" ".join,
)
def test_hostile_results_are_shown_safely(hostile_results: Path, arguments: list[str]) -> None:
    both_ways(arguments, hostile_results)
    written = [*hostile_results.parent.glob("*.md"), *hostile_results.parent.glob("*.csv")]
    for file in [*written, *hostile_results.parent.glob("rescored/*.md")]:
        # Line ends as they are.
        assert obeyed(file.read_bytes().decode()) == [], file


@pytest.mark.parametrize("form", ["png", "svg"])
def test_pictures_of_hostile_results_are_drawn(hostile_results: Path, form: str) -> None:
    target = hostile_results.parent / form
    code, told = through_pipe(["benchmark.viewer", ".", f"--{form}", str(target)], hostile_results)
    assert code == 0, told
    assert obeyed(told) == []
    files = sorted(target.iterdir())
    assert len(files) >= 8
    if form == "svg":
        texts = ["".join(ElementTree.fromstring(file.read_text("utf-8")).itertext()) for file in files]
        assert any("owned" in text for text in texts)
        assert not any(obeyed(file.read_text("utf-8")) for file in files)


def test_the_page_of_hostile_results_is_built(hostile_results: Path, tmp_path: Path) -> None:
    code, told = through_pipe(["benchmark.viewer", ".", "-o", str(tmp_path / "page.html")], hostile_results)
    assert code == 0, told
    assert obeyed(told) == []
    # The application and the overview; what is unpacked later is base64.
    assert "\x1b" not in (tmp_path / "page.html").read_text("utf-8")


# Where it is decided ------------------------------------------------------------------------------------------------

# JSON for the process that started them; last words of a process that is to die.
_PRINTERS = {
    "ctxsift/terminal.py",
    "ctxsift/backends/cuda.py",
    "ctxsift/backends/scripted.py",
    "benchmark/record/__main__.py",
    "benchmark/cli/command.py",
}
_WRITERS_OF_RICH_TEXT = {"ctxsift/rich_text.py"}


def _callers(name: str) -> set[str]:
    found = set()
    for package in ("benchmark", "ctxsift"):
        for file in (ROOT / package).rglob("*.py"):
            calls = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call)]
            if any(isinstance(call.func, ast.Name) and call.func.id == name for call in calls):
                found.add(file.relative_to(ROOT).as_posix())
    return found


def test_plain_text_is_printed_in_one_place() -> None:
    assert _callers("print") <= _PRINTERS


def test_text_for_rich_is_made_in_one_place() -> None:
    importers = set()
    for package in ("benchmark", "ctxsift"):
        for file in (ROOT / package).rglob("*.py"):
            nodes = ast.walk(ast.parse(file.read_text("utf-8")))
            if any(isinstance(node, ast.ImportFrom) and node.module == "rich.text" for node in nodes):
                importers.add(file.relative_to(ROOT).as_posix())
    assert importers & _callers("Text") == _WRITERS_OF_RICH_TEXT
