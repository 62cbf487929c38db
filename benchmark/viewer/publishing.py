"""A folder to put on a web server: the page, a preview picture, and what link previews say of it."""

from __future__ import annotations

import html
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from benchmark.analysis.figures import Form
from benchmark.render.figures import board_title, counted, form_text, headline_text
from benchmark.viewer.page import GENERATOR
from benchmark.viewer.page_data import Gathered
from ctxsift.errors import InputError
from ctxsift.files import open_regular, write_atomically
from ctxsift.terminal import one_line

PAGE, PREVIEW = "index.html", "preview.png"
_OPTION = "--publish"
# A page says at its beginning what made it.
_BEGINNING = 2_000
# Link previews cut what is longer.
_MOST_NAMED = 3


def refuse_foreign(folder: Path) -> None:
    """Raise InputError unless a folder is new, or empty, or holds a page of this program.

    Raises OSError if it cannot be looked into.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{_OPTION} {folder}", "is not a folder", "name another folder")
    page = folder / PAGE
    if not any(folder.iterdir()) or (page.is_file() and _is_ours(page)):
        return
    problem = f"contains files, but no {PAGE} of this program, so nothing in it is overwritten"
    raise InputError(f"{_OPTION} {folder}", problem, "name a new or an empty folder")


def _is_ours(page: Path) -> bool:
    with open_regular(page) as file:
        return GENERATOR.encode() in file.read(_BEGINNING)


def checked_url(text: str) -> str:
    """Return an address as the base of others. Raises InputError unless it is one of http or https."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError(f"--url {text}", "is no address of a web page", "write e.g. https://example.org/bench/")
    return text if text.endswith("/") else f"{text}/"


def description(gathered: Gathered) -> str:
    """Return in two sentences what the first leaderboard comes to: its best results, and what they were measured on.

    Without a leaderboard, return what probes and experiments are about.
    """
    if not gathered.boards:
        about = ["what agents can still answer after compaction"] if gathered.probed else []
        about += ["what changes the score of a model"] if gathered.stressed else []
        told = ", and ".join(about)
        return f"{told[:1].upper()}{told[1:]}."
    board = gathered.boards[0]
    scores = {row: gathered.comparisons.core(row.result)[0] for row in board.headline.best}
    best = sorted(scores, key=lambda row: -scores[row])
    names = [f"{one_line(row.label)} ({form_text(Form(), scores[row])})" for row in best]
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    tied = ", statistically tied" if len(best) > 1 else ""
    told = f"Best{tied} (quality core, 0 to 100): {', '.join(names[:_MOST_NAMED] + more)}." if best else ""
    rivals = sum(not row.result.is_reference for row in board.rows)
    return f"{told or headline_text(board)} {counted(rivals, 'result')}; {board_title(board)}."


def head_of(title: str, said: str, url: str, *, has_picture: bool) -> str:
    """Return the elements that link previews read.

    Args:
        title: of the page.
        said: its description.
        url: where the folder will be, with a slash at its end; empty if nobody knows. Previews then take the picture
            only from where they resolve addresses.
        has_picture: there is a preview picture.

    """
    told = {
        "og:type": "website",
        "og:site_name": "CtxSift Bench",
        "og:title": title,
        "og:description": said,
        "og:image": urljoin(url, PREVIEW) if has_picture else "",
        "og:image:alt": "Chart of the scores" if has_picture else "",
        "og:url": url,
    }
    properties = [f'<meta property="{name}" content="{html.escape(text)}">' for name, text in told.items() if text]
    named = [
        f'<meta name="description" content="{html.escape(said)}">',
        f'<meta name="twitter:card" content="{"summary_large_image" if has_picture else "summary"}">',
    ]
    return "\n".join([*named, *properties])


def publish(folder: Path, page: str, picture: bytes | None) -> None:
    """Write page and picture to a folder; the page last, so that it never names what is not there. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if picture is not None:
        write_atomically(folder / PREVIEW, picture)
    write_atomically(folder / PAGE, page)
