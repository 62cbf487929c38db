"""Values of JSON from outside, of whatever type they turn out to be."""

from __future__ import annotations

from collections.abc import Callable

from ctxsift import strict_json
from ctxsift.sessions.records import JsonValue

_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "tool_output"})
_NAMED_BLOCKS = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "document": "file",
    "file": "file",
    "input_file": "file",
}


def text(value: JsonValue) -> str:
    """Return a string, or an empty one for anything else."""
    return value if isinstance(value, str) else ""


def mapping(value: JsonValue) -> dict[str, JsonValue]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def sequence(value: JsonValue) -> list[JsonValue]:
    """Return a list, or an empty one for anything else."""
    return value if isinstance(value, list) else []


def count(value: JsonValue) -> int:
    """Return a number of something, or 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def whole(value: JsonValue) -> int | None:
    """Return an integer, or None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag(value: JsonValue) -> bool | None:
    """Return a boolean, or None for anything else."""
    return value if isinstance(value, bool) else None


def first_text(value: dict[str, JsonValue], *keys: str) -> str:
    """Return the first string that is not empty under one of the keys, or an empty one."""
    return next((found for key in keys if (found := text(value.get(key)))), "")


def text_of(content: JsonValue, skip: Callable[[str], None]) -> str:
    """Return the text of a message's content: a string, or a list of strings and blocks; images and files by name.

    Args:
        content: of the message.
        skip: called with the kind of a block that is not read.

    """
    if isinstance(content, str):
        return content
    parts = []
    for block in [content] if isinstance(content, dict) else sequence(content):
        if isinstance(block, str):
            parts.append(block)
        elif (named := name_of_block(block)) is not None:
            parts.append(named)
        elif block is not None:
            skip(f"block {first_text(mapping(block), 'type') or type(block).__name__}")
    return "\n".join(part for part in parts if part)


def name_of_block(block: JsonValue) -> str | None:
    """Return the text of a text block, or what stands in square brackets for an image or a file; else None."""
    fields = mapping(block)
    kind = text(fields.get("type"))
    if kind in _TEXT_BLOCKS:
        return text(fields.get("text"))
    if kind not in _NAMED_BLOCKS:
        return None
    source = mapping(fields.get("source")) or mapping(fields.get("file"))
    name = first_text(fields, "title", "filename", "name") or first_text(source, "path", "filename", "file_id")
    return f"[{_NAMED_BLOCKS[kind]}{f': {name}' if name else ''}]"


def arguments_of(value: JsonValue) -> dict[str, JsonValue]:
    """Return the arguments of a call, decoded; what is no JSON object stands under the key `input`."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        try:
            decoded = strict_json.decode(value.encode())
        except ValueError:
            decoded = value
        if isinstance(decoded, dict):
            return decoded
    return {} if value is None or value == "" else {"input": value}
