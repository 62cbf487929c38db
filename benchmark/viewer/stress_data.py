"""Files of stress experiments as records of the page; tables, sentences and charts are those of `benchmark.stress`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmark.stress.charts import StressPicture, write_charts
from benchmark.stress.reading import QUESTIONS, StressTable, experiment_of, read_experiment
from benchmark.viewer.chart_records import TableColumn
from benchmark.viewer.stress_records import StressChart, StressPack, StressSection
from ctxsift.errors import InputError
from ctxsift.files import read_text
from ctxsift.terminal import one_line

_MOST_MB = 64


@dataclass(frozen=True)
class StressFile:
    """A file of an experiment that the page shows."""

    path: Path
    table: StressTable


def is_stress_file(path: Path) -> bool:
    """Return True if a file is that of an experiment, whatever its name; its figures may be damaged."""
    try:
        return experiment_of(json.loads(read_text(path, "", most_mb=_MOST_MB))) is not None
    except (InputError, ValueError, RecursionError):
        return False


def read_stress_files(paths: Sequence[Path], skipped: list[InputError]) -> tuple[StressFile, ...]:
    """Return the experiments in files; what is wrong with a file that is left out is added to `skipped`."""
    found = []
    for path in paths:
        document = json.loads(read_text(path, "", most_mb=_MOST_MB))
        try:
            name = experiment_of(document)
            assert name is not None
            found.append(StressFile(path, read_experiment(name, document)))
        except msgspec.ValidationError as error:
            hint = "run the experiment again"
            skipped.append(InputError(str(path), f"is a damaged file of an experiment ({error})", hint))
    # In the order of the document, whatever the files are called.
    names = list(QUESTIONS)
    return tuple(sorted(found, key=lambda each: (names.index(each.table.name), str(each.path))))


def stress_pack(files: Sequence[StressFile]) -> StressPack:
    """Return all that the view shows."""
    return StressPack(sections=[_section(number, each) for number, each in enumerate(files, 1)])


def _section(number: int, file: StressFile) -> StressSection:
    table = file.table
    return StressSection(
        id=f"{table.name}-{number}",
        title=QUESTIONS[table.name],
        file=one_line(file.path.name),
        about=one_line(table.about),
        titles=list(table.titles),
        rows=[list(map(one_line, row)) for row in table.rows],
        lines=list(map(one_line, table.lines)),
        charts=[_chart(each) for each in table.pictures],
    )


def _chart(picture: StressPicture) -> StressChart:
    return StressChart(
        title=picture.title,
        specification=picture.specification() | {"description": picture.about, "width": "container"},
        data={name: [dict(row) for row in rows] for name, rows in picture.data.items()},
        columns=[TableColumn(field=name, title=title) for name, title in picture.columns.items()],
    )


def write_stress_charts(files: Sequence[StressFile], folder: Path, form: str) -> list[Path]:
    """Write the charts of each file as `form` (png or svg) into `folder`, and return the files. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, each in enumerate(files, 1):
        if each.table.pictures:
            path = folder / f"stress-{number}-{each.table.name}.{form}"
            write_charts(each.table.pictures, path)
            written.append(path)
    return written
