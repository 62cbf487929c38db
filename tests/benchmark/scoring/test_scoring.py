"""What the components promise: gold gets 1, nothing gets 0, damage costs."""

from __future__ import annotations

import random
import re
import statistics

import pytest

from benchmark.cases import Case, Corpus, Rules
from benchmark.scoring import COMPONENTS, Embedder, Scores, case_score, latency_factor, scenario_score, score_view
from benchmark.scoring.anchors import missing_anchors
from benchmark.scoring.exact_values import OTHER_VALUE, same_value, value_similarity
from benchmark.scoring.formats import matches_pattern
from benchmark.scoring.instruction import check_rules, count_sentences, in_order
from benchmark.scoring.prose_facts import numbers
from benchmark.scoring.quality import score_quality
from benchmark.scoring.said import own_words
from benchmark.whole_tokens import has_token
from ctxsift.answers.validation import WRAPPED_BULLET, Status, validate
from ctxsift.compression import examine
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.support.depth import depth


def scores(text: str, case: Case, embedder: Embedder, view: int = 1) -> Scores:
    raw, recovered, _ = examine(text, case.request)
    examined = (raw, recovered)[view]
    return score_view(examined.text, examined.validation, case, embedder)


@pytest.mark.parametrize("view", [0, 1])
def test_gold_scores_exactly_one_on_every_component(corpus: Corpus, embedder: Embedder, view: int) -> None:
    for case in corpus.cases:
        for reference in case.references:
            got = scores(reference, case, embedder, view)
            assert len(got.parts) == 5
            assert all(part.score == 1.0 for part in got.parts.values()), (case.case_id, got.parts)
            assert got.case_score == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("text", ["", " \n\t\n"])
def test_nothing_scores_zero(corpus: Corpus, embedder: Embedder, text: str) -> None:
    for case in corpus.cases:
        got = scores(text, case, embedder)
        assert len(got.parts) == 5
        assert all(part.score == 0.0 for part in got.parts.values())
        assert got.case_score == 0.0


@pytest.mark.slow
def test_gold_of_another_case_has_little_quality(corpus: Corpus, embedder: Embedder) -> None:
    plain = [case for case in corpus.cases if contract_of(case.intent).kind is ContractKind.PLAIN]
    figures = [
        score_quality(other.expected_output, case.expected_output, case.intent, embedder).score
        for case in plain
        for other in corpus.cases
        if other.capture != case.capture
    ]
    assert statistics.mean(figures) <= 0.15


@pytest.mark.parametrize(
    ("token", "text", "found"),
    [
        ("E1", "see E10", False),
        ("E1", "see E1.", True),
        ("1.2", "version 1.2.3", False),
        ("1.2", "version 11.2", False),
        ("1.2", "version 1.2.", True),
        ("12", "1,12", False),
        ("12", "12,500 rows", False),
        ("12", "rows: 12, files: 3", True),
        ("src/a.py", "in src/a.py:14:", True),
        ("a.py", "in src/a.py", True),
        ("a.py", "in data.py", False),
        ("a.py", "in my-a.py", False),
        ("StoreException", "io.relay.StoreException: x", True),
        ("python -m app", "python  -m\napp", True),
        ("--config", "run --config x", True),
        ("test_total", "test_total_ok", False),
        ("/etc/passwd", "cat /etc/passwd", True),
        ("/etc/passwd", "/mnt/backup/etc/passwd", False),
        ("exit code 2", "exit code 25", False),
        ("[id=3]", "worker[id=3]", True),
        ("café", "cafés", False),
    ],
)
def test_tokens_have_boundaries(token: str, text: str, found: bool) -> None:
    assert has_token(text, token) is found


def test_weights_sum_to_one() -> None:
    weighted = [component.weights for component in COMPONENTS if component.weights]
    assert len(weighted) == 4
    assert all(set(weights) == set(Intent) for weights in weighted)
    for intent in Intent:
        assert sum(weights[intent] for weights in weighted) == pytest.approx(1.0)


def test_strict_intents_forgive_instructions_where_the_format_is_right() -> None:
    perfect = {"validation_status": "accepted", "thought_density": 0.0, "preserve": 1.0, "quality": 1.0, "brevity": 1.0}
    assert case_score("json", format=1.0, instruction=0.0, **perfect) == pytest.approx(1.0)  # type: ignore[arg-type]
    assert case_score("summary", format=1.0, instruction=0.0, **perfect) == pytest.approx(0.75)  # type: ignore[arg-type]


@pytest.mark.parametrize(("ms", "factor"), [(0, 1.0), (2000, 1.0), (4000, 0.5**0.15), (1e9, 0.85)])
def test_latency_factor(ms: float, factor: float) -> None:
    assert latency_factor(ms) == pytest.approx(factor)


def test_scenario_of_no_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        scenario_score([], 1.0)


@pytest.mark.parametrize(
    ("text", "count"),
    [("One.", 1), ("One. Two", 2), ("v1.2 of a.py failed. Then e.g. b.py did!", 2), ("", 0), ("No end mark", 1)],
)
def test_sentences(text: str, count: int) -> None:
    assert count_sentences(text) == count


def test_rules_are_graded_and_explained() -> None:
    rules = Rules(max_words=4, forbidden=("E2",), order=("a", "b"), pattern="a.*")
    kept = [round(figure, 2) for figure, _ in check_rules("a b c d e", rules, Intent.SUMMARY)]
    assert kept == [0.5, 1.0, 1.0, 1.0]
    broken = {why: kept for kept, why in check_rules("b a E2", rules, Intent.SUMMARY)}
    assert broken["contains E2, which was to be left out"] == 0.0
    assert broken["not in the order a, b"] == 0.0
    assert in_order("x", ("a", "b", "c")) == 0.0
    assert in_order("test_a_b failed, test_b, test_a", ("test_a", "test_b")) == 0.0


def test_a_pattern_that_explodes_or_is_none_matches_nothing() -> None:
    assert not matches_pattern("a" * 40 + "!", r"(a|aa)+$")
    assert not matches_pattern("x", "(")
    assert not matches_pattern("x", None)


@pytest.mark.parametrize(
    ("intent", "gold", "answers"),
    [
        # better before worse
        (
            "json",
            '{"a": 1, "b": ["x", "y"]}',
            ['{"b": ["x", "y"], "a": 1}', '{"a": 1, "b": ["x"]}', '{"a": 1}', '{"c": 2}'],
        ),
        ("yaml", "a: 1\nb: twenty", ["b: twenty\na: 1", "a: 1\nb: Twenty", "a: 1\nb: twentx", "c: 3"]),
        ("exact-lines", "one\ntwo\nthree", ["one\ntwo\nthree\n", "one\ntwo", "two\none", "four"]),
        (
            "table",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
            ["| a | b |\n|---|---|\n| 1 | 2 |", "| x | y |\n|---|---|\n| 9 | 8 |"],
        ),
    ],
)
def test_quality_falls_with_distance(
    corpus: Corpus, embedder: Embedder, intent: str, gold: str, answers: list[str]
) -> None:
    figures = [score_quality(answer, gold, Intent(intent), embedder).score for answer in answers]
    assert figures == sorted(figures, reverse=True)
    assert len(set(figures)) == len(figures)
    assert figures[-1] < 0.3


def test_shuffled_exact_lines_score_below_gold(corpus: Corpus, embedder: Embedder) -> None:
    cases = [c for c in corpus.cases if c.intent is Intent.EXACT_LINES and c.expected_output.count("\n")]
    assert cases
    for case in cases:
        lines = case.expected_output.split("\n")
        shuffled = lines[:]
        while shuffled == lines:
            random.Random(1).shuffle(shuffled)
            shuffled = shuffled if shuffled != lines else lines[::-1]
        assert scores("\n".join(shuffled), case, embedder).case_score < 1.0


@pytest.mark.parametrize(
    "answer", ["- 1: a\n  b: c", "- 2024-01-01: x", "- on: y\n- 1.5: [a, {b: 2}]", "a: !!int", "- ~: x"]
)
def test_odd_yaml_is_scored_without_a_fault(corpus: Corpus, embedder: Embedder, answer: str) -> None:
    for case in corpus.cases:
        if case.intent in (Intent.YAML, Intent.JSON):
            assert 0.0 <= scores(answer, case, embedder).case_score < 1.0
    assert scores("[" * 900 + "]" * 900, case, embedder).case_score < 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "\ud83d",
        "a: 0x" + "f" * 6000,
        "a: " + "9:" * 3000 + "9",
        "a: !!set {x, y}",
        "a: !!binary aGk=",
        "[" + "9" * 5000 + "]",
    ],
)
def test_hostile_answers_are_scored_without_a_fault(corpus: Corpus, embedder: Embedder, answer: str) -> None:
    for intent in Intent:
        case = next(case for case in corpus.cases if case.intent is intent)
        assert 0.0 <= scores(answer, case, embedder).case_score < 0.5
    assert embedder.count_tokens(answer) > 0


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("It took 4.9 percent.", "It took 4.9%."),
        ("It took 1.57 seconds.", "It took 1.57s."),
        ("It took 69 milliseconds.", "It took 69 ms."),
        ("Five tests failed.", "5 tests failed."),
        ("It took 50 \u03bcs.", "It took 50us."),
        ("It took 1,000 ms.", "It took 1000 ms."),
        ("No one failed.", "Nobody failed."),
        ("Every one of them failed.", "They all failed."),
        ("The one that failed is new.", "What failed is new."),
        ("Another one failed, this one too.", "Others failed."),
        ("They failed one by one.", "They failed in turn."),
        ("The first one is old.", "The first is old."),
        ("It is a one-line fix.", "It is a short fix."),
        ("It exited non-zero.", "It did not exit well."),
        ("The 2nd attempt failed a second later.", "The second attempt failed soon."),
    ],
)
def test_other_words_for_a_number_are_the_same_number(answer: str, gold: str) -> None:
    assert numbers(answer) == numbers(gold)


def test_sentences_in_another_order_cost_nothing(corpus: Corpus, embedder: Embedder) -> None:
    tried = 0
    for case in corpus.cases:
        sentences = re.split(r"(?<=[.!?])\s+", case.expected_output)
        if contract_of(case.intent).kind is ContractKind.PLAIN and len(sentences) > 1:
            tried += 1
            shuffled = " ".join(sentences[::-1])
            got = score_quality(shuffled, case.expected_output, case.intent, embedder)
            assert got.score >= 0.99, (case.case_id, got)
    assert tried > 50


def test_one_wrong_letter_of_an_exact_value_makes_another_value(corpus: Corpus, embedder: Embedder) -> None:
    cases = [case for case in corpus.cases if case.intent is Intent.EXACT_FORMAT]
    assert len(cases) > 30
    for case in cases:
        gold = case.expected_output
        for place in (i for i, letter in enumerate(gold) if letter.isalnum()):
            other = "7" if gold[place] == "3" else "3" if gold[place].isdigit() else "e" if gold[place] in "aA" else "a"
            wrong = gold[:place] + other + gold[place + 1 :]
            got = scores(wrong, case, embedder)
            assert got.case_score <= 0.10, (wrong, got)
            assert got.figure("format") == 0
            assert got.figure("quality") <= OTHER_VALUE


@pytest.mark.parametrize(
    ("said", "wanted", "same"),
    [
        ("`src/a.py:14`", "src/a.py:14", True),
        ("Answer: src/a.py:14", "src/a.py:14", True),
        ("SRC/A.PY:14", "src/a.py:14", True),
        ("in [3]: 2", "In[3]:2", True),
        ("v1.9.4", "1.9.4", True),
        ("ConnectException: Connection refused", "java.net.ConnectException: Connection refused", True),
        ("src/a.py:1", "src/a.py:14", False),
        ("src/a.py", "src/a.py:14", False),
        ("1.94", "1.9.4", False),
        ("-5", "5", False),
        ("sensor-admin", "sensor", False),
        ("my-sensor", "sensor", False),
        ("a.py.bak", "a.py", False),
        ("", "a", False),
        ("...", "a", False),
    ],
)
def test_dress_is_no_part_of_a_value_and_every_token_is(said: str, wanted: str, same: bool) -> None:
    assert same_value(said, wanted) is same
    assert 0 <= value_similarity(said, wanted) <= (0.9 if same else OTHER_VALUE)


@pytest.mark.parametrize(
    "value",
    [
        "3bbf3956085c716ab947f1debb7869d24e01a127",
        "e74fdf3",
        "sha256:e9a41f07c2d85b36",
        "10.20.0.77",
        "fe80:0:0:0:1:2:3:4",
        "00:1b:44:11:3a:b7",
        "b1f7c0de-4a52-47e8-9d13-6c20f5a8e714",
        "0x00c0000760d0",
    ],
)
def test_hashes_and_addresses_are_all_or_nothing(value: str) -> None:
    assert value_similarity(value[:-1] + ("1" if value[-1] != "1" else "2"), value) == 0
    assert value_similarity(value[:-2], value) == 0
    assert 0 < value_similarity(f'"{value}"', value) <= 0.9


@pytest.mark.parametrize("intent", [Intent.JSON, Intent.YAML])
def test_another_token_in_a_payload_is_another_leaf(embedder: Embedder, intent: Intent) -> None:
    gold = '{"commit": "e74fdf3", "file": "src/store.py"}'
    wrong = {
        0.9: '{"commit": "e74fdf3", "file": "Src/Store.py"}',
        0.55: '{"commit": "e74fdf3", "file": "src/stone.py"}',
        0.5: '{"commit": "e74fdf4", "file": "src/store.py"}',
    }
    for most, text in wrong.items():
        assert score_quality(text, gold, intent, embedder).score <= most


def test_a_header_in_lower_case_costs_little(corpus: Corpus, embedder: Embedder) -> None:
    cases = [case for case in corpus.cases if case.intent is Intent.TABLE]
    changed = 0
    for case in cases:
        header, *rest = case.expected_output.split("\n")
        for other in (header.lower(), header.title(), re.sub(r"\| (\S[^|]*\S) (?=\|)", r"| **\1** ", header)):
            got = scores("\n".join([other, *rest]), case, embedder)
            assert got.case_score >= 0.9 or got.figure("preserve") < 1, (case.case_id, got)
            assert got.figure("quality") == 1
            assert got.case_score < 1 or other == header
            changed += other != header
    assert changed > len(cases)


def test_columns_in_another_order_keep_their_cells(corpus: Corpus, embedder: Embedder) -> None:
    for case in (case for case in corpus.cases if case.intent is Intent.TABLE):
        rows = [line.strip("|").split("|") for line in case.expected_output.split("\n")]
        turned = "\n".join(f"|{'|'.join([*row[1:], row[0]])}|" for row in rows)
        if "\\|" not in case.expected_output:
            got = scores(turned, case, embedder)
            assert 0.9 <= got.case_score < 1, (case.case_id, got)


def test_a_wrapped_bullet_is_soft_accepted(corpus: Corpus, embedder: Embedder) -> None:
    wrapped = 0
    for case in corpus.cases:
        lines = case.expected_output.split("\n")
        place = next((i for i, line in enumerate(lines) if line.count(" ") > 1), None)
        if case.intent is Intent.BULLET_LIST and place is not None:
            head, _, tail = lines[place].rpartition(" ")
            text = "\n".join([*lines[:place], head, f"  {tail}", *lines[place + 1 :]])
            verdict = validate(text, case.request)
            assert verdict.status is Status.SOFT_ACCEPTED, (case.case_id, verdict)
            assert verdict.flags == (WRAPPED_BULLET,)
            # Sentences in other lines than gold are not gold to the letter.
            assert scores(text, case, embedder).case_score == pytest.approx(0.85, abs=0.001)
            wrapped += 1
    assert wrapped > 15


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("code -1", "code 1"),
        ("v1.2.4", "v9.9.9"),
        ("3 ms", "3 s"),
        ("one error", "two errors"),
        ("one file failed", "a file failed"),
        ("only one test failed", "a test failed"),
        ("one second", "a second"),
        ("zero errors", "errors"),
        ("got one.", "got none."),
    ],
)
def test_other_numbers_are_other_numbers(one: str, other: str) -> None:
    assert numbers(one) != numbers(other)


@pytest.mark.parametrize("intent", [Intent.SUMMARY, Intent.JSON, Intent.EXACT_FORMAT])
@pytest.mark.slow
def test_long_answers_of_one_unit_are_scored(corpus: Corpus, embedder: Embedder, intent: Intent) -> None:
    case = next(case for case in corpus.cases if case.intent is intent)
    for unit in (*"./:@#%+-_,1a \n", "not ", "n't ", "1.", "-1 ", "a.", ". ", "one ", "| ", "{"):
        text = unit * (depth(60_000, 1_000_000) // len(unit))
        got = score_view(text, validate(text[:10], case.request), case, embedder)
        assert 0.0 <= got.case_score < 0.5, unit


def test_whole_numbers_are_numbers(corpus: Corpus, embedder: Embedder) -> None:
    assert score_quality('{"a": 12.0}', '{"a": 12}', Intent.JSON, embedder).score == 1.0
    assert score_quality('{"a": true}', '{"a": 1}', Intent.JSON, embedder).score < 1.0


def test_an_echo_of_one_long_line_is_rejected() -> None:
    raw = "[" + ",".join(str(number) for number in range(900)) + "]"
    assert "raw_echo" in validate(raw, Request(raw, "How many?", Intent.JSON)).reasons


def test_an_anchor_in_other_letters_is_missing() -> None:
    assert missing_anchors("ERRNOROWS at src/APP.py:7", ["ErrNoRows", "src/app.py:7", "src/APP.py:7"]) == [
        "ErrNoRows",
        "src/app.py:7",
    ]


def test_quotes_strung_together_keep_little(corpus: Corpus, embedder: Embedder) -> None:
    """Whatever is put between them, and however the lines are cut."""
    case = next(case for case in corpus.cases if case.case_id == "postgres-lock-queue-recall")
    gold = case.expected_output
    lines = [line.split("] ", 1)[-1] for line in case.raw_input.splitlines() if len(line.split()) > 12][:8]
    quoted = " ".join(f"It says that {line}." for line in lines)
    long = own_words(f"{gold} {quoted}", gold, case)
    assert long.score < 0.6
    assert "strings quotes of the output together" in long.reasons
    assert own_words(f"{gold} Nothing else in that log is of any importance here.", gold, case).score == 1.0
    assert own_words(" ".join(quoted.split()[:20]), gold, case).score == 1.0


def test_a_bullet_more_that_says_nothing_right_costs(corpus: Corpus, embedder: Embedder) -> None:
    case = next(case for case in corpus.cases if case.case_id == "ansible-host-status-bullets")
    gold = case.expected_output
    once, twice = (scores(gold + "\n- the disk was full and was replaced" * n, case, embedder) for n in (1, 2))
    assert twice.figure("quality") < once.figure("quality") < 0.81
    *others, last = gold.splitlines()
    wrapped = "\n".join([*others, last.replace(" because ", "\n  because ", 1)])
    assert scores(wrapped, case, embedder).figure("quality") > 0.99
