"""What the user orders elsewhere than in a message: answers, words with a refusal, what is typed meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.probes.generating import generated
from ctxsift.sessions.compaction.cutting import cut_at_end
from ctxsift.sessions.compaction.lines import lines_of
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.records import JsonValue, Session, Source, Step, ToolCall, ToolResult
from ctxsift.sessions.replies import replies_in
from tests.ctxsift.sessions.samples import PI_HEAD, claude, item, lines, pi, queued, read, result, said, use

REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)."
NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
ASKED: dict[str, JsonValue] = {"questions": [{"question": "Which port?", "id": "p"}, {"question": "Why?", "id": "y"}]}


def answered(
    name: str, text: str, arguments: dict[str, JsonValue] | None = None, *, is_error: bool | None = None
) -> Step:
    call, given = ToolCall("c", name, arguments or {}), ToolResult("c", text, is_error=is_error)
    return Step(1, Source.AGENT, "", calls=(call,), results=(given,))


@pytest.mark.parametrize(
    ("name", "text", "arguments", "told"),
    [
        (
            "AskUserQuestion",
            'User has answered your questions: "Which port?"="8080, never 80", "Why?"="so said "ops"". You can now '
            "continue with the user's answers in mind.",
            ASKED,
            'Which port:\n8080, never 80\nWhy:\nso said "ops"',
        ),
        (
            "AskUserQuestion",
            'Your questions have been answered: "Which port?"="8080" user notes: only in tests, '
            '"Why?"="(No answer provided)". You can now continue with these answers in mind.',
            ASKED,
            "Which port:\n8080. only in tests",
        ),
        ("question", 'User has answered your questions: "A or\nB?"="Unanswered", "C?"="d".', {}, "C:\nd"),
        (
            "ask_user",
            'User has answered your questions:\n"Which port?" → "81"\n"Why?" → "old"',
            ASKED,
            "Which port:\n81\nWhy:\nold",
        ),
        (
            "request_user_input",
            '{"answers":{"p":{"answers":["81","user_note: for now"]}}}',
            ASKED,
            "Which port:\n81, user_note: for now",
        ),
        ("mcp__ui__ask_questions", '{"Which port?": "82"}', ASKED, "Which port:\n82"),
        (
            "ask_followup_question",
            "<answer>\nUse tabs\n</answer>",
            {"question": "Tabs or blanks?"},
            "Tabs or blanks:\nUse tabs",
        ),
        ("askUser", "The user responded: the old one", {}, "the old one"),
        ("ask_human", "8080", {"question": "Which port?"}, "Which port:\n8080"),
        ("AskUserQuestion", "User declined to answer questions", ASKED, ""),
        ("ask_user", "", ASKED, ""),
        (
            "AskUserQuestion",
            f"{REFUSED} To tell you how to proceed, the user said:\nThe user wants to clarify these questions.\n"
            '    Start by asking them.\n\n    Questions asked:\n- "Which port?"\n  Answer: 8080\n- "Why?"\n'
            "  (No answer provided)",
            ASKED,
            "Which port:\n8080",
        ),
    ],
)
def test_an_answer_to_a_question_is_the_user_s(
    name: str, text: str, arguments: dict[str, JsonValue], told: str
) -> None:
    assert "\n".join(replies_in(answered(name, text, arguments))) == told
    assert not list(replies_in(answered("Bash", text, arguments, is_error=False)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            f"{REFUSED} To tell you how to proceed, the user said:\nno new packages\nwrite it by hand{NOTE}",
            "no new packages\nwrite it by hand",
        ),
        (
            "Permission for this tool use was denied. The user provided the following reason for the rejection: "
            "use yarn",
            "use yarn",
        ),
        ("The user rejected permission to use this specific tool call with the following feedback: keep v1", "keep v1"),
        (
            "The user denied this operation and provided the following feedback:\n<feedback>\nonly in src\n</feedback>",
            "only in src",
        ),
        ("exec command rejected by user: ask ops first", "ask ops first"),
        (
            "<tool_use_error>User rejected the edit with this comment: leave the header</tool_use_error>",
            "leave the header",
        ),
        (f"{REFUSED} STOP what you are doing and wait for the user to tell you how to proceed.{NOTE}", ""),
        ("The agent proposed a plan that was rejected by the user.\n\nRejected plan:\nReason: the user said: x", ""),
        ("Permission for this action was denied by the auto mode classifier. Reason: [Git]. Never push.", ""),
        ("npm error code 1\nThe user said: never", ""),
        ("# Notes\nThe user rejected it with the reason: too slow", ""),
    ],
)
def test_words_with_a_refusal_are_the_user_s(text: str, told: str) -> None:
    for name, is_error in (("Bash", True), ("ExitPlanMode", True), ("edit", None)):
        assert "\n".join(replies_in(answered(name, text, is_error=is_error))) == told
    assert not list(replies_in(answered("Read", text, is_error=False)))


def test_words_with_an_approved_plan() -> None:
    text = "User has approved your plan. The user also said: skip step 3\n\n## Approved Plan:\n1. x\nreason: y"
    assert list(replies_in(answered("ExitPlanMode", text, is_error=False))) == ["skip step 3"]
    edited = "User has approved your plan.\n\n## Approved Plan (edited by user):\n1. x\n2. only y"
    assert list(replies_in(answered("ExitPlanMode", edited, {"plan": "1. x\n2. y"}, is_error=False))) == ["2. only y"]
    assert not list(replies_in(answered("ExitPlanMode", edited, is_error=False)))


REMINDED = (
    "<system-reminder>\nThe user sent a new message while you were working:\nNever touch the till.\n\n"
    "IMPORTANT: After completing your current task, you MUST address the user's message above.\n</system-reminder>"
)


def test_what_a_reminder_says_that_the_user_sent(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [use("t1", "Bash", command="ls")]},
        {"role": "user", "content": [result("t1", f"cart.py\n\n{REMINDED}"), said(REMINDED)]},
    ]
    session = read(tmp_path, json.dumps(messages).encode())
    assert [step.source for step in session.steps] == [Source.USER, Source.AGENT, Source.USER]
    told = [(line.by_user, line.text) for line in lines_of(session.steps)]
    assert told == [(True, "Go"), (True, "Never touch the till."), (True, "Never touch the till.")]


# A summary has to be shorter than what it stands for.
LONG = "\n```\n" + "orders.py\n" * 100 + "```"


def of_claude() -> bytes:
    return lines(
        claude("user", "Move the list of orders to the new table. " + LONG, 1),
        claude("assistant", [use("t1", "AskUserQuestion", **ASKED)], 2, message={"id": "m1"}),
        claude(
            "user", [result("t1", 'User has answered your questions: "How many rows a page?"="40 rows, striped".')], 3
        ),
        claude("assistant", [use("t2", "Bash", command="npm i")], 4, message={"id": "m2"}),
        claude(
            "user",
            [
                result(
                    "t2",
                    f"{REFUSED} To tell you how to proceed, the user said:\nvendor it under lib/pager, please",
                    is_error=True,
                )
            ],
            5,
        ),
        queued("Leave the table of invoices exactly as it is."),
        claude(
            "user", "<command-name>/fix</command-name>\n<command-args>show only 7 links in the footer</command-args>", 6
        ),
        claude("assistant", "Done.", 7, message={"id": "m3"}),
        claude("user", "Go on.", 8),
    )


def of_codex() -> bytes:
    output = {"answers": {"p": {"answers": ["40 rows, striped"]}}}
    asked = {"questions": [{"id": "p", "question": "How many rows a page?"}]}
    return lines(
        item(
            "message",
            1,
            role="user",
            content=[{"type": "input_text", "text": "Move the list. Leave the table of invoices exactly. " + LONG}],
        ),
        item("function_call", 2, name="request_user_input", arguments=json.dumps(asked), call_id="f1"),
        item("function_call_output", 3, call_id="f1", output=json.dumps(output)),
        item("function_call", 4, name="shell", arguments="{}", call_id="f2"),
        item(
            "function_call_output",
            5,
            call_id="f2",
            output="command rejected by user: vendor it under lib/pager, please",
        ),
        item(
            "message", 6, role="user", content=[{"type": "input_text", "text": "/fix show only 7 links in the footer"}]
        ),
        item("message", 7, role="assistant", content=[{"type": "output_text", "text": "Done."}]),
        item("message", 8, role="user", content=[{"type": "input_text", "text": "Go on."}]),
    )


def of_pi() -> bytes:
    def call(name: str, number: int, **arguments: Any) -> dict[str, Any]:
        block = {"type": "toolCall", "id": f"k{number}", "name": name, "arguments": arguments}
        return pi("assistant", [block], number)

    def output(text: str, number: int) -> dict[str, Any]:
        return pi("toolResult", [said(text)], number + 1, toolCallId=f"k{number}", isError=False)

    return lines(
        PI_HEAD,
        pi("user", "Move the list. Leave the table of invoices exactly. " + LONG, 1),
        *(call("ask_user", 2, question="How many rows a page?"), output("40 rows, striped", 2)),
        *(
            call("plan_mode", 4),
            output("User rejected the plan with this feedback: vendor it under lib/pager, please", 4),
        ),
        pi("user", "/fix show only 7 links in the footer", 6),
        pi("assistant", [said("Done.")], 7),
        pi("user", "Go on.", 8),
    )


def summary_of(session: Session, method: str) -> str:
    (made,) = compact_session(session, method, cut_at_end(session.steps, 2), budget=800, keep_last=2)
    return made.summary_text


@pytest.mark.parametrize("content", [of_claude(), of_codex(), of_pi()], ids=["claude-code", "codex", "pi"])
def test_orders_reach_summaries_and_are_asked_for(tmp_path: Path, content: bytes) -> None:
    session = read(tmp_path, content)
    orders = ("40 rows, striped", "vendor it under lib/pager", "exactly", "only 7 links")
    for method in ("anchored+index", "regenerative", "text", "user"):
        summary = summary_of(session, method)
        assert not [order for order in orders if order not in summary], (method, summary)
    asked = [
        statement.says for probe in generated(session, keep_last=2, shares=(1.0,)) for statement in probe.statements
    ]
    assert not [order for order in (*orders[:2], orders[3]) if not any(order in each for each in asked)], asked
