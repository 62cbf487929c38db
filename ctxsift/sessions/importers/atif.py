"""The Agent Trajectory Interchange Format (ATIF 1.x): one JSON document; also what CtxSift itself writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxsift.sessions.importers.base import AgentLine, Importer, Turn
from ctxsift.sessions.importers.terminal import KEYSTROKES, divided, folders, raw_turn
from ctxsift.sessions.importers.values import (
    arguments_of,
    count,
    flag,
    mapping,
    sequence,
    text,
    text_of,
    whole,
)
from ctxsift.sessions.records import JsonValue, Source, StepEnding, TokenUsage, ToolResult

# Under this key of an `extra`, CtxSift keeps what ATIF has no place for.
OWN = "ctxsift"
_HEAD_KEYS = ("folder", "started", "title")
# What is read, by where it stands; every other key is counted.
_KEYS = {
    "": {"schema_version", "session_id", "trajectory_id", "agent", "steps", "extra", "subagent_trajectories"}
    | {"final_metrics"},
    "agent": {"name", "version", "model_name", "extra"},
    "steps": {"step_id", "timestamp", "source", "model_name", "message", "reasoning_content", "tool_calls"}
    | {"observation", "metrics", "extra", "is_copied_context"},
    "tool_calls": {"tool_call_id", "function_name", "arguments"},
    "results": {"source_call_id", "content", "extra"},
    "metrics": {"prompt_tokens", "completion_tokens", "cached_tokens"},
}


def own_of(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what CtxSift keeps in the `extra` of an object."""
    return mapping(mapping(fields.get("extra")).get(OWN))


class Atif(Importer):
    """Read a trajectory in ATIF 1.x, including its subagents."""

    format = "atif"

    def __init__(self) -> None:
        super().__init__()
        self._branches: list[list[int]] = []
        # Where a terminal is, as its last prompt told.
        self._folder = ""
        self._is_own = False

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for a document that names a version of ATIF, or has its steps and its agent."""
        document = mapping(first[0]) if first else {}
        steps = document.get("steps")
        named = text(document.get("schema_version")).upper().startswith("ATIF")
        return isinstance(steps, list) and (named or "name" in mapping(document.get("agent")))

    def read(self, value: JsonValue) -> None:
        """Read the document."""
        document = mapping(value)
        agent, own = mapping(document.get("agent")), own_of(document)
        self._is_own = bool(own)
        self._count_unknown("", document)
        self._count_unknown("agent", agent)
        self.know(
            session_id=text(document.get("session_id")),
            agent=text(agent.get("name")),
            agent_version=text(agent.get("version")),
            model=text(agent.get("model_name")),
            **{key: text(own.get(key)) for key in _HEAD_KEYS},
            is_subagent=own.get("is_subagent") is True,
        )
        self._steps(self.main, document.get("steps"))
        self._steps(self.line(""), own.get("demonstration"))
        for number, each in enumerate(sequence(document.get("subagent_trajectories")), 1):
            subagent = mapping(each)
            self._count_unknown("", subagent)
            self._steps(self.line(text(subagent.get("trajectory_id")) or f"subagent-{number}"), subagent.get("steps"))
        for each in sequence(own.get("compactions")):
            fields = mapping(each)
            after = min(count(fields.get("after_step")), self.main.number)
            kept, tokens = whole(fields.get("first_kept_step")), whole(fields.get("tokens_before"))
            self.compact(text(fields.get("summary")), kept, tokens, after_step=after)

    def taken_back(self) -> Iterable[tuple[int, ...]]:
        """Return the steps that are marked, those in a row together."""
        return map(tuple, self._branches)

    def _count_unknown(self, place: str, fields: dict[str, JsonValue]) -> None:
        for key in fields.keys() - _KEYS[place]:
            if fields[key] is not None:
                self.skip(f"key {place}.{key}" if place else f"key {key}")

    def _steps(self, line: AgentLine, steps: JsonValue) -> None:
        for each in sequence(steps):
            step = mapping(each)
            source = text(step.get("source"))
            if source not in tuple(Source):
                self.skip(f"step of source {source}" if source else "step without a source")
                continue
            self._count_unknown("steps", step)
            self._step(line, step, Source(source))

    def _step(self, line: AgentLine, step: dict[str, JsonValue], source: Source) -> None:
        own = own_of(step)
        turn = line.begin(
            source, text_of(step.get("message"), self.skip), step.get("timestamp") or own.get("timestamp")
        )
        turn.reasoning += [text(step.get("reasoning_content")), text(own.get("reasoning"))]
        turn.model = text(step.get("model_name")) or text(own.get("model")) or None
        turn.folder = text(own.get("folder")) or None
        turn.copied = step.get("is_copied_context") is True
        if line is self.main and own.get("taken_back") is True:
            if not self._branches or self._branches[-1][-1] != turn.step_id - 1:
                self._branches.append([])
            self._branches[-1].append(turn.step_id)
        ending = text(own.get("ending"))
        turn.ending = StepEnding(ending) if ending in tuple(StepEnding) else StepEnding.COMPLETE
        metrics = mapping(step.get("metrics"))
        if metrics:
            self._count_unknown("metrics", metrics)
            names = ("prompt_tokens", "completion_tokens", "cached_tokens")
            turn.usage = TokenUsage(*map(count, map(metrics.get, names)))
        for each in sequence(step.get("tool_calls")):
            call = mapping(each)
            self._count_unknown("tool_calls", call)
            name, arguments = text(call.get("function_name")), arguments_of(call.get("arguments"))
            line.call(turn, text(call.get("tool_call_id")), name, arguments)
        if source is Source.AGENT and not turn.calls and (raw := raw_turn(turn.texts[0])):
            turn.texts = [raw[0]]
            for arguments in raw[1]:
                line.call(turn, "", "bash_command", arguments)
        results = list(map(mapping, sequence(mapping(step.get("observation")).get("results"))))
        self._results(line, turn, results)
        # A trajectory is written when all is over: no result will come.
        turn.waiting.clear()

    def _results(self, line: AgentLine, turn: Turn, results: list[dict[str, JsonValue]]) -> None:
        """Add what came back. A result that names no call answers the first that waits; a screen, all of them."""
        typed = [text(each.arguments[KEYSTROKES]) for each in turn.calls if KEYSTROKES in each.arguments]
        if typed:
            screens = [text_of(each.get("content"), self.skip) for each in results]
            before, after = folders("\n".join(screens))
            turn.folder = turn.folder or before or self._folder or None
            self._folder = after or self._folder
        if len(typed) > 1 and len(results) == 1 and not results[0].get("source_call_id"):
            results = [{**results[0], "content": shown} for shown in divided(typed, screens[0])]
        for each in results:
            self._result(line, turn, each)

    def _result(self, line: AgentLine, turn: Turn, result: dict[str, JsonValue]) -> None:
        self._count_unknown("results", result)
        own = own_of(result)
        output = text_of(result.get("content"), self.skip)
        exit_code, is_error = whole(own.get("exit_code")), flag(own.get("is_error"))
        call_id = text(result.get("source_call_id"))
        # What CtxSift wrote names every call that it knows.
        answers = call_id or (turn.waiting and not self._is_own)
        if not answers or line.result(call_id, output, exit_code, is_error=is_error) is None:
            turn.results.append(ToolResult("", output, exit_code, is_error))
