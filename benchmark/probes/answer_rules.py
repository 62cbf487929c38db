"""The judge of answers by rules: how much of a right answer an answer covers. It sees neither method nor context."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from functools import cached_property

from benchmark.judges.rubric import FULL
from benchmark.probes.answer_faults import (
    NEITHER,
    UN,
    asks_for_excluded,
    denies_change,
    excluded_places,
    in_its_words,
    is_affirmed,
    is_denied,
    is_shuffled,
    mixed_pairs,
    mixed_statements,
    other_number,
)
from benchmark.probes.model import Probe
from benchmark.statements.judging import violations
from benchmark.statements.model import Alternatives, MustNot, Statement, Weight, Within
from benchmark.statements.phrases import PhrasePlace, places_of
from benchmark.statements.text import Text, read
from benchmark.whole_tokens import has_token

# Raised when the same answer may come to another verdict.
ANSWER_RULES_VERSION = "3"
_WEIGHTS: Mapping[Weight, float] = {Weight.VITAL: 1.0, Weight.OKAY: 0.5}
# Some of its own words, from this share on, say so much of a statement.
_FEWEST_OF_ITS_WORDS, _ITS_WORDS_COUNT = 0.5, 0.5
# What a first contradiction leaves, and each further one.
_FIRST_LEAVES, _NEXT_LEAVES = 0.4, 0.6
# What would tell, the verbs for telling and knowing, and words that deny.
_SOURCE = r"(?:context|notes?|summary|excerpt|transcript|history|material|what i (?:have|was given|can see|hold)|here)"
_TOLD = (
    r"(?:known|said|told|listed|seen|found|shown|stated|mentioned|named|recorded|given|described|explained|visible"
    r"|recoverable|available|spelled out|spelt out|clear)"
)
_TELL = (
    rf"(?:{_TOLD}|know|says?|tells?|lists?|sees?|finds?|shows?|states?|names?|records?|holds?|gives?|contains?|there)"
)
_DENIES = r"(?:not|no|never|nothing|cannot|neither|nor|none|nowhere|lacks?|missing|absent|without|\w+n['’]t)"
_ABSTAINS = re.compile(
    rf"(?i)\b{_DENIES}\b[^.;:]{{0,40}}\bin (?:my|the|this|these) {_SOURCE}\b"
    rf"|\b(?:my|the|this|these) {_SOURCE}\b[^.;]{{0,60}}\b{_DENIES}\b"
    rf"|\b{_DENIES}\b (?:\w+ )?{_TELL}\b[^.;:]{{0,30}}\b{_SOURCE}\b"
    rf"|\bi (?:do not|don['’]t|can ?not|can['’]t|could not|couldn['’]t|only|have no)\b (?:\w+ )?(?:{_TELL}|have)\b"
    rf"|(?:^|[.;:(]\s*)(?:can['’]t|cannot|can not|could not)\s+(?:be )?{_TELL}\b"
    rf"|(?:^|[.;:,(]\s*|\b(?:is|are|was|were)\s+)(?:unknown|unclear|(?:not|never)\s+(?:\w+ )?{_TOLD})\b"
    r"|\bno (?:idea|information|record|mention)\b|\bis not there\b"
)
_PATH, _FILE = re.compile(r"[\w.~@+/-]+"), re.compile(r"(?!e\.g$|i\.e$)[\w.~@+/-]*\.[A-Za-z]\w*")
# A question mark inside a sentence belongs to a name such as `any?`.
_INSIDE = re.compile(r"\?(?=\s+[a-z(])")
_BRACES = re.compile(r"([\w./-]*)\{([^{}]*)\}([\w.]*)")
_LINE_END = re.compile(r"\n|(?<=[.;])\s")


class Rule(StrEnum):
    """A rule that can be left out, to see what it moves."""

    # An answer need not repeat what the question says.
    TOLD = auto()
    # A statement of which some terms are said counts in part ...
    PARTIAL = auto()
    # ... unless it has names or numbers, and none of them is.
    HARD = auto()
    # Whatever its terms, a statement is said by its own words in one sentence, and in part by half of them or more.
    WORDS = auto()
    # Statements that may be said count half.
    OKAY = auto()
    # A list says something: the question tells of what.
    LISTS = auto()
    # `unedited` is `not edited`.
    UN = auto()
    # An answer to a question about what is excluded need not exclude it again.
    EXCLUDED = auto()
    # What is wrong with an answer.
    MUST_NOT = auto()
    DENIED = auto()
    AFFIRMED = auto()
    NUMBERS = auto()
    MIXED = auto()
    SHUFFLED = auto()
    INVENTED = auto()


@dataclass(frozen=True, slots=True)
class FilesAsked:
    """Files that a probe for a whole set asks for.

    Attributes:
        gold: those of the set, by path.
        known: all other paths of the session; an answer that names one of them invents nothing.

    """

    gold: frozenset[str]
    known: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StatementVerdict:
    """How much of a statement is said, in [0, 1], why, and the words that say it.

    Attributes:
        contradiction: how it is contradicted, in words; empty where it is not.

    """

    share: float
    reason: str
    matched: tuple[str, ...] = ()
    contradiction: str = ""


@dataclass(frozen=True, slots=True)
class AnswerVerdict:
    """What an answer has of a probe.

    Attributes:
        shares: by the index of the statement; of files, by their place in the order of the alphabet.
        must_not: rules that it breaks, by index.
        contradictions: all that is wrong, in words.
        abstains: it says that it does not know something.
        coverage: 0 to 5.

    """

    shares: Mapping[int, StatementVerdict]
    must_not: frozenset[int]
    contradictions: tuple[str, ...]
    abstains: bool
    coverage: float


def abstains(answer: str) -> bool:
    """Return True if an answer says that it does not know something, whatever else it says."""
    return _ABSTAINS.search(answer) is not None


class _Listing(Text):
    """A text whose lists are no mere lists."""

    @cached_property
    def lists(self) -> frozenset[int]:
        """None."""
        return frozenset()


class AnswerJudge:
    """Judges answers in few words to one question.

    Args:
        without: rules that are left out.

    """

    def __init__(self, without: Iterable[Rule] = ()) -> None:
        self._rules = frozenset(Rule) - frozenset(without)

    def judge(
        self, probe: Probe, answer: str, files: FilesAsked | None = None, counted: Collection[int] | None = None
    ) -> AnswerVerdict:
        """Return what an answer has of a probe.

        Args:
            probe: what was asked.
            answer: text, as it came.
            files: where the probe asks for all files of a kind.
            counted: the statements that weigh in the coverage, by index; all of them when None.

        """
        if files is not None:
            return self._files(answer, files)
        text, question = self._read(answer), _told(probe.question)
        weights = [
            self._weight(statement) if counted is None or index in counted else 0.0
            for index, statement in enumerate(probe.statements)
        ]
        if Rule.SHUFFLED in self._rules and is_shuffled(text, probe.gold):
            nothing = StatementVerdict(0.0, "its words stand in no order")
            return _verdict(answer, dict.fromkeys(range(len(weights)), nothing), weights)
        shares = self._statements(answer, text, question, probe.statements)
        if Rule.MIXED in self._rules:
            shares |= _mixed(text, question, probe, shares)
        hits = self._broken(text, probe.must_not)
        return _verdict(answer, shares, weights, hits, [probe.must_not[index].says for index in sorted(hits)])

    def _read(self, answer: str) -> Text:
        text = read(NEITHER.sub(r"\g<0> not", _INSIDE.sub(" ", answer)), is_terse=True)
        return _Listing(text.text, text.tokens, text.bounds) if Rule.LISTS in self._rules else text

    def _statements(
        self, answer: str, text: Text, question: Text, statements: Sequence[Statement]
    ) -> dict[int, StatementVerdict]:
        readings = [text]
        if Rule.UN in self._rules and UN.search(answer):
            readings.append(self._read(UN.sub("not ", answer)))
        return {
            index: max((self._statement(each, question, statement) for each in readings), key=lambda found: found.share)
            for index, statement in enumerate(statements)
        }

    def _broken(self, text: Text, rules: Sequence[MustNot]) -> frozenset[int]:
        if Rule.MUST_NOT not in self._rules:
            return frozenset()
        return frozenset(index for index, rule in enumerate(rules) if any(True for _ in violations(text, rule)))

    def _weight(self, statement: Statement) -> float:
        return _WEIGHTS[statement.weight] if Rule.OKAY in self._rules else float(statement.weight is Weight.VITAL)

    def _statement(self, text: Text, question: Text, statement: Statement) -> StatementVerdict:
        excludes = Rule.EXCLUDED in self._rules and asks_for_excluded(question.text)
        groups = (*statement.groups, *(side for pair in statement.pairs for side in pair))
        asked = [group for group in groups if Rule.TOLD not in self._rules or not places_of(question, group)] or groups
        found = self._best(text, statement, asked, excludes=excludes)
        share = self._share(asked, found)
        places = [places[0] for places in found if places]
        says = _read_once(statement.says)
        if share < 1 and Rule.WORDS in self._rules:
            words = self._words(text, question, says, groups, excludes)
            share, places = max((share, places), words, key=lambda found: found[0])
        matched = tuple(text.text[text.tokens[p.first].start : text.tokens[p.last].end] for p in places)
        fault = self._wrong(text, question, says, statement)
        if share and not fault:
            fault = self._denied(text, says, places, groups, excludes)
        if fault:
            return StatementVerdict(0.0, fault, matched, f"{fault}: {statement.says}")
        return StatementVerdict(share, _reason(share), matched)

    def _words(
        self, text: Text, question: Text, says: Text, groups: Sequence[Alternatives], excludes: bool
    ) -> tuple[float, list[PhrasePlace]]:
        """Return how much of a statement is said in its own words, with all of its names and numbers, and where."""
        share, places = in_its_words(text, says, question)
        hard = all(places_of(text, group) or places_of(question, group) for group in groups if _is_hard(group))
        if share < _FEWEST_OF_ITS_WORDS or not hard or self._denied(text, says, places, groups, excludes):
            return 0.0, []
        return (share if share == 1 else _ITS_WORDS_COUNT * share), places

    def _best(
        self, text: Text, statement: Statement, asked: Sequence[Alternatives], *, excludes: bool
    ) -> list[list[PhrasePlace]]:
        """Return where each group stands in the sentence, or the answer, that has most of them."""
        anywhere = statement.within is Within.ANSWER or not statement.groups
        spans = [(0, len(text.tokens))] if anywhere else text.sentences
        found = [places_of(text, group) for group in asked]
        if excludes:
            found = [ps or excluded_places(text, group, asked=True) for ps, group in zip(found, asked, strict=True)]
        here = [[[p for p in places if first <= p.first < past] for places in found] for first, past in spans]
        return max(here, key=lambda each: self._share(asked, each), default=[[] for _ in asked])

    def _share(self, asked: Sequence[Alternatives], found: Sequence[Sequence[PhrasePlace]]) -> float:
        hard = [bool(places) for group, places in zip(asked, found, strict=True) if _is_hard(group)]
        if Rule.HARD in self._rules and hard and not any(hard):
            return 0.0
        share = sum(map(bool, found)) / len(asked)
        return share if share == 1 or Rule.PARTIAL in self._rules else 0.0

    def _wrong(self, text: Text, question: Text, says: Text, statement: Statement) -> str:
        """Return what an answer says in place of a statement."""
        places = (place for group in statement.groups for place in places_of(text, group))
        accepted = {token.norm for place in places for token in text.tokens[place.first : place.last + 1]}
        if Rule.NUMBERS in self._rules and (number := other_number(text, says, question, accepted)):
            return f"{number} in place of its number"
        return "mixes up who has what" if Rule.MIXED in self._rules and mixed_pairs(text, statement) else ""

    def _denied(
        self, text: Text, says: Text, places: Sequence[PhrasePlace], groups: Iterable[Alternatives], excludes: bool
    ) -> str:
        """Return how what an answer has of a statement is turned into its opposite."""
        if Rule.DENIED in self._rules and is_denied(text, places, says):
            return "denied"
        affirmed = (
            group
            for group in groups
            if is_affirmed(text, group, places, asked=excludes) and not is_affirmed(says, group, (), asked=False)
        )
        return "says what it denies" if Rule.AFFIRMED in self._rules and any(affirmed) else ""

    def _files(self, answer: str, files: FilesAsked) -> AnswerVerdict:
        named = frozenset(self._named(answer, files.gold))
        shares = {index: _in_set(path, named) for index, path in enumerate(sorted(files.gold))}
        known = files.gold | files.known
        invented = [
            path for path in sorted(named) if not any(_is_same(path, each) or _is_suffix(path, each) for each in known)
        ]
        wrong = [f"there is no {path}" for path in invented if Rule.INVENTED in self._rules]
        return _verdict(answer, shares, [1.0] * len(shares), wrong=wrong[:1])

    def _named(self, answer: str, files: Iterable[str]) -> Iterator[str]:
        """Yield the files that an answer names, without those that it says were not changed so."""
        for line in _LINE_END.split(_BRACES.sub(_expanded, answer)):
            if Rule.DENIED not in self._rules or not denies_change(line):
                yield from paths_in(line)
                yield from (path for path in files if _has_stem(line, path))
                # `Makefile` looks like a word.
                yield from (path for path in files if "." not in _name(path) and has_token(line, _name(path)))


def _expanded(braces: re.Match[str]) -> str:
    """Return the files that `src/{a,b}.py` stands for, separated by commas."""
    before, names, after = braces.groups()
    return ", ".join(f"{before}{name.strip()}{after}" for name in names.split(","))


def _has_stem(line: str, path: str) -> bool:
    """Return True if a line names a file without its suffix, which it tells of all: "a, b (.py)"."""
    stem, _, suffix = _name(path).rpartition(".")
    told = re.search(rf"(?<![\w/])\.{re.escape(suffix)}\b(?!\.)", line)
    return bool(stem) and told is not None and has_token(line, stem)


def paths_in(text: str) -> frozenset[str]:
    """Return what looks like a file in a text: it has a suffix."""
    found = (path.rstrip("./").removeprefix("./") for path in _PATH.findall(text))
    return frozenset(path for path in found if _FILE.fullmatch(path))


def _in_set(path: str, named: Iterable[str]) -> StatementVerdict:
    if any(_is_same(path, each) for each in named):
        return StatementVerdict(1.0, "named", (path,))
    return StatementVerdict(0.0, "not named")


def _is_same(path: str, other: str) -> bool:
    """Return True if two paths may be the same: whole, or the end of one."""
    return path == other or path.endswith(f"/{other}") or other.endswith(f"/{path}")


def _is_suffix(path: str, other: str) -> bool:
    """Return True if a path is only the suffix of another, such as ".py"."""
    return path.startswith(".") and other.endswith(path)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _told(question: str) -> Text:
    # As a sentence of its own: a question says nothing.
    return _read_once(question.replace("?", "."))


# Of a probe, which many answers are held against.
@functools.lru_cache(maxsize=2048)
def _read_once(text: str, *, is_terse: bool = False) -> Text:
    return read(text, is_terse=is_terse)


def _is_hard(group: Alternatives) -> bool:
    """Return True for a name or a number."""
    return all(term.startswith("=") or any(char.isdigit() for char in term) for term in group)


def _reason(share: float) -> str:
    return "said" if share == 1 else "said in part" if share else "not said"


def _mixed(
    text: Text, question: Text, probe: Probe, shares: Mapping[int, StatementVerdict]
) -> Iterator[tuple[int, StatementVerdict]]:
    said = [index for index, found in shares.items() if found.share and len(probe.statements[index].groups) > 1]
    statements = [probe.statements[index] for index in said]
    # What a right answer mixes up, in sentences or in one, cannot be told apart.
    golds = (probe.gold, "; ".join(statement.says for statement in probe.statements))
    alike = {pair for gold in golds for pair in mixed_statements(_read_once(gold, is_terse=True), statements, question)}
    for pair in sorted(set(mixed_statements(text, statements, question)) - alike):
        one, other = (said[index] for index in pair)
        wrong = f"mixed up: {probe.statements[one].says}; {probe.statements[other].says}"
        for index in (one, other):
            yield index, StatementVerdict(0.0, "goes with another", shares[index].matched, wrong)


def _verdict(
    answer: str,
    shares: Mapping[int, StatementVerdict],
    weights: Sequence[float],
    must_not: frozenset[int] = frozenset(),
    wrong: Iterable[str] = (),
) -> AnswerVerdict:
    contradicted = (each.contradiction for each in shares.values() if each.contradiction)
    contradictions = tuple(dict.fromkeys((*contradicted, *wrong)))
    covered = sum(weight * each.share for weight, each in zip(weights, shares.values(), strict=True))
    covered /= sum(weights) or 1.0
    left = _FIRST_LEAVES * _NEXT_LEAVES ** (len(contradictions) - 1) if contradictions else 1.0
    return AnswerVerdict(shares, must_not, contradictions, abstains(answer), FULL * covered * left)
