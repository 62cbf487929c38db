"""`ctxsift stats`: what was shortened, what not and why, and how much of it was read again; counted, not estimated."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

from ctxsift.cli.parser import CommandParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ctxsift.cli.signals import Signals

SUBCOMMAND = "stats"
EXIT_UNREADABLE = 1
_TOO_OFTEN, _FEWEST = 0.3, 10

_EPILOG = """\
Counts the outputs of 4,096 bytes or more that `ctxsift run` and `ctxsift hook` handled, starting with the first one
they shortened. "bytes" compares the size of the shortened outputs with the size of what was shown instead; it does not
measure what an agent's turns cost. "read again" counts outputs that `ctxsift raw` printed later; opening the file
directly does not count.

exit code: 0 success; 1 the counts could not be read; 2 the arguments are wrong
"""


@dataclass(frozen=True)
class Stats:
    """Counts since a time.

    Attributes:
        since: in seconds of the epoch; None where nothing was counted.
        shortened: how many outputs.
        bytes_in: that these had, and `bytes_out` those that were shown instead.
        outputs: how many different ones these were, and `read_again` how many of them were asked for later.
        whole: how many were shown as they were, by reason.

    """

    since: int | None
    shortened: int
    bytes_in: int
    bytes_out: int
    outputs: int
    read_again: int
    whole: dict[str, int]

    @property
    def read_again_rate(self) -> float | None:
        """The share of different outputs that were read again; None where there are none."""
        return self.read_again / self.outputs if self.outputs else None


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="count shortened outputs and how many were read again", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("--json", action="store_true", help="print the counts as JSON")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Print it; return the exit code that the help tells."""
    from ctxsift import raw_store
    from ctxsift.cli.passing import note
    from ctxsift.terminal import show_columns, show_json

    del command, signals
    try:
        found = counted(raw_store.logged())
    except OSError as error:
        note(f"the counts cannot be read ({error.strerror or error})")
        return EXIT_UNREADABLE
    if options.json:
        show_json(asdict(found) | {"read_again_rate": found.read_again_rate})
        return 0
    show_columns(_rows(found))
    rate = found.read_again_rate
    if rate is not None and rate > _TOO_OFTEN and found.outputs >= _FEWEST:
        note(f"{rate:.0%} of the shortened outputs were read again: shortening leaves out too much")
    return 0


def counted(lines: list[list[str]]) -> Stats:
    """Return what lines of the log add up to; one that was not written whole counts for nothing."""
    shortened: list[tuple[int, int, str]] = []
    read: set[str] = set()
    whole: Counter[str] = Counter()
    times: list[int] = []
    for line in lines:
        match line:
            case [when, "shortened", size, shown, identity] if _all_numbers(when, size, shown):
                shortened.append((int(size), int(shown), identity))
            case [when, "read", identity] if _all_numbers(when):
                read.add(identity)
            case [when, "whole", size, why] if _all_numbers(when, size):
                whole[why] += 1
            case _:
                continue
        times.append(int(when))
    outputs = {identity for _, _, identity in shortened}
    return Stats(
        since=min(times, default=None),
        shortened=len(shortened),
        bytes_in=sum(size for size, _, _ in shortened),
        bytes_out=sum(shown for _, shown, _ in shortened),
        outputs=len(outputs),
        read_again=len(outputs & read),
        whole=dict(whole.most_common()),
    )


def _all_numbers(*words: str) -> bool:
    return all(word.isdecimal() and len(word) <= 12 for word in words)


def _rows(found: Stats) -> list[tuple[str, str]]:
    import time

    if found.since is None:
        return [("nothing has been shortened yet", "")]
    rate = f" ({found.read_again_rate:.0%} of the different outputs)" if found.read_again_rate is not None else ""
    return [
        ("since", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(found.since))),
        ("shortened", f"{found.shortened:,} ({found.outputs:,} different)"),
        ("  bytes", f"{found.bytes_in:,}, shown instead {found.bytes_out:,}"),
        (
            "  read again",
            f"{found.read_again:,}{rate}",
        ),
        ("shown in full", f"{sum(found.whole.values()):,}"),
        *((f"  {why}", f"{number:,}") for why, number in found.whole.items()),
    ]
