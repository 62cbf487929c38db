"""What commands read leaves this machine only with --remote or CTXSIFT_REMOTE; each against a service that counts."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmark.utilization.__main__ import main as utilization
from tests.conftest import ROOT, Run, write_matrix
from tests.support.fault_service import FaultService, completion
from tests.support.remote import remote, run_here, run_process

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("remote")]

OUTPUT = "".join(f"step {number} of the build is done\n" for number in range(400)) + "app.py:7: error: no 'total'\n"
SESSION = ROOT / "docs" / "examples" / "session.json"
VERDICT = '{"relevant": 1, "reason": "it says so"}'
NEEDS = "add --remote if that is meant, or set CTXSIFT_REMOTE=1"
UNSAID = f"CTXSIFT_LLM_BASE_URL: is set, but you have not allowed sending output there; {NEEDS}"
EXTRACTED = (
    "ctxsift: no service was asked; to ask the one at CTXSIFT_LLM_BASE_URL, add --remote (or set CTXSIFT_REMOTE=1)\n"
)
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def service() -> Iterator[FaultService]:
    with FaultService(default=completion(VERDICT)) as running:
        yield running


@dataclass(frozen=True)
class Call:
    """A command in a folder, with an address in its settings."""

    folder: Path
    service: FaultService
    runner: Run

    def __call__(self, command: str, *options: str, settings: str = "") -> tuple[Done, int]:
        """Return what came of it, and how many questions the service got."""
        address = f"CTXSIFT_LLM_BASE_URL={self.service.url}\nCTXSIFT_LLM_API_KEY=k\nCTXSIFT_RETRIES=0\n"
        (self.folder / ".env").write_text(address + settings)
        before = len(self.service.requests)
        run: Callable[..., Done] = getattr(self, f"_{command}")
        return run(*options, "--env-file", ".env"), len(self.service.requests) - before

    def _compress(self, *options: str) -> Done:
        (self.folder / "log").write_text(OUTPUT)
        return run_process("ctxsift", "compress", "what failed?", *options, "--", "cat", "log", cwd=self.folder)

    def _compact(self, *options: str) -> Done:
        sizes = ("--keep-last", "60", "--budget", "400")
        return run_process("ctxsift", "compact", str(SESSION), *sizes, *options, cwd=self.folder)

    def _runner(self, *options: str) -> Done:
        write_matrix(self.folder, remote())
        return self.runner("--max-cases", "1", *options)

    def _judge(self, *options: str) -> Done:
        write_matrix(self.folder, remote())
        row = {"question": "q?", "answer": "a", "contexts": ["chunk"]}
        (self.folder / "data.jsonl").write_text(json.dumps(row) + "\n")
        return run_here(utilization, "data.jsonl", "--judge", *options, cwd=self.folder)


@pytest.fixture
def call(tmp_path: Path, service: FaultService, runner: Run) -> Call:
    return Call(tmp_path, service, runner)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compress", ["--model", "m"]),
        ("compact", ["--model", "m"]),
        ("runner", []),
        ("judge", ["remote-test"]),
        ("judge", ["m"]),
    ],
)
@pytest.mark.parametrize(("consent", "settings"), [("--remote", ""), ("", "CTXSIFT_REMOTE=1\n")])
def test_a_service_is_asked_where_somebody_said_so(
    call: Call, command: str, options: list[str], consent: str, settings: str
) -> None:
    done, questions = call(command, *options, *filter(None, [consent]), settings=settings)
    assert questions > 0, done.stderr
    assert "CTXSIFT_REMOTE" not in done.stderr


@pytest.mark.parametrize(
    ("command", "options", "code", "told"),
    [
        ("compress", ["--model", "m"], 2, UNSAID),
        ("compress", ["--model", "m", "--backend", "litellm"], 2, f"--backend: litellm asks a service; {NEEDS}"),
        ("compress", ["--model", "m", "--remote", "--device", "cpu"], 2, "--remote: --device cpu runs on this machine"),
        ("compact", ["--model", "m", "--backend", "litellm"], 2, f"--backend: litellm asks a service; {NEEDS}"),
        ("compact", ["--model", "./no.gguf"], 3, "./no.gguf: no such file or folder"),
        ("runner", [], 1, f"sends the corpus to a provider and may cost money; {NEEDS}"),
        (
            "judge",
            ["remote-test"],
            2,
            f"--judge remote-test: sends its questions to a provider, which may cost money; {NEEDS}",
        ),
        ("judge", ["m", "--judge-backend", "litellm"], 2, f"--judge-backend: litellm asks a service; {NEEDS}"),
        ("judge", ["./no.gguf"], 2, "./no.gguf: no such file or folder"),
    ],
)
def test_an_address_alone_sends_nothing(call: Call, command: str, options: list[str], code: int, told: str) -> None:
    done, questions = call(command, *options, settings="CTXSIFT_REMOTE=0\n")
    assert (done.returncode, questions) == (code, 0), done.stderr
    assert told in done.stderr


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compress", ["--model", "package:not-there"]),
        ("compress", ["--model", "./no.gguf", "--device", "cpu"]),
        ("compact", ["--model", "package:not-there"]),
        ("compact", ["--model", "./no.gguf", "--device", "cpu"]),
        ("judge", ["package:not-there"]),
        ("judge", ["no-folder", "--judge-gguf", "m.gguf"]),
    ],
)
def test_the_setting_sends_nothing_that_is_asked_of_this_machine(call: Call, command: str, options: list[str]) -> None:
    done, questions = call(command, *options, settings="CTXSIFT_REMOTE=1\n")
    assert questions == 0
    assert "not-there" in done.stderr or "no such file or folder" in done.stderr or "m.gguf" in done.stderr


def test_without_a_model_and_without_consent_lines_are_picked_by_rule(call: Call) -> None:
    done, questions = call("compress")
    assert (done.returncode, done.stderr, questions) == (0, EXTRACTED, 0)
    assert "app.py:7: error: no 'total'\n" in done.stdout
    assert len(done.stdout) < len(OUTPUT) / 2
    # Who names the rules has nothing to be told.
    assert call("compress", "--backend", "extract")[0].stderr == ""
    done, _ = call("compress", settings="CTXSIFT_REMOTE=1\n")
    assert done.returncode == 2
    assert "--model: a service is configured, but no model is named" in done.stderr


def test_nothing_is_told_of_output_that_passes_unchanged(call: Call) -> None:
    done, _ = call("compress", "--min-bytes", "1000000")
    assert (done.stdout, done.stderr) == (OUTPUT, "")


def test_consent_without_an_address(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(OUTPUT)
    command = ("ctxsift", "compress", "what failed?", "--model", "m")
    done = run_process(*command, "--remote", "--", "cat", "log", cwd=tmp_path)
    assert done.returncode == 2
    assert "--remote: no service is configured: set CTXSIFT_LLM_BASE_URL" in done.stderr
    bare = run_process("ctxsift", "compress", "what failed?", "--remote", "--", "cat", "log", cwd=tmp_path)
    assert "--remote: no service is configured: set CTXSIFT_LLM_BASE_URL and CTXSIFT_MODEL; see" in bare.stderr
    # The setting alone is no wish to ask one.
    plain = run_process("ctxsift", "compress", "what failed?", "--", "cat", "log", cwd=tmp_path, CTXSIFT_REMOTE="1")
    assert (plain.returncode, plain.stderr) == (0, "")


def test_the_old_way_to_say_it_is_taken_and_told(call: Call) -> None:
    done, questions = call("compress", "--model", "m", "--device", "remote")
    assert questions == 1, done.stderr
    first = "ctxsift: --device remote is now --remote; the next version will not know it"
    assert done.stderr.splitlines()[0] == first


def test_a_session_with_its_secrets_is_sent_nowhere(call: Call) -> None:
    done, questions = call("compact", "--model", "m", "--keep-secrets", settings="CTXSIFT_REMOTE=1\n")
    assert (done.returncode, questions) == (2, 0)
    assert "--keep-secrets: cannot be used with a service" in done.stderr
