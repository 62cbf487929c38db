"""What a request says of reasoning, in the words of each provider that LiteLLM knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctxsift.settings import ReasoningMode

# Parameter of providers that give reasoning a budget.
THINKING = "thinking"


@dataclass(frozen=True)
class Reasoning:
    """What a request says of reasoning.

    Attributes:
        parameters: as LiteLLM names them.
        extra_body: what is sent beside them.
        budget: tokens that are allowed for it beside the answer's.

    """

    parameters: dict[str, Any] = field(default_factory=dict)
    extra_body: dict[str, Any] = field(default_factory=dict)
    budget: int = 0

    @property
    def request(self) -> dict[str, Any]:
        """All of it, as LiteLLM takes it."""
        return self.parameters | (dict(extra_body=self.extra_body) if self.extra_body else {})


def reasoning_options(litellm: Any, model: str, mode: ReasoningMode, budget: int) -> Reasoning:
    """Return what requests to a model say of reasoning, given the mode and the most tokens it may take.

    `auto` says nothing and leaves room where LiteLLM's list knows the model to reason by itself. A model that is not in
    the list runs behind somebody's own server.
    """
    if not _is_listed(litellm, model):
        return _template_switch(mode, budget)
    if not litellm.supports_reasoning(model=model):
        return Reasoning()
    name, provider, _, _ = litellm.get_llm_provider(model)
    entry = litellm.model_cost.get(model) or litellm.model_cost.get(name) or {}
    if mode != "true" and ("claude" in name or entry.get("default_reasoning_effort") == "none"):
        return Reasoning()  # reasons only when it is told to
    known = litellm.get_supported_openai_params(model=name, custom_llm_provider=provider) or []
    if mode == "auto":
        return Reasoning(budget=budget)
    if mode == "true" and THINKING in known:
        return Reasoning({THINKING: {"type": "enabled", "budget_tokens": budget}}, budget=budget)
    if "reasoning_effort" not in known:
        return Reasoning(budget=budget)
    effort = "medium" if mode == "true" else _least_effort(provider, entry)
    return Reasoning({"reasoning_effort": effort}, budget=0 if effort == "none" else budget)


def _template_switch(mode: ReasoningMode, budget: int) -> Reasoning:
    """Return the options for a server that passes them on to the chat template of its model."""
    if mode == "auto":
        return Reasoning()
    reasons = mode == "true"
    return Reasoning({}, {"chat_template_kwargs": {"enable_thinking": reasons}}, budget if reasons else 0)


def _least_effort(provider: str, entry: Mapping[str, Any]) -> str:
    """Return the least effort that a model of a provider takes: older ones cannot stop reasoning altogether."""
    if provider not in ("openai", "azure") or entry.get("supports_none_reasoning_effort"):
        return "none"
    return "minimal" if entry.get("supports_minimal_reasoning_effort") else "low"


def _is_listed(litellm: Any, model: str) -> bool:
    try:
        litellm.get_model_info(model)
    except Exception:  # LiteLLM raises a bare Exception for a name it does not know
        return False
    return True
