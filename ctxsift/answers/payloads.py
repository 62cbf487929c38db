"""Parsers of the structured contracts: text -> value, or None when the text is anything else, or more."""

from __future__ import annotations

import datetime
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import yaml

from ctxsift.intents import Intent
from ctxsift.strict_json import containers, refuse_constant

# Far above any honest answer; it bounds hostile ones.
MAX_CHARS = 50_000
_MAX_DEPTH = 40
# Python refuses to print integers of more than 4,300 digits.
_MAX_BITS = 4096
# Many times what any file has that ships.
_MOST_NODES = 100_000
_MOST_DIGITS = 1000
# Also in hexadecimal, and as YAML 1.1 writes times of day (`1:30:00`).
_DIGITS = re.compile(r"[-+]?(?:0x)?[0-9a-fA-F_:.]+\Z")
_OPEN_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*\Z")
_CELL = re.compile(r"(?<!\\)\|")
_SEPARATOR = re.compile(r"\s*:?-+:?\s*\Z")
_BULLET = re.compile(r"[ \t]*[-*•][ \t]+(\S.*)")
_CONTINUATION = re.compile(r"(?: {2,}|[ ]*\t)[ \t]*(?![-*•+|>] |#{1,6} |\d+[.)] |```|~~~)\S.*")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_json(text: str) -> Any | None:
    """Return the one JSON object or array in `text`, else None. NaN and duplicate keys are refused."""
    if len(text) > MAX_CHARS or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if _depth_is_bounded(value) else None


def _depth_is_bounded(value: Any) -> bool:
    return all(container.level < _MAX_DEPTH - 1 for container in containers(value))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("duplicate key")
    return made


def parse_yaml(text: str) -> Any | None:
    """Return the one YAML mapping or sequence in `text`, else None. Aliases are refused (they can explode)."""
    if len(text) > MAX_CHARS or "\x00" in text:
        return None
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml_events(text)):
            return None
        value = yaml.load(text, Loader=_Loader)
    except Exception:  # a bad tagged scalar (`!!bool maybe`) raises whatever its constructor trips over
        return None
    return value if isinstance(value, dict | list) and value and _is_plain(value) else None


def yaml_events(text: str) -> Iterator[yaml.Event]:
    """Yield the events of a YAML text, to be looked at before it is loaded: libyaml's composer has no limit of depth.

    Raises:
        ValueError: it is nested too deeply, or holds a number of so many digits that reading it takes long.
        yaml.YAMLError: it is not YAML.

    """
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ValueError(f"nested more than {_MAX_DEPTH} deep")
        if isinstance(event, yaml.ScalarEvent) and len(event.value) > _MOST_DIGITS and _DIGITS.match(event.value):
            raise ValueError(f"holds a number of {len(event.value):,} digits")
        yield event


def refuse_large(text: str) -> None:
    """Refuse a YAML text that comes to far more than anybody writes, before it is loaded.

    Raises:
        ValueError: see `yaml_events`; or it has too many nodes, those counted again that aliases and merges repeat.
        yaml.YAMLError: it is not YAML.

    """
    # Nodes up to each open collection with its anchor; nodes of what has an anchor and is closed.
    opened: list[tuple[int, str | None]] = []
    anchored: dict[str, int] = {}
    nodes = 0
    for event in yaml_events(text):
        if isinstance(event, yaml.CollectionEndEvent):
            before, anchor = opened.pop()
            if anchor is not None:
                anchored[anchor] = nodes - before
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for _, anchor in opened):
                raise ValueError(f"the alias {event.anchor!r} stands within what it names")
            # One that stands for nothing is refused when the text is loaded.
            nodes += anchored.get(event.anchor or "", 1)
        elif isinstance(event, yaml.NodeEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                opened.append((nodes, event.anchor))
            elif event.anchor is not None:
                anchored[event.anchor] = 1
            nodes += 1
        if nodes > _MOST_NODES:
            raise ValueError(f"comes to more than {_MOST_NODES:,} nodes")


def _is_plain(value: Any) -> bool:
    """Say whether a document contains only what JSON could, dates aside: no sets, no bytes, no endless numbers."""
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, int):
        return value.bit_length() <= _MAX_BITS
    return value is None or isinstance(value, str | float | datetime.date)


def parse_table(text: str) -> list[list[str]] | None:
    """Return the cells of the one markdown table in `text`, header row first, separator row left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or len(text) > MAX_CHARS or not all("|" in line for line in lines):
        return None
    rows = [_cells(line) for line in lines]
    width = len(rows[0])
    if any(len(row) != width for row in rows) or not all(_SEPARATOR.match(cell) for cell in rows[1]):
        return None
    return [rows[0], *rows[2:]]


def _cells(line: str) -> list[str]:
    inner = line.strip()
    inner = inner[1:] if inner.startswith("|") else inner
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner)]


def parse_bullets(text: str) -> list[str] | None:
    """Return the items of a text that is nothing but bullets (`-`, `*` or `•`), else None.

    Lines of prose that are indented below a bullet belong to it.
    """
    if len(text) > MAX_CHARS:
        return None
    items: list[list[str]] = []
    for line in text.splitlines():
        bullet = _BULLET.fullmatch(line)
        if bullet is not None:
            items.append([bullet.group(1).strip()])
        elif items and is_continuation(line):
            items[-1].append(line.strip())
        elif line.strip():
            return None
    return [" ".join(item) for item in items] or None


def is_continuation(line: str) -> bool:
    """Say whether `line`, below a bullet, goes on with its text: it is indented and begins nothing of its own."""
    return _CONTINUATION.fullmatch(line) is not None


PARSERS = {
    Intent.JSON: parse_json,
    Intent.YAML: parse_yaml,
    Intent.TABLE: parse_table,
    Intent.BULLET_LIST: parse_bullets,
}


def parse_payload(intent: Intent, text: str) -> Any | None:
    """Return the value of `text` under a structured contract; None when it is broken, or the contract is another.

    Validation and every component of the score parse the same answer, so it is parsed once; each gets its own copy.
    """
    return _copy(_parse(intent, text))


@functools.lru_cache(maxsize=1024)
def _parse(intent: Intent, text: str) -> Any | None:
    parser = PARSERS.get(intent)
    return parser(text) if parser is not None else None


def _copy(value: Any) -> Any:
    """Return a copy of a parsed document; copy.deepcopy takes three times as long."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_copy, value))
    return value


def outer_fence(text: str) -> str | None:
    """Return what stands inside one code fence around the whole of `text`, else None."""
    opening, _, rest = text.strip().partition("\n")
    match = _OPEN_FENCE.match(opening.rstrip())
    inner, _, closing = rest.rpartition("\n") if "\n" in rest else ("", "", rest)
    if match is None or closing.strip() != match.group(1) or match.group(1) in inner:
        return None
    return inner.removesuffix("\r")
