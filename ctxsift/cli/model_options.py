"""The options that name a model, the same for every command that asks one."""

from __future__ import annotations

import argparse

from ctxsift.cli.parser import DEFAULT_TIMEOUT_S, PACKAGED_MODEL, path, seconds
from ctxsift.cli.renamed import renaming
from ctxsift.devices import Device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HERE = tuple(str(each) for each in Device if each is not Device.REMOTE)


def add_model_options(options: argparse._ActionsContainer) -> None:
    """Add them; `ctxsift.cli.model` reads them."""
    options.add_argument(
        "--model",
        help=f"hub id, local path or package:NAME, e.g. {PACKAGED_MODEL}; with --remote, the service's name for "
        "the model (default: CTXSIFT_MODEL)",
    )
    options.add_argument(
        "--gguf-filename", help="name of the .gguf file to use, if --model names a folder or repository"
    )
    options.add_argument(
        "--backend",
        help="backend that runs the model; see `ctxsift list backends` (default: llama_cpp; with --remote: litellm)",
    )
    options.add_argument(
        "--device",
        action=_DeviceOption,
        choices=[*_HERE, str(Device.REMOTE)],
        metavar=f"{{{','.join(_HERE)}}}",
        help="run the model on this device of your machine, even if CTXSIFT_REMOTE=1 is set (default: cpu)",
    )
    options.add_argument(
        "--remote",
        action="store_true",
        help="use the service at CTXSIFT_LLM_BASE_URL, and send it what the model reads (or set CTXSIFT_REMOTE=1)",
    )
    options.add_argument(
        "--env-file",
        type=path,
        metavar="FILE",
        help="file with CTXSIFT_* settings; environment variables take precedence",
    )
    options.add_argument(
        "--timeout",
        type=seconds,
        metavar="SECONDS",
        help=f"time limit for loading a local model and for each answer (default: {DEFAULT_TIMEOUT_S:.0f}; for a "
        "service: CTXSIFT_TIMEOUT_MS)",
    )


def names_model(options: argparse.Namespace) -> bool:
    """Return True if options name a model, a backend or a service."""
    return bool(options.model or options.backend or options.remote)


class _DeviceOption(argparse.Action):
    """Stores the device; `remote`, which is none, is the old name of --remote."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store it."""
        del parser, option_string
        if values != Device.REMOTE:
            namespace.device = values
            return
        from ctxsift.cli.passing import note

        note(renaming("--device remote", "--remote"))
        namespace.remote = True
