"""How much a line matters, by cues. A cue only weighs: every line of user and agent is a candidate.

What is recent does not weigh more: a summary made so forgets what was agreed early.
"""

from __future__ import annotations

import re

from ctxsift.sessions.compaction.lines import MessageLine

INTENT, CONSTRAINTS, DECISIONS = "Intent", "Constraints", "Decisions"
ERRORS, STATE, NEXT = "Errors and fixes", "State", "Next steps"
SECTIONS = (INTENT, CONSTRAINTS, DECISIONS, ERRORS, STATE, NEXT)


class Cue:
    """Words that tell something of a line.

    Every line is searched for many. In small letters that takes a third of the time that it takes to ignore case.

    Attributes:
        pattern: of a regular expression, in small letters.

    """

    def __init__(self, *patterns: str) -> None:
        self.pattern = r"(?<!\w)(?:" + "|".join(patterns) + r")(?!\w)"
        self._compiled = re.compile(self.pattern)

    def search(self, text: str) -> bool:
        """Return True if one of the words stands in a text, in letters of any size."""
        return self._compiled.search(text.lower()) is not None


REASON = Cue(
    *("because", "since", "so that", "instead of", "rather than", "root cause", "that's why", "which is why", "due to"),
    *("turns? out", "otherwise", "trade-?offs?", "the point is", "caused by", "in order to", "to avoid", "reasons?"),
    "the (?:real |actual |main |root )?(?:issue|problem|cause|reason|bug) (?:is|was)",
)
DECISION = Cue(
    *("decided?", "decision", "chose", "chosen", "agreed", "going with", "go with", "opted", "settled on", "approach"),
    *("strategy", "stays?", "keep(?:s|ing)?", "replaced?", "moved?", "renamed?", "switched", "uses?", "no longer"),
    *("removed?", "design", "plan"),
)
ERROR = Cue(
    *(
        "errors?",
        r"\w+(?:error|exception)",
        "fail(?:s|ed|ing|ure|ures)?",
        "bugs?",
        "crash(?:es|ed)?",
        "broken?",
        "breaks",
    ),
    *("fix(?:es|ed|ing)?", "wrong", "incorrect", "missing", "race condition", "enoent", "regression", "undefined"),
    *("cannot", "can't", "couldn't", "does(?:n't| not) work", "didn't", "panic", "timeout", "leak(?:s|ed)?", "issue"),
)
DONE = Cue(
    *("done", "completed?", "finished", "implemented", "added", "created", "updated", "committed", "commit", "working"),
    *("pass(?:es|ed)?", "works?", "verified", "merged", "released", "now", "ready", "deleted", "clean", "branch"),
)
NEXT_CUE = Cue(
    *(
        "next (?:steps?|up|task|phase|is|we|:)",
        "todos?",
        "to do",
        "remaining",
        "remains",
        "left to",
        "not yet",
        "later",
    ),
    *("still (?:need|to|have)", "follow[- ]?up", "pending", "tomorrow", "upcoming", "unfinished"),
    "open (?:question|task|item|issue)s?",
)
_BANS = (
    *("never", "always", "don'?t", "do not", "must(?:n't| not)?", "only", "without", "shouldn't", "no more", "avoid"),
    *("at least", "at most", "exactly", "nothing else", "not", "make sure", "prefer", "has to", "have to", "keep"),
)
BAN = Cue(*_BANS)
ORDER = Cue(
    *_BANS,
    *(
        "no",
        "nothing",
        "should",
        "ensure",
        "stop",
        "instead",
        "please",
        "remember",
        "needs? to",
        "want",
        "wanna",
        "use",
    ),
    "leave",
)
_ANNOUNCED = re.compile(
    r"(?:(?:now|ok(?:ay)?|good|great|perfect|alright|right|yes|first|next|also|actually|hmm|wait|and)[,.!: ]+)*"
    r"(?:let me|let's|i'll|i will|i'm going to|i need to|i should|now i|checking|looking|reading|going to)\b",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?:ok(?:ay)?|good|great|perfect|excellent|sure|yes|yep|done|thanks?|you'?re (?:absolutely )?right|got it|wow"
    r"|alright|(?:hello|hi|hey)(?: there| all)?|understood|works?)\W*\Z"
    r"|(?:would you like|want me to|shall i|should i|do you want|let me know|ready to)\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:[{}()\[\];]|at \w|//|/\*|import |export |from \w+ import|const |let |def |class |\$ |>>>|<\w|[│├└─┌|+]"
    r"|.*[;{]\s*\Z)"
)
# Output that somebody pasted.
_PASTED = re.compile(
    r".*(?:\\n|\\\"|\":)|\W*(?:errno|code|syscall|path|stack|node\.js v\S+)\b\W|\s*at \S+ \(|\W*[\w.-]+[$#%>]\s*\Z"
    r"|\([\w ]+: \S+\)\Z",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\W*(?:options?\b|alternatives?\b|pros\b|cons\b|benefits\b|advantages?\b)", re.IGNORECASE)
_GAINS = ((REASON, 1.5), (ERROR, 0.8), (DECISION, 0.7), (NEXT_CUE, 0.5), (DONE, 0.4))
_LOSSES = ((_POLITE, 2.5), (_CODE, 2.0), (_PASTED, 3.0))
_NAME = re.compile(
    r"`[^`\n]{2,80}`|(?<!\w)(?:[\w@~.-]{0,200}/)+[\w.@-]+|\b\w+(?:[.-]\w+)+\b|\b\w*_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z][A-Z_]{3,}\b"
    r"|#?\b(?=[\w-]{0,100}\d)[\w-]+(?:\.\d+)*%?"
)
_WORD = re.compile(r"\w+")


def names_in(text: str) -> tuple[str, ...]:
    """Return paths, identifiers, quoted code and numbers of a line, each once, without quotes."""
    return tuple(dict.fromkeys(found.strip("`.,:;") for found in _NAME.findall(text)))


def section_of(line: MessageLine) -> str:
    """Return the heading that a line belongs under."""
    text = f"{line.lead}: {line.text}" if line.lead else line.text
    if line.is_row:
        return STATE
    if line.by_user:
        return CONSTRAINTS if line.is_reply or BAN.search(line.text) else INTENT
    if NEXT_CUE.search(line.lead) or (not line.is_report and NEXT_CUE.search(text)):
        return NEXT
    if REASON.search(text):
        return DECISIONS
    if ERROR.search(text):
        return ERRORS
    if NEXT_CUE.search(text):
        return NEXT
    return DECISIONS if DECISION.search(text) and not DONE.search(text) else STATE


def weight_of(line: MessageLine, names: int) -> float:
    """Return how much a line with so many names matters; about 0 for an announcement, above 6 for a reason."""
    text = line.text
    words = len(_WORD.findall(text))
    weight = 1.0 + 0.4 * min(names, 5) + _weight_of_speaker(line)
    weight += sum(gain for cue, gain in _GAINS if cue.search(text))
    weight -= sum(loss for cue, loss in _LOSSES if cue.match(text))
    if not line.by_user:
        weight -= 2.5 if _ANNOUNCED.match(text) else 0.0
        weight -= 1.0 if text.endswith("?") else 0.0
        weight -= 1.0 if _OPTION.match(line.lead) or _OPTION.match(text) else 0.0
    if line.in_code or line.is_row:
        weight -= 3.0
    if words < 4:
        weight -= 1.0
    elif words < 7 and not names:
        weight -= 0.5
    return weight


def _weight_of_speaker(line: MessageLine) -> float:
    """Return what a line gains by who says it: the user, who may order or forbid something, or a report of an agent."""
    if not line.by_user:
        return 1.5 if line.is_report else 0.0
    return 1.0 + (1.5 if line.is_reply or ORDER.search(line.text) else 0.0) + (0.5 if BAN.search(line.text) else 0.0)
