"""llama.cpp in a worker, with a canary: the first decode after loading is known to crash on some machines.

On CPUs with AMX (seen under virtualization) llama.cpp can die in its repacked buffers at the first decode.
`use_extra_bufts=False` avoids that, so a death at the canary is answered by loading once more without them.
"""

from __future__ import annotations

import signal
from dataclasses import replace

from ctxsift.backends.base import Limits, LoadInfo, ModelSpec
from ctxsift.backends.worker import WorkerBackend
from ctxsift.errors import LoadError, WorkerCrashedError
from ctxsift.prompts import Message

_CANARY = (Message("user", "Say ok."),)
_CANARY_LIMITS = Limits(max_output_tokens=1)


class LlamaWorkerBackend(WorkerBackend):
    """A llama.cpp model in a child process that is known to decode once `load` has returned."""

    def __init__(
        self,
        name: str = "llama_cpp",
        *,
        load_timeout_s: float | None = None,
        generate_timeout_s: float | None = None,
    ) -> None:
        super().__init__(name, load_timeout_s=load_timeout_s, generate_timeout_s=generate_timeout_s)

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Load and decode once; see Backend.

        Raises:
            LoadError: also when the model cannot decode with or without extra buffers.

        """
        try:
            return self._load_and_decode(spec)
        except WorkerCrashedError as first:
            if not spec.options.get("use_extra_bufts", True):
                raise LoadError(_advice(spec, first)) from first
            options = spec.options | {"use_extra_bufts": False}
            try:
                info = self._load_and_decode(replace(spec, options=options))
            except WorkerCrashedError as second:
                raise LoadError(_advice(spec, second)) from second
            how = signal.Signals(first.signal_number).name if first.signal_number else "an error"
            note = f"first decode died with {how}, reloaded with use_extra_bufts=False (docs/footguns.md, AMX)"
            return replace(info, settings=info.settings | {"canary": note})

    def _load_and_decode(self, spec: ModelSpec) -> LoadInfo:
        info = super().load(spec)
        super().generate(_CANARY, _CANARY_LIMITS)
        return info


def _advice(spec: ModelSpec, error: WorkerCrashedError) -> str:
    return (
        f"{spec.path or spec.model}: llama.cpp dies while loading or at the first decode, with and without extra "
        f"buffers: {error}. Rebuild it for this CPU: CMAKE_ARGS='-DGGML_NATIVE=OFF' "
        "pip install --force-reinstall --no-cache-dir --no-binary llama-cpp-python llama-cpp-python"
    )
