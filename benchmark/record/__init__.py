"""Typed records of results and journals: the only place that knows JSON keys."""
