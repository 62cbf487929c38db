"""`viewer --watch`: what is seen follows the journals; nobody else is answered."""

import contextlib
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGINT, SIGKILL
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from benchmark.viewer.__main__ import main
from benchmark.viewer.watching import Watcher, WatchServer
from ctxsift.errors import InputError
from tests.conftest import scripted, write_matrix
from tests.support.chromium import ARGUMENTS, CHROMIUM
from tests.support.processes import default_signals
from tests.support.runs import SMALL, answered, ended, start, wait_for

CASES = 12


@contextlib.contextmanager
def watching(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Start the command, and give its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.viewer", "--watch", "results"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[0], process
    finally:
        process.kill()
        process.communicate()


def fetched(address: str, **headers: str) -> tuple[int, str]:
    """Return status and text of a request."""
    request = urllib.request.Request(address, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def runs(address: str) -> dict[str, Any]:
    """Return what the server says of runs."""
    told: dict[str, Any] = json.loads(fetched(f"{address}runs.json")[1])
    return told


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.1)


@pytest.mark.browser
def test_a_run_is_followed_killed_and_resumed(tmp_path: Path) -> None:
    write_matrix(tmp_path, scripted(tmp_path, default="x", delay_ms=700.0))
    runner = start(tmp_path, *SMALL)
    wait_for(lambda: answered(tmp_path) >= 1, runner)
    with watching(tmp_path) as (address, viewer), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        expect(page.locator("#summary")).to_contain_text("running: scripted", timeout=20_000)
        until(lambda: answered(tmp_path) >= 3)
        there = answered(tmp_path)
        time.sleep(2)
        assert shown(page) >= there, "two seconds later, the page knows less than the journal"
        ended(runner, by=SIGKILL)
        expect(page.locator("#summary")).to_have_text("1 run; 1 interrupted", timeout=20_000)
        ended(start(tmp_path, "--resume", "results", *SMALL))
        expect(page.locator("#summary")).to_have_text("1 run; 1 complete", timeout=20_000)
        # The page inside was built anew, without anybody asking for it; its views are addresses of the outer page.
        page.frame_locator("#page").locator("h1").wait_for()
        page.frame_locator("#page").get_by_role("link", name="Validity", exact=True).click()
        until(lambda: page.evaluate("location.hash") == page.frames[1].evaluate("location.hash") == "#/validity")
        page.reload()
        page.frame_locator("#page").get_by_role("link", name="Validity", exact=True).and_(
            page.frame_locator("#page").locator("[aria-current]")
        ).wait_for()
        assert all(url.startswith(address) for url in requests)
        browser.close()
        viewer.send_signal(SIGINT)
        assert viewer.wait(10) == 0


def shown(page: Page) -> int:
    """Return how many answers the page says that there are."""
    text = page.locator("#runs td:nth-child(3)").text_content() or ""
    return int(text.partition("/")[0])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WatchServer]:
    """A server of an empty folder; its watcher does not look by itself."""
    import threading

    watcher = Watcher((tmp_path,), lambda: "<!doctype html><title>built</title>", lambda _: None)
    with WatchServer(watcher, 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["", "page.html", "runs.json"])
def test_foreign_pages_are_refused(server: WatchServer, headers: dict[str, str], path: str) -> None:
    assert fetched(server.address + path, **headers) == (403, "only pages of this viewer may ask\n")


def test_its_own_page_is_answered(server: WatchServer) -> None:
    origin = server.address.rstrip("/")
    for headers in ({}, {"Origin": origin, "Sec_Fetch_Site": "same-origin"}, {"Sec_Fetch_Site": "none"}):
        assert fetched(f"{server.address}runs.json", **headers)[0] == 200
    assert fetched(f"{server.address}../matrix.json")[0] == 404
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_is_built_when_a_result_comes_and_only_then(tmp_path: Path) -> None:
    built: list[int] = []
    told: list[str] = []

    def build() -> str:
        built.append(len(built))
        if len(built) == 1:
            raise InputError("results", "contains no result", "run one")
        return f"page {len(built)}"

    watcher = Watcher((tmp_path,), build, told.append)
    watcher.look()
    watcher.look()
    assert (len(built), watcher.watched.version) == (1, 1)
    assert b"No run has ended yet" in watcher.watched.page
    assert told == ["results: contains no result; run one"]
    (tmp_path / "a.json").write_text("{}")
    watcher.look()
    watcher.look()
    assert (len(built), watcher.watched.version, watcher.watched.page) == (2, 2, b"page 2")
    (tmp_path / "a.json").write_text("{} ")
    watcher.look()
    assert watcher.watched.version == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--watch", "-o", "x.html"), "--watch: writes no file"),
        (("--port", "80"), "--port: needs --watch"),
        (("--watch", "--port", "70000"), "--port 70000: cannot be listened on"),
    ],
)
def test_what_cannot_be_asked(
    arguments: tuple[str, ...], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), *arguments]) == 2
    assert problem in capsys.readouterr().err
