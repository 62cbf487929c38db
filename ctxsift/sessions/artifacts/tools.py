"""The tools of coding agents: what each call does with files, by the shape of its arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from ctxsift.sessions.artifacts.command_log import CommandLog
from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.outcomes import CallEnd, Ending, ending, key_line
from ctxsift.sessions.artifacts.patches import BEGIN, apply_patch, change
from ctxsift.sessions.artifacts.paths import resolve, shown
from ctxsift.sessions.artifacts.shell_calls import ShellCalls
from ctxsift.sessions.artifacts.versions import Before

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.sessions.records import JsonValue, ToolCall, ToolResult

# Keys under which tools have the same thing.
_PATH = (
    "path", "file_path", "filePath", "filepath", "file", "filename", "notebook_path", "target_file", "absolute_path"
)  # fmt: skip
_CONTENT = ("content", "contents", "file_text", "text", "new_source", "code_edit")
_OLD = ("old_string", "oldText", "old_str", "oldString", "old_text", "old", "search")
_NEW = ("new_string", "newText", "new_str", "newString", "new_text", "new", "replace")
_COMMAND = ("command", "cmd", "script", "keystrokes", "input")
_FOLDER = ("workdir", "cwd", "working_directory", "directory", "dir_path")
# Codex tells it above what a command printed until then.
_GOING_ON = re.compile(r"^Process running with session ID (\d{1,20})$", re.MULTILINE)
# What is typed into a terminal and runs nothing: to wait, to end a program, to answer it.
_KEY = re.compile(r"(?:[CM]-.|Enter|Escape|Tab|Space|Up|Down|Left|Right|BSpace|PageUp|PageDown|.)?")
# Shells that keep their folder from call to call.
_KEEPING = frozenset({"Bash", "execute_bash", "cmd_run", "terminal"})
_FAILED = re.compile(
    r"<tool_use_error>|have NOT been applied|No replacement was performed"
    r"|(?:String to replace|text|string) (?:was )?not found"
    r"|^(?:ERROR|Error|error)\b|Could not find|ENOENT|No such file|File (?:not found|does not exist)"
    r"|did not appear verbatim"
    r"|No match(?:es)? found for|verification failed|Invalid (?:Context|patch)|Failed to (?:find|apply)"
    r"|matches of the string|^Invalid `\w+` parameter",
)
_CREATED = re.compile(
    r"created successfully|New file|Created (?:new )?file|created a new file|has been created", re.IGNORECASE
)
_UPDATED = re.compile(r"has been (?:updated|overwritten)|overwr(?:ote|itten)|updated successfully", re.IGNORECASE)
_MISSING = re.compile(r"ENOENT|No such file|(?:File|Path|path) .{0,300}(?:not found|does not exist)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call with its result, as the tools below see it."""

    name: str
    arguments: Mapping[str, JsonValue]
    result: ToolResult
    ended: CallEnd
    folder: str

    def text(self, keys: tuple[str, ...]) -> str | None:
        """Return the first of these arguments that is a text."""
        return next((value for key in keys if isinstance(value := self.arguments.get(key), str)), None)

    @property
    def path(self) -> str:
        """The file it names, resolved; empty where there is none."""
        named = self.text(_PATH)
        return resolve(named, self.folder) if named else ""

    @property
    def failed(self) -> bool:
        """Whether it failed: by what the file says, else by how its result begins."""
        if self.result.is_error is not None:
            return self.result.is_error
        return bool(_FAILED.search(self.result.text[:600])) or bool(self.ended.code)


@dataclass(slots=True)
class Tools:
    """Reads tool calls, one after the other.

    Attributes:
        keeps_folder: whether the shell keeps its folder from call to call; None: judged by the tool's name.

    """

    ledger: Ledger
    log: CommandLog
    shell: ShellCalls
    keeps_folder: bool | None = None
    _kept: str = ""
    _given: str = ""
    _running: str = ""

    def read(self, call: ToolCall, result: ToolResult, folder: str) -> None:
        """Take down one call that has a result."""
        ended = ending(result)
        if ended.ending is Ending.REFUSED:
            return
        arguments = call.arguments
        if set(arguments) == {"command"} and call.name.endswith("editor"):
            # SWE-agent writes the call as a command line.
            arguments = _from_line(str(arguments["command"]))
        one = _Call(call.name, arguments, result, ended, folder)
        if tool := _tool_of(one):
            tool(self, one)

    # Shells

    def run(self, call: _Call) -> None:
        """Tools that run a command line."""
        command, folder = _command_line(call), self._shell_folder(call)
        if "keystrokes" in call.arguments and _KEY.fullmatch(command.strip()):
            self.shell.later(call.result.text, call.ended[1])
            return
        if BEGIN in command and not re.search(r"<<", command):
            self.patch(call)
            return
        text = call.result.text
        ended = call.ended
        after = self.shell.read(command, text, ended, folder)
        going_on = _GOING_ON.search(call.result.text[:400])
        self._running = going_on[1] if going_on else ""
        keeps = (
            call.name in _KEEPING or "keystrokes" in call.arguments if self.keeps_folder is None else self.keeps_folder
        )
        if keeps:
            self._kept = after if ended.ending is not Ending.ABORTED else self._kept
            if "Shell cwd was reset" in text:
                self._kept = call.folder

    def type_in(self, call: _Call) -> None:
        """`write_stdin` of Codex: what a command that was still running printed since."""
        if self._running and self._running == str(call.arguments.get("session_id")):
            self.shell.later(call.result.text, call.ended[1] if call.result.exit_code is not None else None)

    def _shell_folder(self, call: _Call) -> str:
        """Return where a command runs: the folder it asks for, else the file's, else where the last one ended."""
        asked = call.text(_FOLDER)
        if asked:
            return resolve(asked, call.folder)
        if call.folder != self._given:
            # Some files tell the folder after the step: a change of folder that this very command makes.
            previous, self._given = self._kept or self._given, call.folder
            step = re.match(r"\s*cd\s+([^\s;&|]+)", _command_line(call))
            if step and previous and resolve(step[1], previous) == call.folder:
                return previous
            self._kept = call.folder
        return self._kept or call.folder

    # Files

    def view(self, call: _Call) -> None:
        """Tools that show a file."""
        if re.search(r"files and directories up to \d+ levels|^- /|EISDIR", call.result.text[:300], re.MULTILINE):
            return
        window = {
            key: call.arguments[key]
            for key in ("offset", "limit", "view_range", "line_start")
            if call.arguments.get(key)
        }
        self.ledger.read(call.path, " ".join(f"{key} {value}" for key, value in window.items()))

    def write(self, call: _Call) -> None:
        """Tools that write a whole file."""
        text, told = call.text(_CONTENT), call.result.text[:600]
        before = Before.MISSING if _CREATED.search(told) else Before.THERE if _UPDATED.search(told) else Before.UNKNOWN
        if call.arguments.get("command") == "create":
            before = Before.MISSING
        lines = len((text or "").splitlines())
        self.ledger.write(call.path, text, f"{lines} line{'' if lines == 1 else 's'}", before=before)

    def edit(self, call: _Call) -> None:
        """Tools that replace text in a file, once or several times."""
        edits = call.arguments.get("edits")
        for each in edits if isinstance(edits, list) else [call.arguments]:
            if isinstance(each, Mapping):
                self._edit_one(call, each)

    def _edit_one(self, call: _Call, arguments: Mapping[str, JsonValue]) -> None:
        one = _Call(call.name, arguments, call.result, call.ended, call.folder)
        old, new = one.text(_OLD), one.text(_NEW)
        content = one.text(_CONTENT)
        if old is None and new is None and content is None:
            self.ledger.edit(call.path, call.name)
            return
        old, new = old or "", new if new is not None else content or ""
        if not old and self.ledger.exists(call.path) is not True and _CREATED.search(call.result.text[:600]):
            self.ledger.write(call.path, new, change(old, new), before=Before.MISSING)
            return
        everywhere = bool(arguments.get("replace_all"))
        self.ledger.edit(call.path, change(old, new), old=old, new=new, everywhere=everywhere)

    def patch(self, call: _Call) -> None:
        """`apply_patch` of Codex."""
        values = [each for value in call.arguments.values() for each in (value if isinstance(value, list) else [value])]
        text = next((each for each in values if isinstance(each, str) and BEGIN in each), "")
        apply_patch(self.ledger, text, call.folder)

    def search(self, call: _Call) -> None:
        """`Grep`: a file that is named was searched; those that it prints are there."""
        if call.failed:
            return
        if call.path and re.search(r"[^/.]\.\w{1,12}$", call.path) and not self.ledger.children(call.path):
            self.ledger.read(call.path, f"search {call.arguments.get('pattern', '')}", part=True)
        self.listing(call)

    def listing(self, call: _Call) -> None:
        """`Glob`, `LS`, `find`: what is printed is there."""
        for line in call.result.text.split("\n")[:2000]:
            match = re.match(r"\s*(?:- )?([\w./@+~-]*[\w@+-]\.\w{1,12})(?:(:\d+)|$)", line[:1000])
            if match and ("/" in match[1] or call.name.lower() in ("find", "glob")):
                path = resolve(match[1], call.folder if "/" in match[1] else call.path or call.folder)
                if match[2]:
                    self.ledger.read(path, "found by a search", part=True)
                else:
                    self.ledger.see(path)

    def refused(self, call: _Call) -> None:
        """Tools that changed nothing, and say why."""
        if call.path and _MISSING.search(call.result.text):
            self.ledger.missing(call.path)
        if call.ended.ending is Ending.RUN:
            named = shown(call.path, self.ledger.folder)
            text = re.sub(r"</?tool_use_error>", "", call.result.text).strip()
            first = text.partition("\n")[0]
            # Below its own words an editor quotes what it was given, in which errors may be handled.
            self.log.fail(f"{call.name} {named}".strip(), first if _FAILED.search(first) else key_line(text))


Tool = Callable[[Tools, _Call], None]
# Tools whose arguments do not tell what they do, by name.
_NAMED: tuple[tuple[re.Pattern[str], Tool], ...] = (
    (re.compile(r"write_stdin"), Tools.type_in),
    (re.compile(r"grep\w*|search_file\w*"), Tools.search),
    (re.compile(r"glob|ls|find|list_dir\w*"), Tools.listing),
    (re.compile(r"\w{0,20}(?:shell|bash|exec|terminal)(?:_\w+)?|sh"), Tools.run),
)
_VIEW, _EDIT = re.compile(r"read|view|open|cat", re.IGNORECASE), re.compile(r"edit|replace|insert", re.IGNORECASE)


def _tool_of(call: _Call) -> Tool | None:
    """Return what to do with a call, by the shape of its arguments; None where they tell nothing."""
    short = call.name.rpartition("__")[2].rpartition(".")[2]
    if tool := next((tool for name, tool in _NAMED if name.fullmatch(short.lower())), None):
        return tool
    if call.path:
        tool = _on_file(call, short)
    elif any(isinstance(call.arguments.get(key), str | list) for key in ("command", "cmd", "keystrokes")):
        return Tools.run
    else:
        tool = Tools.patch if any(isinstance(each, str) and BEGIN in each for each in call.arguments.values()) else None
    return Tools.refused if tool and (call.failed or call.ended.code) else tool


def _on_file(call: _Call, short: str) -> Tool | None:
    command = call.arguments.get("command")
    replaces = call.text(_OLD) is not None and call.text(_NEW) is not None
    if command == "view" or (command is None and _VIEW.search(short) and not replaces):
        return Tools.view
    if command != "create" and (command or replaces or _EDIT.search(short)):
        return Tools.edit
    return Tools.write if call.text(_CONTENT) is not None else None


def _from_line(line: str) -> dict[str, JsonValue]:
    """Return the arguments of `str_replace_editor str_replace PATH --old_str ...` as a mapping."""
    try:
        words = shlex.split(line)
    except ValueError:
        return {}
    named: dict[str, JsonValue] = dict(zip(("command", "path"), words[1:3], strict=False))
    return named | {key[2:]: value for key, value in pairwise(words[3:]) if key.startswith("--")}


def _command_line(call: _Call) -> str:
    """Return the command of a shell call as source; a list is an argument vector, `bash -lc` taken off."""
    value = next((call.arguments[key] for key in (*_COMMAND, "action") if call.arguments.get(key)), "")
    if isinstance(value, Mapping):
        value = value.get("command") or ""
    if isinstance(value, list):
        words = [word for word in value if isinstance(word, str)]
        if len(words) > 2 and words[0].rpartition("/")[2] in ("bash", "sh", "zsh") and words[1] in ("-lc", "-c", "-l"):
            return words[2]
        return shlex.join(words)
    return value if isinstance(value, str) else ""
