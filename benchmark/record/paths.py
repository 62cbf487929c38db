"""The files of a run folder: their names, and which belongs beside which."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmark.record.journal import Shard
from ctxsift.errors import InputError
from ctxsift.files import exists, files_below

JOURNAL_SUFFIX = ".journal.jsonl"
RESULT_SUFFIX = ".json"
RESULT_SUFFIXES = (RESULT_SUFFIX, f"{RESULT_SUFFIX}.gz")
RUN_REPORTS = ("report.md", "cases.csv")


def shard_folder(run_folder: Path, shard: Shard) -> Path:
    """Return the folder of a shard, given that of its run: no two share one, though they begin in one second."""
    return run_folder.with_name(run_folder.name + _shard_ending(shard))


def shard_folders(folder: Path, shard: Shard) -> list[Path]:
    """Return the folders of this shard, of whatever run, in a results tree."""
    return sorted(folder.glob("*" + _shard_ending(shard)))


def _shard_ending(shard: Shard) -> str:
    return f"-shard-{shard.index}-of-{shard.count}"


def journal_path(folder: Path, scenario_name: str) -> Path:
    """Return where the journal of a scenario is."""
    return folder / f"{scenario_name}{JOURNAL_SUFFIX}"


def result_path(folder: Path, scenario_name: str) -> Path:
    """Return where the result of a scenario is."""
    return folder / f"{scenario_name}{RESULT_SUFFIX}"


def result_beside(journal: Path) -> Path:
    """Return where the result of a journal's run is, or will be."""
    return result_path(journal.parent, journal.name.removesuffix(JOURNAL_SUFFIX))


def results_in(folder: Path) -> list[Path]:
    """Return the results of the runs whose journals are in a folder; those that are not there are left out."""
    return [result for journal in folder.glob(f"*{JOURNAL_SUFFIX}") if (result := result_beside(journal)).is_file()]


def scenario_report_beside(result: Path) -> Path:
    """Return where the report of a scenario is, given its result."""
    return result.with_name(result.name.removesuffix(".gz").removesuffix(RESULT_SUFFIX) + ".md")


def journals_below(folder: Path, unreadable: Callable[[InputError], None]) -> list[Path]:
    """Return the journals below a folder, in the order of their paths; see `files_below`."""
    return list(files_below(folder, (JOURNAL_SUFFIX,), unreadable))


def find_journals(path: Path, unreadable: Callable[[InputError], None]) -> list[Path]:
    """Return the journals below `path` (results tree, run folder, journal).

    Args:
        path: where to look.
        unreadable: called with what is wrong with a folder that is left out.

    Raises:
        InputError: there are none.

    """
    if not exists(path):
        raise InputError(str(path), "no such file or folder", "name a run folder or a results tree")
    journals = (
        [journal for journal in journals_below(path, unreadable) if not _is_empty(journal)] if path.is_dir() else [path]
    )
    if not journals:
        raise InputError(str(path), "contains no journal of a run", "name a run folder or a results tree")
    return journals


def _is_empty(journal: Path) -> bool:
    """Say whether nothing was ever written to a journal: its disk was full, or its writer was killed."""
    return journal.is_file() and journal.stat().st_size == 0


def report_names(timestamp: str) -> tuple[str, str]:
    """Return the names of report and case table of a run that has no folder of its own."""
    return f"report-{timestamp}.md", f"cases-{timestamp}.csv"
