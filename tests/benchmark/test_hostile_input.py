"""Malformed and hostile input, to every reader: it is read, or refused in one line that names it, within 2 s."""

from __future__ import annotations

import functools
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.cases import Corpus
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.corpus.jsonl import case_row
from benchmark.matrix import load_matrix
from benchmark.record.read import find_results
from benchmark.run.resume import read_past
from benchmark.scoring import Embedder, score_view
from ctxsift.compression import examine
from ctxsift.errors import InputError
from ctxsift.settings import load_settings
from tests.conftest import Run, published_layout, scenario, scripted, write_matrix

pytestmark = pytest.mark.slow

LIMIT_S = 2.0
Reader = Callable[[Path], object]


def read_yaml_corpus(path: Path) -> object:
    """Read a file as the cases of a capture."""
    folder = path.parent / "corpus"
    folder.mkdir(exist_ok=True)
    (folder / "x.yaml").write_bytes(path.read_bytes())
    (folder / "x.txt").write_text("a log\n")
    return load_corpus(folder)


def read_capture(path: Path) -> object:
    """Read a file as what a command printed."""
    folder = path.parent / "capture"
    folder.mkdir(exist_ok=True)
    (folder / "x.yaml").write_text(next(DEFAULT_CORPUS.glob("java/*.yaml")).read_text())
    (folder / "x.txt").write_bytes(path.read_bytes())
    return load_corpus(folder)


READERS: dict[str, tuple[str, Reader]] = {
    "matrix": ("m.json", load_matrix),
    "jsonl": ("c.jsonl", load_corpus),
    "yaml": ("c.yaml", read_yaml_corpus),
    "capture": ("c.txt", read_capture),
    "env": ("c.env", lambda path: load_settings(path, {})),
    "result": ("r.json", lambda path: find_results([path])),
    "journal": ("j.journal.jsonl", read_past),
}


@contextmanager
def limited() -> Iterator[None]:
    """Fail what takes longer than anybody waits."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"took longer than {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check(folder: Path, reader: str, content: bytes) -> str:
    """Read `content`; return the refusal, or "" when it could be read."""
    name, read = READERS[reader]
    path = folder / name
    path.write_bytes(content)
    try:
        with limited():
            read(path)
    except InputError as error:
        text = str(error)
        assert text
        assert len(text.splitlines()) == 1
        assert len(text) < 2000
        return text
    return ""


def bomb() -> str:
    """A YAML document of a kilobyte that comes to a billion items."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join([*lines, "capture: *a9", "cases: *a9"])


def contents() -> dict[str, bytes]:
    """Everything that has ever been sent to a parser to break it, by name."""
    deep = 100_000
    found: dict[str, bytes | str] = {
        "nothing": "",
        "blank": " \n\t\r\n ",
        "nul": "\0",
        "many nul": b"\0" * 100_000,
        "nul inside": '{"scenarios": [{"name": "a\\u0000b"}]}',
        "raw nul inside": b'{"scenarios": [{"na\0me": 1}]}',
        "bom": b"\xef\xbb\xbf{}",
        "bom twice": b"\xef\xbb\xbf\xef\xbb\xbf{}",
        "utf-16": '{"scenarios": []}'.encode("utf-16"),
        "utf-32": '{"scenarios": []}'.encode("utf-32"),
        "latin-1": '{"n\xe4me": "\xfc"}'.encode("latin-1"),
        "half a character": b'{"a": "\xc3"}',
        "lone surrogate": '{"case_id": "\\ud800", "scenarios": ["\\udfff"]}',
        "surrogate key": '{"\\ud800": {"\\ud801": 1}}',
        "surrogate bytes": b'{"a": "\xed\xa0\x80"}',
        "overlong": b'{"a": "\xc0\xaf"}',
        "deep lists": "[" * deep,
        "deep lists closed": "[" * deep + "]" * deep,
        "deep objects": '{"a":' * deep + "1" + "}" * deep,
        "deep in place": '{"scenarios": ' + "[" * deep + "]" * deep + "}",
        "deep yaml": "\n".join(" " * n + "a:" for n in range(2000)),
        "nan": '{"scenarios": NaN}',
        "infinity": '{"summary": {"final_score": Infinity}, "scenario": {}, "cases": []}',
        "minus infinity": "[-Infinity]",
        "huge number": '{"scenarios": ' + "9" * 100_000 + "}",
        "huge exponent": '{"scenarios": 1e999999}',
        "huge float": '{"scenario": {"name": "x", "track": "cpu"}, "summary": {"final_score": 1e400}, "cases": []}',
        "duplicate keys": '{"scenarios": [], "scenarios": []}',
        "a number": "1",
        "a string": '"x"',
        "null": "null",
        "true": "true",
        "a list": "[]",
        "a list of lists": "[[], [[]]]",
        "empty object": "{}",
        "wrong kinds": '{"scenarios": {"a": 1}, "capture": 1, "cases": "x", "scenario": [], "summary": 0, "type": 1}',
        "cases of nothing": json.dumps(
            {"scenario": {}, "summary": {"final_score": 1, "case_count": 1}, "cases": [None]}
        ),
        "a run of nothing": '{"type": "run", "journal_version": 3}\n{"type": "generation"}\n',
        "a run of wrong kinds": '{"type": "run", "journal_version": 2, "at_s": {}, "scenario": 3, "case_ids": 4}\n[]\n',
        "journal of the future": '{"type": "run", "journal_version": 99}\n',
        "journal of lists": "[]\n[]\n",
        "trailing comma": '{"scenarios": [],}',
        "comments": '{"scenarios": [] /* none */}',
        "single quotes": "{'scenarios': []}",
        "cut off": '{"scenarios": [{"name": "x", "track',
        "two documents": "{}{}",
        "many documents": "--- {}\n" * 10_000,
        "yaml bomb": bomb(),
        "yaml tag": "capture: !!python/object/apply:os.system [echo hacked]\ncases: []",
        "yaml bad scalar": "capture: !!bool maybe\ncases: !!int x",
        "yaml timestamp": "capture: 2020-99-99\ncases: 0000-00-00",
        "yaml merge": "capture: {<<: [1, 2]}\ncases: []",
        "yaml self": "capture: &a [*a]\ncases: *a",
        "yaml directive": "%YAML 9.9\n---\n{}",
        "yaml unknown alias": "capture: *nobody",
        "yaml tabs": "capture:\n\t- x",
        "yaml keys": "? [a, b]\n: 1\n? {c: d}\n: 2",
        "yaml numbers": "cases: 1_000_000_000_000_000_000_000_000\ncapture: 0x" + "f" * 10_000,
        "yaml sexagesimal": "capture: " + ":".join(["59"] * 5000),
        "escapes": "\x1b[31m\x1b]0;title\x07{}",
        "direction": "\u202e{}\u2066",
        "spaces of all kinds": "\u00a0\u2003\u3000\ufeff{}",
        "line separators": '{"a": 1}\u2028{"b": 2}\u0085{"c": 3}',
        "carriage returns": '{"a": 1}\r{"b": 2}\r\n',
        "env odd": "CTXSIFT_TIMEOUT_MS=x\nCTXSIFT_RETRIES=-5",
        "env huge": "CTXSIFT_TIMEOUT_MS=" + "9" * 10_000,
        "env quotes": 'CTXSIFT_LLM_API_KEY="' + "x" * 10_000,
        "env no name": "=x\n==\nexport\nexport =",
        "env unicode digits": "CTXSIFT_TIMEOUT_MS=٣٠٠٠\nCTXSIFT_RETRIES=²",
        "env newline": 'CTXSIFT_LLM_BASE_URL="http://a\nb"',
        "env reference": "CTXSIFT_LLM_API_KEY=${CTXSIFT_LLM_API_KEY}" * 100,
        "gzip": b"\x1f\x8b\x08\x00" + b"\0" * 100,
        "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10,
        "all bytes": bytes(range(256)) * 100,
        "long line": b'{"scenarios": "' + b"A" * 100_000_000 + b'"}',
        "long line without end": b"A" * 100_000_000,
        "long blank line": b" " * 100_000_000,
        "many lines": b"{}\n" * 300_000,
        "many keys": json.dumps({f"k{n}": n for n in range(100_000)}),
        "many scenarios": json.dumps({"scenarios": [scenario(name=f"s{n}") for n in range(2000)]}),
    }
    return {name: c.encode("utf-8", "surrogatepass") if isinstance(c, str) else c for name, c in found.items()}


CONTENTS = functools.cache(contents)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", sorted(contents()))
def test_every_reader_reads_or_refuses(tmp_path: Path, reader: str, name: str) -> None:
    refused = check(tmp_path, reader, CONTENTS()[name])
    if reader in ("matrix", "jsonl", "yaml", "result", "journal") and not (
        reader == "matrix" and name == "many scenarios"
    ):
        assert refused, "nothing of this is a good file"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, corpus: Corpus) -> dict[str, bytes]:
    """A good file for each reader, to be spoiled."""
    folder = tmp_path_factory.mktemp("samples")
    matrix = write_matrix(folder, scenario(), scenario(name="two", track="remote", device="remote", gguf_filename=None))
    result = published_layout(folder / "r.json", "x", {"a": 0.5, "b": 0.25})
    generation = {"text": "x", "finish_reason": "stop", "total_ms": 1.0, "model": "m"}
    journal = [
        {"type": "run", "journal_version": 2, "at_s": 0.0, "scenario": {"name": "x"}, "case_ids": ["a"], "pid": 1},
        {"type": "generation", "at_s": 1.0, "key": "k", "case_id": "a", "attempt": 1, "elapsed_ms": 1.0} | generation,
    ]
    return {
        "matrix": matrix.read_bytes(),
        "jsonl": "\n".join(json.dumps(case_row(case)) for case in corpus.cases[:2]).encode(),
        "yaml": next(DEFAULT_CORPUS.glob("java/*.yaml")).read_bytes(),
        "capture": b"a log\n",
        "env": b"CTXSIFT_LLM_BASE_URL=http://127.0.0.1:1/v1\nCTXSIFT_LLM_API_KEY='k'\nCTXSIFT_TIMEOUT_MS=3000\n",
        "result": result.read_bytes(),
        "journal": b"".join(json.dumps(line).encode() + b"\n" for line in journal),
    }


_WORDS = b"null -1 1e999 true &a *a !! [ ] { } , : \xff".split()
_PIECES = (*_WORDS, b"\0", b'"', b"\n", b"\\", b"- ")


def spoiled(content: bytes, seed: int) -> bytes:
    """Return the content with a few bytes lost, changed, doubled or put in."""
    rng = random.Random(seed)
    data = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(data) + 1)
        length = rng.choice((1, 1, 2, 8, 64))
        how = rng.randrange(5)
        if how == 0:
            del data[place : place + length]
        elif how == 1:
            data[place:place] = rng.choice(_PIECES)
        elif how == 2:
            data[place:place] = data[place : place + length]
        elif how == 3 and place < len(data):
            data[place] = rng.randrange(256)
        else:
            del data[place:]
    return bytes(data)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_spoiled_files_are_read_or_refused(tmp_path: Path, samples: dict[str, bytes], reader: str, seed: int) -> None:
    check(tmp_path, reader, spoiled(samples[reader], seed))


def test_samples_are_good_files(tmp_path: Path, samples: dict[str, bytes]) -> None:
    refused = {reader: check(tmp_path, reader, content) for reader, content in samples.items() if reader != "journal"}
    assert not any(refused.values()), refused


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "loop", "long name"])
@pytest.mark.parametrize("reader", ["matrix", "jsonl", "env", "result", "journal"])
def test_what_is_no_file_is_refused(tmp_path: Path, reader: str, kind: str) -> None:
    name, read = READERS[reader]
    path = tmp_path / name
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path = tmp_path / ("x" * 300)
    with limited(), pytest.raises(InputError):
        read(path)


# What a model says ------------------------------------------------------------------------------------------------

ANSWERS = {
    "a megabyte of one letter": "A" * 1_000_000,
    "a megabyte of blanks": " " * 1_000_000,
    "a megabyte of breaks": "\n" * 1_000_000,
    "a megabyte of fences": "```\n" * 250_000,
    "a megabyte of brackets": "[" * 1_000_000,
    "a megabyte of pipes": "|" * 1_000_000,
    "a megabyte of tags": "<think>" * 140_000,
    "a megabyte of closers": "</think>" * 120_000,
    "a megabyte of bullets": "- \n" * 330_000,
    "a megabyte of quotes": '"' * 1_000_000,
    "a megabyte of dots": "." * 1_000_000,
    "a megabyte of digits": "1" * 1_000_000,
    "a megabyte of sentences": "Okay, the user wants it. " * 40_000,
    "a megabyte of keys": "a: b\n" * 200_000,
    "a megabyte of aliases": "- *a\n" * 200_000,
    "a megabyte of accents": "e\u0301" * 500_000,
    "lone surrogates": "\ud800\udfff" * 1000,
    "null bytes": "\0" * 10_000,
    "terminal escapes": "\x1b[2J\x1b]0;x\x07" * 1000,
    "direction": "\u202e\u2066" * 1000,
    "yaml bomb": bomb(),
    "deep json": "[" * 50_000,
    "nothing": "",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_hostile_answers_are_judged_in_time(name: str, corpus: Corpus, embedder: Embedder) -> None:
    chosen = {case.intent: case for case in corpus.cases}
    embedder.count_tokens("loads what the first text pays for")
    for case in chosen.values():
        score_view("x", examine("x", case.request)[0].validation, case, embedder)
        with limited():
            for view in examine(ANSWERS[name], case.request)[:2]:
                scores = score_view(view.text, view.validation, case, embedder)
                assert 0 <= scores.case_score <= 1


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?:a?){30}a{30}"]
)
def test_patterns_that_explode_are_ended(pattern: str, corpus: Corpus, embedder: Embedder) -> None:
    case = corpus.cases[0]
    trap = replace(case, rules=replace(case.rules, pattern=pattern))
    with limited():
        raw, recovered, _ = examine("a" * 40 + "!", trap.request)
        for view in (raw, recovered):
            score_view(view.text, view.validation, trap, embedder)


def test_nothing_of_it_reaches_a_terminal_raw(tmp_path: Path, runner: Run) -> None:
    hostile = "\x1b[31m\x1b]0;owned\x07\u202e\x9b2J\r\x00 text"
    write_matrix(tmp_path, scripted(tmp_path, default=hostile))
    done = runner("--max-cases", "8", "--show-output")
    assert done.returncode == 0
    shown = done.stdout + done.stderr
    assert "text" in shown
    assert not [c for c in shown if c in "\x1b\x07\u202e\x9b\x00"]


@pytest.mark.parametrize(
    "name", ["deep lists", "yaml bomb", "utf-16", "long line", "nan", "surrogate key", "duplicate keys"]
)
def test_commands_refuse_in_one_line(tmp_path: Path, runner: Run, name: str) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x"))
    (tmp_path / "bad.json").write_bytes(CONTENTS()[name])
    (tmp_path / "bad.jsonl").write_bytes(CONTENTS()[name])
    for arguments in (["--matrix", "bad.json"], ["--dataset", "bad.jsonl", "--matrix", "matrix.json"]):
        done = runner(*arguments)
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("error: ")


def test_there_are_four_hundred_of_them() -> None:
    assert len(contents()) * len(READERS) + len(ANSWERS) >= 400
    assert sys.getrecursionlimit() == 1000


def test_what_is_told_of_a_file_is_safe_for_a_terminal(tmp_path: Path) -> None:
    content: Any = {"scenarios": [scenario(name="\x1b[31mred\x07", track="\u202ecpu")]}
    assert "\x1b" not in check(tmp_path, "matrix", json.dumps(content).encode())
