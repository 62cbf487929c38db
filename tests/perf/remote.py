"""What the remote track adds to a service: `python -m tests.perf.remote` prints seconds and bytes as JSON.

280 cases, 16 in flight, against a service on loopback, in a process of its own, that answers after 200 ms.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

from benchmark.corpus import load_corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.matrix import Scenario, Track
from benchmark.record.result import Outcome, Scored
from benchmark.run.asking import STAGGER_S
from benchmark.run.case_workload import CaseWorkload
from benchmark.run.plan import RequestedScenario, RunSettings, ScenarioPlan
from benchmark.run.preflight import preflight
from benchmark.run.scenario_run import run_scenario
from benchmark.run.stop import Stop
from benchmark.run.workload import ScenarioRun
from benchmark.scoring import Embedder
from ctxsift.backends.base import LoadInfo
from ctxsift.settings import load_settings

IN_FLIGHT = 16
ANSWER_S = 0.2
_ANSWER = json.dumps(
    {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "one word"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
    }
).encode()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(_ANSWER)
    try:
        while True:
            asked = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = int(asked.split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            await asyncio.sleep(ANSWER_S)
            writer.write(head + _ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def _serve(told: Connection) -> None:
    async def serve() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0, limit=1 << 24)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def service() -> Iterator[str]:
    """Give the address of the service while it runs."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    process = spawn.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/v1"
    finally:
        process.terminate()
        process.join()


async def bare(port: int, questions: int) -> float:
    """Return the seconds that as many questions take a client that does nothing but send and read bytes.

    It opens a connection for each, as ours does.
    """
    left = iter(range(questions))
    asked = b"POST / HTTP/1.1\r\ncontent-length: 9000\r\n\r\n" + b" " * 9000

    async def slot(delay_s: float) -> None:
        await asyncio.sleep(delay_s)
        for _ in left:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(asked)
            await writer.drain()
            await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(len(_ANSWER))
            writer.close()

    started = time.perf_counter()
    async with asyncio.TaskGroup() as slots:
        for number in range(IN_FLIGHT):
            slots.create_task(slot(number * STAGGER_S))
    return time.perf_counter() - started


class _Stopwatch:
    """Listens to a scenario and notes when it began to ask and when the last answer was scored."""

    def __init__(self) -> None:
        self.began = self.ended = 0.0
        self.answers = 0

    def kept(self, scenario: Scenario, outcomes: Sequence[Outcome]) -> None:
        pass

    def loading(self, scenario: Scenario) -> None:
        """Nothing is measured yet."""

    def started(self, scenario: Scenario, load: LoadInfo) -> None:
        self.began = time.perf_counter()

    def finished_case(self, outcome: Outcome) -> None:
        self.ended = time.perf_counter()
        self.answers += isinstance(outcome, Scored)


class _Unwritten(CaseWorkload):
    """Keeps what came of a run instead of writing it, which would score the baselines."""

    def __init__(self, plan: ScenarioPlan, references: ReferenceScores) -> None:
        super().__init__(plan, references)
        self.ran: list[ScenarioRun[Outcome]] = []

    def write(self, ran: ScenarioRun[Outcome]) -> Path:
        self.ran.append(ran)
        return Path()


def main() -> int:
    """Run the scenario once and print what it took."""
    corpus = load_corpus()
    scenario = Scenario("remote", Track.REMOTE, "perf", "m", "none", "remote", concurrency=IN_FLIGHT)
    with tempfile.TemporaryDirectory() as folder, service() as url:
        bare_s = asyncio.run(bare(urlsplit(url).port or 0, len(corpus.cases)))
        env_file = Path(folder, "env")
        env_file.write_text(f"CTXSIFT_LLM_BASE_URL={url}\nCTXSIFT_LLM_API_KEY=any\n")
        settings = load_settings(env_file, {})
        options = RunSettings(Path(folder), "20260101T000000Z", settings, env_file=env_file, remote=True)
        (plan,) = preflight([RequestedScenario(scenario, corpus.cases, corpus)], options)
        assert isinstance(plan, ScenarioPlan), plan
        watch = _Stopwatch()
        workload = _Unwritten(plan, ReferenceScores(Embedder()))
        run_scenario(plan, workload, watch, Stop())
        (run,) = workload.ran
        assert run.complete, run.error
        assert watch.answers == len(corpus.cases)
    times = [outcome.generation.total_ms for outcome in run.outcomes if isinstance(outcome, Scored)]
    told = {
        "ideal_s": len(corpus.cases) / IN_FLIGHT * ANSWER_S,
        "bare_s": bare_s,
        "wall_s": watch.ended - watch.began,
        "mean_latency_ms": sum(times) / len(times),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
