"""Acts: which call a reply makes, whether it obeys, and the way from an export to a table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.probes.__main__ import main
from benchmark.probes.acts import Act, ActCall, Condition, Outcome, graded, graded_call
from benchmark.probes.answered import acts_about, answering
from benchmark.probes.answerers import ContextExtract
from benchmark.probes.checking import check_probes
from benchmark.probes.loading import WrittenProbes, read_probes, written_probes
from benchmark.probes.questions import ACT_WORDS, ActQuestion, AnswerPrompt, AnswerQuestion
from benchmark.probes.records import RESULT_FILE, read_result
from benchmark.probes.running import run_scenarios
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects
from ctxsift.errors import InputError
from tests.benchmark.probes.test_answerers import asked

SESSION = "sheafc"
WRITTEN = {each.recorded.name: each for each in written_probes()}
ACTS = [(name, act) for name, each in WRITTEN.items() for act in each.acts]

LIMIT = Act(
    act_id="limit",
    evidence=(3,),
    instruction="Set the limit in shop.toml to what the user wants by now.",
    tools=("edit", "run"),
    obeys=(Condition(says="eight", tools=("edit",), argument="new", names=(("limit = 8", "limit = 8.0"),)),),
    breaks=(Condition(says="six", names=("limit = 6",)), Condition(says="a file of data", names=("data/",))),
    gold=ActCall(tool="edit", arguments={"path": "shop.toml", "old": "limit = 6", "new": "limit = 8"}),
    naive=ActCall(tool="edit", arguments={"path": "shop.toml", "old": "", "new": "limit = 6"}),
)
GOOD = '{"tool": "edit", "arguments": {"path": "shop.toml", "old": "", "new": "limit = 8"}}'


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (GOOD, Outcome.OBEYED),
        (f"```json\n{GOOD}\n```", Outcome.OBEYED),
        (f"I set it to eight:\n{GOOD}", Outcome.OBEYED),
        ('{"arguments": {"new": "limit  =\\n8", "old": "", "path": "shop.toml"}, "tool": "edit"}', Outcome.OBEYED),
        (
            '{"tool": "edit", "arguments": "{\\"path\\": \\"shop.toml\\", \\"new\\": \\"limit = 8.0\\"}"}',
            Outcome.OBEYED,
        ),
        (GOOD.replace("8", "6"), Outcome.BROKE),
        (GOOD.replace("shop.toml", "data/shop.toml"), Outcome.BROKE),
        (f"<think>\n{GOOD.replace('8', '6')}\n</think>\n{GOOD}", Outcome.OBEYED),
        (GOOD.replace("8", "88"), Outcome.NEITHER),
        ('{"tool": "run", "arguments": {"command": "grep limit shop.toml"}}', Outcome.NEITHER),
        ('{"tool": "ask", "arguments": {"question": "Which limit = 6 or limit = 8?"}}', Outcome.NEITHER),
        ('{"tool": "run", "arguments": {"command": 8}}', Outcome.NEITHER),
        ("", Outcome.NO_CALL),
        ("The limit is 8 now.", Outcome.NO_CALL),
        ('{"tool": "edit"}', Outcome.NO_CALL),
        ('{"tool": "edit", "arguments": "limit = 8"}', Outcome.NO_CALL),
        ('{"tool": "edit", "arguments": ["limit = 8"]}', Outcome.NO_CALL),
        ('{"tool": NAME, "arguments": {NAME: TEXT, ...}}', Outcome.NO_CALL),
        (f"{GOOD} or {GOOD.replace('8', '6')}, as you like.", Outcome.OBEYED),
        (f"Either {GOOD} or {GOOD.replace('8', '6')}, as you like.", Outcome.NO_CALL),
        (f"[{GOOD}, {GOOD.replace('8', '6')}]", Outcome.NO_CALL),
    ],
)
def test_what_a_reply_does(reply: str, outcome: Outcome) -> None:
    found = graded(LIMIT, reply)
    assert (found.outcome, bool(found.why)) == (outcome, True)


@pytest.mark.parametrize(("name", "act"), ACTS, ids=[f"{name}/{act.act_id}" for name, act in ACTS])
def test_a_written_act_tells_its_calls_apart_and_gives_nothing_away(name: str, act: Act) -> None:
    assert graded_call(act, act.gold).outcome is Outcome.OBEYED
    assert graded_call(act, act.naive).outcome is Outcome.BROKE
    as_replies = [json.dumps({"tool": each.tool, "arguments": each.arguments}) for each in (act.gold, act.naive)]
    assert [graded(act, each).outcome for each in as_replies] == [Outcome.OBEYED, Outcome.BROKE]
    told = act.instruction.casefold()
    names = [name for each in act.obeys for spellings in each.spellings for name in spellings]
    assert names
    assert not [name for name in names if name.casefold() in told]


def test_every_session_has_acts() -> None:
    assert Counter(name for name, _ in ACTS).keys() == WRITTEN.keys()
    assert len(ACTS) >= 16
    assert min(Counter(name for name, _ in ACTS).values()) >= 2


def test_check_finds_what_is_wrong_with_an_act() -> None:
    written: WrittenProbes = WRITTEN["tidecast"]
    bad = replace(LIMIT, instruction="Set limit = 8 in shop.toml.", tools=("edit", "patch"), naive=LIMIT.gold)
    late = replace(LIMIT, act_id="late", evidence=(129,))
    found = check_probes(written.recorded.session(), (), "p.yaml", acts=(LIMIT, bad, late)).problems
    assert [(each.where, each.text.partition(":")[0]) for each in found] == [
        ("p.yaml: /acts/1 (limit)", "naive"),
        ("p.yaml: /acts/1 (limit)", "tools"),
        ("p.yaml: /acts/1 (limit)", "the instruction itself says 'limit = 8'"),
        ("p.yaml: /acts/2 (late)", "never asked"),
    ]


def test_an_id_is_used_once(tmp_path: Path) -> None:
    path = tmp_path / "probes.yaml"
    text = WRITTEN["tidecast"].path.read_text(encoding="utf-8")
    path.write_text(text.replace("- id: weekdays", "- id: no-crates"), encoding="utf-8")
    with pytest.raises(InputError, match="no-crates is used twice"):
        read_probes(path)


def test_an_act_is_put_in_words_of_its_own() -> None:
    act, question = ActQuestion("the context", LIMIT.question, ACT_WORDS), AnswerQuestion("the context", LIMIT.question)
    (system, user), (other, _) = AnswerPrompt(act).messages, AnswerPrompt(question).messages
    assert "call of one tool" in system.content
    # What the user ordered there is to be followed.
    assert "never follow" in other.content
    assert "never follow" not in system.content
    assert user.content.endswith(f"Task: {LIMIT.question}")
    assert "- edit(path, old, new)" in user.content
    assert "write_file" not in user.content
    assert len({act.question_id, question.question_id}) == 2


def test_acts_are_asked_where_their_orders_are_gone_and_never_of_who_copies_lines() -> None:
    (subject,) = recorded_subjects([SESSION])
    result = run_scenarios([subject], scenarios_of(["drop"], [2000]))
    last, every = acts_about(result, [subject]), acts_about(result, [subject], every_cut=True)
    assert {each.at for each in last} == {len(subject.cuts) - 1}
    assert [each.act.act_id for each in last] == [act.act_id for act in subject.acts]
    assert all(max(each.act.evidence) < subject.cuts[each.at].first_kept for each in every)
    assert len(every) > len(last)
    assert answering(result, last, ContextExtract()).questions == 0


def _calls(line: dict[str, Any]) -> dict[str, Any] | str | None:
    """Return the call of an act as an object, or as text; None of a question."""
    acts = {act.question: act for act in WRITTEN[SESSION].acts}
    if (act := acts.get(line["question"])) is None:
        return None
    obeys = {"tool": act.gold.tool, "arguments": act.gold.arguments}
    return (
        obeys
        if act.act_id == "golden-differs"
        else json.dumps({"tool": act.naive.tool, "arguments": act.naive.arguments})
    )


def test_from_an_export_to_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [SESSION, "--methods", "drop", "--acts"]
    assert main(["export", *chosen, "--for-answering", str(tmp_path / "out"), "--readers", "1"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "out/reader-1.jsonl").read_text(encoding="utf-8").splitlines()]
    answers = tmp_path / "answers.jsonl"
    given = [{"id": line["id"], "answer": call} for line in lines if (call := _calls(line)) is not None]
    assert len(given) == 2
    answers.write_text("".join(f"{json.dumps(each)}\n" for each in given), encoding="utf-8")
    path = tmp_path / "r.json"
    capsys.readouterr()
    assert main(["run", *chosen, "-o", str(path), "--answerer", f"recorded:{answers}"]) == 0
    told = capsys.readouterr()
    assert "answered 2 of" not in told.err
    assert "Is it obeyed?" in told.out
    (answered,) = read_result(path).answered
    assert {each.act: each.outcome for each in answered.acts} == {
        "golden-differs": Outcome.OBEYED,
        "checksum-of-the-device": Outcome.BROKE,
    }
    assert main(["report", str(path), "--markdown"]) == 0
    assert "| drop 2k | 2 | 50% | 50% | 0% | 0% | sheafc/checksum-of-the-device |" in capsys.readouterr().out
    assert main(["report", str(path), "--csv"]) == 0
    assert f"hand,,drop,2000,act broke: recorded:{answers},0.5,,,2" in capsys.readouterr().out
    assert main(["report", str(path), "--json"]) == 0
    (acted,) = json.loads(capsys.readouterr().out)[-1]["acted"]
    assert acted["outcomes"] == {"obeyed": 1, "broke": 1, "neither": 0, "no call": 0}
    assert [each["act"] for each in acted["replies"]] == [each.act for each in answered.acts]
    strange = replace(answered, acts=[replace(each, session="other") for each in answered.acts])
    path.write_text(RESULT_FILE.text(replace(read_result(path), answered=[strange]), "r.json"), encoding="utf-8")
    with pytest.raises(InputError, match="'other' is none of the sessions"):
        read_result(path)


@pytest.mark.parametrize("reply", [GOOD, f"```json\n{GOOD}\n```", f"<think>limit = 6?</think>\nHere it is:\n\n{GOOD}"])
def test_a_row_of_the_matrix_acts(tmp_path: Path, reply: str) -> None:
    act = ActQuestion("some context", LIMIT.question, ACT_WORDS)
    told = asked(tmp_path, [act], default=reply).texts[act.question_id]
    assert graded(LIMIT, told).outcome is Outcome.OBEYED
