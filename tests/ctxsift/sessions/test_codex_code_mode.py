"""Codex in code mode: one script calls the tools, and completed items say what became of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.importers.codex_script import calls_in
from ctxsift.sessions.records import Session, Source
from tests.ctxsift.sessions.samples import codex, codex_message, item, lines, read

META = codex("session_meta", id="c-1", cwd="/work/till", cli_version="0.148.0")
FAILED = "FAILED tests/test_till.py::test_sum - assert 3 == 4\n1 failed, 2 passed in 0.10s\n"


def script(call_id: str, source: str) -> dict[str, Any]:
    return item("custom_tool_call", call_id=call_id, name="exec", input=source)


def printed(call_id: str, *texts: str) -> dict[str, Any]:
    blocks = [{"type": "input_text", "text": text} for text in ("Script completed\nOutput:\n", *texts)]
    return item("custom_tool_call_output", call_id=call_id, output=blocks)


def completed(kind: str, **fields: Any) -> dict[str, Any]:
    return codex("event_msg", type="item_completed", item={"type": kind, "id": "i"} | fields)


def ran(command: str, output: str = "", code: int = 0, **fields: Any) -> dict[str, Any]:
    told = {"command": ["/bin/bash", "-lc", command], "cwd": "/work/till", "aggregated_output": output}
    return completed("CommandExecution", status="failed" if code else "completed", exit_code=code, **(told | fields))


def session(tmp_path: Path, *records: dict[str, Any]) -> Session:
    return read(tmp_path, lines(META, *records))


def told(found: Session) -> tuple[dict[str, str], list[tuple[str, str]], list[str]]:
    """Return files with their states, checks with theirs, and commits."""
    index = index_session(found)
    return (
        {file.path: file.state.value for file in index.files if file.changed},
        [(check.command, check.runs[-1].state.value) for check in index.checks],
        [commit.revision for commit in index.commits],
    )


@pytest.mark.parametrize(
    "source",
    [
        'const r = await tools.exec_command({cmd: "pytest -q"});\ntext(r.output);',
        "const r = await tools.exec_command({ \"cmd\": 'pytest -q', timeout: 9 }); text(r.output)",
        "const words = ['pytest', '-q']; const r = await tools.exec_command({cmd: words.join(' ')}); text(r.output)",
    ],
)
def test_what_a_command_of_a_script_came_to(tmp_path: Path, source: str) -> None:
    found = session(tmp_path, script("a", source), ran("pytest -q", FAILED, 1), printed("a", FAILED))
    (step,) = found.steps
    assert [call.name for call in step.calls] == ["exec", "exec_command"]
    assert [result.exit_code for result in step.results] == [1, None]
    assert told(found) == ({}, [("pytest -q", "failed")], [])


def test_several_calls_of_one_script(tmp_path: Path) -> None:
    source = (
        "await Promise.all([tools.exec_command({cmd: `rm src/old.py`}), "
        "tools.apply_patch(`*** Begin Patch\n...`)]); await tools.exec_command({cmd: 'git commit -am Sum'});"
    )
    changes = {
        "/work/till/src/till.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a = 3\n+a = 4\n"},
        "/work/till/src/new.py": {"type": "add", "content": "b = 1\n"},
        "/work/till/src/gone.py": {"type": "delete", "content": "c"},
    }
    found = session(
        tmp_path,
        script("a", source),
        ran("rm src/old.py"),
        completed("FileChange", changes=changes, status="completed"),
        ran("git commit -am Sum", "[main 9f8e7d6] Sum\n 3 files changed\n"),
        printed("a"),
    )
    files, _, commits = told(found)
    assert commits == ["9f8e7d6"]
    assert files == {
        "src/old.py": "deleted",
        "src/till.py": "modified",
        "src/new.py": "created",
        "src/gone.py": "deleted",
    }
    assert len(found.steps) == 1


def test_a_change_that_was_declined_is_none(tmp_path: Path) -> None:
    changes = {"/work/till/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}}
    found = session(
        tmp_path, script("a", "x"), completed("FileChange", changes=changes, status="declined"), printed("a")
    )
    assert told(found)[0] == {}


def test_without_items_the_script_tells(tmp_path: Path) -> None:
    source = (
        'const r = await tools.exec_command({cmd: "pytest -q > \\"out/log.txt\\"; cat out/log.txt"}); text(r.output)'
    )
    found = session(tmp_path, script("a", source), printed("a", FAILED))
    assert told(found) == ({"out/log.txt": "written"}, [("pytest -q", "failed")], [])
    patch = "*** Begin Patch\\n*** Add File: src/a.py\\n+a = 1\\n*** End Patch"
    found = session(tmp_path, script("a", f'await tools.apply_patch("{patch}")'), printed("a", "Done"))
    assert told(found)[0] == {"src/a.py": "created"}


@pytest.mark.parametrize(
    "source", ["let s = a\n  > b;\nconst q = x >> 1;", "text(3 > 2 ? 'rm a' : 'b')", "for (;;) {}"]
)
def test_javascript_is_no_shell(tmp_path: Path, source: str) -> None:
    assert told(session(tmp_path, script("a", source), printed("a", "ok"))) == ({}, [], [])


def test_a_file_with_completed_items_alone(tmp_path: Path) -> None:
    found = session(
        tmp_path,
        completed("UserMessage", content=[{"type": "text", "text": "Mend the sum."}]),
        completed("Reasoning", summary=[]),
        ran("pytest -q", FAILED, 1),
        completed("McpToolCall", server="docs", tool="search", arguments={"q": "sum"}, status="completed"),
        completed("AgentMessage", content=[{"type": "Text", "text": "It still fails."}]),
    )
    assert [step.source for step in found.steps] == [Source.USER, *[Source.AGENT] * 3]
    assert (found.steps[0].message, found.steps[-1].message) == ("Mend the sum.", "It still fails.")
    assert found.steps[2].calls[0].name == "docs.search"
    assert told(found)[1] == [("pytest -q", "failed")]


@pytest.mark.parametrize("items_first", [True, False])
def test_what_both_kinds_of_items_say_is_said_once(tmp_path: Path, *, items_first: bool) -> None:
    def both(role: str, said: str) -> list[dict[str, Any]]:
        kind, name = ("UserMessage", "text") if role == "user" else ("AgentMessage", "Text")
        pair = [codex_message(role, said), completed(kind, content=[{"type": name, "text": said}])]
        return pair[::-1] if items_first else pair

    command = item("function_call", name="shell", arguments=json.dumps({"command": ["ls"]}), call_id="f")
    records = [
        *both("user", "Go on."),
        *both("assistant", "Looking."),
        command,
        item("function_call_output", call_id="f", output="a.py"),
        ran("ls", "a.py", id="f"),
        *both("user", "Go on."),
        *both("assistant", "Done."),
    ]
    found = session(tmp_path, *records)
    assert [step.message for step in found.steps] == ["Go on.", "Looking.", "Go on.", "Done."]
    assert [len(step.calls) for step in found.steps] == [0, 1, 0, 0]


def test_what_a_script_spells_out() -> None:
    source = (
        r"""tools.exec_command({cmd: "echo \"a\"\t\u0041\x42 \u{1F600}", workdir: "/w"});"""
        "tools.exec_command({cmd: `ls ${folder}`}); tools.exec_command({workdir: '/w', cmd: 'it\\'s'});"
        "tools.view_image({path: 'a.png'}); tools.apply_patch(patch)"
    )
    assert list(calls_in(source)) == [
        ("exec_command", {"cmd": 'echo "a"\tAB \U0001f600'}),
        ("exec_command", {"cmd": "it's"}),
    ]
    assert list(calls_in("tools.exec_command({" * 20_000)) == []


def test_thousands_of_calls_in_one_step(tmp_path: Path) -> None:
    source = "await tools.exec_command({cmd: 'ls'});" * 20_000
    (step,) = session(tmp_path, script("a", source), printed("a")).steps
    assert len({call.call_id for call in step.calls}) == 20_001
