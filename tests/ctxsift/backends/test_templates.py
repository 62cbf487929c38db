"""Chat templates: the model's own, or a named fallback; never a silent guess."""

from __future__ import annotations

from collections.abc import Sequence

import jinja2
import pytest

from ctxsift.backends.templates import FALLBACKS, choose_template, merge_system, opens_reasoning, thinking_switches
from ctxsift.prompts import Message

OWN = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}"


def render(template: str, messages: Sequence[Message]) -> str:
    def raise_exception(message: str) -> str:
        raise ValueError(message)

    turns = [{"role": m.role, "content": m.content} for m in messages]
    return str(jinja2.Template(template).render(messages=turns, bos_token="<bos>", raise_exception=raise_exception))


def has_all(token: str) -> bool:
    return True


def test_own_template_is_used_as_it_is() -> None:
    chosen = choose_template(OWN, "llama", has_all, render)
    assert (chosen.name, chosen.note, chosen.template, chosen.merges_system) == ("model", "", OWN, False)


def test_template_without_system_turn_gets_it_merged_and_says_so() -> None:
    own = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + OWN
    chosen = choose_template(own, "gemma2", has_all, render)
    assert (chosen.name, chosen.merges_system) == ("model", True)
    assert "no system" in chosen.note
    prompt = chosen.write([Message("system", "S"), Message("user", "U")], render)
    assert prompt == "[user]S\n\nU"


def test_template_that_drops_the_system_message_gets_it_merged() -> None:
    own = "{% for m in messages if m['role'] != 'system' %}{{ m['content'] }}{% endfor %}"
    chosen = choose_template(own, "llama", has_all, render)
    assert chosen.merges_system
    assert "drops the system message" in chosen.note


@pytest.mark.parametrize("own", ["{% for %}", "{{ messages[9]['content'] }}", "constant text", "{{ 1/0 }}"])
def test_broken_template_gives_the_fallback_of_the_architecture(own: str) -> None:
    chosen = choose_template(own, "qwen3", has_all, render)
    assert chosen.name == "fallback:chatml"
    assert "broken" in chosen.note


@pytest.mark.parametrize("architecture", sorted(FALLBACKS))
def test_every_fallback_renders_both_messages_and_opens_the_answer(architecture: str) -> None:
    chosen = choose_template(None, architecture, has_all, render)
    assert chosen.name.startswith("fallback:")
    assert chosen.note == "the model file has no chat template"
    prompt = chosen.write([Message("system", "S-7"), Message("user", "U-8")], render)
    assert prompt.index("S-7") < prompt.index("U-8")
    assert any(
        prompt.rstrip().endswith(end)
        for end in ("assistant", "model", "<|end_header_id|>", "<|assistant|>", "<|end_of_role|>")
    )


def test_a_fallback_needs_its_control_tokens_in_the_vocabulary() -> None:
    chosen = choose_template(None, "llama", lambda token: token == "<|im_start|>", render)
    assert chosen.name == "fallback:chatml"
    assert choose_template(None, "llama", lambda _: False, render).name == "fallback:plain"
    assert choose_template(None, "unheard-of", has_all, render).name == "fallback:plain"


def test_hash_tells_templates_and_merging_apart() -> None:
    own = choose_template(OWN, "llama", has_all, render)
    other = choose_template(OWN + " ", "llama", has_all, render)
    assert own.sha256 != other.sha256


def test_merging_keeps_other_turns() -> None:
    merged = merge_system([Message("system", "S"), Message("user", "U"), Message("assistant", "A")])
    assert merged == [Message("user", "S\n\nU"), Message("assistant", "A")]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_todays_date_is_always_the_same(quote: str) -> None:
    own = "{% set today = strftime_now(" + quote + "%d %b %Y" + quote + ") %}{{ today }}" + OWN
    assert "01 Jan 2026" in choose_template(own, "llama", has_all, render).template


@pytest.mark.parametrize(
    "call",
    [
        "{% set form = '%d %b %Y' %}{{ strftime_now(form) }}",
        "{% set now = strftime_now %}{{ now('%d %b %Y') }}",
        "{{ strftime_now('%d ' ~ '%b %Y') }}",
        "{{ strftime_now(format='%d %b %Y') }}",
        "{% if strftime_now is defined %}{{ strftime_now( '%d' + ' %b %Y' ) }}{% endif %}",
        "{% macro today() %}{% set f = '%d %b %Y' %}{{ strftime_now(f) }}{% endmacro %}{{ today() }}",
        "{% for m in messages[:1] %}{% set f = '%d %b %Y' %}{{ strftime_now(f) }}{% endfor %}",
    ],
)
def test_a_date_in_any_format_is_always_the_same(call: str) -> None:
    def now(format: str) -> str:  # noqa: A002 - as engines name it
        return f"today, as {format}"

    def today(template: str, messages: Sequence[Message]) -> str:
        turns = [{"role": m.role, "content": m.content} for m in messages]
        return str(jinja2.Template(template).render(messages=turns, strftime_now=now))

    chosen = choose_template(call + OWN, "llama", has_all, today)
    assert chosen.name == "model"
    assert chosen.write([Message("user", "U")], today) == "01 Jan 2026[user]U"


def test_of_a_date_every_part_is_told_and_a_sign_of_percent_stays() -> None:
    own = "{% set f = '%A %-d. %B %y, %H:%M:%S %p 100%% %j' %}{{ strftime_now(f) }}" + OWN
    chosen = choose_template(own, "llama", has_all, render)
    assert chosen.write([], render) == "Thursday 1. January 26, 00:00:00 AM 100% 001"


def test_a_template_that_only_asks_for_the_function_stays_as_it_is() -> None:
    own = "{% if strftime_now is defined %}{{ strftime_now('%Y') }}{% endif %}" + OWN
    assert choose_template(own, "llama", has_all, render).template == own.replace("strftime_now('%Y')", "'2026'")


@pytest.mark.parametrize(
    ("template", "switches"),
    [
        ("{% if enable_thinking is defined %}{% endif %}", {"enable_thinking": False}),
        ("{% if thinking %}{% endif %}", {"thinking": False}),
        ("{{ messages }}", {}),
        ("{% for m in messages %}{{ m.thinking }}{% endfor %} thinking", {}),
        ("{% if broken", {}),
    ],
)
def test_thinking_is_switched_off_where_a_template_can(template: str, switches: dict[str, bool]) -> None:
    assert thinking_switches(template) == switches


@pytest.mark.parametrize(
    ("prompt", "inside"), [("a<think>\n", True), ("<thinking>", True), ("<think></think>\n", False), ("a", False)]
)
def test_prompts_that_end_in_thought(prompt: str, inside: bool) -> None:
    assert opens_reasoning(prompt) is inside


def test_a_template_s_own_tag_opens_reasoning() -> None:
    assert opens_reasoning("a<ponder>\n", [("<ponder>", "</ponder>")])
    assert not opens_reasoning("a<ponder>\n")
