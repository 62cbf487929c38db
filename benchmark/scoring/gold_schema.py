"""A JSON Schema derived from gold, and how far a document keeps it."""

from __future__ import annotations

import functools
import json
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

_TYPES: dict[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def derive_schema(value: Any) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of documents with the keys, types and lengths of `value`.

    Args:
        value: a parsed JSON or YAML document; what JSON does not know (dates) counts as a string.

    """
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {str(key): derive_schema(item) for key, item in value.items()},
            "required": [str(key) for key in value],
            "additionalProperties": False,
        }
    if isinstance(value, list):
        items = [derive_schema(item) for item in value]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
    return {"type": _TYPES.get(type(value), "string")}


def keep_schema(said: Any, wanted: Any) -> tuple[float, list[str]]:
    """Return the share of the places of both documents that agree in key and type, in [0, 1], and what does not."""
    schema = derive_schema(wanted)
    missing = wrong = extra = 0
    reasons: list[str] = []
    seen: set[str] = set()
    for error in _validator(json.dumps(schema)).iter_errors(_jsonable(said)):
        place = "/" + "/".join(str(part) for part in error.absolute_path)
        # One message a missing key, but they are counted together.
        if f"{error.validator} {place}" in seen:
            continue
        seen.add(f"{error.validator} {place}")
        fewer, differs, more, found = _weigh(error, place)
        missing, wrong, extra = missing + fewer, wrong + differs, extra + more
        reasons += found
    places = _places(schema)
    # A key that is misnamed is one key wrong, though it is both missing and too many.
    return max(0, places - missing - wrong) / max(places, places - missing + extra), reasons


def _weigh(error: ValidationError, place: str) -> tuple[int, int, int, list[str]]:
    """Return how many places are missing, wrong and too many by one error, and words for each."""
    schema: dict[str, Any] = error.schema  # type: ignore[assignment]
    instance: Any = error.instance
    inner = place.rstrip("/")
    if error.validator == "required":
        lost = [key for key in schema["required"] if key not in instance]
        places = sum(_places(schema["properties"][key]) for key in lost)
        return places, 0, 0, [f"key {inner}/{key} is missing" for key in lost]
    if error.validator == "additionalProperties":
        more = [key for key in instance if key not in schema["properties"]]
        places = sum(_places(derive_schema(instance[key])) for key in more)
        return 0, 0, places, [f"key {inner}/{key} is not asked for" for key in more]
    if error.validator == "minItems":
        lost_items = schema["prefixItems"][len(instance) :]
        return sum(map(_places, lost_items)), 0, 0, [f"{place} has {len(lost_items)} items too few"]
    if error.validator == "items":
        more_items = instance[len(schema["prefixItems"]) :]
        places = sum(_places(derive_schema(item)) for item in more_items)
        return 0, 0, places, [f"{place} has {len(more_items)} items too many"]
    return 0, _places(schema), 0, [f"{place} is not of type {error.validator_value}"]


def _places(schema: dict[str, Any]) -> int:
    """Count the nodes of the documents that a derived schema describes."""
    inner = [*schema.get("properties", {}).values(), *schema.get("prefixItems", [])]
    return 1 + sum(map(_places, inner))


@functools.lru_cache(maxsize=512)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def _jsonable(value: Any) -> Any:
    """Return the document as JSON knows it: keys are strings, and so are dates."""
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_jsonable(item) for item in value]
    return value if type(value) in _TYPES else str(value)
