"""Every row of the table of marks, around golds of every intent; and what a model of its own adds to it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmark.cases import Case, Corpus
from ctxsift.answers.grounding import ground
from ctxsift.answers.marks import MODEL_TOKENS, MarkKind
from ctxsift.answers.model_tokens import FAMILIES, TokenFamily
from ctxsift.answers.recovery import recover
from ctxsift.answers.validation import Status, leaked_tokens, validate
from ctxsift.backends.templates import opens_reasoning, reasoning_tags
from ctxsift.intents import Intent
from ctxsift.prompts import Request

REASON = "Okay, the user wants the answer. Let me look at the output. I should return only what was asked for."
ASKED = Request("error E42 in src/a.py:7\n", "What failed?", Intent.SUMMARY)


def wrappings(family: TokenFamily) -> Iterator[tuple[str, str]]:
    """Yield what a family may write before and behind an answer."""
    end = (*family.ends, "")[0]
    yield from ((header, end) for header in family.headers)
    yield from (("", each) for each in family.ends)
    yield from ((f"{opening}\n", f"\n{close}") for opening, close in family.boxes)
    for opening, close in (*family.thought, *family.announced):
        block = f"{opening}{REASON}{close}"
        yield f"{block}\n", end
        yield from ((f"{block}{final}", end) for final in family.final)
        yield from ((f"{block}\n{begin}\n", f"\n{stop}{end}") for begin, stop in family.boxes)
    # Where the prompt has opened the block; what also ends a turn cannot be told from that.
    yield from ((f"{REASON}{close}\n", end) for _, close in family.thought if close not in family.ends)


@pytest.fixture(scope="module")
def golds(corpus: Corpus) -> list[Case]:
    """Return four cases of each intent, from all over the corpus."""
    by_intent = {intent: [case for case in corpus.cases if case.intent is intent] for intent in Intent}
    return [case for cases in by_intent.values() for case in cases[:: len(cases) // 4][:4]]


@pytest.mark.parametrize("intent", Intent)
@pytest.mark.slow
def test_every_row_comes_off_every_intent(intent: Intent, golds: list[Case]) -> None:
    for family in FAMILIES:
        tried = list(wrappings(family))
        assert tried, family.name
        for (before, behind), case in itertools.product(tried, (case for case in golds if case.intent is intent)):
            recovered = recover(f"{before}{case.expected_output}{behind}", case.request)
            place = (family.name, before, behind, case.case_id, recovered.steps)
            assert recovered.text == case.expected_output, place
            assert recovered.steps, place


def test_a_block_that_is_never_closed_takes_the_answer_with_it() -> None:
    openings = {opening for family in FAMILIES for opening, _ in family.thought}
    assert openings
    for opening in sorted(openings):
        for text in (f"{opening}\nThe error is E42", f"E42 failed.\n{opening}\nWait, is that so?"):
            assert recover(text, ASKED).text == text, opening
            assert "unterminated_reasoning" in validate(text, ASKED).reasons, opening


def test_the_table_covers_the_families_that_people_run() -> None:
    names = " ".join(family.name for family in FAMILIES)
    wanted = (
        "Qwen DeepSeek GLM Kimi gpt-oss Gemma Granite LFM SmolLM Phi Mistral Llama Nemotron EXAONE MiniMax Seed "
        "Apertus Ling Solar Hunyuan Command"
    )
    assert all(name in names for name in wanted.split())


@pytest.mark.parametrize("kind", ["headers", "ends", "control"])
def test_marks_are_found_and_count_as_leaked(kind: str) -> None:
    marks = sorted({mark for family in FAMILIES for mark in getattr(family, kind)})
    assert marks
    for mark in marks:
        found = MODEL_TOKENS.marks(f"E42{mark}")
        assert [m.end for m in found][-1:] == [len(f"E42{mark}")], mark
        # What opens reasoning in one family is a mere token in another; then it is thought.
        assert leaked_tokens(f"E42 {mark}", ground(ASKED.quotable)) or found[-1].kind is MarkKind.OPEN, mark
        assert not leaked_tokens(f"E42 {mark}", ground(f"E42 {mark}")), mark


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<Think>", MarkKind.OPEN),
        ("< think >", MarkKind.OPEN),
        ('<think time="3s">', MarkKind.OPEN),
        ("</THINKING>", MarkKind.CLOSE),
        ("<|channel|>commentary to=functions.run <|constrain|>json<|message|>", MarkKind.OPEN),
        ("<|channel|>final <|constrain|>json<|message|>", MarkKind.FINAL),
        ("<|start_header_id|>assistant<|end_header_id|>", MarkKind.HEADER),
        ("<|an_unheard_of_token|>", MarkKind.CONTROL),
        ("<SPECIAL_137>", MarkKind.CONTROL),
    ],
)
def test_marks_vary(text: str, kind: MarkKind) -> None:
    (mark,) = MODEL_TOKENS.marks(text)
    assert (mark.kind, mark.start, mark.end) == (kind, 0, len(text))


@pytest.mark.parametrize("text", ["a < b", "List<String>", "<thinker>", "[x]", "x |> f", "</div>", "<answers>", "<|"])
def test_what_only_resembles_a_mark_is_text(text: str) -> None:
    assert not MODEL_TOKENS.marks(text)


def test_a_model_brings_marks_of_its_own() -> None:
    own = MODEL_TOKENS.extended(["[[halt]]", "<|im_end|>"], [("<muse>", "</muse>")])
    text = f"<muse>{REASON}</muse>E42 failed.[[halt]]"
    assert recover(text, ASKED, own).text == "E42 failed."
    assert [step.name for step in recover(text, ASKED, own).steps] == ["reasoning_block", "control_token"]
    assert validate("E42 failed.[[halt]]", ASKED, own).status is Status.REJECTED
    assert validate("E42 failed.[[halt]]", ASKED).status is Status.ACCEPTED
    assert "unterminated_reasoning" in validate("<muse>E42", ASKED, own).reasons


def test_nothing_is_added_for_marks_that_are_listed() -> None:
    assert MODEL_TOKENS.extended(["<|im_end|>", "</s>", " "]) is MODEL_TOKENS
    assert MODEL_TOKENS.unlisted(["<|im_end|>", "[[halt]]"]) == ("[[halt]]",)


@pytest.mark.parametrize(
    ("template", "tags"),
    [
        ("<muse>{{ content.split('</muse>')[-1] }}", (("<muse>", "</muse>"),)),
        ("{% if '</muse>' in content %}<muse>{% endif %}", (("<muse>", "</muse>"),)),
        ("<think>{{ content.split('</think>')[-1] }}", ()),
        ("{{ content.split('</muse>')[-1] }}", ()),
        ("{% if '</tool_call>' in content %}<tool_call>{% endif %}", ()),
        ("{{ messages }}", ()),
    ],
)
def test_templates_tell_how_reasoning_is_marked(template: str, tags: tuple[tuple[str, str], ...]) -> None:
    assert reasoning_tags(template) == tags


def test_prompts_that_end_in_a_block_begin_in_reasoning() -> None:
    for family in FAMILIES:
        for opening, close in family.thought:
            assert opens_reasoning(f"Question?\n{opening}\n"), family.name
            assert not opens_reasoning(f"Question?\n{opening}{close}\n"), family.name


def test_what_ends_a_turn_stops_a_model_unless_it_ends_its_reasoning() -> None:
    assert MODEL_TOKENS.stops({"<|end|>", "<|endoftext|>", "a"}) == {"<|end|>", "<|endoftext|>"}
    assert MODEL_TOKENS.stops({"<|end|>", "<|return|>", "<|channel|>", "<|message|>"}) == {"<|return|>"}
    assert MODEL_TOKENS.stops({"<|end_message|>", "<|content_thinking|>"}) == frozenset()


CALL = '{"name": "grep", "arguments": {"pattern": "E42"}}'


@pytest.mark.parametrize(("opening", "close"), sorted({pair for family in FAMILIES for pair in family.calls}))
def test_a_call_of_a_tool_is_no_answer(opening: str, close: str) -> None:
    answer = "E42 in src/a.py:7"
    for said in (
        f"{answer}\n{opening}\n{CALL}\n{close}",
        f"{opening}{CALL}{close}\n{answer}",
        f"{answer}{opening}{close}",
    ):
        assert recover(said, ASKED).text == answer
    assert "empty_output" in validate(recover(f"{opening}{CALL}{close}", ASKED).text, ASKED).reasons
    assert validate(recover(f"{opening}{CALL}", ASKED).text, ASKED).status is Status.REJECTED
    # What the output shows may be spoken of.
    quoted = replace(ASKED, raw_input=f"log of the agent: {opening} was printed\n")
    assert recover(f"The agent printed {opening} to the log.", quoted).steps == ()


@pytest.mark.parametrize(
    "mark", ["</think>", "<think></think>", "<think>E42</think>", "[/THINK]", "</think>\n</think>"]
)
@pytest.mark.parametrize("intent", Intent)
def test_thought_alone_is_no_answer(mark: str, intent: Intent) -> None:
    assert "empty_output" in validate(mark, replace(ASKED, intent=intent)).reasons
