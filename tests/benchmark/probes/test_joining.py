"""Sessions measured by jobs of their own, and joined: as one run would have measured them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.probes.__main__ import main
from benchmark.probes.records import RESULT_FILE, ProbeResult, read_result
from benchmark.run.sharding import shard_index

# With answers by hand, and in two shards of three.
NAMES = ["harvestlog", "parcelgrid", "tidecast"]
COUNT = 3
HOLDS = sorted({shard_index(name, COUNT) for name in NAMES})
ASKED = [*NAMES, "--methods", "drop", "text-cut", "--budget", "1000", "--csv"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joined")
    assert main(["run", *ASKED, "-o", str(folder / "whole.json")]) == 0
    for index in HOLDS:
        assert main(["run", *ASKED, "--shard", f"{index}/{COUNT}", "-o", str(folder / f"{index}.json")]) == 0
    return folder


def parts(folder: Path) -> list[str]:
    return [str(folder / f"{index}.json") for index in reversed(HOLDS)]


def timeless(result: ProbeResult) -> dict[str, Any]:
    """Return all of a result that the clock does not decide."""
    found: dict[str, Any] = json.loads(re.sub(r'"seconds":[^,}]+', '"seconds":0', RESULT_FILE.text(result, "")))
    return found | {"timestamp": ""}


def refused(paths: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["merge", *paths, "-o", str(tmp_path / "joined.json")]) == 2
    assert not (tmp_path / "joined.json").exists()
    return capsys.readouterr().err


def test_shards_joined_are_the_run(folder: Path, tmp_path: Path) -> None:
    assert len(HOLDS) > 1
    output = tmp_path / "joined.json"
    assert main(["merge", *parts(folder), "--csv", "-o", str(output)]) == 0
    joined, whole = read_result(output), read_result(folder / "whole.json")
    assert joined.shard is None
    assert {each.answerer for each in whole.answered} == {"extract", "recorded"}
    assert timeless(joined) == timeless(whole)


def test_a_shard_measures_its_sessions_alone(folder: Path) -> None:
    for index in HOLDS:
        result = read_result(folder / f"{index}.json")
        assert result.shard is not None
        assert (str(result.shard), result.shard.sessions) == (f"{index}/{COUNT}", NAMES)
        assert [each.name for each in result.sessions] == [each for each in NAMES if shard_index(each, COUNT) == index]


def test_a_shard_without_sessions_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = next(index for index in range(1, 10) if index not in {shard_index(name, 9) for name in NAMES})
    # As the job of a cluster is told.
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", str(empty))
    monkeypatch.setenv("CTXSIFT_SHARDS", "9")
    assert main(["run", *ASKED, "-o", str(tmp_path / "result.json")]) == 0
    assert f"shard {empty}/9 has none of these 3 sessions; nothing to run" in capsys.readouterr().err
    assert not (tmp_path / "result.json").exists()


def test_what_does_not_go_together_is_refused(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = parts(folder)
    missing = ",".join(str(index) for index in HOLDS[:-1])
    assert re.search(
        f"shards of {COUNT} are missing: {missing}; run the missing ones", refused([first], tmp_path, capsys)
    )
    assert "and so is" in refused([first, first, *others], tmp_path, capsys)
    whole = str(folder / "whole.json")
    assert "is the result of a whole run, not of a shard" in refused([whole, *others], tmp_path, capsys)
    result = read_result(Path(first))
    shard = result.shard
    assert shard is not None
    foreign: dict[str, dict[str, Any]] = {
        "has other methods": {"methods": result.methods[:1]},
        "has another judge": {"judge": "somebody"},
        "is one of other shards": {"shard": replace(shard, count=COUNT + 1)},
        "has other sessions": {"shard": replace(shard, sessions=NAMES[:-1])},
        "has other versions of answerers": {"answered": [replace(each, version="0") for each in result.answered]},
    }
    for told, changes in foreign.items():
        path = tmp_path / "other.json"
        changed: ProbeResult = replace(result, **({"answered": []} | changes))
        path.write_text(RESULT_FILE.text(changed, ""), encoding="utf-8")
        assert told in refused([*others, str(path)], tmp_path, capsys)
    path.write_text("{", encoding="utf-8")
    assert "other.json" in refused([*others, str(path)], tmp_path, capsys)


def test_answers_from_a_file_go_with_a_whole_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "x", "answer": "y"}\n', encoding="utf-8")
    told = ["run", *ASKED, "--shard", f"{HOLDS[0]}/{COUNT}", "-o", str(tmp_path / "result.json")]
    assert main([*told, "--answerer", f"recorded:{answers}"]) == 2
    assert "needs a whole run" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b"])
def test_no_shard_is_a_usage_error(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--shard", text])
    assert ended.value.code == 2
    assert "is not a shard" in capsys.readouterr().err
