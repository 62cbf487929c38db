"""Budgets, measured in one run: `make perf`. Exit code 1 when one is broken.

A limit in seconds means seconds of a quiet machine. What this machine is worth at this moment is measured by a fixed
piece of work before each budget, and limits are scaled by it, so that a busy or slow machine cannot break one.
"""

from __future__ import annotations

import functools
import gc
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmark.analysis.ranking import rank_results
from benchmark.cases import Corpus
from benchmark.corpus import load_corpus
from benchmark.matrix import Scenario, Track
from benchmark.record.read import CaseFigures, StoredResult
from benchmark.record.result import Result
from benchmark.record.summary import Summary
from benchmark.scoring import Embedder, bootstrap_final_scores, score_view
from benchmark.statistics import Clusters, bootstrap_means, interval_of
from ctxsift.backends.baselines import BASELINES, baseline_answer
from ctxsift.compression import View, examine
from tests.support.damage import DAMAGES

SCENARIOS = 28
CASES = 280
# Seconds the fixed piece of work takes on the quiet machine on which the limits were set.
PROBE_S = 0.22


@dataclass(frozen=True)
class Budget:
    """What something may cost.

    Attributes:
        limit: on a quiet machine, in the unit of `work`: CPU seconds, or what `unit` says.
        fixed: the part of the limit that a slow machine does not stretch.

    """

    name: str
    limit: float
    work: Callable[[], float]
    unit: str = "s"
    fixed: float = 0.0

    def limit_here(self, factor: float) -> float:
        """Return the limit on a machine that takes `factor` times as long."""
        return self.fixed + (self.limit - self.fixed) * factor


def probe() -> float:
    """Return the CPU seconds of a fixed piece of work of the kinds that scoring does: objects, text, arrays."""
    started = time.process_time()
    text = "error: expected 3 of 12 tests in src/app/store.py:41 to pass " * 40
    for _ in range(1800):
        words = sorted({word.lower() for word in text.split()})
        "".join(f"{word}:{len(word)}" for word in words * 60)
    rows = np.random.default_rng(0).random((400, 280))
    for _ in range(50):
        np.partition(rows, (27, 28), axis=1).sum()
    return time.process_time() - started


def answers(corpus: Corpus) -> list[tuple[int, View]]:
    """Return index of case and view of 28 different answers a case, as models give them, in both views."""
    found: list[tuple[int, View]] = []
    for index, case in enumerate(corpus.cases):
        texts = [case.expected_output]
        # 768 tokens at most, as a model is allowed.
        texts += [baseline_answer(name, case.request)[:3000] for name in BASELINES]
        texts += [text for damage in DAMAGES if (text := damage.apply(case.expected_output, case)) is not None]
        gold = corpus.cases
        texts += [gold[(index + shift) % len(gold)].expected_output for shift in range(1, SCENARIOS)]
        for text in list(dict.fromkeys(texts))[:SCENARIOS]:
            raw, recovered, _ = examine(text, case.request)
            found += [(index, raw), (index, recovered)]
    return found


def score_all(corpus: Corpus, views: list[tuple[int, View]]) -> float:
    """Return the CPU seconds of scoring all views, embeddings included."""
    embedder = Embedder()
    started = time.process_time()
    for index, view in views:
        score_view(view.text, view.validation, corpus.cases[index], embedder)
    return time.process_time() - started


def rescore_all(corpus: Corpus, views: list[tuple[int, View]]) -> float:
    """Return the CPU seconds of recovery, validation and scoring of all raw answers."""
    embedder = Embedder()
    started = time.process_time()
    for index, view in views[::2]:
        case = corpus.cases[index]
        raw, recovered, _ = examine(view.text, case.request)
        for side in {id(raw): raw, id(recovered): recovered}.values():
            score_view(side.text, side.validation, case, embedder)
    return time.process_time() - started


def bootstrap_all(corpus: Corpus) -> float:
    """Return the CPU seconds of all intervals of 28 results, and of their leaderboard."""
    captures = [case.capture.name for case in corpus.cases]
    rng = np.random.default_rng(0)
    scores = rng.random((SCENARIOS, 2, CASES))
    times = rng.lognormal(8, 0.5, (SCENARIOS, CASES))
    # Sizes of the groups of each breakdown, as the packaged corpus has them.
    groups = [np.array_split(np.arange(CASES), parts) for parts in (8, 6, 140, 3, 5)]
    started = time.process_time()
    for number in range(SCENARIOS):
        clusters = Clusters.of(captures)
        recovered, raw = (bootstrap_final_scores(view, times[number], clusters) for view in scores[number])
        for drawn in (recovered, raw, recovered - raw):
            interval_of(drawn, clusters)
        for members in itertools.chain.from_iterable(groups):
            clusters = Clusters.of(captures[place] for place in members)
            for values in (scores[number][0], scores[number][1], scores[number][0] - scores[number][1]):
                interval_of(bootstrap_means(values[members], clusters), clusters)
    rank_results([_result(number, scores[number], times[number], captures) for number in range(SCENARIOS)])
    return time.process_time() - started


def _result(number: int, scores: np.ndarray, times: np.ndarray, captures: list[str]) -> StoredResult:
    cases = {
        str(case): CaseFigures(
            str(case), scores[0][case], scores[1][case], times[case], True, ("capture", captures[case]), {}
        )
        for case in range(CASES)
    }
    scenario = Scenario(str(number), Track.CPU, "perf", "m", "none", "cpu")
    return StoredResult(
        Path(f"{number}.json"), Result(scenario=scenario, summary=Summary(case_count=CASES), cases=[]), cases
    )


def load_all() -> float:
    """Return the CPU seconds of loading the packaged corpus, as in a process that has nothing else."""
    # What other rows left would be looked through for garbage.
    gc.collect()
    gc.freeze()
    started = time.process_time()
    load_corpus()
    spent = time.process_time() - started
    gc.unfreeze()
    return spent


@functools.cache
def measured_by(module: str) -> dict[str, float]:
    """Return what a module of this package measured in a process of its own, once."""
    done = subprocess.run([sys.executable, "-m", f"tests.perf.{module}"], capture_output=True, text=True, check=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _of(module: str, figure: str, *, times: float = 1.0) -> Callable[[], float]:
    return lambda: times * measured_by(module)[figure]


def _slower_than_bare() -> float:
    service = measured_by("remote")
    return service["wall_s"] / service["bare_s"]


def budgets(corpus: Corpus) -> tuple[Budget, ...]:
    """Return all budgets, in the order in which they are measured."""
    views, clock = answers(corpus), "s of the clock"
    rescored = f"rescoring {len(views) // 2:,} answers, recovery and validation included"
    drawn = f"bootstrap of {SCENARIOS} results: intervals, breakdowns, leaderboard"
    return (
        Budget(f"scoring {len(views):,} stored views, embeddings included", 5.0, lambda: score_all(corpus, views)),
        Budget(rescored, 10.0, lambda: rescore_all(corpus, views)),
        Budget(drawn, 3.0, lambda: bootstrap_all(corpus)),
        Budget(f"loading {len(corpus.cases)} cases", 0.25, load_all),
        Budget("start-up: listing scenarios", 0.5, _of("runner", "list_s"), clock),
        Budget("... a run of one case, from the command to the report", 3.0, _of("runner", "one_s"), clock),
        Budget("what the runner adds to a case", 20.0, _of("runner", "case_s", times=1000), "ms of the clock"),
        Budget("resuming a run: a case that is there already", 15.0, _of("runner", "resumed_case_s", times=1000), "ms"),
        Budget("memory of the runner over 280 cases", 300, _of("runner", "peak_bytes", times=1e-6), "MB", 300),
        Budget("280 answers of a service in 200 ms each, 16 in flight", 1.3, _slower_than_bare, "x bare client", 1.0),
        Budget("... memory of the runner meanwhile", 300, _of("remote", "peak_bytes", times=1e-6), "MB", 300),
        Budget("page of 28 results x 280 cases, the whole command", 5.0, _of("viewer", "build_s"), clock),
        Budget("report of 28 results x 280 cases, the whole command", 2.5, _of("viewer", "report_s"), clock),
        Budget("stats of a session of 20 MB, the whole command", 2.0, _of("sessions", "stats_s"), clock),
        Budget("... memory over 500 MB of JSON Lines", 200, _of("sessions", "peak_bytes", times=1e-6), "MB", 200),
        Budget("stats of a session of 100 MB", 10.0, _of("sessions", "hundred_stats_s")),
        Budget("... its files", 10.0, _of("sessions", "hundred_files_s")),
        # Ten are wanted: each of its 140,000 lines is weighed, and what it gives a value to is sought.
        Budget("... compacted by rules", 40.0, _of("sessions", "hundred_compact_s")),
        Budget("stats of a session with 2 MB of damaged lines", 3.0, _of("sessions", "damaged_s")),
        Budget(
            "compacting and showing twice as much of a kind, the worst", 3.0, _of("sessions", "growth"), "times", 3.0
        ),
        Budget("size of the page", 4.0, _of("viewer", "bytes", times=1e-6), "MB", 4.0),
        Budget("... until the leaderboard answers", 0.6, _of("viewer", "board_s"), clock),
        Budget("... opening a case", 0.1, _of("viewer", "case_s"), clock),
        Budget("page of 300 results, until the leaderboard answers", 2.0, _of("viewer", "many_s"), clock),
    )


def main() -> int:
    """Measure every budget and print the table; return 1 when one is broken."""
    table = Table(
        title="Budgets: s is CPU seconds on one core; limits are scaled to what this machine is worth right now"
    )
    for title in ("what", "measured", "machine", "limit", "", "used", ""):
        table.add_column(title, justify="left" if title in ("what", "") else "right")
    broken = 0
    for budget in budgets(load_corpus()):
        before = probe()
        measured = budget.work()
        factor = max(1.0, (before + probe()) / 2 / PROBE_S)
        used = measured / budget.limit_here(factor)
        broken += used > 1
        cells = (f"{measured:.2f}", f"x{factor:.2f}", f"{budget.limit:.2f}", budget.unit, f"{used:.0%}")
        table.add_row(budget.name, *cells, "broken" if used > 1 else "kept")
    console = Console(width=140)
    console.print(table)
    service, page = measured_by("remote"), measured_by("viewer")
    ideal = service["wall_s"] / service["ideal_s"]
    console.print(
        f"280 answers: {service['wall_s']:.2f} s, x {ideal:.3f} of 280/16 x 0.2 s; a client that only sends and reads "
        f"bytes: {service['bare_s']:.2f} s; mean latency {service['mean_latency_ms']:.0f} ms\n"
        f"300 results: {page['many_bytes'] / 1e6:.1f} MB, built in {page['many_build_s']:.0f} s"
    )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
