"""Hosted and OpenAI-compatible models through LiteLLM. Talks to the configured address and to nothing else."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ctxsift.backends.base import FinishReason, Generation, Limits, LoadInfo, ModelSpec
from ctxsift.errors import BackendError, InstrumentError, LoadError
from ctxsift.prompts import Message
from ctxsift.settings import Settings, load_settings

_FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length", "content_filter": "content_filter"}


class LiteLLMBackend:
    """One remote model. Address and key come from the environment or `spec.options["env_file"]`, never in a spec."""

    def __init__(self) -> None:
        self._litellm: Any = None
        self._settings = Settings()
        self._model = ""
        self._seed = 0

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Read the settings and import LiteLLM; no request is made. See Backend."""
        started = time.perf_counter()
        env_file = spec.options.get("env_file")
        self._settings = load_settings(Path(env_file) if env_file else None)
        if not self._settings.llm_base_url:
            raise LoadError("CTXSIFT_LLM_BASE_URL is not set: give the address of the service (see .env.example)")
        # Without this LiteLLM fetches a price list from the network while it is imported.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            import litellm
        except ImportError as error:
            raise LoadError(f"litellm is not installed ({error}); install the extra 'remote'") from error
        litellm.telemetry = False
        litellm.drop_params = True
        litellm.suppress_debug_info = True
        self._litellm = litellm
        # A name without a provider means what the service at that address calls its model.
        self._model = spec.model if "/" in spec.model else f"openai/{spec.model}"
        self._seed = spec.seed
        return LoadInfo(
            backend="litellm",
            engine="litellm",
            engine_version=version("litellm"),
            architecture="",
            chat_template="provider",
            chat_template_note="",
            chat_template_sha256=hashlib.sha256(b"provider").hexdigest(),
            context_tokens=spec.context_tokens,
            threads=0,
            load_ms=(time.perf_counter() - started) * 1000,
            settings={"temperature": 0.0, "seed": spec.seed},
        )

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Ask once. Raises InstrumentError when no answer came; see Backend."""
        settings = self._settings
        started = time.perf_counter()
        try:
            reply = self._litellm.completion(
                model=self._model,
                messages=[{"role": m.role, "content": m.content} for m in messages],
                api_base=settings.llm_base_url,
                api_key=settings.llm_api_key or "none",
                api_version=settings.llm_api_version,
                temperature=0.0,
                seed=self._seed,
                max_tokens=limits.max_output_tokens,
                timeout=settings.timeout_ms / 1000,
                num_retries=0,
                max_retries=settings.retries,
            )
        except Exception as error:  # every provider has errors of its own; none may carry the key outside
            raise InstrumentError(self._without_key(f"{type(error).__name__}: {error}")) from None
        total_ms = (time.perf_counter() - started) * 1000
        if not reply.choices:
            raise BackendError("the service answered without a choice")
        choice, usage = reply.choices[0], reply.get("usage")
        return Generation(
            text=choice.message.content or "",
            finish_reason=_FINISH.get(choice.finish_reason, "unknown"),
            prompt_tokens=usage.prompt_tokens if usage else None,
            completion_tokens=usage.completion_tokens if usage else None,
            prefill_ms=None,
            decode_ms=None,
            total_ms=total_ms,
            model=reply.model or self._model,
            reasoning=getattr(choice.message, "reasoning_content", None) or "",
            cost_usd=self._cost(reply),
        )

    def close(self) -> None:
        """Nothing is held open."""

    def _cost(self, reply: Any) -> float | None:
        """Return the price by LiteLLM's packaged list; None for a model it does not know."""
        try:
            return float(self._litellm.completion_cost(completion_response=reply, model=self._model)) or None
        except Exception:  # an unknown model raises whatever the list stumbles over
            return None

    def _without_key(self, text: str) -> str:
        key = self._settings.llm_api_key
        shown = " ".join(text.split())
        return (shown.replace(key, "***") if key else shown)[:500]
