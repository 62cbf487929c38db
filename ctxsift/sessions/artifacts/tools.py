"""The tools of coding agents, by name: what each call does with files; unknown tools by the shape of arguments."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from ctxsift.sessions.artifacts.command_log import CommandLog
from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.outcomes import CallEnd, Ending, ending, key_line
from ctxsift.sessions.artifacts.patches import BEGIN, apply_patch, change
from ctxsift.sessions.artifacts.paths import resolve, shown
from ctxsift.sessions.artifacts.shell_calls import ShellCalls
from ctxsift.sessions.artifacts.versions import Before, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.sessions.records import JsonValue, ToolCall, ToolResult

# Keys under which tools have the same thing.
_PATH = (
    "path",
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "notebook_path",
    "target_file",
    "absolute_path",
)
_CONTENT = ("content", "contents", "file_text", "text", "new_source", "code_edit")
_OLD = ("old_string", "oldText", "old_str", "oldString", "old_text", "old", "search")
_NEW = ("new_string", "newText", "new_str", "newString", "new_text", "new", "replace")
_COMMAND = ("command", "cmd", "script", "keystrokes", "input")
_FOLDER = ("workdir", "cwd", "working_directory", "directory", "dir_path")
_MOST_UNDONE = 200
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
    _undo: dict[str, list[Version | None]] = field(default_factory=dict)

    def read(self, call: ToolCall, result: ToolResult, folder: str) -> None:
        """Take down one call that has a result."""
        ended = ending(result)
        if ended.ending is Ending.REFUSED:
            return
        arguments = call.arguments
        if set(arguments) == {"command"} and call.name in _EDITORS:
            # SWE-agent writes the call as a command line.
            arguments = _from_line(str(arguments["command"]))
        one = _Call(call.name, arguments, result, ended, folder)
        if set(arguments) == {"command"}:
            self.run(one)
            return
        short = call.name.rpartition("__")[2].rpartition(".")[2]
        tool = _TABLE.get(short) or _TABLE.get(short.lower()) or _by_shape(one)
        if tool is not None:
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
        if text.startswith("{") and (told := _codex_output(text)) is not None:
            text, code = told
            if code is not None and (ended.code is None or not ended.is_stated):
                ended = CallEnd(ended.ending, code)
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
        if not call.path:
            return
        if call.failed:
            if _MISSING.search(call.result.text):
                self.ledger.missing(call.path)
            self._fail(call)
            return
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
        if not call.path:
            return
        if call.failed:
            self._fail(call)
            return
        text, told = call.text(_CONTENT), call.result.text[:600]
        before = Before.MISSING if _CREATED.search(told) else Before.THERE if _UPDATED.search(told) else Before.UNKNOWN
        lines = len((text or "").splitlines())
        detail = f"{lines} line{'' if lines == 1 else 's'}"
        self.ledger.write(call.path, text, detail, before=before)

    def edit(self, call: _Call) -> None:
        """Tools that replace text in a file, once or several times."""
        if not call.path:
            return
        if call.failed:
            self._fail(call)
            return
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

    def editor(self, call: _Call) -> None:
        """`str_replace_editor` and its like: the argument `command` says what to do."""
        command = call.arguments.get("command")
        if command == "view":
            self.view(call)
            return
        if not call.path:
            return
        if call.failed:
            self._fail(call)
            return
        file = self.ledger.files.get(call.path)
        versions = self._undo.setdefault(call.path, [])
        if len(self._undo) > _MOST_UNDONE:
            self._undo.pop(next(iter(self._undo)))
        if command == "undo_edit":
            if versions and file:
                self.ledger.restore(file, versions.pop(), "undo_edit")
            return
        versions.append(file.work if file else None)
        del versions[:-20]
        if command == "create":
            self.ledger.write(call.path, call.text(_CONTENT), "new file", before=Before.MISSING)
        else:
            self.edit(call)
            if file is None and (made := self.ledger.files.get(call.path)):
                versions[-1] = made.start

    def patch(self, call: _Call) -> None:
        """`apply_patch` of Codex."""
        if call.failed or call.ended.code:
            self._fail(call)
            return
        values = [each for value in call.arguments.values() for each in (value if isinstance(value, list) else [value])]
        text = next((each for each in values if isinstance(each, str) and BEGIN in each), "")
        apply_patch(self.ledger, text, call.folder)

    def delete(self, call: _Call) -> None:
        """Tools that remove a file."""
        if call.path and not call.failed:
            self.ledger.delete(call.path, call.name)

    def move(self, call: _Call) -> None:
        """Tools that rename a file."""
        source = call.text(("source", "source_path", "from", "old_path"))
        target = call.text(("destination", "destination_path", "to", "new_path", "target"))
        if source and target and not call.failed:
            self.ledger.move(resolve(source, call.folder), resolve(target, call.folder))

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
            if match and not call.failed and ("/" in match[1] or call.name in ("Glob", "find", "glob")):
                path = resolve(match[1], call.folder if "/" in match[1] else call.path or call.folder)
                if match[2]:
                    self.ledger.read(path, "found by a search", part=True)
                else:
                    self.ledger.see(path)

    def _fail(self, call: _Call) -> None:
        if call.ended.ending is Ending.RUN:
            named = shown(call.path, self.ledger.folder)
            text = re.sub(r"</?tool_use_error>", "", call.result.text).strip()
            first = text.partition("\n")[0]
            # Below its own words an editor quotes what it was given, in which errors may be handled.
            self.log.fail(f"{call.name} {named}".strip(), first if _FAILED.search(first) else key_line(text))


_EDITORS = ("str_replace_editor", "str_replace_based_edit_tool", "text_editor", "file_editor")
Tool = Callable[[Tools, _Call], None]
_TABLE: Mapping[str, Tool] = (
    dict.fromkeys(
        ("bash", "Bash", "shell", "local_shell", "local_shell_call", "exec_command", "execute_bash", "run_command",
         "bash_command", "powershell", "cmd_run", "run_terminal_cmd", "run_shell_command", "execute_command",
         "terminal", "container.exec", "exec", "sh"),
        Tools.run,
    )
    | {"write_stdin": Tools.type_in}
    | dict.fromkeys(("read", "Read", "read_file", "ReadFile", "view", "open_file", "NotebookRead", "cat"), Tools.view)
    | dict.fromkeys(("write", "Write", "write_file", "WriteFile", "create_file", "write_to_file"), Tools.write)
    | dict.fromkeys(
        ("edit", "Edit", "MultiEdit", "NotebookEdit", "edit_file", "replace", "search_replace", "replace_in_file",
         "multiedit"),
        Tools.edit,
    )
    | dict.fromkeys(_EDITORS, Tools.editor)
    | dict.fromkeys(("apply_patch", "applypatch"), Tools.patch)
    | dict.fromkeys(("delete_file", "remove_file"), Tools.delete)
    | dict.fromkeys(("move_file", "rename_file"), Tools.move)
    | dict.fromkeys(("Grep", "grep", "search_file_content", "grep_search"), Tools.search)
    | dict.fromkeys(("Glob", "glob", "LS", "ls", "list_directory", "find", "list_dir"), Tools.listing)
)  # fmt: skip


def _from_line(line: str) -> dict[str, JsonValue]:
    """Return the arguments of `str_replace_editor str_replace PATH --old_str ...` as a mapping."""
    try:
        words = shlex.split(line)
    except ValueError:
        return {}
    named: dict[str, JsonValue] = dict(zip(("command", "path"), words[1:3], strict=False))
    return named | {key[2:]: value for key, value in pairwise(words[3:]) if key.startswith("--")}


def _by_shape(call: _Call) -> Tool | None:
    """Return what to do with a tool that no row names; None where its arguments tell nothing."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    if any(BEGIN in text for text in texts):
        return Tools.patch
    if call.text(_PATH):
        if isinstance(call.arguments.get("command"), str):
            return Tools.editor
        if call.text(_OLD) is not None and call.text(_NEW) is not None:
            return Tools.edit
        if call.text(_CONTENT) is not None:
            return Tools.write
        return Tools.view if re.search(r"read|view|open|cat", call.name, re.IGNORECASE) else None
    if any(isinstance(call.arguments.get(key), str | list) for key in ("command", "cmd", "keystrokes")):
        return Tools.run
    return None


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


def _codex_output(text: str) -> tuple[str, int | None] | None:
    """Return output and exit code of a result that is a JSON object; None where it is none."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(output := told.get("output", told.get("stdout")), str):
        return None
    inner = told.get("metadata") if isinstance(told.get("metadata"), dict) else told
    code = inner.get("exit_code") if isinstance(inner, dict) else None
    return output, code if isinstance(code, int) else None
