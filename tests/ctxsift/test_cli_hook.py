"""`ctxsift hook`: JSON of an agent's program in, JSON or nothing out, and exit code 0 whatever comes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ctxsift.cli.hook_commands import may_be_shortened
from tests.conftest import ROOT

OUTPUT = (
    "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c into build/obj\n" for n in range(400)) + "built 400 files\n"
)
HOSTS: dict[str, dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "hosts.json").read_text(encoding="utf-8"))


def said(value: Any) -> Any:
    """Return what a program tells, with the output in its place."""
    match value:
        case str():
            return value.replace("OUTPUT", OUTPUT)
        case dict():
            return {key: said(one) for key, one in value.items()}
        case list():
            return [said(one) for one in value]
    return value


CLAUDE, CODEX, GEMINI, CURSOR, PI, OPENCODE = (
    said(HOSTS[host]["told"]) for host in ("claude", "codex", "gemini", "cursor", "pi", "opencode")
)
CLAUDE_REPLY, CODEX_REPLY = (HOSTS[host]["answer_schema"] for host in ("claude", "codex"))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CTXSIFT", raising=False)
    return tmp_path / "state" / "ctxsift" / "raw"


def call(data: bytes, *arguments: str) -> bytes:
    """Return what a hook prints; whatever it is, it ends well and says one line at most beside it."""
    command = [sys.executable, "-m", "ctxsift", "hook", *(arguments or ("claude",))]
    done = subprocess.run(command, input=data, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stderr.count(b"\n") <= 1
    return done.stdout


def claude(response: dict[str, Any] | None = None, command: str = "make", **fields: Any) -> dict[str, Any]:
    told = {"tool_input": {"command": command}, "tool_response": CLAUDE["tool_response"] | (response or {})}
    event: dict[str, Any] = CLAUDE | told | fields
    return event


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS)
def test_what_a_program_tells_and_is_told_has_its_format(host: str) -> None:
    told, fixture = said(HOSTS[host]["told"]), HOSTS[host]
    jsonschema.validate(told, fixture["told_schema"])
    jsonschema.validate(json.loads(call(json.dumps(told).encode(), host)), fixture["answer_schema"])
    assert re.fullmatch(r"https://\S+", fixture["source"])
    assert re.fullmatch(r"2026-\d\d-\d\d", fixture["seen"]) if fixture["seen"] else fixture["how"].startswith("not ")


@pytest.mark.parametrize(
    ("host", "answer"),
    [
        ("claude", {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": {
            "stdout": "x", "stderr": "", "interrupted": False, "isImage": False, "persistedOutputPath": "/x"}}}),
        ("claude", {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "x"}}),
        ("codex", {"decision": "block", "reason": "x", "suppressOutput": True}),
        ("gemini", {"decision": "block", "reason": "x"}),
        ("cursor", {"permission": "deny"}),
        ("pi", {"text": "x" * 8001}),
        ("opencode", {"text": None}),
    ],
)  # fmt: skip
def test_the_formats_refuse_what_a_program_would(host: str, answer: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(answer, HOSTS[host]["answer_schema"])


@pytest.mark.slow
def test_claude_code_is_told_what_to_show(state: Path) -> None:
    reply = json.loads(call(json.dumps(claude({"returnCodeInterpretation": None, "later": {"a": [1]}})).encode()))
    jsonschema.validate(reply, CLAUDE_REPLY)
    shown = reply["hookSpecificOutput"]["updatedToolOutput"]
    rest = {key: value for key, value in shown.items() if key != "stdout"}
    assert rest == {"stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False} | {
        "returnCodeInterpretation": None,
        "later": {"a": [1]},
    }
    (path,) = state.iterdir()
    assert path.read_text() == OUTPUT
    last = f"lines, extractor; all: {path} or: ctxsift raw {path.stem}]"
    assert shown["stdout"].endswith(last)
    assert shown["stdout"].split("\n")[-6:-1] == OUTPUT.split("\n")[-6:-1]


@pytest.mark.slow
def test_of_a_long_output_the_whole_is_read_where_claude_code_put_it(tmp_path: Path, state: Path) -> None:
    whole = tmp_path / "whole.txt"
    whole.write_text(OUTPUT * 5 + "warning: the very end\n")
    persisted = {"persistedOutputPath": str(whole), "persistedOutputSize": whole.stat().st_size}
    reply = json.loads(call(json.dumps(claude(persisted)).encode()))
    jsonschema.validate(reply, CLAUDE_REPLY)
    assert "warning: the very end" in reply["hookSpecificOutput"]["updatedToolOutput"]["stdout"]
    (path,) = state.iterdir()
    assert path.read_bytes() == whole.read_bytes()
    for gone in (str(tmp_path / "gone"), str(tmp_path), "/dev/zero"):
        assert call(json.dumps(claude({"persistedOutputPath": gone})).encode()) == b""


@pytest.mark.slow
def test_codex_is_told_in_its_way() -> None:
    reply = json.loads(call(json.dumps(CODEX).encode(), "codex"))
    jsonschema.validate(reply, CODEX_REPLY)
    assert reply["reason"].startswith(OUTPUT.split("\n")[0])


@pytest.mark.slow
def test_an_output_that_codex_has_cut_is_left_alone(state: Path) -> None:
    # As Codex 0.171.0 gives it (28 November 2026); the middle is nowhere, so no file would hold all.
    half = OUTPUT[: len(OUTPUT) // 2]
    cut = f"Warning: truncated output (original token count: 51014)\nTotal output lines: 3002\n\n{half}"
    cut += f"…41014 tokens truncated…{half}"
    assert call(json.dumps(CODEX | {"tool_response": cut}).encode(), "codex") == b""
    assert not state.exists()
    assert call(json.dumps(CODEX | {"tool_response": cut.partition("\n")[2]}).encode(), "codex")


def test_gemini_is_told_in_its_way() -> None:
    reply = json.loads(call(json.dumps(GEMINI).encode(), "gemini"))
    assert (set(reply), reply["decision"]) == ({"decision", "reason"}, "deny")
    assert len(reply["reason"]) <= 8000
    assert "Exit Code: 1\nProcess Group PGID: 32372\n</untrusted_context>\n[ctxsift: " in reply["reason"]
    failed = GEMINI["tool_response"] | {"error": {"message": "timed out"}}
    assert call(json.dumps(GEMINI | {"tool_response": failed}).encode(), "gemini") == b""
    assert call(json.dumps(CLAUDE).encode(), "gemini") == b""


@pytest.mark.slow
@pytest.mark.parametrize(("host", "event"), [("pi", PI), ("opencode", OPENCODE)])
def test_a_plug_in_is_told_in_one_way(host: str, event: dict[str, Any]) -> None:
    reply = json.loads(call(json.dumps(event).encode(), host))
    assert set(reply) == {"text"}
    assert " lines, exit 0, extractor; all: " in reply["text"].rpartition("\n")[2]
    assert call(json.dumps(event).encode(), "opencode" if host == "pi" else "pi") == b""


@pytest.mark.slow
@pytest.mark.parametrize("data", [json.dumps(CURSOR).encode(), json.dumps(CLAUDE).encode(), b"", b"{" * 9000])
def test_cursor_is_told_nothing_in_json(data: bytes, state: Path) -> None:
    assert call(data, "cursor") == b"{}\n"
    assert not state.exists()


LEFT_ALONE: dict[str, bytes] = {
    "nothing": b"",
    "garbage": b"\xff\x00{" * 3000,
    "half of it": json.dumps(CLAUDE).encode()[:-9],
    "no object": json.dumps(["x" * 5000]).encode(),
    "deep": b"[" * 200_000,
    "100 MB": b'{"tool_name": "' + b"x" * 100_000_000 + b'"}',
    "another tool": json.dumps(CLAUDE | {"tool_name": "Read"}).encode(),
    "another event": json.dumps(CLAUDE | {"hook_event_name": "PreToolUse"}).encode(),
    "short": json.dumps(claude({"stdout": "3 passed\n"}, padding="x" * 9000)).encode(),
    "no response": json.dumps(CLAUDE | {"tool_response": OUTPUT}).encode(),
    "no text": json.dumps(claude({"stdout": [OUTPUT]})).encode(),
    "half a character": json.dumps(claude({"stdout": OUTPUT + "\ud800"})).encode(),
    "no number": json.dumps(claude({"later": float("nan")})).encode(),
    "a picture": json.dumps(claude({"isImage": True})).encode(),
    "interrupted": json.dumps(claude({"interrupted": True})).encode(),
    "in the background": json.dumps(claude({"backgroundTaskId": "b1"})).encode(),
    "read on purpose": json.dumps(claude(command="cat build.log")).encode(),
    "read from the store": json.dumps(claude(command="ctxsift raw 3f2a9c81d04e")).encode(),
    "shortened already": json.dumps(claude({"stdout": OUTPUT + "[ctxsift: 9 of 400 lines, x]\n"})).encode(),
    "switched off": json.dumps(claude(command="CTXSIFT=0 make")).encode(),
    "no command": json.dumps(CLAUDE | {"tool_input": None}).encode(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_is_left_alone(name: str, state: Path) -> None:
    assert call(LEFT_ALONE[name]) == b""
    assert not state.exists()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("emacs",), ("--frob",), ("claude", "more"), ("claude", "--", "touch", "ran")])
def test_bad_usage_fails_nobody(arguments: tuple[str, ...]) -> None:
    shown = call(json.dumps(CLAUDE).encode(), *arguments)
    assert not shown or arguments[1:2] == ("--",)


@pytest.mark.slow
def test_where_nothing_can_be_kept_the_result_stays(state: Path) -> None:
    state.parent.parent.mkdir()
    state.parent.write_text("a file where the folder should be")
    assert call(json.dumps(CLAUDE).encode()) == b""


@pytest.mark.slow
def test_a_fault_of_ours_costs_no_result() -> None:
    code = """
import sys
from ctxsift import shortening
from ctxsift.cli.main import main

def broken(*arguments, **options):
    raise MemoryError

shortening.extract = broken
sys.exit(main(["hook", "claude"]))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=json.dumps(CLAUDE).encode(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, b"", 1)


@pytest.mark.slow
def test_everything_can_be_switched_off(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSIFT", "0")
    assert call(json.dumps(CLAUDE).encode()) == b""
    assert not state.exists()


@pytest.mark.slow
@pytest.mark.parametrize("event", [CLAUDE, claude({"stdout": "3 passed\n"})], ids=["long", "short"])
def test_nothing_heavy_is_imported(event: dict[str, Any]) -> None:
    code = "import sys; from ctxsift.cli.main import main; main(['hook', 'claude']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(event).encode(), capture_output=True, check=True
    )
    loaded = done.stdout.decode().split("\n")[-2].split()
    outside = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"ctxsift"}
    assert not {name for name in outside if not name.startswith("_")}
    assert ("ctxsift.shortening" in loaded) == (event is CLAUDE)


@pytest.mark.parametrize(
    "line",
    [
        "pytest -q",
        "cd src && make -j4 2>&1",
        'CI=1 npm test; echo "exit $?"',
        "npm ci\nnpm run build",
        "timeout 600 .venv/bin/python -m pytest -x tests/ > /dev/null || true",
        "pip install -r requirements.txt",
        "uv pip install -e .",
        "docker build -t x .",
        "mkdir -p build && cd build && cmake --build .",
        "pytest --showlocals tests/test_json.py",
        "pytest --junitxml=out.xml",
        "jest --reporters default",
        "pytest --cov --cov-report=xml",
        "mypy src/list.py",
        "cargo test show_json",
    ],
)
def test_tests_builds_and_installations_may_be_shortened(line: str) -> None:
    assert may_be_shortened(line)


@pytest.mark.parametrize(
    "line",
    [
        "", "cat a.py", "git diff", "git log --stat", "grep -rn x src", "sed -n 1,900p a.py", "ls -R", "find .", "env",
        "python3 analyse.py", "python3 - <<'E'\nprint(1)\nE", "curl -s http://localhost/x", "cd src", "echo done",
        "pytest -q 2>&1 | tail -50", "make | tee build.log", "make; cat build.log", "make && git diff", "make &",
        "(make)", "for i in 1 2; do make; done", "if make; then cat x; fi", "make $(cat targets)", "make `cat x`",
        "bash -c 'make'", "CTXSIFT=0 make", "ctxsift run -- make", "make 'unclosed", "npm view react", "cargo tree",
        "docker logs app", "make -n", "pytest --collect-only", "tsc --help", "$CMD", "function f { make; }; f",
        "pytest --markers", "pytest --fixtures -v", "cargo build --message-format=json", "eslint --format json src",
        "eslint -f json .", "make -p", "go test -json ./...", "npx jest --json", "ruff check --output-format=sarif",
        "cargo test -- --list", "mocha --reporter xml", "npm ci --json", "pip install --report - --dry-run x",
        "ctest --show-only=json-v1", "cmake --build . --help",
    ],
)  # fmt: skip
def test_what_an_agent_reads_on_purpose_may_not(line: str) -> None:
    assert not may_be_shortened(line)
