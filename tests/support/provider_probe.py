"""What a process does on the wire when it asks one provider prefix after another: on loopback, and nowhere else.

    python -m tests.support.provider_probe [--foreign] [--every N] [PREFIX/MODEL ...]

Each model is loaded and asked through the backend at service A, which answers as any provider does, or redirects to
service B under another name. Every connection and every look-up of the process is watched; none leaves the machine.
One JSON line a model: see `Seen`.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import logging
import os
import re
import sys
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

KEY = "planted-k3y-8c1f"
ANSWER = "the service's own answer"
ELSEWHERE = "localhost"
FOREIGN = "http://foreign.invalid/v1"
REDIRECTS = (302, 307, 308)
THOUGHT = "<think>hm</think>"
_COUNTS = ("usage", "usageMetadata", "prompt_eval_count", "eval_count", "generated_token_count", "input_token_count")
_ENDS = ("finish_reason", "finishReason", "stop_reason", "done_reason")
MALFORMED = (b"not JSON", b'{"id": "1"}')
_QUESTION = "the corpus stands here"
# Where LiteLLM wants the whole address of a service, and not only the beginning.
_PATHS = {"cohere": "/v2/chat", "cohere_chat": "/v2/chat", "triton": "/generate"}
# Where it wants more of a name than one word.
_NAMES = {"clarifai": "clarifai/user.app.m", "ragflow": "ragflow/chat/1/m"}


@dataclass
class Seen:
    """What happened to one model.

    Attributes:
        refused: what `load` said; nothing was asked then.
        answer: of a healthy service; None where there was none.
        error: what was said instead of an answer.
        redirected: for each status, what became of the question: the error, or the answer.
        asked: path of each request at A.
        followed: requests that reached B, by status.
        elsewhere: what else was connected to, looked up or started.
        thinking: an answer with thought in it, for which the service told neither why it ended nor what it took.
        malformed: what was said of answers that are none.
        foreign_key: a key that is not ours was sent.
        our_key: ours was.

    """

    model: str
    refused: str | None = None
    answer: str | None = None
    error: str | None = None
    redirected: dict[int, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    followed: list[int] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    thinking: dict[str, Any] | None = None
    malformed: list[str] = field(default_factory=list)
    foreign_key: bool = False
    our_key: bool = False


class Wire:
    """Two services on loopback, and the watch over everything else."""

    def __init__(self) -> None:
        self.status = 200
        self.sent: bytes | None = None
        self.told = True
        self.at_a: list[tuple[str, str]] = []
        self.at_b: list[str] = []
        self.elsewhere: list[str] = []
        self._b = _serve(self._at_b)
        self._a = _serve(self._at_a)
        self.url = f"http://127.0.0.1:{self._a}"
        sys.addaudithook(self._watch)

    def _watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "socket.connect":
            host, port = (str(x) for x in arguments[1][:2]) if isinstance(arguments[1], tuple) else (arguments[1], "")
            if (host, port) == ("127.0.0.1", str(self._a)):
                return
            self.elsewhere.append(f"connect {host}:{port}")
            if (host, port) not in (("127.0.0.1", str(self._b)), ("::1", str(self._b))):
                raise ConnectionRefusedError(f"the watch: {host}")
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            host = arguments[0].decode() if isinstance(arguments[0], bytes) else str(arguments[0])
            if host in ("127.0.0.1", "None"):
                return
            self.elsewhere.append(f"look up {host}")
            if host != ELSEWHERE:
                raise ConnectionRefusedError(f"the watch: {host}")
        elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"):
            started = str(arguments[0])
            if started != "uname":  # platform.uname() of the standard library
                self.elsewhere.append(f"start {started}")

    def _at_a(self, handler: BaseHTTPRequestHandler, body: str) -> tuple[int, dict[str, str], bytes]:
        self.at_a.append((handler.path, f"{handler.path}\n{handler.headers}\n{body}"))
        if self.status != 200:
            return self.status, {"location": f"http://{ELSEWHERE}:{self._b}{handler.path}"}, b""
        if self.sent is not None:
            return 200, {}, self.sent
        return 200, {}, json.dumps(_completion(handler.path, told=self.told)).encode()

    def _at_b(self, handler: BaseHTTPRequestHandler, body: str) -> tuple[int, dict[str, str], bytes]:
        self.at_b.append(f"{handler.command} {handler.path}")
        return 200, {}, json.dumps(_completion(handler.path)).encode()


def _serve(answer: Any) -> int:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
            status, headers, sent = answer(self, body)
            self.send_response(status)
            for name, value in (headers | {"content-type": "application/json"}).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_POST = do_GET = do_PUT = do_HEAD = _any  # noqa: N815

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def _completion(path: str, *, told: bool = True) -> dict[str, Any]:
    """Return an answer that every provider's reader takes for one of its own.

    Args:
        path: what was asked for.
        told: whether it says why it ended, and what it took.

    """
    whole = _whole_completion(path, ANSWER if told else f"{THOUGHT}{ANSWER}")
    return whole if told else _untold(whole)


def _untold(value: Any) -> Any:
    """Return a copy of an answer without counts, and with null for why it ended."""
    if isinstance(value, list):
        return [_untold(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {name: each for name, each in value.items() if name not in _COUNTS}
    return {name: None if name in _ENDS else _untold(each) for name, each in kept.items()}


def _whole_completion(path: str, answer: str) -> dict[str, Any]:
    """Return an answer in the dialect of the provider that has such a path; in OpenAI's where none has."""
    usage = dict(prompt_tokens=11, completion_tokens=7, total_tokens=18)
    parts = [dict(type="text", text=answer)]
    if path.endswith("/messages"):
        counts = dict(input_tokens=11, output_tokens=7)
        shape = dict(type="message", role="assistant", content=parts, stop_reason="end_turn", usage=counts)
        return dict(id="1", model="served-name", **shape)
    if path.endswith(":generateContent"):
        counts = dict(promptTokenCount=11, candidatesTokenCount=7, totalTokenCount=18)
        candidate = dict(content=dict(parts=[dict(text=answer)], role="model"), finishReason="STOP", index=0)
        return dict(candidates=[candidate], usageMetadata=counts, modelVersion="served-name")
    if path.endswith("/v2/chat"):
        message: dict[str, Any] = dict(role="assistant", content=parts)
        counted = dict(tokens=dict(input_tokens=11, output_tokens=7))
        return dict(id="1", finish_reason="COMPLETE", message=message, usage=counted)
    if path.endswith(("/api/chat", "/api/generate")):
        said = dict(message=dict(role="assistant", content=answer)) if path.endswith("chat") else dict(response=answer)
        done = dict(done=True, done_reason="stop", prompt_eval_count=11, eval_count=7)
        return dict(model="served-name", created_at="2026-01-01T00:00:00Z", **done, **said)
    if path.endswith("/complete"):
        return dict(completion=answer, stop_reason="stop_sequence", model="served-name", id="1", type="completion")
    # The rest speaks as OpenAI does, or answers in one field.
    message = dict(role="assistant", content=answer)
    choice = dict(index=0, message=message, text=answer, finish_reason="stop")
    whole = dict(id="1", object="chat.completion", created=1, model="served-name", choices=[choice], usage=usage)
    return whole | dict(service_tier=None, result=dict(response=answer), text_output=answer, messages=[message])


async def _ask(backend: Any, limit_s: float = 20) -> tuple[Any, str | None]:
    from ctxsift.backends.base import Limits
    from ctxsift.prompts import Message

    try:
        messages = [Message("system", "You are terse."), Message("user", _QUESTION)]
        generation = await asyncio.wait_for(backend.agenerate(messages, Limits(64)), limit_s)
    except Exception as error:  # whatever it is, it is what is looked at
        return None, f"{type(error).__name__}: {error}"
    return generation, None


async def _probe(model: str, wire: Wire, statuses: Sequence[int]) -> Seen:
    from ctxsift.backends.base import ModelSpec
    from ctxsift.backends.litellm import LiteLLMBackend

    seen = Seen(model)
    wire.at_a.clear()
    wire.elsewhere.clear()
    os.environ["CTXSIFT_LLM_BASE_URL"] = wire.url + _PATHS.get(model.partition("/")[0], "/v1")
    backend = LiteLLMBackend()
    try:
        backend.load(ModelSpec(model))
    except Exception as error:  # as above
        seen.refused = str(error)
        return seen
    try:
        await backend.aopen()
    except Exception as error:  # as above
        seen.error = f"{type(error).__name__}: {error}"
    else:
        wire.status = 200
        healthy, seen.error = await _ask(backend)
        seen.answer = healthy.text if healthy else None
        wire.told = False
        thinking, untold = await _ask(backend)
        fields = ("text", "reasoning", "finish_reason", "prompt_tokens", "completion_tokens")
        seen.thinking = {name: getattr(thinking, name) for name in fields} if thinking else {"error": untold}
        wire.told = True
        for wire.sent in MALFORMED:
            answer, told = await _ask(backend)
            seen.malformed.append(told or f"answered: {answer.text}")
        wire.sent = None
        for status in statuses:
            wire.status = status
            wire.at_b.clear()
            answer, told = await _ask(backend)
            seen.redirected[status] = told or f"answered: {answer.text}"
            if wire.at_b:
                seen.followed.append(status)
        await backend.aclose()
    seen.asked = [path for path, _ in wire.at_a]
    seen.elsewhere = list(dict.fromkeys(wire.elsewhere))
    seen.foreign_key = any("foreign-key" in said for _, said in wire.at_a)
    seen.our_key = any(KEY in said for _, said in wire.at_a)
    return seen


def foreign_settings() -> dict[str, str]:
    """Return a value for every key and address of others that LiteLLM reads in the environment."""
    from importlib.util import find_spec

    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    names = {
        name
        for file in Path(spec.origin).parent.rglob("*.py")
        for name in re.findall(r"""["']([A-Z][A-Z0-9_]{3,})["']""", file.read_text(encoding="utf-8"))
    }
    keys = {name: "foreign-key" for name in names if re.search(r"_(API_KEY|TOKEN|SECRET)$", name)}
    addresses = {
        name: FOREIGN for name in names if re.search(r"_(URL|BASE|ENDPOINT|HOST)$", name) and "_PER_" not in name
    }
    switches = dict.fromkeys(
        (
            "USE_LITELLM_PROXY",
            "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER",
            "LITELLM_RUST",
            "LITELLM_ROUTE_ALL_CHAT_OPENAI_TO_RESPONSES",
        ),
        "True",
    )
    return {k: v for k, v in (keys | addresses | switches).items() if not k.startswith("CTXSIFT_")}


def main(arguments: Sequence[str]) -> None:
    """Probe models, and every Nth prefix that LiteLLM knows (0 for none); print one JSON line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--foreign", action="store_true", help="among the settings of others")
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("models", nargs="*")
    options = parser.parse_args(arguments)
    if options.foreign:
        os.environ |= foreign_settings()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    wire = Wire()
    os.environ["CTXSIFT_LLM_API_KEY"] = KEY
    models = list(options.models)
    if options.every:
        from ctxsift.backends.litellm import _import_litellm

        names = sorted(str(getattr(each, "value", each)) for each in _import_litellm().provider_list)
        models += [_NAMES.get(name, f"{name}/m") for name in names[:: options.every]]
    for model in dict.fromkeys(models):
        seen = asyncio.run(_probe(model, wire, REDIRECTS))
        print(json.dumps(dataclasses.asdict(seen)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
