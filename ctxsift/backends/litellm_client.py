"""Our connections to a service: every size is bounded, and a proxy is used only where the environment names one.

LiteLLM asks through this client. What a service sends is read here to its end, before LiteLLM sees any of it.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import zlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx

from ctxsift.backends.litellm_providers import REHEARSAL_HOST
from ctxsift.backends.litellm_replies import (
    Exchange,
    document_of,
    overheard,
    plain_completion,
    said_in,
    text_of,
)
from ctxsift.backends.proxies import Proxy, certificates_for, proxy_for
from ctxsift.errors import BackendError, InstrumentError, TransientError

# A million tokens have about this many bytes, and no answer that is asked for has as many.
MAX_BODY_BYTES = 4 << 20
# Of a refusal only the beginning is of use.
_MAX_REFUSAL_BYTES = 16 << 10
_MAX_HEAD_BYTES = 128 << 10
# Frames of chunks included, which may be longer than what they hold.
_MAX_WIRE_BYTES = 2 * MAX_BODY_BYTES
_MAX_PARTS = 20_000
_PARTS_AT_ONCE = 64
_REHEARSED_CHOICE = dict(index=0, message={"role": "assistant", "content": "ok"}, finish_reason="stop")
_REHEARSED = dict(id="0", object="chat.completion", created=0, model="rehearsal", choices=[_REHEARSED_CHOICE])
_BROKEN = (
    httpcore.NetworkError,
    httpcore.ProxyError,
    httpcore.RemoteProtocolError,
    httpcore.TimeoutException,
    OSError,
)


def new_client(base_url: str) -> httpx.AsyncClient:
    """Return a client for a service that follows no redirect and queues no request.

    Raises:
        LoadError: the environment names a proxy or certificates that cannot be used.

    """
    proxy = proxy_for(base_url, os.environ)
    return httpx.AsyncClient(
        transport=_Transport(proxy, certificates_for(base_url, proxy)),
        trust_env=False,
        follow_redirects=False,
        timeout=None,
    )


class _Transport(httpx.AsyncBaseTransport):
    """Sends requests, reads every response to its end, and notes it in the Exchange of the question."""

    def __init__(self, proxy: Proxy | None, certificates: ssl.SSLContext | None) -> None:
        self._way = f" through the proxy of {proxy.variable}" if proxy else ""
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=certificates,
            proxy=_core_proxy(proxy, certificates) if proxy else None,
            max_connections=None,
            # A connection that is used again may bring a second reply to the question before.
            max_keepalive_connections=0,
            network_backend=_Network(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Return the response, read to its end; raises BackendError, which the Exchange keeps as well."""
        exchange = overheard.get() or Exchange()
        if request.url.host == REHEARSAL_HOST:
            return httpx.Response(200, json=_REHEARSED)
        if exchange.rehearsal:
            raise RuntimeError(f"a rehearsal does not go to {request.url.host}")
        try:
            return await self._exchanged(request, exchange)
        except BackendError as problem:
            exchange.problem = problem
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()

    async def _exchanged(self, request: httpx.Request, exchange: Exchange) -> httpx.Response:
        exchange.status = None
        response = await self._answered(request)
        async with aclosing(response):
            exchange.status = status = response.status
            headers = httpx.Headers(response.headers)
            # A dictionary: names and values as text, doubled ones joined.
            exchange.headers = dict(headers)
            if status < 200:
                raise InstrumentError(f"the service answered {status}: it requested another protocol")
            body = await _body(response, headers, succeeded=status < 300)
        exchange.body = text_of(body, headers.get("content-type", ""))
        exchange.document = document_of(exchange.body)
        if 200 <= status < 300:
            exchange.said = said_in(exchange.document)
        if exchange.said is not None:
            return httpx.Response(status, json=plain_completion(exchange.document, exchange.said))
        dropped = ("content-encoding", "content-length", "transfer-encoding")
        kept = [(name, value) for name, value in headers.multi_items() if name.lower() not in dropped]
        return httpx.Response(status, headers=kept, content=body)

    async def _answered(self, request: httpx.Request) -> httpcore.Response:
        request.headers["accept-encoding"] = "gzip"
        url = request.url
        question = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
        )
        try:
            return await self._pool.handle_async_request(question)
        except httpcore.RemoteProtocolError as error:
            raise TransientError(f"the connection broke before the answer: {error}") from error
        except _BROKEN as error:
            problem = str(error) or type(error).__name__
            raise TransientError(f"no connection to the service{self._way}: {problem}") from error
        except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol, ValueError) as error:
            raise InstrumentError(f"the question could not be sent: {error}") from error


def _core_proxy(proxy: Proxy, certificates: ssl.SSLContext | None) -> httpcore.Proxy:
    parts = urlsplit(proxy.url)
    login = (unquote(parts.username or "").encode(), unquote(parts.password or "").encode())
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return httpcore.Proxy(
        f"{parts.scheme}://{host}{port}",
        auth=login if parts.username else None,
        ssl_context=certificates if parts.scheme == "https" else None,
    )


async def _body(response: httpcore.Response, headers: httpx.Headers, *, succeeded: bool) -> bytes:
    """Return the unpacked body; of an error, its beginning. Raises InstrumentError for one that has no end."""
    wire = response.extensions.get("network_stream")
    if isinstance(wire, _Wire):
        wire.expect_body()
    room = MAX_BODY_BYTES if succeeded else _MAX_REFUSAL_BYTES
    body = bytearray()
    try:
        async with aclosing(_parts(response)) as parts:
            async for part in _unpacked(parts, headers.get("content-encoding", ""), room):
                body += part
                if len(body) > room:
                    raise _too_much()
    except InstrumentError:
        if succeeded:
            raise
    except _BROKEN as error:
        raise TransientError("the connection broke in the middle of the answer") from error
    return bytes(body[:room])


async def _parts(response: httpcore.Response) -> AsyncGenerator[bytes, None]:
    stream: Any = response.stream
    number = 0
    async with aclosing(aiter(stream)) as parts:
        async for part in parts:
            yield part
            number += 1
            if number > _MAX_PARTS:
                raise _too_much()
            if number % _PARTS_AT_ONCE == 0:
                # Many parts may have come at once; the other questions go on meanwhile.
                await asyncio.sleep(0)


async def _unpacked(parts: AsyncIterator[bytes], encoding: str, room: int) -> AsyncIterator[bytes]:
    """Yield the text of gzip, never more than `room` bytes and one at a time."""
    if encoding.strip().lower() in ("", "identity"):
        async for part in parts:
            yield part
        return
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        raise InstrumentError(f"the service compressed its answer with an encoding that was not requested: {encoding}")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    came = False
    try:
        async for part in parts:
            came = True
            if not unpacker.eof:
                yield unpacker.decompress(part, room + 1)
            if unpacker.unconsumed_tail:
                raise _too_much()
    except zlib.error as error:
        raise InstrumentError(f"the answer cannot be unpacked: {error}") from error
    if came and not unpacker.eof:
        raise InstrumentError("the answer cannot be unpacked: it ends too early")


def _too_much() -> InstrumentError:
    return InstrumentError(
        f"the service sends more than any answer has ({MAX_BODY_BYTES >> 20} MiB); the rest is not read"
    )


class _Network(httpcore.AsyncNetworkBackend):
    """Opens connections that count."""

    def __init__(self) -> None:
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(self, *arguments: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        return _Wire(await self._network.connect_tcp(*arguments, **named))

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


class _Wire(httpcore.AsyncNetworkStream):
    """The bytes of one connection, counted: first those of the head, then those of the body."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._room = _MAX_HEAD_BYTES

    def expect_body(self) -> None:
        """Hear that the head has been read."""
        self._room = _MAX_WIRE_BYTES

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        self._room -= len(data)
        if self._room < 0:
            raise _too_much()
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *arguments: Any, **named: Any) -> httpcore.AsyncNetworkStream:
        return _Wire(await self._stream.start_tls(*arguments, **named))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
