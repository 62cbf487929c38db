"""Compaction: a long session made short, cut by cut, with what stands for the steps that are gone."""
