"""Pages in a real browser that nothing may trouble: no message in the console, no fault, no request to a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page

PATIENCE_MS = 30_000


class WatchedPages:
    """Opens pages, each in a context of its own, and notes what must not happen in them."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self._faults: list[str] = []

    def open(self, file: Path, address: str, *, script: str = "", **options: Any) -> Page:
        """Return a page of a file.

        Args:
            file: the page.
            address: of the view, from `#` on.
            script: what runs before those of the page.
            options: of the context of the browser.

        """
        context = self._browser.new_context(**{"viewport": {"width": 1400, "height": 900}} | options)
        self._contexts.append(context)
        page = context.new_page()
        page.add_init_script(script)
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self._faults.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self._faults.append(f"error: {error}"))
        page.on("request", lambda request: self._note(request.url, file))
        page.on("websocket", lambda socket: self._faults.append(socket.url))
        page.goto(file.as_uri() + address)
        return page

    def _note(self, url: str, file: Path) -> None:
        if not url.startswith((file.as_uri(), "data:,", "blob:")):
            self._faults.append(url[:200])

    def close(self) -> None:
        """Close all pages. Raises AssertionError if anything was noted."""
        for context in self._contexts:
            context.close()
        assert not self._faults


def saved_picture(buttons: Locator, name: str, kind: str) -> bytes:
    """Return a picture that a reader saves, of a kind that is SVG or PNG. Raises AssertionError if it is none."""
    with buttons.page.expect_download() as started:
        buttons.get_by_role("button", name=f"save as {kind}").click()
    assert started.value.suggested_filename == f"{name}.{kind.lower()}"
    content = Path(started.value.path()).read_bytes()
    assert content.startswith({"SVG": b"<svg", "PNG": b"\x89PNG"}[kind])
    assert len(content) > 5_000
    return content


def serious_faults(page: Page) -> list[str]:
    """Return the serious and critical findings of axe, with every disclosure of the page open."""
    for disclosure in page.locator("main details").all():
        disclosure.evaluate("element => { element.open = true }")
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:160]} {node['failureSummary'][:200]}"
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:3]
    ]
