"""Damaged journals are resumed, or refused in one line; every result that comes of them can be read."""

from __future__ import annotations

import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.support.depth import depth
from tests.support.journal_damage import DAMAGES, JOURNALS, NAMES, damaged, journal, seal
from tests.support.measured import Measured, measured

pytestmark = pytest.mark.slow

# Of each kind of damage at least two, in trees that are resumed at once.
COUNT, TREES = depth(2 * len(DAMAGES), 500), 2
MOST_MB = 500


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with the matrix, the corpus and the script of the runs; the script answers at once."""
    for name in ("corpus.jsonl", "matrix.json"):
        shutil.copy(JOURNALS / name, tmp_path)
    script = json.loads((JOURNALS / "scripted.script.json").read_text())
    (tmp_path / "scripted.script.json").write_text(json.dumps(script | {"delay_ms": 0}))
    return tmp_path


@pytest.fixture
def resume(home: Path, runner: Run) -> Run:
    """Resume what is in `results`."""
    return lambda: runner(*resuming("results"), cwd=home)


def resuming(tree: str) -> tuple[str, ...]:
    return ("--resume", tree, "--dataset", "corpus.jsonl", "--remote")


def put(home: Path, lines: list[bytes], folder: str = "results/run", name: str = "scripted") -> Path:
    path = home / folder / f"{name}.journal.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def result_of(journal: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((journal.parent / journal.name.replace(".journal.jsonl", ".json")).read_text())
    return record


def test_damaged_journals_are_named_or_come_to_a_result(home: Path) -> None:
    """None gives a traceback, hangs or takes much memory; each is named, or comes to a complete result."""
    trees = [f"tree-{number}" for number in range(TREES)]
    kinds = {}
    for number in range(COUNT):
        damage = damaged(number)
        folder = home / trees[number // len(NAMES) % TREES] / f"{number:03d}"
        folder.mkdir(parents=True)
        (folder / f"{damage.name}.journal.jsonl").write_bytes(damage.content)
        kinds[folder] = f"{number}: {damage.how}"
    with ThreadPoolExecutor(2) as pool:
        runs = dict(
            zip(
                trees,
                pool.map(lambda tree: measured("benchmark.runner", *resuming(tree), cwd=home), trees),
                strict=True,
            )
        )
        boards = dict(zip(trees, pool.map(lambda tree: report(home, tree), trees), strict=True))
    for tree, run in runs.items():
        assert "Traceback" not in run.stderr, run.stderr
        assert run.code in (0, 1, 2), run.stderr
        assert run.peak_mb < MOST_MB
        results = list((home / tree).glob("*/*.json"))
        assert results
        assert boards[tree].code == 0, boards[tree].stderr
        assert sum(len(board["results"]) for board in json.loads(boards[tree].stdout)["boards"]) == len(results)
    incomplete = [
        kind
        for folder, kind in kinds.items()
        if f"{folder.relative_to(home)}/" not in runs[folder.parent.name].stderr and not complete(folder)
    ]
    assert not incomplete, incomplete


def report(home: Path, tree: str) -> Measured:
    return measured("benchmark.report", tree, "--json", cwd=home)


def complete(folder: Path) -> bool:
    return any(json.loads(path.read_text())["run"]["complete"] for path in folder.glob("*.json"))


def changed(line: bytes, **fields: Any) -> bytes:
    """Return a line with other values, sealed as it was."""
    found = json.loads(line) | fields
    sealed = found.pop("checksum", None)
    content = json.dumps(found).encode()
    return seal(content) if sealed else content


NAN, INFINITE = float("nan"), float("inf")
TYPES: tuple[tuple[str, Any], ...] = (
    *(("total_ms", value) for value in (NAN, INFINITE, -1.0, 1e300, "1", True)),
    *(("elapsed_ms", -5.0), ("rss_bytes", -1), ("prompt_tokens", -1), ("completion_tokens", 10**400), ("attempt", 0)),
    *(("case_id", "of-another-corpus"), ("input_chars_cut", -3), ("cost_usd", -INFINITE), ("model", 3), ("at_s", NAN)),
    ("machine", {"wall_s": NAN, "other_cpu_s": 0, "steal_s": 0, "memory_stall_s": 0, "load": 0, "mhz": 1}),
    ("key", "x" * 1000),
)


def test_a_line_of_another_type_costs_its_case_alone(home: Path, resume: Run) -> None:
    paths = []
    for number, (field, value) in enumerate(TYPES):
        lines = journal("control-gold", 2 + number % 2)
        lines[3] = changed(lines[3], **{field: value})
        paths.append(put(home, lines, f"results/{number}", "control-gold"))
    done = resume()
    assert done.returncode == 0, done.stderr
    for path in paths:
        assert f"{path.relative_to(home)}:4: this line is damaged" in done.stderr
        record = result_of(path)
        assert record["run"]["complete"]
        assert len(record["cases"]) == 12
    assert report(home, "results").code == 0
    # It is said once; nothing is left to be done.
    assert "nothing to resume" in resume().stderr


def test_a_flipped_byte_inside_an_answer_is_seen(home: Path, resume: Run) -> None:
    lines = journal("scripted", 3)
    assert b"first bad commit" in lines[2]
    lines[2] = lines[2].replace(b"first bad commit", b"first bad commIt")
    path = put(home, lines)
    done = resume()
    assert done.returncode == 0
    assert f"{path.relative_to(home)}:3: this line is damaged (its checksum does not fit)" in done.stderr
    assert "commIt" not in json.dumps(result_of(path))


def test_many_damaged_lines_are_told_in_one(home: Path, resume: Run) -> None:
    lines = journal("scripted", 3)
    path = put(home, [*lines[:3], *(line[:-9] for line in lines[3:5]), b"{}x" * 1000, *lines[5:]])
    done = resume()
    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if "damaged" in line]
    assert len(told) == 1
    assert told[0].startswith(f"{path.relative_to(home)}:4: 3 lines are damaged, this one first")


IDENTITIES: tuple[dict[str, Any], ...] = (
    {"case_ids": ["git-bisect-summary", "git-bisect-summary"]},
    {"case_ids": []},
    {"timestamp": "../../elsewhere"},
    {"corpus_sha256": "x"},
    {"seed": 2**70},
)


def test_a_damaged_first_line_refuses_that_run_alone(home: Path, resume: Run) -> None:
    lines = journal("scripted", 3)
    good = put(home, lines, "results/good")
    bad = [
        put(home, [changed(lines[0], **changes), *lines[1:]], f"results/bad{number}")
        for number, changes in enumerate(IDENTITIES)
    ]
    done = resume()
    assert done.returncode == 2
    errors = sorted(line for line in done.stderr.splitlines() if line.startswith("error"))
    assert len(errors) == len(bad)
    for path, error in zip(bad, errors, strict=True):
        assert error.startswith(f"error: {path.relative_to(home)}:1: the journal is damaged (")
    assert result_of(good)["run"]["complete"]


def test_an_answer_under_the_key_of_another_case_is_not_taken_for_its_answer(home: Path, resume: Run) -> None:
    lines = journal("scripted", 3)
    first, second = json.loads(lines[2]), json.loads(lines[3])
    lines[3] = changed(lines[3], key=first["key"])
    path = put(home, lines)
    assert resume().returncode == 0
    texts = {case["case_id"]: case["raw_view"]["output"] for case in result_of(path)["cases"]}
    assert texts[first["case_id"]] == first["text"]
    assert texts[second["case_id"]] == second["text"]


def test_what_is_written_is_sealed_and_read_back(home: Path, resume: Run) -> None:
    path = put(home, journal("control-gold", 2), name="control-gold")
    before = path.read_bytes()
    assert resume().returncode == 0
    after = path.read_bytes()
    assert after.startswith(before)
    new = after[len(before) :].splitlines()
    assert len(new) > 3
    assert all(line == seal(line) and re.search(rb', "checksum": "[0-9a-f]{16}"}$', line) for line in new)


def test_a_large_journal_takes_little_memory(home: Path) -> None:
    lines = journal("scripted", 3)
    answer = json.loads(lines[2])
    path = put(home, lines)
    with path.open("ab") as file:
        # 60 MB, of which each line is an answer to be kept.
        for number in range(20):
            file.write(changed(lines[2], key=f"{number:064}", text="x" * 2_000_000) + b"\n")
        line = changed(lines[2], key="0" * 64, text="y")
        for number in range(20_000):
            file.write(seal(line.replace(b'"key": "0000000', f'"key": "{number:07}'.encode())) + b"\n")
        # A line whose decoding alone would take gigabytes.
        file.write(b'{"a": [' + b"[]," * 2_000_000 + b"0]}\n")
    done = measured("benchmark.runner", *resuming("results"), cwd=home)
    assert done.code == 0, done.stderr
    assert "this line is damaged (holds more than" in done.stderr
    assert answer["text"] in {case["raw_view"]["output"] for case in result_of(path)["cases"]}
    assert done.peak_mb < MOST_MB


KINDS = ("fifo", "folder", "zero", "socket")


def test_a_foreign_journal_is_passed_over_by_a_new_run(home: Path, runner: Run) -> None:
    folder = home / "results" / "theirs"
    folder.mkdir(parents=True)
    (folder / "x.journal.jsonl").write_text('{"type": []}\n')
    done = runner("--scenario", "control-gold", "--dataset", "corpus.jsonl", "--max-cases", "2", cwd=home)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_file_is_passed_over_by_a_new_run(home: Path, runner: Run) -> None:
    for kind in KINDS:
        make(kind, home / "results" / kind / "control-gold.journal.jsonl")
        make(kind, home / "results" / kind / "control-gold.json")
    options = ("--scenario", "control-gold", "--dataset", "corpus.jsonl", "--max-cases", "2")
    done = runner(*options, cwd=home)
    assert done.returncode == 0, done.stderr


def test_what_is_no_file_is_named_by_resume_and_the_others_are_resumed(home: Path, runner: Run) -> None:
    good = put(home, journal("control-gold", 3), "results/good", "control-gold")
    for kind in KINDS:
        make(kind, home / "results" / kind / "scripted.journal.jsonl")
        make(kind, good.parent / f"{kind}.json")
    done = runner("--resume", "results", "--dataset", "corpus.jsonl", cwd=home)
    assert "Traceback" not in done.stderr
    assert result_of(good)["run"]["complete"]


def make(kind: str, path: Path) -> None:
    """Make something at `path` that is no file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    else:
        # As a socket's file is: bind() would refuse so long a path.
        os.mknod(path, 0o140644)
