"""Recorded sessions in the formats of other agents: what is read back is what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.sessions.agreement import at_every_step
from benchmark.sessions.loader import RecordedSession, open_recorded, recorded_sessions
from ctxsift.sessions.artifacts.index import index_for
from ctxsift.sessions.artifacts.records import Artifacts
from ctxsift.sessions.records import Session, Source, Step
from tools.convert_session.__main__ import main
from tools.convert_session.acts import Act, Command, Edit, Read, Told, Write
from tools.convert_session.forms import FORMS, read_back
from tools.record.comparing import ignored_of

AT = "2026-11-25T02:48:23.231Z"
ROOT = "/home/dev/shop"
DIFF = "@@ -1,2 +1,2 @@\n def total(prices):\n-    return None\n+    return 0"


def spoken(session: Session) -> list[Step]:
    return [step for step in session.steps if step.source is not Source.SYSTEM]


def states(found: Artifacts) -> dict[str, str]:
    # What a tool says of a file outside the project, git does not say.
    return {each.path: each.state for each in found.files if not each.path.startswith(("/", "~"))}


def told(found: Artifacts) -> tuple[object, ...]:
    """Return what an index says of commands; a failed call of another tool has its own name and words."""
    failed = [each for each in found.failed if not each.command.casefold().startswith(("edit", "apply_patch", "read"))]
    checks = [(each.folder, each.command, each.state, [run.key_line for run in each.runs]) for each in found.checks]
    commands = [(each.step_id, each.command, each.key_line) for each in failed]
    return checks, [(each.revision, each.subject) for each in found.commits], [each[1:] for each in commands]


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_step_and_no_agreement_is_lost(form: str) -> None:
    every = [0, 0, 0]
    for recorded in recorded_sessions():
        original, session = recorded.session(), read_back(recorded, form)
        steps, one, other = spoken(session), index_for(original.head), index_for(session.head)
        assert [(s.source, s.message, s.timestamp, len(s.results)) for s in original.steps] == [
            (s.source, s.message, s.timestamp, min(len(s.results), 1)) for s in steps
        ]
        for known, own in zip(original.steps, steps, strict=True):
            one.add(known)
            other.add(own)
            assert states(other.artifacts()) == states(one.artifacts()), f"{recorded.name}, step {known.step_id}"
        assert told(other.artifacts()) == told(one.artifacts()), recorded.name
        counts = at_every_step(session, recorded.truth(), ignored_of(recorded))
        every = [before + more for before, more in zip(every, counts, strict=True)]
    assert 2 * every[0] / (2 * every[0] + every[1] + every[2]) >= 0.977


def one_recorded() -> RecordedSession:
    return next(iter(recorded_sessions()))


def test_fewer_steps_than_git_saw_are_no_agreement() -> None:
    recorded = one_recorded()
    with pytest.raises(ValueError, match="zip"):
        at_every_step(recorded.session(), recorded.truth()[:-1], frozenset())


def records(form: str, *acts: Act | None) -> list[dict[str, Any]]:
    steps = [Told(number, False, "Now.", AT, 1.5, ROOT, act) for number, act in enumerate(acts, 1)]
    return [dict(each) for each in FORMS[form]("shop", ROOT, steps)]


def results(form: str, act: Act) -> list[Any]:
    items = [record.get("payload") or {} for record in records(form, act)]
    messages = [record["message"]["content"] for record in records(form, act) if "message" in record]
    blocks = [block for message in messages for block in message if block["type"] == "tool_result"]
    outputs = [item["output"] for item in items if str(item.get("type")).endswith("_output")]
    return [*outputs, *((block["content"], block.get("is_error")) for block in blocks)]


KNOWN = " (file state is current in your context — no need to Read it back)"


@pytest.mark.parametrize(
    ("act", "text", "is_error"),
    [
        (Command("make", "ok", 0, 120, False), "ok", False),
        (Command("true", "", 0, 120, False), "(Bash completed with no output)", False),
        (Command("make test", "1 failed", 2, 120, False), "Exit code 2\n1 failed", True),
        (Command("cat a | grep b", "", 1, 120, False), "(Bash completed with no output)", False),
        (Command("grep b a && make", "", 1, 120, False), "Exit code 1", True),
        (Command("make", "so far", None, 90, True), "Exit code 143\nCommand timed out after 1m 30s\nso far", True),
        (Read("/a", ("x", "y"), 3, 2, ""), "3\tx\n4\ty", None),
        (Write("/a", "x", None, existed=False), f"File created successfully at: /a{KNOWN}", None),
        (Write("/a", "x", "y", existed=True), f"The file /a has been updated successfully.{KNOWN}", None),
        (Edit("/a", "x", "y", None, (DIFF,), ""), f"The file /a has been updated successfully.{KNOWN}", None),
        (
            Edit("/a", "x", "y", None, (), "The old text was not found in a. Nothing was changed."),
            "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
            True,
        ),
    ],
)
def test_results_of_claude_code(act: Act, text: str, is_error: bool | None) -> None:
    assert results("claude-code", act) == [(text, is_error)]


def test_records_of_claude_code_follow_each_other() -> None:
    found = records("claude-code", Write("/a", "x", None, existed=False), None)
    assert [each["parentUuid"] for each in found] == [None, *(each["uuid"] for each in found[:-1])]
    assert found[2]["toolUseResult"]["type"] == "create"
    assert found[2]["timestamp"] == "2026-11-25T02:48:24.731Z"


@pytest.mark.parametrize(
    ("act", "asked"),
    [
        (Read(f"{ROOT}/src/a.py", ("x",), 1, None, ""), "cat src/a.py"),
        (Read("/etc/a b", ("x",), 3, 2, ""), "sed -n '3,4p' '/etc/a b'"),
        (Write(f"{ROOT}/a", "x\n", None, existed=True), "cat > /home/dev/shop/a <<'EOF'\nx\nEOF"),
    ],
)
def test_codex_reads_and_replaces_with_its_shell(act: Act, asked: str) -> None:
    call = next(r["payload"] for r in records("codex", act) if r["payload"].get("type") == "function_call")
    assert f'"cmd": {json.dumps(asked)}' in call["arguments"]


@pytest.mark.parametrize(
    ("act", "lines"),
    [
        (Write(f"{ROOT}/a", "x\ny\n", None, existed=False), ["*** Add File: a", "+x", "+y"]),
        (Write("/tmp/a", "x\ny\n", "x\nz\n", existed=True), ["*** Update File: /tmp/a", "@@", " x", "-z", "+y"]),
        (
            Edit(f"{ROOT}/a", "None", "0", None, (DIFF,), ""),
            ["*** Update File: a", "@@", " def total(prices):", "-    return None", "+    return 0"],
        ),
    ],
)
@pytest.mark.parametrize("form", ["codex", "codex-code-mode"])
def test_patches_of_codex(form: str, act: Act, lines: list[str]) -> None:
    call = next(r["payload"] for r in records(form, act) if r["payload"].get("type") == "custom_tool_call")
    patch = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
    assert patch in call["input"] or json.dumps(patch) in call["input"]


def test_results_of_codex() -> None:
    command = Command("make test", "1 failed", 2, 120, False)
    (shown,) = results("codex", command)
    assert shown.split("\n")[1:3] == ["Wall time: 1.5000 seconds", "Process exited with code 2"]
    assert shown.endswith("\nOutput:\n1 failed")
    (printed,) = results("codex-code-mode", command)
    assert [each["text"] for each in printed] == ["Script completed\nWall time 1.5 seconds\nOutput:\n", "1 failed"]
    failed = Edit(f"{ROOT}/a", "x", "y", None, (), "The old text was not found in a. Nothing was changed.")
    told = "apply_patch verification failed: Failed to find expected lines in /home/dev/shop/a:\nx"
    assert results("codex", failed) == [told]
    assert results("codex-code-mode", failed)[0][1]["text"] == f"Script error:\n{told}"


def test_command_writes_a_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = open_recorded(one_recorded().folder)
    target = tmp_path / "out.jsonl"
    assert main([str(recorded.folder), "--to", "codex", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote 115 steps to {target}\n"
    assert len(target.read_text().splitlines()) > 115
