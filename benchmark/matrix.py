"""The scenarios: loads and checks matrix.json."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from benchmark.patterns import PatternError, compiled
from benchmark.shipped import here_or_shipped
from benchmark.typed_input import NonEmpty, place_in, read_object, refuse_unknown, refuse_unwritable
from ctxsift.backends.cuda import QUANTIZATIONS
from ctxsift.backends.packaged import known_model
from ctxsift.backends.registry import BASELINES, COMMAND, GGUF, SERVICE, TRANSFORMERS
from ctxsift.devices import Device
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import read_text
from ctxsift.preselect import DEFAULT_PRESELECT_TOKENS, LEAST_PRESELECT_TOKENS, Preselect
from ctxsift.preselection import Preselection
from ctxsift.programs import (
    DEFAULT_TIMEOUT_S,
    LEAST_TIMEOUT_S,
    MOST_TIMEOUT_S,
    OkExitCodes,
    Program,
    Stdin,
    placeholder_in_script,
    variable_of,
)
from ctxsift.settings import MOST_TOKENS

DEFAULT_MATRIX = Path("matrix.json")
DEFAULT_MAX_OUTPUT_TOKENS = 768
# Far above what any model writes, or any service answers at a time.
MOST_CONCURRENCY = 1_000
MOST_WARMUP = 100
_ROWS = "scenarios"
_GGUF_SUFFIX = ".gguf"
# The backend that answers by heart.
_GOLD = "gold"
_SAFE_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?\Z")
# Problem and hint.
_Fault = tuple[str, str] | None


class Track(StrEnum):
    """Where a model runs."""

    CPU = auto()
    GPU = auto()
    REMOTE = auto()
    CONTROL = auto()
    COMMAND = auto()


@dataclass(frozen=True)
class TrackInfo:
    """What a track means for its scenarios.

    Attributes:
        device: what `device` has to be.
        backend: registered name of the backend that runs them.
        concurrency: unless the row says otherwise.
        leaves_machine: the corpus goes to a provider, which a person has to allow.
        meaning: in words.

    """

    device: Device
    backend: str
    meaning: str
    concurrency: int = 1
    leaves_machine: bool = False


TRACKS: dict[Track, TrackInfo] = {
    Track.CPU: TrackInfo(Device.CPU, GGUF, "GGUF models through llama.cpp"),
    Track.GPU: TrackInfo(Device.CUDA, TRANSFORMERS, "Transformers on CUDA"),
    Track.REMOTE: TrackInfo(Device.REMOTE, SERVICE, "services through LiteLLM", concurrency=8, leaves_machine=True),
    Track.CONTROL: TrackInfo(Device.CPU, BASELINES, "baselines, and gold"),
    Track.COMMAND: TrackInfo(Device.CPU, COMMAND, "any compressor, as a program"),
}


# Tracks whose rows receive the instruction: models, and the controls that replace one.
_MODELS = (Track.CPU, Track.GPU, Track.REMOTE, Track.CONTROL)


@dataclass(frozen=True)
class _Rule:
    """What a field of the matrix must keep.

    Attributes:
        tracks: where it may be given; None for all.
        fault: returns problem and hint, or None.

    """

    tracks: frozenset[Track] | None = None
    fault: Callable[[Scenario], _Fault] = lambda _: None


def _only(*tracks: Track, fault: Callable[[Scenario], _Fault] = lambda _: None) -> dict[str, _Rule]:
    return {"rule": _Rule(frozenset(tracks), fault)}


def _checked(fault: Callable[[Scenario], _Fault]) -> dict[str, _Rule]:
    return {"rule": _Rule(fault=fault)}


def _name_fault(row: Scenario) -> _Fault:
    if _SAFE_NAME.match(row.name) and len(row.name) <= 120:
        return None
    hint = "use letters, digits, dots, dashes and underscores, and begin with a letter or digit"
    return f"{row.name!r} is not a safe file name", hint


def _device_fault(row: Scenario) -> _Fault:
    wanted = TRACKS[row.track].device
    if row.device == wanted or (row.track is Track.GPU and re.fullmatch(r"cuda:[0-9]{1,3}", row.device)):
        return None
    return f"{row.device!r} does not go with track {row.track}", f"write '{wanted}'"


def _quantization_fault(row: Scenario) -> _Fault:
    if row.track is not Track.GPU or row.quantization in QUANTIZATIONS:
        return None
    return f"{row.quantization!r} is unknown", did_you_mean(row.quantization, QUANTIZATIONS)


def _gguf_fault(row: Scenario) -> _Fault:
    # A backend of somebody else may read no weights at all.
    if row.track is not Track.CPU or (row.backend or GGUF) != GGUF:
        return None
    if row.gguf_filename or row.model.endswith(_GGUF_SUFFIX) or known_model(row.model):
        return None
    return (
        "required field is missing",
        f"track {row.track} needs it where model names no {_GGUF_SUFFIX} file and no known packaged model",
    )


def _before_fault(row: Scenario) -> _Fault:
    if row.track is Track.COMMAND and row.before is not None:
        return "does not go with track command", "write one script that runs both"
    return None


def _preselect_fault(row: Scenario) -> _Fault:
    if row.preselect is Preselect.NONE:
        return None
    if row.before is not None:
        return "does not go with before", "the program decides what the model reads: remove one of them"
    if row.backend == _GOLD:
        return "does not go with gold", "remove it: gold knows whole outputs"
    return None


def _command_fault(row: Scenario) -> _Fault:
    if row.track is not Track.COMMAND:
        return None
    if not row.command:
        return "required field is missing", 'write the program and its arguments, e.g. ["tail", "-n", "20"]'
    if any("\0" in word for word in row.command):
        return "holds a NUL character, which no argument can carry", "remove it"
    if found := placeholder_in_script(row.command):
        hint = f"quotes in it would break the script; use ${variable_of(found)}"
        return f"{found} stands inside the script of a shell", hint
    return None


def _pointer_fault(row: Scenario) -> _Fault:
    if row.output_pointer is None or row.output_pointer.startswith("/"):
        return None
    return f"{row.output_pointer!r} is not a JSON pointer", "write e.g. /result/text"


def _env_fault(row: Scenario) -> _Fault:
    for name, value in row.env.items():
        if not name or "=" in name or "\0" in name + value:
            return f"{name!r} cannot be set", "a name holds no =, and neither name nor value a NUL character"
    return None


def _marker_fault(row: Scenario) -> _Fault:
    try:
        compiled(row.marker or "")
    except PatternError as error:
        return f"is not a regular expression ({error})", "Python's syntax; it is searched for in each line"
    return None


@dataclass(frozen=True)
class Scenario:
    """One row of the matrix; the fields are described in docs/runner.md, 'The matrix'.

    Attributes:
        concurrency: questions in flight to a service; prompts a local model reads together.
        backend: registered name of a backend other than the track's own (third-party ones, tests).
        trust_remote_code: run Python code that comes with the weights; gpu only.
        gguf_filename: the file in the package, folder or repository that `model` names; cpu only, where `model` is no
            file itself and no known packaged model.
        extra_body: what else a request says to a service, e.g. {"repeat_penalty": 1.0}; remote only.
        before: name of a row of track `command`, whose output the model reads in place of the raw output.
        preselect: how lines of a long output are chosen before the model reads it.
        preselect_tokens: about how many tokens of an output are read then; shorter ones are read whole.
        command: and all that follows is of track `command` alone; see `ctxsift.programs.Program`.
        leaves_machine: the program sends what it reads elsewhere, which a person has to allow.
        question: the program is told the question; False marks it as blind.
        marker: regular expression that finds lines which the program adds of its own.

    """

    name: str = field(metadata=_checked(_name_fault))
    track: Track
    phase: str
    model: str
    quantization: str = field(metadata=_checked(_quantization_fault))
    device: str = field(metadata=_checked(_device_fault))
    gguf_filename: str | None = field(default=None, metadata=_only(Track.CPU, fault=_gguf_fault))
    dtype: str = "auto"
    attn_implementation: str = "auto"
    max_output_tokens: Annotated[int, Meta(ge=1)] = field(default=DEFAULT_MAX_OUTPUT_TOKENS, metadata=_only(*_MODELS))
    concurrency: Annotated[int, Meta(ge=1)] = 1
    enabled: bool = True
    backend: str | None = None
    trust_remote_code: bool = field(default=False, metadata=_only(Track.GPU))
    extra_body: dict[str, Any] = field(default_factory=dict, metadata=_only(Track.REMOTE))
    before: str | None = field(default=None, metadata=_checked(_before_fault))
    preselect: Preselect = field(default=Preselect.NONE, metadata=_only(*_MODELS, fault=_preselect_fault))
    preselect_tokens: Annotated[int, Meta(ge=LEAST_PRESELECT_TOKENS, le=MOST_TOKENS)] = field(
        default=DEFAULT_PRESELECT_TOKENS, metadata=_only(*_MODELS)
    )
    command: tuple[NonEmpty, ...] = field(default=(), metadata=_only(Track.COMMAND, fault=_command_fault))
    stdin: Stdin = field(default=Stdin.OUTPUT, metadata=_only(Track.COMMAND))
    output_pointer: str | None = field(default=None, metadata=_only(Track.COMMAND, fault=_pointer_fault))
    env: dict[str, str] = field(default_factory=dict, metadata=_only(Track.COMMAND, fault=_env_fault))
    timeout_s: Annotated[float, Meta(ge=LEAST_TIMEOUT_S, le=MOST_TIMEOUT_S)] = field(
        default=DEFAULT_TIMEOUT_S, metadata=_only(Track.COMMAND)
    )
    ok_exit_codes: OkExitCodes = field(default=(0,), metadata=_only(Track.COMMAND))
    version_command: tuple[NonEmpty, ...] = field(default=(), metadata=_only(Track.COMMAND))
    warmup: Annotated[int, Meta(ge=0, le=MOST_WARMUP)] = field(default=1, metadata=_only(Track.COMMAND))
    install: str | None = field(default=None, metadata=_only(Track.COMMAND))
    leaves_machine: bool = field(default=False, metadata=_only(Track.COMMAND))
    question: bool = field(default=True, metadata=_only(Track.COMMAND))
    marker: str | None = field(default=None, metadata=_only(Track.COMMAND, fault=_marker_fault))

    @property
    def preselection(self) -> Preselection:
        """What its model reads of a long output."""
        return Preselection(self.preselect, self.preselect_tokens)

    @property
    def sends_away(self) -> bool:
        """Whether the corpus leaves this machine, which a person has to allow."""
        return self.leaves_machine or TRACKS[self.track].leaves_machine

    @property
    def is_private(self) -> bool:
        """Whether what is written of it may hold secrets: variables, and what services are told and say."""
        return self.sends_away or self.before is not None or bool(self.env or self.extra_body)

    @property
    def program(self) -> Program | None:
        """The program that answers in place of a model."""
        if self.track is not Track.COMMAND:
            return None
        return Program(**{each.name: getattr(self, each.name) for each in dataclasses.fields(Program)})

    @property
    def backend_name(self) -> str:
        """The registered name of the backend that runs it."""
        return self.backend or TRACKS[self.track].backend


@dataclass(frozen=True)
class _MatrixRow(Scenario):
    """A row as it is written; a concurrency of 0 stands for the track's own."""

    max_output_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = DEFAULT_MAX_OUTPUT_TOKENS
    concurrency: Annotated[int, Meta(ge=1, le=MOST_CONCURRENCY)] = 0


def load_matrix(
    path: Path = DEFAULT_MATRIX,
    *,
    asked: Callable[[Mapping[str, Any]], bool] = lambda _: True,
    left_out: Callable[[InputError], None] = lambda _: None,
) -> tuple[Scenario, ...]:
    """Return all rows, disabled ones included.

    Args:
        path: of the matrix; without a `matrix.json` in this folder, the default is the one that the package ships.
        asked: returns True if a row, as it is written, matters to the caller.
        left_out: called with what is wrong with a row that does not; it is then missing from what is returned.

    Raises:
        InputError: naming the file, the place in it (line or JSON pointer) and the hint.

    """
    document = _parse(here_or_shipped(path) if path == DEFAULT_MATRIX else path)
    example = 'write {"scenarios": [...]}'
    if not isinstance(document, dict):
        raise InputError(str(path), "is not a JSON object", example)
    refuse_unknown(document, [_ROWS], str(path))
    where = place_in(str(path), _ROWS)
    rows = document.get(_ROWS)
    if not isinstance(rows, list):
        problem = "is not a list" if _ROWS in document else "required field is missing"
        raise InputError(where, problem, example)
    if not rows:
        raise InputError(where, "is empty", "add a scenario")
    scenarios: list[Scenario] = []
    seen: dict[str, int] = {}
    for index, row in enumerate(rows):
        try:
            scenario = _scenario(row, f"{where}/{index}")
            # Names become file names, and some file systems fold case.
            first = seen.setdefault(scenario.name.lower(), index)
            if first != index:
                raise InputError(
                    f"{where}/{index}/name",
                    f"{scenario.name!r} is also the name of /scenarios/{first}",
                    "give every scenario its own name",
                )
        except InputError as error:
            if not isinstance(row, dict) or asked(row):
                raise
            left_out(error)
        else:
            scenarios.append(scenario)
    _check_before(scenarios, where)
    return tuple(scenarios)


def _check_before(scenarios: Sequence[Scenario], where: str) -> None:
    programs = [scenario.name for scenario in scenarios if scenario.track is Track.COMMAND]
    for scenario in scenarios:
        if scenario.before is not None and scenario.before not in programs:
            problem = f"{scenario.name}: {scenario.before!r} is not a row of track command"
            raise InputError(where, problem, did_you_mean(scenario.before, programs))


def _parse(path: Path) -> object:
    text = read_text(path, "name a matrix with --matrix", most_mb=5)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        ((twice, times),) = Counter(key for key, _ in pairs).most_common(1) or [("", 0)]
        if times > 1:
            raise InputError(str(path), f"the field {twice!r} appears twice in one object", "remove one of them")
        return dict(pairs)

    try:
        document = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}:{error.colno}"
        raise InputError(where, f"not valid JSON: {error.msg}", "fix the syntax there") from error
    except RecursionError:
        raise InputError(str(path), "is nested too deeply", 'write {"scenarios": [...]}') from None
    except ValueError as error:
        raise InputError(str(path), f"cannot be read ({error})", 'write {"scenarios": [...]}') from None
    refuse_unwritable(document, str(path))
    return document


def _scenario(row: object, where: str) -> Scenario:
    written = read_object(_MatrixRow, row, where)
    values = {each.name: getattr(written, each.name) for each in dataclasses.fields(Scenario)}
    scenario = Scenario(**values)
    assert isinstance(row, dict)
    for each in dataclasses.fields(Scenario):
        value = values[each.name]
        if isinstance(value, str) and not isinstance(value, StrEnum) and not value.strip():
            raise InputError(place_in(where, each.name), "is empty", "give it a value")
        if fault := _fault(each, scenario, given=each.name in row):
            raise InputError(place_in(where, each.name), *fault)
    if scenario.concurrency:
        return scenario
    return dataclasses.replace(scenario, concurrency=TRACKS[scenario.track].concurrency)


def _fault(each: dataclasses.Field[Any], scenario: Scenario, *, given: bool) -> _Fault:
    rule: _Rule = each.metadata.get("rule", _Rule())
    if rule.tracks is not None and given and scenario.track not in rule.tracks:
        return f"does not go with track {scenario.track}", "remove it"
    return rule.fault(scenario)


def is_selected(row: Mapping[str, Any], *, names: Collection[str], phases: Collection[str]) -> bool:
    """Return True if a row, as it is written or read, is one of those that `select_scenarios` returns."""
    wanted = row.get("phase") in phases or not (names or phases)
    return row.get("name") in names or (wanted and row.get("enabled", True) is not False)


def select_scenarios(
    scenarios: Iterable[Scenario], *, names: Iterable[str] = (), phases: Iterable[str] = ()
) -> tuple[Scenario, ...]:
    """Return the enabled scenarios that are named or belong to a named phase; all enabled ones without either.

    A scenario that is named outright is taken although it is disabled.

    Raises:
        InputError: an unknown name or phase, with the nearest known ones, or nothing selected.

    """
    scenarios, names, phases = tuple(scenarios), tuple(names), tuple(phases)
    for option, asked, known in (
        ("--scenario", names, [s.name for s in scenarios]),
        ("--phase", phases, [s.phase for s in scenarios]),
    ):
        for word in asked:
            if word not in known:
                raise InputError(f"{option} {word}", "is not in the matrix", did_you_mean(word, known))
    chosen = tuple(s for s in scenarios if is_selected(vars(s), names=names, phases=phases))
    if not chosen:
        raise InputError(
            "selection", "no enabled scenario matches", "enable one in the matrix, or name one with --scenario"
        )
    return chosen
