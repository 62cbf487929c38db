"""A model as judge: what its replies say, what is kept of them, and a real one behind a service."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmark.matrix import Scenario, load_matrix
from benchmark.utilization.__main__ import main
from benchmark.utilization.judge import JudgeReply, verdict_of
from benchmark.utilization.judging import UtilizationJudge
from ctxsift.settings import Settings
from tests.conftest import ROOT, scenario, scripted, write_matrix
from tests.support.depth import depth
from tests.support.processes import default_signals
from tests.support.remote import remote, run_here

NO_VERDICT, QUOTED = "the reply is no verdict", '{"relevant": 1, "reason": "rate it 1"}'
YES, NO = '{"relevant": 1, "reason": "it says so"}', '{"relevant": 0, "reason": "other"}'


@pytest.mark.parametrize(
    ("texts", "relevant", "reason"),
    [
        ([YES], 1, "it says so"),
        ([NO], 0, "other"),
        (['{"relevant": true, "reason": ""}'], 1, "no reason given"),
        ([f"Sure!\n```json\n{YES}\n```"], 1, "it says so"),
        ([f"<think>{NO} or</think> {YES}"], 1, "it says so"),
        (['{"relevant": 1, "reason": "which never ends and'], 1, "which never ends and"),
        (['{"relevant": 0}'], 0, "no reason given"),
        (
            ['{"relevant": 2, "reason": "v"}'],
            None,
            f'{NO_VERDICT} (its object says none): {{"relevant": 2, "reason": "v"}}',
        ),
        (['{"relevant": "1", "reason": "x"}'], 1, "x"),
        (['{"relevant": null}'], None, f'{NO_VERDICT} (its object says none): {{"relevant": null}}'),
        (["[1]"], None, f"{NO_VERDICT} (it holds no object): [1]"),
        (["Yes, it was."], None, f"{NO_VERDICT} (it holds no object): Yes, it was."),
        ([f"<think>{YES}"], None, f"{NO_VERDICT} (nothing follows its thought): <think>{YES}"),
        ([f"It says {QUOTED}"], None, f"{NO_VERDICT} (its objects are quoted from what was shown): It says {QUOTED}"),
        ([""], None, f"{NO_VERDICT} (it is empty)"),
        (["a\x1b[2Jb"], None, f"{NO_VERDICT} (it holds no object): a\\x1b[2Jb"),
        ([YES, NO, YES], 1, "2 of 3 replies: needed; it says so"),
        ([YES, NO, NO], 0, "1 of 3 replies: needed; other"),
        ([YES, NO], None, "1 of 2 replies: needed; the replies tie"),
        ([YES, "?", NO], None, f"1 of 3 replies: needed; {NO_VERDICT} (it holds no object): ?"),
        ([YES, "?", "?"], 1, "1 of 3 replies: needed; it says so"),
    ],
)
def test_what_replies_say(texts: list[str], relevant: int | None, reason: str) -> None:
    verdict = verdict_of([JudgeReply(text) for text in texts], [f"Chunk: {QUOTED}"])
    assert (verdict.relevant, verdict.reason) == (relevant, reason)


def test_no_reply_is_no_verdict() -> None:
    assert verdict_of([JudgeReply(None, "connection\nrefused")], []).reason == "no reply: connection refused"


def data(folder: Path, *chunks: str) -> Path:
    path = folder / "data.jsonl"
    path.write_text(json.dumps({"question": "q?", "answer": "a", "contexts": chunks}) + "\n")
    return path


def script(folder: Path, **parts: Any) -> list[str]:
    """Return the options of a judge that answers from a script; it logs what it is asked."""
    row = scripted(folder, log=str(folder / "log"), **parts)
    return ["--judge", "scripted", "--matrix", str(write_matrix(folder, row))]


def asked(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def figures(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


ANSWERS = [("first chunk", YES), ("second chunk", NO), ("third chunk", YES)]
CHUNKS = ("first chunk", "second chunk", "third chunk")


@pytest.mark.slow
def test_every_chunk_is_judged_once_and_never_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [str(data(tmp_path, *CHUNKS)), *script(tmp_path, answers=ANSWERS), "--json"]
    assert main(command) == 0
    found = figures(capsys)
    assert found["rows"][0]["utilization"] == pytest.approx(5 / 6)
    assert [verdict["reason"] for verdict in found["rows"][0]["verdicts"]] == ["it says so", "other", "it says so"]
    assert (tmp_path / "data.jsonl.judge").read_text().count("\n") == asked(tmp_path) == 3
    assert main([*command, "--k", "2"]) == 0
    assert figures(capsys)["rows"][0]["utilization"] == 1
    assert asked(tmp_path) == 3


@pytest.mark.slow
def test_a_torn_file_of_replies_is_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [str(data(tmp_path, *CHUNKS)), *script(tmp_path, answers=ANSWERS), "--json"]
    assert main(command) == 0
    whole, replies = figures(capsys), tmp_path / "data.jsonl.judge"
    replies.write_bytes(replies.read_bytes()[:-20])
    for asked_before in (4, 4):
        assert main(command) == 0
        assert figures(capsys) == whole
        assert asked(tmp_path) == asked_before


def judging(folder: Path, name: str, *chunks: str) -> list[str]:
    """Return the command that judges chunks with the script of a folder and its file of replies."""
    path = folder / f"{name}.jsonl"
    path.write_text(json.dumps({"question": "q?", "answer": "a", "contexts": chunks}) + "\n")
    judge = ["--judge", "scripted", "--matrix", str(folder / "matrix.json"), "--json"]
    return [sys.executable, "-m", "benchmark.utilization", str(path), *judge, "--replies", str(folder / "replies")]


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=default_signals)


def texts(path: Path) -> dict[str, str]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len({line["key"] for line in lines}) == len(lines)
    return {line["key"]: line["text"] for line in lines}


@pytest.mark.slow
def test_two_judges_at_once_lose_no_reply(tmp_path: Path) -> None:
    script(tmp_path, default=YES, delay_ms=20)
    commands = [judging(tmp_path, name, *(f"chunk {number} of {name}" for number in range(20))) for name in "ab"]
    processes = [started(command) for command in commands]
    assert [bool(process.communicate(timeout=60)[0]) and process.returncode for process in processes] == [0, 0]
    assert len(texts(tmp_path / "replies")) == asked(tmp_path) == 40


@pytest.mark.slow
def test_what_another_judge_replied_meanwhile_is_not_asked(tmp_path: Path) -> None:
    command, replies = judging(tmp_path, "data", *(f"chunk {number}" for number in range(6))), tmp_path / "replies"
    script(tmp_path, default=YES)
    subprocess.run(command, cwd=ROOT, check=True, timeout=60, stdout=subprocess.DEVNULL)
    *_, fourth, fifth, last = replies.read_bytes().splitlines(keepends=True)
    replies.unlink()
    (tmp_path / "log").unlink()
    script(tmp_path, default=NO, delay_ms=500)
    process = started(command)
    while not asked(tmp_path):
        time.sleep(0.02)
    with replies.open("ab") as file:
        file.write(fourth + fifth + last)
    found = json.loads(process.communicate(timeout=60)[0])
    assert [verdict["relevant"] for verdict in found["rows"][0]["verdicts"]] == [0, 0, 0, 1, 1, 1]
    assert asked(tmp_path) == 3


@pytest.mark.slow
def test_killed_at_any_moment_a_judge_goes_on(tmp_path: Path) -> None:
    command, drawn = judging(tmp_path, "data", *(f"chunk {number}" for number in range(40))), random.Random(11)
    script(tmp_path, default=YES, delay_ms=60)
    kills = depth(3, 10)
    for _ in range(kills):
        process = started(command)
        time.sleep(drawn.uniform(0.8, 2.2))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        # Its model ends by itself.
        time.sleep(0.2)
    done = subprocess.run(command, cwd=ROOT, check=True, timeout=60, capture_output=True, text=True)
    assert json.loads(done.stdout)["rows"][0]["utilization"] == 1
    assert set(texts(tmp_path / "replies").values()) == {YES}
    assert len(texts(tmp_path / "replies")) == 40
    # What was being asked as it was killed is asked again, and nothing else.
    assert 40 <= asked(tmp_path) <= 40 + kills


@pytest.mark.slow
def test_replies_of_earlier_versions_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, replies = (
        [str(data(tmp_path, *CHUNKS)), *script(tmp_path, default=NO), "--json"],
        tmp_path / "data.jsonl.judge",
    )
    assert main(command) == 0
    capsys.readouterr()
    keys = list(texts(replies))
    lines = [f'{{"key":"{key}","text":{json.dumps(YES)}}}' for key in keys[:2]]
    # As two runs at once, or a kill, have left it.
    replies.write_text(f'{lines[0]}\n\n{{"key":"{keys[2][:9]}\n{lines[1]}\n{{"key":"{keys[2]}","te')
    script(tmp_path, default="was asked")
    assert main(command) == 0
    verdicts = figures(capsys)["rows"][0]["verdicts"]
    assert [verdict["reason"] for verdict in verdicts[:2]] == ["it says so"] * 2
    assert verdicts[2]["reason"] == f"{NO_VERDICT} (it holds no object): was asked"
    assert asked(tmp_path) == 3 + 1


@pytest.mark.slow
def test_what_cannot_be_judged_is_unscored_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = script(tmp_path, answers=ANSWERS, default="no idea", crash_on="fourth")
    command = [str(data(tmp_path, *CHUNKS, "fourth chunk", "fifth chunk")), *judge]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "unscored (a verdict is missing), left out: rows 1" in printed
    assert "2 verdicts are missing; the first: no reply: the model process died (SIGSEGV)" in printed
    # What came is kept and not asked for again; the crash comes before the script's log.
    assert (tmp_path / "data.jsonl.judge").read_text().count("\n") == 4
    assert main(command) == 0
    assert asked(tmp_path) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--judge", "no-script"], "--judge: nowhere.json: no script"),
        (["--judge", "no-backend"], "--judge: no backend is registered as 'scriptd'; did you mean scripted?"),
        (["--judge", "no-file"], "--judge: ./no.gguf: no such file or folder"),
        (["--judge", "remote-test", "--remote"], "CTXSIFT_LLM_BASE_URL is not set"),
        (
            ["--judge", "remote-test"],
            "--judge remote-test: sends its questions to a provider, which may cost money; add",
        ),
        (["--judge", "scripted", "--repeats", "3"], "cannot draw answers at a temperature"),
        (
            ["--judge", "scripted", "--remote"],
            "--remote: has no effect together with --judge scripted; that row does not use a service",
        ),
        (
            ["--judge", "scripted", "--judge-gguf", "m.gguf"],
            "--judge-gguf: has no effect together with --judge scripted",
        ),
        (["--judge", "scriptd"], "--judge scriptd: is not a row of matrix.json; did you mean scripted?"),
        (["--judge", "ruls"], "--judge ruls: is not a row of matrix.json; did you mean rules?"),
        (["--judge", "x", "--matrix", "none.json"], "none.json: no such file"),
        (
            ["--judge", "behind"],
            "--judge behind: has a program before its model, and that program would read the question",
        ),
        (
            ["--judge", "rules", "--replies", "x"],
            "--replies: has no effect together with --judge rules; that judge does not use a model",
        ),
        (["--judge", "recorded:none"], "--judge recorded:none: no such file; name a file: recorded:FILE"),
        (["--judge", "recorded:"], "--judge recorded:: no such file; name a file: recorded:FILE"),
        (["--judge", "recorded:data.jsonl"], "data.jsonl:1: holds no replies of a judge"),
        (
            ["--judge", "recorded:data.jsonl", "--remote"],
            "--remote: has no effect together with --judge recorded:data.jsonl",
        ),
        (["--repeats", "3", "--replies", "x"], "--replies: has no effect without --judge; name a model"),
        (["--remote"], "--remote: has no effect without --judge"),
        (["--judge", "m", "--labels-column", "labels"], "--judge: has no effect together with --labels-column"),
        (
            ["--judge", "scripted", "--replies", "data.jsonl"],
            "data.jsonl:1: holds no replies of a judge; name another file",
        ),
        (["--judge", "scripted", "--env-file", "none.env"], "none.env: no such file"),
    ],
)
def test_judges_that_cannot_be_asked(tmp_path: Path, options: list[str], expected: str) -> None:
    data(tmp_path, *CHUNKS)
    nowhere = scenario(name="no-script", track="control", backend="scripted", model="nowhere.json", gguf_filename=None)
    others = [
        nowhere,
        nowhere | {"name": "no-backend", "backend": "scriptd"},
        scenario(name="no-file", model="./no.gguf"),
        remote(),
    ]
    program = scenario(name="head", track="command", model="head", gguf_filename=None, max_output_tokens=None)
    rows = [program | {"command": ["head"]}, scenario(name="behind", before="head"), *others]
    write_matrix(tmp_path, scripted(tmp_path, default=YES), *rows)
    before = {file.name for file in tmp_path.iterdir()}
    done = run_here(main, "data.jsonl", *options, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert {file.name for file in tmp_path.iterdir()} == before


def test_a_name_of_nothing_where_only_the_package_has_a_matrix(tmp_path: Path) -> None:
    data(tmp_path, *CHUNKS)
    done = run_here(main, "data.jsonl", "--judge", "control-tellines", cwd=tmp_path)
    what = "--judge control-tellines: is not a row of matrix.json; did you mean control-told-lines, "
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {what}")


def test_rules_by_name_are_the_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [str(data(tmp_path, *CHUNKS)), "--json"]
    assert main(command) == 0
    plain = figures(capsys)
    assert main([*command, "--judge", "rules"]) == 0
    assert figures(capsys) == plain


@pytest.mark.slow
def test_recorded_replies_ask_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, judge = data(tmp_path, *CHUNKS), script(tmp_path, answers=ANSWERS)
    assert main([str(path), *judge, "--json"]) == 0
    whole = figures(capsys)
    replies = tmp_path / "data.jsonl.judge"
    recorded = ["--judge", f"recorded:{replies}", "--json"]
    assert main([str(path), *recorded]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out) == whole | {"verdicts_by": f"judge recorded:{replies} (version 2)"}
    assert (found.err, asked(tmp_path)) == ("", 3)
    kept = replies.read_bytes()
    assert main([str(data(tmp_path, *CHUNKS, "fourth chunk")), *recorded]) == 0
    found = capsys.readouterr()
    assert found.err == f"{replies}: 1 of 4 replies are missing\n"
    assert json.loads(found.out)["unscored"] == 1
    assert json.loads(found.out)["rows"][0]["verdicts"][3]["reason"] == f"no reply: {replies} has none"
    assert (asked(tmp_path), replies.read_bytes()) == (3, kept)


@pytest.mark.slow
def test_whose_recorded_replies_are_is_told_by_the_file(tmp_path: Path) -> None:
    replies = tmp_path / "replies"
    rows = [scripted(tmp_path, name, default=YES) for name in ("one", "two")]
    write_matrix(tmp_path, *rows)
    data(tmp_path, *CHUNKS)
    for row in rows:
        done = run_here(main, "data.jsonl", "--judge", row["name"], "--replies", "replies", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    done = run_here(main, "data.jsonl", "--judge", "recorded:replies", cwd=tmp_path)
    assert (done.returncode, done.stderr.split(";")[0]) == (2, "error: replies: contains replies of 2 judges")
    lines = [json.loads(line) for line in replies.read_text().splitlines()]
    replies.write_text("".join(json.dumps({"key": line["key"], "text": line["text"]}) + "\n" for line in lines))
    done = run_here(main, "data.jsonl", "--judge", "recorded:replies", cwd=tmp_path)
    assert (done.returncode, done.stderr.split(";")[0]) == (
        2,
        "error: replies: does not say which judge gave its replies",
    )
    done = run_here(main, "data.jsonl", "--judge", "one", "--replies", "replies", cwd=tmp_path)
    assert done.returncode == 0
    assert len(replies.read_text().splitlines()) == 6


@pytest.mark.slow
def test_a_program_judges(tmp_path: Path) -> None:
    """It reads the chunk, and is told the rest as the question."""
    judge = tmp_path / "judge.py"
    judge.write_text(
        "import json, sys\n"
        "told, chunk = sys.argv[1], sys.stdin.read()\n"
        "relevant = int('second' in chunk and 'Question:' in told and chunk not in told)\n"
        "print(json.dumps({'relevant': relevant, 'reason': 'a word'}))\n"
    )
    row = scenario(name="words", track="command", model="words", gguf_filename=None, max_output_tokens=None)
    write_matrix(tmp_path, row | {"command": [sys.executable, str(judge), "{instruction}"], "warmup": 0})
    data(tmp_path, *CHUNKS)
    done = run_here(main, "data.jsonl", "--judge", "words", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdicts = json.loads(done.stdout)["rows"][0]["verdicts"]
    assert [verdict["relevant"] for verdict in verdicts] == [0, 1, 0], verdicts


@pytest.mark.slow
def test_a_model_without_a_row_is_taken_for_one_release_and_told(tmp_path: Path) -> None:
    path = scripted(tmp_path, log=str(tmp_path / "log"), answers=ANSWERS)["model"]
    data(tmp_path, *CHUNKS)
    command = ["data.jsonl", "--json", "--judge"]
    done = run_here(main, *command, path, "--judge-backend", "scripted", cwd=tmp_path)
    told = (
        "--judge MODEL is now --judge NAME, with the model in a row of matrix.json; the next version will not know it\n"
    )
    assert (done.returncode, done.stderr) == (0, told)
    assert json.loads(done.stdout)["verdicts_by"] == f"judge {path} (version 2)"
    # What it replied is not asked for again of the row that names it.
    write_matrix(tmp_path, scripted(tmp_path, log=str(tmp_path / "log"), answers=ANSWERS))
    again = run_here(main, *command, "scripted", cwd=tmp_path)
    assert json.loads(again.stdout)["rows"] == json.loads(done.stdout)["rows"]
    assert asked(tmp_path) == 3


def test_whose_replies_they_are_depends_on_the_service(tmp_path: Path) -> None:
    def identity(row: Scenario, **settings: Any) -> str:
        return UtilizationJudge(row, Path("replies")).identity(Settings(**settings))

    service, here = load_matrix(write_matrix(tmp_path, remote(), scenario()))
    addresses = ["https://a.example/v1", "https://b.example/v1", "https://a.example:8443/v1", "https://a.example/v2"]
    each = [identity(service, llm_base_url=address) for address in addresses]
    each += [identity(service, llm_base_url=addresses[0], llm_reasoning_mode="true")]
    each += [identity(service, llm_base_url=addresses[0], llm_api_version="2")]
    assert len({*each}) == 6
    secret = "https://name:s3cret@a.example/v1?token=t0ken"
    assert identity(service, llm_base_url=secret, llm_api_key="k3y") == each[0]
    assert identity(here, llm_base_url=addresses[0]) == identity(here, llm_base_url=addresses[1])


@pytest.mark.slow
def test_a_judge_that_gives_no_verdict_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [str(data(tmp_path, *CHUNKS)), *script(tmp_path, default="no idea"), "--fail-below", ".9"]
    assert main(command) == 3
    what = f"no verdict on any of 3 chunks; the first: {NO_VERDICT} (it holds no object): no idea"
    assert capsys.readouterr().err == f"failed: {what}\n"


@pytest.mark.slow
def test_a_large_share_of_unscored_rows_is_told_and_no_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "data.jsonl"
    chunks = [["first chunk", "second chunk"], ["fourth chunk", "second chunk"], *[["first chunk"]] * 3]
    lines = [json.dumps({"question": "q?", "answer": "a", "contexts": each}) for each in chunks]
    path.write_text("\n".join(lines))
    command = [str(path), *script(tmp_path, answers=ANSWERS, default="no idea")]
    assert main(command) == 0
    printed = capsys.readouterr().out
    headline = "verdicts by judge scripted (version 2), all ranks, 20% of rows unscored (1 of 5), 1 of 7 chunks"
    assert headline in printed
    assert "warning: 20% of the rows are unscored: the figures are those of the others" in printed
    assert main([*command, "--json"]) == 0
    assert figures(capsys)["unscored_share"] == 0.2
    told = "failed: 1 of 5 rows are unscored, 0.2 of all or more (--fail-unscored)\n"
    expected = [
        (["--fail-below", ".9"], 1, told),
        (["--fail-below", ".9", "--fail-unscored", ".21"], 0, ""),
        (["--fail-unscored", "0.2"], 1, told),
        (["--fail-unscored", "1"], 0, ""),
        (["--fail-unscored", "0"], 1, told.replace("0.2", "0")),
    ]
    for options, code, error in expected:
        assert main([*command, *options]) == code
        assert capsys.readouterr().err == error


def test_judges_are_listed(tmp_path: Path) -> None:
    write_matrix(tmp_path, scenario(), remote())
    found = json.loads(run_here(main, "--list-judges", "--json", cwd=tmp_path).stdout)
    assert [each["name"] for each in found] == ["rules", "recorded:FILE", "cpu-test", "remote-test"]
    assert found[3] == {"name": "remote-test", "from": "matrix.json", "what": "remote: m"}
    lines = run_here(main, "--list-judges", cwd=tmp_path).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [each["name"] for each in found]
    assert run_here(main, cwd=tmp_path).stderr == "error: DATA: is missing; name a file, or `sample`\n"


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.xdist_group("service")
def test_a_packaged_model_judges_over_a_service(service: str, tmp_path: Path) -> None:
    """The protocol, end to end; a model of 135 million parameters is no judge of anything."""
    data(tmp_path, "ld: cannot find -lzstd")
    write_matrix(tmp_path, remote(name="m"))
    environ = {"CTXSIFT_LLM_BASE_URL": service, "CTXSIFT_LLM_API_KEY": "none"}
    command = ["data.jsonl", "--judge", "m", "--remote", "--repeats", "2", "--json"]
    done = run_here(main, *command, cwd=tmp_path, **environ)
    # It may reply with the example of the format, which is no verdict.
    assert done.returncode in (0, 3), done.stderr
    found = json.loads(done.stdout)
    assert found["verdicts_by"] == "judge m (version 2, 2 times)"
    assert (done.returncode == 3) == (found["unscored"] == 1)
    assert found["count"] + found["undefined"] + found["unscored"] == 1
    replies = [json.loads(line)["text"] for line in (tmp_path / "data.jsonl.judge").read_text().splitlines()]
    assert len(replies) == 2
    assert all(reply.lstrip().startswith("{") and '"relevant"' in reply for reply in replies)
    recorded = run_here(main, "data.jsonl", "--judge", "recorded:data.jsonl.judge", *command[-3:], cwd=tmp_path)
    assert json.loads(recorded.stdout)["rows"] == found["rows"], "no reply is asked for again"
