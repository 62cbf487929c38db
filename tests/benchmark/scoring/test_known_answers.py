"""What the known answers of a case do to the score of another one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from benchmark.cases import Case, Corpus
from benchmark.corpus.answers import CorpusAnswer, read_answers
from benchmark.scoring import Embedder, score_view
from benchmark.scoring.case_score import Scores
from benchmark.scoring.component_score import ComponentScore
from benchmark.scoring.known_answers import FEWEST_KNOWN, by_known_answers
from benchmark.statements.text import read
from benchmark.statistics import mean
from ctxsift.compression import examine
from ctxsift.intents import Intent

_NAME = re.compile(r"\b[A-Za-z][\w.-]*[\d_./:-][\w./:-]*\w")
SAID = ComponentScore(0.9, ("says: it",))
FALSE = "In git-bisect the first bad commit was never found, because the two skipped revisions hid it from the search."


@pytest.fixture
def case(corpus: Corpus) -> Case:
    return next(each for each in corpus.cases if each.known and each.intent is Intent.SUMMARY)


def scores(text: str, case: Case, embedder: Embedder) -> Scores:
    view = examine(text, case.request)[1]
    return score_view(view.text, view.validation, case, embedder)


def test_a_known_right_answer_is_right_and_a_known_wrong_one_is_named(case: Case) -> None:
    right = next(each.text for each in case.known if each.is_right)
    wrong = next(each.text for each in case.known if not each.is_right)
    assert by_known_answers(right, SAID, case) == SAID
    found = by_known_answers(wrong, SAID, case)
    assert found.score < 0.5
    assert wrong[:20] in found.reasons[-1]


def test_what_is_like_no_known_answer_is_not_held_for_right(case: Case) -> None:
    text = "Seven fishermen sang about their grandmother while bread was burning in another village."
    found = by_known_answers(text, SAID, case)
    assert found.score < SAID.score
    assert "put otherwise" in found.reasons[-1]


def test_a_case_with_few_known_answers_says_so(case: Case) -> None:
    few = replace(case, known=case.known[: FEWEST_KNOWN - 1])
    assert by_known_answers(FALSE, SAID, few) == replace(
        SAID, reasons=(*SAID.reasons, f"judged without known answers ({FEWEST_KNOWN - 1})")
    )
    enough = replace(case, known=case.known[:FEWEST_KNOWN])
    assert "without known" not in by_known_answers(FALSE, SAID, enough).reasons[-1]


@pytest.mark.parametrize(
    "text", ["No. It crashed. Nothing ran. Yes.", "src/cart/total.py and lib/rate.py", "a|b|c|d|e|f"]
)
def test_many_words_without_pairs_are_not_few(text: str, case: Case) -> None:
    assert by_known_answers(text, SAID, case).score < SAID.score


@pytest.mark.parametrize("glue", ["|", ",", "\u200b", " "], ids=["bars", "commas", "no width", "blanks"])
def test_names_strung_or_glued_together_say_nothing(glue: str, corpus: Corpus, embedder: Embedder) -> None:
    """Of every prose case: all of its anchors and many names of its output, with a verb at the end."""
    found = []
    for each in corpus.cases:
        if each.intent not in (Intent.SUMMARY, Intent.RECALL):
            continue
        names = dict.fromkeys([*each.required_anchors, *_NAME.findall(each.raw_input)])
        text = f"{glue.join(list(names)[:40])} missing because not found. None failed."
        found.append(scores(text, each, embedder).case_score)
    assert len(found) > 100
    assert mean(found) < 0.06
    assert sum(score >= 0.5 for score in found) <= 6


def test_right_answers_full_of_names_keep_their_score(corpus: Corpus, embedder: Embedder) -> None:
    """Gold itself, and known right answers whose words are mostly names."""
    by_id = {each.case_id: each for each in corpus.cases}
    full = [
        answer
        for answer in read_answers().answers
        if answer.is_right and read(answer.text).share_of_names > 0.66 and len(answer.text.split()) > 5
    ]
    assert len(full) > 8
    lost = [
        reason
        for answer in full
        for part in scores(answer.text, by_id[answer.case_id], embedder).parts.values()
        for reason in part.reasons
        if "of its words are names" in reason
    ]
    # One in some two thousand.
    assert len(lost) <= 1


@pytest.mark.parametrize("text", ["No.", "test_total failed", "Five words are not enough."])
def test_an_answer_of_a_few_words_is_judged_by_statements(text: str, case: Case) -> None:
    assert by_known_answers(text, SAID, case) == SAID


def test_gold_in_other_lines_is_gold(case: Case) -> None:
    assert by_known_answers(case.expected_output.replace(". ", ".\n"), SAID, case) == SAID


def test_gold_has_everything(corpus: Corpus, embedder: Embedder) -> None:
    for case in corpus.cases:
        if case.known:
            assert scores(case.expected_output, case, embedder).case_score == 1, case.case_id


def test_falsehoods_lose_their_anchors_too(case: Case, embedder: Embedder) -> None:
    wrong = [each for each in case.known if not each.is_right]
    bare = replace(case, known=())
    before, after = (sum(scores(each.text, c, embedder).figure("preserve") for each in wrong) for c in (bare, case))
    assert before > len(wrong) / 3
    assert after < before / 2


def test_answers_of_writers_that_are_not_known_are_told_apart_better(corpus: Corpus, embedder: Embedder) -> None:
    held_out = [each for each in read_answers().answers if each.held_out]
    by_id = {case.case_id: case for case in corpus.cases}
    bare = {name: replace(case, known=()) for name, case in by_id.items()}
    with_known, without = (_ahead(held_out, cases, embedder) for cases in (by_id, bare))
    assert with_known >= 0.86
    assert without <= 0.80


def _ahead(answers: list[CorpusAnswer], cases: dict[str, Case], embedder: Embedder) -> float:
    """Return the AUC of right against wrong."""
    scored = [(each.is_right, scores(each.text, cases[each.case_id], embedder).case_score) for each in answers]
    pairs = [(a > b) + 0.5 * (a == b) for right, a in scored if right for wrong, b in scored if not wrong]
    return sum(pairs) / len(pairs)
