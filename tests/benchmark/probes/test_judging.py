"""What a context says of probes, and what it is worth."""

from __future__ import annotations

import msgspec
import pytest

from benchmark.judges.rubric import FULL, Criterion
from benchmark.probes.asking import NOTHING, UNCOUNTED, counted_of
from benchmark.probes.file_sets import FileJudge
from benchmark.probes.judge import Counted, Mention, ProbeUnit, ProbeVerdict, SessionProbes
from benchmark.probes.judging import RuleJudge
from benchmark.probes.loading import recorded_named
from benchmark.probes.model import FileChange, Probe, ProbeType
from benchmark.probes.passages import passages_of, read_context
from benchmark.probes.scoring import criteria_of, score_of
from benchmark.sessions.records import Changes, StepTruth
from ctxsift.sessions.compaction.transcript import CALL_LINE, STEP_LINE, text_of, text_of_call, text_of_step

LIMIT = {
    "id": "limit",
    "type": "recall",
    "question": "What is the limit in codes.toml?",
    "evidence": [4],
    "tags": ["technical"],
    "statements": [
        {"says": "the limit is 25 percent", "names": ["MAX_PERCENT"], "terms": [["25 percent"]]},
        {"says": "it is written in codes.toml", "weight": "okay", "names": ["codes.toml"]},
        {"says": "it was the owner's wish", "weight": "okay", "terms": [["wish", "wanted"]]},
    ],
    "must_not": [
        {"says": "the limit is 30 percent", "terms": [["limit", "MAX"], ["30 percent"]]},
        {"says": "the limit is 50 percent", "terms": [["limit", "MAX"], ["50 percent"]]},
    ],
}


def unit(probe: Probe, context: str, counted: Counted = UNCOUNTED) -> ProbeUnit:
    return ProbeUnit(probe, probe.statements, counted, step=9, context=context)


@pytest.fixture
def probe() -> Probe:
    return msgspec.convert(LIMIT, Probe)


def judged(probe: Probe, context: str, kept: str = "") -> tuple[float, dict[Criterion, float]]:
    judge = RuleJudge(SessionProbes([probe]))
    here = unit(probe, context, counted_of(probe, judge.judge(unit(probe, kept))))
    said = judge.judge(here)
    return score_of(here, said), criteria_of(here, said)


@pytest.mark.parametrize(
    ("context", "score"),
    [
        ("", 0),
        ("## State\n- MAX_PERCENT: 25 percent", 5),
        ("MAX_PERCENT is there.\nIt is 25 percent.", 0),
        # What stands last holds.
        ("The limit is 30 percent.\nMAX_PERCENT is 25 percent now.", 5),
        ("MAX_PERCENT is 25 percent.\nThe limit is 30 percent again.", 5 * 0.3),
        ("MAX_PERCENT is 25 percent.\nThe limit is 30 percent, no, the limit is 50 percent.", 5 * 0.3 * 0.6),
    ],
)
def test_score(probe: Probe, context: str, score: float) -> None:
    assert judged(probe, context)[0] == pytest.approx(score)


def test_terms_that_meet_by_chance_say_nothing() -> None:
    cliff = LIMIT | {
        "question": "Insert became a binary search. What does Add do now?",
        "statements": [{"says": "up to 32 points are inserted one by one", "terms": [["32", "fewPoints"]]}],
    }
    probe = msgspec.convert(cliff, Probe)
    chance = "32 func main() { os.Exit(run(os.Args[1:])) }"
    assert judged(probe, chance)[0] == 0
    touched = RuleJudge(SessionProbes([probe])).judge(unit(probe, chance)).statements[0]
    assert (touched.share, touched.line, touched.why[:25]) == (0, 1, "too few of its words: 32 ")
    assert judged(probe, "Of few points, up to 32, each is inserted by itself, one by one.")[0] == 5
    assert judged(probe, "Add sorts; Insert is a binary search.\nBelow fewPoints it goes one by one.")[0] == 5


def test_criteria(probe: Probe) -> None:
    _, found = judged(probe, "MAX_PERCENT is 25 percent.\nThe limit is 30 percent again.")
    assert found == {
        Criterion.ACCURACY_FACTUAL: pytest.approx(1.5),
        Criterion.ACCURACY_TECHNICAL: pytest.approx(1.5),
        Criterion.COMPLETENESS_COVERAGE: 5,
        # The file stands in the question: only the wish counts.
        Criterion.COMPLETENESS_DEPTH: 0,
        Criterion.ARTIFACT_KEY_DETAILS: 5,
    }
    assert judged(probe, "The owner wanted it.")[1][Criterion.COMPLETENESS_DEPTH] == 5


def test_what_kept_steps_say_does_not_count(probe: Probe) -> None:
    kept = unit(probe, "MAX_PERCENT is 25 percent.\nOnce the limit was 30 percent.")
    counted = counted_of(probe, RuleJudge(SessionProbes([probe])).judge(kept))
    assert (counted.vital, counted.must_not, counted.names) == (frozenset(), frozenset({1}), frozenset())
    assert counted.okay == {2}


def test_passages() -> None:
    context = """\
# Next steps
- dates
- release:
  - tag it

[agent, step 4]
> edit
path: src/a.py
a → b
todos: [{"content":"load codes","status":"done"},{"content":"admin page","status":"open"}]
"""
    assert passages_of(context) == (
        "Next steps.\nNext steps: dates.\nrelease:.\nrelease: tag it.",
        "edit path: src/a.py.\na to b.\n"
        "todos: content: load codes , status: done . content: admin page , status: open.",
    )


def test_what_a_diff_removes_is_not_said() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-at most 1 MiB\n+at most 2 MiB\n kept\n\n- a bullet\n"
    numbered = "\n".join(f"{number}\t{line}" for number, line in enumerate(diff.splitlines(), 1))
    assert passages_of(diff) == ("--- a/x.\n+++ b/x.\nat most 2 MiB.\nkept.\na bullet.",)
    assert "1 MiB" not in passages_of(numbered)[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("CPU: bill 7.22 s, gaps 4.99 s, peaks 8.45 s.", True),
        ("bill 7.22 s; gaps 4.99 s; peaks 8.45 s; series 1.00 s", True),
        ("bill, gaps, peaks, series, tariff, demand, report, year", False),
        ("0.09s 1.95% 62.26% 0.53s 11.50% bill gaps peaks series", False),
    ],
)
def test_a_tally_says_something_and_a_list_does_not(line: str, said: bool) -> None:
    times = LIMIT | {"statements": [{"says": "bill and gaps are timed", "terms": [["bill"], ["gaps"]]}]}
    probe = msgspec.convert(times, Probe)
    found = RuleJudge(SessionProbes([probe])).judge(unit(probe, line))
    assert bool(found.statements) is said


FILES = FileJudge(
    [
        StepTruth(
            step_id=9,
            seconds=0,
            tree="",
            since_start=Changes(
                created=("src/new.py", "src/kept.py"),
                modified=("src/a.py", "lib/a.py"),
                deleted=("old.py",),
                renamed=(("x.py", "y.py"),),
            ),
            since_previous=Changes(),
        )
    ],
    "/home/dev/shop",
)


@pytest.mark.parametrize(
    ("change", "context", "found"),
    [
        (FileChange.CREATED, "", (0, 2, 0)),
        (FileChange.CREATED, "- created in src: new.py\n- created in /tmp/src: a.py, y.py", (1, 2, 0)),
        (FileChange.CREATED, "I created /home/dev/shop/y.py and src/a.py.", (1, 2, 1)),
        (FileChange.MODIFIED, "- modified in src: a.py, new.py", (1, 2, 0)),
        # There are two of that name.
        (FileChange.MODIFIED, "a.py was edited", (0, 2, 0)),
        (FileChange.MODIFIED, "read in src: a.py", (0, 2, 0)),
        (FileChange.DELETED, "rm old.py; git mv x.py y.py; removed src/a.py", (2, 2, 2)),
    ],
)
def test_all_files_of_a_kind(change: FileChange, context: str, found: tuple[int, int, int]) -> None:
    said = FILES.judge(ProbeUnit(whole_set(change), (), UNCOUNTED, step=9, kept="see kept.py", context=context))
    assert (len(said.statements), len(said.statements) + len(said.missing), len(said.invented)) == found


def whole_set(change: FileChange) -> Probe:
    return Probe(probe_id="files", type=ProbeType.ARTIFACT, question="Which files?", evidence=(1,), files=change)


def test_f1() -> None:
    counted = Counted(frozenset(range(4)), frozenset(), frozenset(), frozenset())
    said = ProbeVerdict({0: Mention(), 3: Mention()}, invented={"x.py was created": Mention()})
    score = score_of(ProbeUnit(whole_set(FileChange.CREATED), (), counted, step=9), said)
    assert score / FULL == pytest.approx(2 * (2 / 3 * 2 / 4) / (2 / 3 + 2 / 4))


def test_where_and_why(probe: Probe) -> None:
    """What is said is told with its place, what is missing with what of it stands nowhere."""
    context = "## Rules\n- MAX_PERCENT: 25 percent\n\n[agent, step 4]\n> sh\ncommand: ls\n# the limit is 30 percent"
    counted = counted_of(probe, NOTHING)
    said = RuleJudge(SessionProbes([probe])).judge(unit(probe, context, counted))
    assert said.statements == {0: Mention(1.0, "Rules", 2, "MAX_PERCENT: 25 percent")}
    assert said.missing == {2: "nowhere: wish | wanted"}
    assert said.must_not[0] == Mention(1.0, "step 4", 7, "the limit is 30 percent")
    assert said.contradiction == ("the limit is 30 percent", said.must_not[0])
    elsewhere = RuleJudge(SessionProbes([probe])).judge(
        unit(probe, "MAX_PERCENT is there.\nIt is 25 percent.", counted)
    )
    assert elsewhere.missing[0] == "no sentence contains all of its terms"


CENTS = {
    "id": "cents",
    "type": "decision",
    "question": "Why are amounts whole numbers?",
    "evidence": [4],
    "statements": [
        {
            "says": "Integer cents were chosen as `total()` and `receipt()` were 1 cent apart",
            "names": ["total()", "receipt()"],
            "terms": [["chosen", "chose"]],
        },
        {"says": "the owner agreed to it", "terms": [["agreed"]]},
    ],
}


@pytest.mark.parametrize(
    ("context", "reworded"),
    [
        ("Money is in integer cents: `total()` and `receipt()` differed by 1 cent.", {0}),
        # Said: it needs no other words.
        ("Integer cents were chosen: `total()` and `receipt()` were 1 cent apart.", {0}),
        # A number is missing, or other ones stand there.
        ("Money is in integer cents: `total()` and `receipt()` differed.", set()),
        ("Money is in integer cents: `total()` and `receipt()` differed by 2 cents.", set()),
        # They stand apart, or nothing is said that is about it.
        ("Integer cents: `total()` differed.\n## More\n`receipt()` is 1 file.", set()),
        ("See `total()`, `receipt()` and 1.", set()),
    ],
)
def test_names_and_numbers_that_stand_together_are_other_words_for_it(context: str, reworded: set[int]) -> None:
    probe = msgspec.convert(CENTS, Probe)
    said = RuleJudge(SessionProbes([probe])).judge(unit(probe, context))
    assert said.reworded.keys() == reworded
    assert bool(said.share(0)) is ("chosen" in context)


def test_lines_of_passages() -> None:
    passages = read_context("x\n\n# Head\n- a\n@@ -1 +1 @@\n-old\n+new\n\n[user, step 3]\nhello")
    assert [(each.place, each.lines) for each in passages] == [("", (1,)), ("Head", (3, 4, 7)), ("step 3", (10,))]


def test_every_step_and_call_is_known_in_the_text_that_compaction_writes() -> None:
    (recorded,) = recorded_named(["parcelgrid"])
    steps = [step for step in recorded.session().steps if text_of_step(step)]
    for step in steps:
        known = STEP_LINE.fullmatch(text_of_step(step).partition("\n")[0])
        assert known
        assert known[1] == f"step {step.step_id}"
        for call in step.calls:
            known = CALL_LINE.fullmatch(text_of_call(call).partition("\n")[0])
            assert known
            assert known[1] == call.name
    places = dict.fromkeys(passage.place for passage in read_context(text_of(steps)))
    assert list(places) == [f"step {step.step_id}" for step in steps]
