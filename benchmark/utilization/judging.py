"""Asking a judging model through its backend; every reply is kept in a file and not asked for again."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from benchmark.utilization.judge import JUDGE_VERSION, SCHEMA, Asked, Reply, asked_of, verdict_of
from benchmark.utilization.records import ChunkVerdict, Question
from ctxsift.asking import ask_async
from ctxsift.backends.base import Ability, Decoding, Limits, ModelOptions, ModelSpec
from ctxsift.backends.registry import GGUF, SERVICE, lacking, traits_of
from ctxsift.backends.retry import FATAL
from ctxsift.devices import Device
from ctxsift.errors import BackendError, InputError, LoadError
from ctxsift.models.opened import Opened, Patience
from ctxsift.models.store import Entry, Store
from ctxsift.prompts import FixedPrompt
from ctxsift.settings import Settings
from ctxsift.terminal import tell

# A verdict and a sentence.
_LIMITS = Limits(128)
_CONTEXT_TOKENS, _SERVICE_CONTEXT_TOKENS = 8192, 128_000
_LOCAL_TIMEOUT_S = 600.0
_IN_FLIGHT = 4
_TOLD_EVERY_S = 10.0
# Of repeats: one greedy answer would only be repeated.
_TEMPERATURE = 0.7


@dataclass(frozen=True)
class Judge:
    """Which model judges, and how it is asked.

    Attributes:
        model: name at the service; else `package:NAME`, a file or a hub id of GGUF weights.
        gguf_filename: the file in it, where it has several.
        backend: registered name; None for the service or llama.cpp.
        remote: the configured service is asked.
        repeats: how often each chunk is judged; above 1, at a temperature and with a seed each.
        replies: the file that keeps every reply.

    """

    model: str
    replies: Path
    gguf_filename: str | None = None
    backend: str | None = None
    remote: bool = False
    repeats: int = 1
    env_file: Path | None = None

    @property
    def name(self) -> str:
        """Who judges, for people."""
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        return f"judge {self.model} (version {JUDGE_VERSION}{times})"

    @property
    def identity(self) -> str:
        """What makes its replies its own."""
        return json.dumps([self.backend_name, self.model, self.gguf_filename, self.repeats > 1])

    def decoding(self, repeat: int) -> Decoding:
        """Return how a reply is decoded: held to the schema where the backend can do that. Raises LoadError."""
        schema = SCHEMA if Ability.SCHEMA in traits_of(self.backend_name).abilities else None
        return Decoding(_TEMPERATURE, repeat, schema) if self.repeats > 1 else Decoding(schema=schema)

    @property
    def backend_name(self) -> str:
        """The registered name of its backend."""
        return self.backend or (SERVICE if self.remote else GGUF)


class _Kept(Entry, frozen=True, kw_only=True):
    """A reply in the file."""

    text: str


def judged(questions: Sequence[Question], k: int | None, judge: Judge, settings: Settings) -> list[list[ChunkVerdict]]:
    """Return the verdicts on the top K chunks of every row; None where the judge gave none.

    Raises:
        InputError: the model cannot be loaded, the service refuses, or the file of replies cannot be used.
        OSError: the file of replies cannot be written.

    """
    asked = asked_of(questions, k, judge.repeats)
    replies = Store(judge.replies, _Kept, "holds no replies of a judge", "name another file with --replies")
    known = {each: _known(each, judge, replies) for each in asked}
    missing = [each for each in asked if known[each] is None]
    if missing:
        try:
            known |= asyncio.run(_ask_all(missing, judge, settings, replies))
        except BackendError as error:
            raise InputError("--judge", str(error)) from error
    found: list[list[ChunkVerdict]] = [[] for _ in questions]
    for start in range(0, len(asked), judge.repeats):
        same = asked[start : start + judge.repeats]
        found[same[0].row].append(verdict_of([known[each] or Reply(None) for each in same]))
    return found


def _known(asked: Asked, judge: Judge, replies: Store[_Kept]) -> Reply | None:
    """Return the reply that was given to this before, by this run or another one."""
    kept = replies.get(asked.key(judge.identity))
    return None if kept is None else Reply(kept.text)


async def _ask_all(
    asked: Sequence[Asked], judge: Judge, settings: Settings, replies: Store[_Kept]
) -> dict[Asked, Reply | None]:
    """Ask, and return what came; what a person interrupts is in the file of replies as far as it had come."""
    found: dict[Asked, Reply | None] = {}
    left = iter(asked)
    told = time.monotonic()
    opened = await asyncio.to_thread(_opened, judge, settings)
    backend, retry = opened.backend, opened.retry

    async def ask(each: Asked) -> str:
        answer = await ask_async(FixedPrompt(each.messages), backend, _LIMITS, judge.decoding(each.repeat))
        return answer.generation.text

    async def slot() -> None:
        nonlocal told
        for each in left:
            if (known := _known(each, judge, replies)) is not None:
                found[each] = known
                continue
            try:
                attempted = await retry.run(lambda: ask(each))  # noqa: B023
            except FATAL:
                raise
            except BackendError as error:
                found[each] = Reply(None, str(error))
            else:
                kept = replies.put(_Kept(key=each.key(judge.identity), text=attempted.value))
                found[each] = Reply(kept.text)
            if time.monotonic() - told > _TOLD_EVERY_S:
                told = time.monotonic()
                tell(f"judge: {len(found):,} of {len(asked):,} verdicts")

    async with aclosing(backend):
        await backend.aopen()
        slots = [asyncio.create_task(slot()) for _ in range(_IN_FLIGHT if opened.is_service else 1)]
        try:
            await asyncio.gather(*slots)
        finally:
            for each in slots:
                each.cancel()
            await asyncio.gather(*slots, return_exceptions=True)
    return found


def _opened(judge: Judge, settings: Settings) -> Opened:
    """Return the judge with its model loaded. Raises BackendError."""
    if problem := lacking(judge.backend_name, judge.decoding(0).needs):
        raise LoadError(f"{problem}; leave out --repeats")
    options = ModelOptions(env_file=str(judge.env_file.resolve()) if judge.env_file else None)
    device, context = (Device.REMOTE, _SERVICE_CONTEXT_TOKENS) if judge.remote else (Device.CPU, _CONTEXT_TOKENS)
    spec = ModelSpec(judge.model, None, device, "none", context, options=options)
    patience = Patience.of(settings, _LOCAL_TIMEOUT_S)
    opened = Opened(judge.backend_name, spec, patience, gguf_filename=judge.gguf_filename)
    opened.load()
    return opened
