"""What an answer says, whatever its words, and what it contradicts."""

from __future__ import annotations

import pytest

from benchmark.cases import MustNot, Statement, Weight, Within
from benchmark.scoring.statements import Verdict, judge, unsaid_terms

CLOSED = Statement(
    says="test_refund fails because the fixture db_session was already closed",
    terms=(("test_refund",), ("db_session",), ("closed", "shut down", "torn down", "no longer open")),
)
NEVER_OPENED = MustNot(says="db_session was never opened", terms=(("db_session",), ("never opened", "not opened")))


def quality(answer: str, *statements: Statement, must_not: tuple[MustNot, ...] = (), known: str | None = None) -> float:
    return judge(answer, statements, must_not, known=known).quality


@pytest.mark.parametrize(
    "answer",
    [
        "test_refund failed because db_session was already closed.",
        "The fixture db_session had been shut down before test_refund ran.",
        "Already closed when it was needed: db_session, and that broke test_refund.",
        "tests/test_pay.py::test_refund did not pass, since db_session (tests/conftest.py:12) was no longer open.",
        "test_refund is red. Its fixture db_session had been torn down.",
        "test_refund needs db_session.\nBut db_session was closed when it got there.",
        "Somebody is closing db_session too early for test_refund.",
    ],
)
def test_right_answers_in_other_words_say_it(answer: str) -> None:
    assert quality(answer, CLOSED, must_not=(NEVER_OPENED,)) == 1.0


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("test_refund failed because db_session was not closed.", "contradicts: test_refund fails"),
        ("test_refund failed because db_session was never opened.", "contradicts: db_session was never opened"),
        ("test_login fails because db_session was closed.", "said of test_login"),
        ("test_refund failed.", "does not say"),
        ("Why does test_refund fail because db_session was closed?", "does not say"),
        ("test_refund, db_session, closed, conftest.py, fixture, torn down, teardown", "says nothing there"),
        ("It is not true that test_refund failed because db_session was closed.", "says nothing there"),
        ("It can be ruled out that test_refund failed because db_session was closed.", "says nothing there"),
        ("Either test_refund failed because db_session was closed, or it did not.", "says nothing there"),
        ("", "does not say"),
    ],
)
def test_wrong_answers_do_not(answer: str, why: str) -> None:
    verdict = judge(answer, [CLOSED], [NEVER_OPENED])
    assert verdict.quality == 0.0
    assert any(why in reason for reason in verdict.reasons), verdict.reasons


@pytest.mark.parametrize(
    "after", ["This is wrong.", "None of this is true.", "That is not the reason; the disk was full."]
)
def test_who_takes_it_back_has_not_said_it(after: str) -> None:
    right = "test_refund failed because db_session was closed."
    assert quality(f"{right} {after}", CLOSED) <= 0.3
    assert quality(f"{right} This is not new.", CLOSED) == 1.0


def test_lines_may_be_abbreviated_and_questions_answered() -> None:
    statement = Statement("a.py fails at line 18", (("a.py",), ("fail", "break", "crash"), ("line 18", ":18")))
    assert quality("a.py crashes at L18.", statement, known="a.py line 18") == 1.0
    skipped = Statement("web was skipped", (("web",), ("skip", "left out")))
    assert quality("web? Skipped.", skipped) == 1.0


def test_reasons_tell_what_is_said_and_what_is_not() -> None:
    other = Statement(says="two tests were skipped", terms=(("2 tests", "2 others"), ("skip",)))
    verdict = judge("test_refund broke: db_session was closed.", [CLOSED, other])
    assert verdict.quality == 0.5
    assert verdict.reasons == (f"says: {CLOSED.says}", f"does not say: {other.says}")


def test_what_is_okay_never_costs_and_never_pays() -> None:
    okay = Statement(says="it took 3 s", terms=(("3 s", "3 seconds"),), weight=Weight.OKAY)
    assert quality("test_refund failed: db_session closed", CLOSED, okay) == 1.0
    assert quality("It took 3 seconds.", CLOSED, okay) == 0.0
    # Not even when it is denied.
    denied = Statement(says="it was retried", terms=(("retried", "repeated", "run again"),), weight=Weight.OKAY)
    assert quality("test_refund failed: db_session closed. It was not retried.", CLOSED, denied) == 1.0


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
            ("gcc failed to find zlib.h.", True),
            ("gcc was unable to find zlib.h.", True),
            ("zlib.h is missing.", True),
            ("There is no such file as zlib.h.", True),
            ("zlib.h does not exist.", True),
            ("gcc found zlib.h.", False),
            ("zlib.h exists.", False),
            ("zlib.h is not missing.", False),
            ("zlib.h was found by no compiler.", True),
            ("zlib.h could be found by nobody.", True),
            ("Not only gcc, clang found zlib.h too.", False),
        ],
    )
    def test_under_and_without_one(self, answer: str, said: bool) -> None:
        lost = Statement(says="zlib.h was not found", terms=(("zlib.h",), ("!find",)))
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
        statement = Statement(says="x.py is at fault", terms=(("x.py",), ("at fault", "to blame", "the culprit")))
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


def test_names_and_words_of_two_statements_in_one_sentence_go_with_each_other() -> None:
    missing = Statement(says="a.h is missing", terms=(("a.h",), ("missing", "not found")))
    broken = Statement(says="b.h is malformed", terms=(("b.h",), ("malformed", "corrupt", "damaged")))
    assert quality("a.h is missing and b.h is corrupt.", missing, broken) == 1.0
    assert quality("b.h is missing and a.h is corrupt.", missing, broken) == 0.0


def test_order_says_who_does_it_to_whom() -> None:
    statement = Statement(
        says="web depends on core", terms=(("web",), ("core",), ("depends on", "needs")), order=("web", "core")
    )
    assert quality("web depends on core.", statement) == 1.0
    assert quality("core depends on web.", statement) == 0.0


class TestReference:
    STATEMENT = Statement(says="conf.py has a typo", terms=(("conf.py",), ("typo", "misspelt", "spelling")))

    def test_a_later_sentence_takes_a_name_up(self) -> None:
        assert quality("The build reads conf.py. It has a typo.", self.STATEMENT) == 1.0
        assert quality("The build reads conf.py. The file holds a spelling mistake.", self.STATEMENT) == 1.0

    def test_not_without_a_word_that_points_back(self) -> None:
        assert quality("The build reads conf.py. Somebody made a typo.", self.STATEMENT) == 0.0

    def test_not_where_another_name_of_the_shape_stands(self) -> None:
        assert quality("The build reads conf.py. It finds a typo in main.py.", self.STATEMENT) == 0.0


def test_within_the_answer_the_terms_may_be_anywhere() -> None:
    statement = Statement(
        says="it failed in CI", terms=(("fail", "break", "die"), ("ci", "pipeline")), within=Within.ANSWER
    )
    assert quality("The pipeline ran for an hour.\nThen the upload died.", statement) == 1.0


def test_a_must_not_stays_in_its_clause_and_has_exceptions() -> None:
    rule = MustNot(says="b.py failed", terms=(("b.py",), ("fail",)), unless=("almost",))
    statement = Statement(says="a.py failed", terms=(("a.py",), ("fail", "break", "crash")))
    assert quality("a.py failed, b.py went through.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed while b.py was skipped.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed, and so b.py almost failed.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed but b.py did not fail.", statement, must_not=(rule,)) == 1.0
    assert quality("a.py failed and b.py failed too.", statement, must_not=(rule,)) < 0.5
    # A list is one clause.
    assert quality("a.py, b.py and c.py failed.", statement, must_not=(rule,)) < 0.5


def test_inventions_cost() -> None:
    known = "a.py:12: KeyError: 'x'"
    statement = Statement(says="a.py raises KeyError", terms=(("a.py",), ("KeyError",)))
    right = "a.py raises a KeyError in line 12."
    assert quality(right, statement, known=known) == 1.0
    for invented in ("see b_conf.py", "at line 4711", "use retry_policy=3", "in src/a.pyx"):
        verdict = judge(f"{right} It is so, {invented}.", [statement], known=known)
        assert verdict.quality < 1.0, invented
        assert any("which the output does not" in reason for reason in verdict.reasons)
    # Small counts may be worked out; words may be joined by a dash.
    assert quality(f"{right} 2 more follow-up messages came.", statement, known=known) == 1.0
    # A plural, a compound, a day of the month, a class of status codes, the name that a longer one begins with.
    known = "a.py:12: KeyError: 'x' E0277 errors.Is lz4frame.h"
    for way in ("two E0277s", "it is not errors.Is-compatible", "since the 16th", "a 5xx came", "LZ4 is needed"):
        assert quality(f"{right} And {way}.", statement, known=known) == 1.0, way


def test_one_number_among_verbs_makes_no_name_of_a_group() -> None:
    statement = Statement(says="gc(85) freed nothing", terms=(("gc(85)",), ("free nothing", "in vain", "stay at 34M")))
    found = judge("The heap has 36M, and gc(85) left all of it in use.", [statement])
    assert not found.contradictions


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
    verdict: Verdict = judge(
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
    assert 0.0 <= quality(text, CLOSED, must_not=(NEVER_OPENED,), known="x") <= 1.0


def test_unsaid_terms_name_the_group() -> None:
    assert unsaid_terms("test_refund failed, db_session.", CLOSED) == [CLOSED.terms[2]]
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
    rule = MustNot(says="b.py failed", terms=(("b.py",), ("fail",)))
    statement = Statement(says="a.py failed", terms=(("a.py",), ("fail",)))
    wrong = "a.py and b.py failed."
    for text in (wrong, f"{wrong} {wrong}"):
        assert {worth for _, _, worth in judge(text, [statement], (rule,)).support} == {0.0}
