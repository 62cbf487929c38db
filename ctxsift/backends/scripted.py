"""A backend that answers from a script: for tests of faults and speed, registered like every other."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ctxsift.backends.base import FinishReason, Generation, Limits, LoadInfo, ModelSpec
from ctxsift.backends.templates import OWN_TEMPLATE
from ctxsift.errors import LoadError, PromptTooLongError
from ctxsift.prompts import Message


class Script(msgspec.Struct, frozen=True):
    """What the JSON file of a script may hold.

    Attributes:
        answers: text that stands in the prompt, and the answer; the first match answers.
        default: the answer to everything else; without it the last line of the prompt is echoed.
        delay_ms: time one answer takes.
        room: tokens (words) the prompt may have.
        crash_on: text that, standing in the prompt, kills the process with SIGSEGV.
        crash_first_decode: kill the process at the first generation, unless use_extra_bufts is False.
        crash_always: kill the process at every generation.
        hang_on: text that, standing in the prompt, makes the answer never come.
        kill_on: text that, standing in the prompt, kills the process with SIGKILL, as a system out of memory does.
        babble_on: text that, standing in the prompt, writes what is not a reply to where replies go.
        log: file that gets a line, the SHA-256 of the prompt, before each answer.
        fail_load: message of a LoadError.
        finish_reason: what it says of the end of every answer; by its length when None.

    """

    answers: list[tuple[str, str]] = []
    default: str | None = None
    delay_ms: float = 0.0
    room: int = sys.maxsize
    crash_on: str | None = None
    crash_first_decode: bool = False
    crash_always: bool = False
    hang_on: str | None = None
    kill_on: str | None = None
    babble_on: str | None = None
    log: str | None = None
    fail_load: str | None = None
    finish_reason: FinishReason | None = None
    engine_version: str = "1"


class ScriptedBackend:
    """Answer, crash or hang as the JSON file `spec.model` says (see Script)."""

    def __init__(self) -> None:
        self._script = Script()
        self._extra_bufts = True

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Take the script; see Backend."""
        try:
            script = msgspec.convert(json.loads(Path(spec.model).read_text(encoding="utf-8")), Script)
        except (OSError, ValueError) as error:
            raise LoadError(f"{spec.model}: no script ({error})") from error
        self._script, self._extra_bufts = script, spec.options.use_extra_bufts
        if script.fail_load is not None:
            raise LoadError(script.fail_load)
        return LoadInfo(
            backend="scripted",
            engine="scripted",
            engine_version=script.engine_version,
            architecture="scripted",
            chat_template=OWN_TEMPLATE,
            chat_template_note="",
            chat_template_sha256=hashlib.sha256(b"").hexdigest(),
            context_tokens=spec.context_tokens,
            threads=1,
            load_ms=0.0,
            settings={"use_extra_bufts": self._extra_bufts},
        )

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer by the script; see Backend."""
        script = self._script
        prompt = "\n".join(m.content for m in messages)
        self._break(prompt)
        words = len(prompt.split())
        if words > script.room:
            raise PromptTooLongError(words, script.room)
        time.sleep(script.delay_ms / 1000)
        cut = self._answer(prompt).split(" ")
        return Generation(
            text=" ".join(cut[: limits.max_output_tokens]),
            finish_reason=script.finish_reason or ("length" if len(cut) > limits.max_output_tokens else "stop"),
            prompt_tokens=words,
            completion_tokens=min(len(cut), limits.max_output_tokens),
            prefill_ms=script.delay_ms / 2,
            decode_ms=script.delay_ms / 2,
            total_ms=script.delay_ms,
            model="scripted",
        )

    def close(self) -> None:
        """Nothing to free."""

    def _break(self, prompt: str) -> None:
        """Do what the script says of this prompt beside answering."""
        script = self._script
        crash_first = script.crash_first_decode and self._extra_bufts
        if crash_first or script.crash_always or _stands_in(prompt, script.crash_on):
            print("scripted crash: this is the last line of stderr", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if _stands_in(prompt, script.kill_on):
            os.kill(os.getpid(), signal.SIGKILL)
        if _stands_in(prompt, script.babble_on):
            # The reply channel is the copy of stdout that the worker took.
            os.write(3, b"\x00\xff this is not a reply\n")
        if script.log is not None:
            with Path(script.log).open("a", encoding="utf-8") as log:
                log.write(hashlib.sha256(prompt.encode()).hexdigest() + "\n")
        if _stands_in(prompt, script.hang_on):
            time.sleep(3600)

    def _answer(self, prompt: str) -> str:
        for needle, answer in self._script.answers:
            if needle in prompt:
                return answer
        default = self._script.default
        return default if default is not None else prompt.rstrip().rsplit("\n", 1)[-1]


def _stands_in(prompt: str, needle: str | None) -> bool:
    return needle is not None and needle in prompt
