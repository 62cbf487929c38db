"""The key of an answer changes with everything that can change the answer, and with nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from benchmark.cases import Case, Corpus
from benchmark.corpus import load_corpus
from benchmark.matrix import Scenario, Track
from benchmark.record.journal import AnswerLine, LoadedLine, RunIdentity, RunLine, read_journal
from benchmark.record.questions import questions_of
from benchmark.run import identity
from benchmark.run.asking import Unit
from benchmark.run.identity import answer_key, load_differences, run_differences
from ctxsift import prompts
from ctxsift.backends.base import CANARY, Decoding, Limits, LoadInfo, ModelOptions, ModelSpec
from ctxsift.intents import Intent
from ctxsift.prompts import FixedPrompt, Message, Request, RequestPrompt
from tests.conftest import ROOT

SCENARIO = Scenario("cpu-x", Track.CPU, "test", "model-x", "none", "cpu", "m.gguf")
LOAD = LoadInfo("llama_cpp", "engine", "1.0", "llama", "model", "", "a" * 64, 4096, 2, 12.0, {"seed": 0})
LIMITS = Limits(64)
REQUEST = Request("3 passed\n1 failed\n", "Which failed?", Intent.SUMMARY, "pytest -q", 1)
IDENTITY = RunIdentity(
    timestamp="20260101T000000Z",
    scenario=SCENARIO,
    corpus_sha256="c" * 64,
    prompt_version="1",
    prompt_sha256="p" * 64,
    scorer_version="1",
    recovery_enabled=True,
    max_output_tokens=64,
    weights_sha256="d" * 64,
    case_ids=["a", "b"],
    seed=0,
)

BY_WEIGHTS = "the hash of the weights tells"
FOR_PEOPLE = "a name for people"
BY_LOAD = "what was loaded tells: LoadInfo"
BY_PROGRAM = "the settings of LoadInfo tell, as tests of the backend show"
# Field -> why it need not change the key. Every other field of these types has to.
NEED_NOT: dict[type, dict[str, str]] = {
    Scenario: {
        "name": FOR_PEOPLE,
        "track": "decides the backend, which tells in LoadInfo, and how concurrency counts, which is tested below",
        "phase": FOR_PEOPLE,
        "gguf_filename": BY_WEIGHTS,
        "enabled": "whether it runs, not how",
        "backend": BY_LOAD,
        "max_output_tokens": "Limits tell; settings may win over the row",
        **dict.fromkeys(("command", "stdin", "output_pointer", "env", "timeout_s", "ok_exit_codes"), BY_PROGRAM),
        "before": "what stands before a model tells in the settings of LoadInfo",
        **dict.fromkeys(("preselect", "preselect_tokens"), "the messages tell what of an output is read"),
        "version_command": "its output tells in LoadInfo",
        "warmup": "runs before the first question",
        "install": FOR_PEOPLE,
        "leaves_machine": "whether it is asked, not what",
        "question": "what is told of it, not to it",
        "marker": "what is done with an answer",
    },
    LoadInfo: {
        "architecture": BY_WEIGHTS,
        "chat_template": "its text tells: chat_template_sha256",
        "chat_template_note": "says why, not what",
        "load_ms": "a time",
        "environment": "variables that change speed, never an answer",
        "model_file": BY_WEIGHTS,
    },
    Limits: {},
    Request: {},
    Message: {},
    ModelSpec: {
        "model": "Scenario tells",
        "path": BY_WEIGHTS,
        "device": "Scenario tells; which of several equal GPUs it was makes no difference",
        "quantization": "Scenario tells",
        "context_tokens": BY_LOAD,
        "options": "see ModelOptions",
    },
    ModelOptions: {
        "dtype": "Scenario tells",
        "attn_implementation": "Scenario tells",
        "trust_remote_code": "Scenario tells",
        "extra_body": "Scenario tells",
        "env_file": "where settings are read; what they say of a request tells in the settings of LoadInfo",
        "dataset": "for gold only, whose LoadInfo has the corpus hash as its version",
        "use_extra_bufts": "tells in the settings of LoadInfo",
        "threads": BY_LOAD,
        "yields": "tells in the settings of LoadInfo; no run sets it",
        "prefix_caching": "how often a beginning is read, not what is answered (test_llama_cpp_prefix.py)",
        "allow_provider": "whether a service is asked, not what",
        "program": BY_PROGRAM,
    },
}


def other(value: Any) -> Any:
    """Return another value of the same kind."""
    match value:
        case Track():
            return Track.GPU
        case Intent():
            return Intent.YAML
        case bool():
            return not value
        case int() | float():
            return value + 1
        case dict():
            return {**value, "more": 1}
        case None:
            return "other"
        case _:
            return f"{value}-other"


def key(
    scenario: Scenario = SCENARIO,
    load: LoadInfo = LOAD,
    limits: Limits = LIMITS,
    request: Request = REQUEST,
    asked: dict[str, Any] | None = None,
    **more: Any,
) -> str:
    unit = Unit("any", RequestPrompt(request), **(asked or {}))
    return answer_key(unit, scenario, **{"limits": limits, "load": load, "weights_sha256": "w", **more})


def changed_keys() -> Iterable[tuple[type, str, str]]:
    """Yield type, field and the key with that field changed."""
    makers: dict[type, tuple[Any, Callable[[Any], str]]] = {
        Scenario: (SCENARIO, lambda it: key(scenario=it)),
        LoadInfo: (LOAD, lambda it: key(load=it)),
        Limits: (LIMITS, lambda it: key(limits=it)),
        Request: (REQUEST, lambda it: key(request=it)),
        ModelSpec: (ModelSpec("m"), lambda it: key(seed=it.seed)),
    }
    for kind, (value, make) in makers.items():
        for field in fields(kind):
            yield kind, field.name, make(replace(value, **{field.name: other(getattr(value, field.name))}))


@pytest.mark.parametrize(
    ("kind", "field", "changed"), list(changed_keys()), ids=lambda it: getattr(it, "__name__", it)[:30]
)
def test_every_field_changes_the_key_or_has_a_reason_not_to(kind: type, field: str, changed: str) -> None:
    assert (changed == key()) == (field in NEED_NOT[kind]), f"{kind.__name__}.{field}"


def test_every_field_of_a_message_changes_the_key() -> None:
    message = Message("user", "words")
    others = [replace(message, **{f.name: other(getattr(message, f.name))}) for f in fields(Message)]
    units = [Unit("any", FixedPrompt((variant,))) for variant in (message, *others)]
    keys = [answer_key(unit, SCENARIO, limits=LIMITS, load=LOAD, weights_sha256="w") for unit in units]
    assert len(set(keys)) == len(keys) == 1 + len(fields(Message))


def test_no_reason_outlives_its_field() -> None:
    for kind, reasons in NEED_NOT.items():
        assert set(reasons) <= {field.name for field in fields(kind)}
        assert all(reasons.values())
    assert set(NEED_NOT[ModelOptions]) == {field.name for field in fields(ModelOptions)}


def test_the_key_changes_with_weights_and_prompt() -> None:
    keys = {key(), key(weights_sha256="v"), key(weights_sha256=None), key(prompt_version="other")}
    assert len(keys) == 4


def test_repeats_draws_and_schemas_are_answers_of_their_own() -> None:
    schemas = [{"type": "object"}, {"type": "array"}]
    ways = [*(Decoding(heat, seed) for heat in (0.5, 1.0) for seed in (0, 1)), *(Decoding(schema=s) for s in schemas)]
    asked: list[dict[str, Any]] = [{}, {"repeat": 1}, {"repeat": 2}, *({"decoding": way} for way in ways)]
    keys = [key(asked=each) for each in [*asked, {"repeat": 1, "decoding": ways[0]}]]
    assert len(set(keys)) == len(keys)
    # No draw, no seed.
    assert key(asked={"decoding": Decoding(seed=5)}) == key()


def test_the_key_tells_what_was_known_of_the_command() -> None:
    known = [("make", 0), ("make", None), (None, 0), (None, None), ("make 0", None), ("0", None), ("make\n0", 0)]
    keys = {key(request=replace(REQUEST, command=command, exit_code=code)) for command, code in known}
    assert len(keys) == len(known)


def test_questions_in_flight_change_nothing_and_prompts_read_together_do() -> None:
    service = replace(SCENARIO, track=Track.REMOTE)
    assert key(replace(service, concurrency=9)) == key(service)
    assert key(replace(SCENARIO, concurrency=9)) != key()


def test_why_it_was_loaded_in_this_way_changes_nothing() -> None:
    assert key(load=replace(LOAD, settings={"seed": 0, CANARY: "died once"})) == key()


@pytest.mark.parametrize(
    "change", [{"title": "other"}, {"expected_output": "other"}, {"required_anchors": ()}, {"case_id": "other"}]
)
def test_the_key_does_not_change_with_gold(corpus: Corpus, change: dict[str, Any]) -> None:
    case = corpus.cases[0]
    other_case: Case = replace(case, **change)
    assert key(request=other_case.request) == key(request=case.request)


# The run ----------------------------------------------------------------------------------------------------------

# Field -> why runs that differ in it are parts of one run.
MAY_DIFFER = {
    "timestamp": "when",
    "case_ids": "which of its questions, not what is answered; a new run of other cases is told apart by them",
    "scorer_version": "answers are graded anew when a run is resumed",
}


@pytest.mark.parametrize("field", [field.name for field in structs.fields(RunIdentity) if field.name != "scenario"])
def test_every_field_of_a_run_tells_or_has_a_reason_not_to(field: str) -> None:
    value = getattr(IDENTITY, field)
    changed = structs.replace(IDENTITY, **{field: [*value, "c"] if isinstance(value, list) else other(value)})
    found = run_differences(IDENTITY, changed)
    assert bool(found) == (field not in MAY_DIFFER)
    assert all(field in difference for difference in found)


def test_what_an_older_journal_does_not_tell_is_not_compared() -> None:
    older = structs.replace(IDENTITY, prompt_sha256=None)
    assert run_differences(older, IDENTITY) == run_differences(IDENTITY, older) == []


def test_words_of_the_prompt_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    before = identity.prompt_sha256()
    hashes = {before}
    for name in (
        "_SYSTEM",
        "_INDENT",
        "_OPEN",
        "INPUT_HEADING",
        "COMMAND_HEADING",
        "EXIT_CODE_HEADING",
        "TASK_HEADING",
    ):
        with monkeypatch.context() as patch:
            patch.setattr(prompts, name, "other words")
            hashes.add(identity.prompt_sha256())
    assert len(hashes) == 8
    assert identity.prompt_sha256() == before


@pytest.mark.parametrize("track", [Track.CPU, Track.REMOTE])
def test_what_changes_no_answer_keeps_no_run_from_being_resumed(track: Track) -> None:
    before = replace(SCENARIO, track=track, backend="scripted")
    now = structs.replace(IDENTITY, scenario=before)
    for change in ({"enabled": False}, {"phase": "other"}, {"max_output_tokens": 9}, {"gguf_filename": "other"}):
        after = structs.replace(IDENTITY, scenario=replace(before, **change))
        assert run_differences(now, after) == []
    faster = run_differences(now, structs.replace(IDENTITY, scenario=replace(before, concurrency=4)))
    assert faster == ([] if track is Track.REMOTE else ["scenario.batch was 1, is 4"])
    assert run_differences(now, structs.replace(IDENTITY, scenario=replace(before, name="other")))


def test_a_model_that_is_only_faster_is_the_same_model() -> None:
    assert load_differences(LOAD, replace(LOAD, load_ms=1.0, environment={"GOMP_SPINCOUNT": "1"})) == []
    assert load_differences(LOAD, replace(LOAD, threads=3)) == ["threads was 2, is 3"]


def test_questions_are_told_apart() -> None:
    assert questions_of(IDENTITY) == questions_of(structs.replace(IDENTITY, seed=3))
    for field in ("corpus_sha256", "prompt_version", "prompt_sha256"):
        assert questions_of(IDENTITY) != questions_of(structs.replace(IDENTITY, **{field: "other"}))


# Older journals ---------------------------------------------------------------------------------------------------

OLDER = ROOT / "tests" / "data" / "journals"
JOURNALS = sorted(OLDER.glob("*.journal.jsonl"))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.name)
def test_keys_of_older_journals_come_out_equal(path: Path) -> None:
    cases = {case.case_id: case for case in load_corpus(OLDER / "corpus.jsonl").cases}
    first, *lines = read_journal(path)
    assert isinstance(first, RunLine)
    (load,) = (line.load for line in lines if isinstance(line, LoadedLine))
    answers = [line for line in lines if isinstance(line, AnswerLine)]
    assert len(answers) > 3
    run = first.identity
    for line in answers:
        found = answer_key(
            Unit(line.case_id, RequestPrompt(cases[line.case_id].request)),
            run.scenario,
            limits=Limits(run.max_output_tokens),
            load=load,
            weights_sha256=run.weights_sha256,
            seed=run.seed,
        )
        assert found == line.key


def test_fields_younger_than_a_journal_have_defaults_and_unknown_ones_are_passed_over(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in JOURNALS[0].read_text().splitlines()[:-1]]
    young = {"gpu_peak_bytes", "cost_usd", "reasoning", "reasoning_tokens", "begins_in_reasoning", "environment"}
    young |= {"control_tokens", "reasoning_tags"}
    path = tmp_path / "old.journal.jsonl"
    changed: list[dict[str, Any]] = [
        {k: v for k, v in line.items() if k not in young} | {"unheard_of": [1]} for line in lines
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*changed, {"type": "of a later version"}]))
    assert len(list(read_journal(path))) == len(lines)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({}, AnswerLine)
