"""Which words stand together in a text, compared with texts that are right and texts that are wrong."""

from __future__ import annotations

import pytest

from benchmark.statements.likeness import KnownPairs, known_pairs, likeness, pairs_of

RIGHT = "The worker was killed because the migration held the lock."
WRONG = "The migration was killed because the worker held the lock."


@pytest.fixture
def known() -> KnownPairs:
    return known_pairs([RIGHT], [WRONG])


def test_pairs_have_an_order_and_stay_in_their_sentence() -> None:
    pairs = pairs_of("Alpha met beta.\nGamma left at 10:42 in src/a.py:3.")
    assert ("alpha", "beta") in pairs
    assert ("beta", "alpha") not in pairs
    # A file is the same file in any folder and line.
    assert any(second == "a.py" for _, second in pairs)
    assert not any({"beta", "gamma"} == set(pair) for pair in pairs)


def test_words_far_apart_are_no_pair() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnop"]
    pairs = pairs_of(" ".join(words))
    assert (words[0], words[12]) in pairs
    assert (words[0], words[13]) not in pairs


def test_the_same_words_in_other_relations_are_told_apart(known: KnownPairs) -> None:
    assert likeness(RIGHT, known) == -likeness(WRONG, known) > 0.15
    # Half of what a text says beside the truth is known to nobody.
    assert 0 < likeness(f"{RIGHT[:-1]} and nobody had told the night shift about it.", known) < likeness(RIGHT, known)


@pytest.mark.parametrize("text", ["", "?", "Word", "Nobody ever spoke of such things."])
def test_what_nobody_knows_is_like_neither(text: str, known: KnownPairs) -> None:
    assert likeness(text, known) == 0


def test_what_both_say_counts_for_neither() -> None:
    assert likeness(RIGHT, known_pairs([RIGHT], [RIGHT])) == 0
