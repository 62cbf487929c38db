"""A program before a model: the model reads what the program makes of the raw output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ctxsift.asking import ask_async
from ctxsift.backends.base import Ability, AsyncBackend, Generation, Limits, LoadInfo, ModelSpec, Traits
from ctxsift.backends.command import CommandBackend
from ctxsift.errors import BackendError
from ctxsift.prompts import Message, Request, RequestPrompt

# The key, in the settings of a loaded model, of what stands before it.
BEFORE = "program_before"
FAILED = "the program before the model failed, so that it read the raw output"


class FilteredBackend:
    """A model behind a program; see AsyncBackend and AsyncRequestBackend.

    Args:
        model: reads what the program prints, or the raw output where the program fails.
        program: as CommandBackend loads it.

    """

    traits = Traits(abilities=frozenset({Ability.REQUESTS}))

    def __init__(self, model: AsyncBackend, program: ModelSpec) -> None:
        self._model, self._spec = model, program
        self._program = CommandBackend()

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Load both. Raises LoadError as they do."""
        before = self._program.load(self._spec)
        load = self._model.load(spec)
        told = {"version": before.engine_version, **before.settings}
        return replace(load, settings={**load.settings, BEFORE: told})

    async def aopen(self) -> None:
        """Open both."""
        await self._program.aopen()
        await self._model.aopen()

    async def agenerate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Raise BackendError: to the program, messages mean nothing."""
        del messages, limits
        raise BackendError("this backend only accepts compression requests, not raw messages")

    async def agenerate_request(self, request: Request, limits: Limits) -> Generation:
        """Ask once. The time of the program is part of `total_ms`, its remarks are kept. Raises as the model does."""
        found = await self._program.agenerate_request(request, limits)
        read = request.raw_input if found.fault else found.text
        said = (await ask_async(RequestPrompt(replace(request, raw_input=read)), self._model, limits)).generation
        remarks = (*found.remarks, *([FAILED] if found.fault else []), *said.remarks)
        return replace(said, total_ms=found.total_ms + said.total_ms, read=read, remarks=remarks)

    async def aclose(self) -> None:
        """Close both."""
        await self._program.aclose()
        await self._model.aclose()
