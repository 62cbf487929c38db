"""Times of records."""

from __future__ import annotations

import datetime


def later(at: str, seconds: float) -> str:
    """Return a time of ISO 8601 that many seconds later."""
    when = datetime.datetime.fromisoformat(at) + datetime.timedelta(seconds=seconds)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(at: str) -> int:
    """Return a time of ISO 8601 as milliseconds since 1970."""
    return round(datetime.datetime.fromisoformat(at).timestamp() * 1000)
