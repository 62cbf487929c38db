"""Hosted and OpenAI-compatible models through LiteLLM. Talks to the configured address and to nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from ctxsift.backends.base import FinishReason, Generation, Limits, LoadInfo, ModelSpec, Traits
from ctxsift.backends.litellm_reasoning import THINKING, reasoning_options
from ctxsift.backends.registry import SERVICE
from ctxsift.errors import BackendError, InstrumentError, LoadError, PromptTooLongError, RefusedError, TransientError
from ctxsift.prompts import Message
from ctxsift.settings import Settings, load_settings

_FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length", "content_filter": "content_filter"}
# LiteLLM puts its own class names, twice, before what the service said.
_WRAPPING = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout)?(?: Error)?: )+(?:\w+Exception - )?")
_REFUSALS = {
    401: "does not accept the key (CTXSIFT_LLM_API_KEY)",
    402: "requires payment first",
    403: "does not allow this key to use this model",
    404: "knows no such model, or the address (CTXSIFT_LLM_BASE_URL) is wrong",
}
_SHOWN_CHARS = 300
_NOT_INSTALLED = "litellm is not installed: install the extra 'remote': pip install '.[remote]'"
_REHEARSAL_HOST = "rehearsal.invalid"
_REHEARSED_CHOICE = dict(index=0, message={"role": "assistant", "content": "ok"}, finish_reason="stop")
_REHEARSED = dict(id="0", object="chat.completion", created=0, model="rehearsal", choices=[_REHEARSED_CHOICE])


class _SentMessage(msgspec.Struct):
    content: Any
    reasoning_content: Any = None
    reasoning: Any = None


class _SentChoice(msgspec.Struct):
    message: _SentMessage
    finish_reason: Any = None


class _Sent(msgspec.Struct):
    """The part of a chat completion that LiteLLM changes."""

    choices: Annotated[list[_SentChoice], msgspec.Meta(min_length=1)]
    usage: Any = None


class _SentProblem(msgspec.Struct):
    message: str


class _SentRefusal(msgspec.Struct):
    error: _SentProblem


@dataclass
class _Exchange:
    """What went over the wire for one question, where LiteLLM lets us see it."""

    rehearsal: bool = False
    status: int | None = None
    headers: Mapping[str, str] | None = None
    body: str | None = None

    def reply(self) -> _Sent | None:
        """Return the reply as an OpenAI-compatible service sent it; None where there is none or it cannot be seen."""
        try:
            return msgspec.convert(json.loads(self.body or ""), _Sent)
        except (ValueError, RecursionError):
            return None


_exchange: ContextVar[_Exchange | None] = ContextVar("_exchange", default=None)


def _missing(specs: Sequence[ModelSpec], settings: Settings) -> list[str | None]:
    problem = settings.missing_for_service()
    if problem is None and importlib.util.find_spec("litellm") is None:
        problem = _NOT_INSTALLED
    return [problem] * len(specs)


class LiteLLMBackend:
    """One remote model. Address and key come from the environment or `spec.options.env_file`, never in a spec."""

    traits = Traits(missing=_missing)

    def __init__(self) -> None:
        self._litellm: Any = None
        self._client: Any = None
        self._settings = Settings()
        self._model = ""
        self._seed = 0
        self._request: dict[str, Any] = {}
        self._handler: dict[str, Any] = {}
        self._budget = 0
        self._temperature: float | None = 0.0

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Read the settings and import LiteLLM; no request is made. See AsyncBackend."""
        started = time.perf_counter()
        env_file = spec.options.env_file
        self._settings = load_settings(Path(env_file) if env_file else None)
        if missing := self._settings.missing_for_service():
            raise LoadError(missing)
        litellm = _import_litellm()
        self._client = _new_client()
        litellm.aclient_session = self._client
        self._litellm = litellm
        # A name without a provider means what the service at that address calls its model.
        provider = spec.model.partition("/")[0]
        self._model = spec.model if "/" in spec.model and provider in litellm.provider_list else f"openai/{spec.model}"
        self._seed = spec.seed
        settings = self._settings
        try:
            self._handler = _handler(litellm, self._model, self._client)
            reasoning = reasoning_options(
                litellm, self._model, settings.llm_reasoning_mode, settings.llm_reasoning_budget
            )
        except Exception as error:  # LiteLLM raises as many kinds as it knows providers
            raise LoadError(f"{spec.model}: LiteLLM cannot use this name: {self._shown(str(error))}") from error
        reasoning = replace(reasoning, extra_body={**reasoning.extra_body, **spec.options.extra_body})
        self._request, self._budget = reasoning.request, reasoning.budget
        # Providers refuse a temperature together with an explicit budget of thought.
        self._temperature = None if THINKING in self._request else 0.0
        return LoadInfo(
            backend=SERVICE,
            engine=litellm.__name__,
            engine_version=version(litellm.__name__),
            architecture="",
            chat_template="provider",
            chat_template_note="",
            chat_template_sha256=hashlib.sha256(b"provider").hexdigest(),
            context_tokens=spec.context_tokens,
            threads=0,
            load_ms=(time.perf_counter() - started) * 1000,
            settings=dict(
                service=_address(settings.llm_base_url or ""),
                api_version=settings.llm_api_version,
                temperature=self._temperature,
                seed=spec.seed,
                reasoning_mode=settings.llm_reasoning_mode,
                request=self._request,
                reasoning_budget=reasoning.budget,
            ),
        )

    async def aopen(self) -> None:
        """Rehearse: LiteLLM imports half of itself, and makes its clients, at the first question; see AsyncBackend."""
        import anyio

        # httpx's own first time.
        await anyio.sleep(0)
        settings = self._settings
        plays = [("openai/rehearsal", f"http://{_REHEARSAL_HOST}/v1", "rehearsal")]
        # Where our client surely carries the question, its own address too; that ends before it is sent.
        if self._model.startswith("openai/"):
            plays.append((self._model, settings.llm_base_url or "", settings.llm_api_key or ""))
        for model, base, key in plays:
            _exchange.set(_Exchange(rehearsal=base == settings.llm_base_url))
            # Whatever is wrong will be said when it matters.
            with contextlib.suppress(Exception):
                await self._litellm.acompletion(
                    model=model,
                    messages=[{"role": "user", "content": "ok?"}],
                    api_base=base,
                    api_key=key,
                    api_version=settings.llm_api_version,
                    timeout=self._timeout_s(),
                    num_retries=0,
                    max_retries=0,
                )
        _exchange.set(None)

    def _timeout_s(self) -> float:
        # Attempts are timed outside; this only keeps LiteLLM's own, shorter default away.
        return self._settings.timeout_ms / 1000 + 60

    async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Ask once; see AsyncBackend."""
        settings = self._settings
        exchange = _Exchange()
        _exchange.set(exchange)
        started = time.perf_counter()
        try:
            reply = await self._litellm.acompletion(
                model=self._model,
                messages=[{"role": m.role, "content": m.content} for m in messages],
                api_base=settings.llm_base_url,
                api_key=settings.llm_api_key,
                api_version=settings.llm_api_version,
                temperature=self._temperature,
                seed=self._seed,
                max_tokens=limits.max_output_tokens + self._budget,
                timeout=self._timeout_s(),
                num_retries=0,
                max_retries=0,
                **self._request,
                **self._handler,
            )
        except Exception as error:  # every provider has errors of its own; none may carry the key outside
            raise self._translated(error, exchange, messages) from None
        total_ms = (time.perf_counter() - started) * 1000
        if not reply.choices:
            raise InstrumentError(f"the service answered without a choice: {self._shown(exchange.body or '')}")
        choice, usage, sent = reply.choices[0], reply.get("usage"), exchange.reply()
        text, reasoning = _said(choice.message, sent)
        # LiteLLM calls every reason it does not know "stop", and usage that nobody told 0.
        finish = sent.choices[0].finish_reason if sent else choice.finish_reason
        told = usage if not sent or sent.usage else None
        return Generation(
            text=text,
            finish_reason=_FINISH.get(str(finish), "unknown"),
            prompt_tokens=told.prompt_tokens if told else None,
            completion_tokens=told.completion_tokens if told else None,
            prefill_ms=None,
            decode_ms=None,
            total_ms=total_ms,
            model=reply.model or self._model,
            reasoning=reasoning,
            reasoning_tokens=_reasoning_tokens(told),
            cost_usd=reply._hidden_params.get("response_cost") or None,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            # It keeps clients by address and key, and would give the next run one of a loop that is gone.
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _translated(self, error: Exception, exchange: _Exchange, messages: Sequence[Message]) -> BackendError:
        """Return what an error of LiteLLM means for this run."""
        status = exchange.status or getattr(error, "status_code", None)
        said = self._shown(_error_text(error, exchange))
        if isinstance(error, self._litellm.ContextWindowExceededError):
            # The service does not say by how much; a quarter less, until it fits.
            tokens = sum(len(m.content) for m in messages) // 3
            return PromptTooLongError(tokens, tokens * 3 // 4)
        headers = exchange.headers or getattr(error, "litellm_response_headers", None)
        if exchange.status is None and _is_broken_connection(error):
            return TransientError(f"no connection to the service: {said}")
        if exchange.status is not None and exchange.body is None:
            return TransientError("the connection broke in the middle of the answer")
        if status in _REFUSALS:
            return RefusedError(f"the service {_REFUSALS[status]}: {status}, {said}")
        if status in (408, 429) or (isinstance(status, int) and status >= 500):
            return TransientError(f"the service answered {status}: {said}", _retry_after_s(headers))
        if status is not None and 200 <= status < 300:
            return InstrumentError(f"the service answered {status}, but with no chat completion: {said}")
        return InstrumentError(f"the service answered {status or type(error).__name__}: {said}")

    def _shown(self, text: str) -> str:
        """Return `text` on one line, shortened, without the key."""
        key = self._settings.llm_api_key
        shown = " ".join(text.split())
        return (shown.replace(key, "***") if key else shown)[:_SHOWN_CHARS]


def _import_litellm() -> Any:
    """Return LiteLLM, told to keep to itself. Raises LoadError when it is not there."""
    # Without these it fetches a price list while it is imported, and loads whatever .env file is near.
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
    try:
        import litellm
    except ImportError as error:
        raise LoadError(f"{_NOT_INSTALLED} ({error})") from error
    # It logs a line a question, and whole requests when something fails; what matters comes as an exception.
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).disabled = True
    litellm.telemetry = False
    litellm.drop_params = True
    litellm.suppress_debug_info = True
    return litellm


def _new_client() -> Any:
    """Return a client of our own: redirects would carry key and corpus elsewhere, pools would queue requests."""
    import httpx

    rehearsal = httpx.MockTransport(lambda _: httpx.Response(200, json=_REHEARSED))
    return httpx.AsyncClient(
        follow_redirects=False,
        timeout=None,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        event_hooks={"request": [_end_rehearsal], "response": [_overhear]},
        mounts={f"all://{_REHEARSAL_HOST}": rehearsal},
    )


def _handler(litellm: Any, model: str, client: Any) -> dict[str, Any]:
    """Return how LiteLLM is told to use our client where a provider is not asked through OpenAI's library."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    _, provider, _, _ = litellm.get_llm_provider(model)
    if provider in ("openai", "azure") or provider in litellm.openai_compatible_providers:
        return {}
    handler = AsyncHTTPHandler()
    handler.client = client
    return {"client": handler}


def _address(url: str) -> str:
    """Return an address without what may be secret in it: name, password and query."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


async def _end_rehearsal(request: Any) -> None:
    exchange = _exchange.get()
    if exchange is not None and exchange.rehearsal:
        raise RuntimeError(f"a rehearsal does not go to {request.url.host}")


async def _overhear(response: Any) -> None:
    """Note what the service really said: LiteLLM moves thoughts out of answers and drops headers of errors."""
    exchange = _exchange.get()
    if exchange is None:
        return
    exchange.status, exchange.headers, exchange.body = response.status_code, response.headers, None
    await response.aread()
    exchange.body = response.text


def _said(message: Any, sent: _Sent | None) -> tuple[str, str]:
    """Return answer and reasoning; by what was sent where it was seen, so that leaked thought stays in the answer."""
    original = sent.choices[0].message if sent else None
    if original is not None and isinstance(original.content, str):
        return original.content, str(original.reasoning_content or original.reasoning or "")
    return message.content or "", getattr(message, "reasoning_content", None) or ""


def _reasoning_tokens(usage: Any) -> int | None:
    try:
        found = usage.completion_tokens_details.reasoning_tokens
    except AttributeError:
        return None
    return found if isinstance(found, int) else None


def _error_text(error: Exception, exchange: _Exchange) -> str:
    try:
        told = msgspec.convert(json.loads(exchange.body or ""), _SentRefusal).error.message
    except (ValueError, RecursionError):
        told = ""
    if told:
        return told
    return _WRAPPING.sub("", str(error)).partition("Traceback (most recent")[0].strip() or type(error).__name__


def _is_broken_connection(error: BaseException) -> bool:
    import httpx

    seen: BaseException | None = error
    while seen is not None:
        # Not LiteLLM's own APIConnectionError: it is its name for everything that it did not foresee.
        if isinstance(seen, (OSError, httpx.TransportError)):
            return True
        seen = seen.__cause__ or seen.__context__
    return False


def _retry_after_s(headers: Mapping[str, str] | None) -> float | None:
    """Return the seconds a service asks to wait: `Retry-After` as seconds or as a date (RFC 9110, 10.2.3)."""
    value = (headers or {}).get("retry-after", "").strip()
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(value)
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - datetime.now(UTC)).total_seconds())
