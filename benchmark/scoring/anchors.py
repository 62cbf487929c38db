"""preserve: the share of anchors that survived verbatim."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from benchmark.scoring.component_score import ComponentScore
from benchmark.whole_tokens import has_token
from ctxsift.answers.payloads import parse_payload
from ctxsift.intents import Intent


def score_preserve(text: str, anchors: Sequence[str], intent: Intent) -> ComponentScore:
    """Return the share of `anchors` found in `text`; 1.0 for a case without any (unless the text is empty)."""
    if not text.strip():
        return ComponentScore(0.0, tuple(f"missing {a}" for a in anchors))
    haystack = text
    if intent in (Intent.JSON, Intent.YAML):
        # Quoting and escaping belong to the format, not to the token.
        payload = parse_payload(intent, text)
        haystack += "\n" + "\n".join(_scalars(payload)) if payload is not None else ""
    missing = missing_anchors(haystack, anchors)
    score = 1.0 - len(missing) / len(anchors) if anchors else 1.0
    return ComponentScore(score, tuple(f"missing {anchor}" for anchor in missing))


def missing_anchors(text: str, anchors: Sequence[str]) -> list[str]:
    """Return the anchors that are not in `text`."""
    return [anchor for anchor in anchors if not has_token(text, anchor)]


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)
