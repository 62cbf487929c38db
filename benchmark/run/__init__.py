"""Running scenarios: the only place that generates or appends to a journal."""
