"""What the user rejects or puts off does not stand in a summary as a plan or a choice; the rejection does."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ctxsift.sessions.compaction.denying import rejections_in
from ctxsift.sessions.compaction.records import Cut, SummaryEntry
from ctxsift.sessions.compaction.rejecting import without_rejected
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.records import Session, SessionHead, Source, Step, ToolCall, ToolResult
from tests.ctxsift.sessions import samples

FILLER = "It has the routes of the old one, as far as they were in use. " * 12
USER, AGENT = Source.USER, Source.AGENT


def summary_of(*said: tuple[Source, str] | Step, name: str = "anchored", cuts: int = 1, budget: int = 700) -> str:
    """Return what stands for a session in which a task and some work come before and after what is said."""
    told = [(USER, "Build the thing, please."), (AGENT, FILLER), *said, (AGENT, f"Done. {FILLER}"), (USER, "Go on.")]
    steps = tuple(
        Step(at, each.source, each.message, calls=each.calls, results=each.results)
        if isinstance(each, Step)
        else Step(at, *each)
        for at, each in enumerate(told, 1)
    )
    last = len(steps)
    places = [Cut(last * number // cuts, last * number // cuts) for number in range(1, cuts + 1)]
    *_, made = compact_session(Session(SessionHead("messages"), steps), name, places, budget=budget)
    assert not made.refused
    return made.summary_text


TAKEN_BACK = [
    ("I looked at it. I'll use SQLite for the store because it needs no server.", "no SQLite please", "use SQLite"),
    ("I chose SQLite for the store, because reports need joins.", "Actually, not SQLite.", "chose SQLite"),
    ("Orders go through `cart.py`. I'll put a cache before `load_codes()`.", "Forget the cache.", "put a cache"),
    ("I will store sessions in Redis with a TTL of 300 s.", "Hmm, drop Redis again.", "sessions in Redis"),
    ("I'm going to add an ORM, so that queries are typed.", "I don't think we need an ORM.", "add an ORM"),
    ("Proposal: we could queue the mails in RabbitMQ.", "Please do it without RabbitMQ.", "queue the mails"),
    ("I suggest a cron job for the nightly export, since it is simple.", "The cron job is overkill.", "cron job for"),
    ("I decided to write the parser with pyparsing.", "Use regular expressions instead of pyparsing.", "decided to"),
    ("I’ll indent `deploy.mk` with tabs, as make wants.", "Don’t use tabs.", "indent"),
    ("I'll use SQLite for `store.py`, because it is there.", "Nope, no ORM and no SQLite database.", "I'll use"),
    ("I'll rename `Order.total` to `Order.sum` in all callers.", "Let's not do that.", "I'll rename"),
    ("I'll vendor `libyaml` below `third_party/`.", "Rather not.", "I'll vendor"),
    ("I'll split `api.py` into four modules. Is that OK?", "No, keep it in one file.", "I'll split"),
    ("Should I add telemetry to `main.py`, with a counter for each command?", "No.", "Should I add"),
]


@pytest.mark.parametrize("cuts", [1, 3])
@pytest.mark.parametrize("name", ["anchored", "regenerative"])
@pytest.mark.parametrize(("plan", "rejection", "gone"), TAKEN_BACK)
def test_a_plan_that_the_user_rejects_stands_no_more(
    plan: str, rejection: str, gone: str, name: str, cuts: int
) -> None:
    text = summary_of((AGENT, plan), (USER, rejection), name=name, cuts=cuts)
    assert gone not in text
    if len(rejection) > len("No."):
        assert rejection in text


def test_what_is_only_pointed_at_is_named_with_the_rejection() -> None:
    text = summary_of((AGENT, "I'll rename `Order.total` to `Order.sum`."), (USER, "Let's not do that."))
    assert '## Constraints\n- To "rename `Order.total` to `Order.sum`": Let\'s not do that.\n' in text


def test_a_rejection_holds_whatever_was_said_in_between() -> None:
    text = summary_of(
        (AGENT, "I'll use SQLite for the notes, because it needs no server."),
        (USER, "Good. And list them by date."),
        (AGENT, "Notes are stored in SQLite now, in `notes.db`. Lists are sorted by date."),
        (USER, "On second thought, no SQLite; a JSON file will do."),
        cuts=2,
    )
    assert "SQLite for the notes" not in text
    assert "notes.db" not in text
    for kept in ("no SQLite; a JSON file will do", "list them by date", "Lists are sorted by date."):
        assert kept in text


def test_the_users_own_order_gives_way_but_the_rest_of_it_and_the_task_do_not() -> None:
    text = summary_of(
        (USER, "Cache the rates in Redis, and log to stderr in JSON."),
        (AGENT, "The rates are cached in Redis now."),
        (USER, "No Redis please."),
    )
    assert "Cache the rates" not in text
    assert "cached in Redis" not in text
    assert "Log to stderr in JSON." in text
    steps = (
        Step(1, USER, "Write a tool that keeps notes in SQLite and prints them by date."),
        Step(2, AGENT, f"I'll use SQLite with one table. {FILLER}"),
        Step(3, USER, "Actually, not SQLite."),
        Step(4, AGENT, "All right."),
    )
    (made,) = compact_session(Session(SessionHead("messages"), steps), "anchored", [Cut(4, 4)], budget=400)
    assert "keeps notes in SQLite and prints them by date" in made.summary_text
    assert "one table" not in made.summary_text


PLANS = ["I'll keep the store in SQLite.", "Plan: a store in SQLite.", "I used SQLite as store."]
NAMING = [
    "Hm, I'd rather not have SQLite here. Files are fine.",
    "SQLite is too much, take JSON",
    "That's a bad idea, no SQLite.",
    "I said no SQLite!",
    "Stop, not SQLite",
    "Stop using SQLite.",
    "Instead of SQLite, use a JSON file.",
    "A JSON file please, no SQLite.",
    "Use a JSON file rather than SQLite.",
    "Get rid of SQLite.",
    "Take SQLite out again.",
    "I changed my mind about SQLite, a JSON file is enough.",
    "SQLite won't do, we have no disk there.",
    "On second thought, no SQLite.",
    "scratch SQLite",
    "remove the SQLite store again, please",
]
POINTING = ["We won't need that.", "Wait. Don't.", "No, JSON files.", "SQLite? No way."]


@pytest.mark.parametrize(
    ("plan", "rejection"), [(plan, each) for each in NAMING for plan in PLANS] + [(PLANS[0], each) for each in POINTING]
)
def test_many_words_reject_one_plan(plan: str, rejection: str) -> None:
    entries = [
        SummaryEntry("Intent", "Build it.", 3, 1, by_user=True),
        SummaryEntry("Decisions", plan, 3, 2),
        SummaryEntry("Intent", rejection, 3, 3, by_user=True),
    ]
    left, new = without_rejected(entries, 3)
    assert [entry.text for entry in left] == ["Build it.", rejection]
    assert new == 2
    assert left[1].section == "Constraints"


STAYS = [
    (
        "The SQLite errors are fixed: WAL mode stays on, because two workers write.",
        "No SQLite errors any more, thanks!",
    ),
    ("I'll keep Redis for the rate limits, because the gateway needs it.", "Don't use Redis for sessions."),
    ("The legacy exporter reads SQLite files in `data/old`.", "No SQLite please."),
    ("I chose integer cents instead of floats because sums differ.", "No floats anywhere."),
    ("I'll raise the timeout because uploads are slow: `timeout.py`.", "No problem, go on."),
    ("I chose retries with a backoff because the service is slow.", "No more than 5 retries."),
    ("I'll write the release notes because others read `NEWS.md`.", "We release next week."),
    ("I decided to keep `parse_dates`, because the importer needs it.", "The command is wrong, not the importer."),
    ("I decided to keep the cache because `load_codes()` is slow.", "Can we do it without the cache?"),
    ("I decided on a cache in `codes.py` because loading is slow.", "If the cache breaks the tests, leave it out."),
    ("I'll use SQLite because it needs no server: `notes.db`. Any objections?", "No."),
    ("I'll use SQLite with WAL mode.", "Not bad. SQLite it is."),
    ("I'll use SQLite with WAL mode.", "No objections to SQLite."),
    ("I'll use SQLite with WAL mode.", "No, I meant the table name. SQLite is right."),
    ("I'll use SQLite with WAL mode.", "Don't worry about SQLite locking."),
    ("I'll use SQLite with WAL mode.", "Don't use more than one SQLite file."),
    ("I'll use SQLite with WAL mode.", "Use SQLite without an ORM."),
    ("I'll use SQLite with WAL mode.", "The weigh bridge had no number, signed at scale 1. SQLite is fine."),
    ("I'll add a cache to `load()`.", "Ok, but the cache must not hold passwords."),
    ("I'll add a cache to `load()`.", "Don't break the cache key."),
    ("I'll keep the retries because the service is flaky.", "no retry warnings in the log please"),
    ("I'll bump Node to 22 next.", "Do it now, not later."),
    ("I'll bump Node to 22 next.", "Later we also need Python 3.13, so go on with Node."),
    ("I'll run the linter next.", "Next time run the linter before you commit."),
    ("I chose JSON lines because they can be appended.", "The demo is next week, so keep it simple."),
    ("I chose JSON lines because they can be appended.", "Never change the format of the JSON lines."),
    ("Keep the golden file, I decided, because it is read by hand.", "Put the notes into README and delete the file."),
]


@pytest.mark.parametrize("name", ["anchored", "regenerative"])
@pytest.mark.parametrize(("said", "answer"), STAYS)
def test_what_is_not_rejected_stays(said: str, answer: str, name: str) -> None:
    entries = [
        SummaryEntry("Intent", "Build it.", 3, 1, by_user=True),
        SummaryEntry("Decisions", said, 3, 2),
        SummaryEntry("Intent", answer, 3, 3, by_user=True),
    ]
    assert without_rejected(entries, 3) == (entries, 3)
    if "I'll" not in said and "`" in said:
        assert said in summary_of((AGENT, said), (USER, answer), name=name)


def test_an_order_that_forbids_stays_with_what_it_forbids() -> None:
    text = summary_of((USER, "Don't use tabs in `src/`."), (AGENT, "Spaces, then."), (USER, "And no tabs in docs."))
    assert "Don't use tabs in `src/`." in text


def test_what_is_wanted_after_all_stands_again() -> None:
    text = summary_of(
        (AGENT, "I'll use SQLite for the store."),
        (USER, "No SQLite please."),
        (AGENT, "A JSON file, then."),
        (USER, "It is too slow. Use SQLite after all."),
    )
    assert "No SQLite" not in text
    assert "Use SQLite after all." in text


@pytest.mark.parametrize(
    "later",
    [
        "hold on with the Node bump until the schema is final",
        "Leave Node for the next release.",
        "Let's do Node another time.",
        "Node is for later.",
        "postpone the Node bump",
        "Not this week.",
        "ok but not today, first the release",
        "We can do that after the release. Now fix the login.",
        "Node is low priority.",
        "Leave it for now.",
        "That can wait.",
        "I'll do that myself tomorrow.",
    ],
)
def test_many_words_put_one_plan_off(later: str) -> None:
    entries = [
        SummaryEntry("Intent", "Build it.", 3, 1, by_user=True),
        SummaryEntry("State", "The login fails on Node 20. I'll bump Node to 22 next.", 3, 2),
        SummaryEntry("Intent", later, 3, 3, by_user=True),
    ]
    assert [entry.text for entry in without_rejected(entries, 3)[0]] == [
        "Build it.", "The login fails on Node 20.", later,
    ]  # fmt: skip


PUT_OFF = [
    ("test_partial fails because `fee_cents` is missing. I'll fix that next.", "Fix that next week.", "fix that next."),
    ("`render()` is done. Next steps: a help page, and docs/usage.md.", "The help page can wait.", "a help page,"),
    ("The importer runs. Next I'll port `exporter.py` to the new API.", "Not now.", "Next I'll port"),
    ("I propose to move `util.py` into `core/` next.", "Maybe later, first the tests.", "propose to move"),
    ("I will upgrade `django` to 5.1 then.", "We'll do that tomorrow. Finish `views.py` first.", "I will upgrade"),
    ("Left to do: the admin page, and paging of lists.", "The admin page: next sprint.", "Left to do: the admin page"),
]


@pytest.mark.parametrize("cuts", [1, 2])
@pytest.mark.parametrize("name", ["anchored", "regenerative"])
@pytest.mark.parametrize(("plan", "later", "gone"), PUT_OFF)
def test_what_is_put_off_is_no_next_step(plan: str, later: str, gone: str, name: str, cuts: int) -> None:
    text = summary_of((AGENT, plan), (USER, later), name=name, cuts=cuts)
    assert gone not in text
    assert later in text
    for kept in ("fails because `fee_cents` is missing", "docs/usage.md", "paging of lists"):
        assert kept in text or kept not in plan


def test_what_is_put_off_is_named_where_the_user_does_not() -> None:
    text = summary_of((AGENT, "The importer runs. Next I'll port `exporter.py`."), (USER, "Not now."))
    assert '## Constraints\n- To "port `exporter.py`": Not now.\n' in text


REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\nNo webhooks please, poll it."
)
WORK = (FILLER, "Poll the queue every 30 s.", "I poll it now.", "Go on.")
RECORDED = {
    "claude-code": samples.lines(
        samples.claude("user", "Tell the shop when a parcel arrives, in `notify.py`.", 1),
        samples.claude(
            "assistant",
            [
                samples.said("I'll use webhooks, because they are fast."),
                samples.use("t1", "Write", file_path="hook.py"),
            ],
            2,
            message={"id": "m1"},
        ),
        samples.claude("user", [samples.result("t1", REFUSED, is_error=True)], 3),
        *(samples.claude(("assistant", "user")[at % 2], text, at + 4) for at, text in enumerate(WORK)),
    ),
    "codex": samples.lines(
        samples.codex("session_meta", 0, id="c-1", cwd="/work/shop", cli_version="0.77.0"),
        samples.codex_message("user", "Tell the shop when a parcel arrives, in `notify.py`.", 1),
        samples.codex_message("assistant", "I'll use webhooks, because they are fast.", 2),
        samples.codex_message("user", "No webhooks please, poll it.", 3),
        *(samples.codex_message(("assistant", "user")[at % 2], text, at + 4) for at, text in enumerate(WORK)),
    ),
    "pi": samples.lines(
        samples.PI_HEAD,
        samples.pi("user", [samples.said("Tell the shop when a parcel arrives, in `notify.py`.")], 1),
        samples.pi("assistant", [samples.said("I'll use webhooks, because they are fast.")], 2),
        samples.pi("user", [samples.said("No webhooks please, poll it.")], 3),
        *(samples.pi(("assistant", "user")[at % 2], [samples.said(text)], at + 4) for at, text in enumerate(WORK)),
    ),
}


@pytest.mark.parametrize("form", RECORDED)
def test_every_format_tells_a_rejection(form: str, tmp_path: Path) -> None:
    session = samples.read(tmp_path, RECORDED[form])
    last = session.steps[-1].step_id
    (made,) = compact_session(session, "anchored", [Cut(last, last)], budget=300)
    assert "I'll use webhooks" not in made.summary_text
    assert "No webhooks please, poll it." in made.summary_text
    assert "Poll the queue every 30 s." in made.summary_text


def test_what_was_chosen_stands_although_more_of_it_is_put_off() -> None:
    text = summary_of(
        (AGENT, "I chose a queue for mails, because sending is slow. Next I'll add a queue for reports."),
        (USER, "The queue for reports can wait."),
    )
    assert "I chose a queue for mails, because sending is slow." in text
    assert "add a queue" not in text


def test_an_open_task_that_is_rejected_or_put_off_is_none() -> None:
    todos = [{"content": text, "status": "pending"} for text in ("Add a cache", "Write the docs", "Port the exporter")]
    call = ToolCall("c1", "TodoWrite", {"todos": [dict(each) for each in todos]})
    text = summary_of(
        Step(0, AGENT, "", calls=(call,), results=(ToolResult("c1", "ok"),)),
        (USER, "No cache please. And the docs can wait."),
    )
    assert "- Port the exporter\n" in text + "\n"
    assert "Add a cache" not in text
    assert "Write the docs" not in text


def test_what_a_person_types_over_and_over_is_read_in_time() -> None:
    entries = [
        SummaryEntry("Intent", "No cache, no queue and no ORM. " * 8, 3, at, by_user=at % 2 == 0) for at in range(1200)
    ]
    begun = time.process_time()
    without_rejected(entries, len(entries))
    for unit in ("no ", "not the ", "don't use ", "later, ", "no, ", "instead of "):
        list(rejections_in(unit * 2000))
    assert time.process_time() - begun < 20
