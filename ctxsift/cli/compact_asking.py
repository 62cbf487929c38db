"""The model side of `ctxsift compact`: what is told before and while a model is asked, its journal, its failures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status

from ctxsift.backends.base import Ability
from ctxsift.cli.compact_model import SessionModel
from ctxsift.cli.passing import note
from ctxsift.errors import BackendError, InputError
from ctxsift.rich_text import plain_text
from ctxsift.sessions.compaction.endpoint import EndpointOpaque
from ctxsift.sessions.compaction.journal import journal_beside
from ctxsift.sessions.compaction.methods import by_rules, create_method, method_with_model, parted
from ctxsift.sessions.compaction.modelled import Asker
from ctxsift.sessions.compaction.opaque import Opaque
from ctxsift.sessions.compaction.prompts import pieces
from ctxsift.sessions.compaction.records import Compacted, Cut, Method, span_between
from ctxsift.sessions.compaction.transcript import tokens_in, tokens_of
from ctxsift.settings import load_settings

if TYPE_CHECKING:
    import argparse

    from ctxsift.sessions.records import Step

EXIT_FALLBACK = 3


class CompactionModel:
    """A model for one run of the command.

    Args:
        options: of the command.
        name: of the method, with or without `+index`.

    Attributes:
        by_rules: name of the method that makes the summaries once the model is asked no more.

    Raises:
        InputError: there is no such backend, no service to ask, or the method asks no model.

    """

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        self._base, _ = parted(name)
        self.by_rules = by_rules(name)
        method_with_model(name)
        settings = load_settings(options.env_file)
        self.model = SessionModel(options, settings)
        if self.model.is_service and options.keep_secrets:
            raise InputError("--keep-secrets", "cannot be used with a service: secrets are never sent", "leave it out")
        if self.model.is_service and (missing := settings.missing_for_service()):
            raise InputError("--remote", missing)
        self._settings, self._timeout_s = settings, options.timeout
        self.journal = journal_beside(options.journal, options.output)
        self._is_own_journal = options.journal is None
        self.asker = Asker(self.model, self.journal, self._tell)
        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._status = Status("", console=console) if console.is_terminal else None

    def method(self) -> Method:
        """Return the method that asks the model."""
        if self._base == "opaque" and self.model.is_service:
            return EndpointOpaque(self._settings, self.model.name, self._timeout_s)
        if self._base == "opaque" and Ability.LOG_PROBABILITIES not in self.model.abilities:
            note("this backend has no log-probabilities; ranking lines by word rarity instead")
            return Opaque()
        return create_method(self._base, asker=self.asker)

    def announce(self, steps: Sequence[Step], cuts: Sequence[Cut], first: int, budget: int) -> None:
        """Say what a service will be sent, before anything is."""
        if not self.model.is_service or not cuts:
            return
        gone = span_between(steps, first, cuts[-1].first_kept)
        if self._base == "opaque":
            size, questions = tokens_of(gone), len(cuts)
        else:
            parts = [piece.text for piece in pieces(gone, self.asker.room(budget))]
            size, questions = sum(tokens_in(text) for text in parts), max(len(parts), len(cuts))
        where = f"steps {gone[0].step_id} to {gone[-1].step_id}"
        plural = "s" if questions > 1 else ""
        note(f"sending {where} to {self.model.host}: about {size:,} tokens in at least {questions} question{plural}")

    def _tell(self, part: str) -> None:
        told = f"asking {self.model.name} about {part}"
        if self._status is None:
            note(told)
            return
        self._status.update(plain_text(f"{told} (question {self.asker.asked + 1})"))
        self._status.start()

    def _still(self) -> None:
        """Take the line off the terminal that tells what is being asked."""
        if self._status is not None:
            self._status.stop()

    def ended(self, made: Sequence[Compacted], *, goes_on: bool = False) -> int:
        """Say what was made by rules after all; return the exit code.

        Unless rules made a summary or the session goes on, the journal is deleted.
        """
        self._still()
        if self.journal is not None and (loss := self.journal.loss) is not None:
            note(f"{self.journal.path}: answers could not be saved ({loss.strerror or loss})")
        failed = [each for each in made if each.fallback]
        if failed:
            what = f"{len(failed)} of {len(made)} summaries were" if len(made) > 1 else "the summary was"
            note(f"{what} made by rules: {failed[-1].fallback}")
            return EXIT_FALLBACK
        if self.journal is not None and self._is_own_journal and not (goes_on or self.journal.has_cuts):
            with contextlib.suppress(OSError):
                self.journal.path.unlink(missing_ok=True)
        return 0

    def interrupted(self, kept: Callable[[], list[Compacted]]) -> list[Compacted]:
        """End the model; return what rules make of the session."""
        self._still()
        self.model.kill()
        where = f"; answers so far are in {self.journal.path}" if self.journal is not None else ""
        note(f"interrupted; using the rule-based summary{where}")
        return kept()

    def close(self, *, at_once: bool) -> None:
        """Free the model; `at_once` where somebody else may be waiting for its answer yet."""
        self._still()
        if at_once:
            self.model.kill()
            return
        with contextlib.suppress(BackendError):
            self.model.close()
