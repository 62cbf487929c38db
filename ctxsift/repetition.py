"""What says the same over and over: sentences, rows of a shape, words and pieces of words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxsift.answers.grounding import Ground, fold

_RUN = 8
_TIMES, _ONE_WORD_TIMES, _ROW_TIMES = 3, 5, 5
_NEAR = 100
# Sentences that differ in one word; numbers that count on.
_LIKE_TIMES, _FEWEST_LIKE, _COUNTED_ON = 4, 6, 20
# Sentences, also of scripts without blanks; what numbers or marks the lines of a list.
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])\s*|\n")
_CLAUSE_END = re.compile(r"[，、]")
_LIST_MARK = re.compile(
    r"[\s>#*_(\[]*(?:(?:(?:\d{1,4}|[a-z]|[ivx]{1,5})(?:[.):\]、]+|\s[-–—])|[-*+•\u2460-\u2473]|(?<=#)\d{1,4})[*_]*(?=\s))*\s*",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"\d{1,4}[.):\]]+")
_INTEGER = re.compile(r"(?<![A-Za-z0-9_.,/-])\d{1,6}(?![A-Za-z0-9_/-]|[.,]\d)")
_NUMBERED_NAME = re.compile(r"(?<![\w.,/-])([A-Za-z_]{2,60})(\d{1,6})(?![\w/-]|[.,]\d)")
_SAYS = re.compile(r"\w")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]")
_FEWEST_UNSPACED = 4
# A piece of a word that is said over and over; of one character more often, as in rulers.
_STUTTER = re.compile(r"(\S{2,12}?)\1{4,}|(\S)\2{19,}")
_SHORT_PIECE, _SHORT_PIECE_CHARS = 2, 20


def repeats_rows(rows: Sequence[str], output: str) -> bool:
    """Return True if a row of a shape stands in it five times, and not on as many lines of the output."""
    said = {row: count for row, count in Counter(map(fold, rows)).items() if row and count >= _ROW_TIMES}
    lines = Counter(map(fold, output.splitlines())) if said else Counter[str]()
    return any(lines[row] < count for row, count in said.items())


def repeats(text: str, output: Ground) -> bool:
    """Return True if a sentence or eight words in a row stand in the text three times, and not so often in the output.

    Running numbers make no other sentence of it.
    """
    forms = (_repeats_sentences, _repeats_clauses, _stutters, _counts_on, _says_alike, _repeats_words)
    return any(repeats_form(text, output) for repeats_form in forms)


def _repeats_sentences(text: str, output: Ground) -> bool:
    said: dict[str, list[tuple[int, ...]]] = {}
    for sentence in _SENTENCE_END.split(text):
        key, numbers = _without_numbers(sentence, output)
        if len(key.split()) > 1 or (len(key) >= _FEWEST_UNSPACED and _UNSPACED.search(key)):
            said.setdefault(key, []).append(numbers)
    return any(_runs_on(numbers) and output.times(key) < len(numbers) for key, numbers in said.items())


def _repeats_clauses(text: str, output: Ground) -> bool:
    clauses = Counter(clause.strip() for clause in _CLAUSE_END.split(text))
    return any(clause and count > _TIMES and output.times(clause) < count for clause, count in clauses.items())


def _repeats_words(text: str, output: Ground) -> bool:
    """Say whether blocks of words follow each other, or eight words in a row come again anywhere."""
    words = [word for word in text.split() if not _ORDINAL.fullmatch(word)]
    if any(output.times(block) < least for block, least in _blocks(words)):
        return True
    runs = Counter(tuple(words[at : at + _RUN]) for at in range(len(words) - _RUN + 1))
    often = [run for run, count in runs.items() if count >= _TIMES]
    return any(output.times(" ".join(run)) < runs[run] for run in often)


def _stutters(text: str, output: Ground) -> bool:
    return any(
        (len(found[0]) >= _SHORT_PIECE_CHARS or len(found[1] or "") > _SHORT_PIECE)
        and re.search(r"\w|(.)\1{19}", found[0]) is not None
        and found[0] not in output
        for found in _STUTTER.finditer(text)
    )


def _counts_on(text: str, output: Ground) -> bool:
    """Say whether twenty numbers in a row each go on from the one before, and not in the output."""
    row: list[str] = []
    for word in text.split():
        bare = word.strip(",;")
        number = int(bare) if bare.isdecimal() and len(bare) < _RUN else None
        row = (
            [*row, bare] if number is not None and row and number == int(row[-1]) + 1 else [bare] * (number is not None)
        )
        if len(row) == _COUNTED_ON and not output.says(" ".join(row)):
            return True
    return False


def _says_alike(text: str, output: Ground) -> bool:
    """Say whether four sentences in a row are one, but for a word that is none of the output."""
    said = [sentence.split() for sentence in _SENTENCE_END.split(text)]
    return any(
        all(
            len(words) == len(said[at]) >= _FEWEST_LIKE and _is_like(said[at], words, output)
            for words in said[at + 1 : at + _LIKE_TIMES]
        )
        for at in range(len(said) - _LIKE_TIMES + 1)
    )


def _is_like(one: Sequence[str], other: Sequence[str], output: Ground) -> bool:
    differ = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(differ) <= 1 and not any(
        any(map(str.isdigit, word)) or word.strip(".,;:").lower() in output.words for pair in differ for word in pair
    )


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

    def put_end_aside(name: re.Match[str]) -> str:
        if name[0] in output:
            return name[0]
        numbers.append(int(name[2]))
        return name[1]

    plain = _NUMBERED_NAME.sub(put_end_aside, _INTEGER.sub(put_aside, bare))
    return " ".join(plain.split()), tuple(numbers)


def _runs_on(said: list[tuple[int, ...]]) -> bool:
    """Say whether three in a row have the same numbers or the next ones."""
    steps = [
        all(after - before in (0, 1) for before, after in zip(*pair, strict=True))
        if len(set(map(len, pair))) == 1
        else False
        for pair in pairwise(said)
    ]
    return any(all(steps[at : at + _TIMES - 1]) for at in range(len(steps) - _TIMES + 2))
