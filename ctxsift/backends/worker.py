"""Runs a backend in a child process, so that a native crash or a hang costs one answer, never the caller.

Parent and child exchange lines of JSON (`worker_wire`): requests on the child's stdin, replies on its first stdout.
Whatever libraries print goes to stderr, whose last lines are quoted when the child dies.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import IO, cast

import msgspec

from ctxsift.backends import worker_wire as wire
from ctxsift.backends.base import (
    GREEDY,
    Ability,
    Backend,
    BatchBackend,
    Decoding,
    DecodingBackend,
    Generation,
    Limits,
    LoadInfo,
    LogProbability,
    MeasuringBackend,
    ModelSpec,
    RequestBackend,
)
from ctxsift.backends.registry import create_backend, lacking, traits_of
from ctxsift.errors import (
    BackendError,
    RefusedError,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from ctxsift.prompts import Message, Request

_TAIL_BYTES = 2000
_WATCH_S = 0.3


class WorkerBackend:
    """A backend (by its registered name) in a child process; itself a Backend.

    Args:
        name: the registered name of the backend to run.
        load_timeout_s, generate_timeout_s: after this long the child is killed; None waits for ever.

    """

    def __init__(
        self, name: str, *, load_timeout_s: float | None = None, generate_timeout_s: float | None = None
    ) -> None:
        self._name = name
        self._load_timeout_s, self._generate_timeout_s = load_timeout_s, generate_timeout_s
        self._process: subprocess.Popen[str] | None = None
        self._replies: queue.Queue[str | None] = queue.Queue()
        self._stderr: IO[bytes] | None = None
        self._cpu_s_of_the_dead = 0.0
        self._cpu_s = 0.0
        self._killed = False
        self.rss_bytes: int | None = None

    @property
    def abilities(self) -> frozenset[Ability]:
        """What its backend can do."""
        return traits_of(self._name).abilities

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all children so far, as of their last replies."""
        return self._cpu_s_of_the_dead + self._cpu_s

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Start the child and load the model in it; see Backend."""
        self.close()
        environment = traits_of(self._name).environment(os.environ)
        self._start(environment)
        try:
            content = self._ask(wire.LoadModel(spec), self._load_timeout_s)
        except BackendError:
            self.close()
            raise
        assert isinstance(content, wire.ModelLoaded)
        return replace(content.load, environment=environment)

    def generate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Let the child answer; see DecodingBackend.

        Raises:
            RefusedError: the backend cannot decode in that way; it was not asked.
            WorkerCrashedError, WorkerTimeoutError: the child is gone and `load` has to be called again.

        """
        self._require(decoding.needs)
        (reply,) = self._answers([messages], limits, decoding)
        if isinstance(reply, BackendError):
            raise reply
        return reply

    def generate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        """Let the child answer several prompts; one after the other where its backend knows no batches.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: as `generate` does; the time limit grows with the batch.

        """
        return self._answers(prompts, limits, GREEDY)

    def generate_request(self, request: Request, limits: Limits) -> Generation:
        """Let the child answer a request; see RequestBackend. Raises as `generate` does."""
        self._require([Ability.REQUESTS])
        content = self._ask(wire.AskRequest(request, limits), self._generate_timeout_s)
        assert isinstance(content, wire.OneAnswered)
        return content.generation

    def log_probabilities(self, messages: Sequence[Message], text: str) -> Sequence[LogProbability]:
        """Let the child measure a text; see MeasuringBackend. Raises as `generate` does."""
        self._require([Ability.LOG_PROBABILITIES])
        content = self._ask(wire.MeasureText(list(messages), text), self._generate_timeout_s)
        assert isinstance(content, wire.TextMeasured)
        return content.tokens

    def kill(self) -> None:
        """End the child at once and for good, from another thread; whoever waits for it gets WorkerCrashedError."""
        self._killed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the child."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        stderr, self._stderr = self._stderr, None
        if stderr is not None:
            stderr.close()

    def _require(self, needs: Iterable[Ability]) -> None:
        if problem := lacking(self._name, needs):
            raise RefusedError(problem)

    def _answers(
        self, prompts: Sequence[Sequence[Message]], limits: Limits, decoding: Decoding
    ) -> Sequence[Generation | BackendError]:
        timeout_s = self._generate_timeout_s and self._generate_timeout_s * len(prompts)
        content = self._ask(wire.AskMessages([list(messages) for messages in prompts], limits, decoding), timeout_s)
        assert isinstance(content, wire.EachAnswered)
        return [wire.error_of(each) if isinstance(each, wire.WorkerFault) else each.generation for each in content.each]

    def _start(self, environment: dict[str, str]) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._replies = queue.Queue()
        self._cpu_s_of_the_dead, self._cpu_s = self.cpu_s, 0.0
        self._process = subprocess.Popen(
            # -P: the folder a person works in may hold a queue.py of its own, and must not be imported from.
            [sys.executable, "-P", "-m", "ctxsift.backends.worker", self._name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **environment},
            # Ctrl-C belongs to the caller, which decides what happens to the answer being written.
            start_new_session=True,
        )
        threading.Thread(target=_pump, args=(self._process.stdout, self._replies), daemon=True).start()
        if self._killed:
            # It was told to end while it was not there yet.
            self._process.kill()

    def _ask(self, request: wire.Errand, timeout_s: float | None) -> wire.Done:
        process = self._process
        if process is None or process.stdin is None:
            raise WorkerCrashedError(None, "the model process was not started")
        try:
            process.stdin.write(wire.line_of(request))
            process.stdin.flush()
            line = self._replies.get(timeout=timeout_s)
        except queue.Empty:
            process.kill()
            self._discard()
            raise WorkerTimeoutError(timeout_s or 0.0) from None
        except OSError:
            line = None
        if line is None:
            returncode = process.wait()
            tail = self._stderr_tail()
            self._discard()
            raise WorkerCrashedError(returncode, tail)
        try:
            reply = msgspec.convert(json.loads(line), wire.WorkerReply)
        except (ValueError, RecursionError):
            # Something else wrote to the reply channel; nothing that follows can be trusted.
            process.kill()
            tail = self._stderr_tail() or f"garbage on its reply channel: {line[:80]!r}"
            returncode = process.wait()
            self._discard()
            raise WorkerCrashedError(returncode, tail) from None
        self.rss_bytes, self._cpu_s = reply.rss_bytes, reply.cpu_s
        if isinstance(reply.content, wire.WorkerFault):
            raise wire.error_of(reply.content)
        return reply.content

    def _discard(self) -> None:
        process = self._process
        if process is not None:
            process.wait()
        self.close()

    def _stderr_tail(self) -> str:
        if self._stderr is None:
            return ""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _TAIL_BYTES))
        lines = self._stderr.read().decode("utf-8", errors="replace").strip().splitlines()
        return " | ".join(line.strip() for line in lines[-3:])


def start_worker(
    name: str, *, load_timeout_s: float | None = None, generate_timeout_s: float | None = None
) -> WorkerBackend:
    """Return the worker that the backend `name` wants. Raises LoadError when there is no such backend."""
    kind = traits_of(name).worker or WorkerBackend
    worker: WorkerBackend = kind(name, load_timeout_s=load_timeout_s, generate_timeout_s=generate_timeout_s)
    return worker


def _pump(stream: IO[str] | None, replies: queue.Queue[str | None]) -> None:
    assert stream is not None
    try:
        with stream:
            for line in stream:
                replies.put(line)
    finally:
        replies.put(None)


def _batch(backend: Backend, ask: wire.AskMessages) -> Sequence[Generation | BackendError]:
    if isinstance(backend, BatchBackend) and len(ask.prompts) > 1:
        return backend.generate_batch(ask.prompts, ask.limits)
    replies: list[Generation | BackendError] = []
    for messages in ask.prompts:
        try:
            if ask.decoding.needs:
                replies.append(cast(DecodingBackend, backend).generate(messages, ask.limits, ask.decoding))
            else:
                replies.append(backend.generate(messages, ask.limits))
        except BackendError as error:
            replies.append(error)
    return replies


def _answers(backend: Backend, ask: wire.AskMessages) -> wire.EachAnswered:
    replies = _batch(backend, ask)
    return wire.EachAnswered(
        [wire.fault_of(reply) if isinstance(reply, BackendError) else wire.OneAnswered(reply) for reply in replies]
    )


def _report(backend: Backend, request: wire.AskMessages | wire.AskRequest | wire.MeasureText) -> wire.Done:
    if isinstance(request, wire.MeasureText):
        measuring = cast(MeasuringBackend, backend)
        return wire.TextMeasured(list(measuring.log_probabilities(request.messages, request.text)))
    if isinstance(request, wire.AskRequest):
        return wire.OneAnswered(cast(RequestBackend, backend).generate_request(request.request, request.limits))
    return _answers(backend, request)


def serve(name: str, requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until the other side closes: the whole life of the child."""
    import psutil

    me = psutil.Process()
    backend = None
    for line in requests:
        try:
            request: wire.Errand = msgspec.convert(json.loads(line), wire.Errand)
            content: wire.Done | wire.WorkerFault
            if isinstance(request, wire.LoadModel):
                backend = create_backend(name)
                content = wire.ModelLoaded(backend.load(request.spec))
            else:
                assert backend is not None
                content = _report(backend, request)
            reply = wire.line_of(wire.WorkerReply(content, me.memory_info().rss, time.process_time()))
        except Exception as error:
            reply = wire.line_of(wire.WorkerReply(wire.fault_of(error), me.memory_info().rss, time.process_time()))
        replies.write(reply)
        replies.flush()
    if backend is not None:
        backend.close()


def _leave_with(parent: int) -> None:
    """End this process when its parent is gone: an answer that nobody waits for would take the machine from others."""
    while os.getppid() == parent:
        time.sleep(_WATCH_S)
    os._exit(1)


def main() -> None:
    """Keep the real stdout for replies and send everything else that is printed to stderr."""
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    serve(sys.argv[1], sys.stdin, channel)


if __name__ == "__main__":
    main()
