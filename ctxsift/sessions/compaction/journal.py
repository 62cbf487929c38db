"""Answers of a model, and what stood after each cut, on disk as they come: whoever is interrupted goes on there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from ctxsift.backends.base import Generation, Limits
from ctxsift.models.store import Store, StoreEntry
from ctxsift.prompts import Message
from ctxsift.sessions.compaction.prompts import PROMPT_VERSION
from ctxsift.sessions.compaction.records import CompactionSummary, Cut, SummaryEntry

_EARLIER_HEAD = {"format": "ctxsift compaction journal 1"}


def key_of(identity: str, messages: Sequence[Message], limits: Limits) -> str:
    """Return what an answer is known by: the model, how it was loaded, the prompt word by word, the limits."""
    asked = [[message.role, message.content] for message in messages]
    whole = json.dumps([PROMPT_VERSION, identity, asked, limits.max_output_tokens])
    return hashlib.sha256(whole.encode()).hexdigest()


def key_of_text(identity: str, text: str) -> str:
    """Return what scores of a text are known by."""
    return hashlib.sha256(json.dumps([identity, text]).encode()).hexdigest()


class _KeptItem(StoreEntry, frozen=True, kw_only=True, omit_defaults=True):
    """An answer, or scores, or what stood after a cut."""

    generation: Generation | None = None
    scores: list[float] | None = None
    # What the scores took; 0 in journals that do not tell.
    tokens: int = 0
    seconds: float = 0.0
    cut: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.generation is None and self.scores is None and self.cut is None:
            raise ValueError("holds no answer, no scores and no cut")


@dataclass(frozen=True, slots=True)
class LineScores:
    """Scores of a text's lines, with what they took.

    Attributes:
        tokens: that a model read; `seconds`: it took for that. 0 where nobody told.

    """

    scores: Sequence[float]
    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True)
class JournalMark:
    """What tells the first `steps` steps of a session from those of others.

    Attributes:
        length, calls: how much of the message of the last one counts, in characters, and how many of its calls.

    """

    steps: int
    length: int
    calls: int
    digest: str


@dataclass(frozen=True, slots=True)
class CutState:
    """What stood after a cut: whoever goes on from there comes to the same.

    Attributes:
        run: what was followed, and how; see `CompactionJournal.cuts`.
        steps: those up to the cut.
        cut: where.
        summary, index, pending: see `ctxsift.sessions.compaction.running.Compactor.resume`.
        tokens_before, refused: see `ctxsift.sessions.compaction.records.Compacted`.

    """

    run: str
    steps: JournalMark
    cut: Cut
    summary: CompactionSummary
    index: str
    pending: int
    tokens_before: int
    refused: str = ""


def journal_beside(named: Path | None, output: Path | None) -> CompactionJournal | None:
    """Return the journal that is named, or the one beside a result; None where that is no file. Raises InputError."""
    if named is not None:
        return CompactionJournal(named)
    if output is None or not output.parent.is_dir() or output.is_char_device():
        return None
    return CompactionJournal(Path(f"{output}.journal"))


class CompactionJournal:
    """Answers and scores by key, and cuts by run.

    Args:
        path: of the file; made with the first answer.

    Attributes:
        loss: why an answer could not be written down; None while all could. In this process it is known all the same.

    Raises:
        InputError: the file is none of ours, or cannot be read.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.loss: OSError | None = None
        self._store = Store(
            path, _KeptItem, "is no journal of compaction", "name another file with --journal", head=_EARLIER_HEAD
        )

    def get(self, key: str) -> Generation | None:
        """Return an answer that was given before."""
        kept = self._store.get(key)
        return kept.generation if kept else None

    def put(self, key: str, generation: Generation) -> Generation:
        """Write an answer down; return the one that stands, where another run was first."""
        return self._put(_KeptItem(key=key, generation=generation)).generation or generation

    def scores(self, key: str) -> LineScores | None:
        """Return scores that were measured before."""
        kept = self._store.get(key)
        return None if kept is None or kept.scores is None else LineScores(kept.scores, kept.tokens, kept.seconds)

    def put_scores(self, key: str, found: LineScores) -> None:
        """Write scores down."""
        self._put(_KeptItem(key=key, scores=list(found.scores), tokens=found.tokens, seconds=found.seconds))

    def cuts(self, run: str) -> list[CutState]:
        """Return what stood after the cuts of a run, in their order."""
        found = (_standing(kept.cut) for kept in self._store.entries() if kept.cut is not None)
        return [standing for standing in found if standing is not None and standing.run == run]

    @property
    def has_cuts(self) -> bool:
        """Whether anybody follows a session with it."""
        return any(kept.cut is not None for kept in self._store.entries())

    def put_cut(self, standing: CutState) -> None:
        """Write down what stands after a cut."""
        where = [standing.run, standing.steps.digest, standing.cut.after_step, standing.cut.first_kept]
        key = hashlib.sha256(json.dumps(where).encode()).hexdigest()
        self._put(_KeptItem(key=key, cut=msgspec.to_builtins(standing)))

    def _put(self, kept: _KeptItem) -> _KeptItem:
        try:
            return self._store.put(kept)
        except OSError as error:
            self.loss = error
            return kept


def _standing(told: Mapping[str, Any]) -> CutState | None:
    """Return what was written down of a cut; None for what another version wrote."""
    try:
        return _read_standing(told)
    except (KeyError, TypeError, ValueError):
        return None


def _read_standing(told: Mapping[str, Any]) -> CutState:
    summary = told["summary"]
    entries = tuple(msgspec.convert(entry, SummaryEntry) for entry in summary["entries"])
    return CutState(
        str(told["run"]),
        msgspec.convert(told["steps"], JournalMark),
        msgspec.convert(told["cut"], Cut),
        CompactionSummary(str(summary["text"]), entries, tuple(summary["items"]), str(summary["fallback"])),
        str(told["index"]),
        int(told["pending"]),
        int(told["tokens_before"]),
        str(told["refused"]),
    )
