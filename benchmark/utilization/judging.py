"""Asking a judging model through its backend; every reply is kept in a file and not asked for again."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.matrix import TRACKS, Scenario
from benchmark.run.identity import asked_model
from benchmark.run.named import Role, opened_row
from benchmark.run.plan import RunSettings
from benchmark.utilization.judge import JUDGE_VERSION, SCHEMA, JudgeQuestion, JudgeReply, asked_of, verdict_of
from benchmark.utilization.records import ChunkVerdict, DataRow
from ctxsift.asking import ask_async
from ctxsift.backends.base import Ability, Decoding, Limits
from ctxsift.backends.registry import lacking, traits_of
from ctxsift.backends.retry import FATAL
from ctxsift.errors import BackendError, InputError, LoadError
from ctxsift.models.opened import Opened
from ctxsift.models.store import Store, StoreEntry
from ctxsift.settings import Settings
from ctxsift.terminal import tell

OPTION, RULES = "--judge", "rules"
ROLE = Role(
    OPTION,
    {RULES: "words and meanings that answer and chunk share; no model (the default)"},
    "the replies of a judge that --replies has stored; no judge is called",
)
# A verdict and a sentence.
_LIMITS = Limits(128)
_CONTEXT_TOKENS, _SERVICE_CONTEXT_TOKENS = 8192, 128_000
_TOLD_EVERY_S = 10.0
# Of what tells models apart (AskedModel): what a row of no more than a model says, and what is no part of it here.
# Of the settings, where a service replies: which one, and how it is asked.
_OF_SERVICES = ("service", "llm_api_version", "llm_reasoning_mode", "llm_reasoning_budget")
_USUAL: dict[str, Any] = {
    **dict(quantization="none", dtype="auto", attn_implementation="auto", trust_remote_code=False, extra_body={}),
    **{name: getattr(Settings(), name) for name in _OF_SERVICES},
}
_ELSEWHERE = ("model", "device", "batch")
# Of repeats: one greedy answer would only be repeated.
_TEMPERATURE = 0.7


@dataclass(frozen=True)
class UtilizationJudge:
    """Which model judges, and how it is asked.

    Attributes:
        row: of the matrix.
        replies: the file that keeps every reply.
        repeats: how often each chunk is judged; above 1, at a temperature and with a seed each.
        env_file: where a service's settings are read.
        remote: what is asked may leave this machine.

    """

    row: Scenario
    replies: Path
    repeats: int = 1
    env_file: Path | None = None
    remote: bool = False

    @property
    def name(self) -> str:
        """Who judges, for people."""
        return _told(self.row.name, self.repeats)

    def identity(self, settings: Settings) -> str:
        """Return what makes its replies its own."""
        row, said = self.row, dataclasses.asdict(asked_model(self.row))
        if TRACKS[row.track].leaves_machine:
            said |= {name: getattr(settings, name) for name in _OF_SERVICES}
        more = {name: value for name, value in said.items() if name not in _ELSEWHERE and value != _USUAL.get(name)}
        whose = [row.backend_name, row.model, row.gguf_filename, self.repeats > 1]
        return json.dumps([*whose, more] if more else whose)

    def decoding(self, repeat: int) -> Decoding:
        """Return how a reply is decoded: held to the schema where the backend can do that. Raises LoadError."""
        schema = SCHEMA if Ability.SCHEMA in traits_of(self.row.backend_name).abilities else None
        return Decoding(_TEMPERATURE, repeat, schema) if self.repeats > 1 else Decoding(schema=schema)


@dataclass(frozen=True)
class RecordedUtilizationJudge:
    """The replies in a file, and nobody who is asked for others.

    Attributes:
        replies: the file, as a Judge wrote it.
        repeats: how often each chunk was judged.

    """

    replies: Path
    repeats: int = 1

    @property
    def name(self) -> str:
        """Who judged, for people."""
        return _told(f"recorded:{self.replies}", self.repeats)


def _told(name: str, repeats: int) -> str:
    times = f", {repeats} times" if repeats > 1 else ""
    return f"judge {name} (version {JUDGE_VERSION}{times})"


class _KeptReply(StoreEntry, frozen=True, kw_only=True):
    """A reply in the file.

    Attributes:
        judge: identity of whose it is; empty where an earlier version wrote it.

    """

    text: str
    judge: str = ""


def judged(
    questions: Sequence[DataRow], k: int | None, judge: UtilizationJudge | RecordedUtilizationJudge, settings: Settings
) -> list[list[ChunkVerdict]]:
    """Return the verdicts on the top K chunks of every row; None where the judge gave none.

    Raises:
        InputError: the model cannot be loaded, the service refuses, or the file of replies cannot be used.
        OSError: the file of replies cannot be written.

    """
    asked = asked_of(questions, k, judge.repeats)
    replies = Store(judge.replies, _KeptReply, "holds no replies of a judge", "name another file with --replies")
    identity = judge.identity(settings) if isinstance(judge, UtilizationJudge) else _identity_in(replies, judge.replies)
    known = {each: _known(each, identity, replies) for each in asked}
    missing = [each for each in asked if known[each] is None]
    if missing and isinstance(judge, UtilizationJudge):
        try:
            known |= asyncio.run(_ask_all(missing, judge, settings, replies))
        except BackendError as error:
            raise InputError(OPTION, str(error)) from error
    elif missing:
        tell(f"{judge.replies}: {len(missing):,} of {len(asked):,} replies are missing")
        known |= dict.fromkeys(missing, JudgeReply(None, f"{judge.replies} has none"))
    found: list[list[ChunkVerdict]] = [[] for _ in questions]
    for start in range(0, len(asked), judge.repeats):
        same = asked[start : start + judge.repeats]
        replies_to = [known[each] or JudgeReply(None) for each in same]
        found[same[0].row].append(verdict_of(replies_to, same[0].shown))
    return found


def _identity_in(replies: Store[_KeptReply], path: Path) -> str:
    """Return whose replies a file holds. Raises InputError where it does not tell, or there are several."""
    judges = {kept.judge for kept in replies.entries()} - {""}
    if len(judges) == 1:
        return judges.pop()
    if judges:
        hint = f"name one of them with {OPTION}, and this file with --replies; stored replies are reused"
        raise InputError(str(path), f"contains replies of {len(judges)} judges", hint)
    hint = f"name the judge with {OPTION}, and this file with --replies; stored replies are reused"
    raise InputError(str(path), "does not say which judge gave its replies", hint)


def _known(asked: JudgeQuestion, identity: str, replies: Store[_KeptReply]) -> JudgeReply | None:
    """Return the reply that was given to this before, by this run or another one."""
    kept = replies.get(asked.key(identity))
    return None if kept is None else JudgeReply(kept.text)


async def _ask_all(
    asked: Sequence[JudgeQuestion], judge: UtilizationJudge, settings: Settings, replies: Store[_KeptReply]
) -> dict[JudgeQuestion, JudgeReply | None]:
    """Ask, and return what came; what a person interrupts is in the file of replies as far as it had come."""
    found: dict[JudgeQuestion, JudgeReply | None] = {}
    left = iter(asked)
    told = time.monotonic()
    opened = await asyncio.to_thread(_opened, judge, settings)
    identity, backend, retry = judge.identity(settings), opened.backend, opened.retry

    async def ask(each: JudgeQuestion) -> str:
        answer = await ask_async(each.prompt, backend, _LIMITS, judge.decoding(each.repeat))
        return answer.generation.text

    async def slot() -> None:
        nonlocal told
        for each in left:
            if (known := _known(each, identity, replies)) is not None:
                found[each] = known
                continue
            try:
                attempted = await retry.run(lambda: ask(each))  # noqa: B023
            except FATAL:
                raise
            except BackendError as error:
                found[each] = JudgeReply(None, str(error))
            else:
                kept = replies.put(_KeptReply(key=each.key(identity), text=attempted.value, judge=identity))
                found[each] = JudgeReply(kept.text)
            if time.monotonic() - told > _TOLD_EVERY_S:
                told = time.monotonic()
                tell(f"judge: {len(found):,} of {len(asked):,} verdicts")

    async with aclosing(backend):
        await backend.aopen()
        slots = [asyncio.create_task(slot()) for _ in range(judge.row.concurrency if opened.is_service else 1)]
        try:
            await asyncio.gather(*slots)
        finally:
            for each in slots:
                each.cancel()
            await asyncio.gather(*slots, return_exceptions=True)
    return found


def _opened(judge: UtilizationJudge, settings: Settings) -> Opened:
    """Return the judge with its model loaded. Raises InputError or BackendError."""
    if problem := lacking(judge.row.backend_name, judge.decoding(0).needs):
        raise LoadError(f"{problem}; leave out --repeats")
    run = RunSettings(Path(), "", settings, env_file=judge.env_file, remote=judge.remote)
    context = _SERVICE_CONTEXT_TOKENS if TRACKS[judge.row.track].leaves_machine else _CONTEXT_TOKENS
    opened = opened_row(judge.row, ROLE, run, context, _LIMITS)
    opened.load()
    return opened
