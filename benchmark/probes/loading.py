"""Reads files of probes, and the sessions they ask about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.probes.acts import Act
from benchmark.probes.model import Probe, ProbeFile, Unanswerable
from benchmark.sessions.loader import RecordedSession, recorded_sessions
from benchmark.statements.lints import refuse_misshapen
from benchmark.typed_input import place_in, read_object
from benchmark.yaml_input import yaml_document
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import exists, read_text

PROBES = "probes.yaml"
_HINT = "see docs/probes.md for the format of a file of probes"
# Many times what any file has; each probe is looked for in the whole of its session.
_MOST_MB, _MOST_ASKED = 1, 500


def read_probes(path: Path) -> ProbeFile:
    """Return the probes in a YAML or JSON file, with the questions that have no answer.

    Raises:
        InputError: a key is unknown, something is missing or misshapen, or an id is used twice; it names the place.

    """
    document = yaml_document(read_text(path, _HINT, most_mb=_MOST_MB), str(path))
    file = read_object(ProbeFile, document, str(path))
    asked = len(file.probes) + len(file.unanswerable) + len(file.acts)
    if asked > _MOST_ASKED:
        raise InputError(str(path), f"asks {asked:,} questions (limit: {_MOST_ASKED})", "remove some")
    seen: set[str] = set()
    placed = [(place_in(str(path), "probes", number), each) for number, each in enumerate(file.probes)]
    for where, probe in placed:
        _refuse_misshapen(probe, where)
    ids = [(where, probe.probe_id) for where, probe in placed]
    ids += [(place_in(str(path), "unanswerable", at), each.probe_id) for at, each in enumerate(file.unanswerable)]
    ids += [(place_in(str(path), "acts", at), each.act_id) for at, each in enumerate(file.acts)]
    for where, name in ids:
        if name in seen:
            raise InputError(place_in(where, "id"), f"{name} is used twice", "rename one")
        seen.add(name)
    return file


@dataclass(frozen=True, slots=True)
class WrittenProbes:
    """Probes that were written for a recorded session.

    Attributes:
        path: of their file.

    """

    recorded: RecordedSession
    path: Path
    probes: tuple[Probe, ...]
    unanswerable: tuple[Unanswerable, ...] = ()
    acts: tuple[Act, ...] = ()


def recorded_named(names: Sequence[str]) -> list[RecordedSession]:
    """Return the recorded sessions of these names, or all; raises InputError for a name that none has."""
    known = {recorded.name: recorded for recorded in recorded_sessions()}
    for name in names:
        if name not in known:
            raise InputError(name, "no recorded session has this name", did_you_mean(name, known))
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
        raise InputError("--probes", "contains probes of one session", "name only that session")
    files = [(recorded, path or recorded.folder / PROBES) for recorded in chosen]
    read = [(recorded, file, read_probes(file)) for recorded, file in files if path or exists(file)]
    return [
        WrittenProbes(recorded, file, found.probes, found.unanswerable, found.acts) for recorded, file, found in read
    ]


def _refuse_misshapen(probe: Probe, where: str) -> None:
    if probe.until is not None and probe.until <= max(probe.evidence):
        problem = f"step {probe.until} is not after the evidence"
        raise InputError(place_in(where, "until"), problem, "name the step that makes the answer wrong")
    if probe.files is None:
        if not probe.statements:
            raise InputError(
                place_in(where, "statements"), "required field is missing", "add statements that a right answer says"
            )
        refuse_misshapen(probe.statements, probe.must_not, where)
    elif probe.statements or probe.must_not:
        problem = "a probe that asks for files cannot have statements, because git knows the right answer"
        raise InputError(place_in(where, "files"), problem, "leave out one of the two")
