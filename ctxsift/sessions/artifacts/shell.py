"""Shell source as a tree of lists, pipelines and commands, as far as it can be read.

No library on PyPI fits: `bashlex` is GPL, and `tree-sitter-bash` ties `cd a && b 2>&1 | c` as `(cd a && b) | c`, which
would hide the exit code of the wrong command.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TypeAlias

from ctxsift.sessions.artifacts.shell_words import PieceKind, Redirect, ShellToken, Word, plain_text, tokens_of

_MOST_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Simple:
    """A command with its words; `assignments` stand before it, or are all there is."""

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class ShellGroup:
    """`{ ... }` and `( ... )`; a subshell keeps its folder to itself."""

    body: Sequence
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: `for` has a variable and words, `while` and `until` a condition."""

    body: Sequence
    variable: str = ""
    words: tuple[Word, ...] = ()
    condition: Sequence | None = None
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """`if` and `case`: bodies of which at most one runs; a body without condition is the last resort."""

    branches: tuple[tuple[Sequence | None, Sequence], ...]
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, which runs where its name is called."""

    name: str
    body: Node


Node: TypeAlias = "Simple | ShellGroup | Loop | Choice | Definition"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by `|`; the exit code is that of the last, turned round where `negated`."""

    parts: tuple[Node, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines joined by `&&` and `||`; each with the operator before it, the first with none."""

    parts: tuple[tuple[str, Pipeline], ...]
    background: bool = False


@dataclass(frozen=True, slots=True)
class Sequence:
    """Chains that run one after the other, whatever the one before came to."""

    chains: tuple[Chain, ...]


class _StoppedError(Exception):
    """The tree cannot be read on; what stands of it is kept."""


_ENDINGS = {"then", "else", "elif", "fi", "do", "done", "esac", "}"}


@dataclass(slots=True)
class _Parser:
    tokens: list[ShellToken]
    at: int = 0
    depth: int = 0

    def operator(self) -> str:
        return self.tokens[self.at].operator if self.at < len(self.tokens) else ""

    def reserved(self) -> str:
        """Return the word here if it may be a reserved one: plain and unquoted; else nothing."""
        if self.at >= len(self.tokens):
            return ""
        word = self.tokens[self.at].word
        bare = len(word) == 1 and word[0].kind is PieceKind.TEXT and not word[0].quoted
        return word[0].text if bare else ""

    def skip_lines(self) -> None:
        while self.operator() in ("\n", ";"):
            self.at += 1

    def expect(self, word: str) -> None:
        self.skip_lines()
        if self.reserved() != word:
            raise _StoppedError
        self.at += 1

    def sequence(self, chains: list[Chain] | None = None) -> Sequence:
        """Read chains up to a word or parenthesis that ends them; into `chains`, so that they survive a stop."""
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise _StoppedError
        chains = [] if chains is None else chains
        while True:
            self.skip_lines()
            if (
                self.at >= len(self.tokens)
                or self.operator() in (")", ";;", ";&", ";;&")
                or self.reserved() in _ENDINGS
            ):
                break
            chains.append(self.chain())
        self.depth -= 1
        return Sequence(tuple(chains))

    def chain(self) -> Chain:
        parts = [("", self.pipeline())]
        while (operator := self.operator()) in ("&&", "||"):
            self.at += 1
            self.skip_lines()
            parts.append((operator, self.pipeline()))
        background = self.operator() == "&"
        if background:
            self.at += 1
        elif self.operator() not in ("", "\n", ";", ")", ";;", ";&", ";;&"):
            raise _StoppedError
        return Chain(tuple(parts), background)

    def pipeline(self) -> Pipeline:
        negated = self.reserved() == "!"
        if negated:
            self.at += 1
        parts = [self.command()]
        while self.operator() in ("|", "|&"):
            self.at += 1
            self.skip_lines()
            parts.append(self.command())
        return Pipeline(tuple(parts), negated)

    def command(self) -> Node:
        if self.operator() == "(":
            return self._parenthesis()
        match self.reserved():
            case "{":
                self.at += 1
                body = self.sequence()
                self.expect("}")
                return ShellGroup(body, subshell=False, redirects=self._redirects())
            case "for" | "select":
                return self._for()
            case "while" | "until":
                self.at += 1
                condition = self.sequence()
                self.expect("do")
                body = self.sequence()
                self.expect("done")
                return Loop(body, condition=condition, redirects=self._redirects())
            case "if":
                return self._if()
            case "case":
                return self._case()
            case "[[":
                return self._test()
        return self._simple()

    def _parenthesis(self) -> Node:
        self.at += 1
        body = self.sequence()
        if self.operator() != ")":
            raise _StoppedError
        self.at += 1
        return ShellGroup(body, subshell=True, redirects=self._redirects())

    def _redirects(self) -> tuple[Redirect, ...]:
        found = []
        while self.at < len(self.tokens) and (redirect := self.tokens[self.at].redirect):
            found.append(redirect)
            self.at += 1
        return tuple(found)

    def _words(self) -> tuple[Word, ...]:
        found = []
        while self.at < len(self.tokens) and (word := self.tokens[self.at].word):
            found.append(word)
            self.at += 1
        return tuple(found)

    def _for(self) -> Node:
        self.at += 1
        variable = self.reserved()
        if not variable:
            raise _StoppedError
        self.at += 1
        self.skip_lines()
        words: tuple[Word, ...] = ()
        if self.reserved() == "in":
            self.at += 1
            words = self._words()
        self.expect("do")
        body = self.sequence()
        self.expect("done")
        return Loop(body, variable, words, redirects=self._redirects())

    def _if(self) -> Node:
        branches: list[tuple[Sequence | None, Sequence]] = []
        self.at += 1
        while True:
            condition = self.sequence()
            self.expect("then")
            branches.append((condition, self.sequence()))
            self.skip_lines()
            ending = self.reserved()
            self.at += 1
            if ending == "elif":
                continue
            if ending == "else":
                branches.append((None, self.sequence()))
                self.expect("fi")
            elif ending != "fi":
                raise _StoppedError
            return Choice(tuple(branches), self._redirects())

    def _case(self) -> Node:
        """Skip `case`: which of its bodies ran is not known."""
        depth = 0
        while True:
            depth += {"case": 1, "esac": -1}.get(self.reserved(), 0)
            self.at += 1
            if self.at > len(self.tokens):
                raise _StoppedError
            if not depth:
                return Choice((), self._redirects())

    def _test(self) -> Node:
        words: list[Word] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token.word:
                words.append(token.word)
                if plain_text(token.word) == "]]":
                    return Simple(tuple(words))
        raise _StoppedError

    def _simple(self) -> Node:
        words: list[Word] = []
        assignments: list[Word] = []
        redirects: list[Redirect] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.redirect:
                redirects.append(token.redirect)
            elif token.word:
                (assignments if not words and is_assignment(token.word) else words).append(token.word)
            else:
                break
            self.at += 1
        if len(words) == 1 and self.operator() == "(" and self.tokens[self.at + 1 : self.at + 2] == [ShellToken(")")]:
            self.at += 2
            self.skip_lines()
            return Definition(plain_text(words[0]) or "", self.command())
        if not words and not assignments and not redirects:
            raise _StoppedError
        return Simple(tuple(words), tuple(assignments), tuple(redirects))


def is_assignment(word: Word) -> bool:
    """Return True if a word is `NAME=value`."""
    first = word[0]
    name, equals, _ = first.text.partition("=")
    return first.kind is PieceKind.TEXT and not first.quoted and bool(equals) and name.rstrip("+").isidentifier()


def parse(source: str) -> Sequence:
    """Return the tree of shell source; where it cannot be read on, what stood before."""
    tokens, _ = tokens_of(source)
    parser = _Parser(tokens)
    chains: list[Chain] = []
    with contextlib.suppress(_StoppedError, IndexError):
        parser.sequence(chains)
    return Sequence(tuple(chains))
