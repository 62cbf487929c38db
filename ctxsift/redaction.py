"""Taking keys out of text: known ones in any form, and in a command line what looks like one."""

from __future__ import annotations

import base64
import html.entities
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from urllib.parse import parse_qsl, unquote, urlsplit

from ctxsift.secret_kinds import HIDDEN, Where, found_in, hide

# Servers without keys are given words like `none` or `EMPTY`; an answer is not to lose those.
LEAST_IN_ANSWERS = 8
# Longer secrets are taken out piece by piece; patterns stay small.
_PIECE = 48


def out_of_command(command: str) -> str:
    """Return a command line without what looks like a password or a key: it is to go to a model, perhaps elsewhere.

    This goes by the names that such values have, and by well-known forms of keys; it knows no key by itself.
    """
    return hide(command, found_in(command, where=Where.LINE))


def parts_of_address(url: str) -> list[str]:
    """Return what may be secret in an address: name, password, values of the query; empty where it is no address."""
    try:
        parts = urlsplit(url)
        pair = [parts.username or "", parts.password or ""]
    except ValueError:
        return []
    pair += [unquote(part) for part in pair]
    login = f"{pair[2]}:{pair[3]}" if parts.password else ""
    return [part for part in (*pair, login, *(value for _, value in parse_qsl(parts.query))) if part]


class Secrets:
    """Texts that are never stored or shown, as they are or escaped: as JSON, URL, HTML, `repr` or Base64."""

    def __init__(self, secrets: Iterable[str]) -> None:
        """Compile the patterns. What is as short as a word is sought as a word."""
        self._secrets = [(secret, _pattern(secret)) for secret in sorted({*secrets} - {""}, key=len, reverse=True)]

    def out_of_message(self, text: str) -> str:
        """Return a message about an answer without any of them."""
        for _, pattern in self._secrets:
            text = pattern.sub(HIDDEN, text)
        return text

    def out_of_answer(self, text: str, asked: Sequence[str]) -> str:
        """Return an answer without those of at least LEAST_IN_ANSWERS characters; what was `asked` is no secret."""
        for secret, pattern in self._secrets:
            if len(secret) >= LEAST_IN_ANSWERS and pattern.search(text) and not any(map(pattern.search, asked)):
                text = pattern.sub(HIDDEN, text)
        return text


def _pattern(secret: str) -> re.Pattern[str]:
    if len(secret) < LEAST_IN_ANSWERS:
        return re.compile(rf"(?<!\w){''.join(map(_character, secret))}(?!\w)")
    bounds = [*range(0, max(1, len(secret) - _PIECE // 2), _PIECE), len(secret)]
    pieces = [secret[start:end] for start, end in pairwise(bounds)]
    escaped = ("".join(map(_character, piece)) for piece in pieces)
    return re.compile("|".join((*escaped, *_base64(secret))))


def _character(character: str) -> str:
    """Return a pattern of one character in every form. Each alternative begins with a literal: searching stays fast."""
    code = ord(character)
    octets = "".join(rf"%(?:25){{0,2}}{_hex(octet, 2)}" for octet in character.encode("utf-8", "surrogatepass"))
    names = sorted({name.rstrip(";") for name, value in html.entities.html5.items() if value == character})
    escapes = rf"u{_hex(code, 4)}|x{_hex(code, 2)}|u\{{0{{0,4}}{_hex(code, 2)}\}}"
    # A backslash in front of anything but a letter or a digit stands for what follows it.
    escapes += "" if character.isalnum() else f"|{re.escape(character)}"
    entities = "|".join((rf"#0{{0,4}}{code};?", rf"#[xX]0{{0,4}}{_hex(code, 1)};?", *(f"{n};" for n in names)))
    forms = [re.escape(character), octets, rf"\\\\{{0,3}}(?:{escapes})", rf"&(?:amp;)?(?:{entities})"]
    forms += [r"\+"] if character == " " else []
    return f"(?:{'|'.join(forms)})"


def _hex(number: int, digits: int) -> str:
    shown = f"{number:0{digits}x}"
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in shown)


def _base64(secret: str) -> list[str]:
    """Return patterns of the secret anywhere within encoded text: three, by where it begins in a group of bytes."""
    found = []
    for before in range(3):
        data = bytes(before) + secret.encode("utf-8", "surrogatepass")
        # The characters that depend on nothing else, at either end.
        core = base64.b64encode(data).decode()[(0, 2, 3)[before] : len(data) * 8 // 6]
        forms = {"+": "(?:[+-]|%2[bB])", "/": r"(?:[/_]|\\/|%2[fF])"}
        found.append("".join(forms.get(c, c) for c in core) + "[A-Za-z0-9+/_-]?(?:=|%3[dD]){0,2}")
    return found
