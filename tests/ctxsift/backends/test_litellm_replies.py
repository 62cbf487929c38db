"""What services say, typed at the door."""

from __future__ import annotations

from typing import Any

import pytest

from ctxsift.backends.litellm_replies import cost_usd, count, document_of, error_message, model_name, said_in, text_of
from ctxsift.errors import InstrumentError


def completion(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], **fields}


@pytest.mark.parametrize("told", [-1, True, 7.0, "7", None, [], {}, 2**53 + 1, 10**400, float("nan")])
def test_what_is_no_count_is_not_told(told: Any) -> None:
    said = said_in(completion(usage={"prompt_tokens": told, "completion_tokens": 3}, model=told))
    assert said is not None
    assert (said.text, said.prompt_tokens, said.completion_tokens) == ("a", None, 3)
    assert said.model == (told if isinstance(told, str) else "")
    assert count(told) is None


@pytest.mark.parametrize("usage", [None, [], [1], "7", 7, True])
def test_usage_of_another_kind(usage: Any) -> None:
    said = said_in(completion(usage=usage))
    assert said is not None
    assert said.prompt_tokens is None


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        (None, "", ""),
        (["a", {"type": "text", "text": "b"}], "ab", ""),
        (
            [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}],
            "a",
            "hm",
        ),
        ([{"type": "thinking", "thinking": 5}, {"type": "text", "text": "a"}], "a", ""),
        ("half \ud800", "half \ufffd", ""),
    ],
)
def test_content(content: Any, text: str, reasoning: str) -> None:
    said = said_in({"choices": [{"message": {"content": content}}]})
    assert said is not None
    assert (said.text, said.reasoning, said.finish_reason) == (text, reasoning, "unknown")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        *((told, "stop") for told in ("stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE")),
        *((told, "unknown") for told in ("", " ", "null")),
        (None, "unknown"),
        (7, "unknown"),
        ([], "unknown"),
        *((told, "length") for told in ("length", " Length", "MAX_TOKENS", "max_output_tokens", "model_length")),
        *((told, "length") for told in ("token_limit", "model_context_window_exceeded", "ERROR_LIMIT")),
        *((told, "content_filter") for told in ("content_filter", "content-filter", "ContentFiltered", "SAFETY")),
        *((told, "content_filter") for told in ("RECITATION", "refusal", "PROHIBITED_CONTENT", "ERROR_TOXIC")),
        *((told, "other") for told in ("tool_calls", "error", "abort", "cancelled", "load", "nobody knows")),
    ],
)
def test_only_what_says_so_ended_by_itself(told: Any, reason: str) -> None:
    said = said_in({"choices": [{"message": {"content": "a"}, "finish_reason": told}]})
    assert said is not None
    assert (said.finish_reason, said.ending) == (reason, told if reason == "other" else "")


def test_an_ending_is_told_on_one_short_line() -> None:
    said = said_in({"choices": [{"message": {"content": "a"}, "finish_reason": "no\nidea \ud800" + "x" * 900}]})
    assert said is not None
    assert "\n" not in said.ending
    assert "\ud800" not in said.ending
    assert len(said.ending) < 100


@pytest.mark.parametrize("error", [None, {}, "", "None", False])
def test_an_error_of_nothing_is_none(error: Any) -> None:
    choice = {"message": {"content": "a"}, "finish_reason": "stop", "error": error}
    said = said_in({"choices": [choice], "error": error})
    assert said is not None
    assert said.text == "a"


def test_an_error_beside_the_choices_is_one() -> None:
    with pytest.raises(InstrumentError, match="the service gave up: overloaded"):
        said_in(completion(error={"message": "overloaded"}))


def test_a_completion_of_text() -> None:
    said = said_in({"choices": [{"text": "a", "finish_reason": "length"}]})
    assert said is not None
    assert (said.text, said.finish_reason) == ("a", "length")


@pytest.mark.parametrize(
    "choices",
    [
        None,
        [],
        {},
        "a",
        [None],
        ["a"],
        [{"message": None}],
        [{"message": "a"}],
        [{"delta": {"content": "a"}}],
        [{"message": {"content": 5}}],
        [{"message": {"content": {"text": "a"}}}],
        [{"message": {"content": [{"image": 1}]}}],
        [{"message": {"content": ""}, "error": {"message": "overloaded"}}],
        [{"message": {"content": "half an"}, "error": {"message": "overloaded"}}],
    ],
)
def test_a_completion_without_an_answer_is_named(choices: Any) -> None:
    with pytest.raises(InstrumentError, match=r"^the service "):
        said_in({"choices": choices})


def test_other_documents_are_for_litellm() -> None:
    assert said_in({"content": []}) is None
    assert said_in(None) is None
    assert said_in([1]) is None


def test_model_names_are_one_safe_line() -> None:
    assert model_name("a\x1b[31m\nb\u202e") == "a\\x1b[31m b\\u202e"
    assert len(model_name("m" * 100_000)) <= 200


@pytest.mark.parametrize(
    ("told", "price"), [(0.5, 0.5), (0, None), (-1, None), (float("inf"), None), (True, None), ("1", None)]
)
def test_prices(told: Any, price: float | None) -> None:
    assert cost_usd(told) == price


def test_text_and_json_as_lenient_as_possible() -> None:
    assert document_of('{"a": NaN, "b": 1e400, "c": ' + "9" * 6000 + "}") == {"a": None, "b": float("inf"), "c": None}
    assert document_of("[" * 100_000) is None
    assert text_of("é".encode("latin-1"), "application/json; charset=ISO-8859-1") == "é"
    assert text_of(b'"\xe2\x82"', "application/json; charset=zlib_codec") == '"\ufffd"'
    assert text_of('"a"'.encode("utf-16"), "") == '"a"'


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"message": "None", "code": 500}, ""),
        ({"message": None}, ""),
        (None, ""),
        ("None", ""),
        ({"message": "full"}, "full"),
    ],
)
def test_nothing_is_no_message(error: Any, message: str) -> None:
    assert error_message({"error": error}) == message
