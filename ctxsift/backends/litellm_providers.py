"""Which of LiteLLM's providers stay at the address they are given, and how they are kept there.

LiteLLM asks each provider in a way of its own, with clients that it makes itself, and those follow redirects. Ours is
put in every place where it would make one, and refuses any other address. What goes around these places is found only
by trying: a provider is `PROVEN` once a test has watched all its connections, and what becomes of its answers.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

from ctxsift.errors import LoadError

# Prefixes of LiteLLM 1.106 that were watched; see tests/ctxsift/backends/test_litellm_providers.py.
_PROVEN = """
    a2a ai21 ai21_chat aiml anthropic anthropic_text apertis assemblyai azure azure_ai baseten bedrock_mantle
    cerebras charity_engine chutes clarifai cloudflare codestral cognition cohere cohere_chat cometapi
    compactifai cortecs custom_openai darkbloom dashscope databricks datarobot deepinfra deepseek
    docker_model_runner edenai empower featherless_ai fireworks_ai friendliai galadriel gemini github groq
    helicone heroku hosted_vllm huggingface hyperbolic inception lambda_ai lemonade libertai
    litellm_proxy llamafile lm_studio meta meta_llama minimax mistral modelscope moonshot morph nadir nano-gpt
    nebius neosantara novita nscale nvidia_nim ollama ollama_chat openai openrouter ovhcloud parasail perplexity
    pinstripes poe prism publicai qwen_ai_platform qwencloud ragflow reka sail sambanova scaleway scx-ai
    snowflake synthetic tencent tensormesh text-completion-codestral text-completion-inception
    text-completion-openai together_ai triton v0 vercel_ai_gateway volcengine wandb xai xiaomi_mimo xinference
    zai
"""
PROVEN = frozenset(_PROVEN.split())
OPENAI = "openai"
REHEARSAL_HOST = "rehearsal.invalid"
_ALLOW, _ALLOW_SETTING = "--allow-provider", "CTXSIFT_ALLOW_PROVIDER"


class ElsewhereError(Exception):
    """LiteLLM was about to ask another address than the configured one."""


def is_proven(model: str) -> bool:
    """Return whether a model's name begins with a provider that stays at its address."""
    return model.partition("/")[0] in PROVEN if "/" in model else True


def provider_of(litellm: Any, model: str) -> str:
    """Return the provider that a model's name begins with; a name without one is what a service calls its model."""
    prefix, slash, _ = model.partition("/")
    return prefix if slash and prefix in litellm.provider_list else OPENAI


def refusal(provider: str, allowed: Collection[str]) -> str | None:
    """Return why a provider is not asked, in one line; None where it is proven, or somebody accepts it."""
    if provider in PROVEN or provider in allowed:
        return None
    return (
        f"LiteLLM's provider {provider} may follow redirects or call other hosts than CTXSIFT_LLM_BASE_URL; "
        f"accept that with {_ALLOW} {provider} (or {_ALLOW_SETTING}={provider})"
    )


def take_over(litellm: Any, client: Any, base_url: str | None) -> None:
    """Put a client where LiteLLM would make its own.

    Args:
        litellm: the module.
        client: an httpx.AsyncClient that does not follow redirects.
        base_url: the only address that it may ask from now on, and nothing else may ask any; None for a provider that
            somebody accepts as it is.

    Raises:
        LoadError: `base_url` is no address.

    """
    from litellm.caching.llm_caching_handler import LLMClientCache
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler, HTTPHandler

    class Handler(AsyncHTTPHandler):  # type: ignore[misc, unused-ignore]
        def create_client(self, *_: Any, **__: Any) -> Any:
            # Where a connection breaks, LiteLLM makes another client and asks again. Attempts are counted outside.
            if (broken := sys.exception()) is not None:
                raise broken
            return client

    class Clients(LLMClientCache):  # type: ignore[misc, unused-ignore]
        """Every client that LiteLLM makes with httpx it looks for here first, under a name that begins like these."""

        def get_cache(self, key: Any, **named: Any) -> Any:
            if str(key).startswith("async_httpx_client"):
                return handler
            kept: Any = super().get_cache(key, **named)  # type: ignore[no-untyped-call, unused-ignore]
            return beside if beside and str(key).startswith("httpx_client") else kept

    handler = Handler()
    handler.client = client
    # Its other client blocks the event loop, so questions do not go that way; only logins and look-ups do.
    beside = HTTPHandler(client=_nowhere()) if base_url else None
    if base_url:
        _bind(client, base_url)
    litellm.in_memory_llm_clients_cache = Clients()
    litellm.aclient_session, litellm.client_session = client, beside and beside.client
    litellm.module_level_aclient, litellm.module_level_client = handler, beside or HTTPHandler()
    # To count tokens that a service did not count, it would fetch a tokenizer from the hub.
    litellm.disable_hf_tokenizer_download = True


def elsewhere(error: BaseException) -> ElsewhereError | None:
    """Return what kept a question at its address, where that is behind an error of LiteLLM."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, ElsewhereError):
        seen = seen.__cause__ or seen.__context__
    return seen


def _bind(client: Any, base_url: str) -> None:
    """Let a client ask the host and port of one address, and the rehearsal."""
    import httpx

    try:
        home = _origin(base_url)
    except (httpx.InvalidURL, ValueError) as error:  # the latter for a host that IDNA does not know
        raise LoadError(f"CTXSIFT_LLM_BASE_URL is not an address: {error}") from error

    async def stay(request: Any) -> None:
        if _origin(str(request.url)) != home and request.url.host != REHEARSAL_HOST:
            raise ElsewhereError(f"LiteLLM would ask {request.url.host}, which is not CTXSIFT_LLM_BASE_URL")

    hooks = client.event_hooks
    client.event_hooks = {**hooks, "request": [stay, *hooks["request"]]}


def _nowhere() -> Any:
    import httpx

    class Nowhere(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise ElsewhereError(f"LiteLLM would ask {request.url.host} for more than the answer")

    return httpx.Client(transport=Nowhere())


def _origin(url: str) -> tuple[str, str, int]:
    import httpx

    parsed = httpx.URL(url)
    return parsed.scheme, parsed.host.rstrip("."), parsed.port or {"https": 443}.get(parsed.scheme, 80)
