"""Who judges, by name: `rules`, `recorded:FILE`, or a row of the matrix."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from benchmark.judges.protocol import (
    PROTOCOL_VERSION,
    JudgeInput,
    JudgePrompt,
    given_verdict,
    is_score,
    output_schema,
    prompt_sha256,
    unread,
    verdict_of,
)
from benchmark.judges.records import JudgedAnswer, judged_answer
from benchmark.judges.rubric import Criterion
from benchmark.matrix import DEFAULT_MATRIX, Scenario
from benchmark.run.asking import Unit
from benchmark.run.identity import asked_model
from benchmark.run.named import BuiltIn, RecordedReplies, Role, check_consent, chosen
from benchmark.run.plan import RunSettings
from benchmark.run.row_asking import AskedRow, Purpose, ReplyCost, asking_run
from benchmark.run.workload import UnitAnswer
from benchmark.typed_input import json_lines
from ctxsift.backends.base import GREEDY, Ability, Decoding
from ctxsift.backends.registry import traits_of
from ctxsift.errors import InputError, did_you_mean
from ctxsift.terminal import one_line

RULES = "rules"
ROLE = Role(
    "--judge",
    {RULES: "the statements of a right answer, found in the answer by rules; no model"},
    "verdicts made elsewhere, on what `export --for-judging` wrote",
)
# Prompt and reply without a context; with one of 4,000 tokens beside the steps that are kept.
_CONTEXT_TOKENS, _WITH_CONTEXT_TOKENS = 6144, 16_384
_REPLY_TOKENS = 1024
# Of repeats, and of asking again: one greedy reply would only be repeated.
_TEMPERATURE = 0.7
_AGAIN = "~"
_MOST_MB, _FAULTS_TOLD = 64, 5
_HINT = 'a line is {"id": ..., "criterionResults": [...]}, with the ids that `export --for-judging` wrote'


@dataclass(frozen=True)
class Verdicts:
    """What a judge said.

    Attributes:
        judged: by `JudgeInput.input_id`; who is missing there is unscored.
        foreign: verdicts on other answers.
        error: why it ended early; None where it did not.
        spent: what its replies took, by input; of verdicts made elsewhere, nobody knows.

    """

    judged: Mapping[str, JudgedAnswer]
    foreign: int = 0
    error: str | None = None
    spent: Mapping[str, Sequence[ReplyCost]] = field(default_factory=dict)


class Judge(Protocol):
    """Judges answers. It sees what `JudgeInput` holds, never the name of a method, of a model or of a session."""

    @property
    def name(self) -> str:
        """As it was named."""
        ...

    @property
    def version(self) -> str:
        """What may change its verdicts, in words."""
        ...

    @property
    def identity(self) -> str:
        """The same for judges that come to the same verdicts; a calibration belongs to one."""
        ...

    def verdicts(self, inputs: Sequence[JudgeInput]) -> Verdicts:
        """Return what it says of each.

        Raises:
            InputError: it cannot be asked.
            KeyboardInterrupt: a person ended it; what was judged until then is not asked again.

        """
        ...


@dataclass(frozen=True)
class JudgeOptions:
    """How judges are found and asked.

    Attributes:
        folder: where journals of rows go.
        repeats: how often each answer is judged; above 1, at a temperature and with a seed each.
        with_context: judges are shown what the answerer knew.
        remote: what is asked may leave this machine.
        told: hears how far a row has come.

    """

    folder: Path
    matrix: Path = DEFAULT_MATRIX
    env_file: Path | None = None
    remote: bool = False
    repeats: int = 1
    with_context: bool = False
    told: Callable[[str], None] = field(default=lambda _: None)


def judges_of(names: Sequence[str], options: JudgeOptions, rules: Callable[[], Judge]) -> list[Judge]:
    """Return judges by name, once each.

    Args:
        names: see `ROLE`.
        options: of those that are rows.
        rules: makes the built-in one, which knows more of an answer than a `JudgeInput` holds.

    Raises:
        InputError: there is none of a name, a file is not one of verdicts, or a row cannot run; it says what to do.

    """
    return [_judge(name, options, rules) for name in dict.fromkeys(names)]


def _judge(name: str, options: JudgeOptions, rules: Callable[[], Judge]) -> Judge:
    found = chosen(name, ROLE, options.matrix)
    if isinstance(found, BuiltIn):
        return rules()
    if isinstance(found, RecordedReplies):
        return recorded_judge(name, found.path, options.told)
    run = asking_run(options.folder, options.env_file, remote=options.remote)
    check_consent(found, ROLE, remote=run.remote)
    return RowJudge(found, run, options)


def recorded_judge(name: str, path: Path, told: Callable[[str], None]) -> RecordedJudge:
    """Return the verdicts in a file; `told` hears which scores are left out. Raises as RecordedJudge does."""
    recorded = RecordedJudge(name, path)
    for fault in recorded.faults[:_FAULTS_TOLD]:
        told(one_line(f"{path}: {fault}"))
    if len(recorded.faults) > _FAULTS_TOLD:
        told(f"{path}: {len(recorded.faults) - _FAULTS_TOLD} more scores are left out")
    return recorded


class RowJudge:
    """A row of the matrix, of any track; see Judge.

    Args:
        scenario: the row.
        run: as `asking_run` returns it.
        options: repeats, and whether contexts are shown.

    Raises:
        InputError: it cannot run, which nothing has to be judged to find, or it cannot draw what repeats need.

    """

    def __init__(self, scenario: Scenario, run: RunSettings, options: JudgeOptions) -> None:
        self._scenario, self._options = scenario, options
        self._abilities = traits_of(scenario.backend_name).abilities
        if options.repeats > 1 and Ability.SAMPLING not in self._abilities:
            raise InputError(f"--judge {scenario.name}", "always gives the same answer", "leave out --repeats")
        self._row = AskedRow(scenario, run, _purpose(options), options.told)

    @property
    def name(self) -> str:
        """Of the row."""
        return self._scenario.name

    @property
    def version(self) -> str:
        """The model, the protocol, and how it is asked."""
        told = [self._scenario.model, f"protocol {PROTOCOL_VERSION}"]
        told += ["with contexts"] if self._options.with_context else []
        told += [f"{self._options.repeats} times"] if self._options.repeats > 1 else []
        return ", ".join(told)

    @property
    def identity(self) -> str:
        """A hash of the model, of where it is asked, and of how."""
        asked = dataclasses.asdict(asked_model(self._scenario))
        whole = {name: value for name, value in asked.items() if name not in ("device", "batch")}
        whole |= {"backend": self._scenario.backend_name, "file": self._scenario.gguf_filename}
        whole |= {"service": self._row.service}
        whole |= {"weights": self._row.weights_sha256, "prompt": prompt_sha256(), "protocol": PROTOCOL_VERSION}
        whole |= {"contexts": self._options.with_context, "repeats": self._options.repeats}
        return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()

    def verdicts(self, inputs: Sequence[JudgeInput]) -> Verdicts:
        """Ask what its journals do not answer; what cannot be read is asked once more. See Judge."""
        distinct = {each.input_id: each for each in inputs if each.asked}
        if not distinct:
            return Verdicts({})
        units = [self._unit(each, repeat) for each in distinct.values() for repeat in range(self._options.repeats)]
        replies = self._row.ask(units)
        texts, errors, spent = dict(replies.texts), dict(replies.errors), list(replies.spent.items())
        again = [each for each in units if self._is_unread(each, texts, distinct)]
        if again and Ability.SAMPLING in self._abilities and replies.error is None:
            replies = self._row.ask([_again(each) for each in again])
            spent += replies.spent.items()
            texts |= {name.removesuffix(_AGAIN): text for name, text in replies.texts.items()}
        judged = _judged(distinct, texts, errors, self._options.repeats)
        by_input: dict[str, list[ReplyCost]] = {}
        for unit_id, each in spent:
            by_input.setdefault(_input_id(unit_id), []).append(each)
        return Verdicts(judged, error=replies.error, spent=by_input)

    def _unit(self, judged: JudgeInput, repeat: int) -> Unit:
        schema = output_schema(judged.asked) if Ability.SCHEMA in self._abilities else None
        decoding = dataclasses.replace(GREEDY, schema=schema)
        if self._options.repeats > 1:
            decoding = Decoding(_TEMPERATURE, repeat, schema)
        return Unit(f"{judged.input_id}#{repeat}", JudgePrompt(judged), decoding, repeat)

    def _is_unread(self, unit: Unit, texts: Mapping[str, str], inputs: Mapping[str, JudgeInput]) -> bool:
        text = texts.get(unit.unit_id)
        return text is not None and verdict_of(inputs[_input_id(unit.unit_id)], text).unread is not None


def _purpose(options: JudgeOptions) -> Purpose:
    return Purpose(
        workload="verdicts",
        option=ROLE.option,
        unit="verdict",
        prompt_version=PROTOCOL_VERSION,
        prompt_sha256=prompt_sha256(),
        reading_version=PROTOCOL_VERSION,
        context_tokens=_WITH_CONTEXT_TOKENS if options.with_context else _CONTEXT_TOKENS,
        reply_tokens=_REPLY_TOKENS,
        read=_reply_in,
    )


def _reply_in(unit: Unit, given: UnitAnswer) -> str:
    """Return the whole reply: what of it counts depends on what was judged."""
    del unit
    return given.answer.generation.text


def _input_id(unit_id: str) -> str:
    return unit_id.partition("#")[0]


def _again(unit: Unit) -> Unit:
    """Return the same, to be drawn anew."""
    decoding = dataclasses.replace(unit.decoding, temperature=_TEMPERATURE, seed=unit.decoding.seed + 1000)
    return dataclasses.replace(unit, unit_id=f"{unit.unit_id}{_AGAIN}", decoding=decoding, repeat=unit.repeat + 1000)


def _judged(
    inputs: Mapping[str, JudgeInput], texts: Mapping[str, str], errors: Mapping[str, str], repeats: int
) -> dict[str, JudgedAnswer]:
    found = {}
    for input_id, judged in inputs.items():
        names = [f"{input_id}#{repeat}" for repeat in range(repeats)]
        found[input_id] = judged_answer(
            input_id,
            [
                verdict_of(judged, texts[name]) if name in texts else unread(judged, f"no reply: {errors.get(name)}")
                for name in names
            ],
        )
    return found


class RecordedJudge:
    """The verdicts in a file; see Judge.

    Args:
        name: as it was named.
        path: of the file.

    Raises:
        InputError: it cannot be read, a line is no verdict, or two lines judge the same.

    """

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.version = name, f"verdicts in {path.name}"
        self._given = read_verdicts(path)
        self.identity = hashlib.sha256(json.dumps(self._given, sort_keys=True).encode()).hexdigest()

    def verdicts(self, inputs: Sequence[JudgeInput]) -> Verdicts:
        """Return those on these answers. See Judge."""
        distinct = {each.input_id: each for each in inputs}
        found = {
            input_id: judged_answer(input_id, [given_verdict(judged, self._given[input_id])])
            for input_id, judged in distinct.items()
            if input_id in self._given
        }
        return Verdicts(found, foreign=len(self._given) - len(found))

    @property
    def faults(self) -> list[str]:
        """What is wrong with scores that are left out, each in words."""
        return [fault for input_id, value in self._given.items() for fault in _faults(input_id, value)]


def _faults(input_id: str, value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with scores in a verdict that somebody wrote: these are left out."""
    for each in value["criterionResults"]:
        name = str(each.get("criterionId", "")) if isinstance(each, dict) else ""
        if name.strip().lower() not in set(Criterion):
            yield f"{input_id}: {name!r} is no criterion; {did_you_mean(name, Criterion)}"
        elif not is_score(each.get("score")):
            yield f"{input_id}: {name} has the score {each.get('score')!r}; write 0 to 5, or null for unscored"


def read_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    """Return the verdicts in a file of JSON Lines, by id.

    Raises:
        InputError: naming the line, where it is no verdict or judges what another line has judged.

    """
    found: dict[str, dict[str, Any]] = {}
    for where, value in json_lines(path, _HINT, _MOST_MB):
        input_id = value.get("id") if isinstance(value, dict) else None
        if not isinstance(input_id, str) or not isinstance(value.get("criterionResults"), list):
            raise InputError(where, "is not a verdict", _HINT)
        if input_id in found:
            raise InputError(where, f"judges {input_id} twice", "remove one of the two")
        found[input_id] = value
    if not found:
        raise InputError(str(path), "contains no verdicts", _HINT)
    return found
