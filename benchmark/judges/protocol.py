"""The published format: the input and the verdict of a judge, as JSON.

Only `criterionResults` count. An aggregate and dimension scores that a judge adds are kept, to be shown where they are
not the means of its own criteria; nothing is computed from them.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchmark.judges.fencing import fenced
from benchmark.judges.replies import NoVerdict, verdict_in
from benchmark.judges.rubric import FULL, GUIDES, Criterion, RubricDimension
from ctxsift.intents import Intent
from ctxsift.prompts import Message, Request
from ctxsift.terminal import in_line

# Raised with every change of the prompt, or of how a reply is read.
PROTOCOL_VERSION = "1"
# As published.
_SYSTEM = """\
You are an expert evaluator assessing AI assistant responses in software development conversations.

Your task is to grade responses against specific rubric criteria. For each criterion:
1. Read the criterion question carefully
2. Examine the response for evidence
3. Assign a score from 0-5 based on the scoring guide
4. Provide brief reasoning for your score

Be objective and consistent. Focus on what is present in the response, not what could have been included."""
# Ours: what the published prompt leaves open. By its words alone, readers agree with each other and not with labels
# (docs/judging.md): a wrong answer "addresses all parts", and to some an answer that does not know is "incorrect".
_FORM = """\
Compare model_response with ground_truth where that is given. What contradicts it is wrong; what says the same in \
other words is right; what it neither says nor contradicts is not wrong.
Accuracy is of what the response states: one that only says that it does not know, or speaks of something else, \
states nothing wrong. All other criteria count only what is right: what is said wrongly, or of the wrong thing, or \
was not asked counts as not said.
Reply with one JSON object and nothing else, with one entry for each criterion in the order given:
{"criterionResults": [{"criterionId": "...", "score": 0, "reasoning": "..."}]}"""
_MOST_REASONING = 200
NO_TRUTH = "no ground truth was given"
NOT_JUDGED = "the judge gave no score"


@dataclass(frozen=True)
class JudgeInput:
    """The input of a judge: one answer. Nothing in it names a method or a model.

    Attributes:
        probe_question: what was asked.
        model_response: the answer.
        compacted_context: the context that the answerer read; empty where judges do not see it.
        ground_truth: a right answer; None where none is known: criteria that need it are unscored.
        rubric_criteria: what is to be scored.

    """

    probe_question: str
    model_response: str
    rubric_criteria: tuple[Criterion, ...]
    ground_truth: str | None = None
    compacted_context: str = ""

    @cached_property
    def input_id(self) -> str:
        """The same for equal texts, whatever criteria they are judged by, and for no others."""
        told = [self.probe_question, self.model_response, self.compacted_context, self.ground_truth]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    @property
    def fields(self) -> dict[str, Any]:
        """Keys and values of the published format."""
        found: dict[str, Any] = {
            "probe_question": self.probe_question,
            "model_response": self.model_response,
            "compacted_context": self.compacted_context,
        }
        found |= {} if self.ground_truth is None else {"ground_truth": self.ground_truth}
        return found | {"rubric_criteria": list(self.rubric_criteria)}

    @property
    def asked(self) -> tuple[Criterion, ...]:
        """The criteria that can be judged from what is given."""
        known = self.ground_truth is not None
        return tuple(each for each in self.rubric_criteria if known or not GUIDES[each].needs_truth)


@dataclass(frozen=True)
class JudgePrompt:
    """The prompt of a model: the texts that many answers share come first, the response last; see Prompt."""

    judged: JudgeInput
    chars_cut: int = 0
    read: str | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """Written each time: contexts are long, and many answers have the same."""
        return Message("system", f"{_SYSTEM}\n\n{_FORM}"), Message("user", self._user)

    @property
    def request(self) -> Request:
        """The same for those that read no messages, such as programs."""
        return Request(self._user, f"{_SYSTEM}\n\n{_FORM}", Intent.JSON)

    def shortened(self, share: float) -> None:
        """Return None: nothing of it may be cut."""

    @property
    def _user(self) -> str:
        judged = self.judged
        texts = [("compacted_context", judged.compacted_context)] if judged.compacted_context else []
        texts += [("probe_question", judged.probe_question)]
        texts += [] if judged.ground_truth is None else [("ground_truth", judged.ground_truth)]
        told = fenced([*texts, ("model_response", judged.model_response)])
        # What the judged text says stands before what is wanted.
        return f"{told}\n\nrubric_criteria:\n{_guide(judged.asked)}\n\nJSON:"


def _guide(criteria: Sequence[Criterion]) -> str:
    lines = ((each, GUIDES[each]) for each in criteria)
    return "\n".join(
        f"{name}: {guide.question} 0: {guide.at_0}. 3: {guide.at_3}. 5: {guide.at_5}." for name, guide in lines
    )


def instructions() -> str:
    """Return all that a judge is told beside the texts: for those who judge elsewhere."""
    return f"{_SYSTEM}\n\n{_FORM}\n\nrubric_criteria:\n{_guide(tuple(Criterion))}"


def prompt_sha256() -> str:
    """Return a hash of all words that we add to what is judged, and of where they stand."""
    shown = JudgePrompt(JudgeInput("the question", "the response", tuple(Criterion), "the truth", "the context"))
    return hashlib.sha256("\n".join(message.content for message in shown.messages).encode()).hexdigest()


@dataclass(frozen=True)
class Score:
    """What a judge gives for a criterion.

    Attributes:
        value: 0 to 5; None for unscored.
        reasoning: its words; of what is unscored, why.

    """

    value: float | None
    reasoning: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a judge says of one answer.

    Attributes:
        scores: of all criteria of the input.
        aggregate, dimensions: as the judge wrote them; nothing is computed from them.
        unread: why the reply could not be read; None where it could.

    """

    scores: Mapping[Criterion, Score]
    aggregate: float | None = None
    dimensions: Mapping[RubricDimension, float] | None = None
    unread: str | None = None


def unread(judged: JudgeInput, why: str) -> Verdict:
    """Return the verdict that nobody could read: everything unscored."""
    return Verdict({each: Score(None, why) for each in judged.rubric_criteria}, unread=why)


def verdict_of(judged: JudgeInput, reply: str) -> Verdict:
    """Return what a reply says; see `verdict_in` for which of its objects count."""
    prompt = JudgePrompt(judged)
    shown = [*(message.content for message in prompt.messages), *map(str, judged.fields.values())]
    found = verdict_in(reply, shown, lambda value: _verdict(judged, value))
    if isinstance(found, NoVerdict):
        return unread(judged, f"the reply is no verdict: {found.reason}")
    return found


def given_verdict(judged: JudgeInput, value: Mapping[str, Any]) -> Verdict:
    """Return what an object in the published format says."""
    return _verdict(judged, {key.lower(): each for key, each in value.items()}) or unread(judged, "it scores nothing")


def _verdict(judged: JudgeInput, value: Mapping[str, Any]) -> Verdict | None:
    """Return what an object says, its keys in small letters; None where it scores nothing that was asked."""
    results = value.get("criterionresults")
    if not isinstance(results, list):
        return None
    given: dict[str, list[Score]] = {}
    for each in results:
        if isinstance(each, dict):
            name, score = _result({str(key).lower(): inner for key, inner in each.items()})
            given.setdefault(name, []).append(score)
    asked = {each: _once(given[each]) for each in judged.asked if each in given}
    if all(score.value is None for score in asked.values()):
        return None
    missing = {each: Score(None, NOT_JUDGED if each in judged.asked else NO_TRUTH) for each in judged.rubric_criteria}
    return Verdict(missing | asked, _number(value.get("aggregatescore")), _dimensions(value.get("dimensionscores")))


def _result(entry: Mapping[str, Any]) -> tuple[str, Score]:
    name, reasoning = str(entry.get("criterionid", "")).strip().lower(), entry.get("reasoning")
    told = in_line(" ".join(reasoning.split()), limit=_MOST_REASONING) if isinstance(reasoning, str) else ""
    score = _number(entry.get("score"))
    if score is None:
        return name, Score(None, told or NOT_JUDGED)
    return name, Score(score, told) if 0 <= score <= FULL else Score(None, f"{score:g} is not from 0 to 5")


def _once(scores: Sequence[Score]) -> Score:
    """Return the score of a criterion; a judge that scores it twice in two ways has not scored it."""
    first = scores[0]
    same = all(each.value == first.value for each in scores)
    return first if same else Score(None, "scored twice, in two ways")


def _number(value: object) -> float | None:
    """Return a number, or one written as text; a yes or no is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def is_score(value: object) -> bool:
    """Return True for what stands for a score from 0 to 5, or for unscored."""
    number = _number(value)
    return value is None or (number is not None and 0 <= number <= FULL)


def _dimensions(value: object) -> dict[RubricDimension, float] | None:
    if not isinstance(value, dict):
        return None
    given = {str(key).lower(): _number(each) for key, each in value.items()}
    found = {each: given[each.published_name] for each in RubricDimension if given.get(each.published_name) is not None}
    return {each: score for each, score in found.items() if score is not None} or None


def output_schema(criteria: Sequence[Criterion]) -> dict[str, Any]:
    """Return the JSON Schema of a verdict on these criteria, one entry for each."""
    entry = {
        "type": "object",
        "properties": {
            "criterionId": {"type": "string", "enum": list(criteria)},
            "score": {"type": "integer", "minimum": 0, "maximum": int(FULL)},
            "reasoning": {"type": "string", "maxLength": _MOST_REASONING},
        },
        "required": ["criterionId", "score", "reasoning"],
        "additionalProperties": False,
    }
    results = {"type": "array", "items": entry, "minItems": len(criteria), "maxItems": len(criteria)}
    score = {"type": "number", "minimum": 0, "maximum": FULL}
    dimensions = dict.fromkeys((each.published_name for each in RubricDimension), score)
    return {
        "type": "object",
        "properties": {
            "criterionResults": results,
            "aggregateScore": score,
            "dimensionScores": {"type": "object", "properties": dimensions, "additionalProperties": False},
        },
        "required": ["criterionResults"],
        "additionalProperties": False,
    }


def input_schema() -> dict[str, Any]:
    """Return the JSON Schema of the input of a judge."""
    text = {"type": "string"}
    return {
        "type": "object",
        "properties": {
            "probe_question": text,
            "model_response": text,
            "compacted_context": text,
            "ground_truth": text,
            "rubric_criteria": {"type": "array", "items": {"type": "string", "enum": list(Criterion)}, "minItems": 1},
        },
        "required": ["probe_question", "model_response", "compacted_context", "rubric_criteria"],
    }
