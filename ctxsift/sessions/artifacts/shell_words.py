"""Shell source as tokens: words with their quoting, operators, redirects with their heredocs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto


class PieceKind(Enum):
    """What a piece of a word is before the shell expands it."""

    TEXT = auto()
    VARIABLE = auto()
    SUBSTITUTION = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class WordPiece:
    """A piece of a word: text, the name of a variable, or the source of a substitution.

    `quoted` text is never a pattern, a brace list or a home folder.
    """

    kind: PieceKind
    text: str
    quoted: bool = False


Word = tuple[WordPiece, ...]


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect: its operator without the descriptor, where it goes, and the body of a heredoc."""

    operator: str
    target: Word = ()
    descriptor: str = ""
    body: str | None = None


@dataclass(frozen=True, slots=True)
class ShellToken:
    """One token: an operator (`operator` not empty; a line break stands for itself), a redirect or a word."""

    operator: str = ""
    word: Word = ()
    redirect: Redirect | None = None


_OPERATORS = ("&&", "||", ";;&", ";;", ";&", "|&", ";", "|", "&", "(", ")", "\n")
_REDIRECT = re.compile(r"(\d*|\{\w+\})(&>>|&>|>&|<&|<<<|<<-|<<|>>|>\||<>|>|<)")
# Blanks of other kinds (a no-break space, a form feed) part no words.
_PLAIN = re.compile(r"[^ \t\r\n'\"\\$`|&;()<>#]+")
_NAME = re.compile(r"\w+|[@*#?$!-]")
# The name alone of what `${...}` expands; with anything behind it the value is not known.
_BRACED = re.compile(r"\{(\w+)\}")


class ShellSyntaxError(Exception):
    """The source ends inside a quotation or a substitution."""


@dataclass(slots=True)
class _Heredoc:
    """A heredoc whose body has not been reached yet; `index` is the place of its token."""

    index: int
    end: str
    indented: bool
    redirect: Redirect


@dataclass(slots=True)
class _Lexer:
    source: str
    at: int = 0
    tokens: list[ShellToken] = field(default_factory=list)
    waiting: list[_Heredoc] = field(default_factory=list)

    def run(self) -> None:
        source = self.source
        while self.at < len(source):
            character = source[self.at]
            if character in " \t\r":
                self.at += 1
            elif source.startswith("\\\n", self.at):
                self.at += 2
            elif character == "#":
                end = source.find("\n", self.at)
                self.at = len(source) if end < 0 else end
            elif (match := _REDIRECT.match(source, self.at)) and not source.startswith(("<(", ">("), self.at):
                self._redirect(match)
            elif operator := next((each for each in _OPERATORS if source.startswith(each, self.at)), ""):
                self.at += len(operator)
                self.tokens.append(ShellToken(operator))
                if operator == "\n":
                    self._bodies()
            else:
                self.tokens.append(ShellToken(word=self._word()))
        self._bodies()

    def _redirect(self, match: re.Match[str]) -> None:
        self.at = match.end()
        descriptor, operator = match.groups()
        while self.source[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        target = self._word()
        redirect = Redirect(operator, target, descriptor)
        if operator in ("<<", "<<-"):
            end = "".join(piece.text for piece in target)
            self.waiting.append(_Heredoc(len(self.tokens), end, operator == "<<-", redirect))
        self.tokens.append(ShellToken(redirect=redirect))

    def _bodies(self) -> None:
        for heredoc in self.waiting:
            lines = []
            while self.at < len(self.source):
                end = self.source.find("\n", self.at)
                end = len(self.source) if end < 0 else end
                line = self.source[self.at : end]
                self.at = end + 1
                if heredoc.indented:
                    line = line.lstrip("\t")
                if line.rstrip("\r") == heredoc.end:
                    break
                lines.append(line + "\n")
            told = heredoc.redirect
            self.tokens[heredoc.index] = ShellToken(
                redirect=Redirect(told.operator, told.target, told.descriptor, "".join(lines))
            )
        self.waiting.clear()

    def _word(self) -> Word:
        pieces: list[WordPiece] = []
        source = self.source
        while self.at < len(source):
            character = source[self.at]
            if match := _PLAIN.match(source, self.at):
                pieces.append(WordPiece(PieceKind.TEXT, match[0]))
                self.at = match.end()
            elif character == "#" and pieces:
                pieces.append(WordPiece(PieceKind.TEXT, "#"))
                self.at += 1
            elif character == "'":
                pieces.append(WordPiece(PieceKind.TEXT, self._until("'"), quoted=True))
            elif character == '"':
                self._double(pieces)
            elif character == "\\":
                if source[self.at + 1 : self.at + 2] != "\n":
                    pieces.append(WordPiece(PieceKind.TEXT, source[self.at + 1 : self.at + 2], quoted=True))
                self.at += 2
            elif character in "$`":
                self._dollar(pieces, quoted=False)
            elif source.startswith(("<(", ">("), self.at) and not pieces:
                self.at += 1
                pieces.append(WordPiece(PieceKind.SUBSTITUTION, self._parenthesis()))
            elif character == "(" and pieces and pieces[-1].text.endswith("="):
                self._parenthesis()
                pieces.append(WordPiece(PieceKind.UNKNOWN, "("))
            else:
                break
        return tuple(pieces) or (WordPiece(PieceKind.TEXT, "", quoted=True),)

    def _until(self, mark: str) -> str:
        end = self.source.find(mark, self.at + 1)
        if end < 0:
            raise ShellSyntaxError
        text = self.source[self.at + 1 : end]
        self.at = end + 1
        return text

    def _double(self, pieces: list[WordPiece]) -> None:
        """Read a double quotation; a backslash is kept before what it does not protect there."""
        self.at += 1
        text: list[str] = []
        pieces.append(WordPiece(PieceKind.TEXT, "", quoted=True))
        while self.at < len(self.source):
            character = self.source[self.at]
            if character == "\\":
                following = self.source[self.at + 1 : self.at + 2]
                text.append("" if following == "\n" else following if following in '$`"\\' else "\\" + following)
                self.at += 2
            elif character == '"':
                self.at += 1
                pieces.append(WordPiece(PieceKind.TEXT, "".join(text), quoted=True))
                return
            elif character in "$`":
                pieces.append(WordPiece(PieceKind.TEXT, "".join(text), quoted=True))
                text = []
                self._dollar(pieces, quoted=True)
            else:
                text.append(character)
                self.at += 1
        raise ShellSyntaxError

    def _dollar(self, pieces: list[WordPiece], *, quoted: bool) -> None:
        source = self.source
        if source[self.at] == "`":
            pieces.append(WordPiece(PieceKind.SUBSTITUTION, self._until("`"), quoted))
            return
        self.at += 1
        if source.startswith("((", self.at):
            self._parenthesis()
            pieces.append(WordPiece(PieceKind.UNKNOWN, "((", quoted))
        elif source.startswith("(", self.at):
            pieces.append(WordPiece(PieceKind.SUBSTITUTION, self._parenthesis(), quoted))
        elif match := _BRACED.match(source, self.at):
            pieces.append(WordPiece(PieceKind.VARIABLE, match[1], quoted))
            self.at = match.end()
        elif source.startswith("{", self.at):
            pieces.append(WordPiece(PieceKind.UNKNOWN, self._until("}"), quoted))
        elif source.startswith("'", self.at) and not quoted:
            text = self._escaped()
            pieces.append(WordPiece(PieceKind.TEXT, text, quoted=True))
        elif match := _NAME.match(source, self.at):
            pieces.append(WordPiece(PieceKind.VARIABLE, match[0], quoted))
            self.at = match.end()
        else:
            pieces.append(WordPiece(PieceKind.TEXT, "$", quoted))

    def _escaped(self) -> str:
        r"""Read `$'...'`, in which a backslash protects the quotation mark."""
        start = self.at + 1
        end = start
        while end < len(self.source) and self.source[end] != "'":
            end += 2 if self.source[end] == "\\" else 1
        if end >= len(self.source):
            raise ShellSyntaxError
        self.at = end + 1
        plain = {"n": "\n", "t": "\t", "\\": "\\", "'": "'", '"': '"'}
        return re.sub(r"\\(.)", lambda m: plain.get(m[1], m[0]), self.source[start:end], flags=re.DOTALL)

    def _parenthesis(self) -> str:
        """Return what stands between the parenthesis at this place and its partner."""
        depth, start = 0, self.at + 1
        while self.at < len(self.source):
            character = self.source[self.at]
            if character == "\\":
                self.at += 1
            elif character == "'":
                self._until("'")
                continue
            elif character == '"':
                self._double([])
                continue
            elif character in "()":
                depth += 1 if character == "(" else -1
                if not depth:
                    self.at += 1
                    return self.source[start : self.at - 1]
            self.at += 1
        raise ShellSyntaxError


def tokens_of(source: str) -> tuple[list[ShellToken], bool]:
    """Return the tokens of shell source, and whether it could be read to its end."""
    lexer = _Lexer(source)
    try:
        lexer.run()
    except (ShellSyntaxError, RecursionError):
        return lexer.tokens, False
    return lexer.tokens, True


def plain_text(word: Word) -> str | None:
    """Return a word that needs no expansion; None where it holds a variable or a substitution."""
    if any(piece.kind is not PieceKind.TEXT for piece in word):
        return None
    return "".join(piece.text for piece in word)
