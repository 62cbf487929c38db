"""Answers -> outcomes -> records. Runs and `rescore` both stand on it."""
