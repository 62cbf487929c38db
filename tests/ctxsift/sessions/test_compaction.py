"""Sessions made short without a model: cuts, methods, controls, refusals."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsift.errors import InputError
from ctxsift.sessions.compaction.controls import ConversationText, GivenSummary, Random
from ctxsift.sessions.compaction.cutting import cut_at_end, cuts_at_shares, cuts_by_threshold
from ctxsift.sessions.compaction.methods import DRAWS, METHODS, create_method
from ctxsift.sessions.compaction.records import Compacted, CompactionSummary, Cut, Cycle
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.compaction.transcript import elided, text_of, tokens_of
from ctxsift.sessions.records import Compaction, JsonValue, Session, SessionHead, Source, Step, ToolCall, ToolResult
from tests.conftest import ROOT
from tests.ctxsift.sessions.shop import SYSTEM, shop_session
from tests.support.depth import depth

KEEP = 300
SHOP = shop_session()
NAMES = [name + index for name in (*METHODS, "recorded") for index in ("", "+index")]


def compacted(name: str, *, budget: int = 500, session: Session = SHOP, keep_last: int = KEEP) -> list[Compacted]:
    cuts = cuts_at_shares(session.steps, keep_last)
    return list(compact_session(session, name, cuts, budget=budget, keep_last=keep_last))


def said(*messages: str) -> Session:
    """Return a session in which user and agent take turns."""
    sources = (Source.USER, Source.AGENT)
    steps = tuple(Step(at + 1, sources[at % 2], text) for at, text in enumerate(messages))
    return Session(SessionHead("messages"), steps)


def summary_of(session: Session, name: str = "anchored", budget: int = 400) -> str:
    """Return what stands for all but the last step after one cut."""
    cut = Cut(session.steps[-1].step_id, session.steps[-1].step_id)
    (made,) = compact_session(session, name, [cut], budget=budget)
    assert not made.refused
    return made.summary_text


def test_cuts_lie_at_shares_of_the_tokens_whatever_the_method() -> None:
    cuts = cuts_at_shares(SHOP.steps, KEEP)
    assert len(cuts) == 5
    total = tokens_of(SHOP.steps[1:])
    for cut, share in zip(cuts, (0.2, 0.4, 0.6, 0.8, 1.0), strict=True):
        until = [step for step in SHOP.steps[1:] if step.step_id <= cut.after_step]
        assert tokens_of(until) >= share * total * 0.999
        assert tokens_of(until[:-1]) < share * total
    assert cuts[-1].after_step == SHOP.steps[-1].step_id
    for name in ("anchored", "drop", "everything"):
        assert [each.cut for each in compacted(name)] == cuts


def test_the_tail_has_whole_steps_within_its_limit_and_always_the_last_one() -> None:
    for cut in cuts_at_shares(SHOP.steps, KEEP):
        tail = [step for step in SHOP.steps if cut.first_kept <= step.step_id <= cut.after_step]
        assert len(tail) == 1 or tokens_of(tail) <= KEEP
        before = [step for step in SHOP.steps if step.step_id == cut.first_kept - 1]
        assert tokens_of([*before, *tail]) > KEEP


def test_the_middle_of_a_last_step_that_is_too_long_is_left_out() -> None:
    long = [each for each in compacted("drop") if len(each.steps) == 1 and each.cut.after_step == each.cut.first_kept]
    assert long
    for each in long:
        (kept,) = each.steps
        assert tokens_of([kept]) <= KEEP
        original = SHOP.steps[each.cut.after_step - 1]
        assert kept.calls == original.calls
        start, end = kept.results[0].text[:30], kept.results[0].text[-20:]
        assert original.results[0].text.startswith(start)
        assert original.results[0].text.endswith(end)
        assert "characters of output left out here" in kept.results[0].text


def test_arguments_and_words_that_are_too_long_are_elided_when_outputs_are_not_enough() -> None:
    call = ToolCall("c", "write", {"path": "a.py", "content": "x = 1\n" * 2000, "mode": 7})
    step = Step(1, Source.AGENT, "m " * 900, "r " * 900, (call,), (ToolResult("c", "ok"),))
    short = elided(step, 200)
    assert tokens_of([short]) <= 260
    assert short.calls[0].arguments["path"] == "a.py"
    assert short.calls[0].arguments["mode"] == 7
    assert elided(short, 10_000) == short


def test_cuts_by_threshold_come_as_the_context_grows() -> None:
    cuts = list(cuts_by_threshold(iter(SHOP.steps), 3000, KEEP, 500))
    assert len(cuts) >= 3
    assert cuts == sorted(cuts, key=lambda cut: cut.after_step)
    first = [step for step in SHOP.steps if step.step_id <= cuts[0].after_step]
    assert tokens_of(first) > 3000 >= tokens_of(first[:-1])
    # The summary counts with its whole budget, whatever a method makes of it.
    for before, cut in itertools.pairwise(cuts):
        context = [step for step in SHOP.steps[1:] if before.first_kept <= step.step_id <= cut.after_step]
        assert tokens_of([SHOP.steps[0], *context]) + 500 > 3000


def test_a_threshold_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(
        InputError,
        match="--threshold: summary, kept steps and system prompt need up to 814 tokens, more than half of 900",
    ):
        list(cuts_by_threshold(SHOP.steps, 900, KEEP, 500))


def test_a_session_that_fits_the_tail_is_not_cut() -> None:
    assert cut_at_end(SHOP.steps, 100_000) == []
    assert cut_at_end((), 100) == []


@pytest.mark.parametrize("budget", [60, 300, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_takes_a_budget_exceeds_it(name: str, budget: int) -> None:
    for each in compacted(name, budget=budget):
        assert each.budget is None or each.summary_tokens <= budget
        assert each.refused or each.budget is None or each.tokens < each.tokens_before or name == "drop"
        assert each.system == (SHOP.steps[0],)
        assert SYSTEM not in each.text


def test_results_are_equal_in_processes_with_other_hash_seeds() -> None:
    code = (
        "import hashlib; from tests.ctxsift.sessions.test_compaction import NAMES, compacted; "
        "print(hashlib.sha256(repr([each.text for name in NAMES for each in compacted(name)]).encode()).hexdigest())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "77")
    }
    assert len(printed) == 1


def test_anchored_keeps_orders_decisions_and_what_is_open() -> None:
    text = compacted("anchored+index")[-1].summary_text
    for kept in (
        "Add discount codes to the checkout",
        "Never let the total go below zero",
        "Don't touch src/legacy/",
        "store codes in upper case only",
        "integer cents instead of floats because rounding differed",
        "admin page lists the codes",
        "created" if "created" in text else "written in src: discounts.py",
        "modified in src: checkout.py, receipt.py",
        "check passed, step 36: pytest -q",
    ):
        assert kept in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [
        f"## {name}"
        for name in ("Intent", "Constraints", "Decisions", "Errors and fixes", "State", "Next steps")
    ] + ["## Files and commands"]  # fmt: skip


@pytest.mark.parametrize("name", ["anchored", "regenerative"])
def test_superseded_values_and_work_that_was_taken_back_are_gone(name: str) -> None:
    for each in compacted(name)[-1:]:
        # 50, then 30, then 25 percent; Redis came and went.
        assert "25 percent" in each.summary_text
        for old in ("50 percent", "30 percent", "6379", "TTL"):
            assert old not in each.summary_text


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("Set the port to 8080.", "Set the port to 9090."),
        ("The accent colour is `#d7d7af`.", "Make the accent colour `#8abeb7`."),
        ("Use PostgreSQL on port 5432.", "We go with port 5433 after all: use port 5433."),
        ("Call the helper load_items everywhere.", "I renamed load_items to fetch_items."),
        ("The parser stays in src/parse_v1.py for good.", "Use src/parse_v2.py instead of src/parse_v1.py."),
        ("Build with node-18, always.", "We moved from node-18 to node-20."),
    ],
)
def test_a_value_given_anew_takes_the_place_of_the_old_one(first: str, later: str) -> None:
    old = next(word for word in first.strip(".").replace(",", "").split() if not word.isalpha())
    output = "It has the routes of the old one, as far as they were in use. " * 12
    session = said("Write the service, please.", output, first, "Done as you said.", later, "All right.", "And now?")
    text = summary_of(session)
    assert later.rsplit(maxsplit=1)[-1].strip(".`") in text
    assert first.strip(".") not in text
    kept = [line for line in text.splitlines() if old.strip("`") in line]
    assert all(later in line for line in kept)


def test_a_number_that_names_a_thing_is_no_value_of_it() -> None:
    text = summary_of(said("Change part 7 of it. " * 20, "Done.", "Now change part 8 and line 40.", "Done.", "Go on."))
    assert "Change part 7" in text
    assert "change part 8 and line 40" in text


def test_what_is_recent_does_not_drive_out_what_was_agreed_early() -> None:
    early = "Never write to the table `billing_2019`, because the auditors read it."
    noise = [
        f"Thanks. And what about the widget number {at}?" if at % 2 else f"Widget {at} is fine." for at in range(1, 80)
    ]
    session = said(early, *noise, "Go on.")
    for name in ("anchored", "regenerative"):
        cuts = cuts_at_shares(session.steps, 30)
        *_, last = compact_session(session, name, cuts, budget=150, keep_last=30)
        assert early in last.summary_text


@pytest.mark.parametrize("mark", ["{}. ", "[{}] ", "- 10:00:{:02} "])
def test_an_output_that_the_user_pasted_is_no_order(mark: str) -> None:
    rows = [f"{mark.format(number)}worker {number % 5} never kept job {number * 37 % 991}" for number in range(1, 41)]
    question = "Find out why the queue stalls. Here is what it says:"
    session = said(
        "\n".join([question, *rows]), "Always keep the log format, and run the tests.", *("Go on." for _ in "ab")
    )
    before, _, state = summary_of(session, budget=200).partition("## State")
    assert question.rstrip(":") in before
    assert "Always keep the log format" in before
    assert "worker" not in before
    assert "worker" in state


def test_orders_of_one_form_are_orders() -> None:
    names = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota")
    orders = [f"{number}. Rename {name} to {name}_old" for number, name in enumerate(names, 1)]
    before, _, _ = summary_of(said("\n".join(orders), "Looking at the names. " * 40, "Go on.")).partition("## State")
    assert all(f"Rename {name} to {name}_old" in before for name in names)


def test_open_tasks_of_the_last_list_take_the_place_of_earlier_ones() -> None:
    def listed(step_id: int, **tasks: str) -> Step:
        todos: list[JsonValue] = [{"content": name.replace("_", " "), "status": state} for name, state in tasks.items()]
        return Step(step_id, Source.AGENT, "", calls=(ToolCall(f"c{step_id}", "TodoWrite", {"todos": todos}),))

    steps = (
        Step(1, Source.USER, "Do three things to the importer. " * 5),
        listed(2, read_the_importer="pending", write_the_tests="pending"),
        Step(3, Source.USER, "Please go on with the importer. " * 5),
        listed(4, read_the_importer="completed", write_the_tests="in_progress"),
        Step(5, Source.USER, "Go on."),
    )
    cuts = [Cut(3, 3), Cut(5, 5)]
    *_, last = compact_session(Session(SessionHead("messages"), steps), "anchored", cuts, budget=200)
    assert "- write the tests" in last.summary_text
    assert "read the importer" not in last.summary_text


def test_a_result_that_is_not_smaller_is_refused_and_the_span_waits() -> None:
    session = said(
        "Rename `a_b` to `c_d`.", "Done: `c_d`.", "Now " + "explain this in full detail, please. " * 60, "I did."
    )
    first, second = compact_session(session, "anchored", [Cut(2, 2), Cut(4, 4)], budget=300)
    assert first.refused == "steps 1 to 1 stay unchanged: 35 tokens would replace 6"
    assert first.summary == CompactionSummary()
    assert [step.step_id for step in first.steps] == [1, 2]
    # The next cycle has the same budget, and summarises both spans.
    assert not second.refused
    assert [step.step_id for step in second.steps] == [4]
    assert "`c_d`" in second.summary_text


def test_what_exceeds_its_budget_is_refused() -> None:
    class Greedy:
        takes_budget = True
        must_shrink = True

        def compact(self, cycle: Cycle) -> CompactionSummary:
            return CompactionSummary("x" * (4 * cycle.budget + 1))

    cuts = cuts_at_shares(SHOP.steps, KEEP)
    first = next(iter(compact_session(SHOP, "greedy", cuts, budget=100, keep_last=KEEP, method=Greedy())))
    assert "101 tokens exceed the 100 allowed" in first.refused
    assert text_of(SHOP.steps[1:10]) in first.text


def test_controls_keep_what_their_names_say() -> None:
    gone = {each.method: each for each in (compacted(name)[-1] for name in NAMES)}
    history = text_of(SHOP.steps[1:36])
    assert gone["drop"].summary_text == ""
    assert gone["everything"].summary_text == history
    assert history.endswith(gone["last"].summary_text)
    assert history.startswith(gone["first"].summary_text)
    assert len(gone["first"].summary_text) == len(gone["last"].summary_text) == 2000
    assert gone["text"].summary_text.endswith(gone["text-cut"].summary_text)
    assert "user: Cache the codes in Redis, on port 6379." in gone["text"].summary_text
    assert "PASSED" not in gone["text"].summary_text
    assert "agent:" not in gone["user"].summary_text
    assert "PASSED" not in gone["mask"].summary_text
    assert "characters]" in gone["mask"].summary_text
    assert gone["drop+index"].summary_text.startswith("## Files and commands\n")
    assert gone["drop+index"].summary_tokens <= 150


def lines_drawn(name: str, budget: int = 150, session: Session = SHOP) -> list[list[str]]:
    """Return the lines that stand after each cut."""
    return [each.summary_text.split("\n") for each in compacted(name, budget=budget, session=session)]


def test_random_draws_whole_lines_in_their_order() -> None:
    history = text_of(SHOP.steps[1:36]).split("\n")
    for name in DRAWS:
        last = compacted(name, budget=150)[-1]
        assert 140 <= last.summary_tokens <= 150
        # Each is found behind the one before.
        rest = iter(history)
        assert all(line in rest for line in last.summary_text.split("\n"))
    assert len({tuple(lines_drawn(name)[-1]) for name in DRAWS}) == len(DRAWS)
    assert lines_drawn("random-1") == lines_drawn("random-1")


def test_random_brings_nothing_back_that_is_gone() -> None:
    steps = SHOP.steps
    for before, after, cut in zip(
        lines_drawn("random-2"), lines_drawn("random-2")[1:], cuts_at_shares(steps, KEEP), strict=False
    ):
        come = text_of(step for step in steps if step.step_id >= cut.first_kept).split("\n")
        assert not set(after) - set(before) - set(come)


def test_random_draws_from_all_that_is_gone_whenever_it_went() -> None:
    """An early line stands as often as a late one, and as often as after one cut."""
    numbers = 400
    steps = [Step(at, Source.USER, f"line {at:03}: {'x' * 30}") for at in range(1, numbers + 1)]
    session = Session(SessionHead("messages"), (*steps, Step(numbers + 1, Source.AGENT, "Done.")))
    found: Counter[bool] = Counter()
    for seed in range(40):
        cuts = cuts_at_shares(session.steps, 1)
        *_, last = compact_session(session, "random", cuts, budget=1000, keep_last=1, method=Random(seed))
        kept = [int(line[5:8]) for line in last.summary_text.split("\n") if line.startswith("line ")]
        found.update(number <= numbers / 2 for number in kept)
    assert sum(found.values()) > 2000
    assert 0.47 < found[True] / sum(found.values()) < 0.53


def test_random_takes_what_tools_may_print() -> None:
    """A line that is longer than the budget hides no other; half a character is a character."""
    lines = "\n".join(["x" * 9000, "\ud800 half", *(f"line {number}" for number in range(2000))])
    shown = summary_of(said(lines, "Done."), "random-1", budget=100)
    assert len(shown) > 390
    assert "xx" not in shown


def test_recorded_is_the_last_summary_that_was_there_at_the_cut() -> None:
    records = (Compaction(12, "First summary."), Compaction(26, "Second summary."))
    session = Session(SHOP.head, SHOP.steps, records)
    texts = [(each.cut.after_step, each.summary_text) for each in compacted("recorded", session=session)]
    assert texts == [
        (11, ""),
        (23, "First summary."),
        (27, "Second summary."),
        (31, "Second summary."),
        (39, "Second summary."),
    ]


def test_a_summary_made_elsewhere_stands_as_it_is() -> None:
    cuts = cuts_at_shares(SHOP.steps, KEEP)
    method = GivenSummary("What a person wrote.", {cuts[1].after_step: "Gold of the second cut."})
    made = list(compact_session(SHOP, "oracle", cuts, method=method, keep_last=KEEP))
    assert [each.summary_text for each in made][:3] == [
        "What a person wrote.", "Gold of the second cut.", "What a person wrote.",
    ]  # fmt: skip


def test_an_unknown_method_is_named_with_what_was_probably_meant() -> None:
    with pytest.raises(InputError, match=r"unknown method 'anchord'; did you mean anchored"):
        create_method("anchord+index")


@settings(max_examples=depth(8, 500), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(list(Source)), st.text(max_size=200), st.text(max_size=400)), min_size=1, max_size=12
    ),
    st.integers(20, 300),
)
def test_any_session_comes_through_every_method(drawn: Sequence[tuple[Source, str, str]], budget: int) -> None:
    steps = tuple(
        Step(
            at + 1,
            source,
            message,
            calls=(ToolCall(f"c{at}", "bash", {"command": output[:20]}),) if source is Source.AGENT else (),
            results=(ToolResult(f"c{at}", output),) if source is Source.AGENT else (),
        )
        for at, (source, message, output) in enumerate(drawn)
    )
    session = Session(SessionHead("messages"), steps)
    for name in NAMES:
        for each in compacted(name, session=session, budget=budget, keep_last=50):
            assert each.budget is None or each.summary_tokens <= budget
            assert each.steps[-1].step_id == each.cut.after_step


@pytest.mark.parametrize(
    "unit",
    [
        "_",
        "a_",
        "a.",
        "-",
        "a-",
        "/",
        "a/",
        "`",
        "1",
        "#",
        ": ",
        "set a ",
        "not ",
        "**",
        "\t",
        "no ",
        "->",
        "a = ",
        "(",
    ],
)
def test_lines_of_one_thing_over_and_over_come_through(unit: str) -> None:
    session = said("Go.", unit * 5000, unit * 299, f"{unit * 120}. {unit * 40}!", "Done.")
    cut = Cut(session.steps[-1].step_id, session.steps[-1].step_id)
    for name in ("anchored", "regenerative", "opaque"):
        (made,) = compact_session(session, name, [cut], budget=200)
        assert made.summary_tokens <= 200


def test_text_alone_takes_no_budget_unless_cut() -> None:
    assert not ConversationText().takes_budget
    assert ConversationText(cut=True).takes_budget
