"""Sessions of Claude Code: JSON Lines, one record for each block of a message."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence

from ctxsift.sessions.importers.base import AgentLine, Importer, Recent, Turn
from ctxsift.sessions.importers.branches import BranchPlace, Tree
from ctxsift.sessions.importers.identity import content_hash
from ctxsift.sessions.importers.values import (
    arguments_of,
    count,
    first_text,
    flag,
    mapping,
    name_of_block,
    sequence,
    text,
    text_of,
    whole,
)
from ctxsift.sessions.records import JsonValue, Source, StepEnding, TokenUsage

_SPOKEN = ("user", "assistant")
_BOUNDARY = "compact_boundary"
_IDS = ("uuid", "sessionId", "session_id", "parentUuid")
# A removal from the queue that gave a prompt to the agent; earlier versions give no reason.
_ABSORBED = ("", "absorbed_mid_turn")
_MOST_QUEUED = 100
# By so many records of a list it is recognised.
_FIRST = 50
_IMAGE = re.compile(r"\[[Ii]mage\b[^\]\n]*\]")
_INTERRUPTED = "[Request interrupted by user"
# A failed command begins its output with this.
_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,3})\b")


def usage_of(value: JsonValue) -> TokenUsage | None:
    """Return the token counts of an Anthropic message; what was written to the cache is part of the prompt."""
    fields = mapping(value)
    if not fields:
        return None
    cached = count(fields.get("cache_read_input_tokens"))
    prompt = count(fields.get("input_tokens")) + count(fields.get("cache_creation_input_tokens")) + cached
    return TokenUsage(prompt, count(fields.get("output_tokens")), cached)


def _records(first: Sequence[JsonValue]) -> list[dict[str, JsonValue]]:
    """Return the first records, also of a list of records."""
    return [mapping(each) for value in first for each in _listed(value)[:_FIRST]]


def _listed(value: JsonValue) -> list[JsonValue]:
    """Return the records of a value: a record, or a list of them, as `json` prints it and as the service exports it."""
    listed = mapping(value).get("loglines", value)
    return listed if isinstance(listed, list) else [value]


def _holds_result(record: dict[str, JsonValue]) -> bool:
    blocks = sequence(mapping(record.get("message")).get("content"))
    return any(mapping(block).get("type") == "tool_result" for block in blocks)


def _content_of(record: dict[str, JsonValue]) -> int:
    """Return a hash of what a record says; a result says which call it answers: a copy may have less of its text."""
    message = record.get("message")
    said = mapping(message).get("content") if isinstance(message, dict) else message
    blocks: list[JsonValue] = [
        ["tool_result", fields.get("tool_use_id")] if (fields := mapping(block)).get("type") == "tool_result" else block
        for block in _blocks(said)
    ]
    return content_hash([*blocks, *(record.get(key) for key in ("attachment", "content", "subtype"))])


def _blocks(content: JsonValue) -> Sequence[JsonValue]:
    """Return the blocks of what a message holds, which may be one without a list around it."""
    return sequence(content) if isinstance(content, list) else [content]


def _count(turn: Turn, message: dict[str, JsonValue]) -> None:
    """Take down the tokens of a message: of counts that were told while it grew, the largest hold."""
    counted = usage_of(message.get("usage"))
    if counted and (turn.usage is None or counted.completion_tokens >= turn.usage.completion_tokens):
        turn.usage = counted


def _begun(line: AgentLine, name: str, request: str) -> Turn | None:
    """Return the step of a message that another record began; under another request, the same id is another message."""
    turn = line.named(name) if name else None
    return None if turn is not None and request and turn.request not in ("", request) else turn


def is_sidechain(record: dict[str, JsonValue]) -> bool:
    """Return True if a record belongs to a subagent."""
    return record.get("isSidechain") is True or bool(text(record.get("parent_tool_use_id")))


def _is_of_human(origin: JsonValue) -> bool:
    """Return False where the origin of a message is told, and is a task, a teammate or another program."""
    return mapping(origin).get("kind", "human") == "human"


def _take(among: deque[str], said: str) -> bool:
    """Take a prompt out of those that are known; return False where it is not among them. Images are not compared."""
    found = next((each for each in among if _IMAGE.sub("", each).split() == _IMAGE.sub("", said).split()), None)
    if found is not None:
        among.remove(found)
    return found is not None


class ClaudeCode(Importer):
    """Read files of `~/.claude/projects`, and what `claude --output-format` prints (`stream-json`, `json`)."""

    format = "claude-code"

    def __init__(self) -> None:
        super().__init__()
        self._steps = Recent()
        self._tree = Tree()
        # How many records followed a known one, how many of the main line none, and whose session began.
        self._linked, self._loose, self._begun = 0, 0, ""
        # What was compacted last, and which record was read again last, if that is the one before.
        self._compacted_at, self._copied = -1, -1
        # Prompts that begin the session anew, and what stood before them.
        self._anew: list[tuple[int, int]] = []
        self._whole_file_is_side = False
        self._answered = False
        # Which sidechain records without a name belong to, and how many there are.
        self._sides, self._nameless = Recent(), 0
        # Prompts that wait in the queue, and those that its removals and attachments told of, each without the other.
        self._waiting: deque[str] = deque(maxlen=_MOST_QUEUED)
        self._removed: deque[str] = deque(maxlen=_MOST_QUEUED)
        self._attached: deque[str] = deque(maxlen=_MOST_QUEUED)

    @classmethod
    def recognises(cls, first: Sequence[JsonValue]) -> bool:
        """Return True for a record of a speaker with an id, or one that only Claude Code writes."""
        for record in _records(first):
            kind = record.get("type")
            if kind in _SPOKEN and "message" in record and any(key in record for key in _IDS):
                return True
            if kind in _SPOKEN and "message" in record and "loglines" in mapping(first[0]):
                return True
            if (kind == "summary" and "leafUuid" in record) or (kind == "file-history-snapshot"):
                return True
            if kind in ("system", "result") and "subtype" in record and any(key in record for key in _IDS):
                return True
        return False

    def begin(self, first: Sequence[JsonValue]) -> None:
        """See whether the file is a subagent's own: then its steps are the main line."""
        spoken = [record for record in _records(first) if record.get("type") in _SPOKEN]
        self._whole_file_is_side = bool(spoken) and all(map(is_sidechain, spoken))
        self.know(is_subagent=self._whole_file_is_side)

    def read(self, value: JsonValue) -> None:
        """Read a record, or a whole session as `json` prints it."""
        for each in _listed(value):
            self._record(each)

    def _record(self, value: JsonValue) -> None:
        if not isinstance(value, dict):
            self.skip("line that is no record")
            return
        kind = text(value.get("type"))
        self.know(
            session_id=first_text(value, "sessionId", "session_id") if not self.head.session_id else "",
            agent="Claude Code",
            agent_version="" if self.head.agent_version else first_text(value, "version", "claude_code_version"),
            folder=text(value.get("cwd")) if not self.head.folder else "",
            started=text(value.get("timestamp")) if not self.head.started else "",
        )
        if self._is_copy(value, kind):
            return
        before = self.main.number
        self._read(value, kind)
        if self._whole_file_is_side or not is_sidechain(value):
            self._place(value, kind, self.main.number if self.main.number > before else 0)

    def _read(self, value: dict[str, JsonValue], kind: str) -> None:
        if kind == "user":
            self._user(value, self._line_of(value))
        elif kind == "assistant":
            self._assistant(value, self._line_of(value))
        elif kind == "summary" and "leafUuid" in value:
            self.know(title=text(value.get("summary")))
        elif kind == "system" and value.get("subtype") == _BOUNDARY:
            self._boundary(value)
        elif kind == "queue-operation":
            self._queue(value)
        elif kind == "result" and not self._answered:
            self._answer(value)
        elif kind == "attachment" and mapping(value.get("attachment")).get("type") == "queued_command":
            self._queued(value, self._line_of(value))
        else:
            subtype = text(value.get("subtype"))
            self.skip(f"record {kind or 'without a type'}{f' / {subtype}' if subtype else ''}")

    def _place(self, record: dict[str, JsonValue], kind: str, step_id: int) -> None:
        """Take down what a record of the main line follows.

        Files fork where nothing was taken back: results of calls that ran side by side, hooks, progress. Somebody went
        back where two prompts follow the same record; what is neither said nor done is no place of its own.
        """
        name, is_summary = text(record.get("uuid")), record.get("isCompactSummary") is True
        spoken = kind in _SPOKEN and not is_summary
        what = self._prompt_of(record, kind, step_id)
        parent = self._parent_of(record, spoken=spoken, by_user=BranchPlace.TURNS in what)
        self._copied = -1 if name else self._copied
        if record.get("subtype") == _BOUNDARY:
            self._compacted_at = parent
        if not spoken and not step_id:
            # A summary stands for what was compacted, whatever it says it follows.
            self._tree.name(name, self._compacted_at if is_summary and self._compacted_at >= 0 else parent)
            return
        place = self._tree.add(name, parent, what, step_id)
        if parent < 0 <= self._tree.leaf:
            self._anew.append((place, self._tree.leaf))
        if BranchPlace.OPENS in what or kind != "user":
            self._tree.leaf = place

    def _prompt_of(self, record: dict[str, JsonValue], kind: str, step_id: int) -> BranchPlace:
        """Return what a record is in the tree: a prompt opens a branch, and a prompt of the user takes back others."""
        if kind != "user" or not step_id or _holds_result(record):
            return BranchPlace.NONE
        newest = self.main.newest
        by_user = newest is not None and newest.source is Source.USER
        return BranchPlace.OPENS | (BranchPlace.TURNS if by_user else BranchPlace.NONE)

    def _parent_of(self, record: dict[str, JsonValue], *, spoken: bool, by_user: bool) -> int:
        """Return the place that a record follows: where it names none that is known, the one before.

        A prompt that follows nothing, in a file where all else follows something, took everything back.
        """
        name = first_text(record, "parentUuid", "logicalParentUuid")
        known = self._tree.find(name)
        if known is not None:
            self._linked += 1
            # What follows a history that was written again follows all that was read.
            return self._tree.leaf if known == self._copied else known
        session = text(record.get("sessionId"))
        is_first = by_user and not name and "parentUuid" in record and session == self._begun
        if is_first and self._linked:
            return -1
        if spoken:
            self._loose += 1
            self._begun = self._begun or session
        return self._tree.leaf

    def taken_back(self) -> Iterable[tuple[int, ...]]:
        """Return the steps of branches that somebody left by going back to an earlier prompt."""
        for place, before in self._anew if self._loose > 1 else ():
            self._tree.follow(place, before)
        return self._tree.left_behind()

    def _is_copy(self, record: dict[str, JsonValue], kind: str) -> bool:
        """Return True if a record was read before: branches, resumed sessions and writers that race copy records."""
        if kind == "queue-operation" and "timestamp" in record:
            return self.is_repeated("record", content_hash(record))
        names = {text(record.get("uuid")), text(mapping(record.get("forkedFrom")).get("messageUuid"))} - {""}
        content = _content_of(record) if names else 0
        again = [self.seen.again(name, kind, content) for name in names]
        if not any(again):
            return False
        place = next((found for name in names if (found := self._tree.find(name)) is not None), -1)
        self._copied = place
        for name in names:
            self._tree.name(name, place)
        self.skip("repeated record")
        message = mapping(record.get("message"))
        if kind == "assistant" and (turn := self.main.named(first_text(message, "id"))) is not None:
            _count(turn, message)
        return True

    def _line_of(self, record: dict[str, JsonValue]) -> AgentLine:
        """Return the line a record belongs to; sidechains without a name are told apart by their first records."""
        if self._whole_file_is_side or not is_sidechain(record):
            return self.main
        name = first_text(record, "agentId", "parent_tool_use_id")
        if not name:
            known = self._sides.get(text(record.get("parentUuid")))
            self._nameless += known is None
            number = known or self._nameless
            self._sides.put(text(record.get("uuid")), number)
            name = f"sidechain-{number}"
        return self.line(name)

    def _boundary(self, record: dict[str, JsonValue]) -> None:
        meta = mapping(record.get("compactMetadata")) or mapping(record.get("compact_metadata"))
        tokens = meta.get("preTokens", meta.get("pre_tokens"))
        kept = mapping(meta.get("preservedMessages")) or mapping(meta.get("preserved_messages"))
        segment = mapping(meta.get("preservedSegment")) or mapping(meta.get("preserved_segment"))
        uuids = [*sequence(kept.get("uuids")), first_text(segment, "headUuid", "head_uuid")]
        known = (self._steps.get(text(uuid)) for uuid in uuids)
        self.compact(first_kept_step=next(filter(None, known), None), tokens_before=whole(tokens))

    def _queue(self, record: dict[str, JsonValue]) -> None:
        """Follow the queue of what is typed while the agent works; what it took from there is a step of the user."""
        operation, content = text(record.get("operation")), text_of(record.get("content"), self.skip)
        if operation == "enqueue":
            self._waiting.append(content)
        elif operation == "popAll":
            self._waiting.clear()
        else:
            said = content or (self._waiting[0] if self._waiting else "")
            _take(self._waiting, said)
            absorbed = operation == "remove" and text(record.get("reason")) in _ABSORBED
            if said and absorbed and not _take(self._attached, said):
                self._removed.append(said)
                self._begin(record, self.main, said)

    def _queued(self, record: dict[str, JsonValue], line: AgentLine) -> None:
        attachment = mapping(record.get("attachment"))
        said = text_of(attachment.get("prompt"), self.skip)
        if said and not _take(self._removed, said):
            self._attached.append(said)
            by_program = attachment.get("commandMode") == "task-notification" or attachment.get("isMeta") is True
            self._begin(record, line, said, by_program=by_program or not _is_of_human(attachment.get("origin")))

    def _begin(self, record: dict[str, JsonValue], line: AgentLine, said: str, *, by_program: bool = False) -> None:
        turn = line.begin(Source.SYSTEM if by_program else Source.USER, said, record.get("timestamp"))
        turn.folder = text(record.get("cwd")) or None
        self._note(record, line, turn)

    def _user(self, record: dict[str, JsonValue], line: AgentLine) -> None:
        message = record.get("message")
        content = mapping(message).get("content") if isinstance(message, dict) else message
        parts: list[str] = []
        answered: Turn | None = None
        blocks = _blocks(content)
        for block in blocks:
            if mapping(block).get("type") == "tool_result":
                answered = self._result(mapping(block), line) or answered
            elif said := text_of(block, self.skip):
                parts.append(said)
        said = "\n".join(parts)
        if record.get("isCompactSummary") is True:
            if line is self.main:
                self.compact(summary=said)
            return
        if said:
            if said.startswith(_INTERRUPTED) and (last := line.last_of_agent()) is not None:
                last.ending = StepEnding.ABORTED
            by_program = record.get("isMeta") is True or not _is_of_human(record.get("origin"))
            self._begin(record, line, said, by_program=by_program)
        elif answered is not None:
            self._note(record, line, answered)
        elif not any(mapping(block).get("type") == "tool_result" for block in blocks):
            self.skip("user record without content")

    def _result(self, block: dict[str, JsonValue], line: AgentLine) -> Turn | None:
        output = text_of(block.get("content"), self.skip)
        call_id = first_text(block, "tool_use_id") or "?"
        if line.has_answer(call_id, output):
            self.skip("repeated result")
            return None
        is_error = flag(block.get("is_error"))
        stated = _EXIT_CODE.match(output) if is_error else None
        exit_code = int(stated[1]) if stated else None
        turn = line.result(call_id, output, exit_code, is_error=is_error)
        if turn is None:
            self.skip("result without its call")
        return turn

    def _assistant(self, record: dict[str, JsonValue], line: AgentLine) -> None:
        self._answered = True
        message = mapping(record.get("message"))
        name, request = first_text(message, "id"), text(record.get("requestId"))
        turn = _begun(line, name, request)
        blocks = _blocks(message.get("content") if message else record.get("message"))
        answers = request or (turn.request if turn else "")
        # A record may hold the blocks of its message that stood in those before, or all come again under new ids.
        new = [block for block in blocks if not (name and block and self._has_block(name, answers, block))]
        if turn is None:
            if blocks and not new:
                return
            turn = line.begin(Source.AGENT, timestamp=record.get("timestamp"), name=name)
            turn.folder = text(record.get("cwd")) or None
        turn.request = answers
        self._note(record, line, turn)
        model = text(message.get("model"))
        if model not in ("", "<synthetic>"):
            turn.model = model
            if line is self.main:
                self.know(model=model)
        _count(turn, message)
        if record.get("isApiErrorMessage") is True:
            turn.ending = StepEnding.FAILED
        for block in new:
            self.block(turn, line, block)

    def _answer(self, record: dict[str, JsonValue]) -> None:
        """Read the result where nothing else tells what the agent said; else it says its last message again."""
        said = text(record.get("result")) or "\n".join(map(text, sequence(record.get("errors"))))
        turn = self.main.begin(Source.AGENT, said)
        turn.folder = self.head.folder or None
        turn.usage = usage_of(record.get("usage"))
        if record.get("is_error") is True:
            turn.ending = StepEnding.FAILED

    def _has_block(self, message: str, request: str, block: JsonValue) -> bool:
        return self.is_repeated("block", message, request, content_hash(block))

    def block(self, turn: Turn, line: AgentLine, block: JsonValue) -> None:
        """Add a block of an Anthropic message to a step of the agent."""
        fields = mapping(block)
        kind = text(fields.get("type"))
        if isinstance(block, str) or name_of_block(block) is not None:
            turn.texts.append(text_of(block, self.skip))
        elif kind == "thinking":
            turn.reasoning.append(text(fields.get("thinking")))
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            line.call(turn, text(fields.get("id")), text(fields.get("name")), arguments_of(fields.get("input")))
        elif kind.endswith("_tool_result"):
            self._result(fields, line)
        elif block is not None:
            self.skip(f"block {kind or type(block).__name__}")

    def _note(self, record: dict[str, JsonValue], line: AgentLine, turn: Turn) -> None:
        if line is self.main and (uuid := text(record.get("uuid"))):
            self._steps.put(uuid, turn.step_id)
