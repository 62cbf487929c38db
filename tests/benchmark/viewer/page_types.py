"""The records of the page as TypeScript, which its scripts are checked against.

`python -m tests.benchmark.viewer.page_types` writes them anew.
"""

from __future__ import annotations

import types
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from benchmark.viewer import chart_records, compaction_records, page_records, stress_records
from benchmark.viewer.page import FOLDER
from benchmark.viewer.page_records import PageRecord

FILE = FOLDER / "page_records.d.ts"
_HEAD = "// Made from the records of benchmark.viewer: python -m tests.benchmark.viewer.page_types\n"
_PRIMITIVES = {str: "string", int: "number", float: "number", bool: "boolean", object: "unknown", type(None): "null"}


def declarations() -> str:
    """Return an interface for each record of the page; a field that may be left out is optional."""
    modules = page_records, chart_records, compaction_records, stress_records
    found = [each for module in modules for each in vars(module).values()]
    kinds = dict.fromkeys(each for each in found if isinstance(each, type) and issubclass(each, PageRecord))
    return "\n".join([_HEAD, *(_interface(kind) for kind in kinds if kind.__struct_fields__)])


def _interface(kind: type[PageRecord]) -> str:
    hints = get_type_hints(kind)
    lines = [f"/** {(kind.__doc__ or '').splitlines()[0]} */", f"export interface {kind.__name__} {{"]
    for field in msgspec.structs.fields(kind):
        optional = kind.__struct_config__.omit_defaults and not field.required
        lines.append(f"  {field.name}{'?' if optional else ''}: {_type(hints[field.name], optional=optional)};")
    return "\n".join([*lines, "}", ""])


def _type(hint: Any, *, optional: bool = False) -> str:
    arguments = get_args(hint)
    origin = get_origin(hint)
    if origin is list:
        inner = _type(arguments[0])
        return f"({inner})[]" if isinstance(arguments[0], types.UnionType) else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {_type(arguments[1])}>"
    if isinstance(hint, types.UnionType):
        left_out = {msgspec.UnsetType, types.NoneType} if optional else set()
        return " | ".join(_type(each) for each in arguments if each not in left_out)
    return _PRIMITIVES.get(hint) or str(hint.__name__)


if __name__ == "__main__":
    FILE.write_text(declarations(), encoding="utf-8")
