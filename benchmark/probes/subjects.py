"""Which sessions are probed: those that ship."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.probes.generating import generated
from benchmark.probes.loading import recorded_named, written_probes
from benchmark.probes.measuring import ProbedSubject


def recorded_subjects(names: Sequence[str] = ()) -> list[ProbedSubject]:
    """Return recorded sessions with the probes that were written for them and those that rules make.

    Args:
        names: of sessions; all of them when empty.

    Raises:
        InputError: there is no session of a name, or a file cannot be read.

    """
    written = {each.recorded.name: each for each in written_probes(names)}
    found = []
    for recorded in recorded_named(names):
        session = recorded.session()
        by_hand = written.get(recorded.name)
        probes = (*(by_hand.probes if by_hand else ()), *generated(session, knows_files=True))
        subject = ProbedSubject(recorded.name, recorded.split, session, probes, tuple(recorded.truth()))
        found.append(replace(subject, unanswerable=by_hand.unanswerable, acts=by_hand.acts) if by_hand else subject)
    return found
