"""What the product does not pass on although it is a valid answer: claims that what it knows speaks against.

The gate knows what an agent knows: output, command, exit code, question. It is of the product alone; validation, and so
every score of the benchmark, stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ctxsift.contracts import Kind, contract_of
from ctxsift.prompts import Request
from ctxsift.validation import Validation

_FAULT = r"(?:errors?|failures?|failed|failing|problems?|issues?|faults?|exceptions?|findings?|warnings?)"
_NO_FAULT = re.compile(
    rf"\b(?:no|zero|0|without(?: any)?|free of|not a single|never|none|nothing|didn't|did not)\s+"
    rf"(?:\w+\s+){{0,2}}?{_FAULT}\b",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"fail|error|exception|fatal|panic|crash|abort|denied|refused|reject|killed|broken?\b|invalid|unable|conflict|warn"
    r"|time(?:d )?out|missing|no such|cannot|n't\b|unsuccess|violat|mismatch|undefined|unreachable|exit|traceback"
    r"|\bnot?\b|\bnone\b|\bE\d|✗|×|✘",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:everything|build|tests?|checks?|compilation|installation|run|suite|jobs?|pipeline|deploy(?:ment)?|command|it|they"
    r"|migrations?|push|lint(?:ing|er)?|files?|hooks?|steps?|all)"
)
_SUCCESS = re.compile(
    rf"\b{_SUBJECT}\b(?:\s+[\w']+){{0,4}}?\s+(?:pass(?:es|ed)?|succeed(?:s|ed)?|green|clean|fine|successful(?:ly)?)\b"
    r"|\bsuccess(?:ful(?:ly)?)?\b|\ball (?:is )?(?:good|green|ok|well)\b"
    r"|\A\W*(?:ok(?:ay)?|pass(?:ed)?|done|success)\W*\Z",
    re.IGNORECASE,
)
_SHOWS_FAILURE = re.compile(rf"{_FAILURE.pattern}|\b[45]\d\d\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:no|not|none|nothing|never)\b", re.IGNORECASE)
_CLAIMS_FAILURE = re.compile(r"\b(?:failed|fails|failing|crash(?:ed|es)|error(?:s|ed)?|broke|aborted)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]{3,}")
_RUN = 8
_TIMES = 3
# What says more than that all is well may say it of a part.
_MOST_WORDS = 12
_FEWEST_WORDS = 4
_ANNOUNCING = frozenset(("answer", "the", "here", "and", "that", "this"))

CONTRADICTS_EXIT_CODE = "contradicts_exit_code"
NO_FAILURE_IN_OUTPUT = "no_failure_in_output"
REPETITION = "repetition"
NOTHING_OF_THE_OUTPUT = "nothing_of_the_output"
NOT_SHORTER = "not_shorter"
# Behind "it".
OBJECTIONS = {
    CONTRADICTS_EXIT_CODE: "claims success, but the command failed",
    NO_FAILURE_IN_OUTPUT: "claims a failure, but the command succeeded and its output shows none",
    REPETITION: "says the same three times",
    NOTHING_OF_THE_OUTPUT: "says nothing of the output",
    NOT_SHORTER: "is not shorter than the output",
}


@dataclass(frozen=True)
class Objections:
    """What speaks against an answer.

    Attributes:
        sure: stable names of why it is not passed on; OBJECTIONS says each in words.
        unfounded: numbers, paths and identifiers that stand neither in the output nor in command and question; the
            answer is passed on, with a word about them.

    """

    sure: tuple[str, ...]
    unfounded: tuple[str, ...]


def objections(text: str, request: Request, validation: Validation) -> Objections:
    """Return what speaks against an answer that validation let pass. Never raises.

    Args:
        text: the recovered answer.
        request: what was asked; its exit code may be unknown.
        validation: the verdict on the answer.

    """
    return Objections(tuple(_sure(text, request)), validation.ungrounded)


def _sure(text: str, request: Request) -> Iterator[str]:
    if contract_of(request.intent).kind is not Kind.PLAIN:
        # Shapes repeat their keys and add to what they hold; values stand alone.
        return
    if len(text.strip()) >= len(request.raw_input.strip()):
        yield NOT_SHORTER
    if _repeats(text, request.raw_input):
        yield REPETITION
    rest = _NO_FAULT.sub(" ", text)
    short = len(text.split()) <= _MOST_WORDS
    if request.exit_code and short and (_SUCCESS.search(rest) or rest != text) and not _FAILURE.search(rest):
        yield CONTRADICTS_EXIT_CODE
    if request.exit_code == 0 and _CLAIMS_FAILURE.search(rest) and not _SHOWS_FAILURE.search(request.raw_input):
        yield NO_FAILURE_IN_OUTPUT
    words = {word.lower() for word in _WORD.findall(text)}
    # What the question says too is none of the output; few words of it may still choose between things it names.
    own = words - {word.lower() for word in _WORD.findall(request.instruction)} - _ANNOUNCING
    output = request.raw_input.lower()
    silent = len(words) >= _FEWEST_WORDS and not any(word in output for word in own)
    if not _NEGATIVE.search(text) and (silent or (words and words <= _ANNOUNCING)):
        yield NOTHING_OF_THE_OUTPUT


def _repeats(text: str, output: str) -> bool:
    """Return True if a line or eight words in a row stand in the text three times, and not so often in the output."""
    lines = Counter(line.strip() for line in text.splitlines() if len(line.split()) > 1)
    seen = Counter(line.strip() for line in output.splitlines())
    if any(count >= _TIMES and count > seen[line] for line, count in lines.items()):
        return True
    words = text.split()
    runs = Counter(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    often = [run for run, count in runs.items() if count >= _TIMES]
    return bool(often) and any(" ".join(output.split()).count(" ".join(run)) < runs[run] for run in often)
