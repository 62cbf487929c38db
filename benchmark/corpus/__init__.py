"""The corpus: cases, where they come from, and how they prove themselves."""

from benchmark.corpus.cases import Capture, Case, Difficulty, Family, Rules
from benchmark.corpus.loader import DEFAULT_CORPUS, Corpus, load_corpus

__all__ = ["DEFAULT_CORPUS", "Capture", "Case", "Corpus", "Difficulty", "Family", "Rules", "load_corpus"]
