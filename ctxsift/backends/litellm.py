"""Hosted and OpenAI-compatible models through LiteLLM. Talks to the configured address and to nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ctxsift.backends import litellm_replies as replies
from ctxsift.backends.base import GREEDY, Ability, Decoding, Generation, Limits, LoadInfo, ModelSpec, Traits
from ctxsift.backends.litellm_dialects import dialect_of
from ctxsift.backends.litellm_providers import (
    PROVEN,
    REHEARSAL_HOST,
    elsewhere,
    is_proven,
    provider_of,
    refusal,
    take_over,
)
from ctxsift.backends.litellm_reasoning import THINKING, reasoning_options
from ctxsift.backends.litellm_replies import Exchange, overheard
from ctxsift.backends.proxies import without_network_variables
from ctxsift.backends.registry import SERVICE
from ctxsift.errors import BackendError, InstrumentError, LoadError, PromptTooLongError, RefusedError, TransientError
from ctxsift.extras import Extra, install_hint
from ctxsift.prompts import Message
from ctxsift.redaction import Secrets
from ctxsift.settings import Settings, load_settings
from ctxsift.terminal import one_line

# LiteLLM puts its own class names, twice, before what the service said.
_WRAPPING = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout)?(?: Error)?: )+(?:\w+Exception - )?")
_REFUSALS = {
    401: "does not accept the key (CTXSIFT_LLM_API_KEY)",
    402: "requires payment first",
    403: "does not allow this key to use this model",
    404: "knows no such model, or the address (CTXSIFT_LLM_BASE_URL) is wrong",
}
_SHOWN_CHARS = 300
_READ_CHARS = 10_000
_GIVEN_UP = r"coroutine '\S*completion\S*' was never awaited"
_NOT_INSTALLED = f"litellm is not installed; {install_hint(Extra.REMOTE)}"
_PRINTING = "LITELLM_PRINT_"
_DETOURS = (
    "USE_LITELLM_PROXY",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER",
    "LITELLM_RUST",
    "LITELLM_ROUTE_ALL_CHAT_OPENAI_TO_RESPONSES",
)


def _missing(specs: Sequence[ModelSpec], settings: Settings) -> list[str | None]:
    problem = settings.missing_for_service()
    if problem is None and importlib.util.find_spec("litellm") is None:
        problem = _NOT_INSTALLED
    return [problem or _not_accepted(spec, settings) for spec in specs]


def _not_accepted(spec: ModelSpec, settings: Settings) -> str | None:
    """Return why the provider of a model is not asked. Only an unknown name needs LiteLLM to tell what it means."""
    if is_proven(spec.model):
        return None
    return refusal(provider_of(_import_litellm(), spec.model), (*spec.options.allow_provider, *settings.allow_provider))


class LiteLLMBackend:
    """Ask a model of a service through LiteLLM. Address and key come from environment or env file, never in a spec."""

    traits = Traits(missing=_missing, abilities=frozenset({Ability.SAMPLING, Ability.SCHEMA}))

    def __init__(self) -> None:
        self._litellm: Any = None
        self._client: Any = None
        self._settings = Settings()
        self._secrets = Secrets(())
        self._model = ""
        self._contained = False
        self._seed = 0
        self._request: dict[str, Any] = {}
        self._budget = 0
        self._temperature: float | None = 0.0

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Read the settings and import LiteLLM; no request is made. See AsyncBackend."""
        started = time.perf_counter()
        env_file = spec.options.env_file
        self._settings = load_settings(Path(env_file) if env_file else None)
        if missing := self._settings.missing_for_service():
            raise LoadError(missing)
        base_url = self._settings.llm_base_url or ""
        self._secrets = self._settings.secrets
        if refused := _not_accepted(spec, self._settings):
            raise LoadError(refused)
        litellm = _import_litellm()
        from ctxsift.backends.litellm_client import new_client

        self._client = new_client(base_url)
        provider = provider_of(litellm, spec.model)
        self._contained = provider in PROVEN
        try:
            take_over(litellm, self._client, base_url if self._contained else None)
        except Exception:  # of httpx, about a variable whose value may hold a password
            raise LoadError("a proxy variable of the environment is no address; correct or unset it") from None
        self._litellm = litellm
        self._model = spec.model if spec.model.startswith(f"{provider}/") else f"{provider}/{spec.model}"
        self._seed = spec.seed
        settings = self._settings
        try:
            with without_network_variables():
                litellm.get_llm_provider(self._model)
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
                service=settings.service,
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
        plays = [("openai/rehearsal", f"http://{REHEARSAL_HOST}/v1", "rehearsal")]
        # Where our client surely carries the question, its own address too; that ends before it is sent.
        if self._contained:
            plays.append((self._model, settings.llm_base_url or "", settings.llm_api_key or ""))
        for model, base, key in plays:
            overheard.set(Exchange(rehearsal=base == settings.llm_base_url))
            try:
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
            except Exception as error:  # whatever else is wrong will be said when it matters
                if (missing := _missing_module(error)) is not None:
                    what = f"{self._model}: LiteLLM needs the package {missing!r} to ask this model"
                    raise LoadError(f"{what}: pip install {missing}") from error
        overheard.set(None)

    def _timeout_s(self) -> float:
        # Attempts are timed outside; this only keeps LiteLLM's own, shorter default away.
        return self._settings.timeout_ms / 1000 + 60

    async def agenerate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Ask once; see AsyncBackend and DecodingBackend."""
        settings = self._settings
        decoded = self._decoded(decoding)
        exchange, reply = Exchange(), None
        overheard.set(exchange)
        started = time.perf_counter()
        try:
            reply = await self._litellm.acompletion(
                model=self._model,
                messages=[{"role": m.role, "content": m.content} for m in messages],
                api_base=settings.llm_base_url,
                api_key=settings.llm_api_key,
                api_version=settings.llm_api_version,
                max_tokens=limits.max_output_tokens + self._budget,
                timeout=self._timeout_s(),
                num_retries=0,
                max_retries=0,
                **decoded,
                **self._request,
            )
        except Exception as error:  # every provider has errors of its own; none may carry the key outside
            # What LiteLLM makes of an answer in plain sight is of no matter.
            if exchange.said is None:
                raise self._translated(error, exchange, messages) from None
        finally:
            overheard.set(None)
        total_ms = (time.perf_counter() - started) * 1000
        try:
            said = exchange.said or self._in_its_own_words(reply, exchange)
        except InstrumentError as error:
            raise InstrumentError(self._shown(str(error))) from None
        asked = [*(message.content for message in messages), self._model]
        return Generation(
            text=self._secrets.out_of_answer(said.text, asked),
            finish_reason=said.finish_reason,
            ending=replies.whole_characters(self._shown(said.ending)),
            prompt_tokens=said.prompt_tokens,
            completion_tokens=said.completion_tokens,
            prefill_ms=None,
            decode_ms=None,
            total_ms=total_ms,
            model=self._secrets.out_of_answer(said.model, asked) or self._model,
            reasoning=self._secrets.out_of_answer(said.reasoning, asked),
            reasoning_tokens=said.reasoning_tokens,
            cost_usd=replies.price_by_litellm(reply),
        )

    def _decoded(self, decoding: Decoding) -> dict[str, Any]:
        """Return what a request says of decoding. Raises RefusedError for what the provider would refuse."""
        said: dict[str, Any] = dict(temperature=self._temperature, seed=self._seed)
        if decoding.temperature:
            if self._temperature is None:
                raise RefusedError(
                    f"{self._model}: this model does not accept a temperature together with a reasoning budget"
                )
            said = dict(temperature=decoding.temperature, seed=decoding.seed)
        if decoding.schema is not None:
            schema = dict(name="answer", schema=decoding.schema, strict=True)
            said |= dict(response_format=dict(type="json_schema", json_schema=schema))
        return said

    def _in_its_own_words(self, reply: Any, exchange: Exchange) -> replies.ServiceAnswer:
        """Return an answer that came in words of its provider, without what LiteLLM adds. Raises InstrumentError."""
        if self._contained and exchange.status is None:
            raise InstrumentError("LiteLLM gave an answer that the service did not send")
        said = replies.said_by_litellm(reply)
        if exchange.status is None:
            return said
        dialect = dialect_of(exchange.document)
        if not (said.text or dialect.answers):
            raise InstrumentError(
                f"the service answered {exchange.status}, but with no chat completion: {exchange.body}"
            )
        text, reasoning = dialect.verbatim or (said.text, said.reasoning)
        ended, ending = replies.finish_reason(dialect.end)
        # LiteLLM calls every reason it does not know "stop", and counts tokens where nobody told.
        return replace(
            said,
            text=replies.whole_characters(text),
            reasoning=replies.whole_characters(reasoning),
            finish_reason=ended,
            ending=ending,
            prompt_tokens=said.prompt_tokens if dialect.counted else None,
            completion_tokens=said.completion_tokens if dialect.counted else None,
            reasoning_tokens=said.reasoning_tokens if dialect.counted else None,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.aclose()
        if self._litellm is not None:
            await self._litellm.close_litellm_async_clients()
            # It keeps clients by address and key, and would give the next run one of a loop that is gone.
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _translated(self, error: Exception, exchange: Exchange, messages: Sequence[Message]) -> BackendError:
        """Return what an error of LiteLLM means for this run."""
        if exchange.problem is not None:
            return type(exchange.problem)(self._shown(str(exchange.problem)))
        if kept := elsewhere(error):
            return InstrumentError(self._shown(str(kept)))
        status = exchange.status or getattr(error, "status_code", None)
        said = self._shown(_error_text(error, exchange))
        if isinstance(error, self._litellm.ContextWindowExceededError):
            # The service does not say by how much; a quarter less, until it fits.
            tokens = sum(len(m.content) for m in messages) // 3
            return PromptTooLongError(tokens, tokens * 3 // 4)
        if exchange.status is None and isinstance(error, OSError):
            return TransientError(f"no connection to the service: {said}")
        if self._contained and exchange.status is None:
            # Whatever status it carries, LiteLLM made it up.
            return InstrumentError(f"LiteLLM did not ask the service: {said}")
        if not status or not isinstance(status, int):
            return InstrumentError(f"the service answered {status or type(error).__name__}: {said}")
        return _by_status(status, said, exchange.headers or getattr(error, "litellm_response_headers", None))

    def _shown(self, text: str) -> str:
        """Return `text` on one line, shortened, without secrets and without anything that a terminal obeys."""
        return one_line(self._secrets.out_of_message(text)[:_READ_CHARS])[:_SHOWN_CHARS]


def _import_litellm() -> Any:
    """Return LiteLLM, told to keep to itself. Raises LoadError when it is not there."""
    # Without these it fetches a price list while it is imported, and loads whatever .env file is near.
    os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
    # With these a question would go another way than its provider's, or through native code that nothing here sees.
    os.environ |= dict.fromkeys(_DETOURS, "False")
    # With these it prints what it logs.
    for name in [name for name in os.environ if name.startswith(_PRINTING)]:
        del os.environ[name]
    try:
        with without_network_variables():
            import litellm
    except ImportError as error:
        raise LoadError(f"{_NOT_INSTALLED} ({error})") from error
    # A question that is given up while it is being prepared: LiteLLM leaves its coroutine lying there.
    warnings.filterwarnings("ignore", _GIVEN_UP, RuntimeWarning)
    # It logs a line a question, and whole requests when something fails; what matters comes as an exception.
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).disabled = True
    litellm.telemetry = False
    litellm.drop_params = True
    litellm.suppress_debug_info = True
    return litellm


def _missing_module(error: BaseException) -> str | None:
    """Return the package that an error, or one that led to it, says is not installed; None if none does."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ModuleNotFoundError) and seen.name:
            return seen.name.partition(".")[0]
        seen = seen.__cause__ or seen.__context__
    return None


def _error_text(error: Exception, exchange: Exchange) -> str:
    if told := replies.error_message(exchange.document):
        return told
    words = _WRAPPING.sub("", str(error)).partition("Traceback (most recent")[0].strip()
    return words or exchange.body.strip() or type(error).__name__


def _by_status(status: int, said: str, headers: Mapping[str, str] | None) -> BackendError:
    """Return what the status of an answer without a chat completion means for this run."""
    if status in _REFUSALS:
        return RefusedError(f"the service {_REFUSALS[status]}: {status}, {said}")
    if status in (408, 429) or status >= 500:
        return TransientError(f"the service answered {status}: {said}", _retry_after_s(headers))
    but = ", but with no chat completion" if 200 <= status < 300 else ""
    return InstrumentError(f"the service answered {status}{but}: {said}")


def _retry_after_s(headers: Mapping[str, str] | None) -> float | None:
    """Return the seconds a service asks to wait: `Retry-After` as seconds or as a date (RFC 9110, 10.2.3)."""
    value = str((headers or {}).get("retry-after", "")).strip()
    with contextlib.suppress(ValueError):
        # NaN is no time to wait, and infinity is longer than anybody waits.
        return max(0.0, float(value))
    try:
        then = parsedate_to_datetime(value)
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0.0, (then - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None
