"""Keys stay with the service they are for, and proxies with the addresses they are for: through the command line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from benchmark.cases import Corpus
from benchmark.report import main as report_main
from benchmark.run.selection import select_cases
from benchmark.runner import main as runner_main
from benchmark.viewer.__main__ import main as viewer_main
from tests.conftest import scripted, write_matrix
from tests.support.fault_service import FaultService, Script, completion, raw, refusal, reply
from tests.support.hostile_answers import echoes, openai_completion
from tests.support.packaged import keep_corpus
from tests.support.remote import remote, run_here, run_process
from tests.support.warm import call_ctxsift

# Together with the other modules that import LiteLLM, so that one worker does.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("remote")]

KEY = 'planted-k3y/8c1f+"q'
ESCAPES = "\x1b[31mred \x1b]0;title\x07 \x9b31m \u202eltr \u2066x\r\nnext line"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def settings(folder: Path, url: str, **values: object) -> list[str]:
    given = {"LLM_BASE_URL": url, "LLM_API_KEY": KEY, "TIMEOUT_MS": 60_000, "RETRIES": 0, **values}
    file = folder / ".env"
    file.write_bytes("".join(f"CTXSIFT_{name}='{value}'\n" for name, value in given.items()).encode())
    return ["--remote", "--env-file", str(file)]


@pytest.fixture(autouse=True)
def kept_corpus(monkeypatch: pytest.MonkeyPatch, corpus: Corpus) -> None:
    keep_corpus(monkeypatch, corpus)


def everything(folder: Path, *told: str) -> str:
    """Return all that was written and told, JSON strings unescaped as well."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in (".env", "matrix.json")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    assert any(path.suffix == ".jsonl" for path in files)
    found = "".join((*texts, *told))
    return found + found.replace('\\"', '"').replace("\\\\", "\\")


def case_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.glob("results/*/*.json")
    (case,) = json.loads(path.read_text())["cases"]
    return dict(case)


def echoing(form: str) -> dict[str, Any]:
    document = openai_completion(f"you sent {form} to me")
    document["model"] = f"model {form}"
    document["choices"][0]["message"]["reasoning_content"] = f"the key is {form}"
    document["choices"][0]["finish_reason"] = form
    return document


def test_a_key_that_comes_back_is_neither_stored_nor_shown(tmp_path: Path, corpus: Corpus) -> None:
    forms = list(echoes(KEY).values())
    chosen = select_cases(corpus, max_cases=4 * len(forms))
    scripts = []
    for number, form in enumerate(forms):
        answers = (
            reply(200, json.dumps(echoing(form)).encode()),
            refusal(400, f"Incorrect key: {form}", x_key=form.encode().decode("ascii"), retry_after=form),
            reply(502, f"<html>{form}</html>".encode(), "text/html"),
        )
        for offset, fault in enumerate(answers):
            scripts.append(Script(chosen[4 * number + offset].instruction.strip(), [fault]))
    write_matrix(tmp_path, remote(concurrency=4))
    with FaultService(*scripts) as service:
        options = ["--max-cases", str(len(chosen)), "--show-output", *settings(tmp_path, service.url)]
        done = run_here(runner_main, *options, cwd=tmp_path)
    assert "Traceback" not in done.stderr
    (result,) = tmp_path.glob("results/*/*.json")
    for main, more in (
        (report_main, ["--markdown", "r.md", "--csv", "r.csv"]),
        (viewer_main, ["--output", "page.html"]),
    ):
        assert run_here(main, str(result), *more, cwd=tmp_path).returncode == 0
    found = everything(tmp_path, done.stdout, done.stderr)
    assert "you sent *** to me" in found
    assert "the key is ***" in found
    assert "model ***" in found
    assert "Incorrect key: ***" in found
    for name, form in echoes(KEY).items():
        assert form not in found, name


def test_compress_does_not_show_the_key(tmp_path: Path) -> None:
    forms = echoes(KEY)
    for fault in (
        reply(200, json.dumps(echoing(" ".join(forms.values()))).encode()),
        refusal(401, " ".join(forms.values())),
    ):
        with FaultService(default=fault) as service:
            options = settings(tmp_path, service.url)
            arguments = ["compress", "--min-bytes", "0", "--model", "m", "--json", *options, "what failed?"]
            done = call_ctxsift(*arguments, cwd=tmp_path, given="3 passed, 1 failed\n")
        assert done.returncode == 0, done.stderr
        told = done.stdout + done.stderr + str(json.loads(done.stdout))
        assert "*** ***" in told
        for name, form in forms.items():
            assert form not in told, name
            assert json.dumps(form)[1:-1] not in told, name


def test_a_word_for_a_key_stays_in_answers(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    with FaultService(default=completion("There is none of it.")) as service:
        options = ["--max-cases", "1", *settings(tmp_path, service.url, LLM_API_KEY="none")]
        done = run_here(runner_main, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert case_of(tmp_path)["raw_view"]["output"] == "There is none of it."


def test_a_key_with_a_line_end_is_used_without_it(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    with FaultService(default=refusal(401, "no")) as service:
        options = ["--max-cases", "2", *settings(tmp_path, service.url)]
        done = run_here(runner_main, *options, CTXSIFT_LLM_API_KEY=f" {KEY}\r\n", cwd=tmp_path)
        assert f"authorization: bearer {KEY}\r\n".lower() in service.headers[0].lower()
    found = everything(tmp_path, done.stdout, done.stderr)
    assert "does not accept the key" in found
    assert KEY not in found


@pytest.mark.parametrize("key", [f"{KEY}\rx", f"{KEY}\u4e2d"])
def test_a_key_that_no_header_carries_is_refused(key: str, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    with FaultService() as service:
        options = ["--max-cases", "2", *settings(tmp_path, service.url)]
        done = run_here(runner_main, *options, CTXSIFT_LLM_API_KEY=key, cwd=tmp_path)
        assert not service.requests
    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1
    assert "CTXSIFT_LLM_API_KEY" in done.stderr
    assert "planted" not in done.stdout + done.stderr


def test_name_and_password_of_the_address_stay_out_of_sight(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    with FaultService(
        default=refusal(400, "no: u53r-name p4ss%77ord p4ssword dTUzci1uYW1lOnA0c3N3b3Jk s3cret-token")
    ) as service:
        url = service.url.replace("://", "://u53r-name:p4ssword@") + "?token=s3cret-token"
        done = run_here(runner_main, "--max-cases", "1", *settings(tmp_path, url), cwd=tmp_path)
    found = everything(tmp_path, done.stdout, done.stderr)
    assert "answered 400: no: *** *** *** *** ***" in found
    for secret in ("u53r-name", "p4ssword", "s3cret-token"):
        assert secret not in found


def test_this_machine_is_asked_past_any_proxy(tmp_path: Path) -> None:
    # A process: LiteLLM makes clients while it is imported, and would choke on either of these.
    write_matrix(tmp_path, remote())
    proxies = {"ALL_PROXY": "socks5://u:h1dden-pw@127.0.0.1:9", "HTTP_PROXY": "nonsense://u:h1dden-pw@h"}
    with FaultService() as service:
        options = ["--max-cases", "1", *settings(tmp_path, service.url)]
        done = run_process("benchmark.runner", *options, cwd=tmp_path, SSL_CERT_FILE="/no/such/file", **proxies)
        assert len(service.requests) == 1
    assert done.returncode == 0, done.stderr


def test_the_key_for_this_machine_does_not_go_to_a_proxy(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    with FaultService() as service, FaultService() as proxy:
        url = service.url.replace("127.0.0.1", "localhost")
        options = ["--max-cases", "1", *settings(tmp_path, url)]
        done = run_here(runner_main, *options, HTTP_PROXY=proxy.url, cwd=tmp_path)
        assert (len(service.requests), len(proxy.requests)) == (1, 0)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("HTTP_PROXY", "socks5://u:h1dden-pw@127.0.0.1:9", "HTTP_PROXY names a SOCKS proxy"),
        ("ALL_PROXY", "nonsense://u:h1dden-pw@h", "ALL_PROXY is not a valid proxy address"),
    ],
)
def test_a_proxy_that_cannot_be_used_costs_its_scenario_alone(name: str, value: str, said: str, tmp_path: Path) -> None:
    write_matrix(tmp_path, remote(), scripted(tmp_path, default="a"))
    options = ["--max-cases", "1", *settings(tmp_path, "http://service.invalid/v1")]
    done = run_here(runner_main, *options, **{name: value}, cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert said in done.stdout + done.stderr
    assert [path for path in tmp_path.glob("results/*/*.json") if "scripted" in path.name]
    assert "h1dden" not in everything(tmp_path, done.stdout, done.stderr)


def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    os.mkfifo(tmp_path / "pipe.pem")
    options = ["--max-cases", "1", *settings(tmp_path, "https://service.invalid/v1")]
    done = run_here(runner_main, *options, SSL_CERT_FILE=str(tmp_path / "pipe.pem"), cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "SSL_CERT_FILE does not name a file" in done.stdout + done.stderr


def test_a_proxy_is_used_for_other_addresses(tmp_path: Path) -> None:
    write_matrix(tmp_path, remote())
    options = ["--max-cases", "1", *settings(tmp_path, "http://service.invalid/v1")]
    with FaultService() as proxy:
        login = proxy.url.removesuffix("/v1").replace("://", "://u:h1dden-pw@")
        done = run_here(runner_main, *options, HTTP_PROXY=login, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert proxy.headers[0].startswith("POST http://service.invalid/v1/chat/completions ")
        assert "proxy-authorization: basic" in proxy.headers[0].lower()
    done = run_here(runner_main, "--output-dir", "down", *options, HTTP_PROXY=login, cwd=tmp_path)
    assert "no connection to the service through the proxy of HTTP_PROXY" in done.stdout + done.stderr
    assert "h1dden" not in everything(tmp_path, done.stdout, done.stderr)


def test_nothing_that_a_service_says_reaches_the_terminal_raw(tmp_path: Path, corpus: Corpus) -> None:
    document = openai_completion(f"fine {ESCAPES}")
    document["model"] = f"model {ESCAPES}"
    document["choices"][0]["finish_reason"] = ESCAPES
    error = json.dumps({"error": {"message": ESCAPES}}).encode()
    faults = [
        reply(200, json.dumps(document).encode()),
        reply(400, error),
        reply(500, ESCAPES.encode(), "text/html"),
        raw(b"HTTP/1.1 500 \x1b[31mred\x9b31m\r\nretry-after: \x1b[31m\r\ncontent-length: 0\r\n\r\n"),
        raw(b"\x1b]0;title\x07 \x9b31m\r\n\r\n", then_close=True),
    ]
    chosen = select_cases(corpus, max_cases=2 * len(faults))
    scripts = [Script(case.instruction.strip(), [fault]) for case, fault in zip(chosen[::2], faults, strict=True)]
    write_matrix(tmp_path, remote())
    with FaultService(*scripts) as service:
        options = ["--max-cases", str(len(chosen)), "--show-output", *settings(tmp_path, service.url)]
        done = run_here(runner_main, *options, cwd=tmp_path)
    assert "red" in done.stdout + done.stderr
    assert not OBEYED.search(done.stdout + done.stderr)
    (result,) = tmp_path.glob("results/*/*.json")
    run_here(report_main, str(result), "--markdown", "r.md", cwd=tmp_path)
    assert not OBEYED.search((tmp_path / "r.md").read_text())
    for journal in tmp_path.glob("results/*/*.jsonl"):
        for line in map(json.loads, journal.read_text().splitlines()):
            shown = (line.get("error") or "") + str((line.get("generation") or {}).get("model"))
            assert not OBEYED.search(shown)
            assert "\n" not in shown
