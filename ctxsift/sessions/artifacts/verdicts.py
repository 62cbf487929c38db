"""How a check ended, by its output alone: what it counted, what it said of itself, what filters may have cut away."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ctxsift.sessions.artifacts.outcomes import blamed_line, ends, key_line
from ctxsift.sessions.artifacts.records import CheckKind, CheckState

# What summaries count. The first class that fits names a word.
_CLASSES = {
    "fault": r"fail(?:ed|ing|ures?|s)?|err(?:ors?\b|or\(s\)|ored)|crash(?:ed|es)|cancell?ed|broken|timed out"
    r"|interrupted|invalid|aborted|did not run|(?:uncaught )?exceptions?|rejections?",
    "good": r"pass(?:ed|ing|es)?|succeeded|success(?:ful)?|ok|xfailed",
    "idle": r"skip(?:ped|s)?|pending|pendings|ignored|todo|disabled|excluded|incomplete|omissions|omitted|not run",
    "total": r"(?:total )?tests?(?: cases?| run| completed)?|doctests?|propert(?:y|ies)|examples?|specs?|scenarios?"
    r"|runs?|total|completed|executed",
    "finding": r"problems?|issues?|offenses?|violations?",
    "warning": r"warnings?\b|warning\(s\)",
    "other": r"assertions?|measured|filtered out|deselected|flaky|xpassed|rerun|snapshots?|expect\(\) calls"
    r"|files?(?: inspected)?|suites?|features?|steps?|unexpected",
}
_CLASS = re.compile("|".join(f"(?P<{name}>{words})" for name, words in _CLASSES.items()), re.IGNORECASE)
_WORD = "(?:" + "|".join(_CLASSES.values()) + r")(?!\w)"
_NOUN = r"(?:(?:unhandled|tests?|test cases?|examples?|specs?|files?|suites?|hooks?|features?|scenarios?) )?"
# `3 failed`, `2 tests failed`; `Failures: 1`, `failures=1`, `fail 1`.
_BEFORE = rf"\d+ +{_NOUN}{_WORD}"
_BEHIND = rf"{_WORD}(?:\s*[:=]\s*|\s+)\d+(?!\.?\d|%|\s+(?:of\b|{_NOUN}{_WORD}(?!\s*[:=])))"
_COUNT = re.compile(
    rf"(?<![\w.])(?:(\d+) +{_NOUN}({_WORD})|({_WORD})(?:\s*[:=]\s*|\s+)(\d+)"
    rf"(?!\.?\d|%|\s+(?:of\b|{_NOUN}{_WORD}(?!\s*[:=]))))",
    re.IGNORECASE,
)
_LABEL = (
    r"(?:tests?|test files|test suites|suites|(?:type )?errors|executed(?: \d+ of(?: \d+)?)?"
    r"|found|ran|all|test summary|snapshots"
    r"|summary ?\[[^\]]*\]|totals?|test run with|(?:\w+ [\d.]+ )?compiled with"
    r"|vitest caught|test result|result|ok|failed|passed|skipped|info|error"
    r"|warn(?:ing)?|\d+% tests passed)(?!\w)"
)
# A line that is a summary begins with a count; names of tests and logs hold numbers as well.
_SUMMARY = re.compile(
    rf"[\W_ℹ]*(?:{_LABEL}[\W_]*){{0,3}}(?:{_BEFORE}|{_BEHIND})"
    r"(?=\W*$|\s*[,;|()\[.:=]|\s+(?:\d|(?:in|of|out|with|and|to|during|after|across)\b))",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d")
_PASS_MARK = re.compile(r"^\s*(?:[✓✔√]|ok \d|PASS\b|--- PASS)")

_FAILED = re.compile(
    r"^[ \t]*(?:FAILED|FAIL|--- FAIL|FAILURES|ERRORS)(?=[\s!:(|]|$)(?!\W*0\b)|^[ \t]*Failed(?:!| tests?:)"
    r"|\*\* \w+ FAILED \*\*|\bBUILD FAIL(?:ED|URE)\b|^(?![ \t]*[✓✔√]).*\bFAILED[ \t]*(?:\[ *\d+%\])?$"
    r"|\bBuild (?:FAILED|failed)\b|Test Run Failed|tests? FAILED\b|[Ss]uite failed to run|Some tests failed"
    r"|evaluation failed|FAIL code \d"
    r"|^Result: FAIL|test result: FAILED|^Bail out!|\*\*\*(?:Failed|Timeout|Exception|Not Run)|\b[1-9]\d* of \d+ failed"
    r"|^[ \t]*not ok\b(?!.*# *(?i:todo|skip))|^[ \t]*[✗✘×✖✕][ \t]+(?!\d)\S"
    r"|^[ \t]*# +Failed test|(?<!\.)\.{3,}(?:\(.*\))?Failed$"
    r"|^npm (?:ERR!|error)|ERR_PNPM|ELIFECYCLE|error Command failed|^make(?:\[\d+\])?: \*\*\*|error TS\d+"
    r"|^error(?:\[E\d+\])?: (?:could not compile|test failed|\d+ targets? failed|process didn't exit)"
    r"|\bERROR collecting|INTERNALERROR|Interrupted: \d+ error|^E\s{2,}\w|Unhandled (?:Error|Rejection)s? ⎯"
    r"|^rspec \S+:\d+ # |An error occurred while loading|^rake aborted!"
    r"|build failed, waiting"
    r"|^(?:> )?There (?:were failing tests|(?:was|were) [1-9]\d* (?:failure|error))|test run was aborted"
    r"|Dubious, test returned"
    r"|^ESLint couldn't find|^Could not find gem|^\*\* \(\w+Error\)"
    r"|^nox > .* failed"
    r"|(?i:compilation error\b)|PHP (?:Fatal|Parse) error|Code style issues"
    r"|Segmentation fault|SIGSEGV|SIGABRT|core dumped|^Killed$|Failed to compile|Compilation failed"
    r"|Oops! Something went|[Ee]xit(?:ed with)? (?:code|status):? [1-9]"
    r"|[1-9]\d* files? would be reformatted"
    r"|(?i:coverage\b.*\b(?:not met|not reached|not meet|below|less than|failure|failed|not found))|SimpleCov failed"
    r"|Rule violated for",
    re.MULTILINE,
)
# What fails a linter, a type checker or a build; in the output of tests it can be what they log.
_FINDING = re.compile(
    r"^(?!\d+\.)(?=[\w@+-]*[./])[\w./@+-]+:\d+(?::\d+)?:(?!\s*\[?(?i:\w*warning|note|info|hint|help)|$)\s*\S"
    r"|^[ \t]*\d+:\d+[ \t]+error\b|^[ \t│╷|]*\[?(?:error|fatal|Error|ERROR|FATAL)(?:\[\w+\]| \w+\d+|\])?:? \S"
    r"|[:-] (?:fatal )?error(?: \w+\d+)?: |undefined reference to|^In \S+ line \d+:$",
    re.MULTILINE,
)
# What programs say when they have gone well as a whole.
_PASSED = re.compile(
    r"^OK(?:$| \(|, but)|\bBUILD SUCCESS|\*\* \w+ SUCCEEDED \*\*|^100% tests passed(?!.* out of 0$)"
    r"|\b[Aa]ll (?:\d+ )?(?:tests|specs) passed|All tests successful|^Result: PASS"
    r"|Test Run Successful|congratulations :\)"
    r"|^=*[ \t]*(?:\d+ \w+, )*[1-9]\d* passed\b.* in [\d.]+|Success: no issues found|All checks passed!",
    re.MULTILINE,
)
# Where a line says so, the rest is not all there is.
_DOUBT = re.compile(r"^(?![ \t]*[✓✔√]).*(?<!\b0 )\bFAIL(?:ED|URE)?\b(?!\W*0\b)", re.MULTILINE)
_BUILT = re.compile(
    r"[Cc]ompiled successfully|✓ built in|[Bb]uild succeeded|^[ \t]*Finished `?\w+`? "
    r"|files? (?:would be )?left unchanged\.|All matched files use Prettier|\b[1-9]\d* files? already formatted"
    r"|\b[Nn]o issues found|no offenses detected"
    r"|No fixes applied|Success! The configuration is valid|\[OK\] No errors|^0 issues\.",
    re.MULTILINE,
)
_NOTHING = re.compile(
    r"\bno (?:[\w.\[\]]+ ){0,3}?(?:tests?|specs?|examples?|scenarios|files?|sources?|inputs|modules?|suites?|packages)"
    r"(?: is| was| are| were| to| have| could|,)? ?(?:found|ran|run|executed|match|avail|collect|specif|present)"
    r"|\bno tests?\W*$|\[no test files\]|no tests? (?:file )?matches|there (?:is|are) no \S+ files|collected 0 items"
    r"|^1\.\.0\b|^> Task \S*:(?:test\w*|\w+Test) NO-SOURCE|Result: NOTESTS|: Nothing to be done for|' is up to date\."
    r"|no files were processed|\bchecked 0 \w*files|^0 files inspected|this is not the \w+ command",
    re.MULTILINE | re.IGNORECASE,
)
# Parts of a run that went well, one line each.
_PART = re.compile(r"^(?:ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?!.*no tests to run)|[ \t]*--- PASS: )", re.MULTILINE)
_TASK = re.compile(r"^> Task \S*:(?:test\w*|\w+Test)(?: UP-TO-DATE| FROM-CACHE)?$", re.MULTILINE)
_PLAN = re.compile(r"^1\.\.(\d+)$", re.MULTILINE)
_POINT = re.compile(r"^ok (\d+)\b(?!.*# *skip)", re.MULTILINE | re.IGNORECASE)
# Jest and Vitest count tests and files: a file that does not load has no tests.
_TESTS_ONLY = re.compile(r"^[ \t]*Tests:?[ \t]+.*(?:\btotal|\(\d+\))$", re.MULTILINE)
_FILES = re.compile(r"^[ \t]*(?:Test Suites:|Test Files)\s", re.MULTILINE)

# What a search behind a check lets through.
_SEEKS_FAULTS = re.compile(r"error|fail|not ok|●|\bTS\d|✗|✘|×|panic|warn", re.IGNORECASE)
_SEEKS_PASSES = re.compile(r"pass|\bok\b|success|✓|✔", re.IGNORECASE)
_SEEKS_SUMMARY = re.compile(r"tests?\b|total|suites|summary|examples|runs?\b|result", re.IGNORECASE)

# Checks that run no tests, whose output is their own.
_STRICT = (CheckKind.LINT, CheckKind.TYPES, CheckKind.BUILD)
_SEARCHES = (("grep",), ("egrep",), ("fgrep",), ("rg",))
Filters = tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class _Counts:
    fault: int = 0
    good: int = 0
    idle: int = 0
    total: int = 0
    finding: int = 0
    warning: int = 0
    other: int = 0
    counted: bool = False
    without_fault: bool = False
    """A count of faults was shown, and it was 0."""

    @property
    def ran(self) -> bool:
        return self.good > 0 or self.total > self.idle


def verdict(output: str, kind: CheckKind, after: Filters = (), *, mixed: bool = False) -> tuple[CheckState, str]:
    """Return how a check ended and the line that tells why, where its exit code is hidden.

    Passed means that the output shows that something ran and that it went well as a whole. `after` are the filters
    that the output went through. Where other commands may have printed parts of it (`mixed`), complaints can be theirs.
    """
    text = ends(output)
    searches = [words for words in after if words[:1] in _SEARCHES]
    cut = any(_cuts(words, text) for words in after)
    if any(map(_is_counting, after)):
        return _by_number(text, kind, searches)
    if fails(text, kind, mixed=mixed):
        return CheckState.FAILED, key_line(output)
    if _passes(text, kind, searches, cut=cut):
        return CheckState.PASSED, ""
    line = "" if mixed or (cut and kind is CheckKind.TEST) else blamed_line(text) or _found_line(text)
    if not line and any(map(_seeks_only_faults, searches)) and not _counts(text).without_fault:
        line = next(filter(_tells_fault, text.split("\n")), "")
    return (CheckState.FAILED, line.strip()) if line else (CheckState.NOT_SHOWN, "")


def _found_line(text: str) -> str:
    return next((line for line in text.split("\n") if _FINDING.search(line) and not _PASS_MARK.match(line)), "")


def fails(text: str, kind: CheckKind, *, mixed: bool = False) -> bool:
    """Return True if an output shows that a check failed."""
    text = ends(text)
    counts = _counts(text)
    if counts.fault or _FAILED.search(text):
        return True
    return kind in _STRICT and bool(counts.finding or (not mixed and _FINDING.search(text)))


def nothing_ran(text: str) -> bool:
    """Return True if an output says that there was nothing to run, or that all of it was skipped."""
    text = ends(text)
    counts = _counts(text)
    if counts.counted and not counts.ran:
        return True
    return bool(_NOTHING.search(text)) and not counts.ran and not _TASK.search(text)


def _passes(text: str, kind: CheckKind, searches: list[tuple[str, ...]], *, cut: bool) -> bool:
    if nothing_ran(text) or _DOUBT.search(text):
        return False
    if _PASSED.search(text) or (kind is not CheckKind.TEST and _BUILT.search(text)):
        return True
    if cut or any(map(_hides_faults, searches)):
        return False
    sought = _SEEKS_FAULTS.search(" ".join(map(_sought, searches)))
    if _TESTS_ONLY.search(text) and not _FILES.search(text) and not sought:
        return False
    counts = _counts(text)
    clean = kind in _STRICT and not counts.warning
    return counts.good > 0 or (counts.without_fault and (counts.ran or clean))


def _counts(text: str) -> _Counts:
    """Return what the summaries of an output count, added up."""
    found = _Counts()
    has_tests = bool(re.search(r"^[ \t]*Tests:?[ \t]", text, re.MULTILINE))
    for line in text.split("\n"):
        classes = _classes_in(line)
        # Tests are what runs; files count where no tests do.
        aside = line.lstrip().startswith("Snapshots") or (has_tests and bool(_FILES.match(line)))
        faults = [number for name, number in classes if name == "fault"]
        for name, number in classes:
            if (aside and name != "fault") or (name == "finding" and faults):
                continue
            setattr(found, name, getattr(found, name) + number)
            found.counted |= name in ("good", "idle", "total")
        found.without_fault |= bool(faults) and not any(faults)
        found.warning += sum(number for name, number in classes if name == "finding") if faults else 0
    parts = len(_PART.findall(text))
    found.good += parts + _points(text)
    found.counted |= parts > 0
    return found


def _classes_in(line: str) -> list[tuple[str, int]]:
    """Return what a line of a summary counts, class by class; none for other lines."""
    if not _NUMBERED.search(line) or not _SUMMARY.match(line):
        return []
    told = [(match[2] or match[3], int((match[1] or match[4])[:9])) for match in _COUNT.finditer(line)]
    classes = [(match.lastgroup or "", number) for word, number in told if (match := _CLASS.fullmatch(word))]
    passed = _PASS_MARK.match(line) is not None
    return [(name, number) for name, number in classes if name and not (passed and name == "fault")]


def _points(text: str) -> int:
    """Return how many tests of TAP went well; 0 unless all that its plan names are shown."""
    plan = _PLAN.search(text)
    numbers = _POINT.findall(text)
    shown = len(re.findall(r"^(?:not )?ok \d", text, re.MULTILINE))
    return len(numbers) if plan and shown >= int(plan[1][:9]) else 0


def _by_number(text: str, kind: CheckKind, searches: list[tuple[str, ...]]) -> tuple[CheckState, str]:
    """Return what a number of lines tells: of faults that were sought, and of nothing else."""
    sought = " ".join(_sought(words) for words in searches)
    number = re.findall(r"^[ \t]*(\d+)[ \t]*$", text, re.MULTILINE)
    if not number or not _SEEKS_FAULTS.search(sought) or any(_inverts(words) for words in searches):
        return CheckState.NOT_SHOWN, ""
    if int(number[-1][:9]):
        return CheckState.FAILED, f"{number[-1]} lines match {sought!r}"
    # No fault among no tests: a test says how many it ran.
    only = len(searches) == 1 and _seeks_only_faults(searches[0]) and kind is not CheckKind.TEST
    return (CheckState.PASSED if only else CheckState.NOT_SHOWN), ""


def _sought(words: tuple[str, ...]) -> str:
    return " ".join(word for word in words[1:] if not word.startswith("-"))


def _seeks_only_faults(words: tuple[str, ...]) -> bool:
    sought = _sought(words)
    asked = bool(_SEEKS_PASSES.search(sought) or _SEEKS_SUMMARY.search(sought))
    return bool(_SEEKS_FAULTS.search(sought)) and not asked and not _inverts(words)


def _tells_fault(line: str) -> bool:
    told = re.search(r"\berror|\bfail", line, re.IGNORECASE) and not re.search(r"\b0 (?:errors|fail)", line)
    return bool(told) and not _PASS_MARK.match(line)


def _is_counting(words: tuple[str, ...]) -> bool:
    counts = words[:1] in _SEARCHES and any(re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*|--count", word) for word in words)
    return counts or words[:1] == ("wc",)


def _inverts(words: tuple[str, ...]) -> bool:
    return any(re.fullmatch(r"-[a-zA-Z]*v[a-zA-Z]*|--invert-match", word) for word in words)


def _hides_faults(words: tuple[str, ...]) -> bool:
    """Return True if a search keeps lines of what passed and drops lines of what failed."""
    sought = _sought(words)
    if _inverts(words):
        return bool(_SEEKS_FAULTS.search(sought))
    if _SEEKS_FAULTS.search(sought):
        return False
    return bool(_SEEKS_PASSES.search(sought)) or not _SEEKS_SUMMARY.search(sought)


def _cuts(words: tuple[str, ...], text: str) -> bool:
    """Return True if `head` has left out the end of an output."""
    if words[:1] != ("head",):
        return False
    told = re.search(r"(?:^| )(?:-n ?|--lines[= ]|-)(\d+)", " ".join(words[1:]))
    return any(word.startswith("-c") for word in words) or len(text.split("\n")) >= (int(told[1][:9]) if told else 10)
