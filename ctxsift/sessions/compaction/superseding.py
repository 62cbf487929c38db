"""What a line makes out of date: values given anew by their key, names that give way to others, orders taken back."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from ctxsift.sessions.compaction.lines import Line, sentences_of
from ctxsift.sessions.compaction.records import Entry
from ctxsift.sessions.compaction.weights import names_in

_WORD = r"[\w/-]+(?:\.\w+)*"
_KEY = rf"(?P<key>[A-Za-z]{_WORD}(?: {_WORD}){{0,3}}?)"
_VALUE = r"(?P<value>`[^`]{1,60}`|\"[^\"]{1,60}\"|[^\s,;()]*\d[^\s,;()]*|[\w.-]*[/._#-][\w./#-]+)"
_NUMBER = r"(?P<value>#?\d[\w.:%]*)"
# "Part 7" names a part; "25 percent" can only be a value.
_MEASURED = r"(?:#[0-9a-f]{3,8}\b|\d[\d.]* ?(?:%|percent|[mn]?s\b|seconds?|minutes?|hours?|days?|[kKMG]i?B\b|px\b))"
_IS = r"(?:is|are|was|stays|becomes|should be|must be|to be|has to be|will be)(?: now| set to| at| called| named)?"
_SET = (
    r"(?:set|change[ds]?|changing|bump(?:ed)?|raised?|lower(?:ed)?|increased?|reduced?|updated?|switch(?:ed)?|ma[dk]e)"
)
_LABELLED = re.compile(rf"{_KEY}\s*[=:]\s*{_VALUE}(?:[\s,.;(]|\Z)", re.IGNORECASE)
_GIVEN = (
    re.compile(rf"(?:\bthe |\A|[,;:] |\ba |\bour ){_KEY} {_IS} {_VALUE}", re.IGNORECASE),
    re.compile(rf"\b{_SET} (?:the )?{_KEY} (?:from \S+ )?(?:to|=) {_VALUE}", re.IGNORECASE),
    re.compile(rf"\b{_SET} (?:the )?{_KEY} `?{_MEASURED}", re.IGNORECASE),
    re.compile(rf"\buse {_VALUE} (?:for|as) (?:the )?{_KEY}(?:[,.;]|\Z)", re.IGNORECASE),
    re.compile(
        rf"\b(?:on|at|to|use|with|from) (?:the |a )?(?P<key>port|version|release|level) {_NUMBER}", re.IGNORECASE
    ),
    re.compile(rf"\b(?:a|the|with|has) (?P<key>[A-Za-z-]+) of {_NUMBER}", re.IGNORECASE),
    re.compile(r"\b\d+ (?P<key>(?:tests?|checks?|errors?|warnings?) ?(?:pass|fail|remain|left|)\b)", re.IGNORECASE),
)
# Words that do not tell which thing has the value.
_FILLERS = frozenset({"the", "a", "our", "new", "default", "current", "now", "and", "but", "yes", "so", "then"})
_ANY_THING = frozenset(
    {
        *("it", "this", "that", "which", "what", "there", "here", "thing", "location", "file", "files", "path", "name"),
        *("note", "error", "status", "output", "result", "line", "lines", "step", "example", "fix", "test", "tests"),
        *("type", "usage", "command", "option", "reason", "problem", "issue", "bug", "cause", "key", "goal", "gap"),
        *("todo", "import", "class", "function", "method", "value"),
    }
)
_OUT = (
    r"(?:instead of|rather than|no longer(?: uses?)?|in place of|not|replac(?:es?|ed|ing)|dropp?(?:ed|ing)?"
    r"|(?:changed|switched|moved|renamed|went|bumped|raised|lowered|reduced|increased|updated) (?:[\w ]{1,30} )?from)"
)
_OLD = r"(?P<old>`[^`]{1,80}`|[^\s,;()]+)"
_RETIRED = re.compile(rf"\b{_OUT}(?: the| a)? {_OLD}", re.IGNORECASE)
_RENAMED = re.compile(rf"\brenam(?:e[ds]?|ing) (?:the )?{_OLD} (?:to|into|as) ", re.IGNORECASE)
_ARROW = re.compile(rf"{_OLD}\s*(?:->|→|=>)\s*[^\s,;()]")
# The user takes back what was asked or proposed just before.
_TAKEN_BACK = re.compile(
    r"\b(?:revert|undo|scratch|forget|drop|kill|ignore)\s+(?:all (?:of )?)?(?:that|this|it|those|the last)\b"
    r"|\bnever ?mind\b|\b(?:i|i've|i have) (?:undid|undone|reverted)\b",
    re.IGNORECASE,
)
_SHORTEST_REST = 12
_PLAIN = re.compile(r"[a-z]+\Z|[A-Z][a-z]*\Z|\d\Z")


def keys_in(text: str, lead: str = "") -> tuple[str, ...]:
    """Return what a line gives a value to, in small letters: `port` for `set the port to 8081`.

    Args:
        text: the line.
        lead: what it stands under; a label names a thing of that (`timeout: 30` under `Upload`).

    """
    found = [match["key"] for part in sentences_of(text) for pattern in _GIVEN for match in pattern.finditer(part)]
    if label := _LABELLED.match(text):
        found.append(f"{lead} {label['key']}" if lead else label["key"])
    folded = (_folded(key) for key in found)
    return tuple(dict.fromkeys(key for key in folded if key and key.split()[-1] not in _ANY_THING))


def retired_in(text: str) -> tuple[str, ...]:
    """Return names that a line says gave way to others; plain words are none."""
    found = [match["old"] for pattern in (_RETIRED, _RENAMED, _ARROW) for match in pattern.finditer(text)]
    names = (each.strip("`.,:;'\"*") for each in found)
    return tuple(dict.fromkeys(name for name in names if len(name) > 1 and not _PLAIN.match(name)))


def _folded(key: str) -> str:
    words = key.casefold().replace("`", "").split()
    return " ".join(word for word in words if word not in _FILLERS)


def taken_back(lines: Sequence[Line]) -> set[int]:
    """Return the messages of a span that the user took back, by their numbers.

    "Revert that" takes back what came since the user's message before, that message included.
    """
    messages: dict[int, list[Line]] = {}
    for line in lines:
        messages.setdefault(line.message, []).append(line)
    gone: set[int] = set()
    since: list[Line] = []
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


def current(entries: Sequence[Entry], new: int) -> list[Entry]:
    """Return entries without what a later new one puts out of date.

    Gone is a sentence that gives a value to a key to which a new entry gives one; and, if it holds a name that a new
    entry retires, a sentence of the user or one that gives a value. Other lines with such a name weigh half.

    Args:
        entries: in the order in which they were said.
        new: how many of the last ones are new; earlier ones have had their effect.

    """
    given: dict[str, int] = {}
    retired: dict[str, int] = {}
    for at in range(len(entries) - new, len(entries)):
        given |= dict.fromkeys(entries[at].keys, at)
        retired |= dict.fromkeys(retired_in(entries[at].text), at)
    left = []
    for at, entry in enumerate(entries):
        old_keys = {key for key in entry.keys if given.get(key, -1) > at}
        old_names = {name for name in entry.names if retired.get(name, -1) > at}
        if old_keys or (old_names and (entry.by_user or entry.keys)):
            rest = _without(entry, old_keys, old_names)
            left += [rest] if rest else []
        else:
            left.append(dataclasses.replace(entry, weight=entry.weight / 2) if old_names else entry)
    return left


def _without(entry: Entry, keys: set[str], names: set[str]) -> Entry | None:
    """Return an entry without the sentences that are out of date; None where no other is left."""
    sentences = [
        sentence
        for sentence in sentences_of(entry.text)
        if keys.isdisjoint(keys_in(sentence, entry.lead)) and names.isdisjoint(names_in(sentence))
    ]
    text = " ".join(sentences)
    if len(sentences) == len(sentences_of(entry.text)) or len(text) < _SHORTEST_REST:
        return None
    return dataclasses.replace(entry, text=text, keys=keys_in(text, entry.lead), names=names_in(text))
