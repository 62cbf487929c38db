"""Ways to damage the journal of a run, by chance but the same every time: what disks, crashes and people do to it."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.conftest import ROOT

JOURNALS = ROOT / "tests" / "data" / "journals"
NAMES = ("scripted", "control-tf-idf", "control-gold", "service")
# What JSON has no word for, or what is too much of it; written as it stands.
_RAW = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400, "9" * 5000, "[" * 90 + "]" * 90, "[" * 20_000)
_NUMBERS = ("-1", "-0.001", "1e308", "-1e308", "1e15", "5e-324", "-9223372036854775809", "1.5", "true", "0", *_RAW[:7])
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**53 + 1, -(2**70), 1e300, -1e-300, 5e-324, 0.5, "", "x", "NaN", "-1", [], {}),
    *(["x"], {"x": 1}, [None], [[]], "\ud800", "\0", "\x1b[31m", "../../x", "x" * 100_000, list(range(1000))),
)
_SAMPLE = '{"wall_s": 1, "other_cpu_s": 0, "steal_s": 0, "memory_stall_s": 0, "load": ?, "mhz": 1}'
_FIGURES = (
    *("prompt_tokens", "completion_tokens", "prefill_ms", "decode_ms", "total_ms", "elapsed_ms", "attempt", "at_s"),
    *("rss_bytes", "gpu_peak_bytes", "reasoning_tokens", "cost_usd", "input_chars_cut", "machine"),
)
_PIECES = (
    b"\0",
    b"\0" * 512,
    b"\xc3",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xf0\x9f",
    b"\r",
    b"\n",
    b"\n\n",
    b'"',
    b"}",
    b"{",
)


@dataclass(frozen=True)
class Damaged:
    """A journal after the damage.

    Attributes:
        name: of its scenario.
        how: what was done to it.

    """

    name: str
    how: str
    content: bytes


Lines = list[bytes]


def seal(line: bytes) -> bytes:
    """Return a line with the checksum that belongs to it, whether it has one or not."""
    bare, sealed, _ = line.partition(b', "checksum": ')
    bare = bare + b"}" if sealed else bare
    return bare[:-1] + b', "checksum": "' + hashlib.sha256(bare).hexdigest()[:16].encode() + b'"}'


def journal(name: str, version: int) -> Lines:
    """Return the finished lines of the journal of a run that was killed, as a version of the format has them."""
    lines = (JOURNALS / f"{name}.journal.jsonl").read_bytes().split(b"\n")[:-1]
    if version == 2:
        return lines
    return [seal(line.replace(b'"journal_version": 2', b'"journal_version": 3', 1)) for line in lines]


def damaged(number: int, versions: tuple[int, ...] = (2, 3)) -> Damaged:
    """Return the damaged journal of that number."""
    rng = random.Random(number)
    name, version = NAMES[number % len(NAMES)], versions[number // len(NAMES) % len(versions)]
    how, damage = DAMAGES[number % len(DAMAGES)]
    lines = damage(journal(name, version), rng)
    content = b"".join(line + b"\n" for line in lines)
    if how == "cut":
        content = content[: rng.randrange(len(content))]
    return Damaged(name, f"{how}, version {version}", content)


def _flip(lines: Lines, rng: random.Random) -> Lines:
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(lines))
        line = bytearray(lines[at])
        line[rng.randrange(len(line))] ^= 1 << rng.randrange(8)
        lines[at] = bytes(line)
    return lines


def _flip_in_answer(lines: Lines, rng: random.Random) -> Lines:
    at = _answer(lines, rng)
    line = bytearray(lines[at])
    begin = line.index(b'"text": "') + 9
    line[begin + rng.randrange(20)] ^= 1
    lines[at] = bytes(line)
    return lines


def _put_in(lines: Lines, rng: random.Random) -> Lines:
    at = rng.randrange(len(lines))
    where = rng.randrange(len(lines[at]))
    lines[at] = lines[at][:where] + rng.choice(_PIECES) + lines[at][where:]
    return lines


def _tear(lines: Lines, rng: random.Random) -> Lines:
    at = rng.randrange(len(lines))
    end = rng.randrange(len(lines[at]))
    lines[at] = lines[at][:end] + rng.choice((b"", b"\0" * (len(lines[at]) - end)))
    return lines


def _repeat(lines: Lines, rng: random.Random) -> Lines:
    for _ in range(rng.randint(1, 4)):
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return lines


def _reorder(lines: Lines, rng: random.Random) -> Lines:
    rest = lines[1:]
    rng.shuffle(rest)
    lines = [lines[0], *rest]
    if rng.random() < 0.3:
        rng.shuffle(lines)
    return lines


def _lose(lines: Lines, rng: random.Random) -> Lines:
    for _ in range(rng.randint(1, 2)):
        del lines[rng.randrange(len(lines))]
    return lines


def _splice(lines: Lines, rng: random.Random) -> Lines:
    other = journal(rng.choice(NAMES), rng.choice((2, 3)))
    at = rng.randrange(len(lines) + 1)
    return [*lines[:at], *rng.sample(other, rng.randint(1, len(other))), *lines[at:]]


def _foreign(lines: Lines, rng: random.Random) -> Lines:
    kinds = (b"", b"{}", b"[]", b"null", b"1", b'"x"', b"# a comment", b"\xef\xbb\xbf", b'{"type": "younger", "x": 1}')
    for _ in range(rng.randint(1, 3)):
        line = rng.choice((*kinds, b"[" * 50_000, b'{"a":' * 50_000, b"[]" + b",[]" * 300_000, b"A" * 200_000))
        lines.insert(rng.randrange(len(lines) + 1), line)
    return lines


def _too_long(lines: Lines, rng: random.Random) -> Lines:
    at = _answer(lines, rng)
    lines[at] = lines[at].replace(b'"text": "', b'"text": "' + b"A" * 9_000_000)
    return lines


def _swap_keys(lines: Lines, rng: random.Random) -> Lines:
    """Give an answer the key of another case."""
    a, b = (_answer(lines, rng) for _ in range(2))
    lines[a] = _changed(lines[a], rng, "key", json.loads(lines[b])["key"])
    return lines


def _type(lines: Lines, rng: random.Random) -> Lines:
    """Put a value into a field that is not of its kind; half of the lines get the checksum that goes with it."""
    for at in rng.sample(range(len(lines)), rng.choice((1, 1, 3))):
        fields = [key for key in json.loads(lines[at]) if key != "checksum"]
        lines[at] = _changed(lines[at], rng, rng.choice(fields), rng.choice((*_VALUES, *map(_Raw, _RAW))))
    return lines


def _type_of_answer(lines: Lines, rng: random.Random) -> Lines:
    answers = [number for number, line in enumerate(lines) if b'"type": "generation"' in line]
    for at in rng.sample(answers, rng.choice((1, 1, 2))):
        number = rng.choice(_NUMBERS)
        field = rng.choice(_FIGURES)
        lines[at] = _changed(
            lines[at], rng, field, _Raw(_SAMPLE.replace("?", number) if field == "machine" else number)
        )
    return lines


def _type_of_load(lines: Lines, rng: random.Random) -> Lines:
    at = next(number for number, line in enumerate(lines) if b'"type": "loaded"' in line)
    number = rng.choice(_NUMBERS)
    field = rng.choice(("load_ms", "context_tokens", "threads", "at_s", "settings", "environment"))
    lines[at] = _changed(lines[at], rng, field, _Raw(f'{{"a": [{number}]}}' if field == "settings" else number))
    return lines


def _fields(lines: Lines, rng: random.Random) -> Lines:
    """Lose a field, or have one more."""
    at = rng.randrange(len(lines))
    fields = json.loads(lines[at])
    fields.pop("checksum", None)
    if rng.random() < 0.7:
        del fields[rng.choice(list(fields))]
    else:
        fields[rng.choice(("younger", "text", "x" * 10_000, "__class__", "\ud800"))] = rng.choice(_VALUES)
    lines[at] = _resealed(lines[at], json.dumps(fields).encode(), rng)
    return lines


def _identity(lines: Lines, rng: random.Random) -> Lines:
    first = json.loads(lines[0])
    cases = first["case_ids"]
    changes: tuple[tuple[str, Any], ...] = (
        *(
            ("case_ids", value)
            for value in (cases[:3], cases[::-1], [*cases, cases[0]], [*cases, "gone"], [], [""], [1])
        ),
        *(("timestamp", value) for value in ("../../x", "", "20261122T141126Z\n", "٢٠٢٦١١٢٢T141126Z", "x" * 5000)),
        *(("corpus_sha256", "0" * 64), ("corpus_sha256", "x"), ("weights_sha256", "a" * 64), ("weights_sha256", "x")),
        *(("scenario", {**first["scenario"], "name": name}) for name in ("gone", "../x", "")),
        *(("scenario", {**first["scenario"], key: value}) for key, value in (("concurrency", 0), ("track", "x"))),
        *(("seed", 1), ("seed", 2**60), ("recovery_enabled", False), ("prompt_version", "0"), ("scorer_version", "0")),
        *(("max_output_tokens", 1), ("max_output_tokens", -1), ("journal_version", 9), ("journal_version", True)),
        *(("pid", -1), ("host", None), ("began", {}), ("at_s", 1e300), ("forgive_latency", True)),
    )
    lines[0] = _changed(lines[0], rng, *rng.choice(changes))
    return lines


@dataclass(frozen=True)
class _Raw:
    """Text that stands for a value."""

    text: str


def _answer(lines: Lines, rng: random.Random) -> int:
    return rng.choice([n for n, line in enumerate(lines) if b'"type": "generation"' in line])


def _changed(line: bytes, rng: random.Random, field: str, value: Any) -> bytes:
    fields = json.loads(line)
    fields.pop("checksum", None)
    fields[field] = "<raw>" if isinstance(value, _Raw) else value
    written = json.dumps(fields)
    if isinstance(value, _Raw):
        written = written.replace('"<raw>"', value.text)
    return _resealed(line, written.encode(), rng)


def _resealed(line: bytes, changed: bytes, rng: random.Random) -> bytes:
    """Return a changed line with a checksum where it had one: half of them its own, half the old one."""
    if b', "checksum": ' not in line:
        return changed
    return seal(changed) if rng.random() < 0.5 else changed[:-1] + line[-len(b', "checksum": "0123456789abcdef"}') :]


DAMAGES: tuple[tuple[str, Callable[[Lines, random.Random], Lines]], ...] = (
    ("bytes flipped", _flip),
    ("answer flipped", _flip_in_answer),
    ("cut", lambda lines, _: lines),
    ("bytes put in", _put_in),
    ("line torn", _tear),
    ("lines repeated", _repeat),
    ("lines reordered", _reorder),
    ("lines lost", _lose),
    ("lines of another run", _splice),
    ("foreign lines", _foreign),
    ("keys swapped", _swap_keys),
    ("wrong type", _type),
    ("wrong type", _type),
    ("wrong type", _type),
    ("wrong figure", _type_of_answer),
    ("wrong figure", _type_of_answer),
    ("wrong figure of the model", _type_of_load),
    ("wrong figure", _type_of_answer),
    ("wrong figure", _type_of_answer),
    ("fields", _fields),
    ("identity", _identity),
    ("identity", _identity),
    ("a line of 9 MB", _too_long),
)
