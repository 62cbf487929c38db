"""`ctxsift init`: our entry alone, everything else to the byte, and nothing at all where it cannot be sure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SETTINGS = {
    "claude": (".claude", "settings.json"),
    "codex": (".codex", "hooks.json"),
    "gemini": (".gemini", "settings.json"),
}
FOREIGN = """\
{
    "zeta": 1.50e2,   "model": "op\\u0075s",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say 'ctxsift hook claude' done"}]}],
        "PostToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "fmt", "timeout": 5}]}
        ]
    },
    "permissions": {"allow": ["Bash(ls:*)"]}
}
"""
CONTENTS = [
    FOREIGN,
    FOREIGN.replace("\n", "\r\n"),
    "\ufeff" + FOREIGN,
    json.dumps(json.loads(FOREIGN)),
    '{"hooks": {"PostToolUse": [ ] } }',
    '{ "hooks" : { } }\n',
    " { }",
]
CONTENT_IDS = ["indented", "CRLF", "BOM", "one line", "no entries", "no hooks", "empty"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CTXSIFT"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    path = tmp_path / "bin of mine" / "ctxsift"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nimport sys\nfrom ctxsift.cli.main import main\nsys.exit(main())\n")
    path.chmod(0o755)
    return path


def call(tool: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(tool), "init", *arguments]
    stdin = subprocess.DEVNULL
    return subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)


def done(tool: Path, *arguments: str, cwd: Path | None = None) -> str:
    result = call(tool, *arguments, cwd=cwd)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def entry(tool: Path, host: str = "claude") -> dict[str, Any]:
    matcher, timeout = ("run_shell_command", 10_000) if host == "gemini" else ("Bash", 10)
    otherwise = " || true" if host == "gemini" else ""
    hook = {"type": "command", "command": f"'{tool}' hook {host}{otherwise}", "timeout": timeout}
    return {"matcher": matcher, "hooks": [hook]}


def lost(tool: Path) -> dict[str, Any]:
    hook = {"type": "command", "command": f"'{tool}' lost --hook", "timeout": 30, "async": True}
    return {"matcher": "compact", "hooks": [hook]}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def same(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    return next(n for n in range(len(one) + 1) if not other.startswith(one[: n + 1]) or n == len(one))


def given(home: Path, content: str | bytes, host: str = "claude") -> Path:
    path = home.joinpath(*SETTINGS[host])
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("host", SETTINGS)
def test_from_nothing_to_one_entry_and_back(host: str, home: Path, tool: Path) -> None:
    path = home.joinpath(*SETTINGS[host])
    assert str(path) in done(tool, host)
    event = "AfterTool" if host == "gemini" else "PostToolUse"
    assert json.loads(path.read_bytes()) == {"hooks": {event: [entry(tool, host)]}}
    assert path.read_text().startswith(f'{{\n  "hooks": {{\n    "{event}": [\n')
    before = contents(home)
    assert "already" in done(tool, host)
    assert contents(home) == before
    assert "removed" in done(tool, host, "--uninstall")
    assert contents(home) == {}
    assert "no hook" in done(tool, host, "--uninstall")


@pytest.mark.parametrize("content", CONTENTS, ids=CONTENT_IDS)
def test_what_others_wrote_stays_to_the_byte(content: str, home: Path, tool: Path) -> None:
    path = given(home, content)
    path.chmod(0o600)
    done(tool, "claude")
    done(tool, "claude")
    changed = path.read_bytes().decode()
    hooks = json.loads(content.removeprefix("\ufeff")).get("hooks", {})
    wanted = [*hooks.get("PostToolUse", []), entry(tool)]
    assert json.loads(changed.removeprefix("\ufeff"))["hooks"] == hooks | {"PostToolUse": wanted}
    # One piece was put in; of what was there, a blank in an empty container went.
    assert same(content, changed) + same(content[::-1], changed[::-1]) >= len(content) - 1
    assert ("\r\n" in content) == ("\r\n" in changed)
    assert changed.count("\n") == changed.count("\r\n") or "\r\n" not in content
    kept = path.with_name("settings.json.ctxsift.bak")
    assert kept.read_bytes().decode() == content
    assert [each.stat().st_mode & 0o777 for each in (path, kept)] == [0o600, 0o600]
    done(tool, "claude", "--uninstall")
    assert contents(home) == {".claude/settings.json": content.encode()}
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_others_changed_since_stays(home: Path, tool: Path) -> None:
    path = given(home, FOREIGN)
    done(tool, "claude")
    path.write_text(path.read_text().replace('"zeta"', '"eta"'))
    done(tool, "claude", "--uninstall")
    assert path.read_text() == FOREIGN.replace('"zeta"', '"eta"')


def test_an_entry_that_was_moved_is_still_ours(home: Path, tool: Path) -> None:
    ours, other = entry(tool)["hooks"][0], {"type": "command", "command": "log"}
    old = ours | {"command": "/gone/ctxsift hook claude"}
    hooks = {"PostToolUse": [{"matcher": "Bash", "hooks": [old, other, old]}, {"matcher": "Bash", "hooks": [old]}]}
    path = given(home, json.dumps({"hooks": hooks}, indent=2))
    assert "in place of /gone/ctxsift hook claude" in done(tool, "claude")
    left = {"matcher": "Bash", "hooks": [other]}
    assert json.loads(path.read_bytes()) == {"hooks": {"PostToolUse": [left, entry(tool)]}}
    done(tool, "claude", "--uninstall")
    assert json.loads(path.read_bytes()) == {"hooks": {"PostToolUse": [left]}}


@pytest.mark.parametrize(
    "command",
    [
        "log && ctxsift hook claude",
        "ctxsift hook claude | tee log",
        "ctxsift hook claude;log",
        "echo ctxsift hook codex",
        "'/a ctxsift hook claude",
        "hook claude",
        "",
        7,
    ],
)
def test_what_does_more_than_ours_is_not_ours(command: object, home: Path, tool: Path) -> None:
    content = json.dumps({"hooks": {"PostToolUse": [{"hooks": [{"command": command}]}]}})
    path = given(home, content)
    assert "no hook" in done(tool, "claude", "--uninstall")
    done(tool, "claude")
    assert len(json.loads(path.read_bytes())["hooks"]["PostToolUse"]) == 2
    done(tool, "claude", "--uninstall")
    assert path.read_text() == content


@pytest.mark.parametrize("content", [None, *CONTENTS], ids=["no file", *CONTENT_IDS])
@pytest.mark.parametrize("calls", [[("--lost",)], [(), ("--lost",)], [("--lost",), (), ("--lost",)]], ids=len)
def test_what_a_compaction_dropped_is_asked_for_where_that_is_wanted(
    content: str | None, calls: list[tuple[str, ...]], home: Path, tool: Path
) -> None:
    path = home.joinpath(*SETTINGS["claude"])
    if content is not None:
        given(home, content)
    for options in calls:
        done(tool, "claude", *options)
    hooks = json.loads(path.read_bytes().decode().removeprefix("\ufeff"))["hooks"]
    assert (hooks["PostToolUse"].count(entry(tool)), hooks["SessionStart"]) == (1, [lost(tool)])
    before = contents(home)
    assert done(tool, "claude", "--lost").count("already") == 2
    assert contents(home) == before
    assert done(tool, "claude", "--uninstall").count(" lost --hook") == 1
    assert contents(home) == ({} if content is None else {".claude/settings.json": content.encode()})


def test_the_entry_for_compactions_alone_moves_with_its_program(home: Path, tool: Path) -> None:
    other = {"matcher": "startup", "hooks": [{"type": "command", "command": "hello"}]}
    old = {"matcher": "compact", "hooks": [{"type": "command", "command": "ctxsift lost --hook", "timeout": 30}]}
    path = given(home, json.dumps({"hooks": {"SessionStart": [other, old]}}))
    # Who does not ask for it has it left as it is.
    done(tool, "claude")
    assert json.loads(path.read_bytes())["hooks"]["SessionStart"] == [other, old]
    assert "in place of ctxsift lost --hook" in done(tool, "claude", "--lost")
    assert json.loads(path.read_bytes())["hooks"]["SessionStart"] == [other, lost(tool)]
    done(tool, "claude", "--uninstall")
    assert json.loads(path.read_bytes()) == {"hooks": {"SessionStart": [other]}}


def test_an_entry_that_claude_code_waits_for_is_replaced(home: Path, tool: Path) -> None:
    # The summary is recorded only after that wait (2.1.332, 28 November 2026).
    old = lost(tool)
    del old["hooks"][0]["async"]
    path = given(home, json.dumps({"hooks": {"PostToolUse": [entry(tool)], "SessionStart": [old]}}))
    done(tool, "claude", "--lost")
    assert json.loads(path.read_bytes())["hooks"] == {"PostToolUse": [entry(tool)], "SessionStart": [lost(tool)]}


def test_gemini_keeps_its_result_where_ctxsift_is_gone(home: Path, tool: Path) -> None:
    # An exit code above 1 blocks the result: the agent sees what the shell says instead (0.61.0, 28 November 2026).
    done(tool, "gemini")
    tool.unlink()
    hooks = json.loads(home.joinpath(*SETTINGS["gemini"]).read_bytes())["hooks"]["AfterTool"]
    said = subprocess.run(
        ["bash", "-c", hooks[0]["hooks"][0]["command"]], input=b"{}", capture_output=True, check=False
    )
    assert (said.returncode, said.stdout) == (0, b"")
    assert b"No such file" in said.stderr


def test_an_entry_of_gemini_that_may_block_is_replaced(home: Path, tool: Path) -> None:
    old = entry(tool, "gemini")
    old["hooks"][0]["command"] = old["hooks"][0]["command"].removesuffix(" || true")
    path = given(home, json.dumps({"hooks": {"AfterTool": [old]}}), "gemini")
    done(tool, "gemini")
    assert json.loads(path.read_bytes())["hooks"]["AfterTool"] == [entry(tool, "gemini")]
    done(tool, "gemini", "--uninstall")
    assert "ctxsift" not in path.read_text()


def test_codex_asks_a_person_first_and_that_is_said(home: Path, tool: Path) -> None:
    assert "before you trust it" in done(tool, "codex")
    assert "trust" not in done(tool, "codex")
    assert "Claude Code reads its settings when it starts" in (added := done(tool, "claude"))
    assert "calls no hook after a command that failed" in added
    assert "\n  Run tests and builds as `ctxsift run -- COMMAND`" in added
    assert "CLAUDE.md" not in done(tool, "claude")
    assert "as a failed call" in done(tool, "gemini")
    assert "Pi loads its plug-ins when it starts" in done(tool, "pi")
    assert "trust" not in done(tool, "claude")


def test_the_entry_for_compactions_is_told_and_refused(home: Path, tool: Path) -> None:
    wanted = {"hooks": {"PostToolUse": [entry(tool)], "SessionStart": [lost(tool)]}}
    assert json.loads(done(tool, "claude", "--print", "--lost")) == wanted
    assert done(tool, "claude", "--dry-run", "--lost").count("would be added") == 2
    assert list(home.iterdir()) == []
    assert "cannot ask what a compaction dropped" in refused(tool, home, "codex", "--lost")
    given(home, '{"hooks": {"SessionStart": {}}}')
    assert "do not have the structure" in refused(tool, home, "claude", "--lost")


def test_without_the_command_there_is_no_entry_for_it(home: Path, tool: Path) -> None:
    code = "import sys, importlib.metadata as m; m.entry_points = lambda **_: (); from ctxsift.cli.main import main"
    code += "; sys.argv[0] = sys.argv.pop(1); sys.exit(main(['init', 'claude', '--lost']))"
    result = subprocess.run([sys.executable, "-c", code, str(tool)], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "has no command `lost`" in result.stderr
    assert contents(home) == {}


def test_the_hook_for_compactions_fails_nobody(home: Path, tool: Path) -> None:
    done(tool, "claude", "--lost")
    hooks = json.loads(home.joinpath(*SETTINGS["claude"]).read_bytes())["hooks"]["SessionStart"]
    (command,) = (each["hooks"][0]["command"] for each in hooks)
    for told in (b"", b"{", b"[]", b'{"hook_event_name": "SessionStart", "source": "compact"}', b"\xff" * 9000):
        said = subprocess.run(["sh", "-c", command], input=told, capture_output=True, check=False)
        assert (said.returncode, said.stdout) == (0, b"")


def test_a_path_of_any_characters_is_found_again(home: Path, tool: Path) -> None:
    folder = tool.parent.rename(tool.parent.with_name("a ;&|'\"$(x) \u00e9"))
    done(folder / "ctxsift", "claude")
    assert "already" in done(folder / "ctxsift", "claude")
    (command,) = (
        each["hooks"][0]["command"]
        for each in json.loads(home.joinpath(*SETTINGS["claude"]).read_bytes())["hooks"]["PostToolUse"]
    )
    said = subprocess.run(["sh", "-c", command], input=b"", capture_output=True, check=True)
    assert (said.stdout, said.stderr) == (b"", b"")


def test_a_project_has_its_own(home: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    done(tool, "codex", "--project", cwd=project)
    assert list(contents(project)) == [".codex/hooks.json"]
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    done(tool, "codex")
    assert list(contents(tmp_path / "elsewhere")) == ["hooks.json"]
    assert contents(home) == {}


def test_nothing_is_written_where_that_is_only_told(home: Path, tool: Path) -> None:
    assert json.loads(done(tool, "claude", "--print")) == {"hooks": {"PostToolUse": [entry(tool)]}}
    assert "would be added" in done(tool, "claude", "--dry-run")
    assert list(home.iterdir()) == []
    given(home, FOREIGN)
    before = contents(home)
    assert "would be added" in done(tool, "claude", "--dry-run")
    assert contents(home) == before
    done(tool, "claude")
    before = contents(home)
    assert "would be removed" in done(tool, "claude", "--dry-run", "--uninstall")
    assert contents(home) == before


REFUSED: dict[str, tuple[bytes, str]] = {
    "comment first": (b"// mine\n{}", "comments"),
    "comment within": (b'{\n  // mine\n  "a": 1\n}', "comments"),
    "comment after": (b'{"a": 1, /* mine */ "b": 2}', "comments"),
    "comment before a comma": (b'{"a": 1 // mine\n, "b": 2}', "comments"),
    "trailing comma": (b'{"a": 1,}', "not valid JSON"),
    "nothing": (b"", "not valid JSON"),
    "half": (FOREIGN.encode()[:-9], "not valid JSON"),
    "no UTF-8": (b'{"a": "\xff"}', "not valid JSON"),
    "NaN": (b'{"a": NaN}', "not valid JSON"),
    "a key twice": (b'{"hooks": {}, "hooks": {}}', "twice"),
    "deep": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "not valid JSON"),
    "digits": (b'{"a": ' + b"1" * 9000 + b"}", "not valid JSON"),
    "huge": (b'{"a": "' + b"x" * 5_000_000 + b'"}', "larger"),
    "a list": (b"[]", "do not have the structure"),
    "hooks of text": (b'{"hooks": "x"}', "do not have the structure"),
    "hooks without": (b'{"hooks": null}', "do not have the structure"),
    "entries by name": (b'{"hooks": {"PostToolUse": {"Bash": []}}}', "do not have the structure"),
    "entries of text": (b'{"hooks": {"PostToolUse": ["x"]}}', "do not have the structure"),
    "hooks of an entry": (b'{"hooks": {"PostToolUse": [{"hooks": {}}]}}', "do not have the structure"),
    "hook of text": (b'{"hooks": {"PostToolUse": [{"hooks": ["x"]}]}}', "do not have the structure"),
}


def refused(tool: Path, home: Path, *arguments: str, cwd: Path | None = None) -> str:
    before = contents(home)
    result = call(tool, *(arguments or ("claude",)), cwd=cwd)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert contents(home) == before
    return result.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused(name: str, home: Path, tool: Path) -> None:
    content, why = REFUSED[name]
    given(home, content)
    assert why in refused(tool, home)


def test_a_link_out_of_the_folder_is_refused(home: Path, tool: Path, tmp_path: Path) -> None:
    path = given(home, FOREIGN)
    target = tmp_path / "elsewhere.json"
    path.rename(target)
    path.symlink_to(target)
    assert "is a link" in refused(tool, home)
    assert target.read_text() == FOREIGN
    # So is a folder of a project that somebody else made.
    project = tmp_path / "project"
    project.mkdir()
    (project / ".claude").symlink_to(home / ".claude")
    path.unlink()
    assert "is a link" in refused(tool, home, "claude", "--project", cwd=project)


def test_a_link_within_the_folder_stays_one(home: Path, tool: Path) -> None:
    path = given(home, FOREIGN)
    path.rename(path.with_name("mine.json"))
    path.symlink_to("mine.json")
    done(tool, "claude")
    assert path.is_symlink()
    assert entry(tool) in json.loads(path.read_bytes())["hooks"]["PostToolUse"]
    done(tool, "claude", "--uninstall")
    assert path.is_symlink()
    assert path.read_text() == FOREIGN


def test_a_planted_file_is_not_written_through(home: Path, tool: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = given(home, FOREIGN)
    path.with_name("settings.json.ctxsift.bak").symlink_to(victim)
    done(tool, "claude")
    assert victim.read_text() == "precious"
    done(tool, "claude", "--uninstall")
    path.with_name(".settings.json.ctxsift.bak.tmp").symlink_to(victim)
    refused(tool, home)
    assert victim.read_text() == "precious"


def test_no_file_is_waited_for(home: Path, tool: Path) -> None:
    path = home.joinpath(*SETTINGS["claude"])
    path.parent.mkdir()
    os.mkfifo(path)
    assert "is not a file" in refused(tool, home)
    path.unlink()
    path.mkdir()
    assert "is not a file" in refused(tool, home)
    path.rmdir()
    path.symlink_to("settings.json")
    refused(tool, home)


def test_a_folder_that_is_none_is_refused(home: Path, tool: Path) -> None:
    (home / ".claude").write_text("")
    refused(tool, home)


def test_many_at_once_make_one_entry(home: Path, tool: Path) -> None:
    path = given(home, FOREIGN)
    command = [sys.executable, str(tool), "init", "claude"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(8)]
    assert [each.wait(60) for each in running] == [0] * 8
    assert json.loads(path.read_bytes())["hooks"]["PostToolUse"].count(entry(tool)) == 1
    assert sorted(each.name for each in path.parent.iterdir()) == ["settings.json", "settings.json.ctxsift.bak"]
    assert path.with_name("settings.json.ctxsift.bak").read_text() == FOREIGN


@pytest.mark.parametrize("arguments", [(), ("emacs",), ("claude", "--print", "--uninstall"), ("claude", "--", "ls")])
def test_bad_usage_is_told_in_one_line(arguments: tuple[str, ...], home: Path, tool: Path) -> None:
    result = call(tool, *arguments)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_nothing_heavy_is_imported(home: Path, tool: Path) -> None:
    code = "import sys; from ctxsift.cli.main import main; sys.argv[0] = sys.argv.pop(1); main(['init', 'claude'])"
    code += "; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code, str(tool)], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "rich", "msgspec", "regex", "yaml", "subprocess", "llama_cpp"} & set(loaded.split())
