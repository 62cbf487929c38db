"""Every pattern of the code takes time in proportion to what it reads; none comes from a file.

A search tries every place. One that begins with a repeat without a bound reads on to the end of a run from each place
of it, which is quadratic: a hundred thousand blanks hang it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

from tests.conftest import ROOT

_SEARCHES = {"search", "sub", "subn", "split", "findall", "finditer"}
_CALLS = {"compile", "match", "fullmatch", *_SEARCHES}
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
# From here on a repeat counts as one without a bound.
_MANY = 2_000
# What stands for all characters: classes are compared by those that they hold.
_ALL = [chr(code) for code in range(0x180)] + ["’", "“", "—", "…", "→", "你", "。"]
Tree = Sequence[tuple[Any, Any]]


@dataclass(frozen=True)
class Pattern:
    """A pattern and where it stands; `searched` unless it is only held to the place where it is tried."""

    where: str
    text: str
    flags: int
    searched: bool


@functools.cache
def trees() -> Mapping[Path, ast.Module]:
    files = sorted(file for package in ("ctxsift", "benchmark") for file in (ROOT / package).rglob("*.py"))
    return {file: ast.parse(file.read_text()) for file in files}


def calls_of(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls of the functions of `re` that take a pattern."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name in _CALLS:
                yield node


def named(tree: ast.Module) -> Mapping[ast.expr, str]:
    """Return the names that expressions are assigned to."""
    found: dict[ast.expr, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found[value] = name
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                found |= {v: t.id for t, v in zip(targets, values, strict=False) if isinstance(t, ast.Name)}
    return found


@functools.cache
def uses_of() -> Mapping[tuple[str, str], set[str]]:
    """Return, by module and name, which methods are called of what is named; an empty one for any other use."""
    found: dict[tuple[str, str], set[str]] = {}
    for file, tree in trees().items():
        owners: dict[str, tuple[str, str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                owners |= {each.asname or each.name: (node.module or "", each.name) for each in node.names}
        methods = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                owner = owners.get(node.id, (module_of(file), node.id))
                found.setdefault(owner, set()).add(methods.get(id(node), ""))
    return found


def only_held_to_a_place(name: str, module: str) -> bool:
    """Say whether a pattern is used by `match` and `fullmatch` alone."""
    return uses_of().get((module, name), {""}) <= {"match", "fullmatch", "pattern"}


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@functools.cache
def patterns() -> tuple[tuple[Pattern, ...], frozenset[str]]:
    """Return the patterns that a module knows when it is read, and the calls that make others, without place."""
    found: list[Pattern] = []
    others: set[str] = set()
    for file, tree in trees().items():
        calls, module = list(calls_of(tree)), module_of(file)
        names = named(tree)
        for call in calls:
            scope = vars(importlib.import_module(module))
            flags = [each.value for each in call.keywords if each.arg == "flags"]
            is_compile = isinstance(call.func, ast.Attribute) and call.func.attr == "compile"
            place = 1 if is_compile else 2
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("search", "match", "fullmatch", "compile"):
                flags += call.args[place : place + 1]
            try:
                text, flag = evaluated(call.args[0], scope), evaluated(flags[0], scope) if flags else 0
            except NameError:
                others.add(f"{module}: {ast.unparse(call.args[0])}")
                continue
            if isinstance(text, re.Pattern):
                text, flag = text.pattern, text.flags
            name = names.get(call, "")
            function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            held = function in ("match", "fullmatch") or (bool(name) and only_held_to_a_place(name, module))
            if isinstance(text, bytes):
                text, flag = text.decode("latin-1"), int(flag) & ~re.UNICODE
            found.append(Pattern(f"{module}:{call.lineno}", text, int(flag), not held))
    return tuple(found), frozenset(others)


def evaluated(expression: ast.expr, scope: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(expression), "<pattern>", "eval"), dict(scope))


@functools.cache
def held_by(source: str) -> frozenset[str]:
    compiled = re.compile(source, re.DOTALL)
    return frozenset(character for character in _ALL if compiled.fullmatch(character))


def characters(item: tuple[Any, Any], flags: int) -> frozenset[str]:
    """Return which characters an item of the width of one may be; all where it is something else."""
    op, value = item
    if op is codes.LITERAL:
        return frozenset({chr(value), chr(value).swapcase()} if flags & re.IGNORECASE else {chr(value)})
    if op is codes.NOT_LITERAL:
        return frozenset(_ALL) - {chr(value)}
    if op is codes.ANY:
        return frozenset(_ALL) if flags & re.DOTALL else frozenset(_ALL) - {"\n"}
    if op is codes.IN:
        return class_of(value, flags)
    if op is codes.SUBPATTERN:
        return any_of([value[3]], flags)
    if op is codes.ATOMIC_GROUP:
        return any_of([value], flags)
    if op is codes.BRANCH:
        return any_of(value[1], flags)
    if op in _REPEATS:
        return any_of([value[2]], flags)
    return frozenset()


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


def class_of(items: Tree, flags: int) -> frozenset[str]:
    found: set[str] = set()
    negated = False
    for op, value in items:
        if op is codes.NEGATE:
            negated = True
        elif op is codes.LITERAL:
            found |= characters((op, value), flags)
        elif op is codes.RANGE:
            held = {each for each in _ALL if value[0] <= ord(each) <= value[1]}
            found |= held | ({each.swapcase() for each in held} if flags & re.IGNORECASE else set())
        elif op is codes.CATEGORY:
            found |= held_by(_CATEGORIES[value])
    return frozenset(_ALL) - found if negated else frozenset(found)


def any_of(branches: Sequence[Tree], flags: int) -> frozenset[str]:
    return frozenset().union(*(characters(item, flags) for branch in branches for item in branch))


def least_width(items: Tree) -> int:
    return int(parser.SubPattern(parser.State(), list(items)).getwidth()[0])


def may_fail(items: Tree) -> bool:
    """Say whether what follows a repeat may fail, so that the repeat was for nothing."""
    assertions = (codes.AT, codes.ASSERT, codes.ASSERT_NOT)
    return least_width(items) > 0 or any(op in assertions for op, _ in items)


def slow_beginning(  # noqa: PLR0912, one branch for each kind of item
    items: Tree, flags: int, before: frozenset[str] = frozenset(_ALL)
) -> bool:
    """Say whether a search begins with a repeat without a bound, tried from every place of a run.

    Args:
        items: a pattern.
        flags: of it.
        before: characters after which it may begin.

    """
    for place, (op, value) in enumerate(items):
        rest = items[place + 1 :]
        if op is codes.AT:
            if value in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
                if value is codes.AT_BEGINNING_STRING or not flags & re.MULTILINE:
                    return False
                before = before & {"\n"}
            elif value is codes.AT_BOUNDARY:
                following = next((characters(item, flags) for item in rest if item[0] is not codes.AT), frozenset())
                words = held_by(r"\w")
                if following and following <= words:
                    before = before - words
                elif following and not following & words:
                    before = before & words
            continue
        if op is codes.ASSERT and value[0] < 0 and len(value[1]):
            before = before & any_of([value[1][-1:]], flags)
            continue
        if op is codes.ASSERT_NOT and value[0] < 0 and len(value[1]) == 1:
            before = before - characters(value[1][0], flags)
            continue
        if op in (codes.ASSERT, codes.ASSERT_NOT):
            continue
        if op in _REPEATS:
            least, most, inner = value
            if most >= _MANY and before & any_of([inner], flags) and may_fail(rest):
                return True
            if slow_beginning(inner, flags, before):
                return True
            if least and least_width(inner):
                return False
            continue
        if op in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            inner = value[3] if op is codes.SUBPATTERN else value
            return slow_beginning([*inner, *rest], flags, before)
        if op is codes.BRANCH:
            return any(slow_beginning([*branch, *rest], flags, before) for branch in value[1])
        return False
    return False


# Patterns that are searched, begin so, and are slow on nothing that comes from outside at any length; by module and
# beginning.
HARMLESS = {
    ("benchmark.corpus.variants", ""): "reads cases of the corpus, which is bounded",
    ("benchmark.probes.answer_rules", ""): "reads answers, which have a word limit",
    ("benchmark.scoring.exact_values", ""): "reads values, which have a few hundred characters",
    ("benchmark.statements.text", "(?<!\\be"): "marks that end a sentence: a run of them is part of one sentence end",
    ("benchmark.statements.text", "(?<=\\w)"): "reads one word",
    ("benchmark.utilization.support", ""): "a run of letters is one piece whatever follows",
    ("ctxsift.backends.baselines_extractor", ""): "reads one line of a command's output",
    ("ctxsift.answers.candidates", ""): "held to the beginning of a line by its callers",
    ("ctxsift.answers.envelope", ""): "one of two that its caller matches at a place",
    (
        "ctxsift.answers.prose",
        "",
    ): "ends where the line does at the latest; the other may be empty, so its first try is its last",
    ("ctxsift.sessions.compaction.tasks", ""): "the words of one identifier",
    ("ctxsift.sessions.compaction.weights", ""): "tables of cues, held to the beginning of a line by `match`",
    ("ctxsift.answers.thought_density", ""): "what follows takes the rest of the line, whatever it is",
}
# Patterns that are made while the program runs: of words of the code, or of text that is escaped.
MADE = {
    "benchmark.scoring.formats: looks": "one of four in a table above it",
    "benchmark.statements.lints": "names, escaped",
    "benchmark.probes.answer_rules": "the ending of a file, escaped",
    "benchmark.utilization.support": "a name, escaped",
    "ctxsift.backends.baselines_extractor: pattern": "of a table",
    "ctxsift.gate": "a name of the answer, escaped",
    "ctxsift.answers.marks": "marks of the code's table",
    "ctxsift.answers.meta_language": "words of the code's table",
    "ctxsift.redaction": "secrets, escaped",
    "ctxsift.relevance": "words of a question, escaped",
    "ctxsift.sessions.artifacts.outcomes: each": "of a table",
    "ctxsift.sessions.artifacts.shell_run": "the label before an exit code, escaped",
    "ctxsift.sessions.artifacts.shell_scripts": "a path, escaped",
    "ctxsift.sessions.artifacts.shell_verdicts": "the name of a script, escaped",
    "ctxsift.sessions.compaction.checking": "the heading of a section, escaped",
    "ctxsift.sessions.compaction.weights: ": "words of the code's table",
    "ctxsift.sessions.importers.terminal": "what was typed, escaped",
    "ctxsift.sessions.speakers": "the name of a tag: word characters and dashes",
}


def is_harmless(each: Pattern) -> bool:
    module = each.where.partition(":")[0]
    return any(module == known and each.text.startswith(begins) for known, begins in HARMLESS)


def is_slow(text: str, flags: int = 0) -> bool:
    return slow_beginning(list(parser.parse(text, flags)), flags)


@pytest.mark.parametrize(
    ("text", "slow"),
    [
        (r"\s*x", True),
        (r".*x", True),
        (r"(?:a|[^x]+)y", True),
        (r"a?\s*x", True),
        (r"(?<=\s)\s+x", True),
        (r"^\s*x", False),
        (r"\As*x", False),
        (r"(?<!\s)\s+x", False),
        (r"\b\w+x", False),
        (r"\w+", False),
        (r"\s{0,40}x", False),
        (r"x\s*y", False),
    ],
)
def test_a_beginning_is_told_to_be_slow(text: str, slow: bool) -> None:
    assert is_slow(text) is slow


def test_no_search_begins_with_a_repeat_without_a_bound() -> None:
    slow = [each for each in patterns()[0] if each.searched and is_slow(each.text, each.flags)]
    assert [f"{each.where}: {each.text[:100]!r}" for each in slow if not is_harmless(each)] == []
    used = {module for module, _ in HARMLESS if not any(each.where.startswith(f"{module}:") for each in slow)}
    assert not used, "no longer needed"


def test_no_expression_comes_from_outside() -> None:
    made = patterns()[1]
    assert [each for each in sorted(made) if not each.startswith(tuple(MADE))] == []
    assert [known for known in MADE if not any(each.startswith(known) for each in made)] == [], "no longer needed"
