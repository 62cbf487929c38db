"""Which language a paragraph is in, by its script or its commonest words: enough to see that it is not the answer's."""

from __future__ import annotations

import re
from collections import Counter

_WORDS = {
    "en": "the is are and of to in was for with that not it this on be as at an has",
    "de": "der die das und ist nicht ein eine ich zu den mit auf für dass sich auch wird sind im von es dem also noch",
    "fr": "le la les des est une un je et que pas dans pour sur qui il ne donc avec du au ce cette sont il faut en",
    "es": "el la los las que es una un de en para por con se no hay tengo y del lo al está su pero más como solo",
}
_OF = {
    word: [name for name, words in _WORDS.items() if word in words.split()]
    for word in set(" ".join(_WORDS.values()).split())
}
_SCRIPTS = {
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "zh": re.compile(r"[\u4e00-\u9fff]"),
    "ko": re.compile(r"[\uac00-\ud7af]"),
    "ru": re.compile(r"[\u0400-\u04ff]"),
    "ar": re.compile(r"[\u0600-\u06ff]"),
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTER_SHARE, _FEWEST_LETTERS = 0.15, 4
_WORD_SHARE, _FEWEST_WORDS = 0.15, 3
# Shorter texts have too few words to tell; longer ones need not be read to their end.
_SHORTEST, _MAX_CHARS = 12, 20_000


def language_of(text: str) -> str | None:
    """Return the code of the language that a text is in, None where too little tells."""
    text = text[:_MAX_CHARS]
    if len(text) < _SHORTEST:
        return None
    letters = sum(map(str.isalpha, text))
    for name, script in _SCRIPTS.items():
        found = len(script.findall(text))
        if found >= _FEWEST_LETTERS and found >= _LETTER_SHARE * letters:
            return name
    words = _WORD.findall(text)
    # Names begin with such words, too, in capitals; sentences mostly begin with English ones.
    told = [
        (word.casefold(), name)
        for word in words
        for name in _OF.get(word.casefold(), ())
        if name == "en" or not word.istitle()
    ]
    hits = Counter(name for _, name in told)
    if not hits:
        return None
    # English wins a draw: its words are in every log.
    best = max(hits, key=lambda name: (hits[name], name == "en"))
    distinct = {word for word, name in told if name == best}
    return best if len(distinct) >= _FEWEST_WORDS and hits[best] >= _WORD_SHARE * len(words) else None
