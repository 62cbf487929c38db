"""The words of prose about software: stems, words that say the same, words that deny.

Everything is a lookup; the same word always gives the same norm.
"""

from __future__ import annotations

import functools

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")


def _words(words: str) -> list[str]:
    return words.split()


_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        _words(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
            "seventeen eighteen nineteen twenty"
        )
    )
}
# The base of a verb and its irregular forms, and nouns made of it.
_IRREGULAR_ROWS = (
    "be is are was were been being am; break broke broken; bring brought; build built; buy bought",
    "cancel cancelled cancelling canceled canceling cancellation; catch caught; choose chose chosen; come came",
    "cut cutting; die died dying dead; differ difference different; do does did done; fail failure failing",
    "fall fell fallen; find found; forget forgot forgotten; get got gotten; give gave given; go goes went gone",
    "hang hung; have has had; hide hid hidden; hit hitting; hold held; keep kept; know knew known; lead led",
    "leave left; let letting; lose lost loss; make made; mean meant",
    "misspell misspelt misspelled misspelling mis-spelled; overwrite overwrote overwritten; rebuild rebuilt",
    "rewrite rewrote rewritten; undo undid undone; withdraw withdrew withdrawn; panic panicked panicking panics",
    "pay paid; put putting; read reading reads; refuse refusal; reject rejection; remove removal; rise rose risen",
    "run ran running; say said; see saw seen; send sent; set setting; shut shutting; speak spoke spoken; spell spelt",
    "split splitting; stand stood; succeed success successful successfully; swap swapped; take took taken; tell told",
    "think thought; throw threw thrown; understand understood; write wrote written",
)
_IRREGULAR = {form: row.split()[0] for line in _IRREGULAR_ROWS for row in line.split("; ") for form in row.split()[1:]}
# One class a row: words that say the same about software. Opposites are in different rows.
_EQUIVALENT_WORDS = (
    "fail break",
    "succeed pass green",
    "miss absent lack",
    "because since due owing",
    "before prior preceding beforehand",
    "after following afterwards subsequently",
    "stop halt abort cease",
    "require need demand want",
    "reject refuse decline deny rebuff",
    "differ mismatch disagree",
    "conflict clash collide incompatible irreconcilable",
    "delete remove drop erase",
    "use utilise utilize employ",
    "change modify alter edit",
    "create generate produce",
    "exceed surpass above beyond over",
    "below beneath under",
    "duplicate duplicated twice",
    "unknown unrecognised unrecognized unfamiliar",
    "expire lapse",
    "start begin launch",
    "throw raise",
    "call invoke",
    "contain include",
    "wrong incorrect",
    "same equal identical",
    "allow permit",
    "only merely solely just",
    "skip omit",
    "replace substitute supersede",
    "misspell mistype typo misspelled mistyped",
    "revert rollback",
    "undefined undeclared",
    "percent %",
    "ms millisecond msec",
    "s second sec",
    "min minute",
    "h hour",
    "kb kilobyte",
    "mb megabyte",
    "gb gigabyte",
)

# A term `~missing` stands for all phrases of that family; `!find` is "find" under a negation.
_FAMILY_ROWS = {
    "conflict": (
        "conflict|clash|incompatible|contradict|inconsistent|exclude|mismatch|!match|disagree|differ|"
        "!satisfy|!fit|irreconcilable|rule out|collide|!agree|odds|!reconcile|!overlap|!compatible"
    ),
    "failed": (
        "fail|failure|break|crash|abort|die|stop|error|go wrong|went wrong|red|trip|choke|collapse|!pass|"
        "!succeed|!work|!complete|!finish|give up|quit|blow up|fault|stumble"
    ),
    "missing": (
        "missing|miss|absent|lack|!find|!exist|nonexistent|non-existent|unavailable|!available|gone|"
        "nowhere|not there|not present|no such|!contain|!include|!have|!see|!list|left out|omit|not among|"
        "unknown|unrecognised|undefined|undeclared|unresolved|!resolve|!define|!declare|!provide|!supply|"
        "!locate|forget"
    ),
    "passed": (
        "pass|succeed|green|go through|complete|finish|!fail|no failure|0 failures|"
        "no errors|without errors|all well|in order|nothing fail|none fail|come through|sound"
    ),
    "required": ("need|require|demand|want|expect|ask|depend|insist|call for|rely|must have"),
    "skipped": (
        "skip|!run|!execute|leave out|left out|ignore|never ran|omit|exclude|pass over|!start|!test|!build|"
        "!attempt|!reach"
    ),
}
FAMILIES = {f"~{name}": tuple(row.split("|")) for name, row in _FAMILY_ROWS.items()}


@functools.lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    low = word.lower().replace("’", "'")
    base = _IRREGULAR.get(low) or _IRREGULAR.get(low.removesuffix("s"), low)
    return str(_STEMMER.stemWord(base))


def _classes() -> dict[str, str]:
    found = {}
    for row in _EQUIVALENT_WORDS:
        first, *others = row.split()
        for word in (first, *others):
            found[_stem(word)] = _stem(first)
    return found


_CLASS = _classes()


@functools.lru_cache(maxsize=16384)
def norm_of(word: str) -> str:
    """Return what a plain word is compared by: a digit for a number word, else the stem of its class."""
    low = word.lower()
    if low in _NUMBER_WORDS:
        return _NUMBER_WORDS[low]
    stem = _stem(word)
    return _CLASS.get(stem, stem)


@functools.cache
def verb_norms() -> frozenset[str]:
    """Return the norms of the verbs that the tables know, auxiliaries among them."""
    return frozenset(norm for norm in common_norms() | GOES_ON | _VERBS if norm not in _NO_VERBS)


@functools.cache
def common_norms() -> frozenset[str]:
    """Return the norms of all words that the tables know: they are no names."""
    return frozenset(_CLASS.values()) | frozenset(map(norm_of, _IRREGULAR.values()))


def is_common(word: str) -> bool:
    """Say whether a word is one that everybody uses, of software or otherwise."""
    return norm_of(word) in common_norms() or word.lower() in FUNCTION_WORDS


def norms_of(words: str) -> frozenset[str]:
    """Return the norms of words with blanks between them."""
    return frozenset(map(norm_of, words.split()))


_VERBS = norms_of(
    "compare define declare import export stay remain return print report show warn complain expect get hold load "
    "compile link resolve install download update apply commit merge accept open close connect crash exit abort catch "
    "point refer depend belong affect cause lead trigger happen occur work appear seem try attempt retry ignore match "
    "parse check fetch serve restart publish assert log mark name ask answer use exist"
)
_NO_VERBS = norms_of(
    "because before after above over below beneath under duplicate twice unknown wrong same only undefined percent ms "
    "s min h kb mb gb that which who whose"
)
BECAUSE = norm_of("because")
NEGATORS = norms_of("not no never none neither nor without cannot nothing nobody hardly zero unable nowhere")
NO_WORDS = norms_of("no none neither nor nothing nobody")
# A negation does not reach beyond these.
BARRIERS = norms_of("but because so while although though whereas then which when after until and as if")
# What may stand between a negation and its verb, and says nothing.
AUXILIARIES = norms_of("be do have can could will would should may might must get being even ever")
CLAUSE_WORDS = norms_of("and while but whereas although though yet whilst")
# After a comma, these go on with the subject before it.
GOES_ON = norms_of("is has did can could will would should may might must cannot which that who whose")
FUNCTION_WORDS = frozenset(
    _words(
        "the a an and or but of in at on to for with from by is are was were be been has have had not no it its this "
        "that which because since so as while when than only both all into over after before does do did can could "
        "cannot there their they he she who whose where if then still also just nor neither per via without between "
        "against until one n't will would should must may might these those through during under upon about"
    )
)
