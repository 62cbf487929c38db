"""The judge by rules: what a context says of probes, passage by passage."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from benchmark.probes.file_sets import FileJudge
from benchmark.probes.judge import Mention, Need, ProbeUnit, ProbeVerdict, SessionProbes
from benchmark.probes.model import Probe
from benchmark.probes.passages import Passage, passages_of, read_context
from benchmark.statements.judging import finding, violations
from benchmark.statements.lints import missing_terms
from benchmark.statements.model import Alternatives, Statement
from benchmark.statements.phrases import may_be_among, may_be_said
from benchmark.statements.text import Text, Token, TokenKind, read, tokens_of
from benchmark.whole_tokens import has_token, token_place

# Raised when the same context may come to another verdict.
JUDGE_VERSION = "5"
# What says a statement has this share of its words in its sentences; or in its passage this one of them and of its
# question's.
_OWN_WORDS, _ALL_WORDS = 0.5, 0.37
_MOST_QUOTED, _MOST_TERMS = 160, 3
_APART, _CROSSED = "no sentence contains all of its terms", "its values belong to the wrong names"
_TOUCHED = "too few of its words: "
# A place in a context: passage and sentence.
_Place = tuple[int, int]
_NOWHERE: _Place = (-1, -1)


class _Kind(Enum):
    STATEMENT = auto()
    CROSSED = auto()
    MUST_NOT = auto()
    NAME = auto()
    REWORDED = auto()


@dataclass(frozen=True, slots=True)
class _Hit:
    """Something of a probe in a passage.

    Attributes:
        share: of a statement, how much of it is said; 0 where its terms meet and nothing else is about it.
        line: of the passage, from 0.
        quoted: the sentence.

    """

    probe: str
    kind: _Kind
    index: int
    sentence: int
    share: float = 1.0
    line: int = 0
    quoted: str = ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A passage that was looked through.

    Attributes:
        norms: of its words.

    """

    hits: tuple[_Hit, ...]
    norms: frozenset[str]


@dataclass(frozen=True)
class _SearchedContext:
    """A context that was looked through, passage by passage."""

    text: str
    passages: tuple[Passage, ...] = ()
    seen: tuple[_Seen, ...] = ()

    @cached_property
    def hits(self) -> Mapping[str, Sequence[tuple[int, _Hit]]]:
        """By probe, each with the number of its passage."""
        found: dict[str, list[tuple[int, _Hit]]] = {}
        for number, each in enumerate(self.seen):
            for hit in each.hits:
                found.setdefault(hit.probe, []).append((number, hit))
        return found

    @cached_property
    def norms(self) -> frozenset[str]:
        """Those of all its words."""
        return frozenset().union(*(each.norms for each in self.seen))

    def found(self, number: int, hit: _Hit) -> Mention:
        """Return a hit in a passage as a Mention."""
        passage = self.passages[number]
        why = hit.quoted if hit.share or hit.kind is not _Kind.STATEMENT else f"{_TOUCHED}{hit.quoted}"
        return Mention(hit.share, passage.place, passage.lines[hit.line], why)


class RuleJudge:
    """Looks for what the probes of one session ask for. A passage is judged once, however many contexts have it.

    Args:
        questions: the probes, and what git knows of their files.

    """

    name, version, needs = "rules", JUDGE_VERSION, frozenset({Need.CONTEXT})

    def __init__(self, questions: SessionProbes) -> None:
        self._probes = tuple(probe for probe in questions.probes if probe.files is None)
        self._files = FileJudge(questions.truth, questions.folder)
        self._names = {probe.probe_id: tuple(probe.names()) for probe in self._probes}
        # Of each statement, its own words, and those of its question as well.
        self._about = {
            probe.probe_id: [
                (own := words_told(tokens_of(statement.says)), own | words_told(tokens_of(probe.question)))
                for statement in probe.statements
            ]
            for probe in self._probes
        }
        self._hard = {probe.probe_id: [_hard(each) for each in probe.statements] for probe in self._probes}
        self._known: dict[str, _Seen] = {}
        self._last = _SearchedContext("")

    def judge(self, unit: ProbeUnit) -> ProbeVerdict:
        """Return what a context says of a probe; all of one context best come one after the other."""
        if unit.probe.files is not None:
            return self._files.judge(unit)
        if unit.context != self._last.text:
            self._last = self._read(unit.context)
        return _said(unit, self._last)

    def _read(self, context: str) -> _SearchedContext:
        passages = read_context(context)
        return _SearchedContext(context, passages, tuple(self._seen(passage.text) for passage in passages))

    def _seen(self, passage: str) -> _Seen:
        if passage not in self._known:
            text = read(passage, is_terse=True)
            self._known[passage] = _Seen(tuple(self._hits(text)), frozenset(text.by_norm))
        return self._known[passage]

    def _is_about(self, text: Text, sentences: Iterable[int], probe: Probe, index: int) -> bool:
        """Return True if what says a statement is about it: terms meet by chance in code and lists of commands."""
        own, all_of_it = self._about[probe.probe_id][index]
        told = _told(text)
        said = (word for at in sentences for word in told[slice(*text.sentences[at])])
        if len(own.intersection(said)) >= _OWN_WORDS * len(own):
            return True
        return len(all_of_it.intersection(told)) >= _ALL_WORDS * len(all_of_it)

    def _statement_hits(self, text: Text, probe: Probe) -> Iterator[_Hit]:
        for index, statement in enumerate(probe.statements):
            if not all(may_be_said(text, group) for group in statement.groups):
                continue
            found = finding(text, statement)
            if found.share or found.contradiction:
                kind = _Kind.CROSSED if found.contradiction else _Kind.STATEMENT
                share = found.share if self._is_about(text, found.sentences, probe, index) else 0.0
                at = max(found.sentences, default=0)
                yield _Hit(probe.probe_id, kind, index, at, share, *_quoted(text, at))

    def _hits(self, text: Text) -> Iterator[_Hit]:
        for probe in self._probes:
            yield from self._statement_hits(text, probe)
            for index, hard in enumerate(self._hard[probe.probe_id]):
                if hard and (where := _together(text, hard)) and self._is_about(text, where, probe, index):
                    yield _Hit(probe.probe_id, _Kind.REWORDED, index, max(where), 0.0, *_quoted(text, max(where)))
            for index, rule in enumerate(probe.must_not):
                if all(may_be_said(text, group) for group in rule.groups):
                    for at in violations(text, rule):
                        yield _Hit(probe.probe_id, _Kind.MUST_NOT, index, at, 1.0, *_quoted(text, at))
            for index, spellings in enumerate(self._names[probe.probe_id]):
                if any(has_token(text.text, spelling) for spelling in spellings):
                    yield _Hit(probe.probe_id, _Kind.NAME, index, 0)


def _hard(statement: Statement) -> frozenset[frozenset[str]]:
    """Return what of a statement keeps its form in other words: names, each by its spellings, and numbers."""
    tokens = [token for token in tokens_of(statement.says) if token.kind in (TokenKind.NAME, TokenKind.NUMBER)]
    named = [frozenset([name] if isinstance(name, str) else name) for name in statement.names]
    spelt = frozenset().union(*named)
    return frozenset([*named, *(frozenset([token.text]) for token in tokens if token.text not in spelt)])


def _together(text: Text, hard: Iterable[frozenset[str]]) -> frozenset[int]:
    """Return the sentences of a passage in which names and numbers stand; none where one of them stands nowhere."""
    found = set()
    for spellings in hard:
        place = next((at for each in sorted(spellings) if (at := token_place(text.text, each)) >= 0), -1)
        if place < 0:
            return frozenset()
        found.add(text.sentence_of(bisect_right(text.starts, place) - 1))
    return frozenset(found)


def _quoted(text: Text, sentence: int) -> tuple[int, str]:
    """Return the line in which a sentence begins, and the sentence."""
    if not text.sentences:
        return 0, ""
    first, past = text.sentences[sentence]
    start = text.tokens[first].start
    return text.text.count("\n", 0, start), text.text[start : text.tokens[past - 1].end][:_MOST_QUOTED]


def unsaid(text: str, statement: Statement) -> str:
    """Return what the passage of a text that says most of a statement lacks, in words that follow a sentence."""
    reasons = [missing_terms(passage, statement) for passage in passages_of(text)]
    return min(filter(None, reasons), key=len, default="")


# All that is looked for in a passage is, before the next one.
@functools.lru_cache(maxsize=1)
def _told(text: Text) -> tuple[str, ...]:
    return tuple(map(_word, text.tokens))


def words_told(tokens: Iterable[Token]) -> frozenset[str]:
    """Return what tokens tell: names without folder and line, numbers, words that do not only bind others."""
    return frozenset(map(_word, tokens)) - {""}


def _word(token: Token) -> str:
    """Return what a token tells: a name without folder and line, a number, a word that does not only bind others."""
    if not (token.kind in (TokenKind.NAME, TokenKind.NUMBER) or token.says_something):
        return ""
    return token.bare_norm


def _said(unit: ProbeUnit, context: _SearchedContext) -> ProbeVerdict:
    latest: dict[_Kind, dict[int, tuple[_Place, _Hit]]] = {kind: {} for kind in _Kind}
    fullest: dict[int, tuple[float, _Place, _Hit]] = {}
    for number, hit in context.hits.get(unit.probe.probe_id, ()):
        here, place = latest[hit.kind], (number, hit.sentence)
        if hit.index not in here or place > here[hit.index][0]:
            here[hit.index] = place, hit
        if hit.kind is _Kind.STATEMENT and (hit.share, place) > fullest.get(hit.index, (-1.0, _NOWHERE))[:2]:
            fullest[hit.index] = hit.share, place, hit
    crossed, must_not = latest[_Kind.CROSSED], latest[_Kind.MUST_NOT]
    return ProbeVerdict(
        {index: context.found(place[0], hit) for index, (_, place, hit) in fullest.items()},
        {
            index: _CROSSED if index in crossed else _missing(context, unit.statements[index])
            for index in unit.counted.statements
            if index not in fullest
        },
        {index: context.found(place[0], hit) for index, (place, hit) in must_not.items()},
        {index: context.found(place[0], hit) for index, (place, hit) in crossed.items()},
        {index: context.found(place[0], hit) for index, (place, hit) in latest[_Kind.REWORDED].items()},
        names=frozenset(latest[_Kind.NAME]),
        contradiction=_contradiction(unit, context, latest),
    )


def _contradiction(
    unit: ProbeUnit, context: _SearchedContext, latest: Mapping[_Kind, Mapping[int, tuple[_Place, _Hit]]]
) -> tuple[str, Mention] | None:
    """Return what a context says last, if that is wrong: who reads on to its end goes by that."""
    counted, probe = unit.counted, unit.probe
    right = [place for index, (place, _) in latest[_Kind.STATEMENT].items() if index in counted.vital]
    wrong = [
        (place, probe.must_not[index].says, hit)
        for index, (place, hit) in latest[_Kind.MUST_NOT].items()
        if index in counted.must_not
    ]
    wrong += [
        (place, probe.statements[index].says, hit)
        for index, (place, hit) in latest[_Kind.CROSSED].items()
        if index in counted.vital
    ]
    if not wrong:
        return None
    place, says, hit = max(wrong, key=lambda each: each[0])
    return (says, context.found(place[0], hit)) if place > max(right, default=_NOWHERE) else None


def _missing(context: _SearchedContext, statement: Statement) -> str:
    """Return why a statement is not said: what of it stands nowhere."""
    for group in statement.groups:
        if not may_be_among(context.text, context.norms, group):
            return f"nowhere: {_shown(group)}"
    return _APART


def _shown(group: Alternatives) -> str:
    terms = [term.lstrip("=!~") for term in group]
    return " | ".join(terms[:_MOST_TERMS]) + (" ..." if len(terms) > _MOST_TERMS else "")
