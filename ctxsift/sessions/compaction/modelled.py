"""Methods with a model: spans in pieces that fit, answers checked, asked once more, rules where it fails."""

from __future__ import annotations

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from ctxsift.backends.base import Generation, Limits, LogProbability
from ctxsift.errors import BackendError, LoadError, PromptTooLongError, RefusedError
from ctxsift.prompts import Message
from ctxsift.sessions.compaction.anchored import Anchored, merged
from ctxsift.sessions.compaction.checking import CheckedAnswer, Wanted, check
from ctxsift.sessions.compaction.entries import EMPTY, entries_of
from ctxsift.sessions.compaction.journal import CompactionJournal, LineScores, key_of, key_of_text
from ctxsift.sessions.compaction.lines import without_marks
from ctxsift.sessions.compaction.opaque import Opaque
from ctxsift.sessions.compaction.prompts import (
    ModelQuestion,
    TranscriptPiece,
    anchored_question,
    most_tokens,
    pieces,
    regenerative_question,
    section_question,
)
from ctxsift.sessions.compaction.records import CompactionSummary, Cycle, Method
from ctxsift.sessions.compaction.regenerative import Regenerative
from ctxsift.sessions.compaction.weights import SECTIONS

# A token has about so many characters at least; what is longer in tokens is halved.
_CHARACTERS_PER_TOKEN = 3
# Of a prompt beside transcript and summary, in tokens.
_SCAFFOLD = 500
_LEAST_PIECE = 1_000
_LEAST_ANSWER, _LEAST_SECTION = 256, 160
_MOST_FAILURES = 2


class SummaryModel(Protocol):
    """A model that is loaded.

    Attributes:
        identity: what tells it from others, with how it was loaded; answers are known by it.
        context_tokens: of prompt and answer together; 0 where there is no limit.

    """

    @property
    def identity(self) -> str: ...  # noqa: D102

    @property
    def context_tokens(self) -> int: ...  # noqa: D102

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer once. Raises BackendError, after whatever may pass was tried again."""
        ...

    def log_probabilities(self, text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is. Raises BackendError."""
        ...


@dataclass(frozen=True, slots=True)
class Took:
    """What an answer of a model took; counts are None where nobody tells."""

    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float


class UnusableAnswerError(BackendError):
    """A model answered, once more after a bad answer, and none of its answers can be used."""


class Asker:
    """Asks a model with a journal between.

    Args:
        model: is asked what the journal has no answer to.
        journal: None keeps none.
        told: called before each question that goes to the model, with the words that name the piece.

    Attributes:
        asked: questions that went to the model.
        took: what each answer took, those of the journal as well; whoever wants to know empties it.

    """

    def __init__(
        self, model: SummaryModel, journal: CompactionJournal | None, told: Callable[[str], None] = lambda _: None
    ) -> None:
        self.model, self.asked = model, 0
        self.took: list[Took] = []
        self._journal, self._told = journal, told

    def room(self, budget: int, summary_tokens: int = 0) -> int:
        """Return how many characters a piece may have."""
        context = self.model.context_tokens
        if not context:
            return 10**9
        left = context - limits_of(budget).max_output_tokens - _SCAFFOLD - summary_tokens
        return max(_LEAST_PIECE, left * _CHARACTERS_PER_TOKEN)

    def answer(self, messages: Sequence[Message], limits: Limits, part: str) -> Generation:
        """Return an answer. Raises BackendError."""
        key = key_of(self.model.identity, messages, limits)
        generation = self._journal.get(key) if self._journal is not None else None
        if generation is None:
            self._told(part)
            self.asked += 1
            generation = self.model.generate(messages, limits)
            if self._journal is not None:
                generation = self._journal.put(key, generation)
        seconds = generation.total_ms / 1000
        self.took.append(Took(generation.prompt_tokens, generation.completion_tokens, seconds))
        return generation

    def scores(self, text: str, scored: Callable[[Sequence[LogProbability]], list[float]]) -> list[float]:
        """Return what `scored` makes of the log-probabilities of a text's tokens. Raises BackendError."""
        key = key_of_text(self.model.identity, text)
        found = self._journal.scores(key) if self._journal is not None else None
        if found is None:
            self._told(f"{len(text):,} characters")
            self.asked += 1
            begun = time.monotonic()
            tokens = self.model.log_probabilities(text)
            found = LineScores(scored(tokens), len(tokens), time.monotonic() - begun)
            if self._journal is not None:
                self._journal.put_scores(key, found)
        self.took.append(Took(found.tokens, 0, found.seconds))
        return list(found.scores)

    def points(self, ask: Callable[[str, int], ModelQuestion], cycle: Cycle, piece: TranscriptPiece) -> str:
        """Return notes on a piece, asked for section by section; a model that reads a beginning once reads it once.

        Args:
            ask: returns the question for a section, given how many tokens the answer may have.
            cycle: whose budget no answer may exceed.
            piece: of its span, what is summarised.

        Raises:
            UnusableAnswerError: no section has a point.
            BackendError: there is no answer.

        """
        most = max(_LEAST_SECTION, most_tokens(cycle.budget, piece) // 3)
        told: list[str] = []
        defect = ""
        for section in SECTIONS:
            question = ask(section, most)
            generation = self.answer(question.messages, Limits(most), f"{piece.name}: {section}")
            found = check(
                generation, Limits(most), Wanted(piece.text, cycle.tokens, question.task, cycle.budget, is_list=True)
            )
            # What is no bullet is chatter, or worse.
            lines = [] if found.defect else [raw for raw in found.text.splitlines() if without_marks(raw)[1]]
            defect = found.defect or "it had no point"
            told.append("\n".join((f"## {section}", *(lines or [EMPTY]))))
        notes = "\n".join(told)
        if next(entries_of(notes), None) is None:
            raise UnusableAnswerError(f"answers to {piece.name} cannot be used, the last one since {defect}")
        return notes

    def checked(
        self,
        ask: Callable[[int, str], ModelQuestion],
        cycle: Cycle,
        piece: TranscriptPiece,
        previous: str = "",
        sections: Sequence[str] = (),
        attempts: int = 2,
    ) -> str:
        """Return the text of an answer that passed its checks.

        Args:
            ask: returns the question, given how many tokens the answer may have, and what was wrong with the answer
                before (empty the first time).
            cycle: whose budget no answer may exceed.
            piece: of its span, what is summarised.
            previous: what the answer covers as well.
            sections: that must be there.
            attempts: how often it is asked.

        Raises:
            UnusableAnswerError: none passed.
            BackendError: there is none.

        """
        most = most_tokens(cycle.budget, piece, previous)
        limits = limits_of(most)
        found = CheckedAnswer("")
        for _ in range(attempts):
            question = ask(most, found.defect)
            generation = self.answer(question.messages, limits, piece.name)
            wanted = Wanted(piece.text, cycle.tokens, question.task, cycle.budget, sections)
            found = check(generation, limits, wanted)
            if not found.defect:
                return found.text
        raise UnusableAnswerError(f"answers to {piece.name} cannot be used, the last one since {found.defect}")


def limits_of(budget: int) -> Limits:
    """Return the limit of an answer: its budget, which is an estimate, and half as much to end a sentence."""
    return Limits(max(_LEAST_ANSWER, budget + budget // 2))


class Modelled(ABC):
    """A method with a model, and one by rules where the model fails. A package may register a class of this kind.

    Args:
        asker: asks the model.
        by_rules: makes the summary of a cycle for which the model has none.

    """

    takes_budget = True
    must_shrink = True
    # It is made with an Asker.
    needs_model = True

    def __init__(self, asker: Asker, by_rules: Method | None = None) -> None:
        self.asker = asker
        self._by_rules = by_rules or Anchored()
        self._failures = 0
        self._given_up = ""

    def compact(self, cycle: Cycle) -> CompactionSummary:
        """Return what the model makes of a cycle, or what rules make of it, with the reason."""
        reason = self._given_up
        if not reason:
            try:
                made = self.with_model(cycle)
                self._failures = 0
                return made
            except UnusableAnswerError as error:
                reason = str(error)
            except BackendError as error:
                reason = str(error)
                self._failures += 1
                if isinstance(error, LoadError | RefusedError) or self._failures >= _MOST_FAILURES:
                    self._given_up = f"the model is asked no more ({reason})"
        made = self._by_rules.compact(cycle)
        return CompactionSummary(made.text, made.entries, fallback=reason)

    @abstractmethod
    def with_model(self, cycle: Cycle) -> CompactionSummary:
        """Return what the model makes of a cycle. Raises UnusableAnswerError or BackendError."""

    def in_pieces(self, cycle: Cycle, room: int, each: Callable[[TranscriptPiece], None]) -> None:
        """Call `each` for the pieces of a span; where one does not fit, for smaller ones of it."""
        waiting = list(pieces(cycle.span, room))
        while waiting:
            piece = waiting.pop(0)
            try:
                each(piece)
            except PromptTooLongError as error:
                if len(piece.text) < 2 * _LEAST_PIECE:
                    raise
                share = min(0.5, 0.9 * error.room / max(1, error.prompt_tokens))
                waiting[:0] = piece.parts(max(_LEAST_PIECE, int(len(piece.text) * share)))


class ModelledAnchored(Modelled):
    """The model writes notes on what is cut off; rules merge them into the summary, section by section."""

    def with_model(self, cycle: Cycle) -> CompactionSummary:
        """Return the summary with the model's notes merged into it. Raises BackendError."""
        notes: list[str] = []

        def note(piece: TranscriptPiece) -> None:
            def ask(most: int, defect: str) -> ModelQuestion:
                return anchored_question(piece, most, defect)

            try:
                notes.append(self.asker.checked(ask, cycle, piece, sections=SECTIONS, attempts=1))
            except UnusableAnswerError:
                notes.append(self.asker.points(partial(section_question, piece), cycle, piece))

        self.in_pieces(cycle, self.asker.room(cycle.budget), note)
        return merged(cycle, [entry for text in notes for entry in entries_of(text)])


class ModelledRegenerative(Modelled):
    """The model writes the whole summary anew, from the previous one and each piece of the span."""

    def __init__(self, asker: Asker) -> None:
        super().__init__(asker, Regenerative())

    def with_model(self, cycle: Cycle) -> CompactionSummary:
        """Return the model's summary. Raises BackendError."""
        summary = cycle.previous.text

        def rewrite(piece: TranscriptPiece) -> None:
            nonlocal summary

            def ask(most: int, defect: str) -> ModelQuestion:
                return regenerative_question(summary, piece, most, defect)

            summary = self.asker.checked(ask, cycle, piece, summary)

        self.in_pieces(cycle, self.asker.room(cycle.budget, cycle.budget), rewrite)
        return CompactionSummary(summary)


class ModelledOpaque(Modelled):
    """The lines that the model finds least likely, each token given all that stands before it in its piece."""

    def __init__(self, asker: Asker) -> None:
        super().__init__(asker, Opaque())

    def with_model(self, cycle: Cycle) -> CompactionSummary:
        """Return the lines that surprise the model most. Raises BackendError."""
        return Opaque(self._surprise).compact(cycle)

    def _surprise(self, lines: Sequence[str]) -> list[float]:
        room = self.asker.room(0)
        scores: list[float] = []
        held: list[str] = []
        for line in (*lines, None):
            if held and (line is None or sum(map(len, held)) + len(held) + len(line) > room):
                scores += self._of_piece(held)
                held = []
            if line is not None:
                held.append(line)
        return scores

    def _of_piece(self, lines: Sequence[str]) -> list[float]:
        """Return the mean surprise of each line's tokens, in nats; halves the piece where it does not fit."""
        try:
            return self.asker.scores("\n".join(lines), lambda tokens: by_line(lines, tokens))
        except PromptTooLongError:
            if len(lines) < 2:
                raise
            half = len(lines) // 2
            return [*self._of_piece(lines[:half]), *self._of_piece(lines[half:])]


def by_line(lines: Sequence[str], tokens: Sequence[LogProbability]) -> list[float]:
    """Return the mean of what each line's tokens are unlikely, in nats, for tokens of the lines joined by breaks."""
    ends = list(itertools.accumulate(len(line) + 1 for line in lines))
    sums, counts = [0.0] * len(lines), [0] * len(lines)
    at = 0
    for token in tokens:
        while at < len(ends) - 1 and token.start >= ends[at]:
            at += 1
        if token.value is not None:
            sums[at] -= token.value
            counts[at] += 1
    return [total / count if count else 0.0 for total, count in zip(sums, counts, strict=True)]


MODELLED: dict[str, Callable[[Asker], Method]] = {
    "anchored": ModelledAnchored,
    "regenerative": ModelledRegenerative,
    "opaque": ModelledOpaque,
}
