"""What a line makes out of date: values of one thing given anew, names that give way to others, orders taken back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from operator import attrgetter

from ctxsift.sessions.compaction.lines import MessageLine, sentences_of
from ctxsift.sessions.compaction.records import Key, SummaryEntry
from ctxsift.sessions.compaction.rejecting import without_rejected
from ctxsift.sessions.compaction.values import clauses_of, folded, gives_way, keys_by_sentence, keys_in, scope_around
from ctxsift.sessions.compaction.weights import ORDER, names_in

_OUT = (
    r"(?:instead of|rather than|no longer(?: uses?)?|in place of|not|replac(?:es?|ed|ing)|dropp?(?:ed|ing)?"
    r"|(?:changed|switched|moved|renamed|went|bumped|raised|lowered|reduced|increased|updated)"
    r" (?:(?P<what>[\w ]{1,30}) )?from)"
)
_OLD = r"(?P<old>`[^`]{1,80}`|[^\s,;()]{1,200})"
_RETIRED = re.compile(rf"\b{_OUT}(?: the| a)? {_OLD}", re.IGNORECASE)
_RENAMED = re.compile(rf"\brenam(?:e[ds]?|ing) (?:the )?{_OLD} (?:to|into|as) ", re.IGNORECASE)
_ARROW = re.compile(rf"{_OLD}\s*(?:->|→|=>)\s*[^\s,;()]")
# Each with what stands in every sentence that it is found in.
_GIVES_WAY = (
    (_RETIRED, ("instead of", "rather than", "no longer", "in place of", "not", "replac", "drop", " from")),
    (_RENAMED, ("renam",)),
    (_ARROW, ("->", "\u2192", "=>")),
)
# The user takes back what was asked or proposed just before.
_TAKEN_BACK = re.compile(
    r"\b(?:revert|undo|scratch|forget|drop|kill|ignore)\s+(?:all (?:of )?)?(?:that|this|it|those|the last)\b"
    r"|\bnever ?mind\b|\b(?:i|i've|i have) (?:undid|undone|reverted)\b",
    re.IGNORECASE,
)
_SHORTEST_REST, _FEWEST_WORDS = 12, 3
_CONJUNCTION = re.compile(r"\A(?:and|but|while|whereas|so)\s+", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|their|there|this|that|these|those)\b", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z]+\Z|[A-Z][a-z]*\Z|\d\Z")


def retired_in(text: str) -> dict[str, tuple[str, ...]]:
    """Return names that a line says gave way to others, each with what it says that for; plain words are none."""
    found: dict[str, tuple[str, ...]] = {}
    for sentence in sentences_of(text):
        small = sentence.lower()
        for pattern, literals in _GIVES_WAY:
            for match in pattern.finditer(sentence) if any(literal in small for literal in literals) else ():
                name = match["old"].strip("`.,:;'\"*")
                if len(name) > 1 and not _PLAIN.match(name):
                    found[name] = () if pattern is not _RETIRED else _held_for(sentence, match, name)
    return found


def _held_for(sentence: str, match: re.Match[str], name: str) -> tuple[str, ...]:
    """Return the things that a name gives way for: those of `in web/` and `for the tests`, what a number is of."""
    scope = scope_around(sentence, match.start(), match.end())
    if name.strip("#%").replace(".", "").isdigit():
        scope = (*scope, *(folded(word) for word in (match["what"] or "").split() if len(word) > 3))
    return scope


def taken_back(lines: Sequence[MessageLine]) -> set[int]:
    """Return the messages of a span that the user took back, by their numbers.

    "Revert that" takes back what came since the user's message before, that message included.
    """
    messages: dict[int, list[MessageLine]] = {}
    for line in lines:
        messages.setdefault(line.message, []).append(line)
    gone: set[int] = set()
    since: list[MessageLine] = []
    for own in messages.values():
        first = own[0]
        if not first.by_user:
            since.append(first)
            continue
        text = " ".join(line.text for line in own)
        if _TAKEN_BACK.search(text):
            gone.update(each.message for each in since)
        since = [first]
    return gone


def current(entries: Sequence[SummaryEntry], new: int) -> list[SummaryEntry]:
    """Return entries without what a later new one puts out of date.

    Gone is what the user took back or put off; a sentence that gives a value to something to which a new entry gives
    one; and, if it holds a name that a new entry retires, a sentence of the user or one that gives a value. Other lines
    with such a name weigh half.

    Args:
        entries: in the order in which they were said.
        new: how many of the last ones are new; earlier ones have had their effect.

    """
    entries, new = without_rejected(entries, new)
    gone = _given_anew(entries, new)
    retired: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for at in range(len(entries) - new, len(entries)):
        for name, scope in retired_in(entries[at].text).items():
            retired.setdefault(name, []).append((at, scope))
    left = []
    for at, entry in enumerate(entries):
        old_names = {
            name
            for name in entry.names
            if any(by > at and _holds_for(scope, entry) for by, scope in retired.get(name, ()))
        }
        if gone[at] or (old_names and (entry.by_user or entry.keys)):
            rest = _without(entry, gone[at], old_names)
            left += [rest] if rest else []
        else:
            left.append(dataclasses.replace(entry, weight=entry.weight / 2) if old_names else entry)
    return left


def _given_anew(entries: Sequence[SummaryEntry], new: int) -> list[set[Key]]:
    """Return the keys of each entry to which a later new one gives another value.

    Where the new one does not tell things of that name apart, it is about the last of them that was spoken of.
    """
    gone: list[set[Key]] = [set() for _ in entries]
    held: dict[str, list[tuple[int, Key]]] = {}
    for at, entry in enumerate(entries):
        for key in entry.keys if at >= len(entries) - new else ():
            before = held.get(key.name, [])
            same = [each for _, each in before if gives_way(each, key)]
            replaced = [each for each in before if same and _is_of(each[1], same[-1], key)]
            for place, old in replaced:
                gone[place].add(old)
            held[key.name] = [each for each in before if each not in replaced]
        for key in entry.keys:
            held.setdefault(key.name, []).append((at, key))
    return gone


def _is_of(old: Key, last: Key, new: Key) -> bool:
    return gives_way(old, new) and set(old.subject) <= set(last.subject)


def _holds_for(scope: Sequence[str], entry: SummaryEntry) -> bool:
    words = {folded(word) for part in re.findall(r"[\w./-]+", entry.text) for word in (part, *part.split("/"))}
    return not scope or not words.isdisjoint(scope)


def _without(entry: SummaryEntry, keys: set[Key], names: set[str]) -> SummaryEntry | None:
    """Return an entry without the sentences that are out of date; None where no other is left.

    The rest says what it is about. It stays whole if it points to a sentence with an old name.
    """
    sentences = list(keys_by_sentence(entry.text, entry.lead))
    left = [_still_true(sentence, given, keys, names) for sentence, given in sentences]
    text = " ".join(sentence for sentence in left if sentence)
    if left == [sentence for sentence, _ in sentences] or len(text) < _SHORTEST_REST:
        return None
    lead = entry.lead
    in_part = any(0 < len(rest) < len(whole) for rest, (whole, _) in zip(left, sentences, strict=True))
    if not lead and (_POINTS_BACK.search(text) or (in_part and not keys_in(text))):
        # What is left points to what only the sentence before it named.
        replaced = next((key for key in entry.keys if key in keys), None)
        if replaced is None:
            return dataclasses.replace(entry, weight=entry.weight / 2)
        lead = " ".join((*replaced.subject, replaced.name))
    return dataclasses.replace(entry, text=text, lead=lead, keys=keys_in(text, entry.lead), names=names_in(text))


def _still_true(sentence: str, given: tuple[Key, ...], keys: set[Key], names: set[str]) -> str:
    """Return what of a sentence is not out of date.

    Clauses go that give an old value or speak of it; others stay if they give one, too, order something or name it.
    """
    if not names.isdisjoint(names_in(sentence)):
        return ""
    if keys.isdisjoint(given):
        return sentence
    told_of = attrgetter("name", "subject", "files")
    old = set(map(told_of, keys))
    clauses = [(clause, set(map(told_of, keys_in(clause)))) for clause in clauses_of(sentence)]
    gone = {name for clause, own in clauses if not old.isdisjoint(own) for name in names_in(clause)}
    if not gone:
        return ""
    kept = [
        clause
        for clause, own in clauses
        if old.isdisjoint(own)
        and gone.isdisjoint(names_in(clause))
        and (own or (len(clause.split()) >= _FEWEST_WORDS and (ORDER.search(clause) or names_in(clause))))
    ]
    text = _CONJUNCTION.sub("", "".join(kept)).rstrip(" ,;:")
    return text[:1].upper() + text[1:]
