"""The results page while runs go on: a server of this machine alone, which builds the page anew when a result comes."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import Template

from benchmark.record.paths import RESULT_SUFFIXES
from benchmark.record.status import RunState, RunStatus, StatusReader, status_rows
from benchmark.render.figures import counted
from benchmark.viewer.page import FOLDER, policy_hash
from ctxsift.errors import InputError
from ctxsift.files import files_below

HOST = "127.0.0.1"
_PAUSE_S = 1.0
_NOTHING = "<!doctype html><html lang=en><title>Results</title><p>No run has ended yet, so there are no results."
_HTML, _JSON = "text/html; charset=utf-8", "application/json"


@dataclass(frozen=True)
class Watched:
    """What there is to see.

    Attributes:
        version: raised whenever the page was built anew.
        page: HTML.
        runs: as JSON, for the page around it.

    """

    version: int
    page: bytes
    runs: bytes


class Watcher:
    """Keeps the page and the status of runs up to date, from `watch` on.

    Args:
        paths: results trees, run folders or files.
        build: returns the page. Raises InputError while there is nothing to show.
        tell: called with what is wrong, once for each problem.

    """

    def __init__(self, paths: tuple[Path, ...], build: Callable[[], str], tell: Callable[[str], None]) -> None:
        self._paths, self._build, self._tell = paths, build, tell
        self._reader, self._told = StatusReader(), set[str]()
        self._built: frozenset[tuple[Path, int, int]] | None = None
        self._ended = threading.Event()
        self.watched = Watched(0, _NOTHING.encode(), self._runs(0))

    def watch(self) -> None:
        """Look once a second until `end` is called."""
        while not self._ended.is_set():
            self.look()
            self._ended.wait(_PAUSE_S)

    def end(self) -> None:
        """Let `watch` return."""
        self._ended.set()

    def look(self) -> None:
        """Read what there is now, and build the page if a result came, changed or went."""
        before, found = self.watched, self._results()
        page, version = before.page, before.version
        # The strip does not wait for the page, which takes seconds.
        self.watched = Watched(version, page, self._runs(version))
        if found != self._built:
            self._built = found
            try:
                page = self._build().encode()
            except InputError as error:
                self._say(str(error))
                page = _NOTHING.encode()
            self.watched = Watched(version + 1, page, self._runs(version + 1))

    def _results(self) -> frozenset[tuple[Path, int, int]]:
        found = set()
        for path in self._paths:
            for file in files_below(path, RESULT_SUFFIXES, lambda _: None) if path.is_dir() else [path]:
                try:
                    told = file.stat()
                except OSError:
                    continue
                found.add((file, told.st_mtime_ns, told.st_size))
        return frozenset(found)

    def _runs(self, version: int) -> bytes:
        runs: list[RunStatus] = []
        for path in self._paths:
            if path.is_dir():
                try:
                    runs += self._reader.statuses(path, lambda error: self._say(f"left out: {error}"))
                except InputError:
                    # A folder without a journal may get one.
                    continue
        _, *rows = status_rows(runs)
        return json.dumps({"version": version, "strip": strip(runs), "runs": rows}).encode()

    def _say(self, problem: str) -> None:
        if problem not in self._told:
            self._told.add(problem)
            self._tell(problem)


def strip(runs: list[RunStatus]) -> str:
    """Return what has become of all runs, in one line."""
    if not runs:
        return "no runs"
    states = Counter(run.state for run in runs)
    parts = [f"{states[state]} {state}" for state in RunState if states[state] and state is not RunState.RUNNING]
    running = [run for run in runs if run.state is RunState.RUNNING]
    if running:
        first = running[0]
        _, row = status_rows([first])
        left = f", {row[4]} left" if row[4] else ""
        more = f" and {len(running) - 1} more" if len(running) > 1 else ""
        parts.insert(0, f"running: {first.name} ({first.answered} of {first.planned}{left}){more}")
    return f"{counted(len(runs), 'run')}; " + ", ".join(parts)


class WatchServer(ThreadingHTTPServer):
    """Serves what a watcher has, to pages of its own alone.

    Other sites that are open in the browser can send requests to this machine, and names of theirs can lead here; so it
    answers only requests that name it by its own address, and that no other page makes.
    """

    daemon_threads = True

    def __init__(self, watcher: Watcher, port: int) -> None:
        super().__init__((HOST, port), _Handler)
        self.watcher = watcher
        self.frame = _frame()
        self.names = frozenset(f"{name}:{self.server_port}" for name in (HOST, "localhost"))

    @property
    def address(self) -> str:
        """Where it is."""
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: WatchServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with the page around the results, the results, or the state of runs."""
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "none")
        own = self.headers.get("Host") in self.server.names and site in ("none", "same-origin")
        if not own or (origin is not None and origin.removeprefix("http://") not in self.server.names):
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"only pages of this viewer may ask\n")
            return
        watched = self.server.watcher.watched
        pages = {
            "/": (_HTML, self.server.frame),
            "/page.html": (_HTML, watched.page),
            "/runs.json": (_JSON, watched.runs),
        }
        kind, content = pages.get(self.path.partition("?")[0], ("text/plain", b""))
        if content:
            self._answer(HTTPStatus.OK, kind, content)
        else:
            self._answer(HTTPStatus.NOT_FOUND, kind, b"there is no such page\n")

    def _answer(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(content))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "SAMEORIGIN"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: there is a request a second."""


def _frame() -> bytes:
    script, style = ((FOLDER / f"watch.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    policy = (
        f"default-src 'none'; script-src {policy_hash(script)}; style-src {policy_hash(style)}; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'"
    )
    page = Template((FOLDER / "watch.html").read_text(encoding="utf-8"))
    return page.substitute(policy=policy, style=style, script=script).encode()
