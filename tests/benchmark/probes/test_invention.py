"""Names and values of a summary that no step says: found where they are invented, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from benchmark.probes.figures import Inventions, boards
from benchmark.probes.generating import generated
from benchmark.probes.invention import History
from benchmark.probes.measuring import ProbedSubject, measure
from benchmark.probes.printing import boards_csv, boards_json, boards_markdown, print_boards
from benchmark.probes.records import MOST_INVENTIONS, ProbeResult
from benchmark.probes.running import result_of
from benchmark.probes.scenarios import ProbeScenario
from ctxsift.sessions.compaction.controls import GivenSummary
from ctxsift.sessions.reading import read_session
from ctxsift.sessions.records import Source, Step
from tests.conftest import ROOT

SAID = """\
In `src/cache.py`, `Store.load(key)` gives up after 300 seconds; it takes 1,200 ms on Python 3.11.4, and 12\t\th stay.
Run `cd /tmp/try && cp -r ../src .`, then `pytest tests/test_cache.py -k print/json --max-fail=3`.
WP14 to WP20 are open on port 6379.
"""


def history(*texts: str, folder: str = "/home/dev/shop") -> History:
    return History([Step(number, Source.USER, text) for number, text in enumerate(texts, 1)], folder)


@pytest.mark.parametrize(
    ("summary", "invented"),
    [
        ("It lives in `src/store.py`.", ["src/store.py"]),
        ("It lives in `src/cache.py`, gives up after 600 seconds, on Python 3.12.4.", ["3.12.4", "600 seconds"]),
        ("Python 3.1 has it; `cache.p` and `ache.py` are no files.", ["cache.p", "ache.py", "3.1"]),
        ("It takes 1,300 ms, of 90 %, at port 6380.", ["6380", "1,300 ms", "90 %"]),
        ("`Store.save(key)` is new.", ["Store.save(key"]),
    ],
)
def test_what_no_step_says_is_invented(summary: str, invented: Sequence[str]) -> None:
    found = history(SAID).invention(summary)
    assert list(found.names) == invented
    assert found.among >= len(invented)


@pytest.mark.parametrize(
    "summary",
    [
        "The cache gives up after five minutes (5 min, 300 s); loading costs 1.2 s under Python 3.11.4 (port 6,379).",
        "`Store.load()` of cache.py; see /home/dev/shop/src/cache.py and ~/shop/src/cache.py.",
        "`load(key)`, tests/test_cache.py:3, --max-fail 3, print/JSON, WP14-WP20.",
        "- created in /tmp/try/src: cache.py\n- check passed: pytest tests/test_ca ...",
        "ache.py, and then pytest tests/test_ca\n[... 12 characters of output left out here ...]",
        "Nothing is named here, and 17 of 20 is no value.",
    ],
)
def test_what_is_said_in_other_words_is_not(summary: str) -> None:
    assert history(SAID).invention(summary).names == ()


def test_what_a_later_step_says_is_invented_before() -> None:
    found, summary = history("Nothing yet.", SAID), "src/cache.py stays 300 s in /home/dev/shop."
    assert found.invention(summary, 1).names == ("src/cache.py", "300 s")
    assert found.invention(summary, 2).names == ()
    assert found.invention(summary, 2).among == 3


def test_each_name_counts_once() -> None:
    found = history(SAID).invention("a_b.py, a_b.py; 7 ms, 7 ms, 0.007 s.")
    assert len(found.names) == found.among == 2


def _measured(**summaries: str) -> ProbeResult:
    session = read_session(ROOT / "docs/examples/session.json")
    subject = ProbedSubject("mine", "own", session, generated(session, keep_last=60), keep_last=60)
    made = {name: [measure(subject, name, 400, made=GivenSummary(text))] for name, text in summaries.items()}
    return result_of([subject], {ProbeScenario(method=name): parts for name, parts in made.items()})


def test_a_result_says_what_its_summaries_invent(capsys: pytest.CaptureFixture[str]) -> None:
    invents = " ".join(f"other_{number}.py" for number in range(MOST_INVENTIONS + 3))
    made = _measured(anchored="Codes are in `codes.toml`.", opaque=f"`codes.toml` {invents}", drop="")
    last = {method.method: method.contexts[-1] for method in made.methods}
    assert (last["anchored"].names, last["anchored"].invented, last["anchored"].inventions) == (1, 0, [])
    assert (last["opaque"].names, last["opaque"].invented) == (MOST_INVENTIONS + 4, MOST_INVENTIONS + 3)
    assert last["opaque"].inventions == invents.split()[:MOST_INVENTIONS]
    (board,) = boards(made)
    rows = {row.method: row.inventions for row in board.rows}
    assert rows["drop"] is None
    opaque = rows["opaque"]
    assert opaque is not None
    assert opaque.per_hundred == 100 * opaque.count / opaque.among
    print_boards(made, [board], whole=True)
    shown, told = capsys.readouterr().out, f"{opaque.count} of {opaque.among}"
    assert told in shown
    assert "other_0.py, other_1.py, other_2.py, other_3.py, ..." in " ".join(shown.split())
    assert told in boards_markdown(made, [board])
    assert f"opaque,,invented per 100,{opaque.per_hundred},,,{opaque.among}" in boards_csv([board])
    found = {row["method"]: row["inventions"] for row in boards_json([board])[0]["rows"]}
    assert found["opaque"] == {"count": opaque.count, "among": opaque.among, "names": opaque.names}
    assert found["drop"] is None


def test_a_result_of_before_has_no_such_table(capsys: pytest.CaptureFixture[str]) -> None:
    made = _measured(anchored="Codes are in `codes.toml`.")
    of_before = replace(made.methods[0], contexts=[replace(each, names=None) for each in made.methods[0].contexts])
    assert Inventions.of(of_before.contexts) is None
    found = replace(made, methods=[of_before])
    print_boards(found, list(boards(found)), whole=True)
    assert "no step says" not in capsys.readouterr().out
