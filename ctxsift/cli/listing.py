"""`ctxsift list`: the backends, methods of compaction and importers of this installation, other packages' included."""

from __future__ import annotations

import argparse

from ctxsift.cli.parser import CommandParser
from ctxsift.errors import CtxsiftError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from importlib.metadata import EntryPoint

    from ctxsift.cli.signals import Signals

SUBCOMMAND = "list"
BUILT_IN = "built-in"
# The distribution whose entry points are built in.
_OWN = "ctxsift-bench"

_EPILOG = """\
examples:
  ctxsift list
  ctxsift list methods
  ctxsift list backends --json

Each line shows a name, its origin (built-in, or the package that provides it) and a description. Pass a backend to
`ctxsift compress --backend`, and a method to `ctxsift compact --method`. Importers read sessions for `ctxsift session`.
To list judges, use `python -m benchmark.utilization --list-judges`; to list models, use `python -m benchmark.runner
--list-scenarios`.

exit code: 0 success; 1 stdout could not be written to; 2 the arguments are wrong
"""


def add_parser(commands: argparse._SubParsersAction[CommandParser]) -> None:
    """Add this subcommand."""
    one = commands.add_parser(SUBCOMMAND, help="list backends, compaction methods and importers", epilog=_EPILOG)
    one.set_defaults(handler=run)
    one.add_argument("kind", nargs="?", choices=list(_KINDS), metavar="KIND", help=f"{', '.join(_KINDS)}; default: all")
    one.add_argument("--json", action="store_true", help="print the list as JSON")


def run(options: argparse.Namespace, command: list[str], signals: Signals) -> int:
    """Print them; return the exit code that the help tells."""
    from ctxsift.terminal import show_columns, show_json

    del command, signals
    kinds = [options.kind] if options.kind else list(_KINDS)
    found = [(kind, *each) for kind in kinds for each in sorted(_KINDS[kind]())]
    if options.json:
        show_json([dict(zip(("kind", "name", "from", "what"), each, strict=True)) for each in found])
    else:
        show_columns([(kind.removesuffix("s"), *each) for kind, *each in found])
    return 0


def _backends() -> Iterator[tuple[str, str, str]]:
    from importlib.metadata import entry_points

    from ctxsift.backends.registry import GROUP, backend_class

    for point in entry_points(group=GROUP):
        try:
            what = _said_of(backend_class(point.name))
        except CtxsiftError as error:
            says = _read_of(point)
            what = f"{says}; {error}" if says else str(error)
        yield point.name, _origin(point), what


def _methods() -> Iterator[tuple[str, str, str]]:
    from importlib.metadata import entry_points

    from ctxsift.sessions.compaction.controls import RecordedSummary
    from ctxsift.sessions.compaction.methods import GROUP, METHODS, RECORDED
    from ctxsift.sessions.compaction.modelled import MODELLED

    for name, make in {**METHODS, RECORDED: RecordedSummary}.items():
        yield name, BUILT_IN, _said_of(make) + (" (rules; or a model, with --model)" if name in MODELLED else "")
    for point in entry_points(group=GROUP):
        try:
            made = point.load()
        except Exception as error:  # other people's code
            what = f"cannot be loaded ({type(error).__name__}: {error})"
        else:
            what = _said_of(made) + (" (needs --model)" if getattr(made, "needs_model", False) else "")
        yield point.name, _origin(point), what


def _importers() -> Iterator[tuple[str, str, str]]:
    from ctxsift.sessions.reading import IMPORTERS

    for importer in IMPORTERS:
        yield importer.format, BUILT_IN, _said_of(importer)


_KINDS: dict[str, Callable[[], Iterator[tuple[str, str, str]]]] = {
    "backends": _backends,
    "methods": _methods,
    "importers": _importers,
}


def _origin(point: EntryPoint) -> str:
    """Return the package that brought it, with its version."""
    if point.dist is None or point.dist.name == _OWN:
        return BUILT_IN
    return f"{point.dist.name} {point.dist.version}"


def _said_of(made: object) -> str:
    """Return what its first line says it is, for those who do not read code."""
    # Of what is made with settings, the class says it.
    return _first(getattr(getattr(made, "func", made), "__doc__", None)) or "says nothing of itself"


def _first(doc: str | None) -> str:
    line = (doc or "").strip().partition("\n")[0]
    return line.partition("; see ")[0].partition(". ")[0].rstrip(".")


def _read_of(point: EntryPoint) -> str:
    """Return what the source says of a class that cannot be imported; empty where it cannot be read."""
    import ast
    from importlib.util import find_spec
    from pathlib import Path

    try:
        spec = find_spec(point.module)
        body = ast.parse(Path((spec and spec.origin) or "").read_bytes()).body
    except Exception:  # other people's packages
        return ""
    found = [each for each in body if isinstance(each, ast.ClassDef) and each.name == point.attr]
    return _first(ast.get_docstring(found[0])) if found else ""
