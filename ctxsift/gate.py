"""What the product does not pass on although it is a valid answer: claims that what it knows speaks against.

The gate knows what an agent knows: output, command, exit code, question. It is of the product alone; validation, and so
every score of the benchmark, stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ctxsift.contracts import Kind, contract_of
from ctxsift.grounding import Ground, ground
from ctxsift.prompts import Request
from ctxsift.thought import MAX_PROSE_CHARS
from ctxsift.validation import Validation, names_given
from ctxsift.verdict_words import COUNTED, DENIED, FAILURE, OF_ALL, SAID_LAST, SUCCESS

# Right though no word of the output is in it.
_NONE_OR_SOME = re.compile(
    r"\b(?:no|not|none|nothing|never|both|one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I
)
_CLAIMS_FAILURE = re.compile(r"\b(?:failed|fails|failing|crash(?:ed|es)|error(?:s|ed)?|broke|aborted)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][\w./:-]*[_./:][\w./:-]*\w")
_WORD = re.compile(r"[^\W_]{3,}")
_RUN = 8
_TIMES, _ONE_WORD_TIMES = 3, 5
_NEAR = 100
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
# Sentences, also of scripts without blanks; what numbers or marks the lines of a list.
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])\s*|\n")
_LIST_MARK = re.compile(
    r"[\s>#*_(\[]*(?:(?:(?:\d{1,4}|[a-z]|[ivx]{1,5})(?:[.):\]、]+|\s[-–—])|[-*+•\u2460-\u2473]|(?<=#)\d{1,4})[*_]*(?=\s))*\s*",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d{1,4}[.):\]]+")
_INTEGER = re.compile(r"(?<![A-Za-z0-9_.,/-])\d{1,6}(?![A-Za-z0-9_/-]|[.,]\d)")
_SAYS = re.compile(r"\w")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]")
_FEWEST_UNSPACED = 4

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
    if contract_of(request.intent).kind is not Kind.PLAIN:
        # Shapes repeat their keys and add to what they hold; values stand alone.
        return
    if len(text.strip()) >= len(request.raw_input.strip()):
        yield NOT_SHORTER
    text = text[:MAX_PROSE_CHARS]
    output, named = ground(request.raw_input), names_given(text, request)
    if _repeats(text, output):
        yield REPETITION
    if request.exit_code and (_claims_success(text, output, named) or _calls_a_failure_well(text, request.raw_input)):
        yield CONTRADICTS_EXIT_CODE
    if (
        request.exit_code == 0
        and _CLAIMS_FAILURE.search(DENIED.sub(" ", text))
        and not _shows_failure(request.raw_input)
    ):
        yield NO_FAILURE_IN_OUTPUT
    if _is_of_something_else(text, request, named):
        yield NOTHING_OF_THE_OUTPUT


def _shows_failure(output: str) -> bool:
    return len(output) > _MOST_READ or FAILURE.search(DENIED.sub(" ", output)) is not None


def _claims_success(text: str, output: Ground, named: list[bool]) -> bool:
    """Say whether an answer tells of nothing but success."""
    rest = DENIED.sub(" ", text)
    if FAILURE.search(rest):
        return False
    # What says more than that all is well, and of what, may say it of a part.
    of_a_part = any(named) and len(text.split()) > _MOST_WORDS and not OF_ALL.search(text)
    counted = bool(COUNTED.match(rest)) and not output.says(rest)
    return not of_a_part and (rest != text or counted or SUCCESS.search(rest) is not None)


def _calls_a_failure_well(text: str, output: str) -> bool:
    """Say whether an answer says that something went well which the output has on lines of failures alone."""
    rest = DENIED.sub(" ", text)
    if len(output) > _MOST_READ or FAILURE.search(rest) or not SAID_LAST.search(rest):
        return False
    names = [re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w/-]|\.\w)") for name in _NAME.findall(rest)]
    told = [[line for line in output.splitlines() if name.search(line)] for name in names]
    return bool(told) and all(lines and all(map(_shows_failure, lines)) for lines in told)


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


def _repeats(text: str, output: Ground) -> bool:
    """Return True if a sentence or eight words in a row stand in the text three times, and not so often in the output.

    Running numbers make no other sentence of it.
    """
    said: dict[str, list[tuple[int, ...]]] = {}
    for sentence in _SENTENCE_END.split(text):
        key, numbers = _without_numbers(sentence, output)
        if len(key.split()) > 1 or (len(key) >= _FEWEST_UNSPACED and _UNSPACED.search(key)):
            said.setdefault(key, []).append(numbers)
    if any(_runs_on(numbers) and output.times(key) < len(numbers) for key, numbers in said.items()):
        return True
    words = [word for word in text.split() if not _ORDINAL.fullmatch(word)]
    if any(output.times(block) < least for block, least in _blocks(words)):
        return True
    runs = Counter(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    often = [run for run, count in runs.items() if count >= _TIMES]
    return any(output.times(" ".join(run)) < runs[run] for run in often)


def _blocks(words: list[str]) -> Iterator[tuple[str, int]]:
    """Yield what is said over and over, and how often the output has to say it.

    Up to eight words count three times in a row; a single word five times, which the output has to say as well.
    """
    for length in range(1, _RUN + 1):
        least = _TIMES * length if length > 1 else _ONE_WORD_TIMES
        same = 0
        for at in range(length, len(words)):
            same = same + 1 if words[at] == words[at - length] else 0
            if same + length == least and length > 1:
                yield " ".join(words[at + 1 - length : at + 1]), _TIMES
            elif same + length == least:
                yield " ".join([words[at]] * least), 1


def _without_numbers(sentence: str, output: Ground) -> tuple[str, tuple[int, ...]]:
    """Return a sentence without its list mark and numbers, and these numbers; those of the output are words of it."""
    bare = _LIST_MARK.sub("", sentence, count=1).strip()
    numbers: list[int] = []

    def put_aside(number: re.Match[str]) -> str:
        beside = [
            bare[max(0, number.start() - _NEAR) : number.start()].split()[-1:],
            bare[number.end() : number.end() + _NEAR].split()[:1],
        ]
        pairs = [(*beside[0], number[0]), (number[0], *beside[1])]
        if any(all(map(_SAYS.search, pair)) and len(pair) > 1 and output.says(" ".join(pair)) for pair in pairs):
            return number[0]
        numbers.append(int(number[0]))
        return ""

    return " ".join(_INTEGER.sub(put_aside, bare).split()), tuple(numbers)


def _runs_on(said: list[tuple[int, ...]]) -> bool:
    """Say whether three in a row have the same numbers or the next ones."""
    steps = [
        all(after - before in (0, 1) for before, after in zip(*pair, strict=True))
        if len(set(map(len, pair))) == 1
        else False
        for pair in pairwise(said)
    ]
    return any(all(steps[at : at + _TIMES - 1]) for at in range(len(steps) - _TIMES + 2))
