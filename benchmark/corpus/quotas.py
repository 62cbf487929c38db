"""What the packaged corpus has to contain: how many cases of which kind, on how many captures, how long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmark.cases import EASY_TIER, Case, Difficulty, Family, Origin
from benchmark.scoring.said import is_prose
from ctxsift.contracts import OutputMode
from ctxsift.intents import Intent

CASES = 280
MAX_TOKENS, LONG_TOKENS = 6000, 4000
MAX_WORDS, SHORT_WORDS = 60, 20
EASY_CASES, EASY_TOKENS, EASY_WORDS = 40, 800, 12
# Tags: the output gives its reader orders, fakes a turn or holds a secret; the right answer is that there is nothing.
HOSTILE, NEGATIVE = "hostile", "negative"
# What coding agents run all day.
EVERYDAY = frozenset(
    {
        *("pytest", "unittest", "jest", "vitest", "mocha", "node --test", "playwright", "junit", "rspec", "ctest"),
        *("tsc", "eslint", "ruff", "mypy", "pyright", "pylint", "black", "pre-commit", "shellcheck"),
        *("cargo build", "cargo test", "cargo clippy", "cargo run", "go build", "go test", "go vet", "go run"),
        *("gcc", "g++", "clang", "ld", "cmake", "make", "ninja", "javac", "maven", "mvn", "gradle"),
        *("pip", "uv", "poetry", "npm", "pnpm", "yarn", "next", "vite", "webpack"),
        *("git status", "git diff", "git log", "git show", "git blame", "git branch", "git stash", "git bisect"),
        *("git merge", "git rebase", "git push", "grep", "rg", "find", "ls", "cat"),
        *("docker build", "docker compose", "docker logs", "docker ps", "kubectl describe", "kubectl get"),
        *("kubectl get events", "kubectl rollout", "kubectl kustomize", "helm", "terraform"),
        *("github actions runner", "gitlab-runner", "jenkins"),
        # Stack traces and logs of applications.
        *("python", "node", "java", "ruby", "python logging", "pino", "django"),
    }
)
# What hardly any of them ever runs.
LONG_TAIL = frozenset(
    {
        *("dune", "mix test", "groovy", "perl", "haproxy", "locust", "nbconvert", "tqdm", "sass", "stylelint"),
        *("sphinx-build", "cProfile", "dmesg", "systemd-analyze", "wget", "strace", "gdb", "clang-tidy", "composer"),
        *("svelte-check", "turbo", "sqlfluff", "mariadb", "aws", "hypothesis", "valgrind", "minitest", "openssl"),
    }
)


@dataclass(frozen=True)
class Quota:
    """One demand on the corpus as a whole.

    Attributes:
        least, most: the bounds, both inclusive; None where there is none.

    """

    name: str
    value: float
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        """The value lies within its bounds."""
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    @property
    def wanted(self) -> str:
        """The bounds in words."""
        if self.least == self.most:
            return f"{self.least:g}"
        if self.most is None:
            return f"at least {self.least:g}"
        return f"at most {self.most:g}" if self.least is None else f"{self.least:g} to {self.most:g}"


def quotas(cases: Sequence[Case], count_tokens: Callable[[str], int]) -> Iterator[Quota]:
    """Yield every quota with its value in these cases."""
    tokens = [count_tokens(case.raw_input) for case in cases]
    yield from _of_captures(cases)
    yield from _of_kinds(cases)
    yield from _of_inputs(cases, tokens)
    yield from _of_questions(cases)
    yield from _of_tiers(cases, tokens)
    prose = [case for case in cases if is_prose(case)]
    yield Quota("prose cases with statements, %", _percent(bool(case.statements) for case in prose), 100)


def _percent(marks: Iterable[bool]) -> float:
    """Return how many of them hold, in percent; 0 of none."""
    found = list(marks)
    return 100 * sum(found) / max(1, len(found))


def _of_captures(cases: Sequence[Case]) -> Iterator[Quota]:
    yield Quota("cases in total", len(cases), CASES, CASES)
    yield Quota("distinct captures", len({case.capture.name for case in cases}), 120)
    yield Quota("cases on real captures, %", _percent(case.capture.origin == Origin.CAPTURED for case in cases), 60)
    yield Quota("tools", len({case.capture.tool for case in cases}), 40)
    yield Quota("ecosystems", len({case.capture.ecosystem for case in cases}), 12)
    busiest = max(Counter(case.capture.tool for case in cases).values(), default=0)
    yield Quota("cases of the most frequent tool, %", 100 * busiest / max(1, len(cases)), None, 6)


def _of_kinds(cases: Sequence[Case]) -> Iterator[Quota]:
    for family in Family:
        yield Quota(f"family {family}", sum(case.family is family for case in cases), 32)
    for intent in Intent:
        much = intent in (Intent.SUMMARY, Intent.RECALL)
        yield Quota(
            f"intent {intent}", sum(c.intent is intent for c in cases), 50 if much else 14, 75 if much else None
        )
    for mode in OutputMode:
        yield Quota(f"output mode {mode}", sum(case.output_mode is mode for case in cases), 1)
    for difficulty, share in ((Difficulty.EASY, 25), (Difficulty.MEDIUM, 50), (Difficulty.HARD, 25)):
        value = _percent(case.difficulty is difficulty for case in cases)
        yield Quota(f"difficulty {difficulty}, %", value, share - 5, share + 5)


def _of_inputs(cases: Sequence[Case], tokens: Sequence[int]) -> Iterator[Quota]:
    lines = [len(case.raw_input.splitlines()) for case in cases]
    yield Quota("median input, lines", median(lines) if lines else 0, 40)
    yield Quota("inputs above 100 lines", sum(n > 100 for n in lines), 70)
    yield Quota("inputs above 250 lines", sum(n > 250 for n in lines), 25)
    yield Quota("inputs under 12 lines", sum(n < 12 for n in lines), None, 40)
    yield Quota("hostile cases (tag)", sum(HOSTILE in case.tags for case in cases), 20, 28)
    yield Quota("negatives (tag)", sum(NEGATIVE in case.tags for case in cases), 30)
    yield Quota(f"inputs of {LONG_TOKENS} tokens and more", sum(n >= LONG_TOKENS for n in tokens), 25)
    yield Quota("longest input, tokens", max(tokens, default=0), None, MAX_TOKENS)


def _of_questions(cases: Sequence[Case]) -> Iterator[Quota]:
    words = [len(case.instruction.split()) for case in cases]
    yield Quota("questions of at most 20 words", sum(n <= SHORT_WORDS for n in words), 150)
    yield Quota("median question, words", median(words) if words else 0, None, SHORT_WORDS)
    yield Quota("longest question, words", max(words, default=0), None, MAX_WORDS)


def _of_tiers(cases: Sequence[Case], tokens: Sequence[int]) -> Iterator[Quota]:
    easy = [
        (len(case.instruction.split()), count)
        for case, count in zip(cases, tokens, strict=True)
        if EASY_TIER in case.tags
    ]
    yield Quota("easy tier (tag)", len(easy), EASY_CASES)
    yield Quota("easy tier: longest question, words", max((n for n, _ in easy), default=0), None, EASY_WORDS)
    yield Quota("easy tier: longest input, tokens", max((n for _, n in easy), default=0), None, EASY_TOKENS)
    yield Quota("cases on everyday output, %", _percent(case.capture.tool in EVERYDAY for case in cases), 60)
    yield Quota("cases on rare output, %", _percent(case.capture.tool in LONG_TAIL for case in cases), None, 15)
