"""What the product does not pass on although it is a valid answer: claims that what it knows speaks against.

The gate knows what an agent knows: output, command, exit code, question. It is of the product alone; validation, and so
every score of the benchmark, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ctxsift.answers.grounding import Ground, ground
from ctxsift.answers.meta_language import REFUSAL, SERVICE_FAULT
from ctxsift.answers.thought_density import MAX_PROSE_CHARS
from ctxsift.answers.validation import Validation, names_given
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.prompts import Request
from ctxsift.repetition import repeats, repeats_rows
from ctxsift.shapes import Shape, shape_of
from ctxsift.verdict_words import (
    COUNTED,
    ENDED_WELL,
    FAILURE,
    NO_FAILURE,
    OF_ALL,
    SUCCESS,
    WELL_BEFORE,
    WELL_BEHIND,
)

# Right though no word of the output is in it.
_NONE_OR_SOME = re.compile(
    r"\b(?:no|not|none|nothing|never|both|one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I
)
_CLAIMS_FAILURE = re.compile(r"\b(?:failed|fails|failing|crash(?:ed|es)|error(?:s|ed)?|broke|aborted)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][\w./:-]*[_./:][\w./:-]*\w|[A-Z][a-z0-9]+[A-Z]\w+")
_WORD = re.compile(r"[^\W_]{3,}")
_MOST_WORDS, _FEWEST_WORDS = 12, 4
# What is longer may show a failure anywhere.
_MOST_READ = 500_000
_ANNOUNCING = frozenset(("answer", "the", "here", "and", "that", "this"))
# Words that no other language has. What is said in another may be right, though the output has none of its words.
_ENGLISH = frozenset(
    (
        "the",
        "here",
        "and",
        "that",
        "this",
        "with",
        "these",
        "those",
        "which",
        "were",
        "from",
        "have",
        "has",
        "are",
        "yes",
    )
)
# Nothing but marks; what programs print of a value that is not there.
_TAG = re.compile(r"<[^<>]{1,20}>")
_SAYS = re.compile(r"[^\W_]")
_NO_VALUE = re.compile(r"\W*(?:object object|undefined|null|nan)\W*", re.IGNORECASE)
# What is said of a name under such words is wished, asked or denied.
_UNREAL = re.compile(
    r"\b(?:no|not|none|neither|nor|never|if|until|once|when|unless|should|must|would|make|let|get|expect\w*|want\w*"
    r"|whether|to|cannot|except|other than|apart from|(?:every\w*|all|each|any\w*)\b[^,]{0,30} but|sauf|außer|excepto"
    r"|salvo|kein\w*|nicht|wenn|si|aucun\w*|ning\w+|nessun\w*)\b|n't\b|如果|没有|除",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;\n](?=\s)|\n")
_FAILED_LINE = re.compile(r"fail|error|panic|crash|abort|\bnot ok\b|[✗✘×❌]", re.IGNORECASE)
_NEAR = 200

CONTRADICTS_EXIT_CODE = "contradicts_exit_code"
NO_FAILURE_IN_OUTPUT = "no_failure_in_output"
REPETITION = "repetition"
NOTHING_OF_THE_OUTPUT = "nothing_of_the_output"
NOT_SHORTER = "not_shorter"
# Behind "it".
OBJECTIONS = {
    CONTRADICTS_EXIT_CODE: "claims success, but the command failed",
    NO_FAILURE_IN_OUTPUT: "claims a failure, but the command succeeded and its output shows none",
    REPETITION: "says the same thing three times",
    NOTHING_OF_THE_OUTPUT: "contains nothing of the output",
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
    plain = contract_of(request.intent).kind is ContractKind.PLAIN
    # Shapes add to what they hold.
    if plain and len(text.strip()) >= len(request.raw_input.strip()):
        yield NOT_SHORTER
    text = text[:MAX_PROSE_CHARS]
    output, named = ground(request.raw_input), names_given(text, request)
    shape = Shape((), (text,)) if plain else shape_of(text, request.intent)
    if repeats_rows(shape.rows, request.raw_input) or any(repeats(words, output) for words in shape.words):
        yield REPETITION
    if request.exit_code and _speaks_against_failure(text if plain else None, shape, request, named):
        yield CONTRADICTS_EXIT_CODE
    if not plain:
        # Values stand alone, and an empty shape may be right.
        return
    if (
        request.exit_code == 0
        and _CLAIMS_FAILURE.search(NO_FAILURE.sub(" ", text))
        and not _shows_failure(request.raw_input)
    ):
        yield NO_FAILURE_IN_OUTPUT
    if _is_of_something_else(text, request, named) or _is_no_answer(text, output):
        yield NOTHING_OF_THE_OUTPUT


def _speaks_against_failure(text: str | None, shape: Shape, request: Request, named: list[bool]) -> bool:
    """Say whether an answer claims that all is well; `text` is None for a shape, whose rows are read alone."""
    output = ground(request.raw_input)
    if text is not None:
        return _claims_success(text, output, named) or _calls_a_failure_well(text, request.raw_input)
    # What the output says itself is quoted; what names something may be of that alone.
    alone = contract_of(request.intent).kind is ContractKind.STRICT
    own = [row for row in shape.rows if row not in output or not (alone or len(row.split()) > 1)]
    claims = bool(own) and not any(named) and _claims_success("\n".join(own), output, [])
    return claims or any(_calls_a_failure_well(row, request.raw_input) for row in own)


def _shows_failure(output: str) -> bool:
    return len(output) > _MOST_READ or FAILURE.search(NO_FAILURE.sub(" ", output)) is not None


def _claims_success(text: str, output: Ground, named: list[bool]) -> bool:
    """Say whether an answer tells of nothing but success."""
    rest = NO_FAILURE.sub(" ", text)
    if FAILURE.search(rest):
        return False
    # What says more than that all is well, and of what, may say it of a part.
    of_a_part = any(named) and len(text.split()) > _MOST_WORDS and not OF_ALL.search(text)
    counted = bool(COUNTED.match(rest)) and not output.says(rest)
    return not of_a_part and (rest != text or counted or SUCCESS.search(rest) is not None)


def _calls_a_failure_well(text: str, output: str) -> bool:
    """Say whether an answer says that something went well which the output says, where it judges it, failed."""
    if len(output) > _MOST_READ:
        return False
    for name in _NAME.finditer(text):
        before = _CLAUSE.split(text[max(0, name.start() - _NEAR) : name.start()])[-1]
        well = WELL_BEHIND.match(text, name.end()) or WELL_BEFORE.fullmatch(before)
        if not well or _UNREAL.search(before):
            continue
        it = re.compile(rf"(?<![\w./-]){re.escape(name[0])}(?![\w/-]|\.\w)")
        lines = [line for line in output.splitlines() if it.search(line)]
        passed = [bool(ENDED_WELL.search(line)) and not _CLAIMS_FAILURE.search(line) for line in lines]
        if any(map(_FAILED_LINE.search, lines)) and not any(passed):
            return True
    return False


def _is_no_answer(text: str, output: Ground) -> bool:
    """Say whether an answer is a mere shell, a refusal, or what a service says of itself."""
    bare = _TAG.sub("", text)
    if not _SAYS.search(bare) and not SUCCESS.search(bare) and not FAILURE.search(bare):
        return True
    if _NO_VALUE.fullmatch(text):
        return not output.says(text)
    refusal = REFUSAL.search(text[:_NEAR]) or SERVICE_FAULT.match(text)
    return refusal is not None and not output.says(refusal[0])


def _is_of_something_else(text: str, request: Request, named: list[bool]) -> bool:
    if named and not any(named):
        return True
    words = {word.lower() for word in _WORD.findall(text)}
    # What the question says too is none of the output; few words of it may still choose between things it names.
    own = words - {word.lower() for word in _WORD.findall(request.instruction)} - _ANNOUNCING
    output = request.raw_input.lower()
    in_english = not words.isdisjoint(_ENGLISH)
    silent = in_english and len(words) >= _FEWEST_WORDS and not any(word in output for word in own)
    return not _NONE_OR_SOME.search(text) and (silent or bool(words and words <= _ANNOUNCING))
