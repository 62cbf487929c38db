"""Races over stored and drawn boards."""
