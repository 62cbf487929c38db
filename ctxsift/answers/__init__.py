"""One answer of a model: its wrappers removed, its payload found, its faults named."""
