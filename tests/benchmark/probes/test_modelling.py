"""Models as methods of compaction: asked through a journal, what they take counted, rules where they fail."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmark.probes.__main__ import main
from benchmark.probes.modelling import Models
from benchmark.probes.records import ProbeResult, read_result
from tests.conftest import ROOT, scenario, scripted, write_matrix
from tests.support.depth import depth
from tests.support.processes import default_signals

pytestmark = pytest.mark.slow

SESSION = "tidecast"
NOTES = """\
## Intent
- Tides for every harbour of the user, as the user wants them.
## Constraints
- (none)
## Decisions
- The times are kept in UTC, since the user reads them so.
## Errors and fixes
- (none)
## State
- The command prints a table.
## Next steps
- (none)
"""


def command(folder: Path, *more: str, name: str = "r.json", **script: Any) -> list[str]:
    """Return a run of one method by a scripted model."""
    matrix = write_matrix(folder, scripted(folder, **({"default": NOTES} | script)))
    asked = ["run", SESSION, "--methods", "anchored", "--model", "scripted", "--matrix", str(matrix), "--answerer"]
    return [*asked, *more, "-o", str(folder / name)]


def told(result: ProbeResult) -> Any:
    """Return all that does not depend on the clock."""
    methods = msgspec.to_builtins(result.methods)
    for method in methods:
        for each in method["contexts"]:
            del each["seconds"]
    return methods, result.contexts


def test_a_model_makes_the_summaries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    assert main([*command(tmp_path, log=str(log)), "--json"]) == 0
    parts = json.loads(capsys.readouterr().out)
    (summaries,) = [each["summaries_by_models"] for each in parts if "summaries_by_models" in each]
    result = read_result(tmp_path / "r.json")
    (method,) = result.methods
    assert (method.label, method.own_words, method.model) == ("anchored 2k by scripted", True, "scripted")
    assert all("The command prints a table." in result.contexts[each.sha256 or ""] for each in method.contexts)
    assert [each.fallback for each in method.contexts] == [""] * 5
    asked = log.read_text().splitlines()
    assert sum(each.questions or 0 for each in method.contexts) == len(asked) >= 5
    (row,) = summaries
    assert (row["cycles"], row["fallbacks"], row["questions"]) == (5, 0, len(asked))
    assert row["prompt_tokens"] == sum(each.prompt_tokens or 0 for each in method.contexts) > 1000
    assert parts[0]["rows"][0]["model"] == "scripted"
    # Nothing is asked again, and the answers took what they took.
    assert main(command(tmp_path, log=str(log), name="again.json")) == 0
    assert len(log.read_text().splitlines()) == 2 * len(asked)
    assert main([*command(tmp_path, log=str(log)), "--markdown"]) == 0
    assert len(log.read_text().splitlines()) == 2 * len(asked)
    assert told(read_result(tmp_path / "r.json")) == told(result)
    assert f"| anchored 2k by scripted | 5 | 0 | {len(asked)} |" in capsys.readouterr().out


def test_killed_at_any_moment(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
    assert main(command(whole)) == 0
    log, drawn, kills = killed / "log", random.Random(3), depth(3, 12)
    run = [sys.executable, "-m", "benchmark.probes", *command(killed, log=str(log), delay_ms=400)]
    for _ in range(kills):
        process = subprocess.Popen(
            run, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=default_signals
        )
        begun = time.monotonic()
        before = len(log.read_text().splitlines()) if log.exists() else 0
        # Once it asks; then at any moment.
        while time.monotonic() - begun < 60 and (not log.exists() or len(log.read_text().splitlines()) == before):
            time.sleep(0.05)
        time.sleep(drawn.uniform(0, 0.9))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    subprocess.run(run, cwd=ROOT, check=True, timeout=100, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert told(read_result(killed / "r.json")) == told(read_result(whole / "r.json"))
    asked = log.read_text().splitlines()
    # What a kill cut off is asked once more, and nothing else.
    assert len(set(asked)) <= len(asked) <= len(set(asked)) + kills


def test_where_it_fails_rules_make_the_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command(tmp_path, default="I am sorry."), "--csv"]) == 0
    assert ",,anchored 2k by scripted,,summaries: fallbacks,5," in capsys.readouterr().out
    (method,) = read_result(tmp_path / "r.json").methods
    assert all("cannot be used" in each.fallback for each in method.contexts)
    assert main(["report", str(tmp_path / "r.json")]) == 0
    assert "anchored 2k by scripted: it thought aloud (5 times)." in capsys.readouterr().out


def test_beside_the_same_method_by_rules(tmp_path: Path) -> None:
    scenarios = tmp_path / "mine.json"
    rows = [{"method": "anchored", "budget": 2000}, {"method": "anchored", "budget": 2000, "model": "scripted"}]
    scenarios.write_text(json.dumps({"scenarios": rows}))
    matrix = str(write_matrix(tmp_path, scripted(tmp_path, default=NOTES)))
    output = tmp_path / "r.json"
    asked = ["run", SESSION, "--scenarios", str(scenarios), "--matrix", matrix, "--answerer", "-o", str(output)]
    assert main(asked) == 0
    assert [each.label for each in read_result(output).methods] == ["anchored 2k", "anchored 2k by scripted"]


@pytest.mark.parametrize(
    ("method", "model", "why"),
    [
        ("anchored", "scriptd", "did you mean scripted?"),
        ("text", "scripted", "text"),
        ("opaque", "scripted", "has no log-probabilities"),
        ("anchored", "away", "sends its questions to a provider"),
        ("anchored", "recorded:x", "no such file"),
    ],
)
def test_who_makes_no_summaries(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], method: str, model: str, why: str
) -> None:
    away = scenario(name="away", track="remote", model="gpt-4o-mini", device="remote", gguf_filename=None)
    matrix = str(write_matrix(tmp_path, scripted(tmp_path), away))
    asked = ["run", SESSION, "--methods", method, "--model", model, "--matrix", matrix, "--answerer"]
    assert main([*asked, "-o", str(tmp_path / "r.json")]) == 2
    assert why in capsys.readouterr().err
    assert main(["run", SESSION, "--model", "scripted", "-o", str(tmp_path / "r.json")]) == 2
    assert "--model: needs --methods" in capsys.readouterr().err


def test_a_journal_begins_with_the_packaged_answers(tmp_path: Path) -> None:
    row = "cpu-qwen2.5-coder-1.5b-q4_k_m"
    models = Models(tmp_path / "summaries")
    models.method("anchored", row)
    kept = (tmp_path / "summaries" / f"{row}.journal").read_text(encoding="utf-8").splitlines()
    assert len(kept) > 30
    # A journal that is there stays as it is.
    (tmp_path / "summaries" / f"{row}.journal").write_text(kept[0] + "\n", encoding="utf-8")
    Models(tmp_path / "summaries").method("anchored", row)
    assert (tmp_path / "summaries" / f"{row}.journal").read_text(encoding="utf-8").splitlines() == kept[:1]
