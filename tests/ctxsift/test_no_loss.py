"""What recovery must leave alone: marks that are words of the answer, and facts in what looks like a wrapper."""

from __future__ import annotations

import pytest

from ctxsift.answers.grounding import ground
from ctxsift.answers.recovery import recover
from ctxsift.answers.thought_density import find_thought
from ctxsift.answers.validation import Status, validate
from ctxsift.intents import Intent
from ctxsift.prompts import Request

_LOG = """\
$ make image
step 1/4 prepare: ok
step 2/4 compile: error E42 in cache.py:17, twice
step 3/4 link: skipped
user www-data cannot write /var/lib/shop
system disk /dev/sda1 is 97% full
"""


def _request(intent: Intent, raw_input: str = _LOG, instruction: str = "What went wrong?") -> Request:
    return Request(raw_input, instruction, intent)


_THOUGHT = "Okay, let me think about it.\n\n"
_KEPT = {
    "an end mark in a string": (Intent.JSON, '{"reason": "the reply held <|im_end|> too early", "code": "E42"}'),
    "an end mark in a value": (Intent.YAML, "reason: the reply held <|im_end|> too early\ncode: E42"),
    "a header in a cell": (Intent.TABLE, "| file | reason |\n|---|---|\n| cache.py | </s> is missing |"),
    "a block in a bullet": (Intent.BULLET_LIST, "- cache.py: E42\n- the template prints <think>ok</think> first"),
    "a type that is also a tag, in JSON": (Intent.JSON, '{"type": "Set<Analysis>", "code": "E42"}'),
    "a type that is also a tag": (Intent.SUMMARY, "cache.py:17 passes a Set<Analysis> where a list is wanted (E42)."),
    "a key that is a role": (Intent.YAML, "roles:\nuser:\n    name: www-data"),
    "a heading that is a role": (
        Intent.SUMMARY,
        "The compile step fails with E42.\nSystem:\n/dev/sda1 is 97% full, and www-data cannot write /var/lib/shop.",
    ),
    "both sides of a chat that is reported": (
        Intent.SUMMARY,
        "The compile step fails.\nUser: cannot write /var/lib/shop\nAssistant: E42 in cache.py:17",
    ),
    "a closing mark within a sentence": (
        Intent.SUMMARY,
        "Step 2/4 stops with E42 at the closing </think> of cache.py:17, twice.",
    ),
    "a box within a sentence": (Intent.SUMMARY, "Step 2/4 stops with E42 since <output> is never closed in cache.py."),
    "JSON with a comma too many": (Intent.JSON, _THOUGHT + '{"errors": ["E42"],}'),
    "JSON that breaks off": (Intent.JSON, _THOUGHT + '{"errors": ["E42"], "file": {"name": "cach'),
    "a reference": (Intent.JSON, _THOUGHT + "According to [1] the compile step fails with E42."),
    "keys above a label": (
        Intent.YAML,
        _THOUGHT + "file: cache.py\ncode: E42\n\nAnswer:\nstep: compile",
    ),
    "facts in other words above a label": (
        Intent.SUMMARY,
        _THOUGHT + "Nobody can save uploads any more because of missing rights.\n\n"
        "Final answer: the compile step fails with E42.",
    ),
    "keys of any characters": (Intent.YAML, _THOUGHT + "E42(s): 2\ncompile:latest: error\nlink: skipped"),
    "numbered items above bullets": (
        Intent.BULLET_LIST,
        _THOUGHT + "1. compile: error E42\n2. link: skipped\n\nRelated:\n- www-data cannot write",
    ),
    "facts below a fence": (Intent.JSON, 'Errors:\n```json\n["E42"]\n```\nDisk: /dev/sda1 is 97% full'),
    "a mark in quotes": (Intent.SUMMARY, 'E42 comes up because the stop token "</think>" is missing in cache.py:17.'),
    "a mark in backticks": (Intent.SUMMARY, "The template prints `<think>` and never closes it, so E42 comes up."),
    "control tokens in plain letters": (
        Intent.SUMMARY,
        "cache.py maps two words to <unk> and pads with <pad> up to 17.",
    ),
    "a list of tags": (Intent.SUMMARY, "cache.py writes <result>, <summary> and <analysis>. The last is empty (E42)."),
    "short lines of the input": (Intent.EXACT_LINES, _THOUGHT + "E1 a\n\nAnswer:\nE2 b"),
    "a label for a value that the output does not have": (
        Intent.EXACT_FORMAT,
        _THOUGHT + "Answer: cache_v2.py:99",
    ),
}


@pytest.mark.parametrize(("intent", "text"), _KEPT.values(), ids=_KEPT)
def test_what_is_part_of_the_answer_stays(intent: Intent, text: str) -> None:
    raw_input = "E1 a\nE2 b\nE3 c\n" if intent is Intent.EXACT_LINES else _LOG
    # Nobody misses the first sentence.
    answer = text.removeprefix(_THOUGHT)
    assert recover(text, _request(intent, raw_input)).text in (text, answer)


def test_marks_at_the_edges_of_a_payload_go_and_those_within_stay() -> None:
    payload = '{"reason": "the reply held <|im_end|> too early", "code": "E42"}'
    found = recover(f"<|im_start|>assistant\n{payload}<|im_end|>", _request(Intent.JSON))
    assert found.text == payload
    assert [step.name for step in found.steps] == ["role_header", "control_token"]


def test_a_key_that_is_a_role_stays_in_its_fence() -> None:
    document = "system:\n  disk: /dev/sda1\nuser:\n  name: www-data"
    assert recover(f"```yaml\n{document}\n```", _request(Intent.YAML)).text == document


def test_conversations_of_the_input_are_told_in_their_words() -> None:
    log = "role=user content=restart nginx\nrole=assistant content=done, pid 4412\nrole=user content=thanks\n"
    for text in (
        "The log has three messages.\n\nUser: restart nginx\nAssistant: done, pid 4412\nUser: thanks",
        'The transcript reads:\nUser: "restart nginx"\nAssistant: "done, pid 4412"\nUser: "thanks"',
        "The log is about nginx.\n\nUser: asks for a restart.\nAssistant: reports that it was done with pid 4412.",
    ):
        assert recover(text, _request(Intent.RECALL, log)).text == text


@pytest.mark.parametrize(
    "turns",
    [
        "\n\nQuestion: What about the disk?\nAnswer: /dev/sda1 is 97% full.",
        "\n\nQ: What about the disk?\nA: /dev/sda1 is 97% full.",
        "\n\n**User:** What about the disk?\n\n**Assistant:** /dev/sda1 is 97% full.",
        "\n\nInstruction: List the steps.\nResponse: prepare, compile, link",
        "\n\nuser\nWhat about the disk?\nassistant\n/dev/sda1 is 97% full.",
        "user\nWhat about the disk?assistant\n/dev/sda1 is 97% full.",
    ],
)
def test_turns_that_a_model_goes_on_with_are_cut(turns: str) -> None:
    answer = "The compile step fails with E42."
    assert recover(answer + turns, _request(Intent.SUMMARY)).text == answer


def test_a_type_that_is_also_a_tag_opens_no_reasoning() -> None:
    for text in ("cache.py passes a Set<Analysis> to E42.", "Map<String, List<Thinking>> is wanted in cache.py."):
        assert not find_thought(text, raw_input=_LOG).unterminated


def test_a_label_or_a_language_alone_is_one_signal() -> None:
    # Content of the input in a paragraph with a label stays: one signal is not enough to lose it.
    text = "Analysis: www-data cannot write /var/lib/shop.\n\nThe compile step fails with E42."
    assert "www-data" in recover(text, _request(Intent.SUMMARY)).text


def test_reasoning_that_never_ends_is_seen_however_late_it_begins() -> None:
    text = "The compile step fails with E42 in cache.py:17.\n" * 700 + "<think>\nWait, is it"
    assert find_thought(text, raw_input=_LOG).unterminated
    assert validate(text, _request(Intent.SUMMARY)).status is Status.REJECTED


def test_reasoning_closed_late_is_not_taken_for_unterminated() -> None:
    text = "<think>\n" + "The compile step fails. Wait, let me look again.\n" * 700 + "</think>\nE42 in cache.py:17."
    assert not find_thought(text, raw_input=_LOG).unterminated
    assert recover(text, _request(Intent.SUMMARY)).text == "E42 in cache.py:17."


def test_announced_reasoning_that_never_ends_is_unterminated() -> None:
    text = "Here is my thought process:\nThe log says E42. So the compile step fails, or does it"
    assert find_thought(text, raw_input=_LOG).unterminated
    assert recover(text, _request(Intent.SUMMARY)).text == text


def test_a_labelled_value_may_be_composed_of_the_input() -> None:
    text = _THOUGHT + "Answer: {}"
    for value in ("cache.py:17", "cache.py E42", "97", "3"):
        assert recover(text.format(value), _request(Intent.EXACT_FORMAT)).text == value
    assert "cache.py" in ground(_LOG)
