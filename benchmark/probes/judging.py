"""What a context says of probes: by rules, passage by passage. Whoever judges sees text and probes, never a method."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from benchmark.probes.model import Probe
from benchmark.probes.passages import passages_of
from benchmark.statements.judging import finding, violations
from benchmark.statements.phrases import may_be_said
from benchmark.statements.text import Kind, Text, Token, read, tokens_of
from benchmark.whole_tokens import has_token

# Raised when the same context may come to another verdict.
JUDGE_VERSION = "5"
# What says a statement has this share of its words in its sentences; or in its passage this one of them and of its
# question's.
_OWN_WORDS, _ALL_WORDS = 0.5, 0.37
# What follows a file: `plan.rb:17`.
_LINE = re.compile(r"(?<=\w)(?::\d+)+$")
# A place in a context: passage and sentence.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Said:
    """What a context says of one probe, each by its index, with the last place where it stands.

    Attributes:
        statements: whose terms meet somewhere.
        shares: how much of each is said, in (0, 1], where something is about it as well.
        must_not: rules that it breaks.
        crossed: statements whose values it gives to the wrong names.
        names: see `Probe.names`.

    """

    statements: Mapping[int, Place] = field(default_factory=dict)
    shares: Mapping[int, float] = field(default_factory=dict)
    must_not: Mapping[int, Place] = field(default_factory=dict)
    crossed: Mapping[int, Place] = field(default_factory=dict)
    names: Mapping[int, Place] = field(default_factory=dict)


NOTHING = Said()


class _Kind(Enum):
    STATEMENT = auto()
    CROSSED = auto()
    MUST_NOT = auto()
    NAME = auto()


@dataclass(frozen=True, slots=True)
class _Hit:
    """Something of a probe in a passage.

    Attributes:
        share: of a statement, how much of it is said; 0 where its terms meet and nothing else is about it.

    """

    probe: str
    kind: _Kind
    index: int
    sentence: int
    share: float = 1.0


class RuleJudge:
    """Looks for what the probes of one session ask for. A passage is judged once, however many contexts have it.

    Args:
        probes: of the session; those that ask for files are passed over.

    """

    def __init__(self, probes: Iterable[Probe]) -> None:
        self._probes = tuple(probe for probe in probes if probe.files is None)
        self._names = {probe.probe_id: tuple(probe.names()) for probe in self._probes}
        # Of each statement, its own words, and those of its question as well.
        self._about = {
            probe.probe_id: [
                (own := _words(tokens_of(statement.says)), own | _words(tokens_of(probe.question)))
                for statement in probe.statements
            ]
            for probe in self._probes
        }
        self._known: dict[str, tuple[_Hit, ...]] = {}

    def judge(self, context: str) -> dict[str, Said]:
        """Return what a context says of each probe, by id; those of which it says nothing are left out."""
        hits: dict[str, list[tuple[int, _Hit]]] = {}
        for number, passage in enumerate(passages_of(context)):
            if passage not in self._known:
                self._known[passage] = tuple(self._hits(passage))
            for hit in self._known[passage]:
                hits.setdefault(hit.probe, []).append((number, hit))
        return {probe: _said(found) for probe, found in hits.items()}

    def _is_about(self, text: Text, sentences: Iterable[int], probe: Probe, index: int) -> bool:
        """Return True if what says a statement is about it: terms meet by chance in code and lists of commands."""
        own, all_of_it = self._about[probe.probe_id][index]
        said = _words(token for at in sentences for token in text.tokens[slice(*text.sentences[at])])
        if len(own & said) >= _OWN_WORDS * len(own):
            return True
        return len(all_of_it & _words(text.tokens)) >= _ALL_WORDS * len(all_of_it)

    def _hits(self, passage: str) -> Iterator[_Hit]:
        text = read(passage, is_terse=True)
        for probe in self._probes:
            for index, statement in enumerate(probe.statements):
                if all(may_be_said(text, group) for group in statement.groups):
                    found = finding(text, statement)
                    if found.share or found.contradiction:
                        kind = _Kind.CROSSED if found.contradiction else _Kind.STATEMENT
                        share = found.share if self._is_about(text, found.sentences, probe, index) else 0.0
                        yield _Hit(probe.probe_id, kind, index, max(found.sentences, default=0), share)
            for index, rule in enumerate(probe.must_not):
                if all(may_be_said(text, group) for group in rule.groups):
                    for at in violations(text, rule):
                        yield _Hit(probe.probe_id, _Kind.MUST_NOT, index, at)
            for index, spellings in enumerate(self._names[probe.probe_id]):
                if any(has_token(passage, spelling) for spelling in spellings):
                    yield _Hit(probe.probe_id, _Kind.NAME, index, 0)


def _words(tokens: Iterable[Token]) -> frozenset[str]:
    """Return what tokens tell: names without folder and line, numbers, and words that do not only bind others."""
    telling = (token for token in tokens if token.says_something or token.kind in (Kind.NAME, Kind.NUMBER))
    return frozenset(_LINE.sub("", token.norm.rpartition("/")[2]) or token.norm for token in telling)


def _said(found: Sequence[tuple[int, _Hit]]) -> Said:
    places: dict[_Kind, dict[int, Place]] = {kind: {} for kind in _Kind}
    shares: dict[int, float] = {}
    for number, hit in found:
        here = places[hit.kind]
        here[hit.index] = max((number, hit.sentence), here.get(hit.index, (-1, -1)))
        if hit.kind is _Kind.STATEMENT and hit.share:
            shares[hit.index] = max(hit.share, shares.get(hit.index, 0.0))
    return Said(places[_Kind.STATEMENT], shares, places[_Kind.MUST_NOT], places[_Kind.CROSSED], places[_Kind.NAME])
