"""Rows of the matrix as models of compaction: opened once, asked through a journal, what they take counted."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benchmark.matrix import DEFAULT_MATRIX, Scenario
from benchmark.probes.records import CycleCost
from benchmark.record.base import to_json
from benchmark.run.named import Role, chosen, opened_row
from benchmark.run.row_asking import asking_run
from ctxsift.backends.base import Ability, Generation, Limits, LogProbability
from ctxsift.errors import BackendError, InputError
from ctxsift.files import write_atomically
from ctxsift.models.opened import Opened
from ctxsift.prompts import FixedPrompt, Message
from ctxsift.sessions.compaction.journal import CompactionJournal
from ctxsift.sessions.compaction.methods import create_method, method_with_model, parted
from ctxsift.sessions.compaction.modelled import Asker, limits_of
from ctxsift.sessions.compaction.records import Method
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET

# Of prompt and answer; longer spans come in pieces.
CONTEXT_TOKENS = 12_288
# Answers of packaged models to what recorded sessions make a method ask: hours of a small machine.
PACKAGED = Path(__file__).parent / "summaries"
_ROLE = Role("--model", {}, "")


class RowModel:
    """A row of the matrix, loaded with the first question; see ctxsift.sessions.compaction.modelled.SummaryModel."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened

    @property
    def identity(self) -> str:
        """What tells it from others, with how it was loaded. Raises BackendError."""
        return self._opened.identity

    @property
    def context_tokens(self) -> int:
        """Of prompt and answer together. Raises BackendError."""
        return self._opened.load().context_tokens

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        """Answer once. Raises BackendError."""
        return self._opened.ask(FixedPrompt(tuple(messages)), limits).generation

    def log_probabilities(self, text: str) -> Sequence[LogProbability]:
        """Return how likely each token of a text is. Raises BackendError."""
        return self._opened.log_probabilities(text)


def _with_packaged(journal: Path) -> Path:
    """Return a journal; one that is not there yet begins with the packaged answers of its row, if there are any."""
    packaged = PACKAGED / f"{journal.name}.gz"
    if packaged.exists() and not journal.exists():
        write_atomically(journal, gzip.decompress(packaged.read_bytes()))
    return journal


def taken(asker: Asker) -> CycleCost:
    """Return what the answers took since this was asked last."""
    took, asker.took = asker.took, []
    return CycleCost(
        len(took),
        _sum([each.prompt_tokens for each in took]),
        _sum([each.completion_tokens for each in took]),
        sum(each.seconds for each in took),
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


@dataclass
class Models:
    """The models of a run, each opened once.

    Attributes:
        folder: of their journals.
        matrix, env_file, remote: see `asking_run`.
        told: hears what they are asked.

    """

    folder: Path
    matrix: Path = DEFAULT_MATRIX
    env_file: Path | None = None
    remote: bool = False
    told: Callable[[str], None] = field(default=lambda _: None)
    _opened: dict[str, Opened] = field(default_factory=dict)
    _askers: dict[str, Asker] = field(default_factory=dict)

    def check(self, method: str, row: str) -> None:
        """Raise InputError where a method asks no model, or a row cannot be asked for it."""
        method_with_model(method)
        opened = self._open(row)
        if parted(method)[0] == "opaque" and Ability.LOG_PROBABILITIES not in opened.abilities:
            problem = "has no log-probabilities, which opaque needs to choose lines"
            raise InputError(f"{_ROLE.option} {row}", problem, "name another row, or method")

    def identity(self, row: str) -> str:
        """Return what tells a row from others, without loading it. Raises InputError."""
        return hashlib.sha256(msgspec.json.encode(to_json(self._row(row)), order="sorted")).hexdigest()

    def method(self, name: str, row: str) -> tuple[Method, Asker]:
        """Return a method that asks a row, for one session. Raises InputError."""
        asker = self._askers.get(row)
        if asker is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            journal = CompactionJournal(_with_packaged(self.folder / f"{row}.journal"))
            asker = Asker(RowModel(self._open(row)), journal, lambda part: self.told(f"asking {row} about {part}"))
            self._askers[row] = asker
        return create_method(name, asker=asker), asker

    def close(self, *, at_once: bool = False) -> None:
        """Free them; `at_once` where an answer may be on its way."""
        for opened in self._opened.values():
            if at_once:
                opened.kill()
            with contextlib.suppress(BackendError):
                opened.close()
        self._opened.clear()

    def _row(self, name: str) -> Scenario:
        row = chosen(name, _ROLE, self.matrix)
        if not isinstance(row, Scenario) or row.program:
            raise InputError(
                f"{_ROLE.option} {name}", "is not a model, so it cannot summarise", "name a row that is a model"
            )
        return row

    def _open(self, name: str) -> Opened:
        if name not in self._opened:
            run = asking_run(self.folder, self.env_file, remote=self.remote)
            limits = limits_of(DEFAULT_BUDGET)
            self._opened[name] = opened_row(self._row(name), _ROLE, run, CONTEXT_TOKENS, limits)
        return self._opened[name]
