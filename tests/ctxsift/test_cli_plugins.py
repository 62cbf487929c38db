"""Plug-ins for Pi and OpenCode: one file each; if anything in it fails, the program continues without it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PLACES = {
    "pi": (".pi/agent/extensions/ctxsift.js", ".pi/extensions/ctxsift.js"),
    "opencode": (".config/opencode/plugins/ctxsift.js", ".opencode/plugins/ctxsift.js"),
}
OUTPUT = (
    "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c into build/obj\n" for n in range(400))
    + "main.c:3: error: no total\n"
)
# As Pi 1.6.0 and OpenCode 1.18.33 hand them over, seen on 28 November 2026.
PI: dict[str, Any] = {
    "type": "tool_result", "toolName": "bash", "toolCallId": "call_1", "input": {"command": "make"},
    "content": [{"type": "text", "text": f"{OUTPUT}\n\nCommand exited with code 2"}], "isError": True,
}  # fmt: skip
OPENCODE: list[dict[str, Any]] = [
    {"tool": "bash", "sessionID": "ses_1", "callID": "call_1", "args": {"command": "make", "description": "build"}},
    {"title": "build", "output": OUTPUT, "metadata": {"output": OUTPUT, "exit": 2, "truncated": False}},
]
DRIVER = """
import { readFileSync } from "node:fs";
const plugin = await import(process.argv[2]);
const { host, name, told, abortMs } = JSON.parse(readFileSync(0, "utf8"));
const handlers = {};
const abort = new AbortController();
if (abortMs) setTimeout(() => abort.abort(), abortMs);
if (host === "pi") {
  plugin.default({ on: (event, handler) => { handlers[event] = handler; } });
  const [event, header] = told;
  const context = { signal: abort.signal, sessionManager: { getHeader: () => header } };
  const shown = await handlers[name]?.({ signal: abort.signal, ...event }, context);
  console.log(JSON.stringify({ events: Object.keys(handlers), shown }));
} else {
  Object.assign(handlers, await plugin.CtxSift({}));
  await handlers[name](...told);
  console.log(JSON.stringify({ events: Object.keys(handlers), shown: told[1] }));
}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME", "CTXSIFT"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    path = tmp_path / "bin of $mine \"'\\" / "ctxsift"
    path.parent.mkdir()
    path.write_text(f"#!{sys.executable}\nimport sys\nfrom ctxsift.cli.main import main\nsys.exit(main())\n")
    path.chmod(0o755)
    return path


def call(tool: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(tool), *arguments]
    stdin = subprocess.DEVNULL
    return subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)


def done(tool: Path, *arguments: str, cwd: Path | None = None) -> str:
    result = call(tool, "init", *arguments, cwd=cwd)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def refused(tool: Path, home: Path, *arguments: str) -> str:
    before = contents(home)
    result = call(tool, "init", *arguments)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert contents(home) == before
    return result.stderr


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def asked(home: Path, host: str, told: list[Any], name: str = "", abort_ms: int = 0) -> tuple[list[str], Any]:
    """Have node load the plug-in that is there; return which events it handles, and what is shown in the end."""
    plugin = home / "plugin.mjs"
    plugin.write_bytes((home / PLACES[host][0]).read_bytes())
    driver = home / "driver.mjs"
    driver.write_text(DRIVER)
    name = name or ("tool_result" if host == "pi" else "tool.execute.after")
    call = json.dumps({"host": host, "name": name, "told": told, "abortMs": abort_ms})
    ended = subprocess.run(
        ["node", str(driver), str(plugin)], input=call, capture_output=True, text=True, timeout=100, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    found = json.loads(ended.stdout)
    return found["events"], found.get("shown")


def shown(home: Path, host: str, **fields: Any) -> str | None:
    """Return what is shown in place of a result that has some other fields; None where that stays as it is."""
    if host == "pi":
        _, patch = asked(home, host, [PI | fields, None])
        if patch is None:
            return None
        assert set(patch) == {"content"}
        (part,) = patch["content"]
        assert (set(part), part["type"]) == ({"type", "text"}, "text")
        return str(part["text"])
    result = OPENCODE[1] | fields
    _, after = asked(home, host, [OPENCODE[0], result])
    assert {key: after[key] for key in after if key != "output"} == {
        key: result[key] for key in result if key != "output"
    }
    return None if after["output"] == result["output"] else str(after["output"])


@pytest.mark.parametrize("host", PLACES)
def test_from_nothing_to_one_file_and_back(host: str, home: Path, tool: Path, tmp_path: Path) -> None:
    assert "would be added" in done(tool, host, "--dry-run")
    assert "plug-in is not there" in done(tool, host, "--uninstall")
    assert contents(home) == {}
    assert "added" in done(tool, host)
    before = contents(home)
    assert list(before) == [PLACES[host][0]]
    assert done(tool, host, "--print").encode() == before[PLACES[host][0]]
    assert "already" in done(tool, host)
    assert "would be removed" in done(tool, host, "--uninstall", "--dry-run")
    assert contents(home) == before
    assert "removed" in done(tool, host, "--uninstall")
    assert contents(home) == {}
    done(tool, host, "--project", cwd=tmp_path)
    assert (tmp_path / PLACES[host][1]).read_bytes() == before[PLACES[host][0]]
    assert contents(home) == {}


@pytest.mark.parametrize(
    ("host", "variable", "place"),
    [("pi", "PI_CODING_AGENT_DIR", "extensions"), ("opencode", "XDG_CONFIG_HOME", "opencode/plugins")],
)
def test_the_folder_of_the_program_may_be_elsewhere(
    host: str, variable: str, place: str, home: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    done(tool, host)
    assert list(contents(tmp_path / "elsewhere")) == [f"{place}/ctxsift.js"]
    assert contents(home) == {}


@pytest.mark.parametrize("host", PLACES)
@pytest.mark.parametrize("change", ["a line more", "another first line", "empty", "of the other program"])
def test_what_a_person_changed_stays(host: str, change: str, home: Path, tool: Path) -> None:
    done(tool, host)
    path = home / PLACES[host][0]
    content, other = path.read_bytes(), "pi" if host == "opencode" else "opencode"
    path.write_bytes({
        "a line more": content + b"// mine\n",
        "another first line": b"// mine\n" + content,
        "empty": b"",
        "of the other program": content.replace(host.encode(), other.encode(), 1),
    }[change])  # fmt: skip
    why = "was changed" if change in ("a line more", "of the other program") else "is not ours"
    for options in ((), ("--uninstall",), ("--dry-run",)):
        assert why in refused(tool, home, host, *options)


def test_an_older_one_is_replaced(home: Path, tool: Path, tmp_path: Path) -> None:
    moved = tmp_path / "ctxsift"
    moved.write_bytes(tool.read_bytes())
    moved.chmod(0o755)
    done(moved, "pi")
    assert "in place of an older one" in done(tool, "pi")
    assert json.dumps(str(tool)) in (home / PLACES["pi"][0]).read_text()


def test_to_compact_is_asked_for_and_stays(home: Path, tool: Path) -> None:
    done(tool, "pi")
    assert asked(home, "pi", [{}, None])[0] == ["tool_result"]
    assert "at each compaction, in place" in done(tool, "pi", "--compact")
    assert asked(home, "pi", [{}, None])[0] == ["tool_result", "session_before_compact"]
    assert "already" in done(tool, "pi")


@pytest.mark.parametrize("arguments", [("pi", "--lost"), ("opencode", "--compact"), ("claude", "--compact")])
def test_what_a_program_cannot_do_is_refused(arguments: tuple[str, ...], home: Path, tool: Path) -> None:
    assert arguments[1] in refused(tool, home, *arguments)


def test_a_link_out_of_the_folder_is_refused(home: Path, tool: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path = home / PLACES["pi"][0]
    path.parent.mkdir(parents=True)
    path.symlink_to(victim)
    assert "is a link" in refused(tool, home, "pi")
    path.unlink()
    path.mkdir()
    assert "is not a file" in refused(tool, home, "pi")
    assert victim.read_text() == "precious"


def test_many_at_once_write_one_file(home: Path, tool: Path) -> None:
    command = [sys.executable, str(tool), "init", "pi"]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(8)]
    assert [each.wait(60) for each in running] == [0] * 8
    assert list(contents(home)) == [PLACES["pi"][0]]
    assert "already" in done(tool, "pi")


@pytest.mark.parametrize("host", PLACES)
def test_doctor_knows_it(host: str, home: Path, tool: Path, tmp_path: Path) -> None:
    def told(place: str = "settings") -> tuple[bool, str]:
        findings = json.loads(call(tool, "doctor", "--json", cwd=tmp_path).stdout)["findings"]
        (found,) = (each for each in findings if each["about"] == f"{host} {place}")
        return found["ok"], found["says"]

    assert told("self-test")[0]
    assert "no such file" in told()[1]
    done(tool, host)
    assert told() == (True, f"{home}/{PLACES[host][0]}: the plug-in is installed: {tool}")
    path = home / PLACES[host][0]
    content = path.read_bytes()
    path.write_bytes(content + b"//")
    assert "was changed" in told()[1]
    path.write_bytes(content)
    away = tool.rename(tool.with_name("away"))
    other = tmp_path / "ctxsift"
    other.write_bytes(away.read_bytes())
    other.chmod(0o755)
    tool = other
    assert told() == (
        False,
        f"{path}: the plug-in calls a program that does not exist: {away.with_name('ctxsift')}; "
        f"run ctxsift init {host}",
    )


@pytest.mark.parametrize("host", PLACES)
def test_a_long_result_is_shortened(host: str, home: Path, tool: Path, tmp_path: Path) -> None:
    done(tool, host)
    text = shown(home, host)
    assert text is not None
    assert len(text) < 2000
    assert "main.c:3: error: no total" in text
    assert re.search(r"\n\[ctxsift: \d+ of 40\d lines, exit 2, extractor; all: \S+\.log or: ctxsift raw \w+\]\Z", text)
    (path,) = (tmp_path / "state" / "ctxsift" / "raw").iterdir()
    assert path.read_text().startswith(OUTPUT)


@pytest.mark.parametrize("host", PLACES)
def test_of_a_longer_one_the_whole_is_read_where_the_program_put_it(
    host: str, home: Path, tool: Path, tmp_path: Path
) -> None:
    done(tool, host)
    whole = tmp_path / "whole.log"
    whole.write_text("src/first.c:1: error: at the very beginning\n" + OUTPUT * 5)
    if host == "pi":
        text = shown(home, host, details={"fullOutputPath": str(whole)})
    else:
        text = shown(home, host, metadata={"exit": 2, "truncated": True, "outputPath": str(whole)})
    assert text is not None
    assert "src/first.c:1: error" in text
    assert "lines, exit 2," in text


BROKEN = {
    "fails": '#!/bin/sh\ncat > /dev/null; echo \'{"text": "x"}\'; exit 1\n',
    "prints no JSON": "#!/bin/sh\ncat > /dev/null; echo no\n",
    "prints another shape": "#!/bin/sh\ncat > /dev/null; echo '{\"text\": 7}'\n",
    "prints null": "#!/bin/sh\ncat > /dev/null; echo null\n",
    "prints nothing": "#!/bin/sh\ncat > /dev/null\n",
    "reads nothing": "#!/bin/sh\nexit 0\n",
    "prints without end": "#!/bin/sh\nexec yes\n",
    "kills itself": "#!/bin/sh\nkill -9 $$\n",
    "is no program": "no program\n",
    "takes too long": "#!/bin/sh\nsleep 60\n",
    "leaves a child behind": "#!/bin/sh\nsleep 60 &\nsleep 60\n",
}


@pytest.mark.parametrize("host", PLACES)
@pytest.mark.parametrize("how", [*BROKEN, "is missing", "may not be run"])
def test_a_ctxsift_that_is_broken_changes_nothing(host: str, how: str, home: Path, tool: Path) -> None:
    done(tool, host)
    path = home / PLACES[host][0]
    path.write_text(path.read_text().replace("HOOK_MS = 10_000", "HOOK_MS = 1_000"))
    if how in BROKEN:
        tool.write_text(BROKEN[how])
    elif how == "may not be run":
        tool.chmod(0o644)
    else:
        tool.unlink()
    began = time.monotonic()
    assert shown(home, host) is None
    assert time.monotonic() - began < 30


LEFT_ALONE: dict[str, tuple[str, dict[str, Any]]] = {
    "short": ("pi", {"content": [{"type": "text", "text": "3 passed"}]}),
    "another tool": ("pi", {"toolName": "read"}),
    "read by a script": ("pi", {"parentToolCallId": "call_0"}),
    "two parts": ("pi", {"content": PI["content"] * 2}),
    "no part": ("pi", {"content": []}),
    "a picture": ("pi", {"content": [{"type": "image", "data": "x" * 9000}]}),
    "no content": ("pi", {"content": None}),
    "stopped": ("pi", {"content": [{"type": "text", "text": f"{OUTPUT}\n\nCommand aborted"}]}),
    "read on purpose": ("pi", {"input": {"command": "cat build.log"}}),
    "no input": ("pi", {"input": None}),
    "its file is gone": ("pi", {"details": {"fullOutputPath": "/nowhere/x.log"}}),
    "short there": ("opencode", {"output": "3 passed"}),
    "no text": ("opencode", {"output": None}),
    "no metadata": ("opencode", {"metadata": None}),
    "stopped there": ("opencode", {"metadata": {"exit": None}}),
    "its file is gone there": ("opencode", {"metadata": {"exit": 0, "outputPath": "/nowhere/x.log"}}),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_is_left_alone(name: str, home: Path, tool: Path, tmp_path: Path) -> None:
    host, fields = LEFT_ALONE[name]
    done(tool, host)
    assert shown(home, host, **fields) is None
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("host", PLACES)
def test_it_can_be_switched_off(host: str, home: Path, tool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done(tool, host)
    monkeypatch.setenv("CTXSIFT", "0")
    assert shown(home, host) is None


def test_who_stops_the_agent_does_not_wait(home: Path, tool: Path) -> None:
    done(tool, "pi")
    tool.write_text(BROKEN["takes too long"])
    began = time.monotonic()
    assert asked(home, "pi", [PI, None], abort_ms=100) == (["tool_result"], None)
    assert time.monotonic() - began < 8


def entry(number: int, message: dict[str, Any], **fields: Any) -> dict[str, Any]:
    place = {"id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
    return {"type": "message", "timestamp": "2026-11-28T07:00:00.000Z", "message": message} | place | fields


HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-11-28T07:00:00.000Z", "cwd": "/home/me/shop"}
BRANCH = [
    entry(0, {"role": "user", "content": "Fix the totals. Never edit the file legacy/prices.py."}),
    entry(1, {"role": "assistant", "content": [
        {"type": "text", "text": "I decided to round in cents."},
        {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "pytest -q"}},
    ]}),
    entry(2, {"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": False,
              "content": [{"type": "text", "text": f"{OUTPUT}12 passed"}]}),
    entry(3, {"role": "user", "content": "KEPT: now the taxes."}),
    entry(4, {"role": "assistant", "content": [{"type": "text", "text": "AFTER"}]}),
]  # fmt: skip
COMPACTING = {
    "type": "session_before_compact", "reason": "manual", "branchEntries": BRANCH,
    "preparation": {"firstKeptEntryId": "e3", "tokensBefore": 4321},
}  # fmt: skip


def compacted(home: Path, **fields: Any) -> Any:
    return asked(home, "pi", [COMPACTING | fields, HEADER], "session_before_compact")[1]


def test_a_compaction_of_pi_is_made_by_rules(
    home: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    done(tool, "pi", "--compact")
    made = compacted(home)["compaction"]
    assert (made["firstKeptEntryId"], made["tokensBefore"]) == ("e3", 4321)
    assert "Never edit the file legacy/prices.py" in made["summary"]
    # What Pi keeps as it is need not be in it.
    assert "KEPT" not in made["summary"]
    assert "AFTER" not in made["summary"]
    # A copy of the session is not left behind.
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"customInstructions": "only the open tasks"},
        {"preparation": {"firstKeptEntryId": "e9", "tokensBefore": 1}},
        {"preparation": {"firstKeptEntryId": "e2", "tokensBefore": 1}},
        {"preparation": {"firstKeptEntryId": "e0", "tokensBefore": 1}},
        {"branchEntries": [*BRANCH[:2], BRANCH[3]]},
        {"preparation": None},
        {"branchEntries": []},
        {"branchEntries": None},
    ],
    ids=["instructions", "unknown", "a result", "nothing before it", "too short", "nothing told", "no entries", "none"],
)
def test_what_rules_cannot_compact_is_left_to_pi(fields: dict[str, Any], home: Path, tool: Path) -> None:
    done(tool, "pi", "--compact")
    assert compacted(home, **fields) is None


@pytest.mark.parametrize("how", ["fails", "prints no JSON", "prints null", "prints another shape", "takes too long"])
def test_a_compaction_that_fails_is_left_to_pi(
    how: str, home: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    done(tool, "pi", "--compact")
    path = home / PLACES["pi"][0]
    path.write_text(path.read_text().replace("COMPACT_MS = 60_000", "COMPACT_MS = 1_000"))
    tool.write_text(BROKEN[how])
    assert compacted(home) is None
    assert list((tmp_path / "tmp").iterdir()) == []
