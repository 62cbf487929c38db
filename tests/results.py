"""Result files as a benchmark of many models leaves them, made of real answers: for tests and budgets of the viewer."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark.corpus import Case, Corpus
from benchmark.rescore import rescore
from benchmark.results import write_result
from benchmark.rollup import References
from benchmark.scoring import Embedder
from benchmark.stored import StoredResult, as_result
from ctxsift.backends.controls import control_answer
from tests.conftest import ROOT
from tests.damage import DAMAGES
from tests.wrappers import WRAPPERS

_TRACKS = ("cpu", "cpu", "gpu", "remote")
_DATA = ROOT / "tests" / "data"


class Answers:
    """Answers of any quality: gold, blind readers', damaged, wrapped, of compressors, and what tiny models said."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(seed)
        self._blind: dict[str, str] = json.loads((_DATA / "blind.json").read_text(encoding="utf-8"))
        self._models: dict[str, dict[str, str]] = json.loads((_DATA / "answers.json").read_text(encoding="utf-8"))

    def pick(self, case: Case, quality: float) -> str:
        """Return a good answer with the probability `quality`, else what a model that is too small says."""
        rng, gold = self._rng, case.expected_output
        if rng.random() > quality:
            of = self._models[rng.choice(sorted(self._models))]
            said = of.get(case.case_id) or of[rng.choice(sorted(of))]
            return said if rng.random() < 0.8 else control_answer(rng.choice(("tf-idf", "error-lines")), case.request)
        kind = rng.random()
        if kind < 0.45:
            return self._blind[case.case_id]
        if kind < 0.7:
            wrapper = rng.choice([w for w in WRAPPERS if case.intent in w.intents])
            return wrapper.wrap(self._blind[case.case_id], case.intent)
        damaged = rng.choice(DAMAGES).apply(gold, case)
        return damaged if damaged is not None else gold


def template(folder: Path, *options: str) -> dict[str, Any]:
    """Run the quickest scenario there is, over the whole corpus unless `options` say else, and return its record."""
    command = [sys.executable, "-m", "benchmark.runner", "--scenario", "control-empty", "--output-dir", str(folder)]
    subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True)
    record: dict[str, Any] = json.loads(next(folder.rglob("control-empty.json")).read_text(encoding="utf-8"))
    return record


def synthesise(template: dict[str, Any], corpus: Corpus, embedder: Embedder, count: int) -> Iterator[dict[str, Any]]:
    """Yield `count` records from bad to good; the third was disturbed, the fourth is incomplete."""
    answers, references, rng = Answers(), References(embedder), random.Random(1)
    by_id = {case.case_id: case for case in corpus.cases}
    for number in range(count):
        record = copy.deepcopy(template)
        name, track = f"model-{number:02d}", _TRACKS[number % len(_TRACKS)]
        record["scenario"] |= {"name": name, "track": track, "phase": f"{track}-screen", "model": f"lab/{name}"}
        record["run"]["timestamp"] = f"20261101T{number // 60:02d}{number % 60:02d}00Z"
        pace_ms = 400 * 1.2 ** rng.uniform(0, count)
        for row in record["cases"]:
            _answer(row, answers.pick(by_id[row["case_id"]], number / count), pace_ms * rng.lognormvariate(0, 0.5))
        if number == 2:
            record["run"]["disturbance"] |= {"other_cpu_share": 0.4, "latency_clean": False}
        if number == 3:
            kept = {
                "case_id",
                "title",
                "domain",
                "tool",
                "family",
                "intent",
                "output_mode",
                "difficulty",
                "instruction",
            }
            kept |= {"raw_input", "expected_output", "required_anchors"}
            lost = {"outcome": "instrument_failure", "error": "the model process died (SIGKILL)", "attempts": 2}
            record["cases"][:9] = [{k: row[k] for k in kept} | lost for row in record["cases"][:9]]
        stored = StoredResult(Path(f"{name}.json"), name, track, {}, record)
        yield rescore(stored, corpus, references).record


def _answer(row: dict[str, Any], text: str, milliseconds: float) -> None:
    tokens = max(1, len(text) // 4)
    row |= {
        "outcome": "scored",
        "failure_reason": None,
        "finish_reason": "stop",
        "completion_tokens": tokens,
        "prompt_tokens": len(row["raw_input"]) // 4 + 120,
        "inference_ms": milliseconds,
        "prefill_ms": milliseconds * 0.3,
        "decode_ms": milliseconds * 0.7,
        "model": "a model",
    }
    row["raw_view"]["output"] = text


def write_results(records: Iterator[dict[str, Any]], folder: Path) -> None:
    """Write each record as a run folder below `folder`."""
    for record in records:
        name = record["scenario"]["name"]
        run = folder / f"{name}-{record['run']['timestamp']}"
        run.mkdir(parents=True)
        write_result(run / f"{name}.json", record)


def many(records: list[dict[str, Any]], count: int) -> Iterator[StoredResult]:
    """Yield `count` results: the records over and over, each time under other names."""
    for number in range(count):
        record = copy.copy(records[number % len(records)])
        name = f"{record['scenario']['name']}-v{number // len(records)}"
        record["scenario"] = record["scenario"] | {"name": name}
        yield as_result(Path(f"{name}.json"), record, check=False)
