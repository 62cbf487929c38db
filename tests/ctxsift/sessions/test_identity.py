"""What a file says twice happened once; what happened twice stays."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ctxsift.sessions.artifacts.index import index_session
from ctxsift.sessions.figures import figures_of
from ctxsift.sessions.finding import newest_session
from ctxsift.sessions.reading import open_session
from ctxsift.sessions.records import Session, TokenUsage
from tests.ctxsift.sessions.samples import (
    PI_HEAD,
    claude,
    codex,
    codex_message,
    item,
    lines,
    pi,
    read,
    result,
    said,
    time_at,
    use,
)

Record = dict[str, Any]
COUNTS = {"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 1000, "output_tokens": 50}


def agent(second: int, block: Any, message_id: str, **fields: Any) -> Record:
    message = {"id": message_id, "usage": COUNTS | fields.pop("usage", {})}
    return claude("assistant", [block], second, message=message, parentUuid=f"u-{second - 1}", **fields)


def user(second: int, content: Any, **fields: Any) -> Record:
    return claude("user", content, second, **{"parentUuid": f"u-{second - 1}"} | fields)


def of_claude(rounds: int = 1) -> list[Record]:
    """Return a session of Claude Code: each round an order, a look, an edit and a check."""
    records = []
    for number in range(rounds):
        at, name = 1 + 7 * number, f"m{number}"
        records += [
            user(
                at,
                f"Set limit_{number} to {number + 5} in shop/limits.py.",
                parentUuid=None if at == 1 else f"u-{at - 1}",
            ),
            agent(at + 1, said("I set it."), name),
            agent(at + 2, use(f"e{number}", "Edit", file_path="shop/limits.py", old_string="0", new_string="5"), name),
            user(at + 3, [result(f"e{number}", "The file shop/limits.py has been updated.")]),
            agent(at + 4, use(f"t{number}", "Bash", command="pytest -q"), f"{name}-check"),
            user(at + 5, [result(f"t{number}", "12 passed in 0.40s")]),
            agent(at + 6, said(f"limit_{number} is set; 12 tests pass."), f"{name}-done"),
        ]
    return records


def forked(records: list[Record]) -> list[Record]:
    return [each | {"forkedFrom": {"sessionId": "s-0", "messageUuid": each["uuid"]}} for each in records]


def told(session: Session) -> list[tuple[str, str, int, int]]:
    return [(each.source, each.message, len(each.calls), len(each.results)) for each in session.steps]


def boundary(uuid: str) -> Record:
    return {"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": None, "sessionId": "s-1"}


@pytest.mark.parametrize("rounds", [1, 12])
@pytest.mark.parametrize(
    "copy",
    [
        lambda records: forked(records) + records,
        lambda records: [each for record in records for each in [record] * 4],
        lambda records: records + [each | {"version": "2.1.9", "slug": "a-b", "parentUuid": None} for each in records],
        # A copy may have less of an output than the record had.
        lambda records: records + json.loads(json.dumps(records).replace("12 passed in 0.40s", "[cleared]")),
        # Messages keep their ids where records get new ones; what the user said is not told apart then.
        lambda records: records + [each | {"uuid": f"n{each['uuid']}"} for each in records[1:7]],
    ],
    ids=["branch", "racing writers", "resumed", "shortened", "new ids"],
)
def test_records_that_claude_code_writes_again(tmp_path: Path, copy: Any, rounds: int) -> None:
    once, again = read(tmp_path, lines(*of_claude(rounds))), read(tmp_path, lines(*copy(of_claude(rounds))))
    assert again.steps == once.steps
    assert any(kind.startswith("repeated ") for kind in again.skipped)
    (check,) = index_session(again).checks
    assert len(check.runs) == rounds


def test_a_second_compaction_appends_the_history_again(tmp_path: Path) -> None:
    records = of_claude(3)
    first = [boundary("b-1"), user(90, "Limits are set.", isCompactSummary=True, parentUuid="b-1")]
    first += [user(91, "Now log them."), agent(92, said("Logged."), "m-92")]
    second = [boundary("b-2"), user(95, "Logged.", isCompactSummary=True, parentUuid="b-1"), user(96, "Stop here.")]
    session = read(tmp_path, lines(*records, *first, *records, *second))
    assert told(session)[:-3] == told(read(tmp_path, lines(*records)))
    assert [step.message for step in session.steps[-3:]] == ["Now log them.", "Logged.", "Stop here."]
    assert not any(step.taken_back for step in session.steps)
    assert [each.after_step for each in session.compactions] == [12, 14]
    assert session.skipped == {"repeated record": len(records)}
    # The same where what comes next follows the last record of the history.
    session = read(tmp_path, lines(*records, *first, *records, user(96, "Stop here.", parentUuid="u-21")))
    assert [step.message for step in session.steps[-3:]] == ["Now log them.", "Logged.", "Stop here."]
    assert not any(step.taken_back for step in session.steps)


def test_snapshots_of_a_message_hold_what_stood_in_earlier_ones(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, said("I look."), use("t1", "Bash", command="ls")]
    grown = [
        claude("assistant", blocks[:end], end, message={"id": "m1", "usage": COUNTS | {"output_tokens": 3**end}})
        for end in (1, 2, 3)
    ]
    session = read(tmp_path, lines(*grown, grown[0], user(5, [result("t1", "a")]), user(6, [result("t1", "a")])))
    (step,) = session.steps
    assert (step.reasoning, step.message, len(step.calls), len(step.results)) == ("hm", "I look.", 1, 1)
    assert step.usage == TokenUsage(1210, 27, 1000)
    assert session.skipped == {"repeated block": 3, "repeated record": 1, "repeated result": 1}


def test_what_happened_twice_stays(tmp_path: Path) -> None:
    records = [
        user(1, "continue"),
        agent(2, use("t1", "Bash", command="make"), "m1"),
        user(3, [result("t1", "ok")]),
        agent(4, said("Done."), "m2"),
        user(5, "continue"),
        agent(6, use("t2", "Bash", command="make"), "m3"),
        user(7, [result("t2", "ok")]),
        agent(8, said("Done."), "m4"),
        # A service between may give all messages one id; the requests differ.
        agent(9, said("Done."), "m5", requestId="r1"),
        agent(10, said("Done."), "m5", requestId="r2"),
        # An id that came twice by mistake, with other words.
        user(10, "Stop."),
    ]
    session = read(tmp_path, lines(*records))
    assert [step.message for step in session.steps if not step.calls] == [
        *("continue", "Done.", "continue", "Done.", "Done.", "Done.", "Stop.")
    ]
    assert [len(step.results) for step in session.steps if step.calls] == [1, 1]
    assert session.skipped == {}


def test_prompts_from_the_queue_that_are_written_again(tmp_path: Path) -> None:
    taken = {"type": "queue-operation", "operation": "remove", "sessionId": "s-1", "content": "Hurry."}
    records = [user(1, "Go"), taken | {"timestamp": time_at(2)}, taken | {"timestamp": time_at(9)}]
    session = read(tmp_path, lines(*records, *records))
    assert [step.message for step in session.steps] == ["Go", "Hurry.", "Hurry."]
    assert session.skipped == {"repeated record": 3}


def test_a_subagent_s_file_may_begin_with_the_history_of_its_session(tmp_path: Path) -> None:
    records = of_claude()
    side = {"isSidechain": True, "agentId": "a1"}
    inherited = [each | side for each in records]
    folder = tmp_path / "s-1" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").write_bytes(lines(*inherited, user(50, "Review it.", **side)))
    session = read(tmp_path, lines(*records), "s-1.jsonl")
    (subagent,) = session.subagents
    assert [step.message for step in subagent.steps] == ["Review it."]


def of_codex() -> list[Record]:
    return [
        codex("session_meta", 0, id="c-1", cwd="/work/shop"),
        codex_message("user", "Fix the cart", 1),
        item("reasoning", 2, summary=[{"type": "summary_text", "text": "Look first."}]),
        item("function_call", 3, name="shell", arguments='{"command": "pytest"}', call_id="f1"),
        item("function_call_output", 4, call_id="f1", output="2 passed"),
        codex("event_msg", 4, type="token_count", info={"last_token_usage": {"input_tokens": 9, "output_tokens": 2}}),
        codex_message("assistant", "Done.", 5),
        codex_message("user", "continue", 6),
        codex_message("assistant", "Done.", 7),
        codex("event_msg", 8, type="token_count", info={"last_token_usage": {"input_tokens": 30, "output_tokens": 1}}),
    ]


def delayed(records: list[Record]) -> list[Record]:
    return [each | {"timestamp": time_at(100 + at)} for at, each in enumerate(records)]


@pytest.mark.parametrize(
    "copy",
    [
        lambda records: records + records,
        lambda records: records + delayed(records),
        lambda records: records + delayed(records[:2] + records[3:]),
        lambda records: [each for record in records for each in [record] * 3],
        lambda records: records + records[1:],
    ],
    ids=["resumed", "with times of its own", "without reasoning", "racing writers", "under the same head"],
)
def test_items_that_codex_writes_again(tmp_path: Path, copy: Any) -> None:
    new = [codex_message("user", "continue", 300), codex_message("assistant", "Done.", 301)]
    session = read(tmp_path, lines(*copy(of_codex()), *new))
    assert session.steps == read(tmp_path, lines(*of_codex(), *new)).steps
    assert [step.message for step in session.steps] == ["Fix the cart", "", "Done.", *["continue", "Done."] * 2]
    assert session.skipped["repeated item"]


def test_a_session_that_goes_on_may_begin_with_the_same_words(tmp_path: Path) -> None:
    again = [codex("session_meta", 60, id="c-1"), codex_message("user", "continue", 61)]
    session = read(tmp_path, lines(*of_codex(), *again, codex_message("user", "continue", 90)))
    assert [step.message for step in session.steps][-3:] == ["Done.", "continue", "continue"]


@pytest.mark.parametrize("named", [{"forked_from_id": "c-1"}, {}])
@pytest.mark.parametrize("turn", ["01a00010-9b19-7ff0-9919-8ef807f17454", "turn-9"])
def test_a_fork_of_codex_begins_with_copied_steps(tmp_path: Path, turn: str, named: Record) -> None:
    child, parent = "01a00010-9b19-7aaa-9919-8ef807f17454", "01a00000-4923-7150-b331-03960a5c4acb"
    copied = [
        codex("session_meta", 60, id=child, cwd="/work/shop", **named),
        codex("session_meta", 60, id=parent, cwd="/work/shop"),
        *(each | {"timestamp": time_at(60)} for each in of_codex()[1:]),
    ]
    own = [codex("turn_context", 90, turn_id=turn, cwd="/work/shop"), codex_message("user", "Now log it", 91)]
    session = read(tmp_path, lines(*copied, *own))
    assert session.head.session_id == child
    assert [step.copied for step in session.steps] == [True] * 5 + [False]


def test_entries_that_pi_writes_again(tmp_path: Path) -> None:
    call = {"type": "toolCall", "id": "k", "name": "bash", "arguments": {"command": "ls"}}
    records = [
        pi("user", "continue", 1) | {"id": "e1", "parentId": None},
        pi("assistant", [call], 2) | {"id": "e2", "parentId": "e1"},
        pi("toolResult", "a", 3, toolCallId="k") | {"id": "e3", "parentId": "e2"},
        pi("user", "continue", 4) | {"id": "e4", "parentId": "e3"},
    ]
    session = read(tmp_path, lines(PI_HEAD, *records[:2], records[1], *records[2:], *records))
    assert session.steps == read(tmp_path, lines(PI_HEAD, *records)).steps
    assert session.skipped == {"repeated record": 5}
    assert len(session.steps) == 3


def test_messages_without_ids_may_say_the_same(tmp_path: Path) -> None:
    turn = [
        {"role": "user", "content": "continue"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": ""}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "a"},
    ]
    assert len(read(tmp_path, json.dumps(turn * 3).encode()).steps) == 6
    entry = {"action": "make", "observation": "ok", "response": "I run it.", "thought": "I run it.", "state": "{}"}
    swe = {"trajectory": [entry] * 3, "history": [], "info": {}}
    assert len(read(tmp_path, json.dumps(swe).encode()).steps) == 3
    atif = {"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1"}}
    steps = [{"step_id": number, "source": "user", "message": "continue"} for number in (1, 2)]
    assert len(read(tmp_path, json.dumps(atif | {"steps": steps}).encode()).steps) == 2


def test_figures_count_what_is_repeated_once(tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(lines(*forked(of_claude(15)), *of_claude(15)))
    with open_session(tmp_path / "s") as events:
        figures = figures_of(events)
    assert (figures.steps.total(), figures.tools["Edit"], figures.usage.prompt_tokens) == (60, 15, 45 * 1210)
    assert figures.skipped.counts == {"repeated record": 105}


@pytest.mark.parametrize(
    "marks",
    [
        {"thread_source": "subagent"},
        {"source": {"subagent": "review"}},
        {"source": {"subagent": {"thread_spawn": {"parent_thread_id": "c-1", "depth": 1}}}, "forked_from_id": "c-1"},
    ],
)
def test_a_subagent_s_file_is_not_the_newest_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: Record
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    day = tmp_path / "codex" / "sessions" / "2026" / "03" / "01"
    project = tmp_path / "claude" / "projects" / "-work-shop"
    side = {"isSidechain": True, "agentId": "a1"}
    for age, path, content in (
        (1, project / "s-2.jsonl", lines(user(1, "Search", **side), agent(2, said("Found."), "m", **side))),
        (2, day / "rollout-2.jsonl", lines(codex("session_meta", id="c-2", cwd="/work/shop", **marks), *of_codex())),
        (3, day / "rollout-1.jsonl", lines(*of_codex())),
        (4, project / "s-1.jsonl", lines(*of_claude())),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (1e9 - age, 1e9 - age))
    assert newest_session(Path("/work/shop")).path == day / "rollout-1.jsonl"
    # One that a person forked is a session of its own.
    (day / "rollout-3.jsonl").write_bytes(
        lines(codex("session_meta", id="c-3", forked_from_id="c-1", cwd="/work/shop"))
    )
    assert newest_session(Path("/work/shop")).path == day / "rollout-3.jsonl"
