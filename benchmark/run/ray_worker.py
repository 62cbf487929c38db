"""What runs on a node of a Ray cluster: one opened model, and how busy its machine is."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import cast

from benchmark.record.journal import Hardware, Sample
from benchmark.run.machine import Meter, hardware
from ctxsift.backends.base import (
    Ability,
    AsyncDecodingBackend,
    AsyncRequestBackend,
    Decoding,
    Generation,
    Limits,
    LoadInfo,
    ModelSpec,
    abilities_of,
)
from ctxsift.backends.weights import find_weights
from ctxsift.backends.worker_wire import WorkerFault, fault_of
from ctxsift.errors import LoadError
from ctxsift.models.opened import Opened, Patience
from ctxsift.prompts import Message, Request


@dataclass(frozen=True)
class Setup:
    """How a worker opens the model. Can be pickled; holds no key.

    Attributes:
        backend: registered name.
        spec: the model; its path is that of the driver.
        before: the program before it.
        weights_sha256: of its file; the one that is found on the node must have it. None where it has no file.

    """

    backend: str
    spec: ModelSpec
    patience: Patience
    gguf_filename: str | None = None
    before: ModelSpec | None = None
    weights_sha256: str | None = None


@dataclass(frozen=True)
class Loaded:
    """What a worker says when its model is ready."""

    load: LoadInfo
    abilities: frozenset[Ability]
    hardware: Hardware
    host: str


@dataclass(frozen=True)
class RayReply:
    """An answer, or why there is none, with how busy the machine was."""

    content: Generation | WorkerFault
    machine: Sample | None
    rss_bytes: int | None


class RayWorker:
    """Holds a model; what it is asked, it answers one after the other."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._opened: Opened | None = None
        self._meter = Meter()
        self._asked = asyncio.Lock()

    async def load(self) -> Loaded | WorkerFault:
        """Load the model, from weights of this node."""
        try:
            loaded = await asyncio.to_thread(self._load)
            await self._model.backend.aopen()
            return loaded
        except Exception as error:  # what is no error of ours may not be known where it arrives
            return fault_of(error)

    async def generate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding) -> RayReply:
        """Answer once."""
        backend = cast(AsyncDecodingBackend, self._model.backend)
        if decoding.needs:
            return await self._reply(backend.agenerate(messages, limits, decoding))
        return await self._reply(self._model.backend.agenerate(messages, limits))

    async def generate_request(self, request: Request, limits: Limits) -> RayReply:
        """Answer a request of the product."""
        backend = cast(AsyncRequestBackend, self._model.backend)
        return await self._reply(backend.agenerate_request(request, limits))

    @property
    def _model(self) -> Opened:
        assert self._opened is not None, "a model is loaded before it is asked"
        return self._opened

    def _load(self) -> Loaded:
        setup, spec = self._setup, self._setup.spec
        if setup.weights_sha256 is not None:
            weights = find_weights(spec.model, setup.gguf_filename)
            if weights.sha256 != setup.weights_sha256:
                found = f"{weights.path} on {socket.gethostname()} has SHA-256 {weights.sha256[:12]}"
                raise LoadError(f"{found}, the run has {setup.weights_sha256[:12]}")
            spec = dataclasses.replace(spec, path=str(weights.path))
        self._opened = Opened(setup.backend, spec, setup.patience, before=setup.before)
        load = self._opened.load()
        return Loaded(load, abilities_of(self._opened.backend), hardware(load), socket.gethostname())

    async def _reply(self, asked: Awaitable[Generation]) -> RayReply:
        async with self._asked:
            content: Generation | WorkerFault
            try:
                content = await asked
            except Exception as error:  # as above
                content = fault_of(error)
        model = self._model
        sample = self._meter.sample(model.cpu_s) if self._meter.due else None
        return RayReply(content, sample, model.rss_bytes)
