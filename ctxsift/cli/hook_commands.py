"""Which commands print for the record: their output may be shortened though nobody asked for it.

What an agent prints to read it (files, differences, what a script of its own computes) it would have to read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxsift.cli.parser import SWITCH
from ctxsift.sessions.artifacts.checks import bare, kind_of
from ctxsift.sessions.artifacts.shell_words import PieceKind, ShellToken, Word, plain_text, tokens_of
from ctxsift.shortening import reads_kept

# They say little.
_QUIET = frozenset(
    ("cd", "export", "set", "unset", "echo", "true", "mkdir", "rm", "source", ".", "pwd", "sleep", "touch")
)
_INSTALLERS = frozenset((
    "npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "pipenv", "pdm", "bundle", "composer", "cargo", "gem",
    "apt", "apt-get", "dnf", "apk", "brew", "docker", "conda",
))  # fmt: skip
_INSTALLING = frozenset(("install", "ci", "i", "add", "sync", "update", "upgrade", "fetch", "pull"))
_BETWEEN = frozenset((";", "&&", "||", "\n"))
# An option that asks for a listing or an explanation, whatever programs call it in full; and those of one letter.
_ASKS = re.compile(
    r"--?(?:help|usage|version|list|ls|show|print|dump|explain|markers|fixtures|collect|co\b|dry|why|tree|just-print)"
    r"(?!-?locals)"
)
_ASKS_SHORT = {"make": ("-p", "-n", "-q"), "gmake": ("-p", "-n", "-q")}
# A format that programs read: an option of that name, the value of one that chooses a format, or a word of its own.
_DATA = re.compile(
    r"(?:--?|--?[a-z-]*(?:format|reporter|output|only)=|)"
    r"(?:json|ndjson|xml|junit|sarif|csv|tsv|tap|ya?ml|checkstyle|html|codeclimate)(?:[-=].*)?"
)


def may_be_shortened(line: str) -> bool:
    """Say whether all that a line of a shell prints comes from tests, linters, builds and installations.

    A pipe chooses lines already; what is in loops, functions and substitutions is not looked at.
    """
    tokens, whole = tokens_of(line)
    if not whole or reads_kept(line) or any(map(_is_more, tokens)):
        return False
    found = list(_commands(tokens))
    checked = [_prints_for_the_record(words) for words in found]
    return any(checked) and all(each or words[0] in _QUIET for each, words in zip(checked, found, strict=True))


def _is_more(token: ShellToken) -> bool:
    """Say whether a token is more than words, what parts commands, and where their output goes."""
    substitution = any(piece.kind in (PieceKind.SUBSTITUTION, PieceKind.UNKNOWN) for piece in token.word)
    off = plain_text(token.word) == f"{SWITCH}=0"
    heredoc = token.redirect is not None and token.redirect.operator.startswith("<")
    return substitution or off or heredoc or bool(token.operator and token.operator not in _BETWEEN)


def _commands(tokens: list[ShellToken]) -> Iterator[list[str]]:
    """Yield the words of each command, without assignments before it."""
    words: list[str] = []
    for token in (*tokens, ShellToken(operator=";")):
        if token.operator and words:
            yield words
        if token.operator:
            words = []
        elif token.word and (words or not _assigns(token.word)):
            words.append(_text(token.word))


def _assigns(word: Word) -> bool:
    name, equals, _ = word[0].text.partition("=")
    return bool(equals) and name.isidentifier()


def _text(word: Word) -> str:
    return "".join(piece.text if piece.kind is PieceKind.TEXT else "$" for piece in word)


def _prints_for_the_record(words: list[str]) -> bool:
    words = bare(words)
    if any(_is_asked(words[0], word) for word in words[1:]):
        return False
    installs = words[:1] and words[0] in _INSTALLERS and not _INSTALLING.isdisjoint(words[1:3])
    return bool(installs) or kind_of(words) is not None


def _is_asked(program: str, word: str) -> bool:
    """Say whether a word asks a program for what is read: a listing, an explanation, data."""
    return bool(_ASKS.match(word)) or word in _ASKS_SHORT.get(program, ()) or bool(_DATA.fullmatch(word))
