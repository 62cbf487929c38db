"""llama.cpp's own OpenAI-compatible server, set as the cpu track sets llama.cpp.

Takes the server's own arguments: `python -m tests.support.llama_service --model FILE --port N`.
"""

from __future__ import annotations

import sys
from typing import Any

import llama_cpp
from llama_cpp.server.__main__ import main

from ctxsift.backends.llama_cpp import BATCH, PHYSICAL_BATCH, physical_cores

_generate = llama_cpp.Llama.generate
_default_params = llama_cpp.llama_cpp.llama_model_default_params


def _without_extra_buffers() -> Any:
    params = _default_params()
    params.use_extra_bufts = False
    return params


def _generate_afresh(self: llama_cpp.Llama, *arguments: Any, **options: Any) -> Any:
    self.reset()  # type: ignore[no-untyped-call]
    return _generate(self, *arguments, **options)


if __name__ == "__main__":
    # The server has no option for it (docs/footguns.md, "AMX").
    llama_cpp.llama_cpp.llama_model_default_params = _without_extra_buffers
    # Prompts begin alike, and what is kept of the one before changes the last bits of the next one's sums.
    llama_cpp.Llama.generate = _generate_afresh  # type: ignore[method-assign]
    sizes = {"n_ctx": 8192, "n_batch": BATCH, "n_ubatch": PHYSICAL_BATCH, "n_threads": physical_cores()}
    for name, value in {**sizes, "flash_attn": True, "n_threads_batch": physical_cores()}.items():
        if f"--{name}" not in sys.argv:
            sys.argv += [f"--{name}", str(value)]
    main()  # type: ignore[no-untyped-call]
