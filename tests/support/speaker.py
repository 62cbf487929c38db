"""A command for tests: prints bytes, writes the same bytes to a file, and ends as its options say.

python speaker.py RECORD [--print BYTES] [--then exit|wait|close|flood] [--exit CODE] [--on-signal farewell|ignore]

RECORD holds what was printed; RECORD.signals the number of each signal that came, RECORD.ready that all is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

FAREWELL = b"\xffbye from the command\n"


def noise(size: int) -> bytes:
    """Return bytes of every kind, the same each time, in lines."""
    found = bytearray(b"the first line\n")
    while len(found) < size:
        found += hashlib.sha256(found[-64:]).digest() * 512 + b"\n"
    return bytes(found[:size])


def main() -> None:
    """Print, wait, leave."""
    parser = argparse.ArgumentParser()
    parser.add_argument("record", type=Path)
    parser.add_argument("--print", type=int, default=1000)
    parser.add_argument("--then", default="exit")
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--on-signal", default="")
    options = parser.parse_args()
    record: Path = options.record
    kept = record.open("ab", buffering=0)

    def say(data: bytes) -> None:
        left = memoryview(data)
        while left:
            done = os.write(1, left[:65536])
            kept.write(left[:done])
            left = left[done:]

    def note(number: int, frame: FrameType | None) -> None:
        with record.with_suffix(".signals").open("a") as signals:
            signals.write(f"{number} ")
        if options.on_signal == "farewell":
            # Long enough for a second request to be told from the first.
            time.sleep(0.2)
            say(FAREWELL)
            os._exit(options.exit)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, note if options.on_signal else signal.SIG_DFL)
    say(noise(options.print))
    if options.then.startswith("close"):
        os.close(1)
        os.close(2)
        time.sleep(0.5)
    record.with_suffix(".ready").touch()
    while options.then == "flood":
        say(noise(65536))
    while options.then.endswith("wait"):
        time.sleep(0.05)
    sys.stdout = sys.stderr = None
    os._exit(options.exit)


if __name__ == "__main__":
    main()
