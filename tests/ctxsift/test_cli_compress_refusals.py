"""What `ctxsift compress` does not stand for: answers without an end of their own; and what needs no answer."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ctxsift import __version__
from ctxsift.backends.base import Limits, ModelSpec
from ctxsift.backends.scripted import ScriptedBackend
from ctxsift.compression import Failure, compress
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.support.depth import depth
from tests.support.processes import default_signals

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
        ({"default": "</think>"}, [], b"the model answered nothing"),
        ({"default": "<think>src/app.py:7 has an error.</think>\n"}, [], b"the model answered nothing"),
        ({"default": '<tool_call>\n{"name": "grep"}\n</tool_call>'}, [], b"the model answered nothing"),
        ({"finish_reason": "content_filter"}, [], b"the service's filter cut the answer off"),
        ({"finish_reason": "other"}, [], b"the model did not end its answer itself"),
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
    assert told["validation"]["status"] == "rejected"
    assert told["validation"]["reasons"]


@pytest.mark.parametrize(
    ("script", "limit", "failure"),
    [
        ({"finish_reason": "loop"}, 99, Failure.LOOP),
        ({}, 2, Failure.TOKEN_LIMIT),
        ({"default": ""}, 99, Failure.EMPTY_ANSWER),
        ({"default": "</think>"}, 99, Failure.EMPTY_ANSWER),
        ({"default": "<think>Which?</think>"}, 99, Failure.EMPTY_ANSWER),
        ({"default": "<think>Which?</think>", "finish_reason": "length"}, 99, Failure.TRUNCATED_REASONING),
        ({"finish_reason": "content_filter"}, 99, Failure.CONTENT_FILTER),
        ({"finish_reason": "other"}, 99, Failure.CUT_OFF),
        ({"default": "", "finish_reason": "other"}, 99, Failure.EMPTY_ANSWER),
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


def test_a_command_without_dashes_is_told_where_it_goes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ctxsift", "compress", "what failed?", "--json", "pytest", "-k", "cart"]
    done = subprocess.run(command, input=LONG, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, LONG)
    assert b"try: ctxsift compress 'what failed?' --json -- pytest -k cart\n" in done.stderr


@pytest.mark.slow
def test_the_version_is_told() -> None:
    done = subprocess.run([sys.executable, "-m", "ctxsift", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"ctxsift {__version__}\n"


@pytest.mark.slow
def test_a_claim_against_the_exit_code_gives_the_original_back(tmp_path: Path) -> None:
    done = call(tmp_path, "--exit-code", "1", default="All tests pass.")
    assert (done.returncode, done.stdout) == (0, LONG)
    assert b"the answer was held back: it claims success, but the command failed; printing the original" in done.stderr
    told = json.loads(call(tmp_path, "--json", "--exit-code", "1", default="All tests pass.").stdout)
    assert (told["validation"]["status"], told["validation"]["reasons"]) == ("rejected", ["contradicts_exit_code"])
    done = call(tmp_path, default="src/app.py:7 and src/cart.py:9 have errors.")
    assert done.stdout == b"src/app.py:7 and src/cart.py:9 have errors.\n"
    assert done.stderr == b"ctxsift: check the answer: neither the output nor the question contains src/cart.py:9\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--fallback", "extract"]])
@pytest.mark.parametrize("script", [{}, {"fail_load": "no memory"}, {"finish_reason": "loop"}])
def test_json_says_the_exit_code_that_was_told(tmp_path: Path, script: dict[str, Any], options: list[str]) -> None:
    for told, known in ((["--exit-code", "3"], 3), (["--exit-code", "0"], 0), ([], None)):
        done = call(tmp_path, "--json", *told, *options, **script)
        assert (json.loads(done.stdout)["exit_code"], done.returncode) == (known, 0)
    done = call(tmp_path, "--json", *options, "--", "sh", "-c", "yes error | head -n 2000; exit 3", **script)
    assert (json.loads(done.stdout)["exit_code"], done.returncode) == (3, 3)


@pytest.mark.slow
def test_json_of_an_extract_says_the_exit_code_that_was_told() -> None:
    command = [sys.executable, "-m", "ctxsift", "compress", "what failed?", "--json", "--exit-code", "7"]
    told = json.loads(subprocess.run(command, input=FAILING, capture_output=True, check=True).stdout)
    assert (told["answer_is"], told["exit_code"]) == ("extract", 7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "hint"), [(["make all | tail"], "sh -c 'make all | tail'"), (["nosuch"], "its name")]
)
def test_a_command_line_in_one_word_is_told_of_a_shell(tmp_path: Path, words: list[str], hint: str) -> None:
    done = call(tmp_path, "--", *words)
    assert (done.returncode, done.stdout) == (127, b"")
    assert hint in done.stderr.decode()


LOG = b"".join(b"step %d of the build went well, in %d ms\n" % (n, 7 * n % 90) for n in range(2000))
FAILING = LOG[:40_000] + b"src/app.py:7: error: no attribute 'total'\n  note: defined in src/cart.py\n" + LOG[40_000:]


@pytest.mark.slow
def test_lines_picked_by_rule_stand_in_for_an_unusable_answer(tmp_path: Path) -> None:
    done = call(tmp_path, "--fallback", "extract", data=FAILING, finish_reason="loop")
    assert done.returncode == 0
    assert b"printing lines selected by rules instead (--fallback extract)" in done.stderr
    assert done.stdout.startswith(LOG[:20])
    assert b"src/app.py:7: error: no attribute 'total'\n  note: defined in src/cart.py\n" in done.stdout
    assert b" lines ...\n" in done.stdout
    assert len(done.stdout) < 5000
    told = json.loads(call(tmp_path, "--json", "--fallback", "extract", data=FAILING, finish_reason="loop").stdout)
    assert (told["answer"] + "\n", told["answer_is"]) == (done.stdout.decode(), "extract")
    assert "repeats itself" in told["fallback"]


@pytest.mark.slow
@pytest.mark.parametrize("option", [["--intent", "exact-lines"], ["--intent", "json"]])
def test_a_shape_is_never_answered_by_an_extract(tmp_path: Path, option: list[str]) -> None:
    assert call(tmp_path, "--fallback", "extract", *option, data=FAILING, finish_reason="loop").stdout == FAILING


@pytest.mark.slow
@pytest.mark.parametrize("name", ["extractor", "error-lines", "tf-idf"])
def test_a_baseline_answers_from_all_of_a_long_output(name: str) -> None:
    command = [sys.executable, "-m", "ctxsift", "compress", "what is the error?", "--backend", "controls"]
    done = subprocess.run([*command, "--model", name], input=FAILING, capture_output=True, timeout=60, check=False)
    assert b"were not read" not in done.stderr
    assert b"src/app.py:7" in done.stdout
    assert len(done.stdout) < 3000


def test_nothing_heavy_is_imported_while_output_passes_through() -> None:
    code = "import sys; from ctxsift.cli.main import main; main(['compress', 'what failed?']); " + (
        "print(*(name for name in sys.modules if '.' not in name), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=SHORT, capture_output=True, timeout=60, check=True)
    assert done.stdout == SHORT
    loaded = set(done.stderr.decode().split())
    assert not loaded & {"msgspec", "regex", "yaml", "asyncio", "concurrent", "numpy", "rapidfuzz", "httpx"}


@pytest.mark.slow
def test_a_signal_at_any_moment_from_the_first_line_on_loses_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"default": ANSWER, "delay_ms": 60_000}))
    command = [sys.executable, "-m", "ctxsift", "compress", "what failed?", "--backend", "scripted"]
    moment = random.Random(7)
    for _ in range(depth(ci=8, fuzz=400)):
        process = subprocess.Popen(
            [*command, "--model", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            preexec_fn=default_signals,
        )
        assert process.stdin
        process.stdin.write(LONG)
        deadline = time.monotonic() + 30
        while not catches(process.pid, signal.SIGTERM) and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(moment.uniform(0, 0.6))
        process.send_signal(signal.SIGTERM)
        printed, _nothing = process.communicate(timeout=30)
        assert (process.returncode, printed) == (128 + signal.SIGTERM, LONG)


def catches(pid: int, number: signal.Signals) -> bool:
    """Say whether a process has a handler of its own for a signal."""
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(status.partition("SigCgt:")[2].split()[0], 16) & 1 << number - 1)
