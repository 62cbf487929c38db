"""Every provider prefix that LiteLLM knows, on loopback: it stays at its address and is told as it is, or is refused.

What is true of a prefix changes with LiteLLM's version, which is pinned; so all of them are asked once for a version,
and under `make fuzz`, and a part of them each time. Processes ask (see tests/support/provider_probe.py); what they saw
is looked at here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.depth import FUZZ
from tests.support.provider_probe import ANSWER, MALFORMED, REDIRECTS, THOUGHT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("probe")]

# The version of which every prefix was asked. When the pin in pyproject.toml moves, all of this module runs in full;
# once it passes, write the new version here.
PROBED = "1.106.2"
WHOLE = FUZZ or version("litellm") != PROBED

USED = """
    anthropic azure azure_ai cerebras cohere cohere_chat databricks deepinfra deepseek fireworks_ai gemini github groq
    hosted_vllm huggingface litellm_proxy llamafile lm_studio mistral moonshot nebius nvidia_nim ollama ollama_chat
    openai openrouter perplexity sambanova together_ai vercel_ai_gateway xai xinference zai
""".split()  # noqa: SIM905

# Names that LiteLLM sends another way than their prefix says, or that end in an address or a path.
DETOURS = """
    m meta/x/y OpenAI/m openai/../x openai/gpt-4o openai/ft:babbage-002 openrouter/auto openrouter/openai/gpt-4o
    anthropic/claude-2 anthropic/claude-sonnet-4-5 azure/mistral-large-latest azure/gpt-5 azure_ai/claude-3
    azure_ai/gpt-4o cohere/command-r gemini/@evil.invalid/x gemini/gemma-3 groq/openai/gpt-oss-20b
    together_ai/meta-llama/Llama-2-7b-chat-hf hosted_vllm/meta-llama/Meta-Llama-3-8B-Instruct
    huggingface/together/deepseek-ai/DeepSeek-R1 mistral/codestral-latest ollama/llama2 xai/grok-4
    text-completion-openai/gpt-3.5-turbo-instruct custom_openai/m deepseek/deepseek-reasoner
""".split()  # noqa: SIM905
# What is asked with these leads to a provider that calls others, or to none; nothing may leave.
KEPT = "anthropic/replicate-x gemini/org/replicate ollama/replicate anthropic/clarifai openai/o3-pro".split()  # noqa: SIM905

# What README.md and docs/adding-a-model.md name, and one with a dialect of its own.
NAMED = "openai/m hosted_vllm/m anthropic/m gemini/m ollama/m ollama_chat/m".split()  # noqa: SIM905
# Not proven, so refused.
REFUSED = "replicate petals bytez sagemaker bedrock aiohttp_openai maritalk".split()  # noqa: SIM905
PART = 10


def _probe(*arguments: str) -> dict[str, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.provider_probe", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    seen = [json.loads(line) for line in done.stdout.splitlines()]
    return {each["model"]: each for each in seen}


@pytest.fixture(scope="module")
def probed() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """What happened to prefixes, among settings of others; and to names that could mislead."""
    if WHOLE:
        with ThreadPoolExecutor() as pool:
            of_prefixes = pool.submit(_probe, "--foreign", "--every", "1")
            of_names = pool.submit(_probe, *DETOURS, *KEPT)
            return of_prefixes.result(), of_names.result()
    refused = (f"{name}/m" for name in REFUSED)
    misleading = [*DETOURS[::PART], *KEPT]
    seen = _probe("--foreign", "--every", str(PART), *NAMED, *refused, *misleading)
    names = {name: seen.pop(name) for name in misleading}
    return seen, names


@pytest.fixture(scope="module")
def every(probed: Any) -> dict[str, dict[str, Any]]:
    prefixes, names = probed
    return {**prefixes, **{name: names[name] for name in DETOURS if name in names}}


def test_a_part_of_all_prefixes_is_asked(probed: Any) -> None:
    prefixes, names = probed
    asked = [model for model, each in prefixes.items() if each["refused"] is None]
    assert len(asked) >= (100 if WHOLE else 15)
    assert set(KEPT) < set(names)


def _failing(seen: dict[str, dict[str, Any]], holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return {model: each for model, each in seen.items() if each["refused"] is None and not holds(each)}


def test_every_prefix_is_asked_or_refused_in_one_line_before_anything_is_sent(every: Any) -> None:
    refused = {model: each for model, each in every.items() if each["refused"] is not None}
    for model, each in refused.items():
        name = model.partition("/")[0]
        said = f"LiteLLM's provider {name} may follow redirects or call other hosts than CTXSIFT_LLM_BASE_URL; accept"
        assert each["refused"].startswith(said), model
        assert f" --allow-provider {name}" in each["refused"], model
        assert "\n" not in each["refused"], model
        assert (each["asked"], each["elsewhere"]) == ([], []), model
    assert {model.partition("/")[0] for model in refused}.isdisjoint(USED)
    assert set(REFUSED) <= {model.partition("/")[0] for model in refused}
    assert _failing(every, lambda each: each["answer"] == ANSWER) == {}


def test_no_redirect_is_followed(every: Any) -> None:
    def told(each: dict[str, Any]) -> bool:
        statuses = ((status, each["redirected"][str(status)]) for status in REDIRECTS)
        return not each["followed"] and all(f"the service answered {status}" in said for status, said in statuses)

    assert _failing(every, told) == {}


def test_nothing_but_the_configured_address_is_called(probed: Any) -> None:
    prefixes, names = probed
    assert _failing(prefixes, lambda each: each["elsewhere"] == []) == {}
    assert _failing(names, lambda each: each["elsewhere"] == []) == {}


def test_a_name_that_leads_to_another_provider_is_kept_from_it(probed: Any) -> None:
    _, names = probed
    for model in KEPT:
        assert names[model]["answer"] is None, model
        assert names[model]["asked"] == [], model
        assert names[model]["error"].startswith(("InstrumentError: LiteLLM ", "LoadError: ")), names[model]["error"]


def test_keys_of_others_in_the_environment_are_not_sent(probed: Any) -> None:
    prefixes, _ = probed
    assert _failing(prefixes, lambda each: not each["foreign_key"]) == {}
    assert set(_failing(prefixes, lambda each: each["our_key"])) <= {"triton/m"}  # which takes none


def test_an_answer_is_told_as_it_was_sent(every: Any) -> None:
    """Thought stays where it was; nothing is made up for the end and the counts that were not told."""

    def as_sent(each: dict[str, Any]) -> bool:
        found = each["thinking"]
        if "error" in found:  # some dialects must say it
            return str(found["error"]).startswith("InstrumentError: the service answered 200, but with no chat complet")
        ends = found["finish_reason"], found["prompt_tokens"], found["completion_tokens"]
        return bool(found["text"] == THOUGHT + ANSWER and ends == ("unknown", None, None))

    assert _failing(every, as_sent) == {}
    assert "error" not in every["hosted_vllm/m"]["thinking"]
    assert "error" not in every["ollama_chat/m"]["thinking"]
    assert len([each for each in every.values() if each["thinking"] and "error" in each["thinking"]]) < 20


def test_what_is_no_answer_is_told_as_such_and_not_asked_again(every: Any) -> None:
    def as_none(each: dict[str, Any]) -> bool:
        told = [str(said).startswith("InstrumentError: the service answered ") for said in each["malformed"]]
        return told == [True] * len(MALFORMED)

    assert _failing(every, as_none) == {}
    # A whole answer, one without counts, those that are none and redirects: each was asked for once.
    asked = 2 + len(MALFORMED) + len(REDIRECTS)
    assert _failing(every, lambda each: len(each["asked"]) == asked) == {}
