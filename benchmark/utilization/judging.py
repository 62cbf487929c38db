"""Asking a judging model through its backend; every reply is kept in a file and not asked for again."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from benchmark.utilization.judge import JUDGE_VERSION, SCHEMA, Asked, Reply, asked_of, verdict_of
from benchmark.utilization.records import ChunkVerdict, Question
from ctxsift.asking import ask_async
from ctxsift.backends.base import Ability, AsyncBackend, Decoding, Limits, ModelOptions, ModelSpec
from ctxsift.backends.registry import GGUF, SERVICE, create_backend, is_service, lacking, traits_of
from ctxsift.backends.retry import FATAL, LOCAL_RETRY, Retry
from ctxsift.backends.threaded import ThreadedBackend
from ctxsift.backends.weights import find_weights
from ctxsift.backends.worker import start_worker
from ctxsift.devices import Device
from ctxsift.errors import BackendError, InputError, LoadError
from ctxsift.files import exists, open_regular, reading
from ctxsift.prompts import FixedPrompt
from ctxsift.settings import Settings
from ctxsift.terminal import tell

# A verdict and a sentence.
_LIMITS = Limits(128)
_CONTEXT_TOKENS, _SERVICE_CONTEXT_TOKENS = 8192, 128_000
_LOCAL_TIMEOUT_S = 600.0
_IN_FLIGHT = 4
_TOLD_EVERY_S = 10.0
_OTHER_FILE = "name another file with --replies"
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


def judged(questions: Sequence[Question], k: int | None, judge: Judge, settings: Settings) -> list[list[ChunkVerdict]]:
    """Return the verdicts on the top K chunks of every row; None where the judge gave none.

    Raises:
        InputError: the model cannot be loaded, the service refuses, or the file of replies cannot be used.
        OSError: the file of replies cannot be written.

    """
    asked = asked_of(questions, k, judge.repeats)
    with _Replies(judge.replies) as replies:
        known = {each: replies.get(each.key(judge.identity)) for each in asked}
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


async def _ask_all(
    asked: Sequence[Asked], judge: Judge, settings: Settings, replies: _Replies
) -> dict[Asked, Reply | None]:
    """Ask, and return what came; what a person interrupts is in the file of replies as far as it had come."""
    found: dict[Asked, Reply | None] = {}
    service = is_service(judge.backend_name)
    retry = Retry(settings.retries, settings.timeout_ms / 1000) if service else LOCAL_RETRY
    left = iter(asked)
    told = time.monotonic()
    backend = await asyncio.to_thread(_loaded, judge)

    async def ask(each: Asked) -> str:
        answer = await ask_async(FixedPrompt(each.messages), backend, _LIMITS, judge.decoding(each.repeat))
        return answer.generation.text

    async def slot() -> None:
        nonlocal told
        for each in left:
            try:
                attempted = await retry.run(lambda: ask(each))  # noqa: B023
            except FATAL:
                raise
            except BackendError as error:
                found[each] = Reply(None, str(error))
            else:
                replies.add(each.key(judge.identity), attempted.value)
                found[each] = Reply(attempted.value)
            if time.monotonic() - told > _TOLD_EVERY_S:
                told = time.monotonic()
                tell(f"judge: {len(found):,} of {len(asked):,} verdicts")

    async with aclosing(backend):
        await backend.aopen()
        slots = [asyncio.create_task(slot()) for _ in range(_IN_FLIGHT if service else 1)]
        try:
            await asyncio.gather(*slots)
        finally:
            for each in slots:
                each.cancel()
            await asyncio.gather(*slots, return_exceptions=True)
    return found


def _loaded(judge: Judge) -> AsyncBackend | ThreadedBackend:
    """Return the backend of the judge with its model loaded. Raises BackendError."""
    name, path = judge.backend_name, None
    if problem := lacking(name, judge.decoding(0).needs):
        raise LoadError(f"{problem}; leave out --repeats")
    backend: AsyncBackend | ThreadedBackend
    if is_service(name):
        service = create_backend(name)
        assert isinstance(service, AsyncBackend)
        backend = service
    else:
        traits = traits_of(name)
        if traits.reads_only_gguf or (traits.reads_gguf and judge.gguf_filename):
            path = str(find_weights(judge.model, judge.gguf_filename).path)
        worker = start_worker(name, load_timeout_s=_LOCAL_TIMEOUT_S, generate_timeout_s=_LOCAL_TIMEOUT_S)
        backend = ThreadedBackend(worker)
    options = ModelOptions(env_file=str(judge.env_file.resolve()) if judge.env_file else None)
    device, context = (Device.REMOTE, _SERVICE_CONTEXT_TOKENS) if judge.remote else (Device.CPU, _CONTEXT_TOKENS)
    backend.load(ModelSpec(judge.model, path, device, "none", context, options=options))
    return backend


class _Line(msgspec.Struct, frozen=True):
    """A kept reply."""

    key: str
    text: str


class _Replies:
    """The file of replies: a JSON object a line, written through; a torn last line is passed over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._texts = {line.key: line.text for line in _lines(path)} if exists(path) else {}
        self._file: BinaryIO | None = None

    def __enter__(self) -> _Replies:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def get(self, key: str) -> Reply | None:
        """Return a reply that is there already."""
        text = self._texts.get(key)
        return None if text is None else Reply(text)

    def add(self, key: str, text: str) -> None:
        """Write a reply down. Raises OSError."""
        if self._file is None:
            self._path.touch()
            self._file = open_regular(self._path, write=True)
            self._file.seek(0, os.SEEK_END)
            # What a kill has torn must not take the next line with it.
            self._file.write(b"\n" if self._file.tell() else b"")
        # Half characters that a model wrote are escaped.
        line = _Line(key, text.encode("utf-8", "backslashreplace").decode())
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _lines(path: Path) -> Iterator[_Line]:
    """Yield the replies in a file. Raises InputError when it holds something else: nothing is appended to that."""
    decoder = msgspec.json.Decoder(_Line)
    count, damaged = 0, 0
    with reading(path, _OTHER_FILE) as file:
        for line in file:
            count += 1
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError:
                damaged += 1
    if count == damaged > 0:
        raise InputError(str(path), "holds no replies of a judge", _OTHER_FILE)
