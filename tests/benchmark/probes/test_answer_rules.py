"""What an answer in few words covers, and what is no answer although its words are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from benchmark.probes.answer_faults import asks_for_excluded
from benchmark.probes.answer_rules import AnswerJudge, AnswerVerdict, FilesAsked, Rule, paths_in
from benchmark.probes.model import Probe

OVEN: dict[str, Any] = {
    "id": "oven",
    "type": "decision",
    "question": "Which loaves may not be baked in the small oven, what keeps its heat, and why was steam given up?",
    "evidence": [4],
    "statements": [
        {
            "says": "no rye in the small oven",
            "names": [["rye", "Rye"]],
            "terms": [["!bake", "!baked"], ["small oven"]],
        },
        {"says": "oven.toml keeps its heat at 230 degrees", "names": ["oven.toml"], "terms": [["230"]]},
        {
            "says": "steam was given up, as the door leaks",
            "weight": "okay",
            "terms": [["steam"], ["leak", "not tight"]],
        },
    ],
    "must_not": [{"says": "steam was too dear", "terms": [["steam"], ["dear", "expensive"]]}],
}
SIGNS = {
    "id": "signs",
    "type": "recall",
    "question": "How are deposits and withdrawals written?",
    "evidence": [4],
    "statements": [
        {"says": "deposits are in brackets", "terms": [["deposit"], ["brackets"]]},
        {"says": "withdrawals are in bold", "terms": [["withdrawal"], ["bold"]]},
    ],
}
RULES = {
    "id": "rules",
    "type": "constraint",
    "question": "What was said of the ledger and of plug-ins?",
    "evidence": [4],
    "statements": [
        {"says": "nobody edits the ledger", "terms": [["ledger"], ["!edit"]]},
        {"says": "no macros", "terms": [["!macro"]]},
    ],
}
FILES = {
    "id": "files",
    "type": "artifact",
    "question": "Which files were created?",
    "evidence": [4],
    "files": "created",
}


def judged(probe: Mapping[str, object], answer: str, *without: Rule, files: FilesAsked | None = None) -> AnswerVerdict:
    return AnswerJudge(without).judge(msgspec.convert(probe, Probe), answer, files)


RIGHT = "Rye. oven.toml keeps it at 230. The door leaks."


def test_what_the_question_tells_is_told() -> None:
    found = judged(OVEN, RIGHT)
    assert found.coverage == 5
    assert [each.share for each in found.shares.values()] == [1, 1, 1]
    assert found.shares[1].matched == ("oven.toml", "230")
    assert not found.contradictions
    assert judged(OVEN, RIGHT, Rule.TOLD).coverage < 4


def test_nothing_is_said_by_nothing() -> None:
    assert judged(OVEN, "").coverage == 0
    assert judged(OVEN, "I like bread.").coverage == 0


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("oven.toml, I think.", 0.5),
        # The name and the number stand in sentences of their own.
        ("It is in oven.toml. Take 230 of them.", 0.5),
        ("It is kept by a thermostat.", 0),
    ],
)
def test_some_of_the_terms_are_some_of_a_statement(answer: str, share: float) -> None:
    assert judged(OVEN, answer).shares[1].share == share
    assert judged(OVEN, answer, Rule.PARTIAL).shares[1].share == 0


def test_without_its_names_and_numbers_nothing_of_a_statement_is_said() -> None:
    probe = {**OVEN, "statements": [{"says": "warm as 230", "terms": [["warm", "glow"], ["230"]]}]}
    assert judged(probe, "It may glow.").shares[0].share == 0
    assert judged(probe, "It may glow.", Rule.HARD).shares[0].share == 0.5


def test_its_own_words_say_a_statement() -> None:
    probe = {**OVEN, "statements": [{"says": "the baker sleeps at noon", "terms": [["siesta", "takes a nap"]]}]}
    assert judged(probe, "At noon, as the baker always sleeps then.").coverage == 5
    assert judged(probe, "At noon, as the baker always sleeps then.", Rule.WORDS).coverage == 0
    assert judged(probe, "At noon the baker never sleeps.").coverage == 0
    # Two words of three stand in one sentence.
    assert judged(probe, "The baker sleeps. It is noon.").shares[0].share == pytest.approx(0.5 * 2 / 3)
    assert judged(probe, "The baker is out.").coverage == 0


def test_what_may_be_said_counts_half() -> None:
    assert judged(OVEN, "Rye; oven.toml has it at 230.").coverage == pytest.approx(5 * 2 / 2.5)
    assert judged(OVEN, "Rye; oven.toml has it at 230.", Rule.OKAY).coverage == 5


def test_a_list_is_an_answer() -> None:
    groups = [["yeast"], ["lard"], ["malt"], ["bran"], ["dill"]]
    probe = {**SIGNS, "question": "What is in it?", "statements": [{"says": "yeast and more", "terms": groups}]}
    assert judged(probe, "yeast; lard; malt; bran; dill.").coverage == 5
    assert judged(probe, "yeast; lard; malt; bran; dill.", Rule.LISTS).coverage < 2


def test_denials_in_one_word() -> None:
    found = judged(RULES, "The ledger stays unedited.")
    assert [each.share for each in found.shares.values()] == [1, 0]
    assert judged(RULES, "The ledger stays unedited.", Rule.UN).coverage < found.coverage


def test_what_is_refused_is_not_affirmed() -> None:
    assert not judged(RULES, "Macros were ruled out, and the ledger is not edited.").contradictions
    assert judged(RULES, "Macros are fine, and the ledger is not edited.").shares[1].share == 0


NIGHT: dict[str, Any] = {
    "id": "night",
    "type": "constraint",
    "question": "What is ruled out for the dough at night?",
    "evidence": [4],
    "statements": [{"says": "no dough is salted or covered", "terms": [["!salted"], ["!covered"]]}],
}


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("What is ruled out for the dough at night?", True),
        ("What must nobody do, and what may not be done at night?", True),
        ("Which bowls does the mixer refuse?", True),
        ("What was done at night, and why not by day?", False),
        ("Why is dough not salted at night?", False),
    ],
)
def test_what_asks_for_the_excluded(question: str, asks: bool) -> None:
    assert asks_for_excluded(question) is asks


@pytest.mark.parametrize(
    ("answer", "coverage"),
    [
        ("Salting or covering it.", 5),
        ("It is not salted and never covered.", 5),
        ("Salting it.", 2.5),
        ("It may be salted or covered.", 0),
        ("Salting is fine, and covering is as well.", 0),
        ("Salting is not fine, and covering is never done.", 5),
    ],
)
def test_naming_what_is_excluded_answers_what_asks_for_it(answer: str, coverage: float) -> None:
    assert judged(NIGHT, answer).coverage == coverage


def test_what_no_question_excludes_has_to_be_denied() -> None:
    asked = {**NIGHT, "question": "How is the dough treated at night?"}
    assert judged(asked, "Salting or covering it.").coverage == 0
    assert judged(NIGHT, "Salting or covering it.", Rule.EXCLUDED).coverage == 0


@pytest.mark.parametrize(
    "answer",
    [
        # In a sentence that is about something else.
        "The ledger stays as it is. Edits of the menu are welcome.",
        # A negation may stand behind what it denies.
        "As to the ledger, an edit is not welcome.",
    ],
)
def test_nothing_is_affirmed_elsewhere_or_before_a_negation(answer: str) -> None:
    found = judged({**RULES, "question": "What was said?"}, answer)
    assert found.shares[0].share == 0.5
    assert not found.contradictions


def test_a_refusal_that_is_taken_back() -> None:
    refused = {"says": "fan.toml was refused", "names": ["fan.toml"]}
    probe = {**OVEN, "question": "What became of the fan?", "statements": [refused]}
    assert judged(probe, "fan.toml was turned down.").coverage == 5
    assert judged(probe, "fan.toml was not turned down.").coverage == 0


def test_what_is_left_out_is_denied_already() -> None:
    kept = {"says": "oven.toml keeps a heat other than 90", "names": ["oven.toml"], "terms": [["heat"]]}
    probe = {**OVEN, "question": "What holds now?", "statements": [kept]}
    assert judged(probe, "oven.toml has a heat that is not 90.").coverage == 5
    assert judged(probe, "oven.toml does not keep a heat.").coverage == 0


def test_a_question_mark_inside_of_a_sentence_asks_nothing() -> None:
    assert judged(OVEN, "oven.toml, by its warm? flag, keeps 230.").shares[1].share == 1
    assert judged(OVEN, "Is it oven.toml with 230? Rye.").shares[1].share == 0


@pytest.mark.parametrize(
    "answer",
    [
        "Its heat is not kept by oven.toml at 230 degrees.",
        "oven.toml never keeps it at 230 degrees.",
        "oven.toml at 230 degrees does not keep it.",
        "It is not true that oven.toml keeps its heat at 230 degrees.",
    ],
)
def test_a_sense_that_is_turned(answer: str) -> None:
    found = judged(OVEN, answer)
    assert found.shares[1].share == 0
    assert found.contradictions == ("denied: oven.toml keeps its heat at 230 degrees",)
    assert judged(OVEN, answer, Rule.DENIED).shares[1].share == 1


@pytest.mark.parametrize(
    "answer",
    [
        # Another word is denied, which says the same.
        "It never leaves the 230 of oven.toml.",
        "oven.toml has nothing but 230.",
        "In oven.toml, at no more than 230 degrees.",
        "oven.toml at 230, not at 250.",
    ],
)
def test_a_negation_of_something_else(answer: str) -> None:
    assert judged(OVEN, answer).shares[1].share == 1


def test_what_refuses_is_not_denied() -> None:
    probe = {
        **OVEN,
        "statements": [{"says": "fan.toml was refused", "names": ["fan.toml"]}],
        "question": "What was refused?",
    }
    assert judged(probe, "There is to be no fan.toml.").coverage == 5


def test_what_is_denied_may_not_be_affirmed() -> None:
    assert judged(OVEN, "Rye may be baked there.").coverage == 0
    assert judged(OVEN, "Rye may be baked there.", Rule.AFFIRMED).shares[0].share == 1
    # Whoever says both knows what holds.
    assert judged(OVEN, "Rye was baked there, and is not to be baked there again.").shares[0].share == 1


def test_another_number() -> None:
    probe = {**OVEN, "statements": [{"says": "oven.toml keeps 230 degrees", "names": ["oven.toml"]}]}
    found = judged(probe, "oven.toml keeps 250 degrees.")
    assert found.contradictions == ("250 in place of its number: oven.toml keeps 230 degrees",)
    assert judged(probe, "oven.toml keeps 250 degrees.", Rule.NUMBERS).coverage == 5
    # Both are told, the old one and the new one.
    assert judged(probe, "oven.toml keeps 230 degrees, at first it kept 250 degrees.").coverage == 5
    # The same in other words.
    minutes = {"says": "it rests 2 * 60 minutes", "terms": [["rest"], ["2 * 60", "120 minutes"]]}
    assert judged({**OVEN, "statements": [minutes]}, "It rests 120 minutes.").coverage == 5
    # A statement without a word of its own is in no sentence.
    part = {"says": "rye is 6 % of it", "terms": [["6 %", "6 percent"]]}
    found = judged({**OVEN, "question": "How much is rye?", "statements": [part]}, "Wheat is 80 % of it.")
    assert not found.contradictions
    # What the number is of, nobody says.
    assert judged(probe, "oven.toml has it, 250 lines long.").coverage == 5


@pytest.mark.parametrize(
    ("answer", "coverage"),
    [
        ("Deposits in brackets, withdrawals in bold.", 5),
        ("Withdrawals in bold, deposits in brackets.", 5),
        ("Withdrawals in brackets, deposits in bold.", 0),
        # Who is meant otherwise, the question tells.
        ("Deposits are in bold; what goes out is in brackets.", 0),
        ("Brackets and bold.", 5),
    ],
)
def test_roles_that_are_swapped(answer: str, coverage: float) -> None:
    assert judged(SIGNS, answer).coverage == coverage
    assert judged(SIGNS, answer, Rule.MIXED).coverage == 5


def test_what_a_right_answer_mixes_up_is_not_told_apart() -> None:
    says = ["the mill was named by the baker", "the baker has the word on the mill"]
    terms = [[["mill"], ["named"]], [["baker"], ["word"]]]
    statements = [{"says": each, "terms": groups} for each, groups in zip(says, terms, strict=True)]
    probe = {**SIGNS, "question": "Who named it?", "statements": statements}
    assert judged(probe, "\n".join(f"{each}." for each in says)).coverage == 5


def test_pairs_that_are_swapped() -> None:
    statement = {
        "says": "mills have 3 stones, presses have 7",
        "pairs": [[["mills"], ["3"]], [["presses"], ["7"]]],
    }
    probe = {**SIGNS, "question": "How many stones are there?", "statements": [statement]}
    assert judged(probe, "Mills have 3, and presses have 7.").coverage == 5
    assert judged(probe, "Mills have 7, and presses have 3.").coverage == 0
    assert judged(probe, "Mills have 3.").coverage == 2.5


@pytest.mark.parametrize(
    ("answer", "coverage"),
    [
        # The value that held before.
        ("oven.toml keeps its heat at 210 degrees, as she said at first.", 0),
        # A file that is none, with all else right.
        ("heat.toml keeps it at 230 degrees.", 2.5),
        ("heat.toml keeps it.", 0),
        ("Its heat is kept by the thermostat of the big oven.", 0),
    ],
)
def test_values_and_files_that_are_not_those(answer: str, coverage: float) -> None:
    probe = {**OVEN, "statements": [OVEN["statements"][1]], "must_not": []}
    assert judged(probe, answer).coverage == coverage


def test_words_of_a_right_answer_in_no_order() -> None:
    answer = "oven small the no in rye. degrees 230 heat at keeps its oven.toml. leaks as door steam was the up given"
    assert judged(OVEN, answer).coverage == 0
    assert judged(OVEN, answer, Rule.SHUFFLED).coverage > 2
    right = "As the door leaks, steam was given up; oven.toml keeps its heat at 230 degrees; no rye in the small oven."
    assert judged(OVEN, right).coverage == 5


def test_what_only_a_wrong_answer_says() -> None:
    found = judged(OVEN, f"{RIGHT} Steam was too expensive.")
    assert found.must_not == {0}
    assert found.contradictions == ("steam was too dear",)
    assert found.coverage == pytest.approx(5 * 0.4)
    assert judged(OVEN, f"{RIGHT} Steam was too expensive.", Rule.MUST_NOT).coverage == 5


@pytest.mark.parametrize(
    ("answer", "abstains"),
    [
        (RIGHT, False),
        ("Not in my context.", True),
        ("Rye. The reason is not in my context.", True),
        ("My context does not say why.", True),
        ("I don't know.", True),
        ("I only see rye; the rest is not spelled out.", True),
        ("Cannot tell from here.", True),
        ("The summary gives no reason.", True),
        ("Rye; why was never recorded.", True),
        ("That is not said in my notes.", True),
        ("Unknown.", True),
        ("The oven does not tell when the bread is done.", False),
        ("The log gives no warning, and nothing is printed.", False),
        ("No rye, and nothing that is not dry.", False),
    ],
)
def test_whoever_does_not_know_says_so(answer: str, abstains: bool) -> None:
    assert judged(OVEN, answer).abstains is abstains


def test_what_neither_may_nor_is_done_is_denied() -> None:
    probe = OVEN | {"must_not": [{"says": "gas may be used", "terms": [["gas", "Gas"], ["may be used", "is used"]]}]}
    assert judged(probe, "Neither steam nor gas may be used.").must_not == frozenset()
    assert judged(probe, "Gas may be used.").must_not == {0}
    assert judged(probe, "Neither steam nor wood is hot; gas may be used.").must_not == {0}


ASKED = FilesAsked(frozenset({"src/a.py", "src/b.py"}), frozenset({"src/c.py", "docs/a.md"}))


@pytest.mark.parametrize(
    ("answer", "coverage"),
    [
        ("src/a.py and b.py", 5),
        ("In src: a.py, b.py; src/c.py was there before.", 5),
        ("/home/me/project/src/a.py", 2.5),
        ("docs/a.md", 0),
        ("src/{a, b}.py", 5),
        ("In src: a, b (all .py).", 5),
        ("src/{a,b} (*.py)", 5),
        ("In src: a, b.", 0),
        ("src/a.py is untouched; b.py is new.", 2.5),
        ("src/a.py was reverted; b.py is new.", 2.5),
        ("src/a.py, src/b.py and src/d.py.", 2),
        ("src/a.py was not created. b.py is new.", 2.5),
        ("src/a.py and b.py were created, src/c.py was not changed.", 5),
        ("It is not true that src/a.py and src/b.py were created.", 0),
        ("They are not in my context.", 0),
    ],
)
def test_files_of_a_kind(answer: str, coverage: float) -> None:
    assert judged(FILES, answer, files=ASKED).coverage == coverage


def test_a_file_whose_name_looks_like_a_word() -> None:
    assert judged(FILES, "The Makefile.", files=FilesAsked(frozenset({"Makefile"}))).coverage == 5
    assert judged(FILES, "The Makefiles.", files=FilesAsked(frozenset({"Makefile"}))).coverage == 0


def test_a_file_that_nobody_knows_is_invented() -> None:
    found = judged(FILES, "a.py, b.py, zebra.py", files=ASKED)
    assert found.contradictions == ("there is no zebra.py",)
    assert judged(FILES, "a.py, b.py, zebra.py", Rule.INVENTED, files=ASKED).coverage == 5


def test_what_looks_like_a_file() -> None:
    text = "See ./src/a.py, `.flaskenv`, created/modified and Makefile at 3.5 o'clock (e.g. b.toml, i.e. src/c.h)."
    assert paths_in(text) == {"src/a.py", ".flaskenv", "b.toml", "src/c.h"}
