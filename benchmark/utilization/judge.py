"""What a judging model is asked of a chunk, and what its replies say."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.judges.fencing import fenced
from benchmark.judges.replies import NoVerdict, verdict_in, whole_number
from benchmark.utilization.records import ChunkVerdict, DataRow
from ctxsift.intents import Intent
from ctxsift.prompts import FixedPrompt, Message, Request
from ctxsift.terminal import in_line

# Raised with every change of what is asked or how it is read: replies of another version are not used again.
JUDGE_VERSION = "2"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"relevant": {"type": "integer", "enum": [0, 1]}, "reason": {"type": "string"}},
    "required": ["relevant", "reason"],
    "additionalProperties": False,
}
_TASK = (
    "You decide whether a chunk of text was needed for an answer. It was needed if the chunk itself shows something "
    "that the answer says: a fact, a value, a cause. To be about the same thing is not enough. "
    "Reply with one JSON object and nothing else: "
    '{"relevant": 1, "reason": "..."} if it was needed, {"relevant": 0, "reason": "..."} if not.'
)
_MOST_REASON = 200


@dataclass(frozen=True)
class JudgeQuestion:
    """One question to the judge.

    Attributes:
        row, rank: which chunk it is about, counted from 0.
        repeat: how often it was asked before.

    """

    row: int
    rank: int
    repeat: int
    prompt: FixedPrompt

    @property
    def shown(self) -> list[str]:
        """All that the judge is told."""
        return [message.content for message in self.prompt.messages]

    def key(self, model: str) -> str:
        """Return what makes a reply the reply to this: model, version, words and repeat, as SHA-256."""
        words = [(message.role, message.content) for message in self.prompt.messages]
        content = json.dumps([model, JUDGE_VERSION, SCHEMA, words, self.repeat])
        return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class JudgeReply:
    """What came: the words of the judge, or why there are none."""

    text: str | None
    error: str = ""


def asked_of(questions: Sequence[DataRow], k: int | None, repeats: int) -> list[JudgeQuestion]:
    """Return what is asked, chunk by chunk; repeats of a chunk stand together."""
    return [
        JudgeQuestion(row, rank, repeat, _prompt(question, chunk))
        for row, question in enumerate(questions)
        for rank, chunk in enumerate(question.contexts[:k])
        for repeat in range(repeats)
    ]


def _prompt(question: DataRow, chunk: str) -> FixedPrompt:
    asked, text = (("Question", question.question), ("Answer", question.answer)), ("Chunk", chunk)
    user = f"{fenced([*asked, text])}\n\nWas this chunk needed for the answer? JSON:"
    # What reads no messages, a program for one, is given the chunk, and the rest as what is wanted of it.
    request = Request(chunk, f"{_TASK}\n\n{fenced(asked)}", Intent.JSON)
    return FixedPrompt((Message("system", _TASK), Message("user", user)), request)


def verdict_of(replies: Sequence[JudgeReply], shown: Sequence[str]) -> ChunkVerdict:
    """Return what most of the replies about a chunk say; None (unscored) when none says anything, or they tie.

    Args:
        replies: to the same question.
        shown: all that the judge was told with it.

    """
    read = [_read(reply, shown) for reply in replies]
    votes = Counter(relevant for relevant, _ in read if relevant is not None)
    shown = f"{votes[1]} of {len(replies)} replies: needed" if len(replies) > 1 else ""
    if not votes or votes[0] == votes[1]:
        reason = next((reason for relevant, reason in read if relevant is None), "the replies tie")
        return ChunkVerdict(relevant=None, reason="; ".join(filter(None, (shown, reason))))
    relevant = int(votes[1] > votes[0])
    reason = next(reason for vote, reason in read if vote == relevant)
    return ChunkVerdict(relevant=relevant, reason="; ".join(filter(None, (shown, reason))) or "no reason given")


def _read(reply: JudgeReply, shown: Sequence[str]) -> tuple[int | None, str]:
    """Return verdict and reason of one reply."""
    if reply.text is None:
        return None, f"no reply: {_shortened(reply.error)}"
    found = verdict_in(reply.text, shown, _said)
    if isinstance(found, NoVerdict):
        return None, ": ".join(filter(None, (f"the reply is no verdict ({found.reason})", _shortened(reply.text))))
    return found


def _said(found: dict[str, Any]) -> tuple[int, str] | None:
    relevant, reason = whole_number(found.get("relevant")), found.get("reason")
    if relevant not in (0, 1):
        return None
    return relevant, _shortened(reason) if isinstance(reason, str) else ""


def _shortened(text: str) -> str:
    return in_line(" ".join(text.split()), limit=_MOST_REASON)
