"""A shell command as it ran: which of its parts ran and how they ended, judged by exit code and output."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ctxsift.sessions.artifacts.git_state import Repository
from ctxsift.sessions.artifacts.ledger import Ledger
from ctxsift.sessions.artifacts.paths import braces, home_of, is_pattern, resolve
from ctxsift.sessions.artifacts.shell import (
    Chain,
    Choice,
    Definition,
    Loop,
    Node,
    Pipeline,
    Sequence,
    ShellGroup,
    Simple,
    parse,
)
from ctxsift.sessions.artifacts.shell_verdicts import UNKNOWN, CommandOutput, CommandStatus, plain_words
from ctxsift.sessions.artifacts.shell_words import PieceKind, Redirect, Word, WordPiece, plain_text

_MOST_TURNS, _MOST_PARTS = 200, 200
# Of calls and substitutions in each other; the source of a substitution that is read.
_MOST_DEPTH, _LONGEST_SUBSTITUTION = 6, 4000
# Why a shell does not write to a file.
_NOT_WRITTEN = ("No such file or directory", "Permission denied", "Is a directory", "cannot")
# Words of one command that are looked at.
_MOST_WORDS = 2000
# Commands of one command line that are walked, and the length of a variable.
_MOST_COMMANDS, _MOST_VALUE = 5000, 20_000


@dataclass(frozen=True, slots=True)
class Invocation:
    """A simple command as it ran.

    Attributes:
        words: expanded; patterns stand as the files of the session that match, or as written.
        status, code: how it ended; the code only where it is its own.
        after: the words of the commands that its output is piped into.
        before: the commands that are piped into it.
        text: what it was given as a heredoc or here-string.
        shows: False where its output went to a file.

    """

    words: tuple[str, ...]
    status: CommandStatus
    code: int | None
    after: tuple[tuple[str, ...], ...] = ()
    before: tuple[Node, ...] = ()
    text: str | None = None
    shows: bool = True

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].rpartition("/")[2].removesuffix(".exe").removesuffix(".cmd") if self.words else ""


@dataclass(slots=True)
class ShellRun:
    """One command line, walked once; `handle` is called for every simple command that ran.

    Attributes:
        folder: where it starts, and after `walk` where it ended.
        printed: what the whole line printed.
        source: the whole line.
        produced: text that the last simple command printed, where it is known; for redirects.
        previous: the folder that `cd -` and `popd` go back to, as far as this line tells.

    """

    ledger: Ledger
    repository: Repository
    handle: Callable[[ShellRun, Invocation], None]
    folder: str
    printed: CommandOutput
    source: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)
    produced: str | None = None
    depth: int = 0
    printing: int = 0
    failing: tuple[str, ...] = ()
    pipefail: bool = False
    commits: int = 0
    walked: int = 0
    previous: str = ""

    @property
    def output(self) -> str:
        """What the whole line printed."""
        return self.printed.output

    def walk(self, source: str, code: int | None) -> None:
        """Walk the source of a command line that ended with `code`; None where it is not known."""
        if self.depth > _MOST_DEPTH:
            return
        self.depth += 1
        self.sequence(parse(source), code)
        self.depth -= 1

    def sequence(self, body: Sequence, code: int | None) -> None:
        """Walk chains one after the other; the exit code is that of the last."""
        for number, chain in enumerate(body.chains):
            if self.walked > _MOST_COMMANDS:
                return
            last = number == len(body.chains) - 1
            told = code if last else self._echoed(body.chains[number + 1])
            self.chain(chain, told)

    def _echoed(self, chain: Chain) -> int | None:
        """Return the exit code that the next command printed: `echo "exit: $?"`."""
        first = chain.parts[0][1].parts[0]
        if not isinstance(first, Simple) or plain_text(first.words[0] if first.words else ()) not in ("echo", "printf"):
            return None
        pieces = [piece for word in first.words for piece in word]
        others = [piece.text for piece in pieces if piece.kind is not PieceKind.TEXT]
        if not any(text == "?" or "PIPESTATUS[0]" in text for text in others):
            return None
        label = "".join(piece.text for piece in pieces[1:] if piece.kind is PieceKind.TEXT).strip()[:20].strip()
        code = rf"{re.escape(label)}\D{{0,3}}(\d{{1,3}})\b" if label else r"(?:^|[^\d.])(\d{1,3})\W*$"
        told = re.findall(code, self.output, re.MULTILINE)
        return int(told[-1]) if told else None

    # Which parts ran

    def chain(self, chain: Chain, code: int | None) -> None:
        """Walk a chain: of its parts those that ran."""
        parts = chain.parts
        if chain.background:
            code = None
        stop = self.printed.stop(parts) if code else len(parts)
        status = CommandStatus.PASSED
        alive = True
        for number, (operator, pipeline) in enumerate(parts):
            if self.walked > _MOST_COMMANDS:
                return
            if operator == "||":
                if status is not CommandStatus.FAILED:
                    # What runs only where something failed is left out unless that is known.
                    continue
                alive = True
            elif operator == "&&" and status is CommandStatus.FAILED:
                alive = False
            if not alive:
                continue
            later = [each for each, _ in parts[number + 1 :]]
            any_or, all_or = "||" in later, "&&" not in later
            stops, alone = number == stop, len(parts) == 1
            status, own = self.printed.status(pipeline, code, any_or=any_or, all_or=all_or, stops=stops, alone=alone)
            if status is CommandStatus.FAILED:
                self.failing = plain_words(pipeline.parts[-1])
            holds = self._test(pipeline)
            if holds is not None:
                status = CommandStatus.PASSED if holds else CommandStatus.FAILED
            self.pipeline(pipeline, status, own)

    def _test(self, pipeline: Pipeline) -> bool | None:
        """Return whether `[ -f path ]`, `[ "$a" = b ]` and the like hold; None where the session does not tell."""
        node = pipeline.parts[0]
        if len(pipeline.parts) != 1 or not isinstance(node, Simple) or not node.words:
            return None
        words = self.words(node.words)
        if words in (["true"], ["false"]):
            holds: bool | None = words == ["true"]
        elif words[0] in ("[", "[[", "test"):
            inside = [word for word in words[1:] if word not in ("]", "]]")]
            turned = inside[:1] == ["!"]
            inside = inside[1:] if turned else inside
            known = len(inside) == 2 and inside[0] in ("-f", "-e", "-d", "-s", "-r") and UNKNOWN not in inside[1]
            holds = self.ledger.exists(self.path(inside[1])) if known else _compared(inside)
            holds = not holds if turned and holds is not None else holds
        else:
            return None
        return not holds if pipeline.negated and holds is not None else holds

    # The walk

    def pipeline(self, pipeline: Pipeline, status: CommandStatus, code: int | None) -> None:
        """Walk a pipeline; only its last command has an exit code of its own."""
        parts = pipeline.parts[:_MOST_PARTS]
        if pipeline.negated:
            status, code = CommandStatus.NOT_SHOWN, None
        folder = self.folder
        names = tuple(map(plain_words, parts))
        for number, node in enumerate(parts):
            last = number == len(parts) - 1
            shown = last or (self.pipefail and status is CommandStatus.PASSED)
            own = (status, code) if shown else (CommandStatus.NOT_SHOWN, None)
            self.node(node, own, names[number + 1 :], parts[:number])
        if len(parts) > 1:
            self.folder = folder

    def node(
        self,
        node: Node,
        ended: tuple[CommandStatus, int | None],
        after: tuple[tuple[str, ...], ...],
        before: tuple[Node, ...],
    ) -> None:
        """Walk one command, simple or not; `ended` says how it ended."""
        match node:
            case Simple():
                self.simple(node, ended, after, before)
            case ShellGroup():
                folder = self.folder
                self.sequence(node.body, ended[1])
                self.folder = folder if node.subshell else self.folder
            case Loop():
                self._loop(node)
            case Choice():
                self._choice(node)
            case Definition():
                self.functions[node.name] = node.body
        if not isinstance(node, Simple | Definition):
            self.produced = None
            self.redirects(node.redirects)

    def _loop(self, loop: Loop) -> None:
        for value in ([UNKNOWN] if loop.condition else self.words(loop.words))[:_MOST_TURNS]:
            if self.walked > _MOST_COMMANDS:
                return
            self.variables[loop.variable] = value
            self.sequence(loop.body, None)

    def _choice(self, choice: Choice) -> None:
        for condition, body in choice.branches:
            holds: bool | None = True
            if condition is not None:
                one = len(condition.chains) == 1 and len(condition.chains[0].parts) == 1
                holds = self._test(condition.chains[0].parts[0][1]) if one else None
            if holds is None:
                return
            if holds:
                self.sequence(body, None)
                return

    def simple(
        self,
        node: Simple,
        ended: tuple[CommandStatus, int | None],
        after: tuple[tuple[str, ...], ...],
        before: tuple[Node, ...],
    ) -> None:
        """Walk a simple command: assignments, substitutions, itself, redirects."""
        self.walked += 1
        for assignment in node.assignments:
            self._assign(assignment)
        self.substitutions(node.words + node.assignments)
        self.produced = None
        words = self.words(node.words)
        texts = [redirect.body for redirect in node.redirects if redirect.body is not None]
        texts += ["".join(self.words((r.target,))) for r in node.redirects if r.operator == "<<<"]
        shows = not any(_to_file(redirect) for redirect in node.redirects)
        if words and words[0] in self.functions and self.depth < _MOST_DEPTH:
            self._call(words)
        elif words:
            self.printing += shows
            given = texts[0] if texts else None
            self.handle(self, Invocation(tuple(words[:_MOST_WORDS]), *ended, after, before, given, shows))
        self.redirects(node.redirects)

    def _call(self, words: list[str]) -> None:
        outer = dict(self.variables)
        self.variables |= {str(number): word for number, word in enumerate(words)}
        self.depth += 1
        self.node(self.functions[words[0]], (CommandStatus.NOT_SHOWN, None), (), ())
        self.depth -= 1
        self.variables = outer

    def redirects(self, redirects: tuple[Redirect, ...]) -> None:
        """Take down the files that redirects read and write."""
        for redirect in redirects:
            for target in self.words((redirect.target,)) if redirect.operator[:2] != "<<" else ():
                if UNKNOWN in target or not target or target.startswith("/dev/"):
                    continue
                if redirect.operator == "<":
                    self.ledger.read(self.path(target))
                elif _to_file(redirect) and not self._refused(target):
                    text = self.produced if redirect.descriptor in ("", "1") else None
                    if ">>" in redirect.operator:
                        self.ledger.append(self.path(target), text, _first_line(text))
                    else:
                        self.ledger.write(self.path(target), text, _first_line(text))

    def _refused(self, target: str) -> bool:
        told = [f"{target}: {reason}" for reason in _NOT_WRITTEN]
        after = (line.partition("sh: ")[2] for line in self.output.split("\n") if target in line)
        return any(each in line for line in after for each in told)

    # Words

    def path(self, word: str) -> str:
        """Return a word as a path; the home folder is the session's, wherever the shell stands."""
        home = self.ledger.folder if word.startswith("~") and home_of(self.ledger.folder) else self.folder
        return resolve(word, home)

    def words(self, words: tuple[Word, ...]) -> list[str]:
        """Expand words as the shell does; patterns against the files that the session knows."""
        found: list[str] = []
        for word in words:
            found.extend(self._expand(word))
        return found

    def _expand(self, word: Word) -> list[str]:
        literal, glob, split, special = "", "", False, False
        for piece in word:
            text = self._text(piece)
            split |= piece.kind in (PieceKind.VARIABLE, PieceKind.SUBSTITUTION) and not piece.quoted
            literal += text
            plain = not piece.quoted
            special |= plain and (is_pattern(text) or "{" in text)
            glob += text if plain else re.sub(r"([*?\[{])", r"[\1]", text)
        if literal.startswith("~") and word[0].quoted:
            literal = f"./{literal}"
        texts = literal.split() if split else [literal]
        if not special:
            return texts
        globs = [each for text in (glob.split() if split else [glob]) for each in braces(text)]
        return [match for each in globs for match in self.matches(each)]

    def matches(self, glob: str) -> list[str]:
        """Return the files and folders of the session that match, named as the pattern is; itself where none does."""
        if not is_pattern(glob):
            return [glob]
        found = self.ledger.matching_all(self.path(glob))
        if not glob.startswith(("/", "~", ".")):
            found = [path.removeprefix(f"{self.folder}/") for path in found]
        return found or [re.sub(r"\[([*?\[{])\]", r"\1", glob)]

    def _text(self, piece: WordPiece) -> str:
        match piece.kind:
            case PieceKind.TEXT:
                return piece.text
            case PieceKind.VARIABLE:
                known = {"PWD": self.folder, "HOME": home_of(self.folder) or "~"}
                return self.variables.get(piece.text, known.get(piece.text, UNKNOWN))
            case PieceKind.SUBSTITUTION:
                return self._substituted(piece.text)
            case PieceKind.UNKNOWN:
                return UNKNOWN

    def _substituted(self, source: str) -> str:
        words = source.split()
        if words in (["pwd"], ["git", "rev-parse", "--show-toplevel"]):
            return self.folder if words == ["pwd"] else self.repository.root(self.folder)
        if self.depth > _MOST_DEPTH or len(source) >= _LONGEST_SUBSTITUTION:
            return UNKNOWN
        self.depth += 1
        chains = parse(source).chains
        listed = self.listed(chains[0].parts[0][1].parts[0]) if len(chains) == 1 else None
        self.depth -= 1
        return " ".join(listed) if listed else UNKNOWN

    def substitutions(self, words: tuple[Word, ...]) -> None:
        """Walk the commands inside `$(...)`: they may touch files as well."""
        for word in words:
            for piece in word:
                if piece.kind is PieceKind.SUBSTITUTION and len(piece.text) < _LONGEST_SUBSTITUTION:
                    folder = self.folder
                    self.walk(piece.text, None)
                    self.folder = folder

    def listed(self, node: Node) -> list[str] | None:
        """Return the paths that a command prints; None where the session does not tell."""
        if not isinstance(node, Simple) or not node.words:
            return None
        words = self.words(node.words)
        operands = [word for word in words[1:] if not word.startswith("-") and UNKNOWN not in word]
        if words[0] in ("ls", "echo", "printf"):
            return [each for word in operands if "%" not in word for each in word.split("\n")] or None
        if words[:2] == ["git", "ls-files"]:
            return [
                each for operand in operands[1:] or ["."] for each in self.ledger.children(self.path(operand))
            ] or None
        return self.ledger.searches.get((self.folder, *words))

    def _assign(self, word: Word) -> None:
        name, _, value = word[0].text.partition("=")
        rest = (WordPiece(PieceKind.TEXT, value), *word[1:])
        texts = self._expand(rest) if name else []
        value = " ".join(texts)
        self.variables[name] = value if len(value) <= _MOST_VALUE else UNKNOWN


def _compared(words: list[str]) -> bool | None:
    """Return whether two texts are equal, or not, as asked; None where that is not asked or they are not known."""
    if len(words) != 3 or words[1] not in ("=", "==", "!=") or any(UNKNOWN in word for word in words):
        return None
    if is_pattern(words[2]):
        return None
    return (words[0] == words[2]) is (words[1] != "!=")


def _to_file(redirect: Redirect) -> bool:
    target = plain_text(redirect.target)
    if redirect.operator in (">&", "<&") and target is not None and re.fullmatch(r"\d+-?|-", target):
        return False
    return redirect.operator in (">", ">>", ">|", "&>", "&>>", ">&", "<>") and target not in (
        "/dev/null",
        "/dev/stderr",
    )


def _first_line(text: str | None) -> str:
    return next((line for line in (text or "").split("\n") if line.strip()), "")
