"""sumy summarises prose, with data of nltk; here lines are its sentences: `with_sumy.py LINES`, request as JSON.

Edmundson's method (1969) picks them; the words of the question are its cues.
"""

from __future__ import annotations

import json
import re
import sys


class Words:
    """Splits into words without data of nltk."""

    def to_words(self, text: str) -> tuple[str, ...]:
        """Return the words of a line, in small letters."""
        return tuple(re.findall(r"\w+", text.lower()))


def main() -> None:
    """Print the lines that sumy picks, in their order."""
    from sumy.models.dom import ObjectDocumentModel, Paragraph, Sentence
    from sumy.summarizers.edmundson import EdmundsonSummarizer

    told, words = json.load(sys.stdin), Words()
    # A line that occurs twice is one sentence to it.
    lines = dict.fromkeys(line.strip() for line in told["output"].splitlines() if line.strip())
    document = ObjectDocumentModel([Paragraph([Sentence(line, words) for line in lines])])
    summarizer = EdmundsonSummarizer()
    summarizer.bonus_words = words.to_words(told["instruction"])
    # It refuses to go without.
    summarizer.stigma_words = summarizer.null_words = ("the",)
    picked = {str(sentence) for sentence in summarizer(document, int(sys.argv[1]))}
    print(*(line for line in lines if line in picked), sep="\n")


if __name__ == "__main__":
    main()
