"""Runs a backend in a child process, so that a native crash or a hang costs one answer, never the caller.

Parent and child exchange one JSON object a line: requests on the child's stdin, replies on its first stdout.
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
from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Any

from ctxsift.backends.base import Backend, BatchBackend, Generation, Limits, LoadInfo, ModelSpec
from ctxsift.backends.registry import create_backend
from ctxsift.errors import (
    BackendError,
    InstrumentError,
    LoadError,
    PromptTooLongError,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from ctxsift.prompts import Message

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
        self.rss_bytes: int | None = None

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all children so far, as of their last replies."""
        return self._cpu_s_of_the_dead + self._cpu_s

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Start the child and load the model in it; see Backend."""
        self.close()
        self._start()
        try:
            reply = self._ask({"op": "load", "spec": asdict(spec)}, self._load_timeout_s)
        except BackendError:
            self.close()
            raise
        return LoadInfo(**reply)

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Let the child answer; see Backend.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: the child is gone and `load` has to be called again.

        """
        reply = self._ask(
            {"op": "generate", "messages": [asdict(m) for m in messages], "limits": asdict(limits)},
            self._generate_timeout_s,
        )
        return Generation(**reply)

    def generate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        """Let the child answer several prompts; one after the other where its backend knows no batches.

        Raises:
            WorkerCrashedError, WorkerTimeoutError: as `generate` does; the time limit grows with the batch.

        """
        timeout_s = self._generate_timeout_s and self._generate_timeout_s * len(prompts)
        batch = [[asdict(m) for m in messages] for messages in prompts]
        reply = self._ask({"op": "generate_batch", "prompts": batch, "limits": asdict(limits)}, timeout_s)
        return [_error(r["error"]) if "error" in r else Generation(**r["ok"]) for r in reply["replies"]]

    def kill(self) -> None:
        """End the child at once, from another thread; whoever waits for its answer gets WorkerCrashedError."""
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
        if self._stderr is not None:
            self._stderr.close()
            self._stderr = None

    def _start(self) -> None:
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
            # Ctrl-C belongs to the caller, which decides what happens to the answer being written.
            start_new_session=True,
        )
        threading.Thread(target=_pump, args=(self._process.stdout, self._replies), daemon=True).start()

    def _ask(self, request: dict[str, Any], timeout_s: float | None) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None:
            raise WorkerCrashedError(None, "the model process was not started")
        try:
            process.stdin.write(json.dumps(request) + "\n")
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
            reply = json.loads(line)
            self.rss_bytes, self._cpu_s = reply["rss_bytes"], reply["cpu_s"]
        except (ValueError, TypeError, KeyError):
            # Something else wrote to the reply channel; nothing that follows can be trusted.
            process.kill()
            tail = self._stderr_tail() or f"garbage on its reply channel: {line[:80]!r}"
            returncode = process.wait()
            self._discard()
            raise WorkerCrashedError(returncode, tail) from None
        if "error" in reply:
            raise _error(reply["error"])
        return dict(reply["ok"])

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


def _pump(stream: IO[str] | None, replies: queue.Queue[str | None]) -> None:
    assert stream is not None
    try:
        with stream:
            for line in stream:
                replies.put(line)
    finally:
        replies.put(None)


def _error(described: dict[str, Any]) -> BackendError:
    if described["type"] == "PromptTooLongError":
        return PromptTooLongError(described["prompt_tokens"], described["room"])
    if described["type"] in ("LoadError", "WeightsError"):
        return LoadError(described["message"])
    if described["type"] == "InstrumentError":
        return InstrumentError(described["message"])
    return BackendError(f"{described['type']}: {described['message']}")


def _describe(error: Exception) -> dict[str, Any]:
    described: dict[str, Any] = {"type": type(error).__name__, "message": " ".join(str(error).split())[:500]}
    if isinstance(error, PromptTooLongError):
        described |= {"prompt_tokens": error.prompt_tokens, "room": error.room}
    return described


def _batch(
    backend: Backend, prompts: Sequence[Sequence[Message]], limits: Limits
) -> Sequence[Generation | BackendError]:
    if isinstance(backend, BatchBackend):
        return backend.generate_batch(prompts, limits)
    replies: list[Generation | BackendError] = []
    for messages in prompts:
        try:
            replies.append(backend.generate(messages, limits))
        except BackendError as error:
            replies.append(error)
    return replies


def _reply(reply: Generation | BackendError) -> dict[str, Any]:
    return {"error": _describe(reply)} if isinstance(reply, BackendError) else {"ok": reply.to_json()}


def serve(name: str, requests: IO[str], replies: IO[str]) -> None:
    """Answer requests until the other side closes: the whole life of the child."""
    import psutil

    me = psutil.Process()
    backend = None
    for line in requests:
        request = json.loads(line)
        try:
            if request["op"] == "load":
                backend = create_backend(name)
                reply = {"ok": asdict(backend.load(ModelSpec(**request["spec"])))}
            else:
                assert backend is not None
                limits = Limits(**request["limits"])
                if request["op"] == "generate_batch":
                    prompts = [[Message(**m) for m in messages] for messages in request["prompts"]]
                    reply = {"ok": {"replies": [_reply(r) for r in _batch(backend, prompts, limits)]}}
                else:
                    messages = [Message(**m) for m in request["messages"]]
                    reply = {"ok": backend.generate(messages, limits).to_json()}
        except Exception as error:
            reply = {"error": _describe(error)}
        usage = {"rss_bytes": me.memory_info().rss, "cpu_s": time.process_time()}
        replies.write(json.dumps(reply | usage) + "\n")
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
