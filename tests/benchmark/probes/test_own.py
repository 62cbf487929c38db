"""One's own sessions: one command says what a compaction would lose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.probes.__main__ import main
from benchmark.probes.figures import boards
from benchmark.probes.generating import generated
from benchmark.probes.measuring import Subject, measure
from benchmark.probes.own import lost_by_methods
from benchmark.probes.printing import tables_of
from benchmark.probes.printing_own import print_lost
from benchmark.probes.records import RESULT_FILE, read_result
from benchmark.probes.running import result_of
from benchmark.probes.scenarios import ProbeScenario
from ctxsift.sessions.compaction.methods import DEFAULT_METHOD, RECORDED
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Compaction
from tests.conftest import ROOT

SESSION = ROOT / "docs" / "examples" / "session.json"
SMALL = ["--keep-last", "60", "--budget", "400"]


def test_the_table_and_what_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["own", str(SESSION), *SMALL]) == 0
    shown = capsys.readouterr().out
    assert "What would a compaction have lost?" in shown
    assert "│ drop " in shown
    assert "lost at the end by anchored+index" in shown


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["own", str(SESSION), *SMALL, "--json"]) == 0
    rows = {row["method"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["everything"]["share_lost"] == 0
    assert rows["drop"]["share_lost"] == 1
    assert rows["drop"]["lost"] == rows["drop"]["asked"]
    assert 0 < rows["anchored+index"]["share_lost"] < rows["last"]["share_lost"]
    assert "gold" not in rows


def test_a_summary_made_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text(
        "- A code takes a percentage off the total. Never let the total go below zero.\n", encoding="utf-8"
    )
    assert main(["own", str(SESSION), *SMALL, "--compacted", str(summary), "--json"]) == 0
    rows = {row["method"]: row for row in json.loads(capsys.readouterr().out)}
    lost = [each["text"] for each in rows["given"]["lost_at_the_end"]]
    assert not any("below zero" in text for text in lost)
    assert any("src/legacy/" in text for text in lost)


def test_what_is_told_in_other_words_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("`src/cache.py` reaches Redis through port 6379; codes expire after 300 s.\n", encoding="utf-8")
    command = ["own", str(SESSION), *SMALL, "--compacted", str(summary)]
    assert main([*command, "--json"]) == 0
    rows = {row["method"]: row for row in json.loads(capsys.readouterr().out)}
    row = rows["given"]
    told = row["in_other_words_at_the_end"][0]
    assert told["text"].startswith("Codes are cached in Redis now")
    assert "reaches Redis through port 6379" in told["there"]
    assert told["text"] not in [each["text"] for each in row["lost_at_the_end"]]
    asked = sum(row["asked"].values())
    assert row["share_in_other_words"] == sum(row["in_other_words"].values()) / asked > 0
    assert row["share_lost"] == sum(row["lost"].values()) / asked
    assert rows["drop"]["share_in_other_words"] == 0
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "in other words at the end by given, " in shown
    assert "there: src/cache.py` reaches Redis" in shown


def test_names_that_a_summary_invents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("Codes are in `codes.toml` and `src/vouchers.py`.\n", encoding="utf-8")
    assert main(["own", str(SESSION), *SMALL, "--compacted", str(summary)]) == 0
    assert "1 name in the given summary that the session does not have: src/vouchers.py" in capsys.readouterr().out


def test_before_the_first_summary_nothing_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = read_session(SESSION)
    probes = generated(whole, keep_last=60)
    cuts = Subject("mine", "own", whole, probes, keep_last=60).cuts
    summary = "Never let the total go below zero. Redis is reached by `src/cache.py`, at port 6379."
    for first, asked_at in ((cuts[2].after_step, {2, 3}), (cuts[-1].after_step + 1, set())):
        session = replace(whole, compactions=(Compaction(first, summary),))
        subject = Subject("mine", "own", session, probes, keep_last=60)
        made = {name: [measure(subject, name, 400)] for name in (RECORDED, "drop", DEFAULT_METHOD)}
        (recorded,) = made[RECORDED]
        assert [each.absent for each in recorded.contexts] == [at not in asked_at for at in range(4)]
        assert {each.at for each in recorded.asked} == asked_at
        *_, row = lost_by_methods([subject], made)
        assert (row.method, row.share is None) == (RECORDED, not asked_at)
        assert sum(row.asked.values()) == len(recorded.asked)
        result = result_of([subject], {ProbeScenario(method=name): parts for name, parts in made.items()})
        path = tmp_path / "r.json"
        path.write_text(RESULT_FILE.text(result, "r.json"), encoding="utf-8")
        assert read_result(path) == result
        (board,) = boards(result)
        assert board.unasked == (() if asked_at else (RECORDED,))
        assert [row.rank is None for row in board.rows] == [False, False, True][: len(board.rows)]
        (table,) = [table for table in tables_of(board) if table.title == "Is it still there?"]
        assert set(table.rows[-1][1 : 2 if asked_at else None]) == {"-"}
        assert ("their words are their own" in table.note) == bool(asked_at)
        assert ("so that nothing is asked" in table.note) != bool(asked_at)
        print_lost([subject], lost_by_methods([subject], made))
        shown = capsys.readouterr().out
        assert "recorded: below the others" in shown
        assert asked_at or "│ recorded       │    - │           - │      - │" in shown


def test_what_cannot_be_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["own", str(SESSION)]) == 0
    assert main(["own", str(SESSION), "--keep-last", "100000"]) == 2
    assert main(["own", str(SESSION), str(SESSION), "--compacted", str(tmp_path / "x")]) == 2
    assert main(["own", str(tmp_path / "none.jsonl")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "all of it is kept within 100,000 tokens; lower --keep-last" in told[0]
    assert "is a summary of one session, 2 are named" in told[1]
    assert "no such file" in told[2]


def test_the_page_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "probes.md").read_text(encoding="utf-8")
    told = page.partition("$ python -m benchmark.probes own docs/examples/session.json --keep-last 60 --budget 400\n")[
        2
    ]
    assert main(["own", "docs/examples/session.json", *SMALL]) == 0
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown == told.partition("\n```")[0].splitlines()
