"""Prose of an answer by sentence and paragraph: which of it a model says of itself, its task and its answer.

Judged by signals, not by phrases: words of a few kinds, in several languages. What stands in the input is a quotation
and signals nothing.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ctxsift.answers.grounding import Ground, content_words, ground
from ctxsift.answers.languages import language_of
from ctxsift.answers.meta_language import ANSWER_LABEL, LABEL, SIGNALS, SMALL_TALK, STEP, TELLING, Signal

# The dot of an enumeration ("1. Find ...") ends no sentence; scripts without blanks have marks of their own.
_SENTENCE = re.compile(r"(?:[ \t]*\d+[.)][ \t]+)?[^\n]+?(?:[.!?…][\"')\]*]*(?=\s|$)|[。！？]|(?=\n|$))")
_MARKERS = re.compile(r"[\s(>•*_-]*(?:\d+[.)][ \t]+)?[*_]*")
# A line that ends a sentence or announces something ends a paragraph.
_PARAGRAPH_END = re.compile(
    r"\n[ \t]*\n|(?<=[.!?…:。！？])[\"')\]*]*[ \t]*\n(?![ \t]*(?:[-*•]|(?:step )?\d+[.):])[ \t])", re.IGNORECASE
)
_HEADING = re.compile(r"(?:\*\*[^*\n]{1,80}\*\*|#{1,6} [^\n]{1,80})")
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|`[^`\n]{1,300}`|(?<!\w)'[^'\n]{2,300}'(?!\w)")
# What hostile sentences have more of is not read; and how far away a neighbouring word begins or ends at most.
_LONGEST_SENTENCE, _NEAR = 1000, 60
# Points at which a sentence is thought: of itself, or beside other thought.
ALONE, BESIDE = 4, 2


@dataclass(frozen=True)
class Sentence:
    """text[start:end] is a sentence; the kinds of signals in it, how many there are, and the points that they give."""

    start: int
    end: int
    points: int
    kinds: frozenset[str]
    signals: int

    def beside(self, kind: str) -> Sentence:
        """Return it with a signal that is enough for itself."""
        return replace(self, points=self.points + ALONE, kinds=self.kinds | {kind}, signals=self.signals + 1)

    def is_thought(self, threshold: int) -> bool:
        """Say whether its points reach a threshold, and some of them are for more than words of grammar."""
        return self.points >= threshold and bool(self.kinds & _TELLING)


# What the shape of a text says of it, beside its words.
_LABELLED, _FOREIGN = "label", "language"
_TELLING = TELLING | {_LABELLED, _FOREIGN}


@dataclass(frozen=True)
class Paragraph:
    """text[start:end] is a paragraph.

    Attributes:
        is_thought: all of it is leaked thought.
        signals: how many there are in it.

    """

    start: int
    end: int
    sentences: tuple[Sentence, ...]
    is_thought: bool
    signals: int


@functools.lru_cache(maxsize=256)
def paragraphs(
    text: str, start: int, end: int, quotable: Ground, instruction: str, threshold: int = ALONE
) -> tuple[Paragraph, ...]:
    """Return the paragraphs of text[start:end], judged: a line that ends with a sentence's end ends one, too."""
    reader = SentenceReader(text, quotable, instruction)
    bounds = list(_bounds(text, start, end))
    read = [tuple(reader.read(a, b)) for a, b in bounds]
    plain = threshold == ALONE
    languages = [language_of(text[a:b]) if len(bounds) > 1 or not plain else None for a, b in bounds]
    # What is in another language than the rest, the question and the output was not meant to be read.
    at_home = {None, "en", language_of(instruction), quotable.language}
    # A plain answer may be in another language as a whole; other forms have no sentences.
    if plain and len(set(languages) - {None}) == 1:
        at_home.update(languages)
    read = [
        tuple(s if text[s.start : s.end] in quotable else s.beside(_FOREIGN) for s in sentences)
        if language not in at_home
        else sentences
        for language, sentences in zip(languages, read, strict=True)
    ]
    found: list[Paragraph] = []
    for number, ((a, b), sentences) in enumerate(zip(bounds, read, strict=True)):
        thought = [s.is_thought(threshold) for s in sentences]
        first, last = number == 0, number == len(bounds) - 1
        whole = not ANSWER_LABEL.match(text, a) and _is_whole(
            sentences, thought, first=first, last=last, follows=bool(found) and found[-1].is_thought
        )
        found.append(Paragraph(a, b, sentences, whole, sum(s.signals for s in sentences)))
    _spread(text, found, quotable)
    return tuple(found)


def _is_whole(
    sentences: Sequence[Sentence], thought: Sequence[bool], *, first: bool, last: bool, follows: bool
) -> bool:
    """Say whether a paragraph is thought as a whole; the rest of one that begins with thought explains itself."""
    count = sum(thought)
    if not count:
        return False
    mostly = 2 * count >= len(sentences)
    if first and last:
        return count == len(sentences) or (count > 1 and mostly)
    dense = sum(s.points for s in sentences) >= 3 * len(sentences)
    asks_itself = sum("question" in s.kinds for s in sentences) > 1
    goes_on = not last and (follows or any("doubt" in s.kinds for s in sentences))
    return dense or mostly or asks_itself or goes_on or (thought[0] and first)


def _spread(text: str, read: list[Paragraph], quotable: Ground) -> None:
    """Headings go with what stands below them, and paragraphs within a train of thought with the train."""
    for number in reversed(range(len(read) - 1)):
        if _HEADING.fullmatch(text[read[number].start : read[number].end]) and read[number + 1].is_thought:
            read[number] = replace(read[number], is_thought=True)
    for number in range(1, len(read) - 1):
        announces = text[read[number].start : read[number].end].endswith((":", "："))
        if announces and read[number - 1].is_thought and read[number].signals:
            read[number] = replace(read[number], is_thought=True)
    thoughts = [number for number, paragraph in enumerate(read) if paragraph.is_thought]
    # Where thought has the last word, the answer stands somewhere before it.
    if thoughts and thoughts[-1] < len(read) - 1:
        _take_back(text, read, thoughts[-1], quotable)


def _take_back(text: str, read: list[Paragraph], last: int, quotable: Ground) -> None:
    """Between two thoughts, what has no signal may be an answer that is taken back or a part of the answer.

    It goes with them where the end of the text, which stands below the last thought, says much of it again.
    """
    rest = content_words(text[read[last].end : read[-1].end])
    for number in range(1, last):
        paragraph = read[number]
        says = text[paragraph.start : paragraph.end]
        if not read[number - 1].is_thought or ANSWER_LABEL.match(says):
            continue
        words = content_words(says) & quotable.words
        again = len(words & rest)
        if any(s.points for s in paragraph.sentences) or 3 * again >= len(words):
            # The thought around it is a signal, and that most of it is said again is another.
            signals = paragraph.signals + 1 + (2 * again >= len(words))
            read[number] = replace(paragraph, is_thought=True, signals=signals)


def runs_of_answer(read: Sequence[Paragraph]) -> list[list[Paragraph]]:
    """Return the paragraphs that are no thought, those together that stand together."""
    runs: list[list[Paragraph]] = []
    parted = True
    for paragraph in read:
        if paragraph.is_thought:
            parted = True
        elif parted:
            runs.append([paragraph])
            parted = False
        else:
            runs[-1].append(paragraph)
    return runs


def _bounds(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start
    for gap in [*_PARAGRAPH_END.finditer(text, start, end), None]:
        stop = gap.end() if gap else end
        piece = text[position:stop]
        bare = piece.strip()
        if bare:
            first = position + len(piece) - len(piece.lstrip())
            yield first, first + len(bare)
        position = stop


def _is_step(line: str, quotable: Ground) -> bool:
    return STEP.match(line) is not None and line not in quotable


@functools.lru_cache(maxsize=64)
def _has_steps(text: str, quotable: Ground) -> bool:
    return sum(_is_step(line, quotable) for line in text.splitlines()) > 1


class SentenceReader:
    """Judges the sentences of one text."""

    def __init__(self, text: str, quotable: Ground, instruction: str) -> None:
        self._text, self._quotable = text, quotable
        self._asked = ground(instruction)
        self._steps_wanted = (
            re.search(r"\bsteps?\b|\bplan\b|numbered|\bhow (?:do|to|can)\b", instruction, re.IGNORECASE) is not None
        )

    def read(self, start: int, end: int) -> Iterator[Sentence]:
        """Yield the judged sentences of a paragraph, with what its shape says: a label above it, a list of steps."""
        for each in self.sentences(start, end):
            says = self._text[each.start : each.end]
            label = LABEL.match(_MARKERS.sub("", says, count=1))
            labelled = label is not None and not content_words(label.group()) & self._quotable.words
            yield each.beside(_LABELLED) if labelled or (self._stepwise and _is_step(says, self._quotable)) else each

    @functools.cached_property
    def _stepwise(self) -> bool:
        """Whether the text goes on in numbered steps that nobody asked for."""
        return not self._steps_wanted and _has_steps(self._text, self._quotable)

    def sentences(self, start: int, end: int) -> Iterator[Sentence]:
        """Yield sentences by their words alone."""
        piece = self._text[start:end]
        said = _QUOTED.sub(self._blank, piece).replace("’", "'")
        for match in _SENTENCE.finditer(said):
            a, b = match.span()
            if match.group().strip():
                yield Sentence(start + a, start + b, *self._points(piece[a:b], match.group()))
            elif piece[a:b].strip():
                yield Sentence(start + a, start + b, 0, frozenset(), 0)

    def _points(self, sentence: str, said: str) -> tuple[int, frozenset[str], int]:
        """Return the points, the kinds and the number of signals in a sentence, given also without its quotations."""
        sentence, said = sentence[:_LONGEST_SENTENCE], said[:_LONGEST_SENTENCE]
        return _points_of(self._quotable, self._asked, self._steps_wanted, sentence, said)

    def _blank(self, quoted: re.Match[str]) -> str:
        # An apostrophe may be no quotation mark.
        known = (
            quoted.group()[0] != "'" or quoted.group()[1:-1] in self._quotable or quoted.group()[1:-1] in self._asked
        )
        return " " * len(quoted.group()) if known else quoted.group()


# An answer is read again after each thing that is taken off it; most of its sentences stay as they were.
@functools.lru_cache(maxsize=2048)
def _points_of(
    quotable: Ground, asked: Ground, steps_wanted: bool, sentence: str, said: str
) -> tuple[int, frozenset[str], int]:
    sentence, said = _MARKERS.sub("", sentence, count=1), _MARKERS.sub("", said, count=1)
    parts = (sentence, sentence.partition(":")[2])
    if any(part in given for part in parts for given in (quotable, asked)) or SMALL_TALK.search(said):
        return 0, frozenset(), 0
    points, signals, kinds = 0, 0, set()
    for signal in SIGNALS:
        # Who asks is one of the words of the task.
        if (signal.kind in ("order", "reading") and steps_wanted) or (signal.kind == "task" and "asker" in kinds):
            continue
        hits = _hits(signal, said, quotable, asked)
        # What a sentence begins with is not counted twice.
        hits -= signal.kind == "duty" and "order" in kinds
        if hits > 0:
            points += min(signal.most, hits * signal.points)
            kinds.add(signal.kind)
            signals += hits
    if points and len(content_words(said) & asked.words) >= 2:
        points += 1
        signals += 1
    return points, frozenset(kinds), signals


def _hits(signal: Signal, said: str, quotable: Ground, asked: Ground) -> int:
    """Return how often a sentence has a signal of its own, quoted from nowhere."""
    found = list(signal.pattern.finditer(said))
    hits = sum(not _is_quoted(said, match, quotable) for match in found)
    # "Our code" is the asker's where the question says "our".
    return hits - (sum(asked.says(match.group()) for match in found) if signal.kind == "we" else 0)


def _is_quoted(said: str, match: re.Match[str], quotable: Ground) -> bool:
    """Say whether the input has these words; one or two say little without a neighbour of theirs."""
    words = match.group().split()
    if len(words) > 2:
        return quotable.says(match.group())
    start, end = match.span()
    before, after = said[max(0, start - _NEAR) : start].split()[-1:], said[end : end + _NEAR].split()[:1]
    around = [near for near in ([*before, *words], [*words, *after]) if len(near) > len(words)] or [words]
    return any(quotable.says(" ".join(near)) for near in around)
