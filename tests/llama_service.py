"""llama.cpp's own OpenAI-compatible server, with the buffers off that crash on some virtual machines with AMX.

Takes the server's own arguments: `python -m tests.llama_service --model FILE --port N`.
"""

from __future__ import annotations

from typing import Any

import llama_cpp
from llama_cpp.server.__main__ import main

_default_params = llama_cpp.llama_cpp.llama_model_default_params


def _without_extra_buffers() -> Any:
    params = _default_params()
    params.use_extra_bufts = False
    return params


if __name__ == "__main__":
    # The server has no option for it (docs/footguns.md, "AMX").
    llama_cpp.llama_cpp.llama_model_default_params = _without_extra_buffers
    main()  # type: ignore[no-untyped-call]
