"""The marks of model families, found in texts: a mark, what it does, and where it stands."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ctxsift.answers.model_tokens import FAMILIES, Pair, TokenFamily


class MarkKind(StrEnum):
    """What a mark does; the first that fits, where families disagree."""

    HEADER = "header"
    OTHER = "other"
    FINAL = "final"
    OPEN = "open"
    CLOSE = "close"
    BOX_OPEN = "box_open"
    BOX_CLOSE = "box_close"
    END = "end"
    CONTROL = "control"


class Mark(NamedTuple):
    """text[start:end] is a mark of this kind; `name` is how the table writes it, without blanks and case."""

    start: int
    end: int
    kind: MarkKind
    name: str

    @property
    def in_plain_letters(self) -> bool:
        """Whether it is a tag such as markup has, too: `<result>`, `</think>`."""
        return _TAG.fullmatch(self.name) is not None


# Of a channel that is none of these, everything is thought.
_FINAL_CHANNEL = "final"
_CHANNEL = (
    r"(?P<channel>(?:<\|start\|>\s*+assistant\s*+)?<\|channel\|>\s*+(?P<kind_of>\w++)[^<]{0,200}"
    r"(?:<\|constrain\|>[^<]{0,40})?<\|message\|>)"
)
# Shapes of control tokens, for those that no row names.
_SHAPES = (
    r"<\|/?[A-Za-z_][A-Za-z_0-9 ]{0,60}\|>|<｜[^｜\n]{1,40}｜>|<unused\d{1,4}>|<SPECIAL_\d{1,4}>|<extra_id_\d{1,4}>"
    r"|<seed:\w{1,20}>|\[\|\w{1,20}\|\]|\]~b\]\w{1,12}"
)
_SHAPE_BEGINNINGS = (r"<\|/?[a-z_]", "<｜[^｜\\n]", r"\[\|\w", r"\]~b")
_HEAD = 3
_BLANKS = re.compile(r"\s+")
_TOKEN = re.compile(r"<[^<>]+>|\[[^\[\]]+\]")
# In plain letters, as markup has them, too.
_TAG = re.compile(r"</?[A-Za-z_]\w*>")
_SHORTEST_NAME = 4


def _name(mark: str) -> str:
    return _BLANKS.sub("", mark).casefold()


def _pattern(mark: str) -> str:
    """Return a pattern of a mark: case of letters and blanks between its parts are free, a tag may have attributes."""
    if _TAG.fullmatch(mark):
        # `Layer<S>` and `Set<Analysis>` are types.
        case = "" if len(mark.strip("</>")) < _SHORTEST_NAME else "i"
        behind = "" if mark.startswith("</") or not mark.islower() else r"(?:(?<!\w)|(?=<\s{0,3}[a-z]))"
        slash = r"/\s{0,3}" if mark.startswith("</") else ""
        return rf"{behind}(?{case}:<\s{{0,3}}{slash}{mark.strip('</>')}(?:\s[^<>\n]{{0,80}})?>)"
    parts = [re.escape(part) for part in _BLANKS.split(mark.strip())]
    tail = r"[ \t\r]*+\n?+" * mark.count("\n") if mark.endswith("\n") else ""
    body = r"\s*+".join(parts).replace("><", r">\s*+<")
    return f"(?i:{body}{tail})" if mark.startswith(("<", "◁")) else f"{body}{tail}"


def _beginning(marks: Iterable[str]) -> str:
    """Return a pattern of what marks begin with: their first three characters, a tag's bracket and first letter."""
    words = [re.escape(mark) for mark in marks if mark[0].isalpha()]
    thirds: dict[str, set[str]] = {}
    for mark in marks:
        head = mark.split()[0][:_HEAD]
        if not mark[0].isalpha() and not _TAG.fullmatch(mark):
            thirds.setdefault(head[:2].lower(), set()).add(head[2:].lower())
    signs = [re.escape(two) + _one_of(rest) for two, rest in sorted(thirds.items())]
    return "(?i:" + "|".join([r"<\s{0,3}/?\s{0,3}[a-z_]", *signs, *_SHAPE_BEGINNINGS, *words]) + ")"


def _one_of(characters: set[str]) -> str:
    return "" if "" in characters else f"[{''.join(map(re.escape, sorted(characters)))}]"


@dataclass(frozen=True, eq=False)
class MarkFinder:
    """The marks of some families, ready to be found.

    Attributes:
        families: whose marks.

    """

    families: tuple[TokenFamily, ...]

    @functools.cached_property
    def kinds(self) -> dict[str, MarkKind]:
        """What each mark does, by its name."""
        order = list(MarkKind)
        found: dict[str, MarkKind] = {}
        for kind, mark in self._listed():
            name = _name(mark)
            if name not in found or order.index(kind) < order.index(found[name]):
                found[name] = kind
        return found

    def stops(self, vocabulary: Container[str]) -> frozenset[str]:
        """Return the tokens of a vocabulary that end a turn or the text: not those that end its reasoning only."""
        goes_on = {
            close
            for family in self.families
            for opening, close in family.thought
            if any(token in vocabulary for token in _TOKEN.findall(opening))
        }
        return frozenset(end for family in self.families for end in family.ends if end in vocabulary) - goes_on

    def _listed(self) -> Iterator[tuple[MarkKind, str]]:
        for family in self.families:
            for kind, marks in (
                (MarkKind.HEADER, family.headers),
                (MarkKind.OTHER, family.others),
                (MarkKind.FINAL, family.final),
                (MarkKind.OPEN, (pair[0] for pair in family.hidden)),
                (MarkKind.CLOSE, (pair[1] for pair in family.hidden if pair[1] not in family.ends)),
                (MarkKind.BOX_OPEN, (pair[0] for pair in family.boxes)),
                (MarkKind.BOX_CLOSE, (pair[1] for pair in family.boxes)),
                (MarkKind.END, family.ends),
                (MarkKind.CONTROL, family.control),
            ):
                yield from ((kind, mark) for mark in marks)

    @functools.cached_property
    def closers(self) -> dict[str, frozenset[str]]:
        """The names of the marks that close each opening one."""
        pairs = [pair for family in self.families for pair in (*family.hidden, *family.boxes)]
        return {
            _name(opening): frozenset(_name(close) for other, close in pairs if _name(other) == _name(opening))
            for opening, _ in pairs
        }

    @functools.cached_property
    def announcements(self) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
        """What opens and closes reasoning in words."""
        return tuple(
            (re.compile(_words(opening), re.IGNORECASE), re.compile(_words(close), re.IGNORECASE))
            for family in self.families
            for opening, close in family.announced
        )

    @functools.cached_property
    def _regex(self) -> re.Pattern[str]:
        marks = sorted({mark for _, mark in self._listed()}, key=lambda mark: (-len(mark), mark))
        # Most characters begin no mark: one look at each is enough.
        return re.compile(f"(?={_beginning(marks)})(?:" + "|".join([_CHANNEL, *map(_pattern, marks), _SHAPES]) + ")")

    @functools.lru_cache(maxsize=64)  # noqa: B019 - of a few instances that live as long as the process
    def marks(self, text: str) -> tuple[Mark, ...]:
        """Return the marks in a text, in order."""
        found = []
        for match in self._regex.finditer(text):
            name = _name(match.group())
            if match["channel"]:
                kind = MarkKind.FINAL if match["kind_of"].casefold() == _FINAL_CHANNEL else MarkKind.OPEN
                name = "<|channel|>analysis<|message|>" if kind is MarkKind.OPEN else name
            else:
                name = self._without_attributes(name)
                kind = self.kinds.get(name, MarkKind.CONTROL)
            found.append(Mark(*match.span(), kind, name))
        return tuple(found)

    @functools.lru_cache(maxsize=256)  # noqa: B019 - as above
    def _without_attributes(self, name: str) -> str:
        if name in self.kinds or not name.startswith("<"):
            return name
        return next((known for known in self._tags if name.startswith(known[:-1])), name)

    @functools.cached_property
    def _tags(self) -> tuple[str, ...]:
        """The tags in plain letters, the longest first."""
        return tuple(sorted((name for name in self.kinds if _TAG.fullmatch(name)), key=len, reverse=True))

    def unlisted(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Return those of some tokens that none of these families has."""
        return tuple(sorted({token for token in tokens if token.strip() and _name(token) not in self.kinds}))

    def extended(self, control: Iterable[str], thought: Iterable[Pair] = ()) -> MarkFinder:
        """Return these marks, and those that one model has beside them: control tokens, and pairs around reasoning."""
        own = TokenFamily("the model's own", thought=tuple(thought), control=self.unlisted(control))
        return _extended(self, own) if own.thought or own.control else self


def _words(announcement: str) -> str:
    """Return a pattern of an announcement: "is" may be "'s"; a word alone has to run into the text behind it."""
    blank_lines = r"(?:[ \t]*+\n)*+"
    if announcement.isalpha():
        final = announcement.endswith(_FINAL_CHANNEL)
        return announcement + (blank_lines if final else "(?=[A-Z\"'`])")
    words = " ".join(map(re.escape, announcement.removesuffix(":").split()))
    return words.replace(" is ", "(?: is|'s|’s) ") + rf":?(?:(?=[ \t]*+\n){blank_lines}|[ \t])?"


@functools.lru_cache(maxsize=64)
def _extended(tokens: MarkFinder, own: TokenFamily) -> MarkFinder:
    return MarkFinder((*tokens.families, own))


MODEL_TOKENS = MarkFinder(FAMILIES)
