"""Which sessions are probed: those that ship."""

from __future__ import annotations

from collections.abc import Sequence

from benchmark.probes.generating import generated
from benchmark.probes.loading import recorded_named, written_probes
from benchmark.probes.measuring import Subject


def recorded_subjects(names: Sequence[str] = ()) -> list[Subject]:
    """Return recorded sessions with the probes that were written for them and those that rules make.

    Args:
        names: of sessions; all of them when empty.

    Raises:
        InputError: there is no session of a name, or a file cannot be read.

    """
    written = {each.recorded.name: each.probes for each in written_probes(names)}
    found = []
    for recorded in recorded_named(names):
        session = recorded.session()
        probes = (*written.get(recorded.name, ()), *generated(session, knows_files=True))
        found.append(Subject(recorded.name, recorded.split, session, probes, tuple(recorded.truth())))
    return found
