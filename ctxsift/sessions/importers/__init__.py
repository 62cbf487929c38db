"""Importers of sessions, one module a format; each is recognised by what a file holds, not by its name."""
