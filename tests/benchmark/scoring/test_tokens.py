"""Sentences and lists: what says something, and what only strings names together."""

from __future__ import annotations

from benchmark.scoring.tokens import read


def test_values_that_were_got_are_no_list() -> None:
    for said in (
        "half_cent (r_test.go:18): Price(Home, 3, 12:00) got 94, want 95; Price(Trade, 1, 06:00) got 252, want 315",
        "Programme: 1 passed, 2 failed, 1 pending; Rehearsal: 5 passed, 3 failed, 1 pending; Song: 4 passed, 3 failed",
        "TestPrice: Price(65, false, 0) = 1450, want 1090; Price(40, true, 501) = 4650, want 5290",
    ):
        assert read(said).lists == frozenset(), said
    for strung in (
        "test_a.py, 94, 95, failed, want, TestPrice, r_test.go:18, got",
        "Programme, passed, failed, pending, Rehearsal, Song, 3, 5",
    ):
        assert read(strung).lists, strung


def test_a_question_mark_of_code_or_of_a_quotation_ends_no_sentence() -> None:
    assert read("a.rs:10 fails (the amount of source.read(buf)? is not handled).").sentences == 1
    assert read('b.c:6 gives "did you mean freelist?" as a hint. Rename it.').sentences == 2
    assert read("One process (select sum(total) ...) got signal 9. It was restarted.").sentences == 2
    # A question says nothing.
    assert read("Did a.rs fail? No, it passed.").sentences == 1
