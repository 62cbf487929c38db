"""Names in prose: of which kind they are, and whether they come from anywhere."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Sequence

from benchmark.scoring.anchors import has_token
from benchmark.scoring.tokens import Kind, Prose, Token

_PIECE = re.compile(r"\d+|[^\W\d_]+")
_PART = re.compile(r"[^\W_]+")
# Shapes that say too little: any number, any acronym could stand there.
VAGUE_SHAPES = frozenset(("", "number", "A", "a"))


@functools.lru_cache(maxsize=8192)
def shape_of(name: str) -> str:
    """Return what kind of name it is, so that two of a kind could stand in each other's place; empty for none."""
    if re.fullmatch(r"[-+~]?\d+(?:\.\d+)?", name):
        return "number"
    if re.fullmatch(r"(?i)(?=.*\d)[0-9a-f]{7,64}", name):
        return "hash"
    if re.fullmatch(r"v?\d+(?:\.\w+)+(?:[-+~]\w+)*", name):
        return "version"
    path = re.sub(r":\d+(?::\d+)?$", "", name)
    if extension := re.search(r"\w(\.[a-z]\w{0,7})$", path):
        return "file " + extension[1]
    if "::" in name:
        return "::"
    if "/" in name:
        return "path"
    if "@" in name:
        return "@"
    if name.startswith("-"):
        return "option"
    if camel := re.fullmatch(r"(?:[A-Z]?[a-z]+)+?([A-Z][a-z]+)", name):
        # A KeyError may stand for a ValueError, a ReplyHandler for neither.
        return f"... {camel[1]}"
    return re.sub(r"[a-z]+", "a", re.sub(r"[A-Z]+", "A", re.sub(r"\d+", "9", name)))


def names_in(text: Prose, sentence: int) -> list[Token]:
    """Return the names and numbers of a sentence."""
    return [
        token
        for token in text.tokens[text.bounds[sentence] : text.bounds[sentence + 1]]
        if token.kind in (Kind.NAME, Kind.NUMBER)
    ]


def is_part(name: str, others: Collection[str]) -> bool:
    """Say whether a name is one of others, or one of them is a whole part of the other."""
    return any(has_token(name, other) or has_token(other, name) for other in others)


def invented_names(text: Prose, known: Sequence[str]) -> Iterator[str]:
    """Yield the names and numbers of which some part occurs in no known text; numbers from three digits on."""
    parts = [_known_parts(each) for each in known]

    def is_known(part: str) -> bool:
        return any(part in each for each in parts)

    seen = set()
    for token in text.tokens:
        if token.kind is Kind.NAME and token.text not in seen and _is_hard(token.text):
            seen.add(token.text)
            # In "errors.Is-compatible" only the first half is a name.
            name = re.sub(r"(?<=\w)(?:-[a-z]{3,})+$", "", token.text)
            if not all(_comes_from(part, is_known) for part in _PART.findall(name.lower())):
                yield token.text
        elif token.kind is Kind.NUMBER and token.text[:1].isdigit() and token.text not in seen:
            seen.add(token.text)
            if len(token.norm) > 2 and not all(map(is_known, _PART.findall(token.norm.lower()))):
                yield token.text


def _comes_from(part: str, is_known: Callable[[str], bool]) -> bool:
    if part == "x" or is_known(part):
        # "5.2.x" stands for what is known of 5.2.
        return True
    if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)|[1-5]xx", part):
        # The 16th of a month and the class of a status are ways to speak of what has another form there.
        return True
    # "P38" for "P:  38", "E0277s" for two of E0277.
    return all(map(is_known, _PIECE.findall(part))) or (part.endswith("s") and is_known(part[:-1]))


@functools.lru_cache(maxsize=512)
def _known_parts(known: str) -> frozenset[str]:
    camel = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", known)
    grouped = re.sub(r"(?<=\d),(?=\d{3})", "", known)
    # The digits of "a17", the "lz4" of "lz4frame".
    digits = frozenset(re.findall(r"\d+|(?<![a-z\d])[a-z]+\d+(?=[a-z])", known.lower()))
    return _parts_of(known) | _parts_of(camel) | _parts_of(grouped) | digits


def _parts_of(text: str) -> frozenset[str]:
    return frozenset(_PART.findall(text.lower()))


def _is_hard(name: str) -> bool:
    """Say whether a name can only come from somewhere: it has a digit, an underscore, a slash or a dot inside."""
    if re.fullmatch(r"[a-z]+/[a-z]+", name):
        # "create/write" is two words.
        return False
    return bool(re.search(r"\d|\w[_/.:\\]\w", name))
