"""What an agent reads again after a compaction that its session records."""

from __future__ import annotations

from benchmark.probes.fetched import FetchedAgain, fetched_again
from ctxsift.sessions.records import Compaction, Session, SessionHead, Source, Step, ToolCall, ToolResult


def read(step: int, path: str, size: int = 40) -> Step:
    call = ToolCall(f"c{step}", "Read", {"file_path": path})
    return Step(step, Source.AGENT, "", calls=(call,), results=(ToolResult(f"c{step}", "x" * size),))


def session(*steps: Step, compactions: tuple[Compaction, ...]) -> Session:
    begin = Step(0, Source.USER, "Look at the files.")
    return Session(SessionHead("claude-code", folder="/w"), (begin, *steps), compactions=compactions)


def test_files_that_were_read_again() -> None:
    found = session(
        *(read(1, "/w/a.py"), read(2, "/w/b.py"), read(3, "/w/c.py")),
        *(read(4, "/w/a.py", 400), read(5, "/w/new.py"), read(6, "/w/c.py")),
        *(read(7, "/w/a.py", 800), read(8, "/w/b.py", 80)),
        compactions=(Compaction(3, "Read.", 3), Compaction(6, "Read again.")),
    )
    # Step 3 stayed, so what it read is not gone; a.py came again with 100 tokens.
    assert list(fetched_again(found)) == [
        FetchedAgain(3, 2, ("a.py",), 100),
        FetchedAgain(6, 4, ("a.py", "b.py"), 220),
    ]


def test_without_a_compaction_nothing_is_told() -> None:
    assert list(fetched_again(session(read(1, "/w/a.py"), read(2, "/w/a.py"), compactions=()))) == []
