"""Variants of a corpus: the same cases with other names, numbers, hashes and times, drawn by a seed.

Whoever remembers a case answers a variant of it with the old names. What a tool prints of itself stays; what a project
brought along (folders, files, functions) gets other names of the same length, and everything that is compared with the
output (gold, anchors, statements, rules, the question) is changed alike.
"""

from __future__ import annotations

import functools
import hashlib
import random
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, timedelta
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from benchmark.cases import Case, Corpus
from benchmark.statements.vocabulary import is_common

_T = TypeVar("_T")

# Parts of names: `test_readTide` has test, read and Tide.
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PATH = re.compile(
    r"[\w.@+~-]*(?:/[\w.@+~-]+)+|\w+(?:::\w+)+|\b\w+(?:\.\w+){2,}"
    r"|[\w-]+\.(?:py|[jt]sx?|mjs|rs|go|cc?|cpp|hh?|hpp|java|kt|rb|php|pl|exs?|sql|ya?ml|json|toml|ini|cfg|md|sh|csv|vue)\b"
)
# Of a project, unless it ends as errors of languages do.
_IDENTIFIER = re.compile(
    r"(?!.*(?:Error|Exception|Warning|Fault)\b)(?:[a-z]+(?:_[a-z0-9]+)+|[A-Za-z]?[a-z]+(?:[A-Z][a-z0-9]+)+)(?:\(\))?"
)
# Folders of the machine, and of packages that others wrote.
_FOREIGN = re.compile(
    r"\A/?(?:usr|opt|lib|proc|sys|dev|etc/ssl|rustc|nix)/|-packages/|node_modules/|node:|internal/"
    r"|\A(?:javax?|jdk|sun|com\.sun|org\.(?:junit|apache|gradle|springframework|hibernate)|kotlin|scala|std|core|alloc)\b"
)
_SHORTEST, _SAME_STEM = 4, 4
_SORTED = re.compile(r"alphabetical|sorted|order(?:ed)? by name", re.IGNORECASE)
# Names that stand for what they are, in any project.
_CONVENTIONS = frozenset(
    re.findall(
        r"\w+",
        "test tests spec specs unit integration conftest fixture fixtures mock mocks src source sources main index "
        "init home user users root work build dist target debug release deps cache config configs conf setting "
        "settings setup make makefile readme changelog license package packages module modules vendor third party "
        "public static asset assets style styles component components page pages route routes router view views "
        "template templates model models schema schemas migration migrations seed seeds data database store stores "
        "storage service services server client clients handler handlers controller controllers middleware util "
        "utils helper helpers common core base shared types type error errors exception exceptions logger logging "
        "logs debugger include includes header scripts script tool tools docs document example examples sample "
        "samples demo local temp self item items list dict value values name names entry file files path paths "
        "line lines time date number count total parse parser read reader write writer load loader check checker "
        "validate create update delete remove start stop open close send receive http https json yaml toml html "
        "text plain java javascript typescript python rust perl ruby bash node react express django flask pytest "
        "unittest jest vitest mocha eslint ruff mypy cargo gradle maven cmake npm pnpm poetry docker compose "
        "kubectl kubernetes terraform postgres redis sqlite nginx github gitlab actions workflow workflows runner "
        "opentelemetry pyproject dockerfile gemfile rakefile tsconfig jsconfig playwright tailwind lock "
        "kustomization alloc libcore std stdlib lang concurrent futures asyncio threading thread future",
    )
)
_HASH = (
    r"(?<![0-9A-Za-z_])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])"
    r"(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,64})(?![0-9A-Za-z_])"
)
_TIME = r"(?<![\w:.])(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?![\w:])"
_DATE = r"(?<![\w-])20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?=[T_ ,;)\]\"']|$|-?\b(?![\w-]))"
_NUMBER = r"(?<![\w.,])\d{3,6}(?![\w]|\.\d|,\d|%)"
_DIGITS = re.compile(r"\d+")
# Escape codes end in a letter, and what logs escape begins with one.
_ESCAPE = r"\x1b\[[0-9;?]*[ -/]*[@-~]|\\u001b\[[0-9;]*m|\\[nrt]"
_TOKEN = re.compile(
    rf"(?P<escape>{_ESCAPE})|(?P<hash>{_HASH})|(?P<time>{_TIME})|(?P<date>{_DATE})|(?P<number>{_NUMBER})|(?P<part>{_PART.pattern})",
    re.MULTILINE,
)
# Numbers with a meaning of their own: states of HTTP, signals, ports, years, powers of two, round ones.
_MEANINGFUL = frozenset(
    map(str, [*range(100, 104), *range(200, 209), *range(300, 309), *range(400, 432), 451, 499, *range(500, 512)])
) | frozenset(
    map(str, [*range(125, 144), 255, *range(1970, 2041), 3000, 3306, 5000, 5173, 5432, 6379, 8000, 8080, 8443, 9090])
)
_POWERS = frozenset(str(2**n + d) for n in range(7, 20) for d in (-1, 0))
_DAY_SECONDS = 24 * 60 * 60
_ONSETS = (
    "b",
    "d",
    "f",
    "g",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "t",
    "v",
    "z",
    "br",
    "dr",
    "gr",
    "kl",
    "kr",
    "pl",
    "tr",
)
_VOWELS = "aeiou"
_PUNCTUATION = "".join(sorted(set(string.punctuation) - {"_", "-", "/"}))


@dataclass(frozen=True)
class Renaming:
    """What one capture's names and numbers become.

    Attributes:
        words: part of a name, in lower case -> another of the same length.
        numbers: which numbers grow, as they are written.
        growth: by how much.
        seconds, days: by how much times and dates are later (or earlier).
        digits: hexadecimal digit -> another of its kind.

    """

    words: Mapping[str, str]
    numbers: frozenset[str]
    growth: int
    seconds: int
    days: int
    digits: Mapping[int, str]

    def __call__(self, text: str) -> str:
        """Return a text with all of them changed."""
        return _TOKEN.sub(self._other, text)

    def _other(self, found: re.Match[str]) -> str:
        token = found.group()
        if found.lastgroup == "escape":
            return token
        if found.lastgroup == "part":
            return _in_case_of(token, self.words.get(token.lower(), token))
        if found.lastgroup == "hash":
            return token.translate(self.digits)
        if found.lastgroup == "number":
            return str(int(token) + self.growth) if token in self.numbers else token
        if found.lastgroup == "time":
            return _clock(_seconds(token) + self.seconds)
        try:
            return str(date.fromisoformat(token) + timedelta(days=self.days))
        except ValueError:  # the 31st of a month that has none
            return token


def variant_of(corpus: Corpus, seed: int) -> Corpus:
    """Return the variant of a corpus that a seed draws: the same ids, other names and numbers."""
    renamings = {name: _renaming(cases, seed) for name, cases in _by_capture(corpus.cases).items()}
    cases = tuple(_changed(case, renamings[case.capture.name]) for case in corpus.cases)
    sha256 = hashlib.sha256(f"{corpus.sha256} variant {seed}".encode()).hexdigest()
    return Corpus(Path(f"variant:{seed}"), cases, sha256)


def _by_capture(cases: Iterable[Case]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.capture.name, []).append(case)
    return found


def _changed(case: Case, renaming: Renaming) -> Case:
    """Return a case with everything changed that a model sees or that its answer is compared with."""
    return replace(
        case,
        capture=replace(case.capture, command=renaming(case.capture.command)),
        raw_input=renaming(case.raw_input),
        instruction=renaming(case.instruction),
        expected_output=renaming(case.expected_output),
        alternatives=_mapped(case.alternatives, renaming),
        required_anchors=_mapped(case.required_anchors, renaming),
        derived_anchors=_mapped(case.derived_anchors, renaming),
        rules=_mapped(case.rules, renaming),
        statements=_mapped(case.statements, renaming),
        must_not=_mapped(case.must_not, renaming),
        known=_mapped(case.known, renaming),
    )


def _compared(case: Case) -> Iterator[str]:
    """Yield what answers are compared with, and the question."""
    anchors = (*case.required_anchors, *case.derived_anchors)
    yield from _texts((case.instruction, *case.references, *anchors, case.rules, case.statements, case.must_not))


def _mapped(value: _T, renaming: Renaming) -> _T:
    """Return a value with every text in it changed."""
    found: Any = value
    if isinstance(value, str) and not isinstance(value, Enum):
        found = renaming(value)
    elif isinstance(value, tuple):
        found = tuple(_mapped(item, renaming) for item in value)
    elif is_dataclass(value) and not isinstance(value, type):
        found = replace(value, **{f.name: _mapped(getattr(value, f.name), renaming) for f in fields(value)})
    result: _T = found
    return result


def _texts(value: Any) -> Iterator[str]:
    """Yield every text within a value."""
    if isinstance(value, str) and not isinstance(value, Enum):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _texts(getattr(value, each.name))


def _renaming(cases: Sequence[Case], seed: int) -> Renaming:
    capture, raw_input = cases[0].capture, cases[0].raw_input
    rng = random.Random(f"{seed} {capture.name}")
    compared = [text for case in cases for text in _compared(case)]
    texts = [raw_input, capture.command, *compared]
    words = _project_words(cases, compared)
    if any(_SORTED.search(case.instruction) for case in cases):
        words = []
    numbers = _plain_numbers(raw_input, texts, capture.exit_code)
    # A count that gold adds up would no longer be the sum of what it counts.
    if any(_DIGITS.search(anchor) for case in cases for anchor in case.derived_anchors):
        numbers = frozenset()
    times = [_seconds(found.group()) for text in texts for found in re.finditer(_TIME, text)]
    return Renaming(
        words=_other_words(words, texts, rng),
        numbers=numbers,
        growth=rng.randint(11, 89),
        seconds=_shift(times, rng),
        days=rng.choice([-1, 1]) * 7 * rng.randint(1, 20),
        digits=_cipher(rng),
    )


def _project_words(cases: Sequence[Case], compared: Sequence[str]) -> list[str]:
    """Return the parts of a project's own names, in lower case, sorted."""
    capture, raw_input = cases[0].capture, cases[0].raw_input
    program = capture.command.split()[:1]
    anchors = [anchor for case in cases for anchor in case.required_anchors]
    found: set[str] = set()
    foreign = set(map(str.lower, _PART.findall(" ".join([capture.tool, *program]))))
    for path in chain(_PATH.findall(re.sub(_ESCAPE, " ", raw_input)), filter(_IDENTIFIER.fullmatch, anchors)):
        parts = {part.lower() for part in _PART.findall(path)}
        if _FOREIGN.search(path):
            foreign |= parts
        else:
            found |= parts
    found = {word for word in found - foreign - _CONVENTIONS if len(word) >= _SHORTEST and not is_common(word)}
    # Where prose inflects a word, the other one would no longer fit.
    prose = {part.lower() for text in compared for part in _plain_words(text)}
    return sorted(w for w in found if not any(w[:_SAME_STEM] == p[:_SAME_STEM] and w != p for p in prose))


def _plain_words(text: str) -> Iterator[str]:
    """Yield the words of a text that are no part of a name."""
    for token in text.split():
        bare = token.strip(_PUNCTUATION).removesuffix("'s")
        if bare.isalpha() and (bare.islower() or bare.istitle()):
            yield bare
        elif re.fullmatch(r"[a-z]+(?:-[a-z]+)+", bare):
            yield from bare.split("-")


def _plain_numbers(raw_input: str, texts: Sequence[str], exit_code: int | None) -> frozenset[str]:
    """Return the numbers of the input that are numbers wherever they stand, and that mean nothing by themselves."""
    found = {match.group() for match in _TOKEN.finditer(raw_input) if match.lastgroup == "number"}
    found = (
        {n for n in found if not n.endswith("00") and not n.startswith("0")} - _MEANINGFUL - _POWERS - {str(exit_code)}
    )
    elsewhere: set[str] = set()
    for text in texts:
        whole = {match.span() for match in _TOKEN.finditer(text) if match.lastgroup == "number"}
        elsewhere |= {m.group() for m in _DIGITS.finditer(text) if m.span() not in whole}
    return frozenset(found - elsewhere)


def _other_words(words: Sequence[str], texts: Sequence[str], rng: random.Random) -> dict[str, str]:
    taken = {part.lower() for text in texts for part in _PART.findall(text)}
    stems = {word[:_SAME_STEM] for word in taken}
    found: dict[str, str] = {}
    for word in words:
        other = next(
            each
            for each in iter(functools.partial(_made_up, len(word), rng), "")
            if each[:_SAME_STEM] not in stems and not is_common(each)
        )
        found[word] = other
        stems.add(other[:_SAME_STEM])
    return found


def _made_up(length: int, rng: random.Random) -> str:
    """Return a word that can be said and means nothing."""
    word = ""
    while len(word) < length:
        word += rng.choice(_ONSETS) + rng.choice(_VOWELS)
    return word[:length]


def _in_case_of(token: str, word: str) -> str:
    if token.islower() or not token:
        return word
    return word.upper() if token.isupper() and len(token) > 1 else word[0].upper() + word[1:]


def _seconds(clock: str) -> int:
    hours, minutes, seconds = map(int, clock.split(":"))
    return 3600 * hours + 60 * minutes + seconds


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def _shift(times: Sequence[int], rng: random.Random) -> int:
    """Return by how many seconds all times can be moved within their day: whole minutes, so that rounding stays."""
    if not times:
        return 0
    least, most = -min(times) // 60 + 1, (_DAY_SECONDS - 1 - max(times)) // 60
    return 60 * rng.randint(least, most) if least <= most else 0


def _cipher(rng: random.Random) -> dict[int, str]:
    """Return other hexadecimal digits: figures for figures, letters for letters."""
    found: dict[int, str] = {}
    for kind in ("0123456789", "abcdef"):
        others = list(kind)
        rng.shuffle(others)
        found |= {ord(a): b for a, b in zip(kind, others, strict=True)}
    return found
