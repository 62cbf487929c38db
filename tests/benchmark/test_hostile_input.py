"""Malformed and hostile input, to every reader: it is read, or refused in one line that names it."""

from __future__ import annotations

import functools
import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
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
from tests.support.depth import depth

pytestmark = pytest.mark.slow

Content = bytes | str
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


def check(folder: Path, reader: str, content: Content) -> str:
    """Read `content`; return the refusal, or "" when it could be read."""
    name, _ = READERS[reader]
    (folder / name).write_bytes(as_bytes(content))
    return read(folder, reader)


def read(folder: Path, reader: str) -> str:
    """Read what is in the file of a reader; return the refusal, or "" when it could be read."""
    name, reads = READERS[reader]
    try:
        reads(folder / name)
    except InputError as error:
        text = str(error)
        assert text
        assert len(text.splitlines()) == 1
        assert len(text) < 2000
        return text
    return ""


def as_bytes(content: Content) -> bytes:
    """Return the bytes of a text, half characters included."""
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def bomb() -> str:
    """A YAML document of a kilobyte that comes to a billion items."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join([*lines, "capture: *a9", "cases: *a9"])


DEEP = 100_000
# Everything that has ever been sent to a parser to break it, by name.
CONTENTS: dict[str, Callable[[], Content]] = {
    "nothing": lambda: "",
    "blank": lambda: " \n\t\r\n ",
    "nul": lambda: "\0",
    "many nul": lambda: b"\0" * 100_000,
    "nul inside": lambda: '{"scenarios": [{"name": "a\\u0000b"}]}',
    "raw nul inside": lambda: b'{"scenarios": [{"na\0me": 1}]}',
    "bom": lambda: b"\xef\xbb\xbf{}",
    "bom twice": lambda: b"\xef\xbb\xbf\xef\xbb\xbf{}",
    "utf-16": lambda: '{"scenarios": []}'.encode("utf-16"),
    "utf-32": lambda: '{"scenarios": []}'.encode("utf-32"),
    "latin-1": lambda: '{"n\xe4me": "\xfc"}'.encode("latin-1"),
    "half a character": lambda: b'{"a": "\xc3"}',
    "lone surrogate": lambda: '{"case_id": "\\ud800", "scenarios": ["\\udfff"]}',
    "surrogate key": lambda: '{"\\ud800": {"\\ud801": 1}}',
    "surrogate bytes": lambda: b'{"a": "\xed\xa0\x80"}',
    "overlong": lambda: b'{"a": "\xc0\xaf"}',
    "deep lists": lambda: "[" * DEEP,
    "deep lists closed": lambda: "[" * DEEP + "]" * DEEP,
    "deep objects": lambda: '{"a":' * DEEP + "1" + "}" * DEEP,
    "deep in place": lambda: '{"scenarios": ' + "[" * DEEP + "]" * DEEP + "}",
    "deep yaml": lambda: "\n".join(" " * n + "a:" for n in range(2000)),
    "nan": lambda: '{"scenarios": NaN}',
    "infinity": lambda: '{"summary": {"final_score": Infinity}, "scenario": {}, "cases": []}',
    "minus infinity": lambda: "[-Infinity]",
    "huge number": lambda: '{"scenarios": ' + "9" * 100_000 + "}",
    "huge exponent": lambda: '{"scenarios": 1e999999}',
    "huge float": lambda: '{"scenario": {"name": "x", "track": "cpu"}, "summary": {"final_score": 1e400}, "cases": []}',
    "duplicate keys": lambda: '{"scenarios": [], "scenarios": []}',
    "a number": lambda: "1",
    "a string": lambda: '"x"',
    "null": lambda: "null",
    "true": lambda: "true",
    "a list": lambda: "[]",
    "a list of lists": lambda: "[[], [[]]]",
    "empty object": lambda: "{}",
    "wrong kinds": lambda: (
        '{"scenarios": {"a": 1}, "capture": 1, "cases": "x", "scenario": [], "summary": 0, "type": 1}'
    ),
    "cases of nothing": lambda: json.dumps(
        {"scenario": {}, "summary": {"final_score": 1, "case_count": 1}, "cases": [None]}
    ),
    "a run of nothing": lambda: '{"type": "run", "journal_version": 3}\n{"type": "generation"}\n',
    "a run of wrong kinds": lambda: (
        '{"type": "run", "journal_version": 2, "at_s": {}, "scenario": 3, "case_ids": 4}\n[]\n'
    ),
    "journal of the future": lambda: '{"type": "run", "journal_version": 99}\n',
    "journal of lists": lambda: "[]\n[]\n",
    "trailing comma": lambda: '{"scenarios": [],}',
    "comments": lambda: '{"scenarios": [] /* none */}',
    "single quotes": lambda: "{'scenarios': []}",
    "cut off": lambda: '{"scenarios": [{"name": "x", "track',
    "two documents": lambda: "{}{}",
    "many documents": lambda: "--- {}\n" * 10_000,
    "yaml bomb": bomb,
    "yaml tag": lambda: "capture: !!python/object/apply:os.system [echo hacked]\ncases: []",
    "yaml bad scalar": lambda: "capture: !!bool maybe\ncases: !!int x",
    "yaml timestamp": lambda: "capture: 2020-99-99\ncases: 0000-00-00",
    "yaml merge": lambda: "capture: {<<: [1, 2]}\ncases: []",
    "yaml self": lambda: "capture: &a [*a]\ncases: *a",
    "yaml directive": lambda: "%YAML 9.9\n---\n{}",
    "yaml unknown alias": lambda: "capture: *nobody",
    "yaml tabs": lambda: "capture:\n\t- x",
    "yaml keys": lambda: "? [a, b]\n: 1\n? {c: d}\n: 2",
    "yaml numbers": lambda: "cases: 1_000_000_000_000_000_000_000_000\ncapture: 0x" + "f" * 10_000,
    "yaml sexagesimal": lambda: "capture: " + ":".join(["59"] * 5000),
    "escapes": lambda: "\x1b[31m\x1b]0;title\x07{}",
    "direction": lambda: "\u202e{}\u2066",
    "spaces of all kinds": lambda: "\u00a0\u2003\u3000\ufeff{}",
    "line separators": lambda: '{"a": 1}\u2028{"b": 2}\u0085{"c": 3}',
    "carriage returns": lambda: '{"a": 1}\r{"b": 2}\r\n',
    "env odd": lambda: "CTXSIFT_TIMEOUT_MS=x\nCTXSIFT_RETRIES=-5",
    "env huge": lambda: "CTXSIFT_TIMEOUT_MS=" + "9" * 10_000,
    "env quotes": lambda: 'CTXSIFT_LLM_API_KEY="' + "x" * 10_000,
    "env no name": lambda: "=x\n==\nexport\nexport =",
    "env unicode digits": lambda: "CTXSIFT_TIMEOUT_MS=٣٠٠٠\nCTXSIFT_RETRIES=²",
    "env newline": lambda: 'CTXSIFT_LLM_BASE_URL="http://a\nb"',
    "env reference": lambda: "CTXSIFT_LLM_API_KEY=${CTXSIFT_LLM_API_KEY}" * 100,
    "gzip": lambda: b"\x1f\x8b\x08\x00" + b"\0" * 100,
    "png": lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10,
    "all bytes": lambda: bytes(range(256)) * 100,
    "long line": lambda: b'{"scenarios": "' + b"A" * 1_000_000 + b'"}',
    "long line without end": lambda: b"A" * 1_000_000,
    "long blank line": lambda: b" " * 1_000_000,
    "many lines": lambda: b"{}\n" * 300_000,
    "many keys": lambda: json.dumps({f"k{n}": n for n in range(100_000)}),
    "many scenarios": lambda: json.dumps({"scenarios": [scenario(name=f"s{n}") for n in range(2000)]}),
}


# What of it a reader may take: nothing is a settings file, and a log may hold anything.
TAKES_ANYTHING = {"env", "capture"}


@pytest.mark.parametrize("name", sorted(CONTENTS))
def test_every_reader_reads_or_refuses(tmp_path: Path, name: str) -> None:
    content = CONTENTS[name]()
    for reader in READERS:
        refused = check(tmp_path, reader, content)
        good = reader in TAKES_ANYTHING or (reader, name) == ("matrix", "many scenarios")
        assert refused or good, f"{reader}: nothing of this is a good file"


# The largest file that each reader reads, in megabytes.
MOST_MB = {"matrix": 5, "jsonl": 64, "yaml": 2, "capture": 20, "env": 0.1, "result": 128}


@pytest.mark.parametrize("reader", MOST_MB)
def test_what_is_too_large_is_refused_unread(tmp_path: Path, reader: str) -> None:
    name, reads = READERS[reader]
    place = tmp_path / name
    if reader in ("yaml", "capture"):
        check(tmp_path, reader, b"a log\n")
        place = tmp_path / ("corpus/x.yaml" if reader == "yaml" else "capture/x.txt")
        reads = functools.partial(lambda path, _: load_corpus(path.parent), place)
    # A hole: it is large, and takes no room.
    with place.open("wb") as file:
        file.truncate(int(MOST_MB[reader] * 1_000_000) + 1)
    with pytest.raises(InputError, match=rf"is larger than {MOST_MB[reader]} MB"):
        reads(place)


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
@settings(
    max_examples=depth(30, 60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(seed=st.integers(0, 2**32))
def test_spoiled_files_are_read_or_refused(tmp_path: Path, samples: dict[str, bytes], reader: str, seed: int) -> None:
    check(tmp_path, reader, spoiled(samples[reader], seed))


def test_samples_are_good_files(tmp_path: Path, samples: dict[str, bytes]) -> None:
    refused = {reader: check(tmp_path, reader, content) for reader, content in samples.items() if reader != "journal"}
    assert not any(refused.values()), refused


@pytest.mark.parametrize("kind", ["fifo", "folder", "device", "loop", "long name"])
@pytest.mark.parametrize("reader", ["matrix", "jsonl", "env", "result", "journal"])
def test_what_is_no_file_is_refused(tmp_path: Path, reader: str, kind: str) -> None:
    name, reads = READERS[reader]
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
    with pytest.raises(InputError):
        reads(path)


# What a model says ------------------------------------------------------------------------------------------------

# Longer than prose is read to; longer answers, to where no answer is read further, are in the tests of recovery.
LONG = depth(40_000, 1_000_000)
ANSWERS = {
    "endless one letter": "A" * LONG,
    "endless blanks": " " * LONG,
    "endless breaks": "\n" * LONG,
    "endless fences": "```\n" * (LONG // 4),
    "endless brackets": "[" * LONG,
    "endless pipes": "|" * LONG,
    "endless tags": "<think>" * (LONG // 7),
    "endless closers": "</think>" * (LONG // 8),
    "endless bullets": "- \n" * (LONG // 3),
    "endless quotes": '"' * LONG,
    "endless dots": "." * LONG,
    "endless digits": "1" * LONG,
    "endless sentences": "Okay, the user wants it. " * (LONG // 25),
    "endless keys": "a: b\n" * (LONG // 5),
    "endless aliases": "- *a\n" * (LONG // 5),
    "endless accents": "e\u0301" * (LONG // 2),
    "lone surrogates": "\ud800\udfff" * 1000,
    "null bytes": "\0" * 10_000,
    "terminal escapes": "\x1b[2J\x1b]0;x\x07" * 1000,
    "direction": "\u202e\u2066" * 1000,
    "yaml bomb": bomb(),
    "deep json": "[" * 50_000,
    "nothing": "",
}


@pytest.mark.parametrize("name", ANSWERS)
def test_hostile_answers_are_judged(name: str, corpus: Corpus, embedder: Embedder) -> None:
    chosen = {case.intent: case for case in corpus.cases}
    for case in chosen.values():
        for view in examine(ANSWERS[name], case.request)[:2]:
            scores = score_view(view.text, view.validation, case, embedder)
            assert 0 <= scores.case_score <= 1, case.case_id


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "(?:a?){30}a{30}"]
)
def test_patterns_that_explode_are_ended(pattern: str, corpus: Corpus, embedder: Embedder) -> None:
    case = corpus.cases[0]
    trap = replace(case, rules=replace(case.rules, pattern=pattern))
    # Without a limit of its own this would not end before the timeout of the test.
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
    (tmp_path / "bad.json").write_bytes(as_bytes(CONTENTS[name]()))
    (tmp_path / "bad.jsonl").write_bytes(as_bytes(CONTENTS[name]()))
    for arguments in (["--matrix", "bad.json"], ["--dataset", "bad.jsonl", "--matrix", "matrix.json"]):
        done = runner(*arguments)
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("error: ")


def test_there_are_four_hundred_of_them() -> None:
    assert len(CONTENTS) * len(READERS) + len(ANSWERS) >= 400
    assert sys.getrecursionlimit() == 1000


def test_what_is_told_of_a_file_is_safe_for_a_terminal(tmp_path: Path) -> None:
    content: Any = {"scenarios": [scenario(name="\x1b[31mred\x07", track="\u202ecpu")]}
    assert "\x1b" not in check(tmp_path, "matrix", json.dumps(content).encode())
