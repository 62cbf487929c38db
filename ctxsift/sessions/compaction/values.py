"""What a line gives a value to: the key, and the thing that has it. `port` of the gateway is not that of the proxy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ctxsift.sessions.compaction.lines import sentences_of
from ctxsift.sessions.compaction.records import Key

_WORD = r"[\w/-]+(?:\.\w+)*"
_KEY = rf"(?P<key>[A-Za-z]{_WORD}(?: {_WORD}){{0,5}}?)"
_VALUE = r"(?P<value>`[^`]{1,60}`|\"[^\"]{1,60}\"|[^\s,;()]*\d[^\s,;()]*|[\w.-]*[/._#-][\w./#-]+)"
_NUMBER = r"(?P<value>#?\d[\w.:%]*)"
# "Part 7" names a part; "25 percent" can only be a value.
_MEASURED = r"(?:#[0-9a-f]{3,8}\b|\d[\d.]* ?(?:%|percent|[mn]?s\b|seconds?|minutes?|hours?|days?|[kKMG]i?B\b|px\b))"
_IS = r"(?:is|are|was|stays|becomes|should be|must be|to be|has to be|will be)(?: now| set to| at| called| named)?"
_SET = (
    r"(?:set|change[ds]?|changing|bump(?:ed)?|raised?|lower(?:ed)?|increased?|reduced?|updated?|switch(?:ed)?|ma[dk]e)"
)
_LABELLED = re.compile(rf"{_KEY}\s*[=:]\s*{_VALUE}(?:[\s,.;(]|\Z)", re.IGNORECASE)
# Here the key is what the sentence speaks of, or what it orders to change; before each pattern, what stands in every
# sentence that it is found in.
_GIVEN = (
    (
        (" is ", " are ", " was ", " stays ", " becomes ", " be "),
        re.compile(rf"(?:\bthe |\A|[,;:] |\ba |\bour ){_KEY} {_IS} {_VALUE}", re.IGNORECASE),
    ),
    ((" to ", " = "), re.compile(rf"\b{_SET} (?:the )?{_KEY} (?:from \S+ )?(?:to|=) {_VALUE}", re.IGNORECASE)),
    (
        ("set ", "chang", "bump", "raise", "lower", "increase", "reduce", "update", "switch", "make ", "made "),
        re.compile(rf"\b{_SET} (?:the )?{_KEY} `?{_MEASURED}", re.IGNORECASE),
    ),
    (
        ("keep ", "cap ", "hold ", "limit "),
        re.compile(rf"\b(?:keep|cap|hold|limit) (?:the )?{_KEY} (?:at|to) {_VALUE}", re.IGNORECASE),
    ),
    (("use ",), re.compile(rf"\buse {_VALUE} (?:for|as) (?:the )?{_KEY}(?:[,.;]|\Z)", re.IGNORECASE)),
    (
        ("test", "check", "error", "warning"),
        re.compile(r"\b\d+ (?P<key>(?:tests?|checks?|errors?|warnings?) ?(?:pass|fail|remain|left|)\b)", re.IGNORECASE),
    ),
)
# Here the thing that has the value stands before.
_HELD = (
    (
        ("port ", "version ", "release ", "level "),
        re.compile(
            rf"\b(?:on|at|to|uses?|using|has|gets|with|from) (?:the |a )?(?P<key>port|version|release|level) {_NUMBER}",
            re.IGNORECASE,
        ),
    ),
    (
        (" of ",),
        re.compile(rf"\b(?:a|the|with|has) (?P<key>[A-Za-z-]+(?: [A-Za-z-]+){{0,2}}?) of {_NUMBER}", re.IGNORECASE),
    ),
    (("listen",), re.compile(rf"(?:(?<=\blisten)|(?<=\blistens)|(?<=\blistening)) (?:on|at) {_NUMBER}", re.IGNORECASE)),
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
_ANNOUNCES = re.compile(
    r"\b(?:chang\w+|bump\w*|rais\w+|lower\w*|increas\w+|reduc\w+|updat\w+|switch\w*|mov(?:e[ds]?|ing)|instead|after all"
    r"|now|from now on|actually|no longer|back to|rather)\b",
    re.IGNORECASE,
)
# Between clauses: each has a subject of its own.
_CLAUSE_END = re.compile(
    r"[,;:]\s+|(?<!\s)\s+(?:[-\u2013\u2014]\s+|(?=(?:but|and|while|whereas|so|because|since)\s))", re.IGNORECASE
)
_POINTS_BACK = re.compile(r"(?:(?:and|but|so) )?(?:it|its|they|their|this|that|there)\b", re.IGNORECASE)
# It begins with what is rare, and looks back from there: every line is searched.
_POSSESSIVE = re.compile(
    r"['\u2019]s(?= \w)(?<=\w.s)(?<!\bit.s)(?<!\blet.s)(?<!\bthat.s)(?<!\bthere.s)(?<!\bhere.s)", re.IGNORECASE
)
_TOKEN = re.compile(r"(?<![\w@/.+#-])[\w@/.+#-]*[\w/+#]")
_OF = frozenset({"for", "of", "in", "within", "inside", "during", "under"})
_AT_THE = frozenset({"on", "to", "at", "by"})
_DETERMINERS = frozenset({"the", "a", "an", "our", "its", "each", "every", "all", "both", "any", "this", "that", "my"})
_VERBS = frozenset(
    {
        *("accept", "add", "allow", "ask", "bind", "build", "call", "change", "come", "configure", "connect", "end"),
        *("expire", "expose", "get", "give", "go", "has", "have", "hold", "keep", "leave", "let", "limit", "listen"),
        *("live", "make", "move", "need", "open", "pin", "put", "raise", "reach", "require", "restart", "retry", "run"),
        *(
            "serve",
            "set",
            "sit",
            "start",
            "stay",
            "stick",
            "stop",
            "switch",
            "take",
            "talk",
            "update",
            "upgrade",
            "use",
        ),
        *("wait", "want", "work", "bump", "lower", "reduce", "increase", "rename", "deploy", "install", "publish"),
    }
)
# Words of no thing.
_STOP = frozenset(
    {
        *(
            "s",
            "t",
            "ll",
            "re",
            "ve",
            "d",
            "m",
            "is",
            "are",
            "was",
            "were",
            "be",
            "been",
            "has",
            "have",
            "had",
            "do",
            "does",
            "did",
            "will",
            "would",
            "can",
        ),
        *("could", "should", "must", "may", "might", "shall", "not", "no", "never", "always", "only", "just", "still"),
        *("i", "we", "you", "he", "she", "it", "they", "them", "us", "me", "there", "here", "this", "that", "these"),
        *("ok", "okay", "yes", "please", "also", "now", "then", "so", "and", "or", "but", "if", "when", "while", "as"),
        *("actually", "instead", "again", "too", "well", "rather", "yet", "already", "after", "before", "with"),
        *("from", "than", "until", "per", "up", "down", "out", "new", "default", "current", "good", "moment", "time"),
        *("being", "sure", "because", "since", "which", "who", "let's", "i'd", "we'll", "i'll", "about", "via"),
        *("through", "over", "into", "onto", "using", "between", "without", "against", "hmm", "wait", "right", "first"),
        *("total", "general", "practice", "place", "code", "config", "configuration", "settings", "file", "files"),
        *("seconds", "minutes", "hours", "days", "ms", "sec", "percent", "future", "end", "start", "beginning"),
    }
)
_DATA_FILE = re.compile(r"\S+\.(?:toml|ya?ml|json|ini|env|cfg|conf|lock|properties)\Z|\.env\S*\Z", re.IGNORECASE)
# Headings that say what kind of thing is told, not of which thing.
_KIND_OF_HEADING = re.compile(
    r"(?i)\b(?:chang|done|summar|result|propos|plan|next|steps?\b|to ?do|notes?\b|decision|decid|fix|stat|config"
    r"|setting|value|what|how|default|current|final|updat|intent|constraint|error|example|detail|overview|option|work|left"
    r"|correct|important|remind|fyi|also|actual|wait|ok\b|okay|yes|no\b|but|please|sure|hmm)"
)
_MOST_KEY_WORDS, _MOST_SUBJECT_WORDS, _MOST_LABEL_WORDS = 4, 4, 3


def keys_in(text: str, lead: str = "") -> tuple[Key, ...]:
    """Return what a line gives a value to: `port` of `gateway` for `set the port of the gateway to 8081`.

    Args:
        text: the line.
        lead: what it stands under; a label names a thing of that (`timeout: 30` under `Upload`).

    """
    return tuple(dict.fromkeys(key for _, keys in keys_by_sentence(text, lead) for key in keys))


def keys_by_sentence(text: str, lead: str = "") -> Iterator[tuple[str, tuple[Key, ...]]]:
    """Yield each sentence of a line with what it gives a value to; `it` is what the sentence before speaks of."""
    heading = () if _KIND_OF_HEADING.search(lead) else _words(lead)
    # Of the sentence that `it` speaks of; most lines have no such word.
    topic_of = before = ""
    for sentence in sentences_of(text):
        goes_on = before.endswith(";") or _POINTS_BACK.match(sentence) is not None
        topic = next((words for is_scope, words in _phrases(topic_of) if not is_scope), ()) if goes_on else ()
        about = topic or heading
        found = [key if key.subject else replace(key, subject=about) for key in _given_in(sentence)]
        if not before and (label := _LABELLED.match(text)):
            scope = scope_around(text, label.start("key"), label.end("value"))
            files = _files_around(text, label.start("key"), label.end("value"))
            found += [key] if (key := _key(label["key"], (*heading, *scope), files)) else []
        yield sentence, tuple(dict.fromkeys(found))
        topic_of = topic_of if topic else sentence
        before = sentence


def gives_way(old: Key, new: Key) -> bool:
    """Return True if a value of `new` is one of the same thing: all that tells which thing is true of the old one.

    What says no more than that something changes is about whatever had the value. The limit in one file is not that in
    another; where only one of the lines names a file, it is.
    """
    if old.files and new.files and not any(_is_same_file(a, b) for a in old.files for b in new.files):
        return False
    return set(new.subject) <= set(old.subject) or (not old.subject and new.announced)


def clauses_of(sentence: str) -> list[str]:
    """Return the clauses of a sentence, with the marks and words that join them."""
    starts = [0, *(match.end() for match in _CLAUSE_END.finditer(sentence))]
    return [sentence[start:end] for start, end in zip(starts, (*starts[1:], None), strict=True)]


def scope_around(sentence: str, start: int, end: int) -> tuple[str, ...]:
    """Return the things that a part of a sentence is said to hold for: `web` for `... in web/`.

    The files that a value is set in (`in codes.toml`) are none.
    """
    clause = _clause(sentence, start, end)
    return (*clause.about, *_scope_in(clause.before), *_scope_in(clause.after))


def folded(word: str) -> str:
    """Return a word as it is compared: in small letters and in the singular."""
    word = word.casefold().strip("`'\".,:;/")
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def _is_same_file(one: str, other: str) -> bool:
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")


def _files_around(sentence: str, start: int, end: int) -> tuple[str, ...]:
    """Return the configuration files that the clause around a part of a sentence names."""
    clause = _clause(sentence, start, end)
    text = f"{clause.before} {sentence[start:end]} {clause.after}".replace("`", " ")
    return _unique(word for token in _TOKEN.finditer(text) if _DATA_FILE.match(word := token[0].casefold()))


def _given_in(sentence: str) -> Iterator[Key]:
    sentence = _POSSESSIVE.sub("", sentence)
    for match in _found(_GIVEN, sentence):
        around = sentence, match.start("key"), match.end()
        if key := _key(match["key"], scope_around(*around), _files_around(*around), sentence):
            yield key
    for match in _found(_HELD, sentence):
        clause = _clause(sentence, match.start(), match.end())
        # What listens on a number listens on a port.
        name = match.groupdict().get("key") or "port"
        subject = (*clause.about, *_holder(clause.before), *_scope_in(clause.after))
        if key := _key(name, subject, _files_around(sentence, match.start(), match.end()), sentence):
            yield key


def _found(forms: Iterable[tuple[tuple[str, ...], re.Pattern[str]]], sentence: str) -> Iterator[re.Match[str]]:
    small = sentence.lower()
    for literals, pattern in forms:
        if any(literal in small for literal in literals):
            yield from pattern.finditer(sentence)


def _key(phrase: str, subject: Iterable[str], files: tuple[str, ...], sentence: str = "") -> Key | None:
    """Return the key of a phrase such as `upload limit` or `port of the gateway`; None where it names no value."""
    head, *_ = re.split(rf" (?:{'|'.join(_OF)}|on|at) ", phrase, maxsplit=1, flags=re.IGNORECASE)
    rest = phrase[len(head) :]
    *front, head = re.split(r"\b(?:the|a|our) ", head, flags=re.IGNORECASE)
    words = [word for word in head.casefold().replace("`", "").split() if word not in _FILLERS]
    if not words or len(words) > _MOST_KEY_WORDS or words[-1] in (_ANY_THING | _OF | _AT_THE):
        return None
    about = (
        *(folded(word) for word in words[:-1] if word not in _STOP),
        *_scope_in(" ".join(front)),
        *_scope_in(rest),
        *subject,
    )
    name = folded(words[-1])
    told = _unique(word for word in about if word != name)
    return Key(name, told, announced=bool(_ANNOUNCES.search(sentence)), files=files)


@dataclass(frozen=True, slots=True)
class _Clause:
    """What stands around a part of a clause; `about` are the words of a label before it (`Gateway: ...`)."""

    before: str
    after: str
    about: tuple[str, ...] = ()


def _clause(sentence: str, start: int, end: int) -> _Clause:
    ends = list(_CLAUSE_END.finditer(sentence))
    starts = [0, *(match.end() for match in ends if match.end() <= start)]
    until = next((match.start() for match in ends if match.start() >= end), len(sentence))
    before, after = sentence[starts[-1] : start], sentence[end:until]
    if len(starts) == 1:
        return _Clause(before, after)
    previous = sentence[starts[-2] : starts[-1]].rstrip()
    if previous.endswith(":") and len(previous.split()) <= _MOST_LABEL_WORDS and not _KIND_OF_HEADING.search(previous):
        return _Clause(before, after, _words(previous))
    if not _is_adverbial(sentence[start:end]) and (not before.strip() or _is_adverbial(previous)):
        before = f"{previous.rstrip(',;:')} {before}"
    return _Clause(before, after)


def _is_adverbial(text: str) -> bool:
    first = _TOKEN.match(text)
    return first is not None and first[0].casefold() in (_OF | {"on", "with"})


def _holder(text: str) -> tuple[str, ...]:
    """Return the thing that a clause says something of, and what tells which one: `gateway` for `the gateway has`."""
    words = text.split()
    # A verb that is not known by name: `The gateway proxies`.
    if len(words) > 1 and re.fullmatch(r"[a-z]+[^s]s", words[-1]) and _TOKEN.fullmatch(words[-2]):
        known = words[-2].casefold()
        if known not in (_DETERMINERS | _OF | _AT_THE | _STOP) and not _is_verb(known, words[-1], 1, begins=True):
            text = " ".join(words[:-1])
    phrases = list(_phrases(text))
    plain = [words for is_scope, words in phrases if not is_scope]
    scopes = [word for is_scope, words in phrases if is_scope for word in words]
    return _unique((*(plain[0] if plain else ()), *scopes))


def _phrases(text: str) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Yield runs of words that name things, each with whether a preposition before it says what it holds for."""
    said = [token[0].casefold() for token in _TOKEN.finditer(text.replace("`", " "))]
    run: list[str] = []
    is_scope = False
    for at, (before, word, following) in enumerate(zip(("", *said), said, (*said[1:], ""), strict=False)):
        # Not a verb or adverb: `the update job`, `for nightly builds`.
        names_thing = before in _DETERMINERS or (is_scope and not run)
        if word in _OF | _AT_THE:
            opens_scope = word in _OF or following in _DETERMINERS
        elif word in _DETERMINERS:
            opens_scope = is_scope and not run
        elif (
            word in _STOP
            or _DATA_FILE.match(word)
            or (not names_thing and (word.endswith("ly") or _is_verb(word, following, at, begins=not run)))
        ):
            opens_scope = False
        else:
            run += [folded(word)] if any(map(str.isalpha, word)) else []
            continue
        yield from _run(run, is_scope=is_scope)
        run, is_scope = [], opens_scope
    yield from _run(run, is_scope=is_scope)


def _run(run: list[str], *, is_scope: bool) -> Iterator[tuple[bool, tuple[str, ...]]]:
    if run:
        yield is_scope, tuple(run[:_MOST_SUBJECT_WORDS])


def _is_verb(word: str, following: str, at: int, *, begins: bool) -> bool:
    """Return True for a common verb, and for a word that takes an object: `Expose the gateway`, `we write the page`."""
    if begins and following in _DETERMINERS:
        return True
    stems = {word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("d"), word.removesuffix("ing")}
    if at and not following and word.endswith(("ed", "ing")):
        return True
    return bool(stems & _VERBS)


def _scope_in(text: str) -> tuple[str, ...]:
    return _unique(word for is_scope, words in _phrases(text) if is_scope for word in words)


def _words(text: str) -> tuple[str, ...]:
    return _unique(word for _, words in _phrases(text) for word in words)


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
