"""Answers beside what is kept: the same questions for both, and nothing that tells a method."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace as changed
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from msgspec.structs import replace

from benchmark.probes.__main__ import main
from benchmark.probes.answer_figures import Abstained, Fate, answered_boards
from benchmark.probes.answer_rules import AnswerJudge
from benchmark.probes.answered import (
    Put,
    PutUnanswerable,
    answering,
    asked_at,
    published_answering,
    questions_about,
    unanswerable_about,
)
from benchmark.probes.answerers import ContextExtract
from benchmark.probes.extracting import extracted
from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.model import Maker
from benchmark.probes.nulls import ORACLE
from benchmark.probes.packets import check_folder, packets_of
from benchmark.probes.printing_answers import tell_unanswered
from benchmark.probes.questions import AnswerQuestion
from benchmark.probes.recorded import ANSWERED_ON, PUBLISHED_AS, TUNED_ON, published_answers, published_contexts
from benchmark.probes.records import RESULT_FILE, ProbeResult, read_result
from benchmark.probes.rules_on_answers import judged_answer
from benchmark.probes.running import run_scenarios
from benchmark.probes.said import ProbeAnswers
from benchmark.probes.scenarios import scenarios_of
from benchmark.probes.subjects import recorded_subjects
from ctxsift.errors import InputError
from tests.conftest import ROOT
from tests.support.processes import default_signals

SESSION = "parcelgrid"
METHODS = (ORACLE, "text", "drop")


@pytest.fixture(scope="module")
def subject() -> ProbedSubject:
    return recorded_subjects([SESSION])[0]


@pytest.fixture(scope="module")
def measured(subject: ProbedSubject) -> ProbeResult:
    return run_scenarios([subject], scenarios_of(METHODS, [2000]))


@pytest.fixture(scope="module")
def put(measured: ProbeResult, subject: ProbedSubject) -> list[Put]:
    return questions_about(measured, [subject])


@pytest.fixture(scope="module")
def result(measured: ProbeResult, subject: ProbedSubject, put: list[Put]) -> ProbeResult:
    published, texts = published_answering([subject])
    assert published
    answered = [answering(measured, put, ContextExtract()), published]
    return replace(measured, answered=answered, contexts=measured.contexts | texts)


class Says:
    """Says the same to everything, or nothing at all to some."""

    name, version = "says", "1"

    def __init__(self, text: str, silent: Sequence[str] = ()) -> None:
        self._text, self._silent = text, silent
        self.seen: list[AnswerQuestion] = []

    def answers(self, questions: Sequence[AnswerQuestion]) -> ProbeAnswers:
        """Note what is seen."""
        self.seen += questions
        return ProbeAnswers({each.question_id: self._text for each in questions if each.question not in self._silent})


def test_both_boards_are_over_the_same_questions(result: ProbeResult, subject: ProbedSubject) -> None:
    boards = list(answered_boards(result))
    assert [board.answering.answerer for board in boards] == ["extract", "recorded"]
    for board in boards:
        assert board.kept.asked == board.said.asked
        assert {row.label for row in board.kept.rows} == {row.label for row in board.said.rows} == set(board.fates)
        for fates in board.fates.values():
            assert sum(fates.shares.values()) == pytest.approx(1)
    extract, recorded = boards
    last = len(subject.cuts) - 1
    assert extract.said.asked == len(asked_at(subject, last)) > recorded.said.asked == 10
    said = {row.method: row.score.value for row in extract.said.rows}
    assert said[ORACLE] > said["drop"]
    kept = {row.method: row.score.value for row in extract.kept.rows}
    assert (kept[ORACLE], kept["drop"]) == (5, 0)
    assert extract.fates["drop 2k"].shares[Fate.KEPT_SAID] == extract.fates[ORACLE].shares[Fate.LOST_SAID] == 0


def test_able_readers_answer_from_right_answers(result: ProbeResult) -> None:
    board = list(answered_boards(result))[1]
    rows = {row.method: row.score.value for row in board.said.rows}
    assert rows[f"gold {PUBLISHED_AS}"] >= 3.5
    assert rows[f"opaque {PUBLISHED_AS}"] < rows[f"anchored+index {PUBLISHED_AS}"]
    # Who has little says so.
    assert board.fates[f"opaque {PUBLISHED_AS}"].abstaining >= 0.5


def test_published_answers_stand_beside_what_was_read(result: ProbeResult) -> None:
    assert (len(published_contexts(TUNED_ON)), len(published_answers(TUNED_ON))) == (30, 300)
    published = {each.sha256: each for each in published_contexts(ANSWERED_ON)}
    assert len(published) == 40
    assert len(published_answers(ANSWERED_ON)) == 400
    answered = result.answered[1]
    for methods in (answered.methods, answered.kept):
        for method in methods:
            (left,) = method.contexts
            assert method.method == f"{published[left.sha256 or ''].method} {PUBLISHED_AS}"
            assert result.contexts[left.sha256 or ""] == published[left.sha256 or ""].text
    assert not {method.label for method in answered.methods} & {method.label for method in result.methods}


def test_an_answerer_sees_no_method_and_no_right_answer(
    measured: ProbeResult, put: list[Put], subject: ProbedSubject
) -> None:
    says = Says("half up")
    answering(measured, put, says)
    assert {vars(each).keys() - {"question_id"} == {"context", "question", "words"} for each in says.seen} == {True}
    # Those about one context follow each other, and stand under no name.
    contexts = [each.context for each in says.seen]
    assert len(list(itertools.groupby(contexts))) == len(set(contexts))
    renamed = replace(measured, methods=[replace(each, method=f"best {each.method}") for each in measured.methods])
    again = Says("half up")
    answering(renamed, questions_about(renamed, [subject]), again)
    assert again.seen == says.seen


def test_what_is_answered_counts_up_to_the_limit(measured: ProbeResult, put: list[Put]) -> None:
    rambling = answering(measured, put, Says("so " * 100 + put[0].subject.gold_of(put[0].asking)))
    assert {len((each.answer or "").split()) for each in rambling.methods[0].asked} == {60}
    assert all(each.score == 0 for method in rambling.methods for each in method.asked)


def test_what_got_no_answer_is_unscored(measured: ProbeResult, put: list[Put]) -> None:
    silent = [each.asked.question for each in put if each.method == 0][:3]
    some = answering(measured, put, Says("That is not in my context.", silent))
    assert some.unanswered == 3 * len(METHODS)
    (board,) = answered_boards(replace(measured, answered=[some]))
    assert board.said.asked == board.kept.asked == len(put) / len(METHODS) - 3
    assert {fates.abstaining for fates in board.fates.values()} == {1}
    assert (
        list(answered_boards(replace(measured, answered=[answering(measured, put, Says("", _questions(put)))]))) == []
    )


def _questions(put: Sequence[Put]) -> list[str]:
    return [each.asked.question for each in put]


def test_saying_nothing_without_naming_it_is_wrong(measured: ProbeResult, put: list[Put]) -> None:
    (board,) = answered_boards(replace(measured, answered=[answering(measured, put, Says("It is fine."))]))
    assert {fates.wrong for fates in board.fates.values()} == {1}


class Refuses:
    """Says of some questions that they have no answer, and guesses at others."""

    name, version = "refuses", "1"

    def __init__(self, of: Sequence[str], guess: str) -> None:
        self._of, self._guess = of, guess

    def answers(self, questions: Sequence[AnswerQuestion]) -> ProbeAnswers:
        """Answer all of them."""
        texts = dict.fromkeys(self._of, "My context does not say.")
        return ProbeAnswers({each.question_id: texts.get(each.question, self._guess) for each in questions})


def test_who_says_that_it_is_not_there_is_counted_and_in_no_mean(
    tmp_path: Path,
    measured: ProbeResult,
    put: list[Put],
    subject: ProbedSubject,
    capsys: pytest.CaptureFixture[str],
) -> None:
    without = unanswerable_about(measured, [subject])
    questions = list(dict.fromkeys(each.asked.question for each in without))
    assert len(questions) == len(subject.unanswerable) == 2
    assert len(without) == 2 * len(METHODS)
    assert {each.at for each in without} == {len(subject.cuts) - 1}
    asked: list[list[Put | PutUnanswerable]] = [[*put], [*put, *without]]
    both = [answering(measured, some, Refuses(questions[:1], "It is 5.")) for some in asked]
    assert both[1].questions == both[0].questions + 2 * len(METHODS)
    (board,), (more,) = (list(answered_boards(replace(measured, answered=[each]))) for each in both)
    assert {fates.unanswerable for fates in board.fates.values()} == {None}
    assert {fates.unanswerable for fates in more.fates.values()} == {Abstained(1, 2)}
    # Nothing else changes.
    assert more.said == board.said
    assert more.kept == board.kept
    assert {label: changed(fates, unanswerable=None) for label, fates in more.fates.items()} == board.fates
    path = tmp_path / "r.json"
    found = replace(measured, answered=[both[1], answering(measured, [*put, *without], ContextExtract())])
    path.write_text(RESULT_FILE.text(found, "r.json"), encoding="utf-8")
    assert read_result(path) == found
    shown = {}
    for form in ("--json", "--csv", "--markdown", ""):
        assert main(["report", str(path), *([form] if form else [])]) == 0
        shown[form] = capsys.readouterr().out
    *_, refuses, extract = json.loads(shown["--json"])
    assert refuses["became"][ORACLE]["unanswerable"] == {"abstained": 1, "asked": 2}
    assert extract["became"][ORACLE]["unanswerable"] == {"abstained": 0, "asked": 2}
    assert ",unanswerable: refuses,0.5,,,2" in shown["--csv"]
    assert "| 1 of 2 |" in shown["--markdown"]
    assert "0 of 2" in shown[""]


def test_a_guess_beside_saying_so_abstains_and_a_guess_alone_does_not(
    measured: ProbeResult, put: list[Put], subject: ProbedSubject
) -> None:
    asked: list[Put | PutUnanswerable] = [*put, *unanswerable_about(measured, [subject])]
    for guess, count in (("It is not in my context; perhaps 5.", 2), ("Nobody set one; perhaps 5.", 0), ("", 0)):
        (board,) = answered_boards(replace(measured, answered=[answering(measured, asked, Refuses([], guess))]))
        assert {fates.unanswerable for fates in board.fates.values()} == {Abstained(count, 2)}


def test_readers_elsewhere_are_asked_what_has_no_answer(
    measured: ProbeResult, put: list[Put], subject: ProbedSubject
) -> None:
    without = unanswerable_about(measured, [subject])
    packets = packets_of([*put, *without], 3, seed=1)
    for packet in packets:
        contexts = [each.context for each in packet]
        assert len(set(contexts)) == 1
        assert {each.question for each in subject.unanswerable} < {each.question for each in packet}
    seen = Says("so")
    answering(measured, [*put, *without], seen)
    assert len(list(itertools.groupby(each.context for each in seen.seen))) == len(METHODS)


def test_probes_by_rule_where_nobody_wrote_any(subject: ProbedSubject) -> None:
    by_rule = changed(subject, probes=tuple(each for each in subject.probes if each.made_by is Maker.RULE))
    assert {each.probe.made_by for each in asked_at(by_rule, 4)} == {Maker.RULE}
    assert {each.probe.made_by for each in asked_at(subject, 4)} == {Maker.HAND}


def test_every_cut_may_be_asked(measured: ProbeResult, subject: ProbedSubject, put: list[Put]) -> None:
    all_of_them = questions_about(measured, [subject], every_cut=True)
    assert len(all_of_them) == len(METHODS) * sum(each.probe.made_by is Maker.HAND for each in subject.asked)
    assert {each.asking.at for each in put} == {len(subject.cuts) - 1}


def test_a_result_with_answers_is_read_and_printed_in_every_form(
    tmp_path: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    path.write_text(RESULT_FILE.text(result, "r.json"), encoding="utf-8")
    assert read_result(path) == result
    shown = {}
    for form in ("--json", "--csv", "--markdown", "--all", ""):
        assert main(["report", str(path), *([form] if form else [])]) == 0
        shown[form] = capsys.readouterr().out
    *_, extract, recorded = json.loads(shown["--json"])
    assert (extract["answerer"], recorded["answerer"]) == ("extract", "recorded")
    assert recorded["answered"]["asked"] == recorded["kept"]["asked"] == 10
    assert len(recorded["answered"]["differences"]) == len(recorded["kept"]["differences"]) == 10
    assert set(recorded["became"][f"gold {PUBLISHED_AS}"]["shares"]) == set(Fate)
    assert f"hand,1,gold {PUBLISHED_AS},,answered: recorded," in shown["--csv"]
    assert 'hand,,gold,,"kept, said: extract",' in shown["--csv"]
    title = "## Answers of recorded (large language models, 25 and 28 November 2026): 10 questions"
    assert title in shown["--markdown"]
    assert "Answered / kept, by type" in shown["--all"]
    assert "Answered / kept, by type" not in shown[""]
    assert "Can it be answered? n = 10" in shown[""]


def test_each_answer_is_shown_beside_the_right_one_with_its_verdict(
    tmp_path: Path, result: ProbeResult, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.json"
    path.write_text(RESULT_FILE.text(result, "r.json"), encoding="utf-8")
    found: dict[str, Any] = {}
    shown: dict[str, str] = {}
    for name in (ORACLE, "drop 2k", f"text-cut {PUBLISHED_AS}"):
        assert main(["report", str(path), "--method", name, "--json"]) == 0
        found[name] = json.loads(capsys.readouterr().out)
        assert main(["report", str(path), "--method", name]) == 0
        shown[name] = capsys.readouterr().out
    (published,) = [each for each in result.answered[1].methods if each.method == f"text-cut {PUBLISHED_AS}"]
    answers = found[published.method]["answers"]
    assert [each["answer"] for each in answers] == [each.answer for each in published.asked]
    assert [each["probe"] for each in found[published.method]["probes"]] == [each["probe"] for each in answers]
    assert f"answers of recorded under {published.method}, 10 of 10:" in shown[published.method]
    lines = shown[published.method].splitlines()
    for each in answers:
        assert f"  question:  {' '.join(each['question'].split())}" in lines
        assert f"  right:     {' '.join(each['right'].split())}" in lines
        assert f"  answer:    {' '.join(each['answer'].split())}" in lines
        for told in each["statements"]:
            assert any(line.startswith(f"  {told['verdict']}:") and told["says"] in line for line in lines)
        assert all(any(line == f"  wrong:     {says}" for line in lines) for says in each["wrong"])
    assert {told["verdict"] for each in answers for told in each["statements"]} >= {"said", "not said"}
    for name in (ORACLE, "drop 2k"):
        assert {each["answerer"] for each in found[name]["answers"]} == {"extract"}
    assert "answers of extract under drop 2k, " in shown["drop 2k"]
    assert "  wrong:     does not mention it, and does not say that it is unknown" in shown["drop 2k"]
    assert {each["state"] for each in found[ORACLE]["probes"]} == {"kept"}
    assert main(["report", str(path), "--method", ORACLE, "--csv"]) == 2
    assert main(["report", str(path), "--method", "text-cut"]) == 2
    assert f"text-cut {PUBLISHED_AS}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "share", "why"),
    [
        ("The complexity was 99 against 20.", 1, "99, complexity, 20"),
        ("The complexity was not 99 against 20.", 0, "denied: 99, complexity, 20"),
        ("The complexity.", 0, "no more than: complexity"),
        ("Nothing.", 0, "not said"),
    ],
)
def test_a_verdict_says_why(subject: ProbedSubject, answer: str, share: float, why: str) -> None:
    asking = next(each for each in subject.asked if each.probe.probe_id == "red-at-first")
    first = judged_answer(subject, asking, answer, AnswerJudge()).statements[0]
    assert (first.share, first.why) == (share, why)


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        (("methods", 0, "method"), "best", "/answered/0/methods: has answers about contexts that were not judged"),
        (("methods", 0, "asked", 0, "at"), 99, "/answered/0/methods: has answers about contexts that were not judged"),
        (("methods", 0, "contexts", 0, "sha256"), "0" * 64, "/contexts: names a text that is not there"),
        (("words",), -1, "/answered/0/words: expected int >= 0"),
    ],
)
def test_damaged_answers(
    tmp_path: Path, result: ProbeResult, place: tuple[str | int, ...], value: object, told: str
) -> None:
    document = json.loads(RESULT_FILE.text(result, "r.json"))
    inner: Any = document["answered"][0]
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=told):
        read_result(path)


def test_a_reader_sees_a_session_under_one_method_alone(put: list[Put]) -> None:
    packets = packets_of(put, 4, seed=1)
    contexts = [{each.context for each in packet} for packet in packets]
    assert sorted(map(len, contexts)) == [0, 1, 1, 1]
    assert len(set().union(*contexts)) == len(METHODS)
    assert {each.question_id for packet in packets for each in packet} == {each.asked.question_id for each in put}
    assert packets == packets_of(put, 4, seed=1) != packets_of(put, 4, seed=2)
    with pytest.raises(InputError, match="is compacted by 3 methods, and each method needs a reader; give --readers 3"):
        packets_of(put, 2, seed=1)


def test_answered_elsewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [SESSION, "--methods", "text", "drop"]
    assert main(["export", *chosen, "--for-answering", str(tmp_path / "out"), "--readers", "2"]) == 0
    packets = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in packets] == ["reader-1.jsonl", "reader-2.jsonl"]
    lines = [json.loads(line) for path in packets for line in path.read_text(encoding="utf-8").splitlines()]
    assert {frozenset(line) for line in lines} == {frozenset({"id", "context", "question", "words"})}
    assert main(["export", *chosen, "--for-answering", str(tmp_path / "out"), "--readers", "2"]) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert "out: is not empty; name a new folder with --for-answering, or empty it" in told
    assert sorted((tmp_path / "out").iterdir()) == packets
    assert main(["run", *chosen, "--answerer", f"recorded:{tmp_path / 'out'}"]) == 2
    assert "reader-1.jsonl:1: is a question, not an answer; store answers in other files" in capsys.readouterr().err
    answers = tmp_path / "answers" / "all.jsonl"
    answers.parent.mkdir()
    given = [{"id": line["id"], "answer": line["context"][:200]} for line in lines[1:]] + [{"id": "x", "answer": ""}]
    answers.write_text("\n".join(map(json.dumps, given)), encoding="utf-8")
    command = ["run", *chosen, "-o", str(tmp_path / "r.json"), "--answerer", f"recorded:{answers.parent}"]
    assert main(command) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"1 of {len(lines)} questions got no answer and are unscored" in shown
    assert "1 answer to other questions are left out" in shown
    (answered,) = read_result(tmp_path / "r.json").answered
    assert answered.answerer == f"recorded:{answers.parent}"
    assert sum(len(method.unanswerable) for method in answered.methods) in (3, 4)


def test_answers_about_ones_own_session(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = str(ROOT / "docs" / "examples" / "session.json")
    command = ["own", session, "--keep-last", "60", "--budget", "400", "--answerer", "extract"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "Answers of extract (version 1, no model)" in shown
    assert main([*command, "--json"]) == 0
    *lost, answered = json.loads(capsys.readouterr().out)
    assert len(lost) == len(answered["answered"]["rows"])
    rows = {row["method"]: row["answers"] for row in lost}
    assert {len(answers) for answers in rows.values()} == {answered["answered"]["asked"]}
    given = rows["anchored+index"]
    assert f"answers of extract under anchored+index, 8 of {len(given)} (--all shows all):" in shown
    assert f"  answer:    {' '.join(given[0]['answer'].split())}" in shown
    assert shown.count("  question:  ") == 8
    assert main([*command, "--all"]) == 0
    assert capsys.readouterr().out.count("  question:  ") == len(given)
    assert main([*command, "recorded"]) == 2
    assert "--answerer recorded: only has answers about the sessions that ship" in capsys.readouterr().err


def test_questions_go_into_a_folder_of_their_own(tmp_path: Path) -> None:
    check_folder(tmp_path / "new")
    check_folder(tmp_path)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is not empty; name a new folder"):
        check_folder(tmp_path)
    with pytest.raises(InputError, match="cannot be used"):
        check_folder(tmp_path / "notes.txt")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_answers_that_fit_nothing_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: list[str]
) -> None:
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "x", "answer": "of another context"}', encoding="utf-8")
    own = ["own", str(ROOT / "docs" / "examples" / "session.json"), "--keep-last", "60", "--budget", "400"]
    assert main([*own, "--answerer", f"recorded:{answers}", *form]) == 0
    told = capsys.readouterr().err
    assert f"recorded:{answers} answered none of the " in told
    assert "questions, and gave 1 answer to others; an id belongs to a context" in told


def test_answers_under_one_method_alone_make_no_board_and_are_told_of(
    measured: ProbeResult, put: list[Put], capsys: pytest.CaptureFixture[str]
) -> None:
    (one, *_), both = put, Says("so")
    (other,) = [each for each in put if each.method == 1 and each.asking.probe != one.asking.probe][:1]
    some = answering(measured, [one, other], both)
    boards = list(answered_boards(replace(measured, answered=[some])))
    assert boards == []
    tell_unanswered([some], boards)
    assert "says answered 2 of the 2 questions, and none under every method; " in capsys.readouterr().err


def test_who_cannot_answer_is_told_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("benchmark.probes.__main__.run_scenarios")
    monkeypatch.setenv("CTXSIFT_REMOTE", "0")
    command = ["run", SESSION, "-o", str(tmp_path / "r.json"), "--answerer"]
    assert main([*command, "extrakt"]) == 2
    assert "did you mean extract" in capsys.readouterr().err
    assert main([*command, "remote-gpt-4o-mini"]) == 2
    assert "add --remote if that is meant" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_comes_to_the_same_table(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log"
    script.write_text(json.dumps({"default": "pace.ts, or so", "delay_ms": 60, "log": str(log)}), encoding="utf-8")
    row = {"name": "mine", "track": "control", "phase": "p", "model": str(script), "quantization": "none"}
    row |= {"device": "cpu", "backend": "scripted"}
    matrix = tmp_path / "matrix.json"
    matrix.write_text(json.dumps({"scenarios": [row]}), encoding="utf-8")
    drawn = random.Random(3)

    def command(name: str) -> list[str]:
        run = [sys.executable, "-m", "benchmark.probes", "run", SESSION, "--methods", "text", "drop", "--json"]
        return [*run, "--matrix", str(matrix), "--answerer", "mine", "-o", str(tmp_path / name)]

    def asked_so_far() -> int:
        return len(log.read_text().splitlines()) if log.exists() else 0

    quiet = subprocess.DEVNULL
    for ending in (signal.SIGKILL, signal.SIGINT):
        before = asked_so_far()
        process = subprocess.Popen(command("r.json"), cwd=ROOT, stdout=quiet, stderr=quiet, preexec_fn=default_signals)
        deadline = time.monotonic() + 90
        while asked_so_far() < before + 5 and time.monotonic() < deadline:
            time.sleep(drawn.uniform(0.02, 0.1))
        process.send_signal(ending)
        assert process.wait(timeout=60) == (-signal.SIGKILL if ending is signal.SIGKILL else 130)
    done = subprocess.run(command("r.json"), cwd=ROOT, capture_output=True, text=True, check=True, timeout=100)
    asked = asked_so_far()
    whole = subprocess.run(command("w.json"), cwd=ROOT, capture_output=True, text=True, check=True, timeout=100)
    once = asked_so_far() - asked
    assert asked <= once + 2
    killed, unharmed = (read_result(tmp_path / name) for name in ("r.json", "w.json"))
    said = [[method.asked for each in result.answered for method in each.methods] for result in (killed, unharmed)]
    assert said[0] == said[1]
    tables = [json.loads(each.stdout)[-1] for each in (done, whole)]
    assert tables[0]["became"] == tables[1]["became"]


def test_what_the_kept_steps_say_counts_for_no_answer(subject: ProbedSubject) -> None:
    asking = next(
        each
        for each in subject.asked
        if each.probe.files is None and 0 < len(each.counted.statements) < len(each.probe.statements)
    )
    leaked = [each.says for index, each in enumerate(asking.probe.statements) if index not in asking.counted.statements]
    found = judged_answer(subject, asking, "\n".join(f"{says}." for says in leaked), AnswerJudge())
    assert [each.index for each in found.statements] == asking.counted.statements
    assert found.score < 2.5
    assert judged_answer(subject, asking, asking.probe.gold, AnswerJudge()).score == 5


@pytest.mark.slow
def test_right_answers_can_be_answered_from_and_nothing_cannot() -> None:
    names = sorted({each.session for each in published_contexts(ANSWERED_ON)})
    subjects = {each.name: each for each in recorded_subjects(names)}
    published, _ = published_answering(list(subjects.values()))
    assert published
    assert published.foreign == 0
    scores = {method.method: fmean(each.score for each in method.asked) for method in published.methods}
    assert scores[f"gold {PUBLISHED_AS}"] >= 4.7
    assert scores[f"anchored+index {PUBLISHED_AS}"] >= scores[f"opaque {PUBLISHED_AS}"] + 1
    found: dict[str, list[float]] = {"gold": [], "": []}
    for context in published_contexts(ANSWERED_ON):
        if context.method == "gold":
            subject = subjects[context.session]
            for asking in asked_at(subject, len(subject.cuts) - 1):
                for name, text in (("gold", context.text), ("", "")):
                    said = extracted(AnswerQuestion(text, asking.probe.question))
                    found[name].append(judged_answer(subject, asking, said, AnswerJudge()).score)
    # Words in common with the question find some of the right answers among those to all other questions.
    assert fmean(found["gold"]) >= 3
    assert fmean(found[""]) == 0
