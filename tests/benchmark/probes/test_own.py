"""One's own sessions: one command says what a compaction would lose."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.probes.__main__ import main
from benchmark.probes.figures import boards
from benchmark.probes.generating import generated
from benchmark.probes.measuring import ProbedSubject, measure
from benchmark.probes.own import lost_by_methods, own_subjects
from benchmark.probes.printing import tables_of
from benchmark.probes.printing_own import lost_json, print_lost
from benchmark.probes.records import RESULT_FILE, read_result
from benchmark.probes.running import result_of
from benchmark.probes.scenarios import ProbeScenario
from benchmark.probes.states import ProbeState
from ctxsift.sessions.compaction.methods import DEFAULT_METHOD, RECORDED
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET, DEFAULT_KEEP_LAST
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Compaction, Source
from tests.conftest import ROOT

SESSION = ROOT / "docs" / "examples" / "session.json"
SMALL = ["--keep-last", "60", "--budget", "400"]
TILL = ["/home/dev/src/till.py"]


def test_the_table_and_what_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["own", str(SESSION), *SMALL]) == 0
    shown = capsys.readouterr().out
    assert "What would a compaction have lost?" in shown
    assert "│ drop " in shown
    assert "lost at the end, with anchored+index" in shown


def test_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["own", str(SESSION), *SMALL, "--json"]) == 0
    rows = {row["method"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["everything"]["share_lost"] == 0
    assert rows["drop"]["share_lost"] == 1
    assert rows["drop"]["lost"] == rows["drop"]["asked"]
    assert 0 < rows["anchored+index"]["share_lost"] < rows["last"]["share_lost"]
    assert "gold" not in rows


def test_a_sentence_that_two_questions_are_about_is_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    session = ROOT / "benchmark" / "sessions" / "data" / "sheafc" / "session.json.gz"
    subjects = own_subjects([session], DEFAULT_KEEP_LAST, at_end=False)
    made = {DEFAULT_METHOD: [measure(subjects[0], DEFAULT_METHOD, DEFAULT_BUDGET)]}
    rows = lost_by_methods(subjects, made)
    print_lost(subjects, rows, whole=True)
    shown = capsys.readouterr().out
    assert shown.count("step 42: Not ready, five reasons stop a merge") == 1
    (told,) = [line for line in shown.splitlines() if line.startswith(f"lost at the end, with {DEFAULT_METHOD}: ")]
    lost = rows[0].at_end[ProbeState.LOST]
    (in_json,) = lost_json(rows, {})
    sentences = len(in_json["lost_at_the_end"])
    assert told.endswith(f": {lost} questions about {sentences} sentences")
    assert sentences < lost


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
    assert "in other words at the end, with given: " in shown
    assert "there: src/cache.py` reaches Redis" in shown


def test_the_rest_of_a_list_is_told_of_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "summary.md"
    made_up = " ".join(f"`src/other_{number}.py`" for number in range(10))
    summary.write_text(f"Totals must stay at or above zero.\nSee {made_up}.\n", encoding="utf-8")
    command = ["own", str(SESSION), *SMALL, "--compacted", str(summary)]
    assert main(command) == 0
    some = capsys.readouterr().out
    assert main([*command, "--all"]) == 0
    every = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    (given,) = [row for row in json.loads(capsys.readouterr().out) if row["method"] == "given"]
    lost = given["lost_at_the_end"]
    count = len(lost)
    assert given["at_the_end"] == {"kept": 0, "in other words": 0, "lost": count}
    assert count > 8
    assert f"at the end, with given: 0 kept, 0 in other words, {count} lost" in some
    assert f"lost at the end, with given: {count}; the first 8 are shown" in some
    assert f"and {count - 8} more (--all shows them)" in some
    assert "other_7.py, and 2 more (--all shows them)" in " ".join(some.split())
    assert f"lost at the end, with given: {count}\n" in every
    assert "more (--all" not in every
    assert all(each["text"] in every for each in lost)
    # It is told in words that share no name; whoever reads it sees that.
    nearest = {each["text"]: each.get("nearest") for each in lost}
    assert nearest["Never let the total go below zero."] == "Totals must stay at or above zero."
    assert "    nearest: Totals must stay at or above zero." in some


def test_names_that_a_summary_invents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("Codes are in `codes.toml` and `src/vouchers.py`.\n", encoding="utf-8")
    assert main(["own", str(SESSION), *SMALL, "--compacted", str(summary)]) == 0
    assert "1 name in the given summary that the session does not have: src/vouchers.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("told", "invented"),
    [
        ("Text comes as print/JSON, and as Print/YAML.", ["Print/YAML"]),
        ("A PriceTotal is none, priceTotal is.", ["PriceTotal"]),
        ("`Src/cache.py` and `src/Cache.py` are none.", ["Src/cache.py", "src/Cache.py"]),
        ("See ~/notes/todo.md, /home/dev/notes/todo.md and ~/notes/done.md.", ["~/notes/done.md"]),
        ("See /home/dev/.config/shop.toml and ~/.config/shop.toml.", []),
        ("In /home/dev/shop/src/cache.py, ~/shop/src/cache.py and /home/dev/shop, but /home/dev/src/till.py.", TILL),
        ("Below ~/... and ./src/cache.py, not ./src/till.py.", ["./src/till.py"]),
    ],
)
def test_a_name_is_not_invented_where_only_its_spelling_is_other(told: str, invented: list[str]) -> None:
    whole = read_session(SESSION)
    user = next(step for step in whole.steps if step.source is Source.USER)
    said = replace(
        user, message=f"{user.message}\nAs print/json, priceTotal. See ~/notes/todo.md and /home/dev/.config/shop.toml."
    )
    steps = tuple(said if step is user else step for step in whole.steps)
    session = replace(whole, steps=steps, head=replace(whole.head, folder="/home/dev/shop"))
    assert list(ProbedSubject("mine", "own", session, ()).history.invention(told).names) == invented


def test_before_the_first_summary_nothing_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = read_session(SESSION)
    probes = generated(whole, keep_last=60)
    cuts = ProbedSubject("mine", "own", whole, probes, keep_last=60).cuts
    summary = "Never let the total go below zero. Redis is reached by `src/cache.py`, at port 6379."
    for first, asked_at in ((cuts[2].after_step, {2, 3}), (cuts[-1].after_step + 1, set())):
        session = replace(whole, compactions=(Compaction(first, summary),))
        subject = ProbedSubject("mine", "own", session, probes, keep_last=60)
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
        assert ("which the rules cannot judge fairly" in table.note) == bool(asked_at)
        assert ("so no question was asked" in table.note) != bool(asked_at)
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
    assert "all steps fit into the 100,000 tokens that are kept; lower --keep-last" in told[0]
    assert "is the summary of one session, but you named 2" in told[1]
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
