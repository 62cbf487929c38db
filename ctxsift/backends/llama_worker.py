"""llama.cpp in a worker, with a canary: the first decode after loading is known to crash on some machines.

On CPUs with AMX (seen under virtualization) llama.cpp can die in its repacked buffers at the first decode.
`use_extra_bufts=False` avoids that, so a death at the canary is answered by loading once more without them.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from dataclasses import replace

from ctxsift.backends.base import CANARY, Limits, LoadInfo, ModelSpec
from ctxsift.backends.registry import GGUF
from ctxsift.backends.worker import WorkerBackend
from ctxsift.errors import LoadError, WorkerCrashedError
from ctxsift.prompts import Message

# How often an OpenMP thread looks whether there is work before it sleeps. The default spins for milliseconds, which
# on a busy machine takes the core from the thread it waits for. Measured: docs/footguns.md, "A busy machine".
SPIN_COUNT = 2000
_SPIN_COUNT, _WAIT_POLICY, _BLOCK_TIME = "GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "KMP_BLOCKTIME"
_CANARY = (Message("user", "Say ok."),)
_CANARY_LIMITS = Limits(max_output_tokens=1)


class LlamaWorkerBackend(WorkerBackend):
    """A llama.cpp model in a child process that is known to decode once `load` has returned."""

    def __init__(
        self,
        name: str = GGUF,
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
        except _DiedError as first:
            if not spec.options.use_extra_bufts:
                raise LoadError(first.advice(spec)) from first
            options = replace(spec.options, use_extra_bufts=False)
            try:
                info = self._load_and_decode(replace(spec, options=options))
            except _DiedError as second:
                raise LoadError(second.advice(spec)) from second
            how = signal.Signals(first.signal_number).name if first.signal_number else "an error"
            note = f"first decode died with {how}, reloaded with use_extra_bufts=False (docs/footguns.md, AMX)"
            return replace(info, settings=info.settings | {CANARY: note})

    def _load_and_decode(self, spec: ModelSpec) -> LoadInfo:
        try:
            info = super().load(spec)
        except WorkerCrashedError as error:
            raise _DiedError(error, decoding=False) from error
        try:
            super().generate(_CANARY, _CANARY_LIMITS)
        except WorkerCrashedError as error:
            raise _DiedError(error, decoding=True) from error
        return info


class _DiedError(WorkerCrashedError):
    """The process died before the model had shown that it works; `decoding` says when."""

    def __init__(self, error: WorkerCrashedError, *, decoding: bool) -> None:
        super().__init__(error.returncode, error.stderr_tail)
        self.decoding = decoding

    def advice(self, spec: ModelSpec) -> str:
        """Return in one line what happened and what to do about it."""
        file = spec.path or spec.model
        tried = "with and without extra buffers" if spec.options.use_extra_bufts else "without extra buffers"
        if not self.decoding:
            return (
                f"{file}: llama.cpp dies while loading this file, {tried}: {self}. "
                "The file is probably damaged; download it again"
            )
        return (
            f"{file}: llama.cpp dies at the first decode, {tried}: {self}. If other models decode here, the file is "
            "damaged; download it again. If none does, rebuild llama.cpp for this CPU: CMAKE_ARGS='-DGGML_NATIVE=OFF' "
            "pip install --force-reinstall --no-cache-dir --no-binary llama-cpp-python llama-cpp-python"
        )


def short_spins(environ: Mapping[str, str], platform: str = sys.platform) -> dict[str, str]:
    """Return what makes OpenMP threads spin less, where the caller's environment says nothing of it.

    GNU's library reads the count; LLVM's, which clang uses on macOS, a time in milliseconds.
    """
    if _WAIT_POLICY in environ:
        return {}
    ours = {_BLOCK_TIME: "0"} if platform == "darwin" else {_SPIN_COUNT: str(SPIN_COUNT)}
    return {variable: value for variable, value in ours.items() if variable not in environ}
