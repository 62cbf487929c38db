"""Files are recognised by what they hold; what is damaged is counted, and nothing ends in a traceback."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxsift.errors import InputError
from ctxsift.sessions import lines as lines_module
from ctxsift.sessions.reading import open_session, read_session
from ctxsift.sessions.records import Session, Step
from tests.ctxsift.sessions.samples import CLAUDE, CODEX, PI, SAMPLES, claude, lines, read, zstd_compressed
from tests.support.depth import depth

PACKED: dict[str, Callable[[bytes], bytes]] = {"not": bytes, "gzip": gzip.compress, "zstd": zstd_compressed}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("packed", PACKED)
def test_formats_are_recognised_by_their_content(tmp_path: Path, name: str, packed: str) -> None:
    session = read(tmp_path, PACKED[packed](SAMPLES[name]), "notes.txt")
    assert session.head.format == name.partition(",")[0]
    assert len(session.steps) > 1
    assert sum(len(step.calls) for step in session.steps) >= 1


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi"])
def test_a_torn_last_line_and_bad_lines_are_counted(tmp_path: Path, name: str) -> None:
    good = SAMPLES[name].splitlines(keepends=True)
    whole = read(tmp_path, SAMPLES[name])
    damaged = b"".join([*good[:2], b"{oops\n", b"\xff\xfe\n", b"\n", *good[2:], b'{"type": "us'])
    session = read(tmp_path, damaged)
    assert [step.message for step in session.steps] == [step.message for step in whole.steps]
    new = {kind: count for kind, count in session.skipped.items() if kind not in whole.skipped}
    last = damaged.count(b"\n") + 1
    assert new == {"line that is no JSON (the first is line 3)": 2, f"torn last line (line {last})": 1}


def test_a_bad_first_line_does_not_hide_the_rest(tmp_path: Path) -> None:
    session = read(tmp_path, b"{oops\n" + CODEX)
    assert (session.head.format, len(session.steps)) == ("codex", 3)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MOST_OF_LINE", 1000)
    session = read(tmp_path, lines(claude("user", "One", 1), claude("user", "x" * 5000, 2), claude("user", "Two", 3)))
    assert [step.message for step in session.steps] == ["One", "Two"]
    assert session.skipped == {"line of more than 0 MB (the first is line 2)": 1}


BLANKS = (b"\n", b" \t\r\n", b"\x0c\n \n", b" ")


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("packed", PACKED)
def test_blank_lines_are_passed_over_and_counted_as_lines(tmp_path: Path, packed: str, blank: bytes) -> None:
    first, *rest = CODEX.splitlines(keepends=True)
    many = blank * 200_000
    content = first + many + rest[0] + b"\n\n{oops\n" + b"".join(rest[1:]) + many
    session = read(tmp_path, PACKED[packed](content))
    assert session.steps == read(tmp_path, CODEX).steps
    damaged = 5 + many.count(b"\n")
    assert session.skipped[f"line that is no JSON (the first is line {damaged})"] == 1


@pytest.mark.parametrize("ahead", [b"", CODEX], ids=["first", "between"])
def test_blank_lines_cost_no_more_than_reading(tmp_path: Path, ahead: bytes) -> None:
    path = tmp_path / "session.gz"
    path.write_bytes(gzip.compress(ahead + b"\n" * 30_000_000 + CODEX, 1))
    started = time.process_time()
    with gzip.open(path) as file:
        while file.read(1 << 20):
            pass
    reading_s = time.process_time() - started
    started = time.process_time()
    assert read_session(path).steps
    # It is read twice: packed files are measured before they are believed.
    assert time.process_time() - started < 6 * reading_s + 0.5


FOREIGN: list[tuple[Any, str]] = [
    ({"sessionId": "s", "projectHash": "h", "messages": []}, "Gemini CLI"),
    ({"info": {"id": "ses_1"}, "messages": [{"info": {}, "parts": []}]}, "OpenCode"),
    ({"id": "ses_1", "directory": "/w", "version": "1"}, "OpenCode"),
    ({"role": "user", "message": {"content": [{"type": "text", "text": "x"}]}}, "Cursor"),
    ({"conversation": [{"bubbleId": "b"}]}, "Cursor"),
]


@pytest.mark.parametrize(("content", "name"), FOREIGN)
def test_formats_that_are_known_but_not_read_are_named(tmp_path: Path, content: Any, name: str) -> None:
    with pytest.raises(InputError, match=f"is a session of {name}, which is not read yet"):
        read(tmp_path, json.dumps(content, indent=1).encode())


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"hello\n", "is not valid JSON (Expecting value: line 1 column 1 (char 0))"),
        (b"\x00\x01\x02" * 1000, "is not valid JSON"),
        (b"[]", "is not in a known session format"),
        (b'{"a": 1}\n{"b": 2}\n', "is not in a known session format"),
        (b"SQLite format 3\x00" + b"\x00" * 100, "is a SQLite database (Cursor stores its sessions in one)"),
        (gzip.compress(PI, mtime=0)[:-20], "cannot be read"),
        (gzip.compress(PI, mtime=0)[:60] + b"\xff" * 60, "cannot be read"),
        (zstd_compressed(PI)[:-20], "cannot be read"),
        (zstd_compressed(PI)[:60] + b"\xff" * 60, "cannot be read"),
        (b"[" * 100_000 + b"]" * 100_000, "is not valid JSON"),
    ],
    ids=[
        "empty",
        "blank",
        "text",
        "binary",
        "list",
        "objects",
        "database",
        "cut gzip",
        "damaged gzip",
        "cut zstd",
        "damaged zstd",
        "deep",
    ],
)
def test_what_is_no_session_is_told_in_one_line(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_large_records_are_not_gathered_to_recognise_a_file(tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(lines(*(claude("user", "x" * 1_000_000, number) for number in range(30))))
    with open_session(path) as events:
        next(events)
        path.write_bytes(b"")
        assert sum(isinstance(event, Step) for event in events) < 10


@pytest.mark.parametrize("key", ["type", "role", "id", "message", "content", "payload", "uuid", "trajectory", "steps"])
@pytest.mark.parametrize("odd", [{"x": 1}, [1], None, 7])
def test_keys_of_odd_types_stop_nothing(tmp_path: Path, key: str, odd: Any) -> None:
    for sample in (lines({}, {"type": "user"}), *SAMPLES.values()):
        first = sample.partition(b"\n")[0] if sample.count(b"\n") > 1 and sample[:2] != b"{\n" else sample
        value = json.loads(first)
        changed = [value[0] | {key: odd}, *value[1:]] if isinstance(value, list) else value | {key: odd}
        with contextlib.suppress(InputError):
            check(read(tmp_path, json.dumps(changed).encode() + b"\n" + sample))


@pytest.mark.parametrize("packed", ["gzip", "zstd"])
def test_packed_files_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str) -> None:
    monkeypatch.setattr(lines_module, "_MOST_UNPACKED", 2 * len(CLAUDE))
    assert len(read(tmp_path, PACKED[packed](CLAUDE)).steps) == 3
    with pytest.raises(InputError, match="MB unpacked"):
        read(tmp_path, PACKED[packed](CLAUDE * 3))
    # What is not packed is on the disk as it is.
    assert read(tmp_path, CLAUDE * 3).steps


@pytest.mark.parametrize(
    ("packed", "more"), [("gzip", b"a" * 100), ("zstd", b"a" * 100), ("zstd", b"{}\n")], ids=["gzip", "zstd", "lines"]
)
def test_what_unpacks_to_far_more_is_refused_before_a_line_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str, more: bytes
) -> None:
    monkeypatch.setattr(lines_module, "MOST_MB_OF_DOCUMENT", 8)
    path = tmp_path / "session"
    path.write_bytes(PACKED[packed](CODEX + more * (12_000_000 // len(more))))
    with pytest.raises(InputError, match="500 times its size"), open_session(path):
        pytest.fail("it was begun")
    # As far as anybody's session shrinks, it is read.
    noise = random.Random(1).randbytes(20_000).hex()
    assert read(tmp_path, PACKED[packed](CODEX + lines(claude("user", noise, 1)) * 250)).steps


def test_several_frames_are_one_file(tmp_path: Path) -> None:
    first, rest = CODEX[: CODEX.index(b"\n") + 1], CODEX[CODEX.index(b"\n") + 1 :]
    assert read(tmp_path, zstd_compressed(first) + zstd_compressed(rest)) == read(tmp_path, CODEX)


def test_kinds_are_bounded(tmp_path: Path) -> None:
    session = read(tmp_path, CLAUDE + lines(*({"type": f"kind-{n}" + "x" * 999} for n in range(1000))))
    assert len(session.skipped) == 201
    assert session.skipped["other kinds"] == 800
    assert all(len(kind) <= 60 for kind in session.skipped)


def test_events_come_while_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "session"
    path.write_bytes(lines(*(claude("user", f"message {number}", number) for number in range(5000))))
    with open_session(path) as events:
        begun = [next(events) for _ in range(20)]
        path.write_bytes(b"")
        rest = list(events)
    assert len(begun) == 20
    assert len(rest) < 4000


def spoiled(content: bytes, rng: random.Random) -> Iterator[bytes]:
    """Yield a file in which something is wrong: cut, mixed up, of other types, deep, large, binary."""
    records = content.splitlines(keepends=True)
    yield content[: rng.randrange(len(content))]
    yield b"".join(rng.sample(records, len(records)))
    damaged = bytearray(content)
    for _ in range(rng.randrange(1, 40)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    yield bytes(damaged)
    yield b"\n".join(json.dumps(other_types(json.loads(record), rng)).encode() for record in records)
    yield content + rng.randbytes(rng.randrange(2000)) + content
    deep = b'{"type":"user","uuid":"x","message":' + b'{"content":[' * 3000 + b"]}" * 3000 + b"}\n"
    yield deep + content + deep
    yield gzip.compress(content)[: rng.randrange(20, 200)]
    yield content + json.dumps({"type": "user", "uuid": "u", "message": {"content": "x" * 300_000}}).encode()


def other_types(value: Any, rng: random.Random, level: int = 0) -> Any:
    """Return a value in which some values are of another type."""
    odd: list[Any] = [None, True, -1, 1e300, "", "x", [], {}, [[]], {"type": []}, 2**63, ["a", 1], "\ud800"]
    if level and rng.random() < 0.12:
        return rng.choice(odd)
    if isinstance(value, dict):
        return {key: other_types(each, rng, level + 1) for key, each in value.items() if rng.random() > 0.04}
    if isinstance(value, list):
        return [other_types(each, rng, level + 1) for each in value]
    return value


def test_spoiled_files_end_in_an_error_or_a_count(tmp_path: Path) -> None:
    rng = random.Random(39)
    path = tmp_path / "session"
    read_ones = total = 0
    for name, sample in SAMPLES.items():
        content = sample if name in ("claude-code", "codex", "pi") else json.dumps(json.loads(sample)).encode()
        for _ in range(depth(4, 400)):
            for each in spoiled(content, rng):
                path.write_bytes(each)
                total += 1
                with contextlib.suppress(InputError):
                    check(read_session(path))
                    read_ones += 1
    assert total >= 200
    assert read_ones > total / 3


def check(session: Session) -> None:
    """Assert what holds of every session."""
    assert [step.step_id for step in session.steps] == list(range(1, len(session.steps) + 1))
    ids = [call.call_id for step in session.steps for call in step.calls]
    assert len(set(ids)) == len(ids)
    for step in session.steps:
        called = {call.call_id for call in step.calls}
        assert all(result.call_id in called or not result.call_id for result in step.results)
        assert all(isinstance(text, str) for text in (step.message, step.reasoning, *(r.text for r in step.results)))
    assert all(0 <= each.after_step <= len(session.steps) for each in session.compactions)
