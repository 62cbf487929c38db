"""Calibrations of judges: made over labelled answers, kept in files, found by whose they are."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from benchmark.judges.calibration import LabelledAnswer, calibrate
from benchmark.judges.named_judges import Judge
from benchmark.judges.records import Calibration, JudgedTask
from benchmark.record.record_file import RecordFile
from ctxsift.files import write_atomically

CALIBRATIONS = Path("results/calibrations")
CALIBRATION_FILE = RecordFile(Calibration, "calibration of a judge", 1, most_mb=4)


class Labelled(Protocol):
    """A labelled answer, with whatever is known of it beside."""

    @property
    def answer(self) -> LabelledAnswer:
        """The input of judges, and the labels."""
        ...


L = TypeVar("L", bound=Labelled)


def drawn(answers: Sequence[L], most: int | None, seed: int = 0) -> list[L]:
    """Return at most so many of labelled answers, as many of each session as of any other; all where it is None."""
    if most is None or most >= len(answers):
        return list(answers)
    by_session: dict[str, list[L]] = {}
    for each in answers:
        by_session.setdefault(each.answer.session, []).append(each)
    # One generator for all: with one each, sessions of the same size would be shuffled in the same order.
    generator = random.Random(seed)
    shuffled = [generator.sample(some, len(some)) for _, some in sorted(by_session.items())]
    turns = [each for turn in range(len(answers)) for some in shuffled for each in some[turn : turn + 1]]
    return turns[:most]


def calibration_of(answers: Sequence[Labelled], judge: Judge, asked: JudgedTask = JudgedTask.PROBES) -> Calibration:
    """Return how far a judge agrees with labelled answers. Raises as `Judge.verdicts` and `calibrate` do."""
    verdicts = judge.verdicts([each.answer.judged for each in answers])
    return calibrate(
        [each.answer for each in answers],
        verdicts.judged,
        judge=judge.name,
        version=judge.version,
        identity=judge.identity,
        asked=asked,
    )


def known_calibration(
    identity: str, folders: Sequence[Path], asked: JudgedTask = JudgedTask.PROBES
) -> Calibration | None:
    """Return the calibration of a judge over most answers in folders.

    Args:
        identity: of the judge.
        folders: of calibrations; those that are not there are passed over.
        asked: what its answers are to be answers to: a judge may be good for one and not for the other.

    Raises:
        InputError: a file there is damaged.

    """
    paths = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.json"))]
    found = [each for each in map(CALIBRATION_FILE.read, paths) if (each.identity, each.asked) == (identity, asked)]
    return max(found, key=lambda each: each.answers, default=None)


def written(calibration: Calibration, folder: Path) -> Path:
    """Write a calibration into a folder, over an earlier one of the same judge; return its path.

    Raises:
        InputError: it would not be read back.
        OSError: it cannot be written.

    """
    of_probes = calibration.asked is JudgedTask.PROBES
    whose = calibration.identity if of_probes else f"{calibration.asked} {calibration.identity}"
    digest = hashlib.sha256(whose.encode()).hexdigest()[:8]
    path = folder / f"{_file_name(calibration.judge)}-{digest}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, CALIBRATION_FILE.text(calibration, str(path)))
    return path


def _file_name(judge: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in judge)[-80:]
