"""Sentences and lists: what says something, and what only strings names together."""

from __future__ import annotations

from benchmark.statements.text import read


def test_prose_is_no_list() -> None:
    for said in (
        "Failed because they edited something: black, isort, trailing-whitespace, end-of-file-fixer, check-yaml",
        "half_cent (r_test.go:18): Price(Home, 3, 12:00) got 94, want 95; Price(Trade, 1, 06:00) got 252, want 315",
        "Programme: 1 passed, 2 failed, 1 pending; Rehearsal: 5 passed, 3 failed, 1 pending; Song: 4 passed, 3 failed",
        "web1, web2 and web3 were rolled out, and db1 was rolled back to 0041 by the rescue block",
    ):
        assert read(said).lists == frozenset(), said
    for strung in (
        "test_a.py, 94, 95, failed, want, TestPrice, r_test.go:18, got",
        "Programme, passed, failed, pending, Rehearsal, Song, 3, 5",
    ):
        assert read(strung).lists, strung


def test_a_question_says_nothing_but_a_quoted_one_ends_no_sentence() -> None:
    assert len(read("Did a.rs fail? It passed.").sentences) == 1
    assert len(read("Unbound module Ligth (did you mean Light?).").sentences) == 1


def test_a_wrapped_line_goes_on_and_a_bullet_begins_anew() -> None:
    assert len(read("a.py fails because\nb.py is gone.").sentences) == 1
    assert len(read("- a.py fails\n- b.py is gone").sentences) == 2


def test_clauses_are_cut_where_both_sides_have_a_verb() -> None:
    text = read("a.py, b.py and c.py failed while d.py was skipped; e.py passed")
    clauses = [" ".join(token.text for token in text.tokens[first:past]) for first, past in text.clauses]
    assert clauses == ["a.py , b.py and c.py failed while", "d.py was skipped ;", "e.py passed"]
