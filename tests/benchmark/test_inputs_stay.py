"""No command writes over a file that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmark import report
from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.probes import __main__ as probes
from benchmark.race import __main__ as race
from benchmark.utilization import __main__ as utilization
from benchmark.viewer import __main__ as viewer
from tests.conftest import ROOT

Main = Callable[[Sequence[str]], int]
(RESULT, *_) = sorted(PACKAGED_RESULTS.rglob("*.json.gz"))
PROBES = ROOT / "tests" / "data" / "probes" / "v1.json"
SAMPLE = ROOT / "benchmark" / "utilization" / "sample.jsonl"


@pytest.mark.parametrize(
    ("main", "source", "arguments"),
    [
        (report.main, RESULT, ["{file}", "--markdown", "{link}"]),
        (report.main, RESULT, ["{file}", "--csv", "{link}"]),
        (viewer.main, RESULT, ["{file}", "-o", "{link}"]),
        (probes.main, PROBES, ["report", "{file}", "--chart", "{link}.svg"]),
        (probes.main, ROOT / "probes.json", ["run", "--scenarios", "{file}", "-o", "{link}"]),
        (probes.main, PROBES, ["judge", "{file}", "--judge", "rules", "--label", "{link}"]),
        (utilization.main, SAMPLE, ["{file}", "-o", "{link}.svg"]),
        (race.main, RESULT, ["simulate", "{file}", "--chart", "{link}.svg"]),
    ],
)
def test_an_input_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], main: Main, source: Path, arguments: Sequence[str]
) -> None:
    file, link = tmp_path / "".join(["file", *source.suffixes]), tmp_path / "link"
    file.write_bytes(source.read_bytes())
    for each in (link, link.with_name("link.svg")):
        each.symlink_to(file)
    assert main([each.format(file=file, link=link) for each in arguments]) == 2
    assert f"{file} is read, and would be lost; name another file" in capsys.readouterr().err
    assert file.read_bytes() == source.read_bytes()
