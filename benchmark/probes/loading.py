"""Reads files of probes, and the sessions they ask about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.probes.model import Probe, ProbeFile
from benchmark.sessions.loader import RecordedSession, recorded_sessions
from benchmark.statements.lints import refuse_misshapen
from benchmark.typed_input import place_in, read_object
from benchmark.yaml_input import yaml_document
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import exists, read_text

PROBES = "probes.yaml"
_HINT = "docs/probes.md shows how a file of probes looks"
_MOST_MB = 4


def read_probes(path: Path) -> tuple[Probe, ...]:
    """Return the probes in a YAML or JSON file.

    Raises:
        InputError: a key is unknown, something is missing or misshapen, or an id is used twice; it names the place.

    """
    document = yaml_document(read_text(path, _HINT, most_mb=_MOST_MB), str(path))
    probes = read_object(ProbeFile, document, str(path)).probes
    seen: set[str] = set()
    for number, probe in enumerate(probes):
        where = place_in(str(path), "probes", number)
        if probe.probe_id in seen:
            raise InputError(place_in(where, "id"), f"{probe.probe_id} is used twice", "rename one")
        seen.add(probe.probe_id)
        _refuse_misshapen(probe, where)
    return probes


@dataclass(frozen=True, slots=True)
class WrittenProbes:
    """Probes that were written for a recorded session.

    Attributes:
        path: of their file.

    """

    recorded: RecordedSession
    path: Path
    probes: tuple[Probe, ...]


def recorded_named(names: Sequence[str]) -> list[RecordedSession]:
    """Return the recorded sessions of these names, or all; raises InputError for a name that none has."""
    known = {recorded.name: recorded for recorded in recorded_sessions()}
    for name in names:
        if name not in known:
            raise InputError(name, "there is no recorded session of that name", did_you_mean(name, known))
    return [known[name] for name in names or known]


def written_probes(names: Sequence[str] = (), path: Path | None = None) -> list[WrittenProbes]:
    """Return the written probes of the sessions that ship; none of a session that has no file.

    Args:
        names: of sessions; all of them when empty.
        path: the file of probes, of the one session that is named; by default, that beside it.

    Raises:
        InputError: there is no session of a name, or a file is not one of probes.

    """
    chosen = recorded_named(names)
    if path is not None and len(names) != 1:
        raise InputError("--probes", "asks about one session", "name that session, and no other")
    files = [(recorded, path or recorded.folder / PROBES) for recorded in chosen]
    return [WrittenProbes(recorded, file, read_probes(file)) for recorded, file in files if path or exists(file)]


def _refuse_misshapen(probe: Probe, where: str) -> None:
    if probe.until is not None and probe.until <= max(probe.evidence):
        problem = f"step {probe.until} is not after the evidence"
        raise InputError(place_in(where, "until"), problem, "name the step that makes the answer wrong")
    if probe.files is None:
        if not probe.statements:
            raise InputError(place_in(where, "statements"), "required field is missing", "say what a right answer says")
        refuse_misshapen(probe.statements, probe.must_not, where)
    elif probe.statements or probe.must_not:
        problem = "a probe that asks for files has no statements: git knows the files"
        raise InputError(place_in(where, "files"), problem, "leave one of them out")
