"""Answers of services gone wrong, seeded: good completions with something else in one place, and broken HTTP."""

from __future__ import annotations

import base64
import copy
import functools
import gzip
import json
import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.support.fault_service import Fault, close_in_the_middle, endless, hang, hang_up, raw, reply, slowly

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Hostile:
    """A fault, and the answer that is in it all the same; None where whatever comes of it is right."""

    name: str
    fault: Fault
    answer: str | None = None


def openai_completion(content: str) -> dict[str, Any]:
    """Return what a service that speaks OpenAI's words answers."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    usage_details = {
        "completion_tokens_details": {"reasoning_tokens": 2},
        "prompt_tokens_details": {"cached_tokens": 1},
    }
    message = {"role": "assistant", "content": content, "reasoning_content": "hm"}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": "served-name", "system_fingerprint": "f"}
    return {**head, "choices": [choice], "usage": {**usage, **usage_details}}


def anthropic_message(content: str) -> dict[str, Any]:
    """Return what Anthropic answers."""
    head = {"id": "1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn"}
    return {**head, "content": [{"type": "text", "text": content}], "usage": {"input_tokens": 11, "output_tokens": 7}}


# JSON that `json.dumps` would not write stands for itself.
_LITERALS = {
    "@nan": "NaN",
    "@infinity": "Infinity",
    "@huge": "1e400",
    "@long": "9" * 6000,
    "@deep": "[" * 400 + "]" * 400,
    "@abyss": '{"a":' * 20_000 + "1" + "}" * 20_000,
    "@half": '"\\ud800 half"',
    "@double": '{"a": 1, "a": 2}',
}
_WEIRD: list[Any] = [
    *_LITERALS,
    *(
        None,
        True,
        False,
        -1,
        0,
        7.0,
        7.5,
        -0.0,
        10**30,
        2**63,
        "",
        "7",
        "-1",
        "x" * 5000,
        "\x1b[31mred\x07",
        "\u202eltr",
    ),
    *([], {}, [None], [[]], [{}], {"a": 1}, {"message": "no"}, [1, "two", {"three": 3}], "a\nb\r\nc", "\x9b31m", "\0"),
]


def _paths(document: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    children = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    for key, child in children:
        yield from _paths(child, (*at, key))


def _text(document: Any) -> str:
    text = json.dumps(document)
    for mark, literal in _LITERALS.items():
        text = text.replace(f'"{mark}"', literal)
    return text


def _changed(document: Any, at: Path, change: Callable[[Any, Any], None]) -> Any:
    found = copy.deepcopy({"": document})
    parent: Any = found
    for key in ("", *at)[:-1]:
        parent = parent[key]
    change(parent, ("", *at)[-1])
    return found.get("")


# Where the answer stands; a change elsewhere must not cost it.
_VITAL: tuple[Path, ...] = (
    ("choices",),
    ("choices", 0),
    ("choices", 0, "message"),
    ("choices", 0, "message", "content"),
)


def mutated(rng: random.Random, make: Callable[[str], dict[str, Any]], content: str) -> Hostile:
    """Return a completion with something else in one place."""
    document = make(content)
    at = rng.choice(list(_paths(document)))
    weird = rng.choice(_WEIRD)
    kind = rng.choice(("set", "set", "set", "drop", "wrap"))

    def change(parent: Any, key: Any) -> None:
        if kind == "drop" and key != "":
            del parent[key]
        else:
            parent[key] = [parent[key]] if kind == "wrap" else weird

    # Nobody can read JSON as deep as that; the answer beside it is lost.
    readable = make is openai_completion and not (kind == "set" and weird == "@abyss")
    kept = readable and at not in ((), *_VITAL)
    text = _text(_changed(document, at, change))
    name = f"{kind} {'/'.join(map(str, at))} {weird!r:.30}"
    return Hostile(name, reply(200, text.encode("utf-8", "surrogatepass")), content if kept else None)


def spoiled(rng: random.Random, make: Callable[[str], dict[str, Any]], content: str) -> dict[str, Fault]:
    """Return by name a completion in other encodings, cut, and not alone."""
    text = json.dumps(make(content), ensure_ascii=False)
    body = text.encode()
    cut = rng.randrange(len(body))
    flipped = bytearray(body)
    flipped[cut] ^= 1 << rng.randrange(8)
    return {
        "cut": reply(200, body[:cut]),
        "flipped": reply(200, bytes(flipped)),
        "BOM": reply(200, b"\xef\xbb\xbf" + body),
        "UTF-16": reply(200, text.encode("utf-16"), "application/json; charset=utf-16"),
        "UTF-32": reply(200, text.encode("utf-32")),
        "no charset": reply(200, body, "application/json; charset=no-such"),
        "zlib charset": reply(200, body, "application/json; charset=zlib_codec"),
        "half UTF-8": reply(200, body.replace(b'"hm"', b'"h\xe2\x82"')),
        "event stream": reply(200, b"data: " + body + b"\n\ndata: [DONE]\n\n", "text/event-stream"),
        "delta": reply(200, body.replace(b'"message"', b'"delta"')),
        "twice": reply(200, body + body),
        "no type": raw(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body),
        "text/plain": reply(200, body, "text/plain"),
        "201": reply(201, body),
        "204": raw(b"HTTP/1.1 204 No\r\n\r\n"),
        "error within": reply(200, b'{"error": {"message": "inner \\u001b]0;x\\u0007", "code": 500}}'),
        "error text": reply(200, b'{"error": "just text"}'),
        "tool call": reply(200, json.dumps({"choices": [{"message": {"tool_calls": [{"id": 1}]}}]}).encode()),
        "null": reply(200, b"null"),
    }


def _chunked(*chunks: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


@functools.cache
def _bomb() -> bytes:
    """Return 600 MiB of blanks, packed; which takes seconds."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b" " * (1 << 20)
    return b"".join(packer.compress(block) for _ in range(600)) + packer.flush()


_OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
_CHUNKED = _OK + b"transfer-encoding: chunked\r\n\r\n"


def broken_http(
    rng: random.Random, make: Callable[[str], dict[str, Any]], content: str, elsewhere: str
) -> dict[str, Fault]:
    """Return by name the faults of HTTP itself.

    Args:
        rng: chooses statuses and the like.
        make: makes a completion.
        content: of the answer.
        elsewhere: another address, where nobody may be sent.

    """
    bomb = _bomb()
    body = json.dumps(make(content)).encode()
    other = json.dumps(make("an answer to somebody else")).encode()
    whole = _OK + b"content-length: %d\r\n\r\n" % len(body) + body
    second = _OK + b"content-length: %d\r\n\r\n" % len(other) + other
    packed = gzip.compress(body)
    zipped = b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n"
    filler = b"z" * 60_000
    status = rng.choice((400, 408, 409, 413, 422, 429, 451, 500, 502, 503, 504, 520, 599))
    code = rng.choice((300, 301, 302, 303, 304, 307, 308))
    return {
        "no status": raw(b"hello\r\n\r\n", then_close=True),
        "status 42": raw(b"HTTP/1.1 42 What\r\n\r\n", then_close=True),
        "status 999": raw(b"HTTP/1.1 999 What\r\ncontent-length: 0\r\n\r\n"),
        "HTTP/9.9": raw(b"HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n", then_close=True),
        "HTTP/0.9": raw(body, then_close=True),
        "binary": raw(rng.randbytes(3000), then_close=True),
        "escapes in the reason": raw(b"HTTP/1.1 500 \x1b[31mred\r\ncontent-length: 2\r\n\r\nno", then_close=True),
        "bad chunk size": raw(_CHUNKED + b"zz\r\n" + body, then_close=True),
        "huge chunk size": raw(_CHUNKED + b"ffffffffffffffffff\r\n" + body, then_close=True),
        "endless chunk extension": endless(_CHUNKED + b"5;", filler),
        "endless chunks": endless(_CHUNKED, b"ea60\r\n" + filler + b"\r\n"),
        "endless tiny chunks": endless(_CHUNKED, b"1\r\n \r\n" * 10_000),
        "endless trailers": endless(_CHUNKED + b"0\r\n", b"a: b\r\n" * 10_000),
        "endless body": endless(_OK + b"\r\n", filler),
        "body of exabytes": endless(_OK + b"content-length: 999999999999999999\r\n\r\n", filler),
        "endless packed": endless(_OK + b"content-encoding: gzip\r\n\r\n" + bomb[:1000], filler),
        "bomb": raw(_OK + zipped % len(bomb) + bomb),
        "bomb in an error": raw(_OK.replace(b"200", b"500") + zipped % len(bomb) + bomb),
        "bomb twice packed": reply(200, gzip.compress(bomb), content_encoding="gzip, gzip"),
        "damaged gzip": raw(_OK + zipped % len(packed) + packed[:-20] + b"x" * 20),
        "cut gzip": raw(_OK + zipped % (len(packed) - 9) + packed[:-9]),
        "not gzip": reply(200, body, content_encoding="gzip"),
        "brotli": reply(200, body, content_encoding="br"),
        "unknown packing": reply(200, body, content_encoding="\x1b[31m-rot13"),
        "both framings": raw(_CHUNKED.replace(b"\r\n\r\n", b"\r\ncontent-length: 5\r\n\r\n") + _chunked(body)),
        "two lengths": raw(_OK + b"content-length: 5\r\ncontent-length: 500\r\n\r\n" + body, then_close=True),
        "negative length": raw(_OK + b"content-length: -5\r\n\r\n" + body, then_close=True),
        "length too long": raw(_OK + b"content-length: %d\r\n\r\n" % (len(body) + 9) + body, then_close=True),
        "length too short": raw(_OK + b"content-length: %d\r\n\r\n" % (len(body) - 9) + body),
        "second reply": raw(whole + second),
        "second reply, chunked": raw(_CHUNKED + _chunked(body) + second),
        "second reply a bit later": raw(whole, second, pause_s=0.001),
        "garbage after": raw(whole + rng.randbytes(200)),
        "early close": raw(whole[: rng.randrange(len(whole))], then_close=True),
        "flood of 1xx": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000),
        "flood of 103": endless(b"", b"HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\n" * 1000, 0.001),
        "switching": raw(b"HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n" + body),
        "endless header": endless(_OK + b"x: ", filler),
        "endless headers": endless(_OK, b"a: b\r\n" * 10_000),
        "many headers": raw(_OK + b"a: b\r\n" * 12_000 + b"content-length: %d\r\n\r\n" % len(body) + body),
        "header trickle": endless(_OK, b"x", 0.05),
        "body trickle": endless(_OK + b"content-length: 100000\r\n\r\n", b" ", 0.05),
        "folded header": raw(_OK + b"x: a\r\n b\r\ncontent-length: %d\r\n\r\n" % len(body) + body),
        "NUL in header": raw(_OK + b"x: \0\r\ncontent-length: 0\r\n\r\n", then_close=True),
        "redirect": reply(code, b"", location=elsewhere),
        "redirect within": reply(code, b"", location="/v1/other"),
        "redirect to a file": reply(code, b"", location="file:///etc/passwd"),
        "redirect with an answer": reply(code, body, location=elsewhere),
        "refresh": reply(200, body, refresh=f"0; url={elsewhere}", link=f"<{elsewhere}>; rel=next"),
        "error": reply(status, b'{"error": {"message": "\\u001b]0;title\\u0007\\u202eno"}}'),
        "weird error": reply(status, _text({"error": rng.choice(_WEIRD)}).encode("utf-8", "surrogatepass")),
        "error in HTML": reply(status, b"<html>" + b"x" * 100_000, "text/html"),
        "endless error": endless(b"HTTP/1.1 %d No\r\n\r\n" % status, filler),
        "wait for ever": reply(
            429, b"{}", retry_after=rng.choice(("1e400", "nan", "-5", "inf", "9" * 400, "\x1b[31m"))
        ),
        "wait for a date": reply(503, b"{}", retry_after="Fri, 31 Dec 99999 23:59:59 GMT"),
        "nothing": hang,
        "hung up": hang_up,
        "closed within": close_in_the_middle,
        "late": slowly(0.2, raw(whole)),
    }


def echoes(key: str) -> dict[str, str]:
    """Return a key in the forms in which it may come back."""
    return {
        "as it is": key,
        "JSON": "".join(f"\\u{ord(c):04x}" for c in key),
        "JSON twice": "".join(f"\\\\u{ord(c):04X}" for c in key),
        "percent": "".join(f"%{ord(c):02x}" for c in key),
        "some percent": quote(key, safe="").replace("k", "%6B"),
        "entities": "".join(f"&#{ord(c)};" for c in key),
        "hex entities": "".join(f"&#x{ord(c):X};" for c in key),
        "Base64": base64.b64encode(key.encode()).decode(),
        "Basic": base64.b64encode(f"user:{key}".encode()).decode(),
        "repr": repr(f"Bearer {key}\n".encode()),
        "escapes": "".join(f"\\x{ord(c):02x}" for c in key),
    }
