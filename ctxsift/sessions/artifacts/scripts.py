"""Which files a short Python script reads, writes and removes, by its syntax tree."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

MOST_SOURCE = 200_000
_MOST_DEPTH = 4
_MOST_VALUES = 500


class OpKind(Enum):
    """What a script does with a file."""

    READ = auto()
    WRITE = auto()
    APPEND = auto()
    DELETE = auto()
    MOVE = auto()
    COPY = auto()
    MAKE_FOLDER = auto()


@dataclass(frozen=True, slots=True)
class FileOp:
    """One thing a script does with `path`; `other` is where it moves or copies it."""

    kind: OpKind
    path: str
    other: str = ""


Matches = Callable[[str], list[str]]


_Texts = tuple[str, ...]


def python_ops(source: str, arguments: list[str], matches: Matches, stopped_at: int | None) -> list[FileOp]:
    """Return what a Python script does; `matches` expands a pattern, from line `stopped_at` on nothing ran.

    Only paths that the script spells out are found: constants, names bound to them, loops over lists of them.
    """
    if len(source) > MOST_SOURCE:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    reader = _Reader(matches, {"sys.argv": ("", *arguments)})
    try:
        reader.visit(tree)
        for name in reader.functions.keys() - reader.called:
            reader.visit_all(reader.functions[name].body)
    except RecursionError:
        pass
    return [op for line, op in reader.ops if stopped_at is None or line < stopped_at]


_OPEN = {"open", "io.open", "codecs.open"}
_CALLS: dict[str, OpKind] = {
    "os.remove": OpKind.DELETE, "os.unlink": OpKind.DELETE, "shutil.rmtree": OpKind.DELETE,
    "os.rename": OpKind.MOVE, "os.replace": OpKind.MOVE, "shutil.move": OpKind.MOVE,
    "shutil.copy": OpKind.COPY, "shutil.copy2": OpKind.COPY, "shutil.copyfile": OpKind.COPY,
    "shutil.copytree": OpKind.COPY, "os.makedirs": OpKind.MAKE_FOLDER, "os.mkdir": OpKind.MAKE_FOLDER,
}  # fmt: skip
_METHODS: dict[str, OpKind] = {
    "read_text": OpKind.READ, "read_bytes": OpKind.READ, "write_text": OpKind.WRITE, "write_bytes": OpKind.WRITE,
    "unlink": OpKind.DELETE, "rename": OpKind.MOVE, "touch": OpKind.APPEND,
    "mkdir": OpKind.MAKE_FOLDER,
}  # fmt: skip


# What gives back the paths that it is given, in a list or one by one.
_SAME = {"str", "sorted", "list", "set", "reversed", "os.path.abspath", "os.path.expanduser", "os.fspath"}
_JOINING = {"Path", "pathlib.Path", "PurePath", "os.path.join", "join", "path.join"}


@dataclass(slots=True)
class _Reader:
    matches: Matches
    # The texts that a name may stand for.
    names: dict[str, _Texts]
    ops: list[tuple[int, FileOp]] = field(default_factory=list)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    line: int = 0
    depth: int = 0

    def visit_all(self, nodes: Sequence[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit(self, node: ast.AST) -> None:
        """Take down the calls in a node, inner ones first: what is read is read before it is written."""
        if isinstance(node, ast.stmt) and not self.depth:
            self.line = node.lineno
        match node:
            case ast.FunctionDef():
                self.functions[node.name] = node
            case ast.ClassDef() | ast.Lambda() | ast.ExceptHandler():
                pass
            case ast.Assign(targets=[target], value=value):
                self.visit(value)
                self.bind(target, value)
            case ast.For(target=target, iter=items, body=body):
                self.visit(items)
                self.bind(target, ast.List([]) if isinstance(items, ast.Constant) else items)
                self.visit_all(body)
            case _:
                self.visit_all(list(ast.iter_child_nodes(node)))
                if isinstance(node, ast.Call):
                    self.call(node)

    def bind(self, target: ast.AST, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name | ast.arg):
            self.names[target.id if isinstance(target, ast.Name) else target.arg] = self.value(value)
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.List | ast.Tuple):
            rows = [row.elts for row in value.elts if isinstance(row, ast.Tuple | ast.List)]
            for number, name in enumerate(target.elts):
                self.bind(name, ast.List([row[number] for row in rows if len(row) > number]))

    def call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        given = [self.value(argument) for argument in node.args] + [(), ()]
        if name in _OPEN:
            self._take(_mode(node, 1), given[0], ())
        elif name in _CALLS:
            self._take(_CALLS[name], given[0], given[1])
        elif name in self.functions and self.depth < _MOST_DEPTH:
            self._enter(self.functions[name], node)
        elif isinstance(node.func, ast.Attribute) and (method == "open" or method in _METHODS):
            self._take(_METHODS.get(method) or _mode(node, 0), self.value(node.func.value), given[0])

    def _enter(self, function: ast.FunctionDef, node: ast.Call) -> None:
        self.called.add(function.name)
        outer = dict(self.names)
        named = {each.arg: each.value for each in node.keywords}
        for number, parameter in enumerate(function.args.args):
            self.bind(parameter, node.args[number] if number < len(node.args) else named.get(parameter.arg))
        self.depth += 1
        self.visit_all(function.body)
        self.depth -= 1
        self.names = outer

    def _take(self, kind: OpKind | None, paths: _Texts, others: _Texts) -> None:
        two = kind in (OpKind.MOVE, OpKind.COPY)
        if kind and (len(others) == 1 or not two):
            self.ops.extend((self.line, FileOp(kind, path, others[0] if two else "")) for path in paths)

    def value(self, node: ast.expr | None) -> _Texts:
        """Return the texts that an expression may stand for; none where it is not spelt out."""
        match node:
            case ast.Constant(value=str(text)):
                return (text,)
            case ast.Name(id=name):
                return self.names.get(name, ())
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return tuple(text for item in items for text in self.value(item))[:_MOST_VALUES]
            case ast.JoinedStr(values=parts):
                return self._joined(
                    [part.value if isinstance(part, ast.FormattedValue) else part for part in parts], ""
                )
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._joined([left, right], "")
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._joined([left, right], "/")
            case ast.Subscript(value=ast.Attribute(attr="argv"), slice=ast.Constant(value=int(n))):
                return self.names["sys.argv"][n : n + 1] if n > 0 else ()
            case ast.Call():
                return self._called(node)
        return ()

    def _called(self, node: ast.Call) -> _Texts:
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in _JOINING:
            return self._joined(node.args, "/") if node.args else (".",)
        if name in _SAME and len(node.args) == 1:
            return self.value(node.args[0])
        if not isinstance(node.func, ast.Attribute):
            return ()
        if method in ("glob", "iglob", "rglob") and node.args:
            globs = self.value(node.args[0])
            if not name.startswith("glob."):
                globs = self._joined([node.func.value, node.args[0]], "/**/" if method == "rglob" else "/")
            return tuple(path for glob in globs for path in self.matches(glob))[:_MOST_VALUES]
        return self.value(node.func.value) if method in ("resolve", "absolute", "expanduser") else ()

    def _joined(self, parts: Sequence[ast.expr], between: str) -> _Texts:
        texts: _Texts = ("",)
        for number, part in enumerate(parts):
            values = self.value(part)
            if len(texts) * len(values) > _MOST_VALUES:
                return ()
            texts = tuple(
                one if between and one.startswith("/") else text + (between if number else "") + one
                for text in texts
                for one in values
            )
        return texts


def _mode(node: ast.Call, place: int) -> OpKind | None:
    """Return what a file is opened for; None where the script does not spell it out."""
    told = next((each.value for each in node.keywords if each.arg == "mode"), ast.Constant("r"))
    told = node.args[place] if place < len(node.args) else told
    mode = told.value if isinstance(told, ast.Constant) and isinstance(told.value, str) else ""
    kinds = {"w": OpKind.WRITE, "x": OpKind.WRITE, "a": OpKind.APPEND, "+": OpKind.WRITE, "r": OpKind.READ}
    return next((kind for letter, kind in kinds.items() if letter in mode), None)
