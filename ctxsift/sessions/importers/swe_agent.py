"""Trajectories of SWE-agent (one document, actions and observations) and of mini-SWE-agent (messages)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxsift.sessions.importers.base import Importer, Turn
from ctxsift.sessions.importers.messages import Messages, is_message
from ctxsift.sessions.importers.values import arguments_of, first_text, mapping, sequence, text, text_of, whole
from ctxsift.sessions.records import JsonValue, Source, ToolResult

# What SWE-agent adds to the shell; every other action is a command line.
_EDITING = {"open", "goto", "scroll_down", "scroll_up", "create", "edit", "insert", "append", "str_replace_editor"}
_COMMANDS = _EDITING | {"search_file", "search_dir", "find_file", "view_image", "submit"}
_REFUSED_EDIT = re.compile(r"edits? (?:has|have) NOT been applied")
_PROCESS_DONE = re.compile(r"///PROCESS-DONE:(-?\d{1,10}):PROCESS-DONE///\s*\Z")
_FENCE = re.compile(r"```(?:bash|mswea_bash_command|sh)\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(
    r"\s*(?:<exception>.{0,2000}?</exception>\s*)?<returncode>(-?\d{1,10})</returncode>", re.DOTALL
)


class SweAgent(Importer):
    """Read `.traj` files of SWE-agent: each entry of `trajectory` is a step; `history` has task and demonstration."""

    format = "swe-agent"

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for a document with a trajectory of actions, or with a history beside an empty one."""
        document = mapping(first[0]) if first else {}
        entries = document.get("trajectory")
        if not isinstance(entries, list):
            return False
        return "history" in document or any("action" in mapping(entry) for entry in entries[:5])

    def read(self, value: JsonValue) -> None:
        """Read the document."""
        document = mapping(value)
        info = mapping(document.get("info"))
        self.know(agent="SWE-agent", agent_version=first_text(info, "swe_agent_version", "swe_agent_hash"))
        entries = [mapping(entry) for entry in sequence(document.get("trajectory"))]
        self._before(sequence(document.get("history")), entries)
        folders = self._folders(entries)
        for entry, folder in zip(entries, folders, strict=True):
            if entry:
                self._entry(entry, folder)
            else:
                self.skip("entry of no fields")
        for key in document.keys() - {"trajectory", "history", "info"}:
            self.skip(f"key {key}")

    def _before(self, history: list[JsonValue], entries: list[dict[str, JsonValue]]) -> None:
        """Read what stood before the first action: system prompt, demonstration, task.

        The task is what was said last before it. What stands between the system prompt and the task is a worked
        example, whether it is marked as one or not.
        """
        said = {text(entries[0].get(key)).strip() for key in ("response", "thought", "action")} if entries else set()
        said.discard("")
        messages = list(map(mapping, history))

        def begins(message: dict[str, JsonValue]) -> bool:
            own = {text_of(message.get("content"), lambda _: None).strip(), text(message.get("thought")).strip()}
            return message.get("role") == "assistant" and not message.get("is_demo") and not said.isdisjoint(own)

        unmarked = [number for number, message in enumerate(messages) if begins(message)]
        until = unmarked[0] if unmarked else self._end_of_preface(messages)
        spoken = [number for number in range(until) if messages[number].get("role") == "user"]
        task = next((number for number in reversed(spoken) if not messages[number].get("is_demo")), -1)
        for number, message in enumerate(messages[:until]):
            content = text_of(message.get("content"), self.skip)
            if message.get("role") == "system" and not message.get("is_demo"):
                self.main.begin(Source.SYSTEM, content)
            elif number >= task and not message.get("is_demo"):
                self.main.begin(Source.USER, content)
            else:
                source = Source.AGENT if message.get("role") == "assistant" else Source.USER
                self.line("").begin(source, content)

    @staticmethod
    def _end_of_preface(messages: list[dict[str, JsonValue]]) -> int:
        """Return where the first message of the agent stands that is not marked as a demonstration's."""
        marks = (m.get("role") == "assistant" and not m.get("is_demo") for m in messages)
        return next((number for number, mark in enumerate(marks) if mark), len(messages))

    @staticmethod
    def _folders(entries: list[dict[str, JsonValue]]) -> list[str | None]:
        """Return the working folder before each action; by version, `state` is that before or that after it."""
        states = [arguments_of(entry.get("state")) for entry in entries]
        folders = [text(state.get("working_dir")) or None for state in states]
        for entry, state in zip(entries, states, strict=True):
            verb, _, rest = text(entry.get("action")).strip().partition(" ")
            if verb in ("open", "create") and rest and "open_file" in state:
                name = rest.split()[0].strip("\"'").removeprefix("./")
                after = text(state["open_file"]).endswith(name)
                return [folders[0], *folders[:-1]] if after else folders
        return folders

    def _entry(self, entry: dict[str, JsonValue], folder: str | None) -> None:
        turn = self.main.begin(Source.AGENT, first_text(entry, "thought", "response").strip())
        turn.folder = folder
        action, observation = text(entry.get("action")).strip(), text_of(entry.get("observation"), self.skip)
        if action:
            verb = action.split(None, 1)[0]
            self.main.call(turn, "", verb if verb in _COMMANDS else "bash", {"command": action})
        if action or observation:
            done = _PROCESS_DONE.search(observation)
            refused = True if _REFUSED_EDIT.search(observation) else None
            output = _PROCESS_DONE.sub("", observation)
            add_result(self, turn, output, int(done[1]) if done else None, is_error=refused)


def add_result(
    importer: Importer, turn: Turn, output: str, exit_code: int | None, *, is_error: bool | None = None
) -> None:
    """Add an observation to a step: to its first call without a result, or, where it has none, to the step itself."""
    if turn.waiting:
        importer.main.result(next(iter(turn.waiting)), output, exit_code, is_error=is_error)
    else:
        turn.results.append(ToolResult("", output, exit_code, is_error))


class MiniSweAgent(Messages):
    """Read trajectories of mini-SWE-agent, with commands in fences or calls and observations in user messages."""

    format = "mini-swe-agent"

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for a document that names the format, or a list whose observations have a return code."""
        value = first[0] if first else None
        document = mapping(value)
        if text(document.get("trajectory_format")).startswith("mini-swe-agent"):
            return True
        info = mapping(document.get("info"))
        listed = value if isinstance(value, list) else sequence(document.get("messages"))
        if not any(map(is_message, listed[:5])):
            return False
        said = (text(mapping(message).get("content")) for message in listed[:20])
        return "mini_version" in info or any(_RETURN_CODE.match(content) for content in said)

    def read(self, value: JsonValue) -> None:
        """Read the document."""
        info = mapping(mapping(value).get("info"))
        model = mapping(mapping(info.get("config")).get("model"))
        self.know(
            agent="mini-SWE-agent",
            agent_version=text(info.get("mini_version")),
            model=text(model.get("model_name")),
            folder=text(mapping(mapping(info.get("config")).get("environment")).get("cwd")),
        )
        super().read(value)

    def message(self, message: dict[str, JsonValue]) -> None:
        """Read a message; what the program says at the end is the system's."""
        if message.get("role") == "exit":
            self.main.begin(Source.SYSTEM, text_of(message.get("content"), self.skip))
        else:
            super().message(message)

    def said(self, message: dict[str, JsonValue], source: Source) -> None:
        """Read an observation where the agent waits for one; after it began, no user speaks."""
        last = self.main.last_of_agent()
        output = text_of(message.get("content"), self.skip)
        if last is not None and last.waiting:
            add_result(self, last, output, self._exit_code(message, output))
        else:
            self.main.begin(source if last is None else Source.SYSTEM, output)

    def result(self, message: dict[str, JsonValue]) -> None:
        """Read an observation of a version that uses calls."""
        output = text_of(message.get("content"), self.skip)
        call_id, exit_code = text(message.get("tool_call_id")), self._exit_code(message, output)
        if self.main.result(call_id, output, exit_code) is None:
            self.skip("result without its call")

    @staticmethod
    def _exit_code(message: dict[str, JsonValue], output: str) -> int | None:
        told = whole(mapping(message.get("extra")).get("returncode"))
        if told is None and (stated := _RETURN_CODE.match(output)):
            told = int(stated[1])
        return told

    def assistant(self, message: dict[str, JsonValue]) -> Turn:
        """Read a turn of the model; without calls, the file tells what ran, or the command stands in a fence."""
        turn = super().assistant(message)
        extra = mapping(message.get("extra"))
        turn.usage = turn.usage or self.usage(mapping(mapping(extra.get("response")).get("usage")))
        if not turn.calls:
            ran = [text(mapping(action).get("command")) for action in sequence(extra.get("actions"))]
            fenced = _FENCE.findall("\n".join(turn.texts))
            for command in ran or (fenced if len(fenced) == 1 else ()):
                self.main.call(turn, "", "bash", {"command": command.strip()})
        return turn
