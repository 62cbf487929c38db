"""An answer as its marks divide it: reasoning, the answer, turns that follow it. No prose is judged here."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxsift.answers.grounding import Ground, fold
from ctxsift.answers.marks import MODEL_TOKENS, Mark, MarkFinder, MarkKind
from ctxsift.answers.meta_language import POLITE_WORDS
from ctxsift.answers.payloads import outer_fence, parse_payload
from ctxsift.intents import Intent

Part = Literal["answer", "reasoning_block", "role_header", "control_token", "invented_turn", "answer_box"]
_QUOTES = " \t\"'`*"
_LONGEST_LINE, _LONGEST_GAP = 2000, 100
_KEY = re.compile(r"[\s-]*[\"']?[\w-]+(?: [\w-]+){0,3}[\"']?\s*[:=]")
# More than honest answers have; hostile ones have nothing else.
_MOST_BOXES, _MOST_MARKS_IN_BOX = 10, 100
# Possessive quantifiers keep patterns linear: an answer may be a megabyte of blanks.
_ROLES = r"(?:user|human|system|assistant|model|instruction)"
_TURN = re.compile(
    rf"(?<=\n)(?:(?:### )?{_ROLES}|### (?:question|answer|input|task))[ \t]*+:?[ \t\r]*+(?:\n(?![ \t]+\S)|\Z)",
    re.IGNORECASE,
)
# Without its marks, a turn may run into the sentence before it.
_RUN_ON = re.compile(r"(?<=[.!?\d)\]\"'`])(?:user|human)\r?\n+[^\n]{1,400}?assistant\r?\n")
_OWN_TURN = re.compile(r"\n(?:### )?(?:assistant|model|answer|response)[ \t]*+:?[ \t\r]*+(?:\n|\Z)", re.IGNORECASE)
_CONVERSATION = re.compile(r"(?<=\n)((?:User|Human):[ \t][^\n]{0,400})\n\s*(?:Assistant|AI|Model):[ \t]")
# A label with words behind it is a turn only after a blank line: "User: www-data" may be an answer's own line.
_TURN_LABEL = re.compile(
    r"(?<=\n)(?:### ?|\*\*)?(?:User|Human|Assistant|Instruction|Question|Q)(?::\*\*|\*\*:|:)[ \t]", re.IGNORECASE
)
_OWN_LABEL = re.compile(
    r"(?<=\n)(?:### ?|\*\*)?(?:Assistant|AI|Model|Answer|Response|A)(?::\*\*|\*\*:|:)[ \t]", re.IGNORECASE
)
_ROLE_WORDS = frozenset({"user", "assistant"})
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\Z")
# What a sentence has on both sides of a mark that it speaks of.
_SPEAKS, _SPEAKS_ON = re.compile(r"[\w,][ \t]+\Z"), re.compile(r"[ \t]+[^\W\dA-Z]|[,;.)]")
_TAG = re.compile(r"</?\w+>")
_CLAUSE_END = re.compile(r"[,;.)]")


class EnvelopePiece(NamedTuple):
    """text[start:end] is this part of an answer."""

    start: int
    end: int
    part: Part


@dataclass(frozen=True)
class Envelope:
    """The pieces of an answer, in order, without gaps.

    Attributes:
        unterminated: reasoning was opened and never closed; nothing in the text is known to be the answer.
        boxes: where the contents of boxes begin and end.

    """

    pieces: tuple[EnvelopePiece, ...]
    unterminated: bool
    boxes: tuple[tuple[int, int], ...] = ()

    def of(self, part: Part) -> list[EnvelopePiece]:
        """Return the pieces that are this part."""
        return [piece for piece in self.pieces if piece.part == part]


@functools.lru_cache(maxsize=64)
def read_envelope(
    text: str, ground: Ground, tokens: MarkFinder = MODEL_TOKENS, intent: Intent | None = None
) -> Envelope:
    """Divide an answer by its marks; those that it quotes of the input are text. Never raises.

    Args:
        text: an answer.
        ground: what it may quote.
        tokens: the marks of its model.
        intent: under a structured contract, marks within a document that parses are words of it.

    """
    return _EnvelopeReader(text, ground, tokens, intent).read()


def turn_start(text: str, ground: Ground) -> int | None:
    """Return where an answer goes on with an invented turn that has a label and no mark ("User: ..."), or None."""
    # An output of conversations is told in their words.
    about_turns = ground.words >= _ROLE_WORDS
    for pattern in (_CONVERSATION, _TURN, _TURN_LABEL, _RUN_ON):
        for turn in pattern.finditer(text):
            before, behind = text[: turn.start()], text[turn.end() :]
            after_blank_line = _BLANK_LINE.search(before[-_LONGEST_GAP:]) is not None
            if pattern is _TURN_LABEL and not after_blank_line:
                continue
            line = text[turn.start() : turn.start() + _LONGEST_LINE].partition("\n")[0]
            if not before.strip() or fold(line) in ground.lines or (turn.lastindex and turn[1] in ground):
                break
            if len(_FENCE.findall(before)) % 2:
                break
            # Words of the input under a single label may be part of the answer; conversations have two sides.
            if pattern is _RUN_ON:
                goes_on = True
            elif pattern is _TURN:
                goes_on = _OWN_TURN.search(behind) is not None
            else:
                sides = len(_TURN_LABEL.findall(text, turn.start())) + len(_OWN_LABEL.findall(text, turn.start()))
                goes_on = sides > (1 if after_blank_line else 3)
            own = ground.lost(text[turn.start() :], before) - _ROLE_WORDS - POLITE_WORDS
            if (goes_on and not about_turns) or not own:
                return turn.start()
            break
    return None


def is_quoted(text: str, start: int, end: int, ground: Ground) -> bool:
    """Say whether a mark in an answer is a quotation of the input.

    It has to stand in the input; at the beginning or end of a line, where models put their own, the whole line has to.
    """
    # Nobody puts tags of their own in quotes.
    if (
        _TAG.fullmatch(text, start, end)
        and text[start - 1 : start] in ("`", '"', "'")
        and text[start - 1 : start] == text[end : end + 1]
    ):
        return True
    if text[start:end] not in ground:
        return False
    # A line that is longer is none that somebody reads.
    first, last = max(0, start - _LONGEST_LINE), min(len(text), end + _LONGEST_LINE)
    line_start = max(first, text.rfind("\n", first, start) + 1)
    line_end = text.find("\n", end, last)
    line_end = line_end if line_end != -1 else last
    before, behind = text[line_start:start].rstrip(), text[end:line_end].lstrip()
    # A value of its own: in quotes, or all that stands behind a key.
    in_quotes = before[-1:] and before[-1] in "\"'`|" and behind[:1] == before[-1]
    if in_quotes or (_KEY.fullmatch(before) and behind in ("", ",")):
        return True
    inside = before.strip(_QUOTES) and (behind.strip(_QUOTES) or _SPEAKS.search(text[max(0, start - 3) : start]))
    line = text[line_start:line_end].strip(_QUOTES + "-*•>") if line_end - line_start <= _LONGEST_LINE else ""
    return bool(inside) or line in ground


def is_spoken_of(text: str, mark: Mark) -> bool:
    """Say whether a tag in plain letters stands within a sentence, as a word of it."""
    before, behind = text[max(0, mark.start - 3) : mark.start], text[mark.end : mark.end + 3]
    # Thought goes on behind the mark that opens it; a list of tags does not.
    goes_on = _CLAUSE_END if mark.kind is MarkKind.OPEN else _SPEAKS_ON
    return mark.in_plain_letters and bool(_SPEAKS.search(before) and goes_on.match(behind))


class _EnvelopeReader:
    def __init__(self, text: str, ground: Ground, tokens: MarkFinder, intent: Intent | None) -> None:
        self._text, self._tokens = text, tokens
        self._length = len(text.rstrip())
        self._marks = self._own(tokens.marks(text), ground)
        if intent is not None:
            self._marks = self._around_payload(intent)
        self._last = {mark.name: number for number, mark in enumerate(self._marks)}
        self._last_final = max((n for n, mark in enumerate(self._marks) if mark.kind is MarkKind.FINAL), default=-1)
        self._pieces: list[EnvelopePiece] = []
        self._boxes: list[tuple[int, int]] = []
        self._position = 0
        self._answered, self._reasoned = False, False
        # Pieces before this one are no answer, or stay one.
        self._settled = 0
        self._announced = next(filter(None, (self._announcement(*pair, ground) for pair in tokens.announcements)), None)

    def _own(self, marks: Sequence[Mark], ground: Ground) -> list[Mark]:
        """Return the marks that are no quotations."""
        awaited: frozenset[str] = frozenset()
        first, is_block = self._first_pair(marks, ground)
        found = []
        for mark in marks:
            # What the answer itself has opened it also closes, whatever the input says.
            quoted = is_quoted(self._text, mark.start, mark.end, ground)
            if mark in first:
                quoted = not is_block
            if mark.kind is MarkKind.CONTROL and is_spoken_of(self._text, mark):
                continue
            if mark.name in awaited or not quoted:
                found.append(mark)
                awaited = self._closers(mark)
        return found

    def _around_payload(self, intent: Intent) -> list[Mark]:
        """Return the marks above and below a document that parses; all marks where none does."""
        first, start = 0, 0
        while first < len(self._marks) and not self._text[start : self._marks[first].start].strip():
            end = self._close(first) if self._marks[first].kind is MarkKind.OPEN else self._marks[first].end
            if end is None:
                return self._marks
            start = end
            while first < len(self._marks) and self._marks[first].start < start:
                first += 1
        last, end = len(self._marks), self._length
        while last > first and not self._text[self._marks[last - 1].end : end].strip():
            last = self._opening(first, last - 1)
            end = self._marks[last].start
        document = self._text[start:end].strip("\r\n")
        fenced = outer_fence(document)
        if first == last or parse_payload(intent, document if fenced is None else fenced) is None:
            return self._marks
        return self._marks[:first] + self._marks[last:]

    def _opening(self, first: int, last: int) -> int:
        """Return the mark from `first` on that opens what another closes; that one itself where it closes nothing."""
        closing = self._marks[last]
        if closing.kind is not MarkKind.CLOSE:
            return last
        before = range(last - 1, max(first, last - _MOST_MARKS_IN_BOX) - 1, -1)
        openings = (n for n in before if self._marks[n].kind is MarkKind.OPEN)
        return next((n for n in openings if closing.name in self._closers(self._marks[n])), last)

    def _closers(self, mark: Mark) -> frozenset[str]:
        return self._tokens.closers.get(mark.name, frozenset())

    def _announcement(
        self, opening: re.Pattern[str], close: re.Pattern[str], ground: Ground
    ) -> tuple[int, int | None] | None:
        """Return where reasoning that words announce begins and ends; None for the end that nothing tells."""
        begun = opening.match(self._text, len(self._text) - len(self._text.lstrip()))
        if begun is None or begun.group() in ground:
            return None
        ended = close.search(self._text, begun.end())
        # A word alone may be the first of an answer.
        return (begun.start(), ended.end() if ended else None) if ended or " " in begun.group().strip() else None

    def read(self) -> Envelope:
        if self._announced and self._announced[1] is None:
            self._add(len(self._text), "reasoning_block")
            return Envelope(tuple(self._pieces), unterminated=True)
        if self._announced and self._announced[1]:
            self._add(self._announced[1], "reasoning_block")
        for number, mark in enumerate(self._marks):
            if mark.start < self._position:
                continue
            self._add(mark.start, "answer")
            if mark.kind is MarkKind.OPEN:
                close = self._close(number)
                if close is None and is_spoken_of(self._text, mark):
                    continue
                self._add(len(self._text) if close is None else close, "reasoning_block")
                if close is None:
                    return Envelope(tuple(self._pieces), unterminated=True)
            elif mark.kind is MarkKind.CLOSE:
                self._orphan(mark)
            elif mark.kind in (MarkKind.BOX_OPEN, MarkKind.BOX_CLOSE):
                self._box(number, mark)
            elif mark.kind is MarkKind.CONTROL:
                self._add(mark.end, "control_token")
            else:
                self._turn(number, mark)
        self._add(len(self._text), "answer")
        return Envelope(tuple(self._pieces), unterminated=False, boxes=tuple(self._boxes))

    def _turn(self, number: int, mark: Mark) -> None:
        """Take a mark that begins or ends a turn or a channel."""
        if mark.kind is not MarkKind.FINAL and self._answered and number > self._last_final:
            ends = mark.kind is MarkKind.END and mark.end >= self._length
            self._add(len(self._text), "control_token" if ends else "invented_turn")
            return
        self._before_is_thought()
        if mark.kind is MarkKind.OTHER:
            # The prompt, written once more; without a turn of the model's own there is no answer in it.
            own = next((later for later in self._marks[number:] if later.kind is MarkKind.HEADER), None)
            self._add(own.start if own else len(self._text), "invented_turn" if own else "answer")
        else:
            self._add(mark.end, "control_token" if mark.kind is MarkKind.END else "role_header")

    def _box(self, number: int, mark: Mark) -> None:
        """Take one side of a box; without the other, the first begins the answer and the last ends it."""
        close = self._box_end(number) if mark.kind is MarkKind.BOX_OPEN else None
        if close is None and not self._boxes and is_spoken_of(self._text, mark):
            self._add(mark.end, "answer")
            return
        if close is not None and len(self._boxes) < _MOST_BOXES:
            self._boxes.append((mark.end, close.start))
        if mark.kind is MarkKind.BOX_OPEN:
            self._add(mark.end, "role_header" if close is None and not self._answered else "answer_box")
        else:
            self._add(mark.end, "control_token" if not self._boxes and self._is_last(number) else "answer_box")

    def _first_pair(self, marks: Sequence[Mark], ground: Ground) -> tuple[tuple[Mark, ...], bool]:
        """Return the marks of a block that the answer begins with, and whether it is one.

        Where the input has such marks, too, they may be the first words of a sentence about them: it goes on behind the
        second one.
        """
        if not marks or marks[0].kind is not MarkKind.OPEN or self._text[: marks[0].start].strip():
            return (), False
        opening = marks[0]
        closers = self._closers(opening)
        close = next((mark for mark in marks if mark.name in closers), None)
        if close is None or not self._text[close.end :].strip() or self._text[opening.end : close.start] in ground:
            return (), False
        named = self._text[opening.start : opening.end] in ground
        return (opening, close), not named or self._text[close.end :].lstrip(" ").startswith("\n")

    def _add(self, end: int, part: Part) -> None:
        if end > self._position:
            self._answered = self._answered or (part == "answer" and bool(self._text[self._position : end].strip()))
            self._reasoned = self._reasoned or part == "reasoning_block"
            # A sentence goes on behind a mark that it speaks of.
            if part == "answer" and len(self._pieces) > self._settled and self._pieces[-1].part == part:
                self._pieces[-1] = self._pieces[-1]._replace(end=end)
            else:
                self._pieces.append(EnvelopePiece(self._position, end, part))
            self._position = end

    def _before_is_thought(self) -> None:
        if self._answered:
            for number in range(self._settled, len(self._pieces)):
                if self._pieces[number].part == "answer":
                    self._pieces[number] = self._pieces[number]._replace(part="reasoning_block")
            self._settled = len(self._pieces)
            self._answered, self._reasoned = False, True

    def _is_last(self, number: int) -> bool:
        """Say whether nothing but further marks follows a mark."""
        ends = [mark.end for mark in self._marks[number : number + _MOST_BOXES]]
        starts = [mark.start for mark in self._marks[number + 1 : number + _MOST_BOXES]] + [len(self._text)]
        return not any(self._text[end:start].strip() for end, start in zip(ends, starts, strict=False))

    def _orphan(self, mark: Mark) -> None:
        """Take what stands before a closing mark for thought that the prompt opened; at the end it is a stray mark."""
        if self._reasoned and self._answered and mark.end >= self._length:
            self._add(mark.end, "control_token")
            return
        if is_spoken_of(self._text, mark):
            self._add(mark.end, "answer")
            return
        self._before_is_thought()
        self._add(mark.end, "reasoning_block")

    def _close(self, number: int) -> int | None:
        """Return where the reasoning ends that a mark opens, None where nothing ends it."""
        closers = self._closers(self._marks[number])
        in_channel = "<|end|>" in closers
        later = range(number + 1, len(self._marks))
        for mark in map(self._marks.__getitem__, later):
            if mark.name in closers:
                return mark.end
            if in_channel and (
                mark.kind is MarkKind.FINAL or mark.kind is MarkKind.OPEN or mark.kind is MarkKind.HEADER
            ):
                return mark.start
        # A block that is closed with another family's mark, not with that of a block within it.
        inner: set[str] = set()
        for mark in map(self._marks.__getitem__, later):
            if mark.kind is MarkKind.OPEN:
                inner |= self._closers(mark)
            elif mark.kind is MarkKind.CLOSE and mark.name not in inner:
                return mark.end
        return None

    def _box_end(self, number: int) -> Mark | None:
        closers = self._closers(self._marks[number])
        if not any(self._last.get(name, 0) > number for name in closers):
            return None
        later = self._marks[number + 1 : number + 1 + _MOST_MARKS_IN_BOX]
        return next((mark for mark in later if mark.name in closers), None)
