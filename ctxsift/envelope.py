"""An answer as its marks divide it: reasoning, the answer, turns that follow it. No prose is judged here."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ctxsift.grounding import Ground, fold
from ctxsift.marks import MODEL_TOKENS, Kind, Mark, Tokens

Part = Literal["answer", "reasoning_block", "role_header", "control_token", "invented_turn", "answer_box"]
_QUOTES = " \t\"'`*"
_LONGEST_LINE = 2000
_KEY = re.compile(r"[\s-]*[\"']?[\w-]+(?: [\w-]+){0,3}[\"']?\s*[:=]")
# More than honest answers have; hostile ones have nothing else.
_MOST_BOXES, _MOST_MARKS_IN_BOX = 10, 100
# Possessive quantifiers keep patterns linear: an answer may be a megabyte of blanks.
_ROLES = r"(?:user|human|system|assistant|model|instruction)"
_TURN = re.compile(
    rf"(?<=\n)(?:(?:### )?{_ROLES}|### (?:question|answer|input|task))[ \t]*+:?[ \t\r]*+(?:\n|\Z)", re.IGNORECASE
)
# A label with words behind it is a turn only after a blank line: "User: www-data" may be an answer's own line.
_CONVERSATION = re.compile(r"(?<=\n)((?:User|Human):[ \t][^\n]{0,400})\n\s*(?:Assistant|AI|Model):[ \t]")
_TURN_LABEL = re.compile(r"(?<=\n)(?:### ?)?(?:User|Human|Assistant|Instruction):[ \t]", re.IGNORECASE)


class Piece(NamedTuple):
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

    pieces: tuple[Piece, ...]
    unterminated: bool
    boxes: tuple[tuple[int, int], ...] = ()

    def of(self, part: Part) -> list[Piece]:
        """Return the pieces that are this part."""
        return [piece for piece in self.pieces if piece.part == part]


@functools.lru_cache(maxsize=64)
def read_envelope(text: str, ground: Ground, tokens: Tokens = MODEL_TOKENS) -> Envelope:
    """Divide an answer by its marks; those that it quotes of the input are text. Never raises."""
    return _Reader(text, ground, tokens).read()


def turn_start(text: str, ground: Ground) -> int | None:
    """Return where an answer goes on with an invented turn that has a label and no mark ("User: ..."), or None."""
    conversation = _CONVERSATION.search(text)
    if conversation and text[: conversation.start()].strip() and conversation[1] not in ground:
        return conversation.start()
    for pattern, after_blank_line in ((_TURN, False), (_TURN_LABEL, True)):
        for turn in pattern.finditer(text):
            before = text[: turn.start()]
            if after_blank_line and not before[-4:].replace("\r", "").endswith("\n\n"):
                continue
            line = text[turn.start() : turn.start() + _LONGEST_LINE].partition("\n")[0]
            # Words of the input under a single label may be part of the answer; conversations have two sides.
            alone = len(_TURN_LABEL.findall(text, turn.start())) < 2 and ground.lost(text[turn.end() :], before)
            if before.strip() and fold(line) not in ground.lines and not (after_blank_line and alone):
                return turn.start()
            break
    return None


def is_quoted(text: str, start: int, end: int, ground: Ground) -> bool:
    """Say whether a mark in an answer is a quotation of the input.

    It has to stand in the input; at the beginning or end of a line, where models put their own, the whole line has to.
    """
    if text[start:end] not in ground:
        return False
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = line_end if line_end != -1 else len(text)
    before, behind = text[line_start:start].rstrip(), text[end:line_end].lstrip()
    # A value of its own: in quotes, or all that stands behind a key.
    in_quotes = before[-1:] and before[-1] in "\"'`|" and behind[:1] == before[-1]
    if in_quotes or (_KEY.fullmatch(before) and behind in ("", ",")):
        return True
    inside = before.strip(_QUOTES) and behind.strip(_QUOTES)
    line = text[line_start:line_end].strip(_QUOTES + "-*•>") if line_end - line_start <= _LONGEST_LINE else ""
    return bool(inside) or line in ground


class _Reader:
    def __init__(self, text: str, ground: Ground, tokens: Tokens) -> None:
        self._text, self._tokens = text, tokens
        self._awaited: frozenset[str] = frozenset()
        marks = tokens.marks(text)
        first, is_block = self._first_pair(marks, ground)
        self._marks: list[Mark] = []
        for mark in marks:
            # What the answer itself has opened it also closes, whatever the input says.
            quoted = is_quoted(text, mark.start, mark.end, ground)
            if mark in first:
                quoted = not is_block
            if mark.name in self._awaited or not quoted:
                self._marks.append(mark)
                self._awaited = self._tokens.closers.get(mark.name, frozenset())
        self._pieces: list[Piece] = []
        self._boxes: list[tuple[int, int]] = []
        self._position = 0
        self._answered = False
        for opening, close in tokens.announcements:
            begun = opening.match(text, len(text) - len(text.lstrip()))
            ended = close.search(text, begun.end()) if begun and begun.group() not in ground else None
            if ended:
                self._add(ended.end(), "reasoning_block")
                break

    def read(self) -> Envelope:
        for number, mark in enumerate(self._marks):
            if mark.start < self._position:
                continue
            self._add(mark.start, "answer")
            if mark.kind is Kind.OPEN:
                close = self._close(number)
                self._add(len(self._text) if close is None else close, "reasoning_block")
                if close is None:
                    return Envelope(tuple(self._pieces), unterminated=True)
            elif mark.kind is Kind.CLOSE:
                self._orphan(mark)
            elif mark.kind in (Kind.BOX_OPEN, Kind.BOX_CLOSE):
                self._box(number, mark)
            elif mark.kind is Kind.CONTROL:
                self._add(mark.end, "control_token")
            else:
                self._turn(number, mark)
        self._add(len(self._text), "answer")
        return Envelope(tuple(self._pieces), unterminated=False, boxes=tuple(self._boxes))

    def _turn(self, number: int, mark: Mark) -> None:
        """Take a mark that begins or ends a turn or a channel."""
        if mark.kind is not Kind.FINAL and self._answered and not self._final_follows(number):
            ends = mark.kind is Kind.END and not self._text[mark.end :].strip()
            self._add(len(self._text), "control_token" if ends else "invented_turn")
            return
        self._before_is_thought()
        if mark.kind is Kind.OTHER:
            # The prompt, written once more; without a turn of the model's own there is no answer in it.
            own = next((later for later in self._marks[number:] if later.kind is Kind.HEADER), None)
            self._add(own.start if own else len(self._text), "invented_turn" if own else "answer")
        else:
            self._add(mark.end, "control_token" if mark.kind is Kind.END else "role_header")

    def _box(self, number: int, mark: Mark) -> None:
        """Take one side of a box; without the other, the first begins the answer and the last ends it."""
        close = self._box_end(number) if mark.kind is Kind.BOX_OPEN else None
        if close is not None and len(self._boxes) < _MOST_BOXES:
            self._boxes.append((mark.end, close.start))
        if mark.kind is Kind.BOX_OPEN:
            self._add(mark.end, "role_header" if close is None and not self._answered else "answer_box")
        else:
            self._add(mark.end, "control_token" if not self._boxes and self._is_last(number) else "answer_box")

    def _first_pair(self, marks: list[Mark], ground: Ground) -> tuple[tuple[Mark, ...], bool]:
        """Return the marks of a block that the answer begins with, and whether it is one.

        Where the input has such marks, too, they may be the first words of a sentence about them: it goes on behind the
        second one.
        """
        if not marks or marks[0].kind is not Kind.OPEN or self._text[: marks[0].start].strip():
            return (), False
        opening = marks[0]
        closers = self._tokens.closers.get(opening.name, frozenset())
        close = next((mark for mark in marks if mark.name in closers), None)
        if close is None or not self._text[close.end :].strip() or self._text[opening.end : close.start] in ground:
            return (), False
        named = self._text[opening.start : opening.end] in ground
        return (opening, close), not named or self._text[close.end :].lstrip(" ").startswith("\n")

    def _add(self, end: int, part: Part) -> None:
        if end > self._position:
            self._answered = self._answered or (part == "answer" and bool(self._text[self._position : end].strip()))
            self._pieces.append(Piece(self._position, end, part))
            self._position = end

    def _before_is_thought(self) -> None:
        if self._answered:
            self._pieces = [p._replace(part="reasoning_block") if p.part == "answer" else p for p in self._pieces]
            self._answered = False

    def _final_follows(self, number: int) -> bool:
        return any(mark.kind is Kind.FINAL for mark in self._marks[number:])

    def _is_last(self, number: int) -> bool:
        """Say whether nothing but further marks follows a mark."""
        ends = [mark.end for mark in self._marks[number : number + _MOST_BOXES]]
        starts = [mark.start for mark in self._marks[number + 1 : number + _MOST_BOXES]] + [len(self._text)]
        return not any(self._text[end:start].strip() for end, start in zip(ends, starts, strict=False))

    def _orphan(self, mark: Mark) -> None:
        """Take what stands before a closing mark for thought that the prompt opened; at the end it is a stray mark."""
        closed_before = any(p.part == "reasoning_block" for p in self._pieces)
        if closed_before and self._answered and not self._text[mark.end :].strip():
            self._add(mark.end, "control_token")
            return
        self._before_is_thought()
        self._add(mark.end, "reasoning_block")

    def _close(self, number: int) -> int | None:
        """Return where the reasoning ends that a mark opens, None where nothing ends it."""
        opening = self._marks[number]
        closers = self._tokens.closers.get(opening.name, frozenset())
        in_channel = "<|end|>" in closers
        later = self._marks[number + 1 :]
        for mark in later:
            if mark.name in closers:
                return mark.end
            if in_channel and (mark.kind is Kind.FINAL or mark.kind is Kind.OPEN or mark.kind is Kind.HEADER):
                return mark.start
        # A block that is closed with another family's mark, not with that of a block within it.
        inner: set[str] = set()
        for mark in later:
            if mark.kind is Kind.OPEN:
                inner |= self._tokens.closers.get(mark.name, frozenset())
            elif mark.kind is Kind.CLOSE and mark.name not in inner:
                return mark.end
        return None

    def _box_end(self, number: int) -> Mark | None:
        closers = self._tokens.closers.get(self._marks[number].name, frozenset())
        later = self._marks[number + 1 : number + 1 + _MOST_MARKS_IN_BOX]
        return next((mark for mark in later if mark.name in closers), None)
