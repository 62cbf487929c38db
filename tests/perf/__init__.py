"""Measured budgets of the project; `make perf` prints them."""
