"""What can change an answer, decided here and nowhere else.

The same parts make the key of an answer, tell whether a run may be resumed, and whether two runs were asked the same.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

from msgspec.structs import replace

from benchmark.matrix import TRACKS, Scenario
from benchmark.record.journal import RunIdentity
from benchmark.record.questions import Questions, questions_of
from benchmark.run.asking import Unit
from ctxsift.backends.base import CANARY, Limits, LoadInfo
from ctxsift.intents import Intent
from ctxsift.preselect import Preselect
from ctxsift.prompts import PROMPT_VERSION, Request, build_messages

ANSWER_KEY_VERSION = 2
# Not a random number: every model answers greedily. It is told to those that want one.
SEED = 0
_BATCH = "batch"
_SHOWN_CHARS = 40


@dataclass(frozen=True)
class AskedModel:
    """What of a scenario can change an answer.

    Attributes:
        batch: prompts that are read together: they are padded, and padding changes the last bits of a sum. 1 for a
            service, which is asked one by one however many questions are in flight.

    """

    model: str
    quantization: str
    device: str
    dtype: str
    attn_implementation: str
    trust_remote_code: bool
    extra_body: dict[str, Any]
    batch: int


@dataclass(frozen=True)
class LoadedModel:
    """What of a loaded model can change an answer."""

    backend: str
    engine: str
    engine_version: str
    chat_template_sha256: str
    context_tokens: int
    threads: int
    settings: dict[str, Any]


@dataclass(frozen=True)
class ResumableRun:
    """What may not change between the parts of one run: its answers, and how they are scored.

    Attributes:
        preselect_tokens: about how many tokens of chosen lines the model reads of an output; None where it reads all.

    """

    workload: str
    options: dict[str, Any]
    questions: Questions
    scenario: AskedModel
    scenario_name: str
    backend_name: str
    preselect_tokens: int | None
    max_output_tokens: int
    weights_sha256: str | None
    seed: int
    recovery_enabled: bool
    forgive_latency: bool
    shard: str | None


def asked_model(scenario: Scenario) -> AskedModel:
    """Return what of a scenario can change an answer."""
    return AskedModel(
        **{each.name: getattr(scenario, each.name) for each in dataclasses.fields(AskedModel) if each.name != _BATCH},
        batch=1 if TRACKS[scenario.track].leaves_machine else scenario.concurrency,
    )


def loaded_model(load: LoadInfo) -> LoadedModel:
    """Return what of a loaded model can change an answer."""
    settings = {name: value for name, value in load.settings.items() if name != CANARY}
    values = {each.name: getattr(load, each.name) for each in dataclasses.fields(LoadedModel)}
    return LoadedModel(**values | dict(settings=settings))


def answer_key(
    unit: Unit,
    scenario: Scenario,
    *,
    limits: Limits,
    load: LoadInfo,
    weights_sha256: str | None,
    seed: int = SEED,
    prompt_version: str = PROMPT_VERSION,
) -> str:
    """Return a hash of everything that can change the answer to a unit: two equal keys, one answer.

    Args:
        unit: what is asked, whatever its id.
        scenario: the row of the matrix.
        limits: of the answer.
        load: the model as it is loaded.
        weights_sha256: of a local model.
        seed: that the model was loaded with.
        prompt_version: of those who write such prompts.

    """
    # The form is part of every journal: with another one, nothing of an older run would be found again.
    identity = asdict(asked_model(scenario)) | asdict(loaded_model(load))
    identity |= dict(
        version=ANSWER_KEY_VERSION,
        prompt_version=prompt_version,
        messages=[asdict(message) for message in unit.prompt.messages],
        weights_sha256=weights_sha256,
        limits=asdict(limits),
        seed=seed,
    )
    # Where a question is asked once and greedily, the form is that of before there was anything else.
    identity |= dict(decoding=asdict(unit.decoding)) if unit.decoding.needs else {}
    identity |= dict(repeat=unit.repeat) if unit.repeat else {}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def prompt_sha256() -> str:
    """Return a hash of all words that we add to a question, and of where they stand."""
    told = [("make\nmake install", 0), (None, None)]
    asked = [Request("3 passed", "How many?", intent, *known) for intent in Intent for known in told]
    words = [message.content for request in asked for message in build_messages(request)]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def run_differences(before: RunIdentity, after: RunIdentity) -> list[str]:
    """Return all that keeps `after` from being the same run as `before`, in words."""
    if None in (before.prompt_sha256, after.prompt_sha256):
        # What one of them does not tell cannot be compared.
        before, after = (replace(run, prompt_sha256=None) for run in (before, after))
    return _differences(_resumable(before), _resumable(after))


def load_differences(before: LoadInfo, after: LoadInfo) -> list[str]:
    """Return all that differs between two loaded models and can change an answer, in words."""
    return _differences(loaded_model(before), loaded_model(after))


def _resumable(run: RunIdentity) -> ResumableRun:
    lines = run.scenario.preselection
    return ResumableRun(
        workload=run.workload,
        options=run.options,
        questions=questions_of(run),
        scenario=asked_model(run.scenario),
        scenario_name=run.scenario.name,
        backend_name=run.scenario.backend_name,
        preselect_tokens=None if lines.how is Preselect.NONE else lines.tokens,
        max_output_tokens=run.max_output_tokens,
        weights_sha256=run.weights_sha256,
        seed=run.seed,
        recovery_enabled=run.recovery_enabled,
        forgive_latency=run.forgive_latency,
        shard=str(run.shard) if run.shard else None,
    )


def _differences(before: Any, after: Any) -> list[str]:
    # What was written as JSON has lists where there were tuples.
    then, now = (_flat(json.loads(json.dumps(asdict(each)))) for each in (before, after))
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    return [f"{name} was {_short(then.get(name))}, is {_short(now.get(name))}" for name in names]


def _flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= _flat(inner, f"{before}{name}.") if isinstance(inner, dict) else {before + name: inner}
    return found


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[: _SHOWN_CHARS - 4]}..."
