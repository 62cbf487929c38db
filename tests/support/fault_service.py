"""An OpenAI-compatible service on loopback that fails as it is told: raw bytes over real sockets, in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Fault = Callable[[asyncio.StreamWriter], Any]


def reply(status: int, body: bytes, kind: str = "application/json", **headers: str) -> Fault:
    """Answer with these bytes; `headers` have underscores for dashes."""
    lines = [f"HTTP/1.1 {status} Reason", f"content-type: {kind}", f"content-length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()

    return send


def completion(
    content: str | None, finish: str = "stop", *, reasoning: str | None = None, reasoning_tokens: int | None = None
) -> Fault:
    """Answer as a healthy service does."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning is not None:
        message["reasoning_content"] = reasoning
    usage: dict[str, Any] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    if reasoning_tokens is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": reasoning_tokens}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "served-name", "choices": [choice]}
    return reply(200, json.dumps(body | {"usage": usage}).encode())


def refusal(status: int, message: str, **headers: str) -> Fault:
    """Answer with an error as OpenAI words it."""
    return reply(status, json.dumps({"error": {"message": message, "type": "x", "code": None}}).encode(), **headers)


def slowly(seconds: float, fault: Fault) -> Fault:
    """Take this long before it happens."""

    async def send(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await fault(writer)

    return send


async def hang(writer: asyncio.StreamWriter) -> None:
    """Take the question and say nothing."""
    await asyncio.sleep(60)


async def trickle(writer: asyncio.StreamWriter) -> None:
    """Send an answer so slowly that no byte is ever late and the whole never comes."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100000\r\n\r\n")
    for _ in range(600):
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.1)


async def close_in_the_middle(writer: asyncio.StreamWriter) -> None:
    """Close the connection within the body."""
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"id": "1", "cho')
    await writer.drain()
    writer.close()


def raw(*pieces: bytes, then_close: bool = False, pause_s: float = 0.0) -> Fault:
    """Send these bytes, whatever they are, and a pause after each."""

    async def send(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)
        if then_close:
            writer.close()

    return send


def endless(head: bytes, piece: bytes, pause_s: float = 0.0) -> Fault:
    """Send the same bytes again and again, until the other side has enough."""

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return send


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close the connection without a word."""
    writer.close()


@dataclass(frozen=True)
class Script:
    """What happens to questions in which `needle` stands: one fault an attempt, the last one from then on."""

    needle: str
    faults: Sequence[Fault]


class FaultService:
    """A context manager; `url` is where it listens, `requests` what it was asked, in order.

    Args:
        scripts: what happens to some questions.
        default: what happens to all others.
        chosen: ... or what to do with a request, in place of `default`.

    """

    def __init__(
        self,
        *scripts: Script,
        default: Fault | None = None,
        chosen: Callable[[dict[str, Any]], Fault] | None = None,
    ) -> None:
        self._scripts: Sequence[Script] = scripts
        healthy = default or completion("fine")
        self._default = chosen or (lambda _: healthy)
        self._asked: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._port = 0
        self.requests: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.in_flight = self.most_in_flight = 0

    def heal(self) -> None:
        """Answer every question by the default from now on."""
        self._scripts = ()

    @property
    def url(self) -> str:
        """The base URL for CTXSIFT_LLM_BASE_URL."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> FaultService:
        ready = threading.Event()

        async def serve() -> None:
            self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0, limit=1 << 24)
            self._port = self._server.sockets[0].getsockname()[1]
            ready.set()

        def run() -> None:
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(serve())
            self._loop.run_forever()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *error: object) -> None:
        async def end() -> None:
            self._server.close()
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)
            self._loop.stop()

        asyncio.run_coroutine_threadsafe(end(), self._loop)
        self._thread.join(10)
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing():
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next(
                    int(x.split(":")[1]) for x in head.lower().splitlines() if x.startswith("content-length:")
                )
                body = json.loads(await reader.readexactly(length))
                self.requests.append(body)
                self.headers.append(head)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    await self._fault(body)(writer)
                finally:
                    self.in_flight -= 1
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    def _fault(self, body: dict[str, Any]) -> Fault:
        last = body.get("messages", [{}])[-1]
        prompt = json.dumps(last, ensure_ascii=False) + str(last.get("content"))
        for script in self._scripts:
            if script.needle in prompt:
                self._asked[script.needle] += 1
                return script.faults[min(self._asked[script.needle], len(script.faults)) - 1]
        return self._default(body)
