"""What `ctxsift compress` does not stand for: answers without an end of their own; and what needs no answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxsift import __version__
from ctxsift.backends.base import Limits, ModelSpec
from ctxsift.backends.scripted import ScriptedBackend
from ctxsift.compression import Failure, compress
from ctxsift.contracts import Intent
from ctxsift.prompts import Request

LONG = b"src/app.py:7: error: no attribute 'total'\n" + b"collected 12 items and all of them were read\n" * 100
SHORT = LONG[:90]
ANSWER = "src/app.py:7 has an error."


def call(folder: Path, *options: str, data: bytes = LONG, **script: Any) -> subprocess.CompletedProcess[bytes]:
    path = folder / "script.json"
    path.write_text(json.dumps({"default": ANSWER} | script))
    model = ("--backend", "scripted", "--model", str(path))
    command = [sys.executable, "-m", "ctxsift", "compress", "what failed?", *model, *options]
    return subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "options", "why"),
    [
        ({"finish_reason": "loop"}, [], b"the answer repeats itself without end"),
        ({}, ["--max-output-tokens", "2"], b"the answer was cut off at the model's token limit"),
        ({"default": " \n"}, [], b"the model answered nothing"),
        ({"default": "<think>Which file is it", "finish_reason": "length"}, [], b"the model was still thinking"),
    ],
)
def test_an_answer_without_an_end_gives_the_original_back(
    tmp_path: Path, script: dict[str, Any], options: list[str], why: bytes
) -> None:
    done = call(tmp_path, *options, **script)
    assert (done.returncode, done.stdout) == (0, LONG)
    assert why in done.stderr
    assert done.stderr.count(b"\n") == 1
    told = json.loads(call(tmp_path, "--json", *options, **script).stdout)
    assert told["answer"] == LONG.decode()
    assert why.decode() in told["fallback"]


@pytest.mark.parametrize(
    ("script", "limit", "failure"),
    [
        ({"finish_reason": "loop"}, 99, Failure.LOOP),
        ({}, 2, Failure.TOKEN_LIMIT),
        ({"default": ""}, 99, Failure.EMPTY_ANSWER),
        ({"default": "<think>Which", "finish_reason": "length"}, 99, Failure.TRUNCATED_REASONING),
        ({}, 99, None),
    ],
)
def test_a_compression_says_how_its_model_failed(
    tmp_path: Path, script: dict[str, Any], limit: int, failure: Failure | None
) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"default": ANSWER} | script))
    backend = ScriptedBackend()
    backend.load(ModelSpec(str(path)))
    found = compress(Request(LONG.decode(), "what failed?", Intent.SUMMARY), backend, Limits(limit))
    assert found.failure == failure


@pytest.mark.slow
def test_short_output_passes_without_a_model(tmp_path: Path) -> None:
    log = tmp_path / "log"
    done = call(tmp_path, data=SHORT, log=str(log))
    assert (done.returncode, done.stdout, done.stderr) == (0, SHORT, b"")
    assert not log.exists()
    assert "shorter than 4096 bytes" in json.loads(call(tmp_path, "--json", data=SHORT).stdout)["fallback"]
    # Who asks for less, or for a shape, gets an answer.
    assert call(tmp_path, "--min-bytes", "90", data=SHORT).stdout == f"{ANSWER}\n".encode()
    assert call(tmp_path, "--intent", "json", data=SHORT, default='["app.py"]').stdout == b'["app.py"]\n'


@pytest.mark.slow
def test_an_answer_is_not_waited_for_longer_than_the_timeout(tmp_path: Path) -> None:
    done = call(tmp_path, "--timeout", "1", hang_on="what failed?")
    assert (done.returncode, done.stdout) == (0, LONG)
    assert b"no answer within 1 s" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("option", [["--timeout", "0"], ["--timeout", "soon"], ["--min-bytes", "-1"]])
def test_limits_that_are_none_are_refused_and_nothing_is_lost(tmp_path: Path, option: list[str]) -> None:
    done = call(tmp_path, *option)
    assert (done.returncode, done.stdout) == (2, LONG)
    assert option[1].encode() in done.stderr


@pytest.mark.slow
def test_the_model_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"default": ANSWER}))
    monkeypatch.setenv("CTXSIFT_MODEL", str(path))
    command = [sys.executable, "-m", "ctxsift", "compress", "what failed?", "--backend", "scripted"]
    assert subprocess.run(command, input=LONG, capture_output=True, check=True).stdout == f"{ANSWER}\n".encode()


@pytest.mark.slow
def test_the_version_is_told() -> None:
    done = subprocess.run([sys.executable, "-m", "ctxsift", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ctxsift {__version__}\n"


@pytest.mark.slow
def test_a_claim_against_the_exit_code_gives_the_original_back(tmp_path: Path) -> None:
    done = call(tmp_path, "--exit-code", "1", default="All tests pass.")
    assert (done.returncode, done.stdout) == (0, LONG)
    assert b"the answer was held back: it claims success, but the command failed; the original" in done.stderr
    done = call(tmp_path, default="src/cart.py:9 has an error.")
    assert done.stdout == b"src/cart.py:9 has an error.\n"
    assert done.stderr == b"ctxsift: check the answer: neither output nor question holds src/cart.py:9\n"
