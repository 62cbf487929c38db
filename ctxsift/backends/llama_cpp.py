"""GGUF models through llama.cpp. Runs inside the worker process: a native crash must not cost the run."""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import json
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ctxsift.answers.marks import MODEL_TOKENS
from ctxsift.backends.base import (
    GREEDY,
    Ability,
    Decoding,
    FinishReason,
    Generation,
    Limits,
    LoadInfo,
    LogProbability,
    ModelSpec,
    Traits,
)
from ctxsift.backends.gguf import GgufHeader, read_header
from ctxsift.backends.likelihood import by_llama_cpp, measured, require_room, spans_of
from ctxsift.backends.llama_worker import LlamaWorkerBackend, short_spins
from ctxsift.backends.loops import LOOP_RULE_VERSION, LoopDetector
from ctxsift.backends.prefix import ReadPrefix
from ctxsift.backends.registry import GGUF
from ctxsift.backends.room import Room
from ctxsift.backends.templates import ChatTemplate, choose_template, opens_reasoning, reasoning_tags, thinking_switches
from ctxsift.errors import BackendError, LoadError
from ctxsift.extras import Extra, install_hint
from ctxsift.prompts import Message
from ctxsift.settings import Settings

_NOT_INSTALLED = f"llama-cpp-python is not installed; {install_hint(Extra.CPU)}"
# Measured on two cores: flash attention with small physical batches reads prompts a fifth faster than the default.
BATCH, PHYSICAL_BATCH = 512, 128
# Of ggml's levels.
_ERROR_LEVEL = 4
_LONGEST_NAME, _LONGEST_REASON = 200, 240


def _missing(specs: Sequence[ModelSpec], settings: Settings) -> list[str | None]:
    del settings
    return [None if importlib.util.find_spec("llama_cpp") else _NOT_INSTALLED] * len(specs)


class LlamaCppBackend:
    """Run a GGUF model in this process through llama.cpp."""

    traits = Traits(
        reads_gguf=True,
        reads_only_gguf=True,
        missing=_missing,
        worker=LlamaWorkerBackend,
        environment=short_spins,
        abilities=frozenset({Ability.SAMPLING, Ability.SCHEMA, Ability.LOG_PROBABILITIES}),
    )

    def __init__(self) -> None:
        self._llm: Any = None
        self._template: ChatTemplate | None = None
        self._model = ""
        self._most_threads = 1
        self._room: Room | None = None
        self._prefix = ReadPrefix(PHYSICAL_BATCH)

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Load `spec.path`; see Backend."""
        started = time.perf_counter()
        try:
            import llama_cpp
        except ImportError as error:
            raise LoadError(f"{_NOT_INSTALLED} ({error})") from error
        extra_buffers = spec.options.use_extra_bufts
        threads = spec.options.threads or physical_cores()
        self._most_threads, self._room = threads, Room(threads) if spec.options.yields else None
        header = _header(spec)
        self._llm = _open(llama_cpp, spec, header.context_length, threads=threads, extra_buffers=extra_buffers)
        self._prefix = ReadPrefix(PHYSICAL_BATCH, enabled=spec.options.prefix_caching and self._can_be_cut(llama_cpp))
        metadata = self._llm.metadata
        architecture = metadata.get("general.architecture", "")
        self._model = (metadata.get("general.name") or spec.model)[:_LONGEST_NAME]
        self._template = choose_template(
            metadata.get("tokenizer.chat_template"), architecture, self._has_token, self._render
        )
        return LoadInfo(
            backend=GGUF,
            engine="llama-cpp-python",
            engine_version=llama_cpp.__version__,
            architecture=architecture,
            chat_template=self._template.name,
            chat_template_note=self._template.note,
            chat_template_sha256=self._template.sha256,
            context_tokens=self._llm.n_ctx(),
            threads=threads,
            load_ms=(time.perf_counter() - started) * 1000,
            settings=dict(
                temperature=0.0,
                seed=spec.seed,
                batch=BATCH,
                physical_batch=PHYSICAL_BATCH,
                flash_attn=True,
                use_extra_bufts=extra_buffers,
                loop_rule=LOOP_RULE_VERSION,
                thinking_switches=thinking_switches(self._template.template),
                **({"yields": True} if spec.options.yields else {}),
            ),
            model_file=header.model_file,
        )

    def generate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Answer until an end-of-turn token, the limit, or an endless loop; see DecodingBackend."""
        import llama_cpp

        llm = self._llm
        written = self._prompt(messages)
        prompt = self._tokens(written)
        require_room(len(prompt), llm.n_ctx() - limits.max_output_tokens)
        sampling = _sampling(llama_cpp, llm, decoding)
        cached_tokens = self._prefix.keep(prompt)
        cached_ms = self._prefix.read_ms
        if cached_tokens:
            llm.n_tokens = cached_tokens
        else:
            llm.reset()
        llama_cpp.llama_perf_context_reset(llm.ctx)
        vocabulary = llama_cpp.llama_model_get_vocab(llm.model)
        loop = LoopDetector()
        answer: list[int] = []
        finish: FinishReason = "length"
        fewest = self._most_threads
        started = time.perf_counter()
        rest = self._read(llama_cpp, prompt)
        for token in llm.generate(rest, reset=False, **sampling):
            if llama_cpp.llama_vocab_is_eog(vocabulary, token):
                finish = "stop"
                break
            answer.append(token)
            fewest = min(fewest, self._fit_threads())
            if loop.push(token):
                finish = "loop"
                break
            if len(answer) >= limits.max_output_tokens:
                break
        total_ms = cached_ms + (time.perf_counter() - started) * 1000
        clock = llama_cpp.llama_perf_context(llm.ctx)
        control = {token for token in answer if llama_cpp.llama_vocab_is_control(vocabulary, token)}
        # Control tokens are kept as text: a model that leaks them is to be seen doing so.
        text = llm.detokenize(answer, prev_tokens=prompt, special=True).decode("utf-8", errors="replace")
        tags = reasoning_tags(self._template.template) if self._template else ()
        return Generation(
            text=text,
            finish_reason=finish,
            prompt_tokens=len(prompt),
            completion_tokens=len(answer),
            prefill_ms=cached_ms + clock.t_p_eval_ms,
            decode_ms=clock.t_eval_ms,
            total_ms=total_ms,
            model=self._model,
            begins_in_reasoning=opens_reasoning(written, tags),
            control_tokens=MODEL_TOKENS.unlisted(map(self._token_text, control)),
            reasoning_tags=tags,
            threads=fewest if self._room else None,
            cached_tokens=cached_tokens,
            cached_ms=cached_ms,
        )

    def log_probabilities(self, messages: Sequence[Message], text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is; see MeasuringBackend."""
        llm, content = self._llm, text.encode("utf-8", errors="replace")
        self._prefix.clear()
        # Alone, a text begins as the model's own texts do.
        before = self._tokens(self._prompt(messages)) if messages else llm.tokenize(b"", add_bos=True)
        tokens = llm.tokenize(content, add_bos=False, special=False)
        require_room(len(before) + len(tokens), llm.n_ctx())
        spans = spans_of(text, [llm.detokenize([token], special=True) for token in tokens])
        return measured(spans, by_llama_cpp(llm, [*before, *tokens], len(tokens), PHYSICAL_BATCH))

    def close(self) -> None:
        """Free the model."""
        if self._llm is not None:
            self._llm.close()
            self._llm = None

    def prompt_tokens(self, messages: Sequence[Message]) -> list[int]:
        """Return the token ids the model is given for these messages."""
        return self._tokens(self._prompt(messages))

    def _read(self, llama_cpp: Any, prompt: Sequence[int]) -> list[int]:
        """Read all whole blocks of a prompt that are not held, and return the tokens behind them."""
        llm, before_ms = self._llm, 0.0
        for block in self._prefix.left(prompt):
            llm.eval(block)
            # The engine counts the time of a block only once it is synchronized.
            llama_cpp.llama_synchronize(llm.ctx)
            read_ms = llama_cpp.llama_perf_context(llm.ctx).t_p_eval_ms
            self._prefix.hold(block, read_ms - before_ms)
            before_ms = read_ms
        return list(prompt[self._prefix.tokens :])

    def _can_be_cut(self, llama_cpp: Any) -> bool:
        """Return whether the state can go back to an earlier token: that of recurrent models is one for all tokens."""
        model = self._llm.model
        return not (llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model))

    def _fit_threads(self) -> int:
        """Let as many threads write the next token as the machine has room for, and return how many."""
        if self._room is None:
            return self._most_threads
        threads = self._room.threads()
        # Prompts are read by all threads: beside a busy process, that is as fast as with fewer.
        self._llm._ctx.set_n_threads(threads, self._most_threads)
        return threads

    def _prompt(self, messages: Sequence[Message]) -> str:
        assert self._template is not None
        return self._template.write(messages, self._render)

    def _tokens(self, prompt: str) -> list[int]:
        bos = self._token_text(self._llm.token_bos())
        tokens: list[int] = self._llm.tokenize(
            prompt.encode("utf-8", errors="replace"),
            add_bos=not (bos and prompt.startswith(bos)),
            special=True,
        )
        return tokens

    def _render(self, template: str, messages: Sequence[Message]) -> str:
        from llama_cpp.llama_chat_format import Jinja2ChatFormatter

        formatter = Jinja2ChatFormatter(
            template,
            eos_token=self._token_text(self._llm.token_eos()),
            bos_token=self._token_text(self._llm.token_bos()),
        )
        turns: Any = [{"role": m.role, "content": m.content} for m in messages]
        switches: dict[str, Any] = dict(thinking_switches(template))
        rendered = formatter(messages=turns, **switches)
        return str(rendered.prompt)

    def _token_text(self, token: int) -> str:
        return str(self._llm._model.token_get_text(token)) if token != -1 else ""

    def _has_token(self, text: str) -> bool:
        return len(self._llm.tokenize(text.encode(), add_bos=False, special=True)) == 1


def physical_cores() -> int:
    """Return the physical cores this process may use; hyperthreads only slow llama.cpp down."""
    import psutil

    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
    allowed = len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else cores
    return max(1, min(cores, allowed))


def _sampling(llama_cpp: Any, llm: Any, decoding: Decoding) -> dict[str, Any]:
    """Return what the binding is told of decoding. Raises BackendError for a schema that is no grammar."""
    told: dict[str, Any] = dict(temp=0.0, top_k=1, repeat_penalty=1.0)
    if decoding.temperature:
        llm.set_seed(decoding.seed)
        # The whole distribution: the binding's defaults would cut its tail.
        told |= dict(temp=decoding.temperature, top_k=0, top_p=1.0, min_p=0.0)
    if decoding.schema is not None:
        try:
            told |= dict(grammar=llama_cpp.LlamaGrammar.from_json_schema(json.dumps(decoding.schema), verbose=False))
        except Exception as error:  # the binding checks schemas by assertions
            why = str(error)[:_LONGEST_REASON] or type(error).__name__
            raise BackendError(f"llama.cpp has no grammar for this schema ({why})") from error
    return told


def _header(spec: ModelSpec) -> GgufHeader:
    if spec.path is None:
        raise LoadError(f"{spec.model}: spec.path names no file; find_weights(model, filename).path is one")
    return read_header(Path(spec.path))


def _open(llama_cpp: Any, spec: ModelSpec, trained: int, *, threads: int, extra_buffers: bool) -> Any:
    default_params = llama_cpp.llama_cpp.llama_model_default_params

    def params() -> Any:
        made = default_params()
        made.use_extra_bufts = extra_buffers
        return made

    wanted = spec.context_tokens or trained
    with _own_manners(llama_cpp, params), _errors(llama_cpp) as said:
        try:
            llm = llama_cpp.Llama(
                model_path=spec.path,
                n_ctx=min(wanted, trained) if trained else wanted,
                n_batch=BATCH,
                n_ubatch=PHYSICAL_BATCH,
                flash_attn=True,
                n_threads=threads,
                n_threads_batch=threads,
                n_gpu_layers=0,
                seed=spec.seed,
                no_perf=False,
                verbose=False,
            )
        except Exception as error:  # the binding checks little of what llama.cpp reads in a file
            why = ("; ".join(said) or f"{type(error).__name__}: {error}")[:_LONGEST_REASON]
            raise LoadError(
                f"{spec.path}: llama.cpp cannot load this file ({why}); it is damaged, of an unknown "
                "architecture, or needs more memory than there is"
            ) from error
    if not llm.metadata:
        raise LoadError(f"{spec.path}: its metadata is not UTF-8; the file is damaged; download it again")
    return llm


class _NoFormatter:
    """Stands in for the binding's own use of a chat template, which fails for one that is broken."""

    def __init__(self, **_: object) -> None:
        pass

    def to_chat_handler(self) -> None:
        """Return nothing."""


@contextlib.contextmanager
def _own_manners(llama_cpp: Any, params: Any) -> Iterator[None]:
    """Make llama-cpp-python load a model in ways that it has no arguments for."""
    # It would mute stderr, and with it the last words of a process that dies.
    heard = lambda **_: contextlib.nullcontext()  # noqa: E731
    replaced = (
        (llama_cpp.llama_cpp, "llama_model_default_params", params),
        (llama_cpp.llama, "suppress_stdout_stderr", heard),
        (llama_cpp._internals, "suppress_stdout_stderr", heard),
        (llama_cpp.llama_chat_format, "Jinja2ChatFormatter", _NoFormatter),
    )
    before = [(module, name, getattr(module, name)) for module, name, _ in replaced]
    # Its debugger's account of a failed assertion would bury the assertion.
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")
    try:
        for module, name, ours in replaced:
            setattr(module, name, ours)
        yield
    finally:
        for module, name, theirs in before:
            setattr(module, name, theirs)


@contextlib.contextmanager
def _errors(llama_cpp: Any) -> Iterator[list[str]]:
    """Collect the errors that llama.cpp logs; they go to stderr, too."""
    said: list[str] = []

    def hear(level: int, text: bytes, _: object) -> None:
        if level == _ERROR_LEVEL:
            os.write(2, text)
            said.append(text.decode("utf-8", errors="replace").strip())

    hook = llama_cpp.llama_log_callback(hear)
    llama_cpp.llama_log_set(hook, ctypes.c_void_p(0))
    try:
        yield said
    finally:
        llama_cpp.llama_log_set(llama_cpp._logger.llama_log_callback, ctypes.c_void_p(0))
