"""One's own sessions: one command says what a compaction would lose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark.probes.__main__ import main
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
