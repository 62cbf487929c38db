"""A model that workers of a Ray cluster hold, asked as one that is opened here; see `ctxsift.models.opened`.

Ray schedules actors and carries questions and answers. Everything else stays with the driver: what is asked, the
journal, grades. Nothing lives in the cluster alone, so a node may die at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.record.journal import LoadedLine
from benchmark.run.asking import AnswerPlace
from benchmark.run.identity import load_differences
from benchmark.run.ray_worker import Loaded, RayReply, RayWorker, Setup
from benchmark.run.run_plan import Workers
from ctxsift.backends.base import GREEDY, Ability, Decoding, Generation, Limits, LoadInfo, ModelSpec
from ctxsift.backends.retry import Retry
from ctxsift.backends.worker_wire import WorkerFault, error_of
from ctxsift.devices import Device
from ctxsift.errors import BackendError, InputError, InstrumentError, LoadError
from ctxsift.extras import Extra, install_hint
from ctxsift.prompts import Message, Request
from ctxsift.terminal import tell

# Whoever waits that long for a worker is told why.
WAIT_TOLD_S = 30.0
# So many workers in a row that could not load the model say that none can.
MOST_FAILED_LOADS = 3
# A question whose worker died is asked of another one, so often.
RETRY = Retry(3, None, (BackendError,), patient=False)
_LOOK_S, _REACH_S = 0.2, 10.0
LOCAL = "local"
_CPU, _GPU = "CPU", "GPU"


class WorkerLostError(InstrumentError):
    """The worker that was asked died, or its node did."""


def start_cluster(workers: Workers) -> Any:
    """Return Ray, connected to a cluster, or to one that it starts on this machine.

    Raises:
        InputError: Ray is not installed, or there is no cluster at the address.

    """
    # Ray tells its makers what it is used for unless it is told not to.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError:
        raise InputError("--ray", "needs Ray, which is not installed", install_hint(Extra.RAY)) from None
    if ray.is_initialized():
        return ray
    _reach(workers.address)
    local = workers.address == LOCAL
    # Cores are counted, not measured: the driver keeps one for itself.
    cores = workers.most * workers.threads if local and workers.most else None
    try:
        ray.init(
            address=workers.address,
            num_cpus=cores,
            log_to_driver=False,
            logging_level=logging.ERROR,
            include_dashboard=False if local else None,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"--ray {workers.address}", f"cannot be reached ({reason})", "start it: ray start") from error
    return ray


def _reach(address: str) -> None:
    """Raise InputError where nobody answers at HOST:PORT; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_REACH_S).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"--ray {address}", f"cannot be reached ({error})", "start it: ray start") from error


@dataclass
class _Held:
    """A worker, from its start to its end."""

    name: str
    actor: Any
    ref: Any
    busy: bool = False


@dataclass
class _Workers:
    """Those there are; shared by the thread that starts them and the loop that asks them."""

    loading: list[_Held] = field(default_factory=list)
    ready: dict[str, _Held] = field(default_factory=dict)
    failed: int = 0
    problem: str = ""
    made: int = 0


class RayModel:
    """A model on the workers of a cluster; asked like an opened one.

    A worker that dies is replaced. A node that joins gets workers, too.

    Args:
        setup: how a worker opens the model.
        workers: how many, and where.
        name: of the scenario, for messages.

    """

    is_service = False
    reads_batches = False
    cpu_s = 0.0
    rss_bytes: int | None = None
    retry = RETRY

    def __init__(self, setup: Setup, workers: Workers, name: str) -> None:
        self._setup, self._options, self._name = setup, workers, name
        self._ray: Any = None
        self._actor: Any = None
        self._driver = ""
        self._load: LoadInfo | None = None
        self._spec: ModelSpec | None = None
        self._abilities: frozenset[Ability] = frozenset()
        self._loaded: dict[str, Loaded] = {}
        self._workers, self._lock = _Workers(), threading.Lock()
        self._nobody_since, self._waiting_told = time.monotonic(), False
        self._ended = threading.Event()
        self._keeper: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed: asyncio.Condition | None = None
        self._places: weakref.WeakKeyDictionary[asyncio.Task[Any], AnswerPlace] = weakref.WeakKeyDictionary()

    @property
    def backend(self) -> RayModel:
        """What an event loop asks."""
        return self

    @property
    def abilities(self) -> frozenset[Ability]:
        """What the workers' backend can do."""
        return self._abilities

    def ready_count(self) -> int:
        """Return how many workers have the model loaded."""
        with self._lock:
            return len(self._workers.ready)

    def load(self, spec: ModelSpec | None = None) -> LoadInfo:
        """Wait until one worker has loaded the model, and return how. Raises LoadError or InputError."""
        del spec
        ray = self._ray = start_cluster(self._options)
        self._actor = ray.remote(RayWorker)
        self._driver = ray.get_runtime_context().get_node_id()
        self._keeper = threading.Thread(target=self._keep, name="ray-workers", daemon=True)
        self._keeper.start()
        while self._load is None:
            if self._ended.wait(_LOOK_S):
                raise LoadError("it was ended before a worker was ready")
            with self._lock:
                if self._workers.failed >= MOST_FAILED_LOADS:
                    raise LoadError(f"no worker can load the model: {self._workers.problem}")
        return self._load

    def loaded_at(self, node: str) -> LoadedLine:
        """Return what a worker said when it was ready. Raises KeyError for a name that none ever had."""
        loaded = self._loaded[node]
        return LoadedLine(load=loaded.load, hardware=loaded.hardware, node=node)

    def place(self) -> AnswerPlace | None:
        """Return where the answer came from that this task got last."""
        task = asyncio.current_task()
        return self._places.get(task) if task is not None else None

    async def aopen(self) -> None:
        """Hear of workers from now on."""
        self._loop, self._changed = asyncio.get_running_loop(), asyncio.Condition()

    async def agenerate(self, messages: Sequence[Message], limits: Limits, decoding: Decoding = GREEDY) -> Generation:
        """Ask one worker. Raises WorkerLostError where it died; LoadError where none is left that can load."""
        return await self._asked(lambda actor: actor.generate.remote(tuple(messages), limits, decoding))

    async def agenerate_request(self, request: Request, limits: Limits) -> Generation:
        """Ask one worker a request; see `agenerate`."""
        return await self._asked(lambda actor: actor.generate_request.remote(request, limits))

    async def aclose(self) -> None:
        """End the workers."""
        await asyncio.to_thread(self.close)

    def kill(self) -> None:
        """Start no further worker; whoever waits for one is let go."""
        self._ended.set()

    def close(self) -> None:
        """End the workers, so that the next scenario finds room."""
        self._ended.set()
        if self._keeper is not None and self._keeper is not threading.current_thread():
            self._keeper.join(timeout=10)
        with self._lock:
            held = [*self._workers.loading, *self._workers.ready.values()]
            self._workers.loading, self._workers.ready = [], {}
        for each in held:
            self._end(each)

    async def _asked(self, ask: Callable[[Any], Any]) -> Generation:
        held = await self._taken()
        try:
            reply: RayReply = await ask(held.actor)
        except self._ray.exceptions.RayActorError as error:
            self._lose(held)
            raise WorkerLostError(f"worker {held.name} died: {_first_line(error)}") from error
        except self._ray.exceptions.RayError as error:
            raise InstrumentError(f"worker {held.name}: {_first_line(error)}") from error
        finally:
            await self._returned(held)
        task = asyncio.current_task()
        if task is not None:
            self._places[task] = AnswerPlace(held.name, reply.machine, reply.rss_bytes)
        if isinstance(reply.content, WorkerFault):
            raise error_of(reply.content)
        return reply.content

    async def _taken(self) -> _Held:
        """Return a free worker, the one that this task asked last if possible: it has read the same beginning."""
        assert self._changed is not None
        task = asyncio.current_task()
        last = self._places.get(task) if task is not None else None
        async with self._changed:
            while True:
                with self._lock:
                    free = [held for held in self._workers.ready.values() if not held.busy]
                    if not free and not self._workers.ready and self._workers.failed >= MOST_FAILED_LOADS:
                        raise LoadError(f"no worker is left, and none can be started: {self._workers.problem}")
                    if free:
                        same = [held for held in free if last is not None and held.name == last.node]
                        held = (same or free)[0]
                        held.busy = True
                        return held
                await self._changed.wait()

    async def _returned(self, held: _Held) -> None:
        held.busy = False
        assert self._changed is not None
        async with self._changed:
            self._changed.notify_all()

    def _lose(self, held: _Held) -> None:
        with self._lock:
            self._workers.ready.pop(held.name, None)
        tell(f"{self._name}: worker {held.name} is lost; another worker gets its question")

    def _keep(self) -> None:
        """Start workers and take them in, until it ends."""
        while not self._ended.is_set():
            try:
                self._take_in()
                self._grow()
                self._tell_waiting()
            except Exception as error:  # the cluster may be gone; whoever asks finds out
                with self._lock:
                    self._workers.failed += 1
                    self._workers.problem = f"{type(error).__name__}: {_first_line(error)}"
                self._wake()
            self._ended.wait(_LOOK_S)

    def _take_in(self) -> None:
        with self._lock:
            loading = list(self._workers.loading)
        if not loading:
            return
        ended, _ = self._ray.wait([held.ref for held in loading], num_returns=len(loading), timeout=0)
        for held in loading:
            if held.ref in ended:
                problem = self._why_not(held)
                with self._lock:
                    self._workers.loading.remove(held)
                    if problem is None:
                        self._workers.failed = 0
                        self._workers.ready[held.name] = held
                    else:
                        self._workers.failed += 1
                        self._workers.problem = problem
                if problem is not None:
                    tell(f"{self._name}: worker {held.name} is left out: {problem}")
                    self._end(held)
                self._wake()

    def _why_not(self, held: _Held) -> str | None:
        """Take in what a worker said when its model was loaded; return why it cannot be used, or None."""
        try:
            loaded: Loaded | WorkerFault = self._ray.get(held.ref)
        except self._ray.exceptions.RayError as error:
            return _first_line(error)
        if isinstance(loaded, WorkerFault):
            return str(error_of(loaded))
        if self._load is not None and (found := load_differences(self._load, loaded.load)):
            return f"on {loaded.host} the model is loaded in a different way: {', '.join(found)}"
        self._loaded[held.name] = loaded
        self._abilities = loaded.abilities
        self._load = self._load or loaded.load
        return None

    def _grow(self) -> None:
        with self._lock:
            there = len(self._workers.ready) + len(self._workers.loading)
            hopeless = self._workers.failed >= MOST_FAILED_LOADS
        for _ in range(0 if hopeless else self._capacity() - there):
            with self._lock:
                self._workers.made += 1
                name = f"w{self._workers.made}"
            actor = self._actor.options(**self._needs()).remote(self._setup)
            held = _Held(name, actor, actor.load.remote())
            with self._lock:
                self._workers.loading.append(held)

    def _needs(self) -> dict[str, Any]:
        needs: dict[str, Any] = {"num_cpus": self._options.threads, "max_restarts": 0, "max_concurrency": 2}
        return needs | ({"num_gpus": 1} if self._needs_gpu else {})

    @property
    def _needs_gpu(self) -> bool:
        return self._setup.spec.device.startswith(Device.CUDA)

    def _capacity(self) -> int:
        """Return how many workers the nodes that are alive have room for."""
        room = 0
        for node in self._ray.nodes():
            if not node["Alive"]:
                continue
            cores = node["Resources"].get(_CPU, 0.0)
            if node["NodeID"] == self._driver and self._options.most is None and cores > 1:
                # The driver grades answers meanwhile.
                cores -= 1
            fits = int(cores // self._options.threads)
            room += min(fits, int(node["Resources"].get(_GPU, 0))) if self._needs_gpu else fits
        return min(room, self._options.most or room)

    def _tell_waiting(self) -> None:
        """Say once what is free where nobody has been ready for long."""
        if self.ready_count():
            self._nobody_since = time.monotonic()
        elif not self._waiting_told and time.monotonic() - self._nobody_since > WAIT_TOLD_S:
            self._waiting_told = True
            free = self._ray.available_resources()
            told = ", ".join(f"{free[name]:g} {name}" for name in (_CPU, _GPU) if free.get(name)) or "nothing"
            needs = f"{self._options.threads} {_CPU}" + (f" and 1 {_GPU}" if self._needs_gpu else "")
            what = f"no worker has been ready for {WAIT_TOLD_S:.0f} s"
            tell(f"{self._name}: {what}: each needs {needs} on one node, free are {told}; still waiting")

    def _wake(self) -> None:
        async def notify() -> None:
            assert self._changed is not None
            async with self._changed:
                self._changed.notify_all()

        if self._loop is not None:
            # The loop may be over by then.
            with contextlib.suppress(RuntimeError):
                asyncio.run_coroutine_threadsafe(notify(), self._loop)

    def _end(self, held: _Held) -> None:
        # Its cluster may be gone.
        with contextlib.suppress(Exception):
            self._ray.kill(held.actor)


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).strip().split("\n", 1)[0].split())[:200]
