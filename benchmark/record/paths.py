"""The files of a run folder: their names, and which belongs beside which."""

from __future__ import annotations

from pathlib import Path

JOURNAL_SUFFIX = ".journal.jsonl"
RESULT_SUFFIX = ".json"
RESULT_SUFFIXES = (RESULT_SUFFIX, f"{RESULT_SUFFIX}.gz")
REPORT_NAME, CASES_NAME = "report.md", "cases.csv"


def journal_path(folder: Path, scenario_name: str) -> Path:
    """Return where the journal of a scenario is."""
    return folder / f"{scenario_name}{JOURNAL_SUFFIX}"


def result_path(folder: Path, scenario_name: str) -> Path:
    """Return where the result of a scenario is."""
    return folder / f"{scenario_name}{RESULT_SUFFIX}"


def result_beside(journal: Path) -> Path:
    """Return where the result of a journal's run is, or will be."""
    return result_path(journal.parent, journal.name.removesuffix(JOURNAL_SUFFIX))


def scenario_report_beside(result: Path) -> Path:
    """Return where the report of a scenario is, given its result."""
    return result.with_name(result.name.removesuffix(".gz").removesuffix(RESULT_SUFFIX) + ".md")


def journals_below(folder: Path) -> list[Path]:
    """Return the journals below a folder, in the order of their paths."""
    return sorted(folder.rglob(f"*{JOURNAL_SUFFIX}"))


def report_names(timestamp: str) -> tuple[str, str]:
    """Return the names of report and case table of a run that has no folder of its own."""
    return f"report-{timestamp}.md", f"cases-{timestamp}.csv"
