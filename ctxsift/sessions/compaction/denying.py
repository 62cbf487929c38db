"""What a sentence of the user denies or leaves for later: `no SQLite please`, `let's not do that`, `the docs can wait`.

What is denied is a thing, or what was announced last. `No SQLite errors any more` denies neither: it reports.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ctxsift.sessions.compaction.values import clauses_of
from ctxsift.sessions.compaction.weights import ERROR


def _any_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LATER = re.compile(
    r"\b(?:next (?:week|month|sprint|year|time|quarter|release|iteration|milestone)|tomorrow|(?<!not )later(?! than)"
    r"|not (?:now|yet|today|this (?:week|sprint|month|time))|another (?:day|time)|some other (?:day|time)|some ?day"
    r"|(?:on|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day|after the (?:release|launch|weekend|holidays?|demo)"
    r"|in a (?:later|follow-?up|separate|second) \w+|in (?:a few|two|three|\d+) (?:days|weeks|months)|can wait"
    r"|(?:is|are) (?:of )?low(?:er)? priority"
    r"|(?<=\bleave it )for now)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![\w@/.#+'-])[\w@/.#+'-]*[\w/#+]")
_PART = re.compile(r"[/._-]+")
_SUFFIX = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)\Z")
_IF = re.compile(r"\W*(?:if|when|unless|once|whenever|should you)\b", re.IGNORECASE)
_IS_OUT = re.compile(
    r"(?P<thing>.+?)\s(?:is|are) (?:out|off|dead|overkill|off the table|no option|not an option|not needed|too much)\b"
    r"|(?P<other>.+?)\s(?:wo|is|are|does|do)n['’]t (?:do|work|fit|needed|an option)\b"
    r"|.*\bmy mind (?:about|on) (?P<doubted>.+)",
    re.IGNORECASE,
)
# Words that open a clause, and say nothing of what it denies.
FILLERS = _any_of(
    "no nope nah ok okay well hm hmm wait sorry actually but and so or please also oh yes yeah right good fine thanks"
    " hey just then maybe first rather better really still again all after perhaps simply you stop"
)
_SPEAKERS = _any_of("i we you let's lets i'd we'd i'll we'll it")
_MODALS = _any_of("should could would can will want need must to like d may said")
_NOT = _any_of("not don't dont never won't shouldn't mustn't cannot can't")
_DROPS = _any_of("forget skip drop scrap scratch ditch cancel abandon revert nix than without")
# Orders of work, too: `remove the debug prints again`, but not `delete the file`.
_REMOVES = _any_of("remove delete undo")
_DROPS_IN_TWO = frozenset(
    {("rule", "out"), ("leave", "out"), ("hold", "off"), ("do", "without"), ("go", "without"), ("never", "mind")}
    | {("get", "rid"), ("instead", "of")}
)
# They deny in a clause that has no verb.
_WITHOUT_VERB = _any_of("no not without")
_DELAYS, _TAKES = _any_of("postpone defer delay shelve park"), _any_of("leave take throw rip pull")
_AWAY, _BARE_NO = _any_of("out away off"), _any_of("no nope nah thanks way")
_RELATIVE = _any_of("that which who what how with where")
_THINKS = _any_of("think believe feel see")
# What is done with any thing: it does not tell which action is meant.
_DOING = _any_of(
    "do use using add want need go have make build create introduce install touch take bring include adopt pick choose"
    " put set try start switch bother let fix handle leave keep come look be is are get pull rely implement"
)
_PARTICLES = _any_of("with to for up on about in into back over out any more need")
POINTING = _any_of("that this it them those these so one")
DETERMINERS = _any_of("the a an our your my its their any another such more this that these those all some ever")
SCOPES = _any_of("for in on within inside during under of at")
_ENDS = SCOPES | _any_of(
    "with to as from by until because since so please any anymore then now here there yet again before after when if"
    " instead thanks thank too either ever longer though myself yourself today into like"
)
VERBS = _any_of("is are was were has have had does did can could should must would")
# No things: of their kind, or of none.
_NO_THING = _any_of(
    "problem problems worry worries rush hurry matter idea doubt issue question questions way reason need thing things"
    " less later longer only sure just even luck more necessary right wrong true yet now bad good much enough one point"
    " change changes because clue chance"
)
_EMPTY_WORDS = _any_of("stuff approach solution layer idea thing option plan support part based")
_KINDS_OF_NAME = _any_of("databas db server servic library packag tool engin backend")
_ANY = _any_of("new extra additional external other further separate whole own single")
_EVERYWHERE = _any_of(
    "project repo repository app application code codebase case moment this it that time start version session point"
    " all us me now first the a second thought thoughts fact addition general reflection"
)
_MOST_WORDS_OF_ADVERBIAL = 4
_BEFORE_ELLIPSIS = (_DOING | _SPEAKERS | POINTING) - {"so"}
_STATING = _SPEAKERS | DETERMINERS | POINTING | _any_of("go there")
SMALL_WORDS = FILLERS | DETERMINERS | _ENDS | _DOING


@dataclass(frozen=True, slots=True)
class Rejection:
    """What a sentence of the user rejects or puts off.

    Attributes:
        words: of the thing, as they are compared; none where it points to what was announced last.
        action: what is not to be done with it; empty where that is anything.
        scope: what it holds for alone: `session` in `no Redis for sessions`.
        puts_off: it is to be done, later.
        is_answer: a bare no, which answers a proposal; `is_of_question`: one that was asked as a question.

    """

    words: tuple[str, ...] = ()
    action: str = ""
    scope: tuple[str, ...] = ()
    puts_off: bool = False
    is_answer: bool = False
    is_of_question: bool = False


def rejections_in(sentence: str) -> Iterator[Rejection]:
    """Yield what a sentence of the user rejects or puts off; neither does a question, nor what depends on an `if`."""
    if sentence.rstrip().endswith("?") or _IF.match(sentence):
        return
    opens, goes_on, before = True, False, ""
    scope: tuple[str, ...] = ()
    for clause in clauses_of(sentence):
        words = words_of(clause)
        found = list(_rejected(clause, sentence, before, opens=opens, goes_on=goes_on))
        yield from (dataclasses.replace(each, scope=each.scope or scope) for each in found)
        # `In production, no Redis`.
        is_adverbial = bool(words) and words[0] in SCOPES and len(words) <= _MOST_WORDS_OF_ADVERBIAL
        scope = _scope(words) if is_adverbial else scope
        opens &= is_adverbial or FILLERS.issuperset(words) or "changed my mind" in clause
        goes_on, before = bool(found), clause


def _rejected(clause: str, sentence: str, before: str, *, opens: bool, goes_on: bool) -> Iterator[Rejection]:
    """Yield what a clause of a sentence rejects.

    Args:
        clause: to be read.
        sentence: that it stands in.
        before: the clause before it; empty where it is the first.
        opens: it may stand alone, or behind words that say nothing.
        goes_on: the clause before it rejects something.

    """
    words, said = words_of(clause), words_of(before)
    if opens and words and _BARE_NO.issuperset(words):
        following = words_of(sentence[sentence.find(clause) + len(clause) :])[:1]
        # `No, JSON files` answers a plan, `No, I meant the other one` perhaps a question.
        yield Rejection(is_answer=True, is_of_question=not _STATING.isdisjoint(following))
    elif _LATER.search(clause):
        yield from _put_off(clause, before if not opens and before.rstrip().endswith(":") else "", opens=opens)
    elif out := _IS_OUT.match(clause):
        yield from _things(words_of(out["thing"] or out["other"] or out["doubted"]))
    # What stands behind the last `instead of` was cut from an order that is not known.
    elif not (words[:2] in (["instead", "of"], ["rather", "than"]) and sentence.endswith(clause)):
        # `JSON please, no SQLite`, but not `the command is wrong, not the test`.
        elliptic = opens or goes_on or "please" in said or not _BEFORE_ELLIPSIS.isdisjoint(said[:1])
        yield from (_of_name(each, clause) for each in _denied(words, elliptic=elliptic))


def says_no_more_than_later(text: str) -> bool:
    """Return whether a text puts off what was spoken of, and says nothing else: `Not now.`."""
    return SMALL_WORDS.issuperset(words_of(_LATER.sub(" ", text)))


def _of_name(rejection: Rejection, clause: str) -> Rejection:
    """Return a rejection without the kind of a thing that has a name: `SQLite database` is `SQLite`."""
    names = {stem_of(word.casefold()) for word in _WORD.findall(clause) if re.search(r"\B[A-Z]|\d|_|\A[A-Z]", word)}
    words = tuple(word for word in rejection.words if word not in _KINDS_OF_NAME)
    return dataclasses.replace(rejection, words=words) if words and names.issuperset(words) else rejection


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters; `do not` is one."""
    text = re.sub(r"\b(that|it|this)'s\b", r"\1 is", text.replace("’", "'"), flags=re.IGNORECASE)
    text = re.sub(r"\bdo not\b", "don't", text, flags=re.IGNORECASE)
    return [word.strip(".'").casefold() for word in _WORD.findall(text)]


def stem_of(word: str) -> str:
    """Return a word as it is compared: `cache` for `cached` and `caches`."""
    return _SUFFIX.sub("", word) if word.isalpha() else word


def stems_of(text: str) -> set[str]:
    """Return the words of a text as they are compared; of names, their parts, too."""
    words = words_of(text)
    return {stem_of(part) for word in words for part in (word, *_PART.split(word)) if part}


def without_opening(words: Sequence[str]) -> tuple[list[str], bool]:
    """Return a clause from its first verb or thing on, and whether somebody is said to do something as a fact."""
    at = 0
    while at < len(words) and words[at] in FILLERS and words[at] not in ("no", "not", "stop"):
        at += 1
    speaks = at < len(words) and words[at] in _SPEAKERS
    modal = False
    while at < len(words) and words[at] in (_SPEAKERS | _MODALS | FILLERS) and words[at] not in ("no", "stop"):
        modal |= words[at] in _MODALS or words[at] in ("let's", "lets", "i'd", "we'd", "i'll", "we'll", "you")
        at += 1
    return list(words[at:]), speaks and not modal


def _denied(words: Sequence[str], *, elliptic: bool) -> Iterator[Rejection]:
    """Yield what a clause denies; `elliptic`: it may be one without a verb (`no Redis`)."""
    rest, _ = without_opening(words)
    if not rest or (rest[0] in _WITHOUT_VERB and not elliptic):
        return
    first, *rest = rest
    dropped, puts_off = _dropped(first, rest)
    if dropped is not None:
        yield from (dataclasses.replace(each, puts_off=puts_off) for each in _things(dropped))
    elif first in _DOING:
        yield from _left_out(first, rest)
    elif first in _REMOVES:
        # A name of one word may be a file, unless it is to go `again`.
        yield from (each for each in _things(rest) if len(each.words) + ("again" in rest) > 1)
    elif first in _NOT or (first == "stop" and rest and rest[0].endswith("ing")):
        yield from _action(rest, is_verb=first != "not")
    elif first == "no" and rest[:2] != ["more", "than"]:
        yield from _things_there(rest)


def _dropped(first: str, rest: list[str]) -> tuple[list[str] | None, bool]:
    """Return what follows a word that drops or delays it, None where the word does neither; and whether it delays."""
    if (first, *rest[:1]) in _DROPS_IN_TWO:
        return (rest[2:] if rest[1:2] in (["on"], ["about"], ["of"]) else rest[1:]), False
    if first in _DROPS:
        return (rest[1:] if rest[:1] == ["about"] else rest), False
    if first in _DELAYS or (first, *rest[:2]) in (("hold", "on", "with"), ("wait", "with")):
        return (rest[rest.index("with") + 1 :] if "with" in rest[:2] else rest), True
    return None, False


def _left_out(verb: str, rest: Sequence[str]) -> Iterator[Rejection]:
    """Yield what an order leaves out: `use no cache`, `do it without SQLite`, `JSON instead of SQLite`."""
    if rest[:1] == ["no"]:
        yield from _things(rest[1:])
    elif verb in _TAKES and (end := next((at for at, word in enumerate(rest) if word in _AWAY), 0)):
        yield from _things(rest[:end])
    for at, word in enumerate(rest):
        if tuple(rest[at : at + 2]) in (("instead", "of"), ("rather", "than")):
            yield from _things(rest[at + 2 :])
        elif word == "without" and at and _RELATIVE.isdisjoint(rest[:at]):
            yield from _things(rest[at + 1 :])


def _action(words: Sequence[str], *, is_verb: bool) -> Iterator[Rejection]:
    """Yield what `not ...` and `don't ...` reject: a thing, or what is done with it."""
    if words and words[0] in _THINKS:
        words, _ = without_opening(words[1:])
    if not words:
        yield Rejection()
        return
    first, *rest = words
    does = is_verb or first in _DOING or not (DETERMINERS | POINTING).isdisjoint(rest[:1])
    if first == "like":
        # `Not like that` names no thing.
        yield from _things(rest) if is_verb else ()
    elif not does or first in POINTING | DETERMINERS | {"no"}:
        yield from _things(words)
    else:
        verb = "" if stem_of(first) in map(stem_of, _DOING) else stem_of(first)
        while rest and rest[0] in _PARTICLES:
            rest.pop(0)
        if (FILLERS | _ENDS).issuperset(rest):
            yield Rejection((verb,) if verb else (), puts_off="yet" in rest or "now" in rest)
        else:
            yield from _things(rest, verb)


def _things_there(words: Sequence[str]) -> Iterator[Rejection]:
    """Yield the things behind a `no`, unless it reports: with a verb behind them, or of errors."""
    rest = list(words)
    while rest and rest[0] in ("need", "more", "for", "to", *_DOING):
        rest.pop(0)
    end = next((at for at, word in enumerate(rest) if word in _ENDS | VERBS), len(rest))
    if VERBS.isdisjoint(rest[end : end + 1]) and not ERROR.search(" ".join(rest[:end])):
        yield from _things(rest)


def _things(words: Sequence[str], action: str = "") -> Iterator[Rejection]:
    """Yield the things at the beginning of some words."""
    end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
    thing, after = words[:end], words[end:]
    if thing and thing[0] in POINTING and FILLERS.issuperset(thing[1:]):
        if list(after[:1]) != ["to"]:
            yield Rejection(action=action)
        return
    scope = _scope(after)
    for group in _split(thing):
        own = [word for word in group if word not in DETERMINERS | FILLERS | _ANY | _NOT]
        own = [word for word in own if word not in _EMPTY_WORDS] or own
        # Numbers are values, which have a rule of their own.
        if any(map(str.isalpha, "".join(own))) and not _NO_THING.issuperset(own):
            yield Rejection(tuple(map(stem_of, own)), action, scope)


def _split(words: Sequence[str]) -> Iterator[list[str]]:
    group: list[str] = []
    for word in (*words, "and"):
        if word in ("and", "or", "nor"):
            if group:
                yield group
            group = []
        else:
            group.append(word)


def _scope(words: Sequence[str]) -> tuple[str, ...]:
    found = []
    for at, word in enumerate(words):
        if word in SCOPES:
            found += [each for each in words[at + 1 :] if each not in _EVERYWHERE | _ENDS | DETERMINERS | FILLERS]
            break
    return tuple(map(stem_of, found))


def _put_off(clause: str, label: str, *, opens: bool) -> Iterator[Rejection]:
    """Yield what a clause leaves for later: `Fix that next week`, `the docs can wait`; none for a date of something."""
    if label:
        yield from (dataclasses.replace(each, puts_off=True) for each in _things(words_of(label)))
        return
    words, is_fact = _without_later(clause)
    content = [word for word in words if word not in _DOING | POINTING | DETERMINERS | FILLERS | _ENDS | _NOT]
    if is_fact and _DOING.isdisjoint(words):
        return
    if not content or (content == words[:1] and not POINTING.isdisjoint(words[1:2])):
        if opens or not POINTING.isdisjoint(words):
            yield Rejection(puts_off=True)
    elif not _tells_date(words, clause):
        # `Postpone the docs` names the docs alone.
        is_order = content[0] == words[0] and len(content) > 1 and words[1] in DETERMINERS
        yield Rejection(tuple(map(stem_of, content[is_order:])), puts_off=True)


def _without_later(clause: str) -> tuple[list[str], bool]:
    """Return the words of a clause without those that put it off, and whether it states a fact."""
    clause = re.sub(r"\b(?:can|could|should|will) come\b", " ", clause, flags=re.IGNORECASE)
    words, is_fact = without_opening(words_of(_LATER.sub(" ", clause)))
    around = ("for", "until", "something", "left", "work", "myself", "with")
    return [word for word in words if word not in around], is_fact


def _tells_date(words: Sequence[str], clause: str) -> bool:
    """Return True if a thing is said to do or be something later; `the docs are for next week` puts them off."""
    doing = _DOING.intersection(words)
    if words[0] not in DETERMINERS - POINTING or not doing:
        return False
    return not doing <= {"is", "are"} or not re.search(r"\b(?:is|are) (?:for|left)\b", clause)
