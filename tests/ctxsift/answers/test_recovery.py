"""Recovery takes wrappers off, never touches a payload, and is honest about what it cannot do."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.cases import Corpus
from benchmark.scoring import Embedder, score_view
from ctxsift.answers.candidates import input_lines
from ctxsift.answers.grounding import ground
from ctxsift.answers.marks import MODEL_TOKENS
from ctxsift.answers.meta_language import ANSWER_LABEL
from ctxsift.answers.recovery import recover
from ctxsift.answers.thought_density import find_thought
from ctxsift.answers.validation import Status, intro_end, validate
from ctxsift.compression import examine
from ctxsift.intents import Intent
from ctxsift.prompts import Request, build_messages
from tests.support.depth import FUZZ, depth
from tests.support.wrappers import DOCUMENT, WRAPPERS, Wrapper, steps, table

RAW = (
    "Let me be the first line\n  indented: [x]\n<analysis>quoted</analysis>\n"
    "error E42 in src/a.py:7\n| a | b |\n- item 1\n"
)
PIECES = st.sampled_from(
    [
        *(
            "<think>",
            "</think>",
            "<|im_end|>",
            "<|im_start|>assistant\n",
            "```",
            "```json\n",
            "\n```",
            "\n",
            "\n\n",
            " ",
        ),
        *("Okay, the user wants it. ", "Wait, ", "Here is the JSON:\n", "Answer: ", "Answer format: ", "assistant\n"),
        *('{"a": 1}', "a: 1\n  b: 2", "- x\n- y", "| a |\n|---|\n| 1 |", "src/a.py:7", "E42", "  indented: [x]"),
        *("<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|end|>", "<analysis>quoted</analysis>"),
        *("a: !!bool maybe", "- 2024-01-01: x", "b: !!int", "- 1: a\n  on: b", "model:\n  name: x"),
        *("<answer>", "</answer>", "User: hi", "\r\n", "\x00", "\u202e", "Let me know if that helps.", "1. Find it\n"),
    ]
)
ANSWERS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=12).map("".join))
INTENTS = st.sampled_from(list(Intent))


def request(intent: Intent) -> Request:
    return Request(RAW, "What failed, and where?", intent)


@pytest.mark.slow
@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda w: w.name)
def test_wrapped_gold_comes_back_byte_for_byte(corpus: Corpus, embedder: Embedder, wrapper: Wrapper) -> None:
    tried = set()
    for case in corpus.cases:
        if case.intent not in wrapper.intents:
            continue
        tried.add(case.intent)
        raw, recovered, recovery = examine(wrapper.wrap(case.expected_output, case.intent), case.request)
        assert recovered.text == case.expected_output, (case.case_id, recovery.steps)
        assert recovered.validation.status is Status.ACCEPTED
        assert recovery.steps
        if wrapper.name != "blank lines":
            raw_score = score_view(raw.text, raw.validation, case, embedder).case_score
            assert raw_score < score_view(recovered.text, recovered.validation, case, embedder).case_score
    assert tried == wrapper.intents


def test_the_document_shows_the_wrappers_that_are_tested_and_the_steps() -> None:
    document = DOCUMENT.read_text()
    assert table() in document, "run python -m tests.support.wrappers"
    assert steps() in document, "run python -m tests.support.wrappers"


def test_gold_is_left_alone(corpus: Corpus) -> None:
    for case in corpus.cases:
        for reference in case.references:
            assert recover(reference, case.request) == recover(reference, case.request).__class__(reference, ())


@given(ANSWERS, INTENTS)
@settings(max_examples=depth(60, 400), deadline=None, derandomize=not FUZZ)
def test_recovery_is_idempotent_and_only_deletes(text: str, intent: Intent) -> None:
    asked = request(intent)
    recovery = recover(text, asked)
    assert recover(recovery.text, asked).text == recovery.text
    characters = iter(text)
    assert all(character in characters for character in recovery.text), "a character was added or moved"
    assert bool(recovery.steps) == (recovery.text != text)


@given(ANSWERS, INTENTS)
@settings(max_examples=depth(60, 400), deadline=None, derandomize=not FUZZ)
def test_no_line_of_the_input_goes_but_in_a_block_or_another_turn(text: str, intent: Intent) -> None:
    recovery = recover(text, request(intent))
    kept = recovery.text.splitlines()
    for step in recovery.steps:
        if step.name in ("thought_prose", "around_payload"):
            lost = input_lines(step.removed, ground(RAW)) - input_lines("\n".join(kept), ground(RAW))
            assert not lost


@given(ANSWERS, INTENTS)
@settings(max_examples=depth(60, 400), deadline=None, derandomize=not FUZZ)
def test_what_fulfils_its_contract_is_not_edited(text: str, intent: Intent) -> None:
    asked = request(intent)
    # A value behind a label or in a box breaks its contract, though it may pass for a value of several words.
    labelled = intent is Intent.EXACT_FORMAT and (
        ANSWER_LABEL.match(text.lstrip()) is not None or any(mark.in_plain_letters for mark in MODEL_TOKENS.marks(text))
    )
    # An introduction above YAML is a key by the letter.
    introduced = intent is Intent.YAML and intro_end(text, RAW) > 0
    plain = intent in (Intent.SUMMARY, Intent.RECALL)
    if validate(text, asked).status is Status.ACCEPTED and not (labelled or introduced or plain):
        assert recover(text, asked).text.strip() == text.strip()


@given(ANSWERS, INTENTS)
@settings(max_examples=depth(60, 400), deadline=None, derandomize=not FUZZ)
def test_validation_and_density_stay_in_range(text: str, intent: Intent) -> None:
    asked = request(intent)
    verdict = validate(text, asked)
    assert 0.0 <= verdict.thought.density <= 1.0
    assert (verdict.status is Status.REJECTED) == bool(verdict.reasons)
    assert all(0 <= span.start < span.end <= len(text) for span in verdict.thought.spans)
    assert (verdict.thought.density > 0) == any(text[s.start : s.end].strip() for s in verdict.thought.spans)


@given(st.text(max_size=100), st.integers(0, 3))
@settings(max_examples=depth(60, 200), deadline=None, derandomize=not FUZZ)
def test_quotations_of_the_input_are_no_thought(line: str, repeat: int) -> None:
    line = line.replace("\r", " ").replace("\n", " ")
    raw = f"before\n{line}\nafter"
    assert find_thought("\n".join([line] * (repeat + 1)), raw_input=raw).density == 0.0


UNITS = [
    *(
        "<think>",
        "</think>",
        "<|channel|>analysis<|message|>",
        "```\n",
        "a",
        " ",
        "\n",
        "| a ",
        "- \n",
        "{",
        "[",
        "a: ",
    ),
    *(
        "Okay, ",
        "so so ",
        "hmm ",
        "1. ",
        "Let me ",
        "I ",
        "\\",
        "<|",
        "/a",
        "a.",
        "\r\n",
        "<answer>",
        "&a *a ",
        '"',
    ),
    *("Here is my thought process:", "Wait, I think. ", "user\n\n", "assistant\n", "so, but, and, "),
    *("x</think>", "x </think> y ", "<think>x</think>", "</think>\n", "<|im_end|>x", "<|im_start|>user\nx"),
    *("<|channel|>final<|message|>x", '{"a": [', "[1] "),
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.slow
def test_an_endless_answer_of_one_unit_is_judged(unit: str) -> None:
    # Prose is read to 30,000 characters, answers to 200,000: below both, where everything is looked at, and above.
    for intent in (Intent.SUMMARY, Intent.YAML, Intent.EXACT_LINES, Intent.JSON):
        # One unit in ten also goes beyond the second bound in CI.
        beyond = intent is Intent.SUMMARY and UNITS.index(unit) % 10 == 0
        for length in (29_000, 199_000, 1_000_000) if FUZZ else (29_000, 205_000)[: 1 + beyond]:
            text = unit * (length // len(unit))
            recovery = recover(text, request(intent))
            verdict = validate(recovery.text, request(intent))
            assert 0.0 <= verdict.thought.density <= 1.0, (intent, length)
            assert (verdict.status is Status.REJECTED) == bool(verdict.reasons), (intent, length)
            assert len(recovery.text) <= len(text), (intent, length)
            assert bool(recovery.steps) == (recovery.text != text), (intent, length)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("thought: none\nplan:\n  - build\n", Intent.YAML),
        ("user: www-data\nassistant: none", Intent.YAML),
        ("model:\n  name: foo\n  size: 3", Intent.YAML),
        ("error: ERESOLVE\nhint: |\n  If you want to proceed, run npm install --force.", Intent.YAML),
        ("npm failed.\nIf you want to proceed, run npm install --legacy-peer-deps.", Intent.SUMMARY),
        ("This is caused by src/db.py:41 raising E4711:\nthe pool was empty.", Intent.SUMMARY),
        ("Sure, E42.\nSee src/a.py", Intent.SUMMARY),
        ("Answer: " * 12 + "42", Intent.EXACT_FORMAT),
        ('{"answer": "```", "user": "Okay, the user wants"}', Intent.JSON),
        ("  indented: [x]", Intent.EXACT_LINES),
        ("Let me be the first line", Intent.EXACT_LINES),
        ("<analysis>quoted</analysis>", Intent.EXACT_LINES),
    ],
)
def test_payload_that_looks_like_a_wrapper_stays(text: str, intent: Intent) -> None:
    assert recover(text, request(intent)).text.strip() == text.strip()
    assert recover(text, request(intent)).text.startswith(text[:3])


def test_unterminated_reasoning_is_not_passed_off_as_an_answer() -> None:
    asked = request(Intent.SUMMARY)
    text = "<think>\nThe error is E42 in src/a.py:7, so the answer"
    assert recover(text, asked).text == text
    assert "unterminated_reasoning" in validate(text, asked).reasons


@pytest.mark.parametrize(
    ("text", "intent", "reason"),
    [
        ("", Intent.SUMMARY, "empty_output"),
        ("E42 failed.<|im_end|>", Intent.SUMMARY, "control_token_leak"),
        ("Answer format: Plain text\nE42 failed.", Intent.SUMMARY, "prompt_echo"),
        ("Okay, the user wants a code. E42", Intent.EXACT_FORMAT, "visible_thought"),
        ("<think>E42", Intent.SUMMARY, "unterminated_reasoning"),
        ('{"a": 1', Intent.JSON, "broken_structure"),
        ('{"a": 1, "a": 2}', Intent.JSON, "broken_structure"),
        ('{"a": NaN}', Intent.JSON, "broken_structure"),
        ("a: [", Intent.YAML, "broken_structure"),
        ("a: &x [1]\nb: *x", Intent.YAML, "broken_structure"),
        ("| a | b |\n|---|---|\n| 1 |", Intent.TABLE, "broken_structure"),
        ("x\n- y", Intent.BULLET_LIST, "broken_structure"),
        ("The error code in the output above is of course E42", Intent.EXACT_FORMAT, "prose_for_exact_value"),
        ("E42\nsrc/a.py:7", Intent.EXACT_FORMAT, "prose_for_exact_value"),
        ("error E43 in src/a.py:7", Intent.EXACT_LINES, "non_verbatim_lines"),
    ],
)
def test_hard_failures_have_stable_names(text: str, intent: Intent, reason: str) -> None:
    verdict = validate(text, request(intent))
    assert verdict.status is Status.REJECTED
    assert reason in verdict.reasons


@pytest.mark.parametrize(
    ("text", "intent", "flag"),
    [
        ("Let me see what failed. E42 in src/a.py:7.", Intent.SUMMARY, "visible_thought"),
        ("E42 in src/a.py:7, see src/b.py:9.", Intent.SUMMARY, "ungrounded_facts"),
        ('```json\n{"a": 1}\n```', Intent.JSON, "outer_fence"),
        ("Sure! Here is the summary:\n\nE42 failed.", Intent.SUMMARY, "small_talk"),
        ("E42 failed.\n\nLet me know if you need more.", Intent.RECALL, "small_talk"),
        ("# E42\nIt failed.", Intent.SUMMARY, "markup_in_plain_text"),
        ("Let me be the first line\nerror E42 in src/a.py:7", Intent.RECALL, "verbatim_excerpt"),
        ("indented: [x]", Intent.EXACT_LINES, "whitespace_changed"),
        ("* item 1", Intent.BULLET_LIST, "bullet_marker"),
    ],
)
def test_soft_flags_have_stable_names(text: str, intent: Intent, flag: str) -> None:
    verdict = validate(text, request(intent))
    assert verdict.status is Status.SOFT_ACCEPTED
    assert flag in verdict.flags


def test_ungrounded_facts_are_listed() -> None:
    verdict = validate("src/b.py:9 raised E4711 after 12.5s in v1.2.3 of load_all.", request(Intent.SUMMARY))
    assert set(verdict.ungrounded) == {"src/b.py:9", "E4711", "12.5s", "v1.2.3", "load_all"}


def test_a_name_put_together_of_known_ones_is_grounded() -> None:
    raw = "garage.go: Enter and Free race; request took 500 ms, python 9.1.4, db in conf/db.yaml"
    told = Request(raw, "Why?", Intent.SUMMARY)
    assert not validate("Garage.Enter races with Garage.Free after 500ms on Python 9.x.", told).ungrounded
    text = "Garage.Leave took 500.9 on 9.1.5, see src/db.yaml."
    assert set(validate(text, told).ungrounded) == {"Garage.Leave", "500.9", "9.1.5", "src/db.yaml"}


TOLD = Request(RAW, "What failed?", Intent.SUMMARY, "tox -e py313 -- tests/unit_all\ncat <<'EOF'\nmake x7\nEOF", 3417)


def test_what_the_command_says_is_grounded() -> None:
    text = "tests/unit_all failed with 3417 under py313, not src/nowhere.py."
    assert validate(text, TOLD).ungrounded == ("src/nowhere.py",)
    untold = replace(TOLD, command=None, exit_code=None)
    assert set(validate(text, untold).ungrounded) == {"src/nowhere.py", "tests/unit_all", "3417"}


@pytest.mark.parametrize(
    "line",
    [
        "Command that was run:",
        "Command that was run: tox -e py313 -- tests/unit_all",
        "Command that was run: tox -e py",
        "Exit code of the command: 3417",
        "- Exit code of the command: 3417",
        "Exit code of the command:",
    ],
)
def test_echoed_lines_about_the_command_are_scaffold(line: str) -> None:
    assert "prompt_echo" in validate(f"{line}\nE42 failed.", TOLD).reasons
    recovered = recover(f"{line}\nE42 failed.", TOLD)
    assert recovered.text == "E42 failed."
    assert [step.name for step in recovered.steps] == ["prompt_scaffold"]


def test_an_echoed_command_of_several_lines_is_removed_as_a_whole() -> None:
    head = build_messages(TOLD)[1].content.partition("Command output:")[0]
    assert head.count("\n") == 5
    assert recover(f"{head}E42 failed.", TOLD).text == "E42 failed."
    # Within an answer that echoes nothing they are quotations.
    quoted = "It ran\n    make x7\nwhich failed."
    assert recover(quoted, TOLD).text == quoted
    assert "prompt_echo" not in validate(quoted, TOLD).reasons


@pytest.mark.parametrize(
    "line", ["Command: tox", "Exit code: 3417", "Exit code of the command: 1", "Command that was run: gmake", "make x7"]
)
def test_what_only_resembles_our_lines_is_an_answer(line: str) -> None:
    assert "prompt_echo" not in validate(line, TOLD).reasons
    assert recover(line, TOLD).text == line


@pytest.mark.parametrize(
    ("command", "answer", "intent", "reason"),
    [
        ("git commit -m 'Let me see what the user wants'", "Let me see what the user wants", Intent.EXACT_FORMAT, ""),
        ("grep '<|im_end|>' a.txt", "grep '<|im_end|>' a.txt", Intent.EXACT_FORMAT, ""),
        (
            "please tell me what is wrong with this one",
            "please tell me what is wrong with this one",
            Intent.EXACT_FORMAT,
            "",
        ),
        ("cat a.txt", "cat a.txt", Intent.EXACT_LINES, "non_verbatim_lines"),
    ],
)
def test_the_command_may_be_quoted_but_is_no_line_of_the_output(
    command: str, answer: str, intent: Intent, reason: str
) -> None:
    told = Request(RAW, "Which command?", intent, command)
    assert validate(answer, told).reasons == ((reason,) if reason else ())
    assert recover(answer, told).text == answer
    if not reason:
        assert validate(answer, replace(told, command=None)).reasons


def test_an_answer_that_repeats_the_command_repeats_no_input() -> None:
    raw = "".join(f"line number {number} of the log\n" for number in range(40))
    assert "raw_echo" not in validate("line number 7 of the log", Request(raw, "?", Intent.SUMMARY, raw)).reasons
    assert "raw_echo" not in validate(raw[::-1], Request(raw, "?", Intent.SUMMARY, raw[::-1])).reasons


def test_an_answer_that_repeats_a_long_input_is_an_echo() -> None:
    raw = "".join(f"line number {number} of the log\n" for number in range(40))
    asked = Request(raw, "What failed?", Intent.EXACT_LINES)
    assert "raw_echo" in validate(raw, asked).reasons
    assert "raw_echo" not in validate("line number 7 of the log", asked).reasons
