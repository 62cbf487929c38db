"""`ctxsift doctor`: what is wrong is told, and nothing is changed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ctxsift.cli import self_test

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CTXSIFT"):
        monkeypatch.delenv(name, raising=False)
    # Installed as a program, wherever the tests run.
    path = tmp_path / "bin" / "ctxsift"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nimport sys\nfrom ctxsift.cli.main import main\nsys.exit(main())\n")
    path.chmod(0o755)
    return folder


def call(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path.cwd() / "bin" / "ctxsift"), *(arguments or ("doctor", "--json"))]
    stdin = subprocess.DEVNULL
    return subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=120, check=False)


def found(*, ok: bool) -> dict[str, dict[str, Any]]:
    """Return the findings by what they are about; those with values of their own have them."""
    done = call()
    told = json.loads(done.stdout)
    assert (done.returncode, done.stderr, told["ok"]) == (0 if ok else 1, "", ok)
    assert all(each["ok"] for each in told["findings"]) == ok
    return {each["about"]: each for each in told["findings"]}


def test_the_entry_for_compactions_is_known(home: Path, tmp_path: Path) -> None:
    assert call("init", "claude", "--lost").returncode == 0
    both = [f"{tmp_path}/bin/ctxsift {words}" for words in ("hook claude", "lost --hook")]
    assert found(ok=True)["claude settings"]["commands"] == both
    path = home / ".claude" / "settings.json"
    whole = path.read_text()
    path.write_text(whole.replace('"async": true', '"async": false'))
    assert "not the one that this release adds" in found(ok=False)["claude settings"]["says"]
    path.write_text(whole.replace("bin/ctxsift lost", "gone/ctxsift lost"))
    says = found(ok=False)["claude settings"]["says"]
    assert says.endswith(f"{tmp_path}/gone/ctxsift lost --hook; run ctxsift init claude --lost")


def set_up(home: Path, *commands: str, **others: Any) -> None:
    hooks = [{"type": "command", "command": command} for command in commands]
    document = {"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": hooks}]}} | others
    (home / ".claude" / "settings.json").write_text(json.dumps(document))


def test_all_is_well_before_and_after_it_is_set_up(home: Path, tmp_path: Path) -> None:
    before = found(ok=True)
    assert "no such file" in before["claude settings"]["says"]
    assert before["claude self-test"]["seconds"] < self_test._MOST_S
    assert {
        "codex",
        "codex settings",
        "codex project",
        "codex self-test",
        "gemini self-test",
        "ctxsift",
        "switch",
    } < set(before)
    # The self-tests keep nothing.
    assert (before["store"]["outputs"], list((tmp_path / "state" / "ctxsift" / "raw").iterdir())) == (0, [])
    assert call("init", "claude").returncode == 0
    assert found(ok=True)["claude settings"]["commands"] == [f"{tmp_path}/bin/ctxsift hook claude"]
    lines = call("doctor").stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["ctxsift", "switch", "store"]


def test_what_is_not_there_is_neither_ok_nor_told_at_length(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "path"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    *before, last = call("doctor").stdout.splitlines()
    assert [line.split()[:2] for line in before] == [["ctxsift", "ok"], ["switch", "ok"], ["store", "ok"]]
    assert last.split(maxsplit=3)[:3] == ["other", "agents", "-"]
    assert ": Claude Code, Codex, Gemini CLI, Pi, OpenCode (their self-tests passed)" in last
    # An agent that is here has its lines, and one whose settings are ours, or not to be read.
    (path / "gemini").touch(mode=0o755)
    assert call("init", "claude").returncode == 0
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").write_text("{")
    marks = {tuple(line.split()[:3]) for line in call("doctor").stdout.splitlines()}
    assert {("claude", "-", "Claude"), ("gemini", "ok", "Gemini"), ("codex", "settings", "WRONG")} < marks
    assert {("claude", "settings", "ok"), ("gemini", "settings", "-"), ("other", "agents", "-")} < marks
    assert not {about for about, *_ in marks} & {"pi", "opencode"}


@pytest.mark.parametrize(
    ("commands", "others", "why"),
    [
        (("/gone/ctxsift hook claude",), {}, "does not exist: /gone/ctxsift hook claude; run ctxsift init claude"),
        (("/bin/sh ctxsift hook claude", "/bin/sh ctxsift hook claude"), {}, "2 times"),
        (("A=1 /bin/sh ctxsift hook claude",), {"disableAllHooks": True}, "disableAllHooks"),
        ((), {"hooks": []}, "do not have the structure"),
    ],
)
def test_what_is_wrong_with_an_entry_is_told(
    commands: tuple[str, ...], others: dict[str, Any], why: str, home: Path
) -> None:
    set_up(home, *commands, **others)
    told = found(ok=False)
    assert [about for about, each in told.items() if not each["ok"]] == ["claude settings"]
    assert why in told["claude settings"]["says"]


def test_settings_behind_a_link_are_read(home: Path, tmp_path: Path) -> None:
    set_up(home, "/bin/sh ctxsift hook claude")
    path = home / ".claude" / "settings.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert found(ok=True)["claude settings"]["commands"] == ["/bin/sh ctxsift hook claude"]


def test_no_command_of_an_entry_is_run(home: Path, tmp_path: Path) -> None:
    evil = tmp_path / ".claude" / "ctxsift"
    evil.parent.mkdir()
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/run\n")
    evil.chmod(0o755)
    (tmp_path / ".claude" / "settings.json").write_text(
        json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"command": f"{evil} hook claude"}]}]}})
    )
    # Nor is a package that lies about.
    (tmp_path / "ctxsift").mkdir()
    (tmp_path / "ctxsift" / "__main__.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')")
    assert str(evil) in found(ok=True)["claude project"]["says"]
    assert not (tmp_path / "run").exists()


def test_a_folder_for_outputs_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no folder")
    told = found(ok=False)
    assert [about for about, each in told.items() if not each["ok"]] == ["store"]
    assert "no output is shortened" in told["store"]["says"]


def test_the_switch_is_told_and_does_not_stop_the_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSIFT", "0")
    told = found(ok=True)
    assert (told["switch"]["off"], "is set" in told["switch"]["says"]) == (True, True)


@pytest.mark.parametrize("host", ["claude", "codex", "gemini", "pi", "opencode"])
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (b"[]", "a different format"),
        (b'{"decision": "block", "reason": 1}', "a different format"),
        (b'{"hookSpecificOutput": {"updatedToolOutput": {"stdout": "x"}}}', "a different format"),
        (b"{", "Expecting"),
    ],
)
def test_an_answer_of_another_shape_fails(host: str, reply: bytes, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_asked", lambda *_: reply)
    with pytest.raises(ValueError, match=why):
        self_test.answer_time(host)


def test_a_hook_that_says_nothing_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_test, "_OUTPUT", "")
    monkeypatch.setitem(self_test._HOSTS, "codex", self_test._HOSTS["codex"]._replace(response="short"))
    with pytest.raises(ValueError, match="no answer, exit code 0"):
        self_test.answer_time("codex")


def test_bad_usage_is_told_in_one_line() -> None:
    for arguments in (("doctor", "claude"), ("doctor", "--", "ls")):
        done = call(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
