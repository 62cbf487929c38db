"""Which files a short Python script reads, writes and removes, by its syntax tree."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto

MOST_SOURCE = 200_000
_MOST_DEPTH = 4
_MOST_VALUES = 500
# No system knows a longer path; `a = a + a` forty times would fill all memory.
_MOST_TEXT = 4096


class OpKind(Enum):
    """What a script does with a file."""

    READ = auto()
    WRITE = auto()
    APPEND = auto()
    DELETE = auto()


@dataclass(frozen=True, slots=True)
class FileOp:
    """One thing a script does with a file."""

    kind: OpKind
    path: str


Matches = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class _Value:
    """Texts that an expression may stand for; `path` for objects of pathlib."""

    texts: tuple[str, ...]
    path: bool = False


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
    reader = _PythonReader(matches, {"sys.argv": _Value(("", *arguments))})
    try:
        reader.block(tree.body)
        for name in reader.functions.keys() - reader.called:
            reader.block(reader.functions[name].body)
    except RecursionError:
        pass
    return [op for line, op in reader.ops if stopped_at is None or line < stopped_at]


_OPEN = {"open", "io.open", "codecs.open"}
_CALLS = {"os.remove": OpKind.DELETE, "os.unlink": OpKind.DELETE, "shutil.rmtree": OpKind.DELETE}
_METHODS = {
    "read_text": OpKind.READ, "read_bytes": OpKind.READ, "write_text": OpKind.WRITE, "write_bytes": OpKind.WRITE,
    "unlink": OpKind.DELETE, "touch": OpKind.APPEND,
}  # fmt: skip


@dataclass(slots=True)
class _PythonReader:
    matches: Matches
    names: dict[str, _Value]
    ops: list[tuple[int, FileOp]] = field(default_factory=list)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)
    line: int = 0
    depth: int = 0

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if not self.depth:
                self.line = statement.lineno
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef():
                self.functions[node.name] = node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.calls(value)
                self.bind(name, self.value(value))
            case ast.For(target=target, iter=items, body=body):
                self.calls(items)
                if isinstance(target, ast.Name):
                    self.bind(target.id, None if isinstance(items, ast.Constant) else self.value(items))
                elif isinstance(target, ast.Tuple) and isinstance(items, ast.List | ast.Tuple):
                    self._bind_rows(target, items)
                self.block(body)
            case ast.ClassDef():
                pass
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.stmt):
                        self.statement(child)
                    elif not isinstance(child, ast.ExceptHandler):
                        self.calls(child)

    def _bind_rows(self, target: ast.Tuple, items: ast.List | ast.Tuple) -> None:
        """Bind `for a, b in [(..., ...), ...]` column by column."""
        rows = [row.elts for row in items.elts if isinstance(row, ast.Tuple | ast.List)]
        for column, name in enumerate(target.elts):
            if isinstance(name, ast.Name):
                values = [self.value(row[column]) for row in rows if len(row) > column]
                texts = [text for value in values if value for text in value.texts]
                self.bind(name.id, _Value(tuple(texts), any(value.path for value in values if value)))

    def bind(self, name: str, value: _Value | None) -> None:
        if value is None:
            self.names.pop(name, None)
        else:
            self.names[name] = value

    def calls(self, node: ast.AST) -> None:
        """Take down the calls in a node, inner ones first: what is read is read before it is written."""
        if isinstance(node, ast.Lambda | ast.FunctionDef):
            return
        for child in ast.iter_child_nodes(node):
            self.calls(child)
        if isinstance(node, ast.Call):
            self.call(node)

    def call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        if name in _OPEN:
            self._open(self._argument(node, 0), node, 1)
        elif name in _CALLS:
            self._take(_CALLS[name], self._argument(node, 0))
        elif isinstance(node.func, ast.Name) and name in self.functions and self.depth < _MOST_DEPTH:
            self._enter(self.functions[name], node)
        elif isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value)
            if receiver is not None and receiver.path:
                if node.func.attr == "open":
                    self._open(receiver, node, 0)
                elif node.func.attr in _METHODS:
                    self._take(_METHODS[node.func.attr], receiver)

    def _enter(self, function: ast.FunctionDef, node: ast.Call) -> None:
        self.called.add(function.name)
        outer = dict(self.names)
        for number, parameter in enumerate(function.args.args):
            given = next((each.value for each in node.keywords if each.arg == parameter.arg), None)
            given = node.args[number] if number < len(node.args) else given
            self.bind(parameter.arg, self.value(given) if given is not None else None)
        self.depth += 1
        self.block(function.body)
        self.depth -= 1
        self.names = outer

    def _open(self, value: _Value | None, node: ast.Call, place: int) -> None:
        told = next((each.value for each in node.keywords if each.arg == "mode"), None)
        told = node.args[place] if place < len(node.args) else told
        mode = told.value if isinstance(told, ast.Constant) and isinstance(told.value, str) else "r"
        if told is not None and not isinstance(told, ast.Constant):
            return
        kinds = {"w": OpKind.WRITE, "x": OpKind.WRITE, "a": OpKind.APPEND}
        kind = next((kinds[letter] for letter in mode if letter in kinds), OpKind.READ)
        self._take(OpKind.WRITE if "+" in mode and kind is OpKind.READ else kind, value)

    def _take(self, kind: OpKind, value: _Value | None) -> None:
        self.ops.extend((self.line, FileOp(kind, text)) for text in (value.texts if value else ()))

    def _argument(self, node: ast.Call, number: int) -> _Value | None:
        return self.value(node.args[number]) if number < len(node.args) else None

    def value(self, node: ast.expr) -> _Value | None:
        match node:
            case ast.Constant(value=str(text)):
                return _Value((text,))
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                known = list(filter(None, map(self.value, items)))
                texts = tuple(text for value in known for text in value.texts)[:_MOST_VALUES]
                return _Value(texts, any(value.path for value in known)) if known else None
            case ast.JoinedStr(values=parts):
                plain = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
                return self._joined(list(map(self.value, plain)), "")
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._joined([self.value(left), self.value(right)], "")
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._joined([self.value(left), self.value(right)], "/", path=True)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id="sys"), attr="argv"), slice=ast.Constant(value=int(n))
            ):
                texts = self.names["sys.argv"].texts
                return _Value((texts[n],)) if 0 < n < len(texts) else None
            case ast.Call():
                return self._called(node)
        return None

    def _called(self, node: ast.Call) -> _Value | None:
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        values = list(map(self.value, node.args))
        if name in ("Path", "pathlib.Path"):
            return self._joined(values, "/", path=True) if values else _Value((".",), path=True)
        if name == "os.path.join":
            return self._joined(values, "/")
        if name in ("str", "sorted", "list") and len(values) == 1:
            return values[0]
        asked = next(iter(values), None)
        if asked is None or not name.endswith("glob"):
            return None
        if name in ("glob.glob", "glob"):
            return self._found(asked.texts, path=False)
        within = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if within is None or not within.path:
            return None
        deep = "**/" if name.endswith("rglob") else ""
        globs = tuple(f"{folder}/{deep}{glob}" for folder in within.texts for glob in asked.texts)
        return self._found(globs, path=True)

    def _found(self, globs: tuple[str, ...], *, path: bool) -> _Value:
        return _Value(tuple(found for glob in globs for found in self.matches(glob))[:_MOST_VALUES], path)

    @staticmethod
    def _joined(values: list[_Value | None], between: str, *, path: bool = False) -> _Value | None:
        texts = [""]
        for number, value in enumerate(values):
            if value is None or len(texts) * len(value.texts) > _MOST_VALUES:
                return None
            texts = [
                one if between and one.startswith("/") else text + (between if number else "") + one
                for text in texts
                for one in value.texts
            ]
            if any(len(text) > _MOST_TEXT for text in texts):
                return None
        return _Value(tuple(texts), path or any(value.path for value in values if value))
