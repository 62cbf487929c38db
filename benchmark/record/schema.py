"""The JSON Schema of result files, made from the records: `python -m benchmark.record` prints it."""

from __future__ import annotations

from typing import Any

import msgspec

from benchmark.record.base import Record, fields_of, inner_kind
from benchmark.record.result import SCHEMA_VERSION, Result

_DEFS = "$defs"


def result_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a result file, flat where the file is flat."""
    (_, *_), components = msgspec.json.schema_components([Result], ref_template=f"#/{_DEFS}/{{name}}")
    for kind in _records(Record):
        if kind.FLAT and kind.__name__ in components:
            _flatten(kind, components)
    schema = components.pop(Result.__name__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://ctxsift.dev/schemas/result-{SCHEMA_VERSION}.json",
        **schema,
        _DEFS: dict(sorted(components.items())),
    }


def schema_keys() -> set[str]:
    """Return every key that a result file may hold, whatever the object."""
    return _keys(result_schema())


def _records(kind: type[Record]) -> list[type[Record]]:
    return [kind, *(found for child in kind.__subclasses__() for found in _records(child))]


def _flatten(kind: type[Record], components: dict[str, Any]) -> None:
    """Put the properties of the flat fields of a record in the place of these fields."""
    schema = components[kind.__name__]
    properties: dict[str, Any] = {}
    required = [name for name in schema.get("required", []) if name not in kind.FLAT]
    types = {field.name: field for field in msgspec.structs.fields(kind)}
    for key, value in schema["properties"].items():
        flat = kind.FLAT.get(key)
        if flat is None:
            properties[key] = value
            continue
        inner = inner_kind(types[key].type)
        if isinstance(inner, type) and issubclass(inner, Record) and inner.FLAT:
            _flatten(inner, components)
        found = components[inner.__name__]
        for _, name, needed in fields_of(inner):
            if name not in flat.without:
                properties[flat.rename.get(name, name)] = found["properties"][name]
                required += [flat.rename.get(name, name)] if needed and types[key].required else []
    schema["properties"], schema["required"] = properties, list(dict.fromkeys(required))


def _keys(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_keys, value))
    if not isinstance(value, dict):
        return set()
    properties = value.get("properties", {})
    inner = (_keys(item) for item in [*properties.values(), *(v for k, v in value.items() if k != "properties")])
    return set(properties).union(*inner)
