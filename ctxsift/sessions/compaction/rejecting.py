"""What the user rejects or puts off, and what was announced of it before.

A rejection names a thing (`no SQLite please`, `forget the cache`) or points to what the agent announced last (`let's
not do that`). It takes back what was announced of it: plans, choices, orders, and what was said of it since. What names
the thing otherwise stays, and so does the rejection: `don't use tabs` is an order. `No SQLite errors any more` rejects
nothing. What is put off (`the docs next week`) is planned no more; what was chosen stands.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence

from ctxsift.sessions.compaction.denying import (
    DETERMINERS,
    POINTING,
    SCOPES,
    SMALL_WORDS,
    VERBS,
    Rejection,
    rejections_in,
    says_no_more_than_later,
    stem_of,
    stems_of,
    without_opening,
    words_of,
)
from ctxsift.sessions.compaction.lines import sentences_of
from ctxsift.sessions.compaction.records import SummaryEntry
from ctxsift.sessions.compaction.values import clauses_of, keys_in
from ctxsift.sessions.compaction.weights import CONSTRAINTS, DECISION, ERROR, NEXT, names_in

# What the agent says that it will do, and what it says that it chose.
_PLANNED = re.compile(
    r"\b(?:(?:i['’]ll|i will|i['’]m going to|i am going to|let me|let['’]s|we['’]ll|we will|i['’]d|i would|we['’]d"
    r"|going to|about to"
    r"|(?:i|we) (?:could|can|should|plan|propose|suggest|recommend|start|begin|continue)|(?:shall|should) (?:i|we)"
    r"|(?:my|the) (?:plan|proposal)|proposal|want me to|would you like|to ?do|left to|then i|planned)\b(?!['’])"
    r"|next(?=[,:]| i\b| we\b| up\b| steps?\b| comes\b| is\b| are\b))",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\bi(?:['’]ve| have)? (?:use|used|chose|picked|added|built|put|installed|introduced|made|set|wrote|stored?)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    rf"{_CHOSEN.pattern}|{DECISION.pattern}|\b(?:is|are) (?:now )?(?:stored|cached|kept|saved|written|built|based)\b",
    re.IGNORECASE,
)
_IS_PLAN = re.compile(r"\b(?:plan|propos\w+|suggest\w+|next|to ?do|will)\b", re.IGNORECASE)
_PROPOSES = re.compile(
    r"\b(?:shall|should|may|can|could) (?:i|we)\b|\bwant me to\b|\byou (?:like|want)\b|\b(?:ok|okay|all ?right)\?",
    re.IGNORECASE,
)
_AFTER_ALL = re.compile(r"\b(?:after all|back to|anyway|changed my mind)\b", re.IGNORECASE)
# What denies a thing before its name, and behind it.
_NEGATIONS = frozenset(
    {"not", "don't", "dont", "never", "won't", "shouldn't", "mustn't", "cannot", "can't", "doesn't", "isn't", "no"}
    | {"without", "than", "of", "nor"}
)
_GONE = frozenset({"gone", "removed", "dropped", "out", "reverted", "deleted"})
# A rejection weighs as much as an open task; what is left of a sentence says something.
_WEIGHT, _FEWEST_WORDS, _SHORTEST_REST = 4.0, 3, 12
# Of the words of an order that the agent's plan repeats.
_MOST_OF = 2 / 3
_DEPENDS = re.compile(r"(?:and |but |so )?(?:because|since|so|which|as|it|its|they|that|this)\b", re.IGNORECASE)
_JOINS = re.compile(r"\A(?:and|but|while|so|then)\s+", re.IGNORECASE)
_ANNOUNCING = re.compile(rf"\A.*?(?:{_PLANNED.pattern}[\s:,]*)+(?:i |to |be |is |are |up |steps?:? )*", re.IGNORECASE)
_Place = tuple[int, int]


def without_rejected(entries: Sequence[SummaryEntry], new: int) -> tuple[list[SummaryEntry], int]:
    """Return entries without what the user took back or put off in the last `new` ones, and how many of these are left.

    A rejection that took something back stands among the constraints; where it only points to that, it says to what.
    """
    said = _EntrySentences(entries)
    for at in range(len(entries) - new, len(entries)):
        entry = said.entries[at]
        for sentence in said.sentences[at] if entry is not None and entry.by_user else ():
            for rejection in rejections_in(sentence):
                said.take_back(at, rejection)
            if _AFTER_ALL.search(sentence) and _orders(sentence):
                said.reinstate(at, stems_of(sentence))
    left = [entry for entry in said.entries if entry is not None]
    return left, sum(entry is not None for entry in said.entries[len(entries) - new :])


def still_wanted(tasks: Sequence[SummaryEntry], new: Sequence[SummaryEntry]) -> list[SummaryEntry]:
    """Return the open tasks of a list without those that the user rejected or put off since they were listed."""
    said = [
        (entry.step_id, rejection)
        for entry in (new if tasks else ())
        if entry.by_user
        for sentence in sentences_of(entry.text)
        for rejection in rejections_in(sentence)
        if rejection.words
    ]
    return [
        task
        for task in tasks
        if not any(at > task.step_id and _speaks_of(task.text, stems_of(task.text), each) for at, each in said)
    ]


class _EntrySentences:
    """Entries with their sentences, which are known by the places of both."""

    def __init__(self, entries: Sequence[SummaryEntry]) -> None:
        self.entries: list[SummaryEntry | None] = list(entries)
        self.sentences = [sentences_of(entry.text) for entry in entries]
        self._stems: list[list[set[str]]] = []
        self._settled: dict[Rejection, tuple[int, bool, bool]] = {}
        # The task stays, whatever is said of it later.
        self._first = next((at for at, entry in enumerate(entries) if entry.by_user), -1)

    def take_back(self, at: int, rejection: Rejection) -> None:
        """Take out what a rejection in the entry `at` denies of the entries before it."""
        gone: dict[int, set[int]] = {}
        for place, number in self._about(at, rejection) if rejection.words else self._pointed_at(at, rejection):
            gone.setdefault(place, set()).add(number)
        lead = ""
        for place, numbers in gone.items():
            if not rejection.words and not self._entry(place).by_user:
                plan = _ANNOUNCING.sub("", self.sentences[place][min(numbers)], count=1).strip(" .!?")
                lead = lead or f'To "{plan}"'
            self._take_out(place, numbers, rejection)
        entry = self._entry(at)
        # "Fix that next week" says by itself what is put off.
        if gone and (not rejection.puts_off or says_no_more_than_later(entry.text)):
            weight = max(entry.weight, _WEIGHT)
            told = entry.lead or lead
            self.entries[at] = dataclasses.replace(entry, section=CONSTRAINTS, weight=weight, lead=told)

    def reinstate(self, at: int, stems: set[str]) -> None:
        """Take out what the user rejected before the entry `at`, and wants there after all."""
        for place, entry in enumerate(self.entries[:at]):
            if entry is None or not entry.by_user:
                continue
            rejected = [list(rejections_in(sentence)) for sentence in self.sentences[place]]
            gone = {
                number
                for number, found in enumerate(rejected)
                if any(each.words and stems.issuperset(each.words) for each in found)
            }
            if gone:
                self._take_out(place, gone, Rejection())

    def _entry(self, place: int) -> SummaryEntry:
        entry = self.entries[place]
        assert entry is not None
        return entry

    def _take_out(self, place: int, numbers: set[int], rejection: Rejection) -> None:
        left = self.entries[place] = _rest(self._entry(place), self.sentences[place], numbers, rejection)
        self.sentences[place] = sentences_of(left.text) if left else []
        if self._stems:
            self._stems[place] = list(map(stems_of, self.sentences[place]))

    def _is_open(self, place: int) -> bool:
        """Return whether an entry can be taken back."""
        entry = self.entries[place]
        return entry is not None and not entry.is_task and place != self._first

    def _about(self, at: int, rejection: Rejection) -> Iterator[_Place]:
        """Yield the sentences that announce a thing, and, if it was new with that, those that speak of it.

        What stands before the same rejection of an earlier entry is settled.
        """
        self._stems = self._stems or [list(map(stems_of, own)) for own in self.sentences]
        begin, is_first, is_new = self._settled.get(rejection, (0, True, False))
        for place in range(begin, at):
            for number, stems in enumerate(self._stems[place]):
                if not stems.issuperset(rejection.words):
                    continue
                first, is_first = is_first, False
                sentence = self.sentences[place][number]
                if not self._is_open(place) or not _speaks_of(sentence, stems, rejection):
                    continue
                entry = self._entry(place)
                announces = _announces(entry, sentence, rejection)
                is_new |= announces and first
                told = is_new and not (entry.by_user or rejection.puts_off or ERROR.search(sentence))
                if announces or told:
                    yield place, number
        self._settled[rejection] = at, is_first, is_new

    def _pointed_at(self, at: int, rejection: Rejection) -> Iterator[_Place]:
        """Yield what the agent announced last, and what the user had ordered with the same words."""
        last = next((place for place in reversed(range(at)) if not self._is_by_user(place)), -1)
        before = next((place for place in reversed(range(last)) if self._is_by_user(place)), -1)
        places = [
            (place, number) for place in range(before + 1, last + 1) for number in range(len(self.sentences[place]))
        ]
        found = self._announced(places, rejection)
        words = {stem for place, number in found for stem in stems_of(self.sentences[place][number])}
        yield from found
        if words and not rejection.puts_off:
            yield from self._ordered(before, words)

    def _ordered(self, last: int, words: set[str]) -> Iterator[_Place]:
        """Yield what the user orders with some words, in the entries in a row of which the given one is the last."""
        for place in reversed(range(last + 1)):
            if not (self._is_by_user(place) and self._is_open(place)):
                return
            for number, sentence in enumerate(self.sentences[place]):
                own = {stem_of(word) for word in words_of(sentence) if word not in SMALL_WORDS}
                if own and len(own & words) >= len(own) * _MOST_OF and _orders(sentence):
                    yield place, number

    def _is_by_user(self, place: int) -> bool:
        entry = self.entries[place]
        return entry is not None and entry.by_user

    def _announced(self, places: Sequence[_Place], rejection: Rejection) -> list[_Place]:
        """Return what of some sentences a rejection points to: plans of the last message with one, else choices."""
        said = {(place, number): self.sentences[place][number] for place, number in places}
        found = [at for at in places if _PLANNED.search(said[at]) or _IS_PLAN.search(self._entry(at[0]).lead)]
        if not (found or rejection.puts_off or rejection.is_answer):
            found = [at for at in places if _CHOSEN.search(said[at])]
        if rejection.action:
            found = [at for at in found if rejection.action in stems_of(said[at])]
        if rejection.is_answer:
            return self._answered(found, places, rejection)
        return self._beside_last(found, found)

    def _beside_last(self, found: Sequence[_Place], places: Sequence[_Place]) -> list[_Place]:
        """Return those that stand in the message of the last of some places."""
        steps = {self._entry(place).step_id for place, _ in places[-1:]}
        return [at for at in found if self._entry(at[0]).step_id in steps]

    def _answered(self, plans: Sequence[_Place], places: Sequence[_Place], rejection: Rejection) -> list[_Place]:
        """Return the plans that a bare no answers: what the message ends with, if that proposes, or its only one."""
        found = self._beside_last(plans, places)
        if not found:
            return []
        place, number = places[-1]
        asked = self.sentences[place][number]
        if not asked.endswith("?"):
            return found if len(found) == 1 and not rejection.is_of_question else []
        if not _PROPOSES.search(asked):
            return []
        return found[-1:] if found[-1] == places[-1] else found


def _speaks_of(sentence: str, stems: set[str], rejection: Rejection) -> bool:
    """Return whether a sentence speaks of a thing, without denying it itself; `stems` are its words."""
    if not stems.issuperset(rejection.words) or (rejection.action and rejection.action not in stems):
        return False
    if rejection.scope and stems.isdisjoint(rejection.scope):
        return False
    words = words_of(sentence)
    at = next((n for n, word in enumerate(words) if stem_of(word) == rejection.words[0]), len(words))
    return _NEGATIONS.isdisjoint(words[max(0, at - 3) : at]) and _GONE.isdisjoint(words[at + 1 : at + 4])


def _announces(entry: SummaryEntry, sentence: str, rejection: Rejection) -> bool:
    """Return whether a sentence announces a thing: it names it after a word that plans or chooses, or orders it."""
    if entry.by_user:
        return not rejection.puts_off and _orders(sentence)
    if entry.section == NEXT or _IS_PLAN.search(entry.lead):
        return True
    is_headed = False
    for clause in clauses_of(sentence):
        cue = _PLANNED.search(clause) or (None if rejection.puts_off else _DECIDED.search(clause))
        if (cue or is_headed) and stems_of(clause[cue.start() if cue else 0 :]).issuperset(rejection.words):
            return True
        # `Plan: ...`
        is_headed |= clause.rstrip().endswith(":") and bool(cue or _IS_PLAN.search(clause) or DECISION.search(clause))
    return False


def _orders(sentence: str) -> bool:
    """Return whether a sentence of the user orders something, and rejects nothing."""
    if sentence.rstrip().endswith("?") or ERROR.search(sentence) or any(True for _ in rejections_in(sentence)):
        return False
    rest, is_fact = without_opening(words_of(sentence))
    return bool(rest) and not is_fact and rest[0] not in DETERMINERS | POINTING | SCOPES | VERBS


def _rest(entry: SummaryEntry, sentences: Sequence[str], gone: set[int], rejection: Rejection) -> SummaryEntry | None:
    """Return an entry without some of its sentences, and without what depends on them; None where nothing is left."""
    kept: list[str] = []
    dropped = False
    for number, sentence in enumerate(sentences):
        left = sentence
        if number in gone:
            left = _clauses_left(sentence, rejection, by_user=entry.by_user) if rejection.words else ""
        elif dropped and _DEPENDS.match(sentence):
            left = ""
        dropped = left != sentence
        kept += [left] if left else []
    text = " ".join(kept)
    if len(text) < _SHORTEST_REST:
        return None
    return dataclasses.replace(entry, text=text, keys=keys_in(text, entry.lead), names=names_in(text))


def _clauses_left(sentence: str, rejection: Rejection, *, by_user: bool) -> str:
    """Return the clauses of a sentence that speak of something else and can stand by themselves."""
    clauses = clauses_of(sentence)
    about = [stems_of(clause).issuperset(rejection.words) for clause in clauses]
    if not any(about):
        about = [not stems_of(clause).isdisjoint(rejection.words) for clause in clauses]
    kept, dropped = [], False
    for clause, is_about in zip(clauses, about, strict=True):
        depends = dropped and (_DEPENDS.match(clause) or not (by_user or _JOINS.match(clause)))
        dropped = is_about or bool(depends)
        is_label = clause.rstrip().endswith(":")
        if not dropped and (is_label or len(clause.split()) >= _FEWEST_WORDS or names_in(clause)):
            kept.append(clause)
    if kept and kept[-1].rstrip().endswith(":") and len(kept[-1].split()) < _FEWEST_WORDS:
        kept.pop()
    text = _JOINS.sub("", "".join(kept)).rstrip(" ,;:")
    return text[:1].upper() + text[1:]
