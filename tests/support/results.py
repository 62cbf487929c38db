"""Result files as a benchmark of many models leaves them, made of real answers: for tests and budgets of the viewer."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmark.cases import Case, Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.grading.outcome import grade, unanswered
from benchmark.grading.result import build_result
from benchmark.matrix import Track
from benchmark.record.paths import result_path
from benchmark.record.read import StoredResult, read_result, stored
from benchmark.record.result import Answered, Outcome, Result, Run
from benchmark.record.write import write_result
from benchmark.runner import main as runner_main
from benchmark.scoring import Embedder
from ctxsift.asking import Answer
from ctxsift.backends.base import Generation
from ctxsift.backends.baselines import baseline_answer
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.conftest import ROOT
from tests.support.damage import DAMAGES
from tests.support.processes import run_inside
from tests.support.wrappers import WRAPPERS

_TRACKS = (Track.CPU, Track.CPU, Track.GPU, Track.REMOTE)
_DISTURBED, _INCOMPLETE = 2, 3
_LOST = 9
_DATA = ROOT / "tests" / "data"


def blind_answers() -> dict[str, str]:
    """Return for each case the answer of a reader who saw only its question and its output."""
    found: dict[str, str] = json.loads((_DATA / "blind.json").read_text(encoding="utf-8"))
    return found


def earlier_requests() -> dict[str, Request]:
    """Return what stored answers of models were asked, by case; some of these cases are not in the corpus any more."""
    rows = json.loads(gzip.decompress((_DATA / "asked.json.gz").read_bytes()))
    return {name: Request(**row | {"intent": Intent(row["intent"])}) for name, row in rows.items()}


class Answers:
    """Answers of any quality: gold, blind readers', damaged, wrapped, of compressors, and what tiny models said."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(seed)
        self._blind = blind_answers()
        self._models: dict[str, dict[str, str]] = json.loads((_DATA / "answers.json").read_text(encoding="utf-8"))

    def pick(self, case: Case, quality: float) -> str:
        """Return a good answer with the probability `quality`, else what a model that is too small says."""
        rng, gold = self._rng, case.expected_output
        if rng.random() > quality:
            of = self._models[rng.choice(sorted(self._models))]
            said = of.get(case.case_id) or of[rng.choice(sorted(of))]
            return said if rng.random() < 0.8 else baseline_answer(rng.choice(("tf-idf", "error-lines")), case.request)
        kind = rng.random()
        blind = self._blind.get(case.case_id, gold)
        if kind < 0.45:
            return blind
        if kind < 0.7:
            wrapper = rng.choice([w for w in WRAPPERS if case.intent in w.intents])
            return wrapper.wrap(blind, case.intent)
        damaged = rng.choice(DAMAGES).apply(gold, case)
        return damaged if damaged is not None else gold


def template(folder: Path, *options: str) -> Result:
    """Run the quickest scenario there is, over the whole corpus unless `options` say else, and return its record."""
    done = run_inside(
        runner_main, ["--scenario", "control-empty", "--output-dir", str(folder), *options], ROOT, os.environ
    )
    assert done.returncode == 0, done.stderr
    return read_result(next(folder.rglob("control-empty.json"))).record


def synthesise(template: Result, corpus: Corpus, embedder: Embedder, count: int) -> Iterator[Result]:
    """Yield `count` results from bad to good; the third was disturbed, the fourth is incomplete."""
    answers, references, rng = Answers(), ReferenceScores(embedder), random.Random(1)
    by_id = {case.case_id: case for case in corpus.cases}
    for number in range(count):
        name, track = f"model-{number:02d}", _TRACKS[number % len(_TRACKS)]
        pace_ms = 400 * 1.2 ** rng.uniform(0, count)
        outcomes: list[Outcome] = []
        for place, before in enumerate(template.cases):
            case = by_id[before.question.case_id]
            answer = _answer(case, answers.pick(case, number / count), pace_ms * rng.lognormvariate(0, 0.5))
            if number == _INCOMPLETE and place < _LOST:
                outcomes.append(unanswered(case, "the model process died (SIGKILL)", 2))
            else:
                assert isinstance(before, Answered)
                outcomes.append(
                    grade(
                        case,
                        answer,
                        embedder,
                        recovery_enabled=True,
                        attempts=1,
                        elapsed_ms=before.elapsed_ms,
                        rss_bytes=before.cpu_rss_bytes,
                    )
                )
        yield build_result(
            dataclasses.replace(
                template.scenario, name=name, track=track, phase=f"{track}-screen", model=f"lab/{name}"
            ),
            template.warmup,
            _run(template, number),
            outcomes,
            corpus.cases,
            references,
        )


def _run(template: Result, number: int) -> Run:
    assert template.run is not None
    disturbed = number == _DISTURBED
    return replace(
        template.run,
        timestamp=f"20261101T{number // 60:02d}{number % 60:02d}00Z",
        complete=number != _INCOMPLETE,
        disturbance=replace(
            template.run.disturbance,
            other_cpu_share=0.4 if disturbed else 0.0,
            latency_clean=not disturbed,
            reasons=["other processes used 40% of the machine"] if disturbed else [],
        ),
    )


def _answer(case: Case, text: str, milliseconds: float) -> Answer:
    generation = Generation(
        text=text,
        finish_reason="stop",
        prompt_tokens=len(case.raw_input) // 4 + 120,
        completion_tokens=max(1, len(text) // 4),
        prefill_ms=milliseconds * 0.3,
        decode_ms=milliseconds * 0.7,
        total_ms=milliseconds,
        model="a model",
    )
    return Answer(generation, input_chars_cut=0)


def write_results(results: Iterable[Result], folder: Path) -> None:
    """Write each result as a run folder below `folder`."""
    for result in results:
        assert result.run is not None
        run = folder / f"{result.scenario.name}-{result.run.timestamp}"
        run.mkdir(parents=True)
        write_result(result_path(run, result.scenario.name), result)


def many(results: Sequence[Result], count: int) -> Iterator[StoredResult]:
    """Yield `count` results: those given over and over, each time under other names."""
    for number in range(count):
        result = results[number % len(results)]
        name = f"{result.scenario.name}-v{number // len(results)}"
        renamed = replace(result, scenario=dataclasses.replace(result.scenario, name=name))
        yield stored(Path(f"{name}.json"), renamed)
