"""Probes: questions about what a compaction has cut off, and whether what is left answers them."""
