"""The corpus: where its cases come from, and how they prove themselves."""

from benchmark.corpus.loader import DEFAULT_CORPUS, load_corpus

__all__ = ["DEFAULT_CORPUS", "load_corpus"]
