"""What can be wrong with a question and what is held against its answers, as far as a machine can tell."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from benchmark.cases import Case
from benchmark.corpus.quotas import MAX_WORDS
from benchmark.statements.judging import judge
from benchmark.statements.text import read
from benchmark.whole_tokens import has_token
from ctxsift.intents import Intent

_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# "the four that failed", "3 findings"; limits ("in two sentences") are not counted.
_COUNT = rf"all (?:{'|'.join(_NUMBERS)})|{'|'.join(_NUMBERS)}|[2-9]|[1-9]\d"
_COUNTED = re.compile(
    rf"(?<!at most )(?<!up to )(?<!first )(?<!last )(?<!in )\b(?P<count>{_COUNT}) "
    r"(?!or\b)(?:of|that|which|who|[a-z-]+s)\b",
    re.IGNORECASE,
)
# "Yes" and "No, none" lead to what is said.
_FEWEST_WORDS = 4
_UNITS = re.compile(
    r"(?:words?|sentences?|lines?|bullets?|items?|columns?|keys?|characters?|digits?|sides|parts|values|hours?|minutes?|days?)\b"
)
_CUT = re.compile(r"\b(?:filtered|trimmed|shortened|truncated|left out|dropped|removed|only the)\b", re.IGNORECASE)


def question_findings(case: Case) -> Iterator[str]:
    """Yield what an answer would be judged by and the question does not say, or what it says too much."""
    words = len(case.instruction.split())
    if words > MAX_WORDS:
        yield f"the question has {words} words, at most {MAX_WORDS} are asked in one breath"
    for found in _COUNTED.finditer(case.instruction):
        behind = case.instruction[found.start("count") + len(found["count"]) :].lstrip()
        if not _UNITS.match(behind) and not has_token(case.capture.command, found["count"]):
            yield f"the question counts what only a reader of the output has counted: {found.group()!r}"
    yield from _unstated_rules(case)
    for token in case.rules.forbidden:
        if has_token(case.instruction, token):
            yield f"forbidden token {token!r} is a word of the question, so that an answer may well use it"
    if case.capture.origin == "captured":
        for change in filter(_CUT.search, case.capture.normalised):
            yield f"the capture is no longer what its command printed ({change}): put the filter into the command"
    if case.statements:
        yield from _unasked(case)


def _unstated_rules(case: Case) -> Iterator[str]:
    asked = case.instruction.lower()
    limits = {
        "max_lines": case.rules.max_lines,
        "max_words": case.rules.max_words,
        "max_sentences": case.rules.max_sentences,
    }
    for name, limit in limits.items():
        # What the answer format says of every case of an intent.
        implied = (name == "max_sentences" and limit == 4) or (
            name == "max_lines" and case.intent is not Intent.SUMMARY
        )
        if limit is not None and not implied and not _states(asked, limit):
            yield f"rules.{name}: the question does not state the limit of {limit}"


def _states(asked: str, limit: int) -> bool:
    words = {
        str(limit),
        *({"one", "a", "an", "single"} if limit == 1 else {_NUMBERS[limit - 2]} if limit <= 12 else ()),
    }
    return bool(words & set(re.findall(r"\w+", asked)))


def _unasked(case: Case) -> Iterator[str]:
    """Yield the sentences of gold that say nothing of any statement: gold answers more than was asked."""
    gold = case.expected_output
    prose = read(gold)
    for first, past in itertools.pairwise(prose.bounds):
        sentence = gold[prose.tokens[first].start : prose.tokens[past - 1].end]
        found = judge(sentence, case.statements, case.must_not).findings
        if len(sentence.split()) >= _FEWEST_WORDS and not any(finding.share for finding in found):
            yield f"gold says what no statement asks for: {sentence!r}"
