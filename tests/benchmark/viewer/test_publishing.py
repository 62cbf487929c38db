"""A published folder: complete by itself, told of in a sentence, and never in the place of somebody else's."""

from __future__ import annotations

import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from benchmark.cli.command import PACKAGED_RESULTS
from benchmark.probes.records import RESULT_FILE, ProbeResult
from benchmark.record.read import find_results
from benchmark.viewer.page_data import gather
from benchmark.viewer.publishing import description
from tests.conftest import published_layout
from tests.support.pages import run_viewer

EASY = PACKAGED_RESULTS / "easy"


class Head(HTMLParser):
    """Collects what the head of a page says of it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.told: dict[str, str] = {}
        self.feed(page[: page.index("</head>")])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the name and the content of a meta element."""
        found = dict(attrs)
        name = found.get("property") or found.get("name")
        if tag == "meta" and name:
            assert name not in self.told
            self.told[name] = found["content"] or ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("publishing") / "web" / "site"
    done = run_viewer(EASY, "--publish", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_folder_holds_page_and_picture_and_says_who_is_best(site: Path) -> None:
    assert sorted(file.name for file in site.iterdir()) == ["index.html", "preview.png"]
    assert (site / "preview.png").read_bytes().startswith(b"\x89PNG")
    told = Head((site / "index.html").read_text()).told
    assert told["og:description"] == told["description"] == description(gather(find_results([EASY])))
    assert told["description"].startswith(
        "Best (quality core, 0 to 100): cpu-qwen2.5-coder-1.5b-q4_k_m (38.1). 3 results; 40 of 280 cases (easy "
    )
    assert (told["og:title"], told["og:image"]) == ("CtxSift Bench: 3 results", "preview.png")
    assert "og:url" not in told


def test_with_its_address_previews_find_the_picture(tmp_path: Path) -> None:
    file = published_layout(tmp_path / "x.json", '"><script>alert(1)</script>', {"a": 0.5, "b": 0.7})
    done = run_viewer(file, "--publish", tmp_path / "site", "--url", 'https://example.org/bench?x="><b>')
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    told = Head(page).told
    assert told["og:image"] == "https://example.org/preview.png"
    assert "<script>alert" not in page[: page.index("</head>")]
    assert '"><script>alert(1)</script>' in told["og:description"]


@pytest.mark.browser
def test_a_published_page_needs_nothing_else(site: Path, browser: Browser) -> None:
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda request: faults.append(request.url) if not request.url.startswith("data:") else None)
    (result,) = (shown for shown in gather(find_results([EASY])).shown if "smollm2" in shown.id)
    # The address of a run is the same on every page that shows it.
    address = (site / "index.html").as_uri()
    page.goto(f"{address}#/scenario/{result.id}")
    expect(page.locator("h1")).to_have_text("cpu-smollm2-135m-q4_1", timeout=30_000)
    page.close()
    assert [fault.split("#")[0] for fault in faults] == [address]


def test_what_was_published_is_published_anew(site: Path) -> None:
    (site / "CNAME").write_text("bench.example.org")
    before = (site / "index.html").read_text()
    done = run_viewer(EASY / "cpu-smollm2-135m-q4_1.json.gz", "--publish", site)
    assert done.returncode == 0, done.stderr
    after = (site / "index.html").read_text()
    assert Head(after).told["og:title"] == "CtxSift Bench: 1 result"
    assert after != before
    assert sorted(file.name for file in site.iterdir()) == ["CNAME", "index.html", "preview.png"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"index.html": "<title>Mine</title>"}, "contains files, but no index.html of this program"),
        ({"notes.txt": "mine"}, "contains files, but no index.html of this program"),
    ],
)
def test_a_folder_of_others_is_left_alone(tmp_path: Path, content: dict[str, str], said: str) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    done = run_viewer(EASY, "--publish", tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "name a new or an empty folder" in done.stderr
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == content


def test_what_cannot_be_published_is_said(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    results = tmp_path / "results"
    shutil.copytree(EASY, results)
    for arguments, said in (
        (["--publish", str(file)], "is not a folder"),
        (["--publish", str(results)], "contains files, but no index.html"),
        (["--publish", str(tmp_path / "new"), "-o", str(tmp_path / "x.html")], "leave out -o"),
        (["--publish", str(tmp_path / "new"), "--watch"], "writes no file"),
        (["--url", "https://example.org/"], "needs --publish"),
        (["--publish", str(tmp_path / "new"), "--url", "javascript:alert(1)"], "is no address of a web page"),
        (["--publish", str(tmp_path / "new"), "--png", str(tmp_path / "p")], "not allowed with argument"),
    ):
        done = run_viewer(results, *arguments)
        assert done.returncode == 2
        assert said in done.stderr
    assert file.read_text() == "mine"
    assert not (tmp_path / "new").exists()


def test_runs_of_probes_alone_have_no_picture(tmp_path: Path, probed: ProbeResult) -> None:
    path = tmp_path / "probes.json"
    path.write_text(RESULT_FILE.text(probed, "probes.json"), encoding="utf-8")
    done = run_viewer(path, "--publish", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    assert [file.name for file in (tmp_path / "site").iterdir()] == ["index.html"]
    told = Head((tmp_path / "site" / "index.html").read_text(encoding="utf-8")).told
    assert told["description"] == told["og:description"]
    assert told["description"] == "What agents can still answer after compaction."
    assert "og:image" not in told
