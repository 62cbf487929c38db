"""Which chunks support an answer, by rule."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.scoring import Embedder
from benchmark.statements.model import Statement
from benchmark.utilization import ChunkVerdict, utilization
from benchmark.utilization.records import DataRow
from benchmark.utilization.support import supported

BUILD = "gcc -c store.c\nstore.c:40:9: error: 'retries' undeclared (first use in this function)\n   40 |  retries = 3;"
LINK = "ld: cannot find -lzstd\ncollect2: error: ld returned 1 exit status"
NOISE = "gcc -c main.c\ngcc -c table.c\ngcc -c words.c"
TESTS = "test_parse ... ok\ntest_store ... ok\nRan 2 tests in 0.013s"


def verdicts(embedder: Embedder, answer: str, *chunks: str, question: str = "Why does it fail?") -> list[ChunkVerdict]:
    return supported(DataRow(1, "row 1", question, chunks, answer), embedder)


def relevant(embedder: Embedder, answer: str, *chunks: str, question: str = "Why does it fail?") -> list[int | None]:
    return [verdict.relevant for verdict in verdicts(embedder, answer, *chunks, question=question)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("store.c uses retries on line 40 without a declaration.", [0, 1, 0, 0]),
        ("The linker cannot find -lzstd.", [0, 0, 1, 0]),
        ("retries is undeclared in store.c:40, and the linker misses -lzstd.", [0, 1, 1, 0]),
        ("2 tests ran in 0.013s.", [0, 0, 0, 1]),
        ("The output does not say why.", [0, 0, 0, 0]),
        ("", [0, 0, 0, 0]),
        ("?!", [0, 0, 0, 0]),
    ],
)
def test_what_an_answer_says_is_found(embedder: Embedder, answer: str, expected: list[int]) -> None:
    assert relevant(embedder, answer, NOISE, BUILD, LINK, TESTS) == expected


def test_a_verdict_shows_the_sentence_and_what_is_shared(embedder: Embedder) -> None:
    answer = "The build stops. store.c uses retries on line 40 without a declaration."
    build, noise = verdicts(embedder, answer, BUILD, NOISE)
    assert build.sentence == "store.c uses retries on line 40 without a declaration."
    assert "store.c" in build.reason
    assert "40" in build.reason
    assert (noise.relevant, noise.sentence) == (0, None)


def test_what_the_question_says_is_no_support(embedder: Embedder) -> None:
    chunks = ("collected test_store.py", "E  KeyError: 'hydration'")
    asked = "Why does test_store.py fail?"
    answer = "test_store.py fails with a KeyError for hydration."
    assert relevant(embedder, answer, *chunks, question=asked) == [0, 1]


def test_terms_far_apart_are_not_said_of_each_other(embedder: Embedder) -> None:
    far = "\n".join(["port 8081 is open", *[f"step {n} done" for n in range(20, 40)], "worker idle"])
    near = "worker listens on\nport 8081"
    assert relevant(embedder, "A worker listens on port 8081.", near, far) == [1, 0]


def test_numbers_are_whole(embedder: Embedder) -> None:
    assert relevant(embedder, "It took 4120 ms.", "elapsed 4120 ms", "elapsed 41200 ms", "build 14120") == [1, 0, 0]


TEXTS = st.lists(st.sampled_from([BUILD, LINK, NOISE, TESTS, "", "retries", "3\n\n40"]), min_size=1, max_size=5)


@settings(max_examples=25)
@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_chunks_changes_no_verdict(embedder: Embedder, chunks: list[str], draw: Random) -> None:
    answer = "store.c uses retries on line 40 without a declaration, and -lzstd is missing."
    order = list(range(len(chunks)))
    draw.shuffle(order)
    plain = verdicts(embedder, answer, *chunks)
    assert verdicts(embedder, answer, *(chunks[i] for i in order)) == [plain[i] for i in order]


@given(st.text(max_size=80), st.text(max_size=80), st.lists(st.text(max_size=80), min_size=1, max_size=3))
@settings(max_examples=50)
def test_any_text_has_verdicts(embedder: Embedder, question: str, answer: str, chunks: list[str]) -> None:
    found = verdicts(embedder, answer, *chunks, question=question)
    assert len(found) == len(chunks)
    assert {verdict.relevant for verdict in found} <= {0, 1}


def test_rules_decide_where_nothing_else_does() -> None:
    row = {"question": "Why?", "answer": "The linker cannot find -lzstd.", "contexts": [NOISE, LINK]}
    found = utilization([row])
    assert found.verdicts_by.startswith("rules")
    assert found.rows[0].utilization == 0.5


def test_a_chunk_that_says_a_statement_is_relevant(embedder: Embedder) -> None:
    statement = Statement("two tests ran", terms=(("Ran",), ("2",)))
    question = DataRow(1, "row 1", "How many?", (NOISE, TESTS), "A couple.", statements=(statement,))
    noise, tests = supported(question, embedder)
    assert (noise.relevant, tests.relevant) == (0, 1)
    assert (tests.reason, tests.sentence) == ("says a statement", "two tests ran")
