"""`ctxsift compact` as a person calls it."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from atif import Trajectory

from ctxsift.cli.main import build_parser
from ctxsift.sessions.compaction.context import (
    as_anthropic_messages,
    as_atif_document,
    as_markdown,
    as_openai_messages,
    whole,
)
from ctxsift.sessions.compaction.controls import GivenSummary
from ctxsift.sessions.compaction.lines import lines_of, summary_in
from ctxsift.sessions.compaction.records import Compacted, Cut
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.exporting import as_atif
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Session, SessionHead, Source, Step, ToolCall, ToolResult
from tests.conftest import ROOT
from tests.ctxsift.sessions.shop import shop_session
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow

COMMAND = [sys.executable, "-m", "ctxsift", "compact"]
EXAMPLE = ROOT / "docs" / "examples" / "session.json"
PAGE = ROOT / "docs" / "compaction.md"
WAS_SUMMARY = "This is a summary of the session so far, not a message of the user."
IS_SUMMARY = "This is a summary of the session so far, not a message from the user."
WHICH = "It replaces steps 2 to 28 of 31; steps 29 to 31 follow unchanged."


def call(*arguments: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, env=environ, text=True, capture_output=True, timeout=60, check=False
    )


def test_the_example_of_the_page_is_the_session_of_the_tests() -> None:
    assert json.loads(EXAMPLE.read_text()) == json.loads(json.dumps(as_atif(shop_session(1))))


def test_the_page_shows_what_is_printed() -> None:
    shown = re.findall(r"```\n\$ ctxsift compact (docs/examples.*?)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    ((arguments, output),) = shown
    done = call(*shlex.split(arguments))
    assert done.returncode == 0
    assert done.stdout.rstrip() == output.rstrip()


def test_a_table_tells_what_was_cut_kept_and_refused() -> None:
    done = call(EXAMPLE, "--threshold", "3000", "--keep-last", "300", "--budget", "400", "-o", os.devnull)
    assert done.stdout == ""
    *table, cycles, wrote = done.stderr.splitlines()
    assert [line.split() for line in table][1:] == [
        ["13", "3,181", "533", "2-12", "239", "13", "280"],
        ["24", "2,954", "1,420", "13-23", "361", "24-31", "1,045"],
    ]
    assert cycles == "ctxsift: 2 cycles of anchored+index; tokens are estimated"
    assert wrote == f"ctxsift: wrote 1,420 tokens to {os.devnull}"
    refused = call(EXAMPLE, "--method", "anchored", "--keep-last", "5970", "--json")
    assert re.search(r"none +0 +2-31 +6,010 +refused: steps 2 to 2 stay unchanged: \d+ tokens would", refused.stderr)
    assert json.loads(refused.stdout)["cycles"][0]["refused"].startswith("steps 2 to 2 stay")


def test_the_session_is_never_touched(tmp_path: Path) -> None:
    copy = tmp_path / "session.json"
    copy.write_bytes(EXAMPLE.read_bytes())
    before = hashlib.sha256(copy.read_bytes()).digest(), copy.stat().st_mtime_ns
    refused = call(copy, "-o", copy)
    assert refused.returncode == 2
    assert f"{copy} is read, and would be lost; name another file" in refused.stderr
    beside = tmp_path / "session" / "subagents" / "agent-abc.jsonl"
    beside.parent.mkdir(parents=True)
    beside.write_text("{}\n", encoding="utf-8")
    refused = call(copy, "-o", beside)
    assert (refused.returncode, beside.read_text(encoding="utf-8")) == (2, "{}\n")
    summary, link = tmp_path / "summary.md", tmp_path / "link.md"
    summary.write_text("All done.", encoding="utf-8")
    link.symlink_to(summary)
    for option in ("-o", "--journal"):
        refused = call(copy, "--compacted", summary, option, link)
        assert (refused.returncode, summary.read_text(encoding="utf-8")) == (2, "All done.")
        assert f"{option} {link}: {summary} is read, and would be lost" in refused.stderr
    assert call(copy, "-o", tmp_path / "out.md", "--keep-last", "60").returncode == 0
    assert (hashlib.sha256(copy.read_bytes()).digest(), copy.stat().st_mtime_ns) == before
    assert (tmp_path / "out.md").read_text().startswith("# The session so far\n")


def test_what_is_left_comes_as_atif_that_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "left.json"
    assert call(EXAMPLE, "--keep-last", "60", "--budget", "400", "--format", "atif", "-o", path).returncode == 0
    Trajectory.model_validate_json(path.read_text())
    system, summary, *kept = read_session(path).steps
    assert (system.source, system.copied, summary.source, summary.copied) == (Source.SYSTEM, True, Source.USER, False)
    assert summary.message.startswith(f"{IS_SUMMARY} {WHICH}\n\n## Intent\n- Add discount codes")
    assert [step.message for step in kept] == [step.message for step in shop_session(1).steps[-3:]]


def test_what_is_left_comes_as_messages_of_both_forms(tmp_path: Path) -> None:
    openai = json.loads(call(EXAMPLE, "--keep-last", "300", "--budget", "400", "--format", "openai").stdout)
    assert [message["role"] for message in openai][:2] == ["system", "user"]
    assert openai[1]["content"].startswith(f"{IS_SUMMARY} {WHICH}")
    anthropic = json.loads(call(EXAMPLE, "--keep-last", "300", "--budget", "400", "--format", "anthropic").stdout)
    assert anthropic["system"].startswith("You are a coding agent")
    assert anthropic["messages"][0]["content"][0]["text"] == openai[1]["content"]
    roles = [message["role"] for message in anthropic["messages"]]
    assert roles == [("user", "assistant")[at % 2] for at in range(len(roles))]
    for name, document in (("o.json", openai), ("a.json", anthropic)):
        path = tmp_path / name
        path.write_text(json.dumps(document))
        assert [step.message for step in read_session(path).steps][-1] == shop_session(1).steps[-1].message


def test_calls_keep_their_results_and_what_has_none_is_answered() -> None:
    calls = (ToolCall("a", "bash", {"command": "ls"}), ToolCall("b", "bash", {"command": "pwd"}))
    steps = (
        Step(1, Source.AGENT, "", calls=calls, results=(ToolResult("a", "x.py"),)),
        Step(2, Source.USER, "!date", results=(ToolResult("", "Monday"),)),
        Step(3, Source.SYSTEM, "A reminder."),
    )
    openai = as_openai_messages(whole(steps, "none"))
    assert [(message["role"], message["content"]) for message in openai] == [
        ("assistant", None),
        ("tool", "x.py"),
        ("tool", "(no result was recorded)"),
        ("user", "!date\nMonday"),
        ("system", "A reminder."),
    ]
    anthropic = as_anthropic_messages(whole(steps, "none"))["messages"]
    assert [(message["role"], [block["type"] for block in message["content"]]) for message in anthropic] == [
        ("user", ["text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text", "text"]),
    ]


def cut_after(steps: tuple[Step, ...], first_kept: int) -> Compacted:
    """Return the context in which a summary made elsewhere stands for the steps before `first_kept`."""
    cut = Cut(steps[-1].step_id, first_kept)
    (made,) = compact_session(
        Session(SessionHead("messages"), steps), "given", [cut], method=GivenSummary("What was done.")
    )
    return made


@pytest.mark.parametrize(
    ("prompts", "first_kept", "told"),
    [
        (0, 4, "It replaces steps 1 to 3 of 5; steps 4 to 5 follow unchanged."),
        (0, 5, "It replaces steps 1 to 4 of 5; step 5 follows unchanged."),
        (2, 4, "It replaces step 3 of 5; steps 4 to 5 follow unchanged."),
    ],
)
def test_every_form_says_of_which_steps_it_has_a_summary(prompts: int, first_kept: int, told: str) -> None:
    sources = [Source.SYSTEM] * prompts + [Source.USER, Source.AGENT, Source.USER, Source.AGENT, Source.USER]
    made = cut_after(tuple(Step(at, source, f"Message {at}.") for at, source in enumerate(sources[:5], 1)), first_kept)
    text = f"{IS_SUMMARY} {told}\n\nWhat was done."
    assert f"\n\n{text}\n\n" in as_markdown(made)
    text += "\n\n(End of the summary.)"
    assert as_openai_messages(made)[prompts] == {"role": "user", "content": text}
    assert as_anthropic_messages(made)["messages"][0]["content"][0] == {"type": "text", "text": text}
    assert as_atif_document(made, SessionHead("messages"))["steps"][prompts]["message"] == text


def test_a_summary_of_an_earlier_version_is_recognised() -> None:
    step = Step(1, Source.USER, f"{WAS_SUMMARY} {WHICH}\n\nWhat was done.\n\n(End of the summary.) Go on.")
    assert summary_in(step) == "What was done."
    assert [line.text for line in lines_of([step])] == ["Go on."]


@pytest.mark.parametrize("method", ["anchored+index", "regenerative+index"])
@pytest.mark.parametrize("form", ["openai", "anthropic", "atif"])
def test_a_summary_that_is_handed_on_is_not_read_as_words_of_the_user(tmp_path: Path, form: str, method: str) -> None:
    path = tmp_path / "session.json"
    told = ("--keep-last", "60", "--budget", "500", "--method", method)
    assert call(EXAMPLE, *told, "--format", form, "-o", path).returncode == 0
    document = json.loads(path.read_text())
    if form == "atif":
        last = len(document["steps"]) + 1
        more = [
            {"step_id": last + at, "source": ("user", "agent")[at % 2], "message": message}
            for at, message in enumerate(("Round half to even.", "Done. " * 300))
        ]
        document["steps"] += more
    else:
        messages = document if form == "openai" else document["messages"]
        messages += [
            {"role": "user", "content": "Round half to even."},
            {"role": "assistant", "content": "Done. " * 300},
        ]
    path.write_text(json.dumps(document))
    text = call(path, *told, "--json").stdout
    summary = json.loads(text)["summary"]
    assert "This is a summary" not in summary
    assert "End of the summary" not in summary
    lines = summary.splitlines()
    user = "- User: " if method.startswith("regenerative") else "- "
    for by_user in (
        "Add discount codes to the checkout of the shop service.",
        "Round half to even.",
        "Good. What is left?",
    ):
        assert f"{user}{by_user}" in lines
    assert any("integer cents instead of floats because" in line and "User:" not in line for line in lines)
    if method.startswith("anchored"):
        intent = lines[lines.index("## Intent") : lines.index("## Constraints")]
        assert not any("integer cents" in line or "modified" in line for line in intent)
    assert any("modified: codes.toml" in line for line in lines)


def test_without_a_summary_nothing_says_that_there_is_one() -> None:
    steps = (Step(1, Source.USER, "Go."), Step(2, Source.AGENT, "Done."))
    assert as_openai_messages(whole(steps, "none")) == [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Done."},
    ]


def test_messages_are_such_as_services_accept() -> None:
    long = "call_" + "x" * 40 + "|fc_" + "y" * 40
    calls = (ToolCall("functions.bash:0", "functions.bash", {"command": "ls"}), ToolCall(long, "", {}))
    results = (ToolResult("functions.bash:0", "a.py"), ToolResult(long, ""), ToolResult("", "Seen by the way."))
    steps = (
        Step(1, Source.USER, "Go."),
        Step(2, Source.AGENT, " ", calls=calls, results=results),
        Step(3, Source.AGENT, "\n"),
        Step(4, Source.AGENT, "Done."),
    )
    openai = as_openai_messages(whole(steps, "none"))
    assert [(message["role"], message["content"]) for message in openai] == [
        ("user", "Go."),
        ("assistant", None),
        ("tool", "a.py"),
        ("tool", ""),
        ("user", "Seen by the way."),
        ("assistant", "Done."),
    ]
    ids = [message["tool_call_id"] for message in openai if message["role"] == "tool"]
    assert ids == [each["id"] for each in openai[1]["tool_calls"]] == ["call_2_1", "call_2_2"]
    assert [each["function"]["name"] for each in openai[1]["tool_calls"]] == ["functions_bash", "tool"]
    anthropic = as_anthropic_messages(whole(steps, "none"))["messages"]
    assert [(message["role"], [block["type"] for block in message["content"]]) for message in anthropic] == [
        ("user", ["text"]),
        ("assistant", ["tool_use", "tool_use"]),
        ("user", ["tool_result", "tool_result", "text"]),
        ("assistant", ["text"]),
    ]
    assert [block["id"] for block in anthropic[1]["content"]] == ids
    assert [block.get("tool_use_id") for block in anthropic[2]["content"]] == [*ids, None]


def test_a_summary_made_elsewhere_is_put_in_place(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("What my own script says.\n")
    done = call(EXAMPLE, "--compacted", summary, "--keep-last", "60", "--json")
    told = json.loads(done.stdout)
    assert told["summary"] == "What my own script says."
    assert told["cycles"][0]["method"] == "given"
    both = call(EXAMPLE, "--compacted", summary, "--method", "drop")
    assert (both.returncode, both.stdout) == (2, "")
    assert "leave out one of them" in both.stderr


def test_a_short_session_is_not_cut() -> None:
    done = call(EXAMPLE)
    told = call(EXAMPLE, "--keep-last", "50000", "--json")
    assert done.returncode == told.returncode == 0
    assert told.stderr == "ctxsift: nothing was cut; all 6,024 tokens stay\n"
    assert json.loads(told.stdout)["summary"] == ""


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: no such file"),
        ([str(PAGE)], "is not valid JSON"),
        ([str(EXAMPLE), "--method", "anchord"], "did you mean anchored"),
        ([str(EXAMPLE), "--buget=90"], "unrecognized arguments: --buget=90; did you mean --budget?"),
        ([str(EXAMPLE), "--threshold", "700"], "--threshold: summary, kept steps and system prompt need up to"),
        ([str(EXAMPLE), "--budget", "0"], "'0' is not a whole number"),
        ([str(EXAMPLE), "--compacted", "none.md"], "none.md: no such file"),
        ([str(EXAMPLE), "--", "ls"], "compact takes no command"),
        ([str(EXAMPLE), "--fromat", "atif"], "did you mean --format?; see ctxsift compact --help"),
    ],
)
def test_wrong_arguments_are_one_line(arguments: list[str], told: str) -> None:
    done = call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_old_name_of_the_budget_is_taken_and_told() -> None:
    sizes = (EXAMPLE, "--keep-last", "60")
    now, before = call(*sizes, "--budget", "400"), call(*sizes, "--max-tokens", "400")
    assert (before.returncode, before.stdout) == (0, now.stdout)
    told = "ctxsift: --max-tokens is now --budget; the next version will not know it\n"
    assert before.stderr == told + now.stderr
    assert "--max-tokens" not in call("--help").stdout
    assert "argument --max-tokens: '0' is not a whole number" in call(*sizes, "--max-tokens", "0").stderr


def test_a_budget_for_nothing_is_told() -> None:
    told = "warning: nothing fits into 5 tokens, so the steps are gone without a summary; raise --budget"
    assert told in call(EXAMPLE, "--keep-last", "60", "--budget", "5").stderr
    assert "warning" not in call(EXAMPLE, "--keep-last", "60", "--budget", "400").stderr
    # Who asks for no summary gets none.
    assert "warning" not in call(EXAMPLE, "--keep-last", "60", "--method", "drop").stderr


def test_a_model_is_named_by_the_same_options_in_every_command() -> None:
    (commands,) = (each for each in build_parser()._actions if isinstance(each.choices, dict))
    assert isinstance(commands.choices, dict)
    told = [
        {each.option_strings[0]: each.help for each in commands.choices[name]._actions if each.option_strings}
        for name in ("compress", "compact")
    ]
    options = ("--model", "--backend", "--gguf-filename", "--device", "--remote", "--env-file", "--timeout")
    assert all(told[0][option] == told[1][option] for option in options)


def test_a_result_that_cannot_be_written_is_printed(tmp_path: Path) -> None:
    done = call(EXAMPLE, "--keep-last", "60", "-o", tmp_path / "missing" / "out.md")
    assert done.returncode == 1
    assert "cannot be written (No such file or directory); the result follows on stdout" in done.stderr
    assert done.stdout.startswith("# The session so far")
    full = call(EXAMPLE, "--keep-last", "60", "-o", "/dev/full")
    assert (full.returncode, full.stdout) == (1, done.stdout)


@pytest.mark.parametrize("command", ["compact", "session show"])
def test_a_full_stdout_is_told_by_the_exit_code(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND[:-1], *command.split(), str(EXAMPLE)],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
            text=True,
        )
    assert done.returncode == 1
    assert "not all of the output could be written (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_wants_no_more_is_no_fault() -> None:
    line = f"{shlex.join(COMMAND)} {EXAMPLE} | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["# The session so far", "0"]
    assert "Traceback" not in done.stderr


def test_ctrl_c_ends_it_without_a_traceback(tmp_path: Path) -> None:
    large = tmp_path / "large.jsonl"
    with large.open("w") as file:
        for at in range(60_000):
            file.write(
                json.dumps({"role": ("user", "assistant")[at % 2], "content": f"Line {at} of work. " * 20}) + "\n"
            )
    process = subprocess.Popen(
        [*COMMAND, str(large)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=default_signals,
    )  # fmt: skip
    time.sleep(0.8)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (128 + signal.SIGINT, "", "")


def test_secrets_are_taken_out_unless_they_are_to_be_kept(tmp_path: Path) -> None:
    key = "ghp_" + "aB3" * 12
    path = tmp_path / "session.jsonl"
    messages = [{"role": "user", "content": f"Use the token {key} for the upload. " * 3}] + [
        {"role": role, "content": "Go on with the upload. " * 20} for role in ("assistant", "user")
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in messages))
    assert key not in call(path, "--keep-last", "50").stdout
    assert key in call(path, "--keep-last", "50", "--keep-secrets").stdout


def test_control_characters_of_a_session_reach_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(
        json.dumps({"role": "user", "content": "red \x1b[31m"})
        + "\n"
        + json.dumps({"role": "assistant", "content": "ok"})
    )
    controller, terminal = pty.openpty()
    done = subprocess.run(
        [*COMMAND, str(path)], cwd=ROOT, stdout=terminal, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(terminal)
    shown = os.read(controller, 65536)
    os.close(controller)
    assert done.returncode == 0
    assert b"\\x1b[31m" in shown
    assert b"\x1b[31m" not in shown
