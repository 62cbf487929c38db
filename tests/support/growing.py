"""Sessions of any length, each of one kind of thing over and over, as bytes of a file in each format that is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Writer = Callable[[int], bytes]


def _record(**fields: Any) -> dict[str, Any]:
    return {"sessionId": "s", "timestamp": "2026-11-27T10:00:00Z", "cwd": "/work", "version": "2.0.0", **fields}


def _user(name: str, content: Any, **fields: Any) -> dict[str, Any]:
    return _record(uuid=name, type="user", message={"role": "user", "content": content}, **fields)


def _agent(name: str, *blocks: Any, message: str = "", **fields: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": list(blocks), "id": message or f"m-{name}"}
    return _record(uuid=name, type="assistant", message=said, **fields)


def _use(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def _result(call_id: str, output: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": output}


def _lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in (_user("u0", "Begin."), *records))


def _each(calls: Callable[[int], tuple[dict[str, Any], str]]) -> Writer:
    """Return a writer of a session of Claude Code with one call in each step."""

    def records(count: int) -> Iterator[dict[str, Any]]:
        for number in range(count):
            use, output = calls(number)
            yield _agent(f"a{number}", use)
            yield _user(f"r{number}", [_result(use["id"], output)])

    return lambda count: _lines(records(count))


def _one_step(count: int) -> bytes:
    """Return a session whose only step has all calls; their results come from the last one on."""
    calls = (_agent(f"a{number}", _use(f"t{number}", "Bash", command="ls"), message="m") for number in range(count))
    results = (_user(f"r{number}", [_result(f"t{number}", "a.py")]) for number in reversed(range(count)))
    return _lines([*calls, *results])


def _sidechains(count: int, *, named: bool) -> bytes:
    records = []
    for number in range(count):
        fields: dict[str, Any] = {"isSidechain": True, **({"agentId": f"a{number}"} if named else {})}
        records += [
            _user(f"v{number}", "Look.", **fields),
            _agent(f"w{number}", {"type": "text", "text": "Done."}, parentUuid=f"v{number}", **fields),
        ]
    return _lines(records)


def _went_back(count: int) -> bytes:
    return _lines(_user(f"p{number}", f"Try {number}.", parentUuid="u0") for number in range(count))


def _one_command(unit: str, after: str = "", *, before: str = "") -> Writer:
    """Return a writer of a session with one command line of so many characters."""
    return lambda size: _each(lambda _: (_use("t", "Bash", command=before + unit * (size // len(unit)) + after), "ok"))(
        1
    )


def _nested(opening: str, closing: str) -> Writer:
    def write(size: int) -> bytes:
        times = size // len(opening + closing)
        return _each(lambda _: (_use("t", "Bash", command=f"echo {opening * times}x{closing * times}"), "ok"))(1)

    return write


def _codex(count: int) -> bytes:
    items: list[dict[str, Any]] = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/work"}}]
    for number in range(count):
        call = {"type": "function_call", "call_id": f"c{number}", "name": "shell", "arguments": '{"command": ["ls"]}'}
        output = {"type": "function_call_output", "call_id": f"c{number}", "output": "a.py"}
        items += [{"type": "response_item", "payload": each} for each in (call, output)]
    return b"".join(json.dumps({"timestamp": "2026-11-27T10:00:00Z", **item}).encode() + b"\n" for item in items)


def _messages(count: int) -> bytes:
    """Return a list of messages, one of which has all calls."""
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
        for number in range(count)
    ]
    results = [{"role": "tool", "tool_call_id": f"c{number}", "content": "a.py"} for number in range(count)]
    asked = {"role": "user", "content": "Begin."}
    return json.dumps([asked, {"role": "assistant", "content": "", "tool_calls": calls}, *results]).encode()


def _atif(count: int) -> bytes:
    steps = [
        {
            "step_id": number + 1,
            "source": "agent",
            "message": "On.",
            "tool_calls": [{"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": "ls"}}],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": "a.py"}]},
        }
        for number in range(count)
    ]
    agent = {"name": "agent", "version": "1"}
    return json.dumps({"schema_version": "ATIF-v1.4", "session_id": "s", "agent": agent, "steps": steps}).encode()


def _edit(number: int) -> tuple[dict[str, Any], str]:
    change = {"old_string": f"x = {number}", "new_string": f"x = {number + 1}"}
    return _use(f"t{number}", "Edit", file_path="/work/a.py", **change), "The file has been updated."


def _write(number: int) -> tuple[dict[str, Any], str]:
    return _use(f"t{number}", "Write", file_path=f"/work/d{number % 97}/f{number}.py", content="x = 1\n"), "created"


def _talk(count: int) -> bytes:
    return _lines(
        record
        for number in range(count)
        for record in (
            _user(f"u{number + 1}", f"Set the limit of thing{number} to {number}; leave src/m{number}.py as it is."),
            _agent(f"a{number}", {"type": "text", "text": f"The limit is {number} now, in src/m{number}.py."}),
        )
    )


# Each kind: how much of it is a small session, and what writes so much of it. Steps and calls, then characters.
KINDS: Mapping[str, tuple[int, Writer]] = {
    "calls without an id": (1500, _each(lambda number: (_use("", "Bash", command=f"echo {number}"), f"{number}"))),
    "one step with all calls": (4000, _one_step),
    "subagents": (1500, lambda count: _sidechains(count, named=True)),
    "sidechains without a name": (1500, lambda count: _sidechains(count, named=False)),
    "prompts that took back others": (2500, _went_back),
    "damaged lines": (40_000, lambda count: _lines(()) + b'{"type":\n' * count),
    "short lines": (40_000, lambda count: _lines(()) + b"{}\n" * count),
    "one file edited": (1500, _each(_edit)),
    "files written": (1500, _each(_write)),
    "talk": (400, _talk),
    "calls of Codex": (2500, _codex),
    "a message with all calls": (6000, _messages),
    "steps of ATIF": (3000, _atif),
    "a pipeline": (30_000, _one_command("cat x | ", "wc")),
    "a chain": (30_000, _one_command("cd a && ", "touch x")),
    "a chain of alternatives": (30_000, _one_command("cd a || ", "touch x")),
    "files removed": (30_000, _one_command("rm -f *.py a.py\n")),
    "a path of many folders": (60_000, _one_command("a/", "b.py", before="touch ")),
    "a long word": (400_000, _one_command("a")),
    "substitutions in each other": (60_000, _nested("$(echo ", ")")),
    "groups in each other": (60_000, _nested("(", ")")),
    "braces in each other": (60_000, _nested("{a,", "}")),
}
