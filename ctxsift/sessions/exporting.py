"""Sessions as trajectories of ATIF 1.8; what it has no place for stands in its `extra`, under `ctxsift`."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from ctxsift.sessions.importers.atif import OWN
from ctxsift.sessions.records import Session, SessionHead, Source, Step, StepEnding, TokenUsage, ToolResult

SCHEMA_VERSION = "ATIF-v1.8"


def as_atif(session: Session) -> dict[str, Any]:
    """Return a session as an ATIF document, ready for JSON."""
    head = session.head
    own = _filled({"format": head.format, "folder": head.folder, "started": head.started, "title": head.title})
    if head.is_subagent:
        own["is_subagent"] = True
    if session.compactions:
        own["compactions"] = [_filled(dataclasses.asdict(each)) for each in session.compactions]
    if session.demonstration:
        own["demonstration"] = [step_as_atif(step) for step in session.demonstration]
    for name in ("skipped", "redacted"):
        if counts := getattr(session, name):
            own[name] = dict(counts)
    document = _document(head, session.steps) | {"extra": {OWN: own}}
    if head.session_id:
        document["session_id"] = head.session_id
    if session.subagents:
        document["subagent_trajectories"] = [
            _document(head, each.steps) | {"trajectory_id": each.head.session_id} for each in session.subagents
        ]
    return document


def _document(head: SessionHead, steps: Iterable[Step]) -> dict[str, Any]:
    agent = {"name": head.agent, "version": head.agent_version}
    listed = [step_as_atif(step) for step in steps]
    return {
        "schema_version": SCHEMA_VERSION,
        "agent": agent | ({"model_name": head.model} if head.model else {}),
        "steps": listed,
        "final_metrics": _totals(steps),
    }


def _totals(steps: Iterable[Step]) -> dict[str, Any]:
    counted = [step.usage for step in steps if step.usage is not None]
    totals = {f"total_{name}": sum(getattr(usage, name) for usage in counted) for name in _names(TokenUsage)}
    return totals | {"total_steps": sum(1 for _ in steps)}


def _names(kind: type) -> list[str]:
    return [each.name for each in dataclasses.fields(kind)]


def step_as_atif(step: Step) -> dict[str, Any]:
    """Return a step as an ATIF step, ready for JSON."""
    made: dict[str, Any] = {"step_id": step.step_id, "source": str(step.source), "message": step.message}
    # What the format has no field for, or only one of agents.
    own: dict[str, Any] = {"folder": step.folder, "taken_back": step.taken_back or None}
    (made if _is_iso(step.timestamp) else own)["timestamp"] = step.timestamp
    if step.source is Source.AGENT:
        usage = step.usage and dataclasses.asdict(step.usage)
        made |= {"model_name": step.model, "reasoning_content": step.reasoning, "metrics": usage}
    else:
        own |= {"model": step.model, "reasoning": step.reasoning}
    if step.calls:
        made["tool_calls"] = [
            {"tool_call_id": call.call_id, "function_name": call.name, "arguments": dict(call.arguments)}
            for call in step.calls
        ]
    if step.results:
        called = {call.call_id for call in step.calls}
        made["observation"] = {"results": [_result(result, called) for result in step.results]}
    if step.copied:
        made["is_copied_context"] = True
    if step.ending is not StepEnding.COMPLETE:
        own["ending"] = str(step.ending)
    made, own = _filled(made) | {"message": step.message}, _filled(own)
    return made | ({"extra": {OWN: own}} if own else {})


def _result(result: ToolResult, called: set[str]) -> dict[str, Any]:
    own = _filled({"exit_code": result.exit_code, "is_error": result.is_error})
    made: dict[str, Any] = {"content": result.text}
    if result.call_id in called:
        made["source_call_id"] = result.call_id
    return made | ({"extra": {OWN: own}} if own else {})


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != ""}


def _is_iso(timestamp: str | None) -> bool:
    try:
        datetime.datetime.fromisoformat((timestamp or "").replace("Z", "+00:00"))
    except ValueError:
        return False
    return True
