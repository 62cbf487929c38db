"""What an earlier part of a run left behind: the answers that are there already, and whether it was the same run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmark.corpus import Case, Corpus
from benchmark.matrix import Scenario
from benchmark.run.environment import Sample
from benchmark.run.journal import JOURNAL_VERSION, SUFFIX, read_journal
from ctxsift.backends.base import Generation, LoadInfo
from ctxsift.compress import Answer
from ctxsift.errors import InputError, did_you_mean
from ctxsift.files import exists

_GENERATION = tuple(Generation.__dataclass_fields__)
# Of the first line, these may differ: they say when, where and how it is scored, not what was asked.
_NOT_IDENTITY = {"type", "journal_version", "began", "pid", "host", "at_s", "case_ids", "scorer_version", "timestamp"}
_LONGEST_IDENTITY = 10_000_000
# Of a loaded model, these may differ: how long it took, and why its settings came to be.
_NOT_LOAD = {"load_ms", "settings.canary"}


@dataclass(frozen=True)
class KeptAnswer:
    """An answer that is there already, as its line in the journal says."""

    answer: Answer
    attempt: int
    elapsed_ms: float
    rss_bytes: int | None


@dataclass(frozen=True)
class Past:
    """The journal of a run that went before.

    Attributes:
        path: of the journal.
        identity: its first line.
        load: the model as it was loaded last; None if it never was.
        answers: resume key -> the last answer under it.
        samples: of the machine, one an answer.
        wall_s: seconds from the start of each part to its last line, together.

    """

    path: Path
    identity: dict[str, Any]
    load: LoadInfo | None
    answers: dict[str, KeptAnswer]
    samples: tuple[Sample, ...]
    wall_s: float

    @property
    def scenario_name(self) -> str:
        """The scenario it is of."""
        return str(self.identity["scenario"]["name"])


def read_past(path: Path) -> Past:
    """Read the journal of an earlier run.

    Raises:
        InputError: it is damaged, or of another version.

    """
    records = read_journal(path)
    identity = records[0]
    version = identity.get("journal_version")
    if version != JOURNAL_VERSION:
        raise InputError(f"{path}:1", f"journal version {str(version)[:20]} is not {JOURNAL_VERSION}", "run it anew")
    load: LoadInfo | None = None
    answers: dict[str, KeptAnswer] = {}
    samples: list[Sample] = []
    wall_s = part_s = 0.0
    for number, record in enumerate(records, 1):
        try:
            if record["type"] in ("run", "resumed"):
                wall_s, part_s = wall_s + part_s, 0.0
            part_s = float(record["at_s"])
            if record["type"] == "loaded":
                load = LoadInfo(**{name: record[name] for name in LoadInfo.__dataclass_fields__})
            elif record["type"] == "generation":
                answers[record["key"]] = _kept(record)
                samples += [Sample(**record["machine"])] if record["machine"] else []
        except (KeyError, TypeError, ValueError) as error:
            what = f"the journal is damaged ({type(error).__name__}: {error})"
            raise InputError(f"{path}:{number}", what, "move it away and run again") from error
    return Past(path, identity, load, answers, tuple(samples), wall_s + part_s)


def _kept(record: dict[str, Any]) -> KeptAnswer:
    generation = Generation(**{name: record[name] for name in _GENERATION})
    answer = Answer(generation, record["input_chars_cut"])
    return KeptAnswer(answer, record["attempt"], record["elapsed_ms"], record["rss_bytes"])


def finished(journal: Path, *, retry_failed: bool = False) -> bool:
    """Say whether the run of a journal has nothing left to ask, by the result beside it."""
    result = journal.with_name(journal.name.removesuffix(SUFFIX) + ".json")
    try:
        record = json.loads(result.read_text(encoding="utf-8"))
        complete = bool(record["run"]["complete"])
        failed = bool(record["summary"]["model_failure_counts"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
    return complete and not (retry_failed and failed)


def find_journals(path: Path) -> list[Path]:
    """Return the journals below `path` (results tree, run folder, journal). Raises InputError when there are none."""
    if not exists(path):
        raise InputError(str(path), "no such file or folder", "name a run folder or a results tree")
    journals = [path] if path.is_file() else sorted(path.rglob(f"*{SUFFIX}"))
    if not journals:
        raise InputError(str(path), "holds no journal of a run", "name a run folder or a results tree")
    return journals


def check_identity(past: Past, now: dict[str, Any]) -> None:
    """Raise InputError naming all that differs between the run of then and the one that would go on with it."""
    before = {name: value for name, value in past.identity.items() if name not in _NOT_IDENTITY}
    after = {name: value for name, value in now.items() if name not in _NOT_IDENTITY}
    _refuse(past, _differences(_flat(before), _flat(after)))


def check_load(past: Past, load: LoadInfo) -> None:
    """Raise InputError naming all that differs between the model as it was loaded then and as it is now."""
    if past.load is not None:
        before, after = (
            {k: v for k, v in _flat(asdict(each)).items() if k not in _NOT_LOAD} for each in (past.load, load)
        )
        _refuse(past, _differences(before, after))


def _refuse(past: Past, differences: list[str]) -> None:
    if differences:
        what = f"is of another run: {', '.join(differences)}"
        raise InputError(str(past.path), what, "put that back, or run anew without --resume")


def _flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= _flat(inner, f"{before}{name}.") if isinstance(inner, dict) else {before + name: inner}
    return found


def _differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    # What was written as JSON has lists where there were tuples.
    then, now = (json.loads(json.dumps(each)) for each in (before, after))
    names = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    return [f"{name} was {_short(then.get(name))}, is {_short(now.get(name))}" for name in names]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:36]}..."


def cases_of(past: Past, corpus: Corpus) -> tuple[Case, ...]:
    """Return the cases of the run, in its order. Raises InputError when one is gone from the corpus."""
    by_id = {case.case_id: case for case in corpus.cases}
    for case_id in past.identity["case_ids"]:
        if case_id not in by_id:
            raise InputError(f"{past.path}:1", f"case {case_id!r} is not in the corpus", did_you_mean(case_id, by_id))
    return tuple(by_id[case_id] for case_id in past.identity["case_ids"])


def scenario_of(past: Past, scenarios: Sequence[Scenario], matrix: Path) -> Scenario:
    """Return the scenario of the run as the matrix has it now. Raises InputError when it is gone."""
    for scenario in scenarios:
        if scenario.name == past.scenario_name:
            return scenario
    known = [scenario.name for scenario in scenarios]
    mend = f"name its matrix with --matrix ({did_you_mean(past.scenario_name, known)})"
    raise InputError(f"{past.path}:1", f"scenario {past.scenario_name!r} is not in {matrix}", mend)


def unfinished(folder: Path, identity: dict[str, Any]) -> list[tuple[Path, int]]:
    """Return run folders below `folder` with an unfinished run of this identity, and how many answers each holds."""
    wanted = _flat({name: value for name, value in identity.items() if name not in _NOT_IDENTITY})
    found = []
    for journal in sorted(folder.rglob(f"*{SUFFIX}")):
        try:
            # The first line tells most of them apart; there may be hundreds.
            with journal.open("rb") as file:
                first = json.loads(file.readline(_LONGEST_IDENTITY))
            theirs = _flat({name: value for name, value in first.items() if name not in _NOT_IDENTITY})
            if _differences(theirs, wanted) or first["case_ids"] != identity["case_ids"]:
                continue
            past = read_past(journal)
        except (InputError, OSError, ValueError, AttributeError, KeyError, RecursionError):
            continue
        if past.answers and not finished(journal):
            found.append((journal.parent, len(past.answers)))
    return found
