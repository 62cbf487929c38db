"""One small session of each format, written for the tests after the formats' descriptions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Session

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress


def time_at(second: int) -> str:
    return f"2026-03-01T10:{second // 60:02}:{second % 60:02}.000Z"


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def zstd_compressed(content: bytes) -> bytes:
    return compress(content)


def read(folder: Path, content: bytes, name: str = "session", *, keep_secrets: bool = False) -> Session:
    """Write a file of a name that says nothing, and read it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return read_session(path, keep_secrets=keep_secrets)


def claude(kind: str, content: Any, second: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a record of Claude Code. `message` gives fields of the message itself."""
    message = {"role": kind, "content": content} | fields.pop("message", {})
    base = {"sessionId": "s-1", "version": "2.0.9", "cwd": "/work/shop", "isSidechain": False, "parentUuid": None}
    return base | {"type": kind, "uuid": f"u-{second}", "timestamp": time_at(second), "message": message} | fields


def queued(prompt: Any, **fields: Any) -> dict[str, Any]:
    """Return an attachment of Claude Code: a prompt that was typed while the agent worked."""
    attachment = {"type": "queued_command", "commandMode": "prompt", "prompt": prompt} | fields
    return {"type": "attachment", "uuid": "a", "sessionId": "s-1", "timestamp": time_at(4), "attachment": attachment}


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def use(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content} | fields


def codex(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    return {"timestamp": time_at(second), "type": kind, "payload": payload}


def item(kind: str, second: int = 0, **fields: Any) -> dict[str, Any]:
    return codex("response_item", second, **({"type": kind} | fields))


def codex_message(role: str, text: str, second: int = 0) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", second, role=role, content=[{"type": kind, "text": text}])


def pi(role: str, content: Any, second: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": time_at(second), "message": {"role": role, "content": content} | fields}


PI_HEAD = {"type": "session", "id": "p-1", "timestamp": time_at(0), "cwd": "/work/shop", "modelId": "m-1"}

CLAUDE = lines(
    claude("user", "Fix the cart", 1),
    claude("assistant", [{"type": "thinking", "thinking": "Look first."}], 2, message={"id": "m1", "model": "opus"}),
    claude("assistant", [said("I read it."), use("t1", "Read", file_path="cart.py")], 3, message={"id": "m1"}),
    claude("user", [result("t1", "def total(): ...")], 4),
    {"type": "system", "subtype": "compact_boundary", "uuid": "u-5", "compactMetadata": {"preTokens": 155_000}},
    claude("user", "The cart was read.", 6, isCompactSummary=True),
    claude(
        "assistant", [use("t2", "Bash", command="pytest -q")], 7, message={"id": "m2", "usage": {"input_tokens": 9}}
    ),
    claude("user", [result("t2", "Exit code 1\n1 failed", is_error=True)], 8),
    claude("assistant", [said("It fails.")], 9, isSidechain=True, agentId="a7"),
)
CODEX = lines(
    codex("session_meta", 0, id="c-1", cwd="/work/shop", cli_version="0.77.0", timestamp=time_at(0)),
    codex("turn_context", 1, cwd="/work/shop", model="gpt-5"),
    codex_message("user", "Fix the cart", 2),
    item("reasoning", 3, summary=[{"type": "summary_text", "text": "Look first."}], content=None),
    item("function_call", 4, name="shell", arguments='{"command": "cat cart.py"}', call_id="f1"),
    item("function_call_output", 5, call_id="f1", output="def total(): ..."),
    codex("compacted", 6, message="The cart was read."),
    codex_message("assistant", "It is read.", 7),
)
PI = lines(
    PI_HEAD,
    pi("user", [said("Fix the cart")], 1),
    pi(
        "assistant",
        [said("I read it."), {"type": "toolCall", "id": "k1", "name": "read", "arguments": {"path": "cart.py"}}],
        2,
        model="m-1",
        stopReason="toolUse",
        usage={"input": 5, "output": 7, "cacheRead": 100, "cacheWrite": 20},
    ),
    pi("toolResult", [said("def total(): ...")], 3, toolCallId="k1", toolName="read", isError=False),
    {"type": "compaction", "timestamp": time_at(4), "summary": "Read.", "firstKeptEntryIndex": 2, "tokensBefore": 900},
    pi("assistant", [], 5, stopReason="aborted"),
)
SWE = json.dumps(
    {
        "environment": "main",
        "trajectory": [
            {
                "action": "open cart.py",
                "observation": "[File: /repo/cart.py (9 lines total)]",
                "response": "I open it.\n```\nopen cart.py\n```",
                "thought": "I open it.",
                "state": '{"open_file": "/repo/cart.py", "working_dir": "/repo"}',
            },
            {
                "action": "cd src && ls",
                "observation": "shop\n",
                "response": "I look around.",
                "thought": "I look around.",
                "state": '{"open_file": "/repo/cart.py", "working_dir": "/repo/src"}',
            },
            {
                "action": "edit 1:1\nx\nend_of_edit",
                "observation": "It has introduced a syntax error. Your proposed edits have NOT been applied.",
                "response": "I edit.",
                "thought": "I edit.",
                "state": '{"open_file": "/repo/cart.py", "working_dir": "/repo/src"}',
            },
        ],
        "history": [
            {"role": "system", "content": "You work in a shell."},
            {"role": "user", "content": "Here is a demonstration: bug in marsh", "is_demo": True},
            {"role": "assistant", "content": "I look at marsh.", "is_demo": True},
            {"role": "user", "content": "ISSUE: the cart is wrong"},
            {"role": "assistant", "content": "I open it.\n```\nopen cart.py\n```"},
            {"role": "user", "content": "[File: /repo/cart.py (9 lines total)]"},
        ],
        "info": {"exit_status": "submitted"},
    }
).encode()
MINI = json.dumps(
    {
        "info": {"mini_version": "1.9.0", "config": {"model": {"model_name": "m"}}},
        "messages": [
            {"role": "system", "content": "You work in a shell."},
            {"role": "user", "content": "Fix the cart"},
            {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls -a\n```"},
            {"role": "user", "content": "<returncode>2</returncode>\n<output>\ncart.py\n</output>"},
        ],
        "trajectory_format": "mini-swe-agent-1",
    }
).encode()
OPENAI = json.dumps(
    [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Fix the cart"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "o1", "function": {"name": "read", "arguments": '{"path": "cart.py"}'}}],
        },
        {"role": "tool", "tool_call_id": "o1", "content": "def total(): ..."},
        {"role": "assistant", "content": "It is read."},
    ]
).encode()
ANTHROPIC = json.dumps(
    {
        "system": "You are an agent.",
        "model": "opus",
        "messages": [
            {"role": "user", "content": "Fix the cart"},
            {"role": "assistant", "content": [said("I read it."), use("n1", "read", path="cart.py")]},
            {"role": "user", "content": [result("n1", [said("def total(): ...")], is_error=False)]},
        ],
    },
    indent=1,
).encode()
ATIF = json.dumps(
    {
        "schema_version": "ATIF-v1.5",
        "session_id": "x-1",
        "agent": {"name": "harbor", "version": "1", "model_name": "m"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Fix the cart"},
            {
                "step_id": 2,
                "source": "agent",
                "message": [
                    said("I read it."),
                    {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
                ],
                "reasoning_content": "Look first.",
                "tool_calls": [{"tool_call_id": "x1", "function_name": "read", "arguments": {"path": "cart.py"}}],
                "observation": {"results": [{"source_call_id": "x1", "content": "def total(): ..."}]},
                "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4, "cost_usd": 0.1},
            },
        ],
    }
).encode()

# By the name of the format that each is recognised as.
SAMPLES = {
    "claude-code": CLAUDE,
    "codex": CODEX,
    "pi": PI,
    "swe-agent": SWE,
    "mini-swe-agent": MINI,
    "messages": OPENAI,
    "messages, Anthropic's": ANTHROPIC,
    "atif": ATIF,
}
