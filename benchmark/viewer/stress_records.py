"""The records of the view of stress experiments."""

from __future__ import annotations

from benchmark.viewer.chart_records import TableColumn
from benchmark.viewer.page_records import PageRecord


class StressChart(PageRecord, frozen=True, kw_only=True, omit_defaults=False):
    """A chart of an experiment.

    Attributes:
        specification: Vega-Lite, with `about` as its description.
        data: its data sets; the first is what the chart is about.
        columns: of the table of the first data set.

    """

    title: str
    specification: dict[str, object]
    data: dict[str, list[dict[str, object]]]
    columns: list[TableColumn]


class StressSection(PageRecord, frozen=True, kw_only=True, omit_defaults=False):
    """The file of an experiment.

    Attributes:
        id: of its place on the page.
        title: what the experiment asks, in words.
        file: its name.
        about: heading of the table.
        titles, rows: of the table; no rows where no scenario was asked.
        lines: below the table.

    """

    id: str
    title: str
    file: str
    about: str
    titles: list[str]
    rows: list[list[str]]
    lines: list[str]
    charts: list[StressChart]


class StressPack(PageRecord, frozen=True, kw_only=True, omit_defaults=False):
    """All files of experiments that the page shows."""

    sections: list[StressSection]
