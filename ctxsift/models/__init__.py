"""Asking a model, whichever it is: what commands open, and how."""
