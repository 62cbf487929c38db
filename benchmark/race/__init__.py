"""Races replayed on results that are there: what they save, and how often they are right."""
