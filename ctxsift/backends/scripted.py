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
from typing import Any

from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelSpec
from ctxsift.errors import LoadError, PromptTooLongError
from ctxsift.prompts import Message


class ScriptedBackend:
    """Answers, crashes or hangs as the JSON file named by `spec.model` says.

    Its fields:
        answers: list of [text that stands in the prompt, answer]; the first match answers.
        default: the answer to everything else; without it the last line of the prompt is echoed.
        delay_ms: time one answer takes.
        room: tokens (words) the prompt may have.
        crash_on: text that, standing in the prompt, kills the process with SIGSEGV.
        crash_first_decode: kill the process at the first generation, unless use_extra_bufts is False.
        crash_always: kill the process at every generation.
        hang_on: text that, standing in the prompt, makes the answer never come.
        kill_on: text that, standing in the prompt, kills the process with SIGKILL, as a system out of memory does.
        babble_on: text that, standing in the prompt, writes what is no reply to where replies go.
        log: file that gets a line, the SHA-256 of the prompt, before each answer.
        fail_load: message of a LoadError.
    """

    def __init__(self) -> None:
        self._options: dict[str, Any] = {}

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Take the script; see Backend."""
        try:
            script = json.loads(Path(spec.model).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise LoadError(f"{spec.model}: no script ({error})") from error
        self._options = script | spec.options
        if "fail_load" in script:
            raise LoadError(str(script["fail_load"]))
        return LoadInfo(
            backend="scripted",
            engine="scripted",
            engine_version=str(script.get("engine_version", "1")),
            architecture="scripted",
            chat_template="model",
            chat_template_note="",
            chat_template_sha256=hashlib.sha256(b"").hexdigest(),
            context_tokens=spec.context_tokens,
            threads=1,
            load_ms=0.0,
            settings={"use_extra_bufts": bool(spec.options.get("use_extra_bufts", True))},
        )

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer by the script; see Backend."""
        options = self._options
        prompt = "\n".join(m.content for m in messages)
        crash_first = options.get("crash_first_decode") and options.get("use_extra_bufts", True)
        if crash_first or options.get("crash_always") or _stands_in(prompt, options.get("crash_on")):
            print("scripted crash: this is the last line of stderr", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        if _stands_in(prompt, options.get("kill_on")):
            os.kill(os.getpid(), signal.SIGKILL)
        if _stands_in(prompt, options.get("babble_on")):
            # The reply channel is the copy of stdout that the worker took.
            os.write(3, b"\x00\xff this is no reply\n")
        if "log" in options:
            with Path(options["log"]).open("a", encoding="utf-8") as log:
                log.write(hashlib.sha256(prompt.encode()).hexdigest() + "\n")
        if _stands_in(prompt, options.get("hang_on")):
            time.sleep(3600)
        words = len(prompt.split())
        if words > options.get("room", sys.maxsize):
            raise PromptTooLongError(words, options["room"])
        delay = float(options.get("delay_ms", 0.0))
        time.sleep(delay / 1000)
        text = self._answer(prompt)
        cut = text.split(" ")
        finish = "length" if len(cut) > limits.max_output_tokens else "stop"
        return Generation(
            text=" ".join(cut[: limits.max_output_tokens]),
            finish_reason="length" if finish == "length" else "stop",
            prompt_tokens=words,
            completion_tokens=min(len(cut), limits.max_output_tokens),
            prefill_ms=delay / 2,
            decode_ms=delay / 2,
            total_ms=delay,
            model="scripted",
        )

    def close(self) -> None:
        """Nothing to free."""

    def _answer(self, prompt: str) -> str:
        for needle, answer in self._options.get("answers", []):
            if needle in prompt:
                return str(answer)
        default = self._options.get("default")
        return str(default) if default is not None else prompt.rstrip().rsplit("\n", 1)[-1]


def _stands_in(prompt: str, needle: object) -> bool:
    return isinstance(needle, str) and needle in prompt
