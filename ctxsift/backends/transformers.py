"""Models through Transformers, on a GPU or (for tests) a CPU. Runs inside the worker process."""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctxsift.answers.marks import MODEL_TOKENS
from ctxsift.backends.base import (
    GREEDY,
    Ability,
    Decoding,
    Generation,
    Limits,
    LoadInfo,
    LogProbability,
    ModelOptions,
    ModelSpec,
    Traits,
)
from ctxsift.backends.cuda import DeviceWatch, look_from_outside, problem_of
from ctxsift.backends.gguf import read_header
from ctxsift.backends.likelihood import by_torch, measured, require_room
from ctxsift.backends.loops import LOOP_RULE_VERSION
from ctxsift.backends.prefix import ReadPrefix
from ctxsift.backends.registry import TRANSFORMERS
from ctxsift.backends.templates import (
    ChatTemplate,
    choose_template,
    opens_reasoning,
    reasoning_tags,
    thinking_switches,
)
from ctxsift.backends.transformers_rows import Rows
from ctxsift.devices import Device
from ctxsift.errors import BackendError, InstrumentError, LoadError, PromptTooLongError
from ctxsift.extras import Extra, install_hint
from ctxsift.prompts import Message
from ctxsift.settings import Settings

# How many tokens of a single prompt are read at a time. Fewer of them are read again where prompts begin alike; more of
# them keep a GPU busier.
BLOCK_TOKENS = 256
# Spares a model the logits of all tokens but the last; not every model takes it.
_LAST_LOGITS = "logits_to_keep"
# How many tokens are read at a time where logits of all of them are wanted.
_MEASURED_TOKENS = 128
# Leaves a choice to the model.
_AUTO = ModelOptions().attn_implementation
# Values of `tokenizer.ggml.pre` that stand for GPT-2's splitting with every digit on its own.
_DIGIT_BY_DIGIT = frozenset({"smollm", "starcoder", "refact", "command-r", "codeshell"})


def _missing(specs: Sequence[ModelSpec], settings: Settings) -> list[str | None]:
    del settings
    on_gpu = [spec.device.startswith("cuda") for spec in specs]
    if not any(on_gpu):
        return [None] * len(specs)
    # Once for all of them: it takes seconds.
    sight = look_from_outside()
    return [
        problem_of(sight, spec.device, spec.quantization) if needs_gpu else None
        for spec, needs_gpu in zip(specs, on_gpu, strict=True)
    ]


class TransformersBackend:
    """Run a model from the hub, a folder or a GGUF file through Transformers, several prompts at once."""

    traits = Traits(
        reads_gguf=True,
        missing=_missing,
        abilities=frozenset({Ability.SAMPLING, Ability.LOG_PROBABILITIES}),
    )

    def __init__(self) -> None:
        self._torch: Any = None
        self._model: Any = None
        self._tokenizer: Any = None
        self._template: ChatTemplate | None = None
        self._watch: DeviceWatch | None = None
        self._device: str = Device.CPU
        self._ends: frozenset[int] = frozenset()
        self._special: frozenset[int] = frozenset()
        self._context_tokens = 0
        self._name = ""
        self._prefix = ReadPrefix(BLOCK_TOKENS)
        # What the model has made of the prefix, and of what it read behind it.
        self._cache: Any = None

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Load model and tokenizer; see Backend.

        Options: dtype, attn_implementation (`auto` leaves both to the model), trust_remote_code.
        """
        started = time.perf_counter()
        try:
            import torch
            import transformers
        except ImportError as error:
            raise LoadError(f"transformers is not installed ({error}); {install_hint(Extra.GPU)}") from error
        self._torch, self._device = torch, spec.device
        try:
            self._tokenizer, self._model = _open(torch, transformers, spec)
        except torch.cuda.OutOfMemoryError as error:
            raise LoadError(f"{spec.model}: does not fit into the memory of {spec.device}: {_line(error)}") from error
        except Exception as error:  # hub, files, configuration and code of a model fail in as many ways
            raise LoadError(f"{spec.model}: Transformers cannot load it: {_line(error)}") from error
        self._model.eval()
        self._watch = DeviceWatch(torch, spec.device)
        config, tokenizer = self._model.config, self._tokenizer
        architecture = config.model_type.removesuffix("_text")
        own = tokenizer.chat_template
        if isinstance(own, dict):  # one for each purpose
            own = own.get("default")
        own = own if isinstance(own, str) else None
        self._template = choose_template(own, architecture, self._has_token, self._render)
        self._special = frozenset(tokenizer.all_special_ids)
        self._ends = self._end_tokens(from_gguf=spec.path is not None)
        # What comes with a model often samples or punishes repetition, and would fill every gap in our own settings.
        self._model.generation_config = transformers.GenerationConfig(eos_token_id=sorted(self._ends))
        trained = getattr(config.get_text_config(), "max_position_embeddings", None) or spec.context_tokens
        self._context_tokens = min(spec.context_tokens or trained, trained)
        self._name = getattr(config, "_name_or_path", "") or spec.model
        self._prefix = ReadPrefix(BLOCK_TOKENS, enabled=spec.options.prefix_caching)
        self._cache = None
        return LoadInfo(
            backend=TRANSFORMERS,
            engine=transformers.__name__,
            engine_version=transformers.__version__,
            architecture=architecture,
            chat_template=self._template.name,
            chat_template_note=self._template.note,
            chat_template_sha256=self._template.sha256,
            context_tokens=self._context_tokens,
            threads=torch.get_num_threads(),
            load_ms=(time.perf_counter() - started) * 1000,
            settings=dict(
                temperature=0.0,
                seed=spec.seed,
                torch=str(torch.__version__),
                device=self._model.device.type,
                gpu=self._watch.name(),
                dtype=str(self._model.dtype).removeprefix("torch."),
                attn_implementation=config._attn_implementation,
                quantization=spec.quantization,
                revision=getattr(config, "_commit_hash", None),
                loop_rule=LOOP_RULE_VERSION,
                block_tokens=BLOCK_TOKENS,
                thinking_switches=thinking_switches(self._template.template),
            ),
            model_file=read_header(Path(spec.path)).model_file if spec.path else None,
        )

    def generate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Answer until an end-of-turn token, the limit, or an endless loop; see DecodingBackend."""
        reply = self._replies([messages], limits, decoding)[0]
        if isinstance(reply, BackendError):
            raise reply
        return reply

    def generate_batch(
        self, prompts: Sequence[Sequence[Message]], limits: Limits
    ) -> Sequence[Generation | BackendError]:
        """Answer several prompts together, padded on the left; see BatchBackend.

        The time to the first token is the batch's for each of its prompts; the time of an answer ends with its last
        token, whatever the others of its batch still have to say.
        """
        return self._replies(prompts, limits, GREEDY)

    def log_probabilities(self, messages: Sequence[Message], text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is; see MeasuringBackend."""
        split = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, split_special_tokens=True)
        # Alone, a text begins as the model's own texts do.
        before = self._tokens(self._prompt(messages)) if messages else self._tokenizer("")["input_ids"]
        tokens = split["input_ids"]
        require_room(len(before) + len(tokens), self._context_tokens)
        values = by_torch(self._torch, self._model, [*before, *tokens], len(tokens), _MEASURED_TOKENS)
        return measured(split["offset_mapping"], values)

    def _replies(
        self, prompts: Sequence[Sequence[Message]], limits: Limits, decoding: Decoding
    ) -> Sequence[Generation | BackendError]:
        room = self._context_tokens - limits.max_output_tokens
        asked = [self._asked(messages, room) for messages in prompts]
        fitting = [each.tokens for each in asked if isinstance(each, _Asked)]
        answers = iter(self._answers(fitting, limits, decoding) if fitting else ())
        return [
            replace(next(answers), begins_in_reasoning=opens_reasoning(each.prompt, self._reasoning_tags))
            if isinstance(each, _Asked)
            else each
            for each in asked
        ]

    def prompt_tokens(self, messages: Sequence[Message]) -> list[int]:
        """Return the token ids the model is given for these messages."""
        return self._tokens(self._prompt(messages))

    def _asked(self, messages: Sequence[Message], room: int) -> _Asked | BackendError:
        """Return a prompt and its tokens, or why it cannot be asked."""
        try:
            prompt = self._prompt(messages)
            tokens = self._tokens(prompt)
        except BackendError as error:
            return error
        except Exception as error:  # templates and tokenizers come with the model
            return BackendError(f"the prompt cannot be written: {_line(error)}")
        return _Asked(prompt, tokens) if len(tokens) <= room else PromptTooLongError(len(tokens), room)

    def _prompt(self, messages: Sequence[Message]) -> str:
        assert self._template is not None
        return self._template.write(messages, self._render)

    def _tokens(self, prompt: str) -> list[int]:
        ids: list[int] = self._tokenizer(prompt, add_special_tokens=False)["input_ids"]
        return ids

    def close(self) -> None:
        """Free the model."""
        self._model = self._tokenizer = self._cache = None
        if self._torch is not None and self._device.startswith("cuda"):
            self._torch.cuda.empty_cache()

    def _answers(self, prompts: Sequence[Sequence[int]], limits: Limits, decoding: Decoding) -> list[Generation]:
        torch, watch = self._torch, self._watch
        assert watch is not None
        width = max(len(ids) for ids in prompts)
        padding = self._tokenizer.pad_token_id
        if padding is None:
            padding = min(self._ends, default=0)
        padded = [[padding] * (width - len(ids)) + list(ids) for ids in prompts]
        mask = [[0] * (width - len(ids)) + [1] * len(ids) for ids in prompts]
        inputs = torch.tensor(padded, device=self._model.device)
        watch.reset_peak()
        watch.synchronize()
        rows = Rows(torch, watch, len(prompts), self._ends)
        settings = _generation_config(limits.max_output_tokens, padding, decoding.temperature)
        if decoding.temperature:
            torch.manual_seed(decoding.seed)
        alone = len(prompts) == 1
        if not alone:
            self._forget()
        cached_tokens, cached_ms = self._prefix.keep(prompts[0]), self._prefix.read_ms
        try:
            with torch.inference_mode():
                self._model.generate(
                    inputs,
                    attention_mask=torch.tensor(mask, device=self._model.device),
                    generation_config=settings,
                    stopping_criteria=[rows],
                    past_key_values=self._read(inputs, prompts[0]) if alone else None,
                )
            watch.synchronize()
        except torch.cuda.OutOfMemoryError as error:
            self._forget()
            torch.cuda.empty_cache()
            raise BackendError(
                f"out of GPU memory with {len(prompts)} prompts of {width} tokens: {_line(error)}"
            ) from None
        except RuntimeError as error:
            self._forget()
            if "CUDA" not in str(error):
                raise
            # The context of this process is lost with everything on it; only a new process helps.
            raise InstrumentError(f"the GPU failed: {_line(error)}") from None
        peak = watch.peak_bytes()
        return [
            Generation(
                # Control tokens are kept as text: a model that leaks them is to be seen doing so.
                text=self._tokenizer.decode(row.tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False),
                finish_reason=row.finish,
                prompt_tokens=len(ids),
                completion_tokens=len(row.tokens),
                prefill_ms=cached_ms + rows.first_ms,
                decode_ms=row.ended_ms - rows.first_ms,
                total_ms=cached_ms + row.ended_ms,
                model=self._name,
                gpu_peak_bytes=peak,
                cached_tokens=cached_tokens,
                cached_ms=cached_ms,
                control_tokens=self._control_tokens(row.tokens),
                reasoning_tags=self._reasoning_tags,
            )
            for ids, row in zip(prompts, rows.rows, strict=True)
        ]

    def _read(self, inputs: Any, prompt: Sequence[int]) -> Any:
        """Read the whole blocks of a single prompt that are not held; return what the model has made of it so far.

        None for a model whose state cannot go back to an earlier token: it reads prompts whole.
        """
        from transformers import DynamicCache

        assert self._watch is not None
        if not self._prefix.tokens:
            self._cache = DynamicCache(config=self._model.config)
        if not self._can_be_cut():
            self._forget()
            return None
        if surplus := self._cache.get_seq_length() - self._prefix.tokens:
            self._cache.crop(-surplus)
        knows = inspect.signature(self._model.forward).parameters
        last_logits = {_LAST_LOGITS: 1} if _LAST_LOGITS in knows else {}
        for block in self._prefix.left(prompt):
            started, read = time.perf_counter(), self._prefix.tokens
            piece = inputs[:, read : read + len(block)]
            self._model(input_ids=piece, past_key_values=self._cache, use_cache=True, **last_logits)
            self._watch.synchronize()
            self._prefix.hold(block, (time.perf_counter() - started) * 1000)
        return self._cache

    def _can_be_cut(self) -> bool:
        """Return whether every layer keeps each token for itself; sliding windows and recurrent states do not."""
        from transformers.cache_utils import DynamicLayer

        layers = self._cache.layers
        # Whether the model takes such a cache, only this method of the library's own tells.
        takes = getattr(self._model, "_supports_default_dynamic_cache", lambda: False)()
        return bool(takes and layers) and all(type(layer) is DynamicLayer for layer in layers)

    def _forget(self) -> None:
        self._prefix.clear()
        self._cache = None

    def _render(self, template: str, messages: Sequence[Message]) -> str:
        text = self._tokenizer.apply_chat_template(
            [{"role": m.role, "content": m.content} for m in messages],
            chat_template=template,
            tokenize=False,
            add_generation_prompt=True,
            **thinking_switches(template),
        )
        return str(text)

    @property
    def _reasoning_tags(self) -> tuple[tuple[str, str], ...]:
        return reasoning_tags(self._template.template) if self._template else ()

    def _control_tokens(self, tokens: Sequence[int]) -> tuple[str, ...]:
        special = {token for token in tokens if token in self._special}
        return MODEL_TOKENS.unlisted(self._tokenizer.convert_ids_to_tokens(sorted(special)))

    def _has_token(self, text: str) -> bool:
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"]) == 1

    def _end_tokens(self, *, from_gguf: bool) -> frozenset[int]:
        configured = getattr(self._model.generation_config, "eos_token_id", None)
        ends = set(configured if isinstance(configured, list) else [configured]) - {None}
        if from_gguf or not ends:
            vocabulary = self._tokenizer.get_vocab()
            ends |= {vocabulary[text] for text in MODEL_TOKENS.stops(vocabulary)}
            ends |= {self._tokenizer.eos_token_id} - {None}
        return frozenset(ends)


@dataclass(frozen=True)
class _Asked:
    """A prompt that fits, and its tokens."""

    prompt: str
    tokens: list[int]


def _generation_config(max_tokens: int, padding: int, temperature: float) -> Any:
    """Return settings of our own: those that come with a model often sample, or punish repetition."""
    from transformers import GenerationConfig

    # The whole distribution: the library's defaults would cut its tail.
    drawn: dict[str, Any] = dict(do_sample=True, temperature=temperature, top_k=0, top_p=1.0)
    how: dict[str, Any] = drawn if temperature else dict(do_sample=False)
    return GenerationConfig(**how, num_beams=1, max_new_tokens=max_tokens, pad_token_id=padding)


def _open(torch: Any, transformers: Any, spec: ModelSpec) -> tuple[Any, Any]:
    """Return tokenizer and model; raises whatever torch and Transformers raise."""
    path = Path(spec.path) if spec.path else None
    source = str(path.parent) if path else spec.model
    common: dict[str, Any] = {"gguf_file": path.name} if path else {}
    options = spec.options
    if options.trust_remote_code:
        common |= dict(trust_remote_code=True)
    attention = options.attn_implementation
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, padding_side="left", **common)
    if path:
        _split_digits(tokenizer, read_header(path).pre_tokenizer)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        source,
        dtype=options.dtype,
        # With a GPU named, accelerate puts the whole model there or fails; it never spreads parts to slower memory.
        device_map={"": spec.device} if spec.device.startswith("cuda") else None,
        **({} if attention == _AUTO else dict(attn_implementation=attention)),
        **_quantization(torch, transformers, spec.quantization),
        **common,
    )
    torch.manual_seed(spec.seed)
    return tokenizer, model


def _split_digits(tokenizer: Any, pre_tokenizer: str) -> None:
    """Give a tokenizer from a GGUF file the splitting of digits that Transformers forgets while converting it."""
    if pre_tokenizer in _DIGIT_BY_DIGIT:
        from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence

        steps: list[PreTokenizer] = [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
        tokenizer.backend_tokenizer.pre_tokenizer = Sequence(steps)


def _quantization(torch: Any, transformers: Any, mode: str) -> dict[str, Any]:
    if mode == "none":
        return {}
    if mode == "bnb-8bit":
        config = transformers.BitsAndBytesConfig(load_in_8bit=True)
    else:
        config = transformers.BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type=mode.removeprefix("bnb-4bit-"),
            bnb_4bit_compute_dtype=torch.bfloat16,
        )
    return {"quantization_config": config}


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__
