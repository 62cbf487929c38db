r"""ctxsift: one request for a few lines of noisy command output becomes one checked answer.

Everything to embed it is here; what is not in `__all__` may change.

>>> from ctxsift import Intent, Limits, ModelSpec, Request, compress, create_backend
>>> backend = create_backend("controls")  # compressors without a model; see docs/adding-a-model.md for models
>>> info = backend.load(ModelSpec("error-lines"))
>>> request = Request("3 passed\nFAILED test_cart.py::test_total\n", "Which test failed?", Intent.EXACT_LINES)
>>> compress(request, backend, Limits(max_output_tokens=64)).recovered.text
'FAILED test_cart.py::test_total'

`compress` raises a BackendError when no answer came. An answer that came is never an error: look at `failure` (cut off,
looped, empty) and at `recovered.validation.status`, and keep the original output where the first is not None or the
second is Status.REJECTED.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctxsift.answers.recovery import Recovery, recover
    from ctxsift.answers.validation import Status, Validation, validate
    from ctxsift.asking import Answer
    from ctxsift.backends.base import (
        Ability,
        AsyncBackend,
        Backend,
        BatchBackend,
        Decoding,
        DecodingBackend,
        Generation,
        Limits,
        LoadInfo,
        LogProbability,
        MeasuringBackend,
        ModelOptions,
        ModelSpec,
        RequestBackend,
        Traits,
    )
    from ctxsift.backends.registry import create_backend
    from ctxsift.backends.weights import Weights, find_weights
    from ctxsift.compression import Compression, Failure, View, compress, examine, generate
    from ctxsift.errors import (
        BackendError,
        CtxsiftError,
        InputError,
        InstrumentError,
        LoadError,
        PromptTooLongError,
        RefusedError,
        TransientError,
        WeightsError,
        WorkerCrashedError,
        WorkerTimeoutError,
    )
    from ctxsift.intents import Intent
    from ctxsift.prompts import Message, Request
    from ctxsift.settings import Settings, load_settings

__version__ = "0.1.0"

__all__ = [
    "Ability",
    "Answer",
    "AsyncBackend",
    "Backend",
    "BackendError",
    "BatchBackend",
    "Compression",
    "CtxsiftError",
    "Decoding",
    "DecodingBackend",
    "Failure",
    "Generation",
    "InputError",
    "InstrumentError",
    "Intent",
    "Limits",
    "LoadError",
    "LoadInfo",
    "LogProbability",
    "MeasuringBackend",
    "Message",
    "ModelOptions",
    "ModelSpec",
    "PromptTooLongError",
    "Recovery",
    "RefusedError",
    "Request",
    "RequestBackend",
    "Settings",
    "Status",
    "Traits",
    "TransientError",
    "Validation",
    "View",
    "Weights",
    "WeightsError",
    "WorkerCrashedError",
    "WorkerTimeoutError",
    "__version__",
    "compress",
    "create_backend",
    "examine",
    "find_weights",
    "generate",
    "load_settings",
    "recover",
    "validate",
]

# Where the public names are, light modules first. None is imported before a name is asked for: `ctxsift compress` must
# note signals, and pass output on, before all that is there.
_MODULES = (
    "errors",
    "intents",
    "prompts",
    "settings",
    "backends.base",
    "backends.registry",
    "backends.weights",
    "answers.validation",
    "answers.recovery",
    "asking",
    "compression",
)


def __getattr__(name: str) -> object:
    """Return a public name. Raises AttributeError."""
    from importlib import import_module

    for place in _MODULES if name in __all__ else ():
        module = import_module(f"{__name__}.{place}")
        value: object = vars(module).get(name)
        if getattr(value, "__module__", None) == module.__name__:
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return list(__all__)
