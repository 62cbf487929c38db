"""Which method makes the summaries of `ctxsift compact`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxsift.files import read_text
from ctxsift.sessions.compaction.controls import GivenSummary
from ctxsift.sessions.compaction.methods import DEFAULT_METHOD, create_method

if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.compact_asking import CompactionModel
    from ctxsift.sessions.compaction.records import Method
    from ctxsift.sessions.records import Session

_MOST_MB_OF_SUMMARY = 16


def method_of(
    options: argparse.Namespace, session: Session, asking: CompactionModel | None, *, interrupted: bool = False
) -> tuple[str, Method]:
    """Return the name and the method that options ask for; by rules where asking was interrupted. Raises InputError."""
    if options.compacted:
        text = read_text(options.compacted, "name a file with the summary as text", most_mb=_MOST_MB_OF_SUMMARY)
        return "given", GivenSummary(text.strip())
    name = options.method or DEFAULT_METHOD
    if asking is not None and not interrupted:
        return name, asking.method()
    if asking is not None:
        name = asking.by_rules
    return name, create_method(name, session.standing_compactions)
