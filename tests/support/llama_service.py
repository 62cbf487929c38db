"""llama.cpp's own OpenAI-compatible server, set as the cpu track sets llama.cpp.

Takes the server's own arguments: `python -m tests.support.llama_service --model FILE --port N`.
"""

from __future__ import annotations

import sys
from typing import Any

import llama_cpp

from ctxsift.backends.llama_cpp import BATCH, PHYSICAL_BATCH, physical_cores

_generate = llama_cpp.Llama.generate
_create_chat_completion: Any = llama_cpp.Llama.create_chat_completion
_default_params = llama_cpp.llama_cpp.llama_model_default_params


def _without_extra_buffers() -> Any:
    params = _default_params()
    params.use_extra_bufts = False
    return params


def _generate_afresh(self: llama_cpp.Llama, *arguments: Any, **options: Any) -> Any:
    self.reset()  # type: ignore[no-untyped-call]
    return _generate(self, *arguments, **options)


def _chat(self: llama_cpp.Llama, *arguments: Any, response_format: Any = None, **options: Any) -> Any:
    if response_format and response_format["type"] == "json_schema":
        response_format = {"type": "json_object", "schema": response_format["json_schema"]["schema"]}
    return _create_chat_completion(self, *arguments, response_format=response_format, **options)


if __name__ == "__main__":
    # It takes a schema in a form of its own; this is OpenAI's, which llama.cpp's other server and vLLM take.
    llama_cpp.ChatCompletionRequestResponseFormat = dict[str, Any]  # type: ignore[assignment,misc]
    llama_cpp.Llama.create_chat_completion = _chat  # type: ignore[method-assign]
    from llama_cpp.server.__main__ import main

    # The server has no option for it (docs/footguns.md, "AMX").
    llama_cpp.llama_cpp.llama_model_default_params = _without_extra_buffers
    # Prompts begin alike, and what is kept of the one before changes the last bits of the next one's sums.
    llama_cpp.Llama.generate = _generate_afresh  # type: ignore[method-assign]
    sizes = {"n_ctx": 8192, "n_batch": BATCH, "n_ubatch": PHYSICAL_BATCH, "n_threads": physical_cores()}
    for name, value in {**sizes, "flash_attn": True, "n_threads_batch": physical_cores()}.items():
        if f"--{name}" not in sys.argv:
            sys.argv += [f"--{name}", str(value)]
    main()  # type: ignore[no-untyped-call]
