"""Methods over a recorded session: the same figures every time, whatever methods are called, and after a kill."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from benchmark.judges.rubric import Criterion
from benchmark.probes.__main__ import main
from benchmark.probes.figures import ProbeBoard, boards
from benchmark.probes.journal import key_of
from benchmark.probes.judge import ProbeUnit, ProbeVerdict, title_of
from benchmark.probes.judging import RuleJudge
from benchmark.probes.measuring import ProbedSubject, measure
from benchmark.probes.nulls import ORACLE
from benchmark.probes.records import RESULT_FILE, ProbeResult, read_result
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import RULE_BASED, ProbeScenario, read_scenarios, scenarios_of
from benchmark.probes.subjects import recorded_subjects
from benchmark.record.base import to_json
from benchmark.statements.model import Weight
from ctxsift.errors import InputError
from ctxsift.sessions.compaction.controls import ConversationText
from tests.conftest import ROOT
from tests.support.depth import depth
from tests.support.processes import default_signals

SESSION = "parcelgrid"
WORD = re.compile(r"\w+")
SCENARIOS = read_scenarios(ROOT / "probes.json")


@pytest.fixture(scope="module")
def subject() -> ProbedSubject:
    return recorded_subjects([SESSION])[0]


@pytest.fixture(scope="module")
def result(subject: ProbedSubject) -> ProbeResult:
    return run_scenarios([subject], SCENARIOS)


def figures(result: ProbeResult) -> dict[str, Any]:
    """Return all that does not depend on the clock, by method."""
    return {each.label: msgspec.to_builtins(each.asked) for each in result.methods}


def board_of(result: ProbeResult) -> ProbeBoard:
    return list(boards(result))[-1]


def test_a_summary_that_does_not_shrink_is_refused_with_its_reason(subject: ProbedSubject) -> None:
    (method,) = run_scenarios([subject], [ProbeScenario(method="last", budget=16_000)]).methods
    first = method.contexts[0]
    assert first.refused
    assert re.fullmatch(r"steps \d+ to \d+ stay unchanged: [\d,]+ tokens would replace [\d,]+", first.refusal)
    assert all(bool(each.refusal) is each.refused for each in method.contexts)


def test_the_ends_of_the_scale(result: ProbeResult) -> None:
    rows = {row.method: row for row in board_of(result).rows}
    assert rows[ORACLE].score.value == rows[ORACLE].overall.value == 5
    assert rows["everything"].score.value >= 4.8
    assert rows["drop"].score.value == rows["drop"].overall.value == 0


def test_again_in_another_order(subject: ProbedSubject, result: ProbeResult) -> None:
    others = random.Random(1).sample(SCENARIOS, len(SCENARIOS))
    again = run_scenarios(recorded_subjects([SESSION]), others)
    assert figures(again) == figures(result)
    assert [row.score for row in board_of(again).rows] == [row.score for row in board_of(result).rows]


def test_the_judge_sees_no_method(subject: ProbedSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[ProbeUnit] = []
    judge = RuleJudge.judge

    def noted(self: RuleJudge, unit: ProbeUnit) -> ProbeVerdict:
        seen.append(unit)
        return judge(self, unit)

    # Which probes are asked, the judge tells by the kept steps, once for all methods.
    assert subject.asked
    monkeypatch.setattr(RuleJudge, "judge", noted)
    ours = measure(subject, "text", 2000)
    theirs = measure(subject, "best-of-all", 2000, made=ConversationText())
    half = len(seen) // 2
    assert half == len(subject.asked)
    assert repr(seen[:half]).encode() == repr(seen[half:]).encode()
    assert ours.asked == theirs.asked


def test_unscored_is_no_zero(result: ProbeResult) -> None:
    row = board_of(result).rows[0]
    assert "instruction_format" not in row.criteria
    assert row.dimensions["instruction"].value == row.criteria["instruction_constraints"].value  # type: ignore[index]


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path, result: ProbeResult) -> None:
    path, drawn = tmp_path / "r.json", random.Random(7)
    command = [sys.executable, "-m", "benchmark.probes", "run", SESSION, "-o", str(path), "--json"]
    for _ in range(depth(2, 10)):
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=default_signals
        )
        time.sleep(drawn.uniform(0.3, 3))
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=100)
    assert json.loads(done.stdout)
    assert figures(RESULT_FILE.read(path)) == figures(result)
    assert not path.with_name("r.json.journal").exists()


def test_what_was_measured_is_not_measured_again(
    tmp_path: Path, subject: ProbedSubject, result: ProbeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"
    run_scenarios([subject], scenarios_of(["drop", "text"], [2000]), journal=journal)
    with journal.open("ab") as file:
        file.write(b'{"key": "torn')
    measured: list[str] = []

    def noted(subject: ProbedSubject, method: str, budget: int) -> Any:
        measured.append(method)
        return measure(subject, method, budget)

    monkeypatch.setattr("benchmark.probes.running.measure", noted)
    again = run_scenarios([subject], scenarios_of(["drop", "text", "user"], [2000]), journal=journal)
    run_scenarios([subject], scenarios_of(["user"], [2000]), journal=journal)
    assert measured == ["user"]
    assert figures(again).items() <= figures(result).items()


@pytest.fixture(scope="module")
def two(subject: ProbedSubject) -> list[ProbedSubject]:
    return [dataclasses.replace(subject, probes=subject.probes[::8], name=name) for name in ("one", "other")]


def test_two_processes_find_what_one_finds(
    tmp_path: Path, two: list[ProbedSubject], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenarios, told = scenarios_of(["user", "drop+index", ORACLE], [2000]), list[str]()
    alone = run_scenarios(two, scenarios)
    monkeypatch.delattr("benchmark.probes.running.measure")
    beside = run_scenarios(two, scenarios, journal=tmp_path / "journal", processes=2, told=told.append)
    assert figures(beside) == figures(alone)
    assert (beside.contexts, beside.sessions) == (alone.contexts, alone.sessions)
    assert sorted(told) == sorted(
        f"session {at} of 2, {two[at - 1].name}: {each.method}" for at in (1, 2) for each in scenarios
    )
    # All of it was written down, and no process is asked again.
    monkeypatch.delattr("benchmark.probes.side_by_side.wait")
    assert figures(run_scenarios(two, scenarios, journal=tmp_path / "journal", processes=2)) == figures(alone)


def test_what_another_process_cannot_do_is_done_here(tmp_path: Path, two: list[ProbedSubject]) -> None:
    scenarios = scenarios_of(["drop"], [2000])
    found = run_scenarios(two, scenarios, judge=lambda asked: RuleJudge(asked), processes=2)  # noqa: PLW0108
    assert figures(found) == figures(run_scenarios(two, scenarios))
    journal = tmp_path / "journal"
    with pytest.raises(InputError, match="unknown method 'drup'"):
        run_scenarios(two, [*scenarios, ProbeScenario(method="drup")], journal=journal, processes=2)
    assert len(journal.read_bytes().splitlines()) == len(two)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_all_processes(tmp_path: Path, number: signal.Signals) -> None:
    journal = tmp_path / "r.json.journal"
    command = [sys.executable, "-m", "benchmark.probes", "run", SESSION, "ledgerline", "-o", str(tmp_path / "r.json")]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=default_signals
    )
    while not journal.exists() and process.poll() is None:
        time.sleep(0.1)
    # A terminal sends it to all of them; others, to the one that they know.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    _, told = process.communicate(timeout=60)
    # A slow machine says what is measured, too.
    said = told.endswith("interrupted; rerun the same command to resume\n")
    assert (process.returncode, said) == ((130, True) if number == signal.SIGINT else (-number, False))
    deadline = time.monotonic() + 60
    while _lives(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert journal.stat().st_size


def test_a_journal_of_earlier_versions_is_read(
    tmp_path: Path, subject: ProbedSubject, result: ProbeResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "results" / "journal"
    journal.parent.mkdir()
    drop = next(each for each in result.methods if each.method == "drop")
    key = key_of(f"{subject.name} {subject.sha256}", "drop", 2000, title_of(subject.judge))
    texts = {each.sha256: result.contexts[each.sha256] for each in drop.contexts if each.sha256}
    line = {"key": key, "contexts": to_json(drop.contexts), "asked": to_json(drop.asked), "texts": texts}
    # Another version's entry stands beside it, and what a kill has torn.
    journal.write_text(f'{json.dumps(line | {"key": "0" * 64, "asked": [{}]})}\n{json.dumps(line)}\n{{"key": "0')
    monkeypatch.delattr("benchmark.probes.running.measure")
    again = run_scenarios([subject], scenarios_of(["drop"], [2000]), journal=journal)
    assert figures(again).items() <= figures(result).items()


def test_another_file_is_no_journal_and_stays_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "r.json.journal"
    journal.write_text("my notes\n")
    assert main(["run", SESSION, "--methods", "drop", "-o", str(tmp_path / "r.json")]) == 2
    assert "r.json.journal:1: holds no measurements of probes; remove it" in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["my notes\n"]


def test_a_result_is_printed_in_every_form(
    tmp_path: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    path.write_text(RESULT_FILE.text(result, "r.json"), encoding="utf-8")
    shown = {}
    for form in ("--json", "--csv", "--markdown", "--all", ""):
        assert main(["report", str(path), *([form] if form else [])]) == 0
        shown[form] = capsys.readouterr().out
    by_hand, board, costs = json.loads(shown["--json"])
    assert {each["method"] for each in costs["costs"]} >= {"drop 2k", "mask"}
    assert (by_hand["made_by"], board["made_by"]) == ("hand", "rule")
    assert board["rows"][0]["figures"]["score"]["value"] == 5
    rows = {row["method"]: row["figures"]["score"]["value"] for row in board["rows"]}
    (above,) = [each for each in board["differences"] if {each["method"], each["over"]} == {"user", "mask"}]
    assert abs(above["value"]) == pytest.approx(rows["mask"] - rows["user"])
    assert f"rule,,{ORACLE},,score,5.0,,," in shown["--csv"]
    assert "| anchored, as published | - | 3.70 (mean 3.96) | 4.04 |" in shown["--markdown"]
    assert "Share kept, by number of cuts since the evidence was removed" in shown["--all"]
    assert "Share kept, by number of cuts since the evidence was removed" not in shown[""]
    assert "with fewer than 5 sessions no difference is significant" in shown[""]
    assert main(["report", str(path), "--method", "drop 2k"]) == 0
    told = capsys.readouterr().out
    assert "rule-constraint-" in told
    assert f"{SESSION}, public-api: statements from age 0 on\nlost, lost, lost, lost" in told
    assert main(["report", str(path), "--method", "drop"]) == 2
    assert "did you mean drop 2k" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("methods", 1, "contexts"), [], "/methods/1/contexts: is empty"),
        (("methods", 1, "asked"), [], "/methods/1/asked: is not what the first method was asked"),
        (("sessions",), [], "/methods/0/asked: 'parcelgrid' is none of the sessions"),
        (("methods", 1, "method"), "anchored+index", "/methods: has a method twice"),
        (("methods", 0, "asked", 0, "age"), 10**12, "/methods/0/asked/0/age: expected int <= 999"),
        (("methods", 0, "asked", 0, "score"), 6, "/methods/0/asked/0/score: expected float <= 5.0"),
        (("contexts",), {}, "/methods/0/contexts: names a text that is not there"),
        (("contexts",), {"0" * 64: "x"}, f"/contexts/{'0' * 64}: is another text"),
        (("probes",), [], "has no right answer in /probes"),
        (("methods", 0, "asked", 0, "statements", 0, "index"), 99, "has no such statement"),
    ],
)
def test_damaged_results(
    tmp_path: Path,
    result: ProbeResult,
    capsys: pytest.CaptureFixture[str],
    place: tuple[str | int, ...],
    value: object,
    told: str,
) -> None:
    document = json.loads(RESULT_FILE.text(result, "r.json"))
    inner: Any = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert main(["report", str(path)]) == 2
    assert told in capsys.readouterr().err


def test_a_result_tells_what_was_read_and_what_was_found_in_it(result: ProbeResult) -> None:
    """Every context, question and statement stands in the file once; what is said of it, where it was judged."""
    probes = {each.probe: each for each in result.probes}
    for method in result.methods:
        texts = {(each.session, each.at): result.contexts[each.sha256 or ""] for each in method.contexts}
        for each in method.asked:
            gold = probes[each.probe].gold_at(each.at)
            assert all(found.index < len(gold.statements) for found in each.statements)
            if method.method == ORACLE or probes[each.probe].files:
                continue
            lines = texts[each.session, each.at].split("\n")
            vital = [found for found in each.statements if gold.statements[found.index].weight is Weight.VITAL]
            share = sum(found.share for found in vital) / len(vital)
            assert each.criteria[Criterion.COMPLETENESS_COVERAGE] == pytest.approx(5 * share)
            for found in each.statements:
                assert bool(found.line) or not found.share
                assert found.why
                if found.line:
                    assert set(WORD.findall(found.why)) & set(WORD.findall(lines[found.line - 1]))
    assert len(result.leaked) == result.leaks


def test_results_of_version_1_are_read() -> None:
    old = read_result(ROOT / "tests" / "data" / "probes" / "v1.json")
    assert [method.label for method in old.methods] == ["anchored+index 2k", "drop 2k"]
    assert (old.schema_version, old.contexts, old.probes, old.leaked) == (1, {}, [], [])
    assert not old.methods[0].asked[0].statements
    assert board_of(old).rows


def test_probes_by_rule_are_sound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What rules make passes the check that files of people pass; only leaks and mirror images are nobody's fault."""
    assert main(["generate", SESSION]) == 0
    path = tmp_path / "made.json"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    main(["check", SESSION, "--probes", str(path)])
    problems = [line for line in capsys.readouterr().out.splitlines() if line.startswith(str(path))]
    assert [line for line in problems if "swapped" not in line and "never asked" not in line] == []


def test_the_scenarios_that_ship_are_all_methods_by_rules() -> None:
    # One draw of lines is enough for the run that everybody starts with.
    by_rules = [method for method in RULE_BASED if method not in ("random-2", "random-3")]
    assert set(SCENARIOS) == set(scenarios_of([*by_rules, ORACLE], [2000]))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('{"method": "mask", "budget": 5}', "/scenarios/0/budget: mask takes no budget; remove this field"),
        ('{"method": "last"}', "/scenarios/0/budget: last needs a budget; write e.g. 2000"),
        ('{"method": "lst"}', "/scenarios/0/method: unknown method 'lst'; did you mean last"),
        ('{"method": "mask", "enabled": false}', "/scenarios: no scenario is enabled"),
        ('{"methods": "mask"}', "/scenarios/0/methods: unknown field; did you mean method"),
    ],
)
def test_wrong_scenarios(tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, told: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(f'{{"scenarios": [{row}]}}', encoding="utf-8")
    assert main(["run", SESSION, "--scenarios", str(path), "-o", str(tmp_path / "r.json")]) == 2
    assert told in capsys.readouterr().err


def test_wrong_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", SESSION, "--methods", "anchord", "-o", str(tmp_path / "r.json")]) == 2
    assert main(["report", str(tmp_path / "none.json")]) == 2
    assert main(["run", SESSION, "--budget", "1000", "-o", str(tmp_path / "r.json")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "did you mean anchored" in told[0]
    assert "no such file" in told[1]
    assert "needs --methods" in told[2]
