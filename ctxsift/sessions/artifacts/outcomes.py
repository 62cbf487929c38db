"""How a call ended, and which line of its output tells why; from its exit code where there is one, else its text."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.sessions.records import ToolResult

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")
_TRAILER = re.compile(
    r"(?:command |process )?(?:exited|completed|finished|failed) with (?:exit )?(?:code|status):? (-?\d+)\.?\]?"
    r"|(?:<returncode>|\"?exit_code\"?\s*[:=]\s*|\(?exit (?:code|status):? ?)(-?\d+)\)?(?:</returncode>)?"
    r"|///PROCESS-DONE:(\d+):PROCESS-DONE///",
    re.IGNORECASE,
)
_ABORTED = re.compile(
    r"(?:command|operation|request|process)(?: was)? (?:aborted|cancell?ed|interrupted)"
    r"|\[request interrupted by user|aborted by user|interrupted by (?:the )?user"
    r"|(?:command|process)(?: execution)? (?:timed out|was killed)|execution timed out|timed out after \d",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"the user doesn't want to (?:proceed|take this action)|user rejected|rejected by user|was denied by the user"
    r"|<tool_use_error>(?:InputValidationError|Sibling tool call|Cancelled: parallel)|action was not executed"
    r"|permission to use \S+ (?:has been|was) denied",
    re.IGNORECASE,
)
# What Codex writes above an output.
_PREAMBLE = re.compile(
    r"(?:(?:Command|Chunk ID|Wall time|Exit code|Original token count|Total output lines):? [^\n]{0,999}\n"
    r"|(?:Process|Script) (?:exited|running|completed|failed)[^\n]{0,99}\n){1,7}Output:\n"
)
# Ends of outputs are where programs and wrappers say how they ended.
_END = 400
_MOST_TRIED = 200_000


class Ending(Enum):
    """How a call ended: `RUN` has an exit code or not; the other two ran in part or not at all."""

    RUN = auto()
    ABORTED = auto()
    REFUSED = auto()


def clean(text: str) -> str:
    """Return output without escape sequences; of a line that was drawn over, what it showed last."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return text


class CallEnd(NamedTuple):
    """How a call ended.

    Attributes:
        code: its exit code; of an error that is told without one, 1.
        is_stated: somebody told this code.

    """

    ending: Ending
    code: int | None = None
    is_stated: bool = True


def ending(result: ToolResult) -> CallEnd:
    """Return how a call ended, and its exit code: the file's, the one its text ends with, or what `is_error` means.

    Where a tool marks errors and marks none here, the exit code was 0; an error without a code counts as 1.
    """
    if result.is_error is not False and _REFUSED.search(result.text[:_END]):
        return CallEnd(Ending.REFUSED)
    if _is_aborted(result):
        return CallEnd(Ending.ABORTED)
    code = _told_code(result) if result.exit_code is None else result.exit_code
    if code is not None or result.is_error is None:
        return CallEnd(Ending.RUN, code)
    return CallEnd(Ending.RUN, 1, is_stated=False) if result.is_error else CallEnd(Ending.RUN, 0)


def _is_aborted(result: ToolResult) -> bool:
    """Return True if a call that is not known to have gone well says at its end that somebody stopped it."""
    if result.exit_code == 0 or (result.exit_code is None and result.is_error is False):
        return False
    lines = [line for line in result.text[-_END:].splitlines() if line.strip()][-2:]
    # Claude Code says so below the exit code, above what was printed until then.
    lines += result.text[:_END].split("\n")[1:2] if result.text.startswith("Exit code ") else []
    return any(map(_ABORTED.search, lines))


def _told_code(result: ToolResult) -> int | None:
    """Return the exit code that a text tells; of what is marked as no error, only below a line of the tool."""
    head = result.text[:_END] if result.text.startswith(("<returncode>", "{", "Exit code", "Process exited")) else ""
    told = _TRAILER.search(head) or next(reversed(list(_TRAILER.finditer(result.text[-_END:]))), None)
    if told is None or not (head or result.is_error is not False) or not _is_trailer(told, result.text):
        return None
    return int(next(filter(None, told.groups())))


def _is_trailer(match: re.Match[str], text: str) -> bool:
    """Return True if the words stand on a line of their own at an end of the text; others are a program's."""
    line = match.string[match.string.rfind("\n", 0, match.start()) + 1 :].split("\n")[0].strip(" []{}(),")
    return len(line) - len(match[0].strip(" []{}(),")) <= 24 or text.startswith("{")


def body(text: str) -> str:
    """Return output without the lines in which a tool tells the exit code and the like."""
    above = _PREAMBLE.match(text)
    lines = text[above.end() if above else 0 :].rstrip().split("\n")
    while lines and (not lines[-1].strip() or (len(lines[-1]) < 100 and _TRAILER.search(lines[-1]))):
        lines.pop()
    if lines and len(lines[0]) < 40 and _TRAILER.match(lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines)


# Which line of an output tells why it failed: the first class that has one; of tracebacks the last line.
_NOISE = re.compile(
    r"^Script error:$|npm (?:error|ERR!)"
    r"|^\s*(?:at |\^|~|[✓✔√] |ok \d)|\b0 (?:errors?|failed|failures)\b|^\s*[-=━_#*]+\s*$|^\[\d+ more"
)
_CLASSES = tuple(
    re.compile(each)
    for each in (
        r"error TS\d+|error\[E?\d*\]|: (?:fatal )?error:? |^E\s{2,}\w|^(?:panic|fatal|FATAL)\b[: ]"
        r"|[\w)]:\d+(?::\d+)?:? (?:error|Error)\b",
        r"^\s*(?:\w+\.)*\w*(?:Error|Exception)\b(?: \[\w+\])?:|^(?:error|ERROR|Error)\b[: ]|AssertionError",
        r"command not found|: not found$|No such file or directory|Permission denied|Cannot find module"
        r"|not a git repository|^\w+: (?:cannot|can't|could not|unable to) |No module named|ENOENT|EACCES",
        r"^\S+:\d+:\d+ lint/\S+",
        r"^\s*(?:FAILED|FAIL|--- FAIL:|not ok|✗|✘|×|✖)\s?\S|^\s*\d+ (?:failed|failing)"
        r"|\b[1-9]\d* (?:failed|failures?|errors?)\b"
        r"|Could not|would reformat|have NOT been applied",
        r"(?i)\b(?:error|failed|failure|cannot|could not|not found|denied|unknown|invalid|missing|refused)\b",
    )
)
_TRACEBACK = re.compile(r"^Traceback \(most recent call last\)", re.MULTILINE)


def key_line(text: str) -> str:
    """Return the line of an output that tells most about a failure; empty where there is none."""
    lines = [line.strip() for line in body(clean(text)[:400_000]).split("\n") if line.strip()]
    after = max((number for number, line in enumerate(lines) if _TRACEBACK.search(line)), default=len(lines))
    for line in lines[after + 1 :]:
        if re.match(r"[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\w*(?:: |$)", line):
            return line
    if told := _telling(lines, _CLASSES):
        return told
    for line in lines:
        if re.match(r"npm (?:error|ERR!) (?!code|path|A complete log)", line):
            return line
    return next((line for line in reversed(lines) if line != "(no output)"), "")


def blamed_line(text: str) -> str:
    """Return the first line in which a program says that it cannot go on; empty where there is none."""
    return _telling(text.split("\n"), _CLASSES[:3])


def _telling(lines: list[str], classes: tuple[re.Pattern[str], ...]) -> str:
    plain = [line for line in lines if len(line) <= 2000 and not _NOISE.search(line)]
    return next((line for wanted in classes for line in plain if wanted.search(line)), "")


def ends(text: str) -> str:
    """Return what patterns are tried on: both ends of a text, of its lines 2,000 characters; they are slow on more."""
    if len(text) > _MOST_TRIED:
        text = text[: _MOST_TRIED // 4] + "\n" + text[-_MOST_TRIED * 3 // 4 :]
    return "\n".join(line[:2000] for line in text.split("\n"))
