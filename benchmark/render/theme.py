"""What charts of Vega-Lite look like, on the page and in files."""

from __future__ import annotations

import json
from pathlib import Path

from benchmark.record.base import Json

_FILE = Path(__file__).with_name("theme.json")


def themes() -> Json:
    """Return the configuration of charts, light and dark."""
    found: Json = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


def light_theme() -> Json:
    """Return the configuration of charts in files."""
    theme: Json = themes()["light"]
    return theme | {"background": "white", "padding": 16}
