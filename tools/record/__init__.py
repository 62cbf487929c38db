"""Records working sessions as they happen: `python -m tools.record`. See docs/recorded-sessions.md."""
