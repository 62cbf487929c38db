"""What an answer says, whatever its words, and what it contradicts."""

from __future__ import annotations

import pytest

from benchmark.scoring.remarks import reasons_of
from benchmark.statements.judging import TextVerdict, judge, unsaid_terms
from benchmark.statements.model import MustNot, Statement, Weight, Within

CLOSED = Statement(
    says="test_refund fails because the fixture db_session was already closed",
    names=("test_refund", "db_session"),
    terms=(("closed", "shut down", "torn down", "no longer open"),),
)
NEVER_OPENED = MustNot(
    says="db_session was never opened", names=("db_session",), terms=(("not opened",),), unless=("no longer",)
)


def quality(answer: str, *statements: Statement, must_not: tuple[MustNot, ...] = ()) -> float:
    return judge(answer, statements, must_not).quality


@pytest.mark.parametrize(
    "answer",
    [
        "test_refund failed because db_session was already closed.",
        "The fixture db_session had been shut down before test_refund ran.",
        "Already closed when it was needed: db_session, and that broke test_refund.",
        "tests/test_pay.py::test_refund did not pass, since db_session (tests/conftest.py:12) was no longer open.",
        "test_refund is red,\nbecause db_session had been torn down.",
        "Somebody is closing db_session too early for test_refund.",
    ],
)
def test_right_answers_in_other_words_say_it(answer: str) -> None:
    assert quality(answer, CLOSED, must_not=(NEVER_OPENED,)) == 1.0


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("test_refund failed because db_session was not closed.", "does not say"),
        ("test_refund failed because db_session was never opened.", "contradicts: db_session was never opened"),
        ("test_login fails because db_session was closed.", "does not say"),
        ("test_refund failed.", "does not say"),
        ("Why does test_refund fail because db_session was closed?", "does not say"),
        ("test_refund, db_session, closed, conftest.py, fixture, torn down, teardown", "says nothing there"),
        ("", "does not say"),
    ],
)
def test_wrong_answers_do_not(answer: str, why: str) -> None:
    verdict = judge(answer, [CLOSED], [NEVER_OPENED])
    assert verdict.quality == 0.0
    assert any(why in reason for reason in reasons_of(verdict)), verdict


def test_reasons_tell_what_is_said_and_what_is_not() -> None:
    other = Statement(says="two tests were skipped", terms=(("2 tests", "2 others"), ("skip",)))
    verdict = judge("test_refund broke: db_session was closed.", [CLOSED, other])
    assert verdict.quality == 0.5
    assert list(reasons_of(verdict)) == [f"says: {CLOSED.says}", f"does not say: {other.says}"]


def test_what_is_okay_never_costs_and_never_pays() -> None:
    okay = Statement(says="it took 3 s", terms=(("3 s", "3 seconds"),), weight=Weight.OKAY)
    assert quality("test_refund failed: db_session closed", CLOSED, okay) == 1.0
    assert quality("It took 3 seconds.", CLOSED, okay) == 0.0


class TestNegation:
    @pytest.mark.parametrize(
        ("answer", "said"),
        [
            ("The header zlib.h was not found.", True),
            ("gcc could not find zlib.h.", True),
            ("gcc couldn't find the header zlib.h.", True),
            ("No zlib.h was found.", True),
            ("gcc found no zlib.h.", True),
            ("Neither zlib.h nor png.h was found.", True),
            ("gcc was unable to find zlib.h.", True),
            ("gcc found zlib.h.", False),
            ("zlib.h exists.", False),
            ("zlib.h is not missing.", False),
            ("Not only gcc, clang found zlib.h too.", False),
        ],
    )
    def test_under_and_without_one(self, answer: str, said: bool) -> None:
        lost = Statement(says="zlib.h was not found", names=("zlib.h",), terms=(("!find",),))
        assert quality(answer, lost) == float(said)

    @pytest.mark.parametrize(
        "answer",
        [
            "It is not a warning, the build failed.",
            "Not because of the cache but because it failed.",
            "No cache was used, and the build failed.",
            "The build failed without a message.",
            "The cache was not used, so the build failed.",
        ],
    )
    def test_reaches_no_further_than_its_clause(self, answer: str) -> None:
        assert quality(answer, Statement(says="the build failed", terms=(("fail", "break", "crash"),))) == 1.0

    def test_does_not_hold_for_names_and_numbers(self) -> None:
        statement = Statement(
            says="x.py is at fault", names=("x.py",), terms=(("at fault", "to blame", "the culprit"),)
        )
        assert quality("Not y.py, x.py is to blame.", statement) == 1.0
        assert quality("There is no doubt that x.py is the culprit.", statement) == 1.0


class TestPairs:
    COUNTS = Statement(
        says="a.py has 2 errors, b.py has 5",
        pairs=((("a.py",), ("2 errors", "2")), (("b.py",), ("5 errors", "5"))),
    )

    @pytest.mark.parametrize(
        "answer",
        [
            "a.py has 2 errors and b.py has 5.",
            "There are 5 errors in b.py and 2 in a.py.",
            "b.py has five errors; a.py has two.",
            "a.py and b.py have 2 and 5 errors, respectively.",
            "a.py has 2 errors.\nb.py has 5 errors.",
        ],
    )
    def test_the_right_way_round(self, answer: str) -> None:
        assert quality(answer, self.COUNTS) == 1.0

    @pytest.mark.parametrize(
        "answer",
        ["a.py has 5 errors and b.py has 2.", "There are 2 errors in b.py and 5 in a.py.", "b.py: 2, a.py: 5 errors."],
    )
    def test_the_wrong_way_round(self, answer: str) -> None:
        verdict = judge(answer, [self.COUNTS])
        assert verdict.quality == 0.0
        assert "mixes up" in verdict.contradictions[0]

    def test_half_of_them_is_half(self) -> None:
        assert quality("a.py has 2 errors.", self.COUNTS) == 0.5


def test_a_name_is_found_to_the_letter_in_any_of_its_spellings() -> None:
    statement = Statement("job web-2 failed", names=(("web-2", "second web job"),), terms=(("fail", "break"),))
    assert quality("The second web job failed.", statement) == 1.0
    assert quality("web-2 broke.", statement) == 1.0
    assert quality("web-20 broke, and so did web 2.", statement) == 0.0
    # It is no predicate that a negation could deny.
    assert quality("No doubt: not web-1, web-2 failed.", statement) == 1.0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("leaflet could not be found.", 1.0),
        ("There is no such module as leaflet.", 1.0),
        ("leaflet is absent.", 1.0),
        ("leaflet is not missing.", 0.0),
        ("leaflet can be found.", 0.0),
    ],
)
def test_a_family_stands_for_all_its_phrases(answer: str, said: float) -> None:
    assert quality(answer, Statement("leaflet is missing", names=("leaflet",), terms=(("~missing",),))) == said


def test_a_reason_in_words_that_nothing_knows_costs() -> None:
    broke = Statement("a.py broke because its cache was stale", names=("a.py",), terms=(("fail", "break"),))
    known = "a.py fails: it reads an old entry of the cache."
    assert judge("a.py failed because it read a stale entry from the cache.", [broke], known=known).quality == 1.0
    strange = judge("a.py failed because the network switch had lost power.", [broke], known=known)
    assert strange.quality == 0.7
    assert strange.strange
    # Two words are too few to tell.
    assert judge("a.py failed because of network trouble.", [broke], known=known).quality == 1.0


def test_within_the_answer_the_terms_may_be_anywhere() -> None:
    statement = Statement(
        says="it failed in CI", terms=(("fail", "break", "die"), ("ci", "pipeline")), within=Within.ANSWER
    )
    assert quality("The pipeline ran for an hour.\nThen the upload died.", statement) == 1.0


def test_a_must_not_stays_in_its_clause_and_has_exceptions() -> None:
    rule = MustNot(says="b.py failed", names=("b.py",), terms=(("fail",),), unless=("almost",))
    statement = Statement(says="a.py failed", names=("a.py",), terms=(("fail", "break", "crash"),))
    assert quality("a.py failed, b.py went through.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed while b.py was skipped.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed, and so b.py almost failed.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed but b.py did not fail.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed and b.py failed too.", statement, must_not=(rule,)) < 0.5
    # A list is one clause.
    assert quality("a.py, b.py and c.py failed.", statement, must_not=(rule,)) < 0.5


def test_more_contradictions_never_raise() -> None:
    rules = tuple(MustNot(says=f"{word} said", terms=((word, f"{word}ish"),)) for word in ("red", "blue", "green"))
    base = "test_refund failed: db_session was closed."
    scores = [
        quality(base + extra, CLOSED, must_not=rules) for extra in ("", " Red.", " Red. Blue.", " Red. Blue. Green.")
    ]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == 1.0
    assert scores[1] <= 0.3


def test_support_tells_which_sentences_say_something() -> None:
    verdict: TextVerdict = judge(
        "Here is the news. test_refund failed: db_session closed. db_session was never opened.",
        [CLOSED],
        [NEVER_OPENED],
    )
    worth = [share for _, _, share in verdict.support]
    assert worth[1] == 1.0
    assert worth[2] == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "not " * 5000,
        "db_session, " * 5000,
        "((((" * 3000,
        ". " * 5000,
        "-" * 20_000,
        "\ud800 db_session\x00closed test_refund",
        "1,000,000 %" * 500,
        "’’’“”" * 500,
        "…",
    ],
)
def test_hostile_text_is_judged_all_the_same(text: str) -> None:
    assert 0.0 <= quality(text, CLOSED, must_not=(NEVER_OPENED,)) <= 1.0


def test_unsaid_terms_name_the_group() -> None:
    assert unsaid_terms("test_refund failed, db_session.", CLOSED) == [CLOSED.terms[0]]
    assert unsaid_terms("test_refund failed: db_session was closed.", CLOSED) == []


@pytest.mark.parametrize(
    ("answer", "quality"),
    [
        ("They do pass. Nothing is red.", 1.0),
        ("The tests pass. No test was skipped.", 1.0),
        ("They pass nothing on.", 0.0),
    ],
)
def test_a_negation_denies_nothing_in_the_sentence_before(answer: str, quality: float) -> None:
    assert judge(answer, (Statement("All tests pass.", terms=(("pass",),)),), ()).quality == quality


def test_what_is_wrong_is_as_wrong_when_it_is_said_again() -> None:
    rule = MustNot(says="b.py failed", names=("b.py",), terms=(("fail",),))
    statement = Statement(says="a.py failed", names=("a.py",), terms=(("fail",),))
    wrong = "a.py and b.py failed."
    for text in (wrong, f"{wrong} {wrong}"):
        assert {worth for _, _, worth in judge(text, [statement], (rule,)).support} == {0.0}
