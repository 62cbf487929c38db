"""quality: how close an answer is in meaning to a reference, by the measure that suits its contract."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq, Levenshtein

from benchmark.scoring.component import Component, clamp
from ctxsift.contracts import Intent, Kind, contract_of
from ctxsift.errors import InputError
from ctxsift.payloads import parse_payload

# Unrelated gold answers reach a cosine of 0.41 and a fuzz ratio of 0.45 at their 95th percentile; what two
# texts share by being English about software is no merit, so both scales begin there.
COSINE_FLOOR = 0.45
RATIO_FLOOR = 0.45
_COSINE_SHARE = 0.5
# Beyond this an answer is a dump; what lies behind cannot make it better.
_MAX_CHARS = 20_000
# Structured text that does not parse still tells something, but never more than this.
_UNPARSED_SHARE = 0.4


class Embedder:
    """Static embeddings (WordLlama, 256 dimensions) from the files its wheel ships; no network, no torch.

    Raises:
        InputError: the package or its files are missing. There is no fallback: scores would not compare.

    """

    def __init__(self) -> None:
        try:
            from safetensors import safe_open
            from tokenizers import Tokenizer

            root = files("wordllama")
            tokenizer = str(root / "tokenizers" / "l2_supercat_tokenizer_config.json")
            weights = str(root / "weights" / "l2_supercat_256.safetensors")
            self._tokenizer = Tokenizer.from_file(tokenizer)
            with safe_open(weights, "np") as opened:
                self._table: npt.NDArray[np.float16] = opened.get_tensor("embedding.weight")
        except Exception as error:  # the libraries raise bare exceptions
            raise InputError(
                "scoring", f"the embeddings of the package wordllama cannot be read ({error})", "reinstall wordllama"
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._embed = lru_cache(maxsize=8192)(self._embed_uncached)

    def cosine(self, left: str, right: str) -> float:
        """Return the cosine of the two texts' mean embeddings, in [-1, 1]; 0 when one has no token."""
        return float(self._embed(left) @ self._embed(right))

    def _embed_uncached(self, text: str) -> npt.NDArray[np.float32]:
        ids = self._tokenizer.encode(text[:_MAX_CHARS], add_special_tokens=False).ids
        if not ids:
            return np.zeros(self._table.shape[1], dtype=np.float32)
        mean: npt.NDArray[np.float32] = self._table[ids].astype(np.float32).mean(axis=0)
        norm = float(np.linalg.norm(mean))
        return mean / norm if norm else mean


def score_semantic(text: str, reference: str, intent: Intent, embedder: Embedder) -> Component:
    """Return how close `text` is to `reference` under the contract of `intent`; 1.0 only when they agree."""
    if not text.strip():
        return Component(0.0, ("empty",))
    if text.strip() == reference.strip():
        return Component(1.0)
    kind = contract_of(intent).kind
    if kind is Kind.PLAIN:
        return _plain(text, reference, embedder)
    if kind is Kind.STRUCTURED:
        return _structured(text, reference, intent)
    return _lines(text, reference) if intent is Intent.EXACT_LINES else _value(text, reference)


def _plain(text: str, reference: str, embedder: Embedder) -> Component:
    cosine = embedder.cosine(text, reference)
    ratio = fuzz.token_sort_ratio(text[:_MAX_CHARS], reference) / 100
    meaning = clamp((cosine - COSINE_FLOOR) / (1 - COSINE_FLOOR))
    wording = clamp((ratio - RATIO_FLOOR) / (1 - RATIO_FLOOR))
    # Two texts that embed alike still differ in the digit that matters, so the blend stays below 1.
    score = min(0.999, _COSINE_SHARE * meaning + (1 - _COSINE_SHARE) * wording)
    return Component(score, (f"cosine {cosine:.2f}, wording {ratio:.2f}",))


def _value(text: str, reference: str) -> Component:
    score = Levenshtein.normalized_similarity(text.strip()[:_MAX_CHARS], reference.strip())
    return Component(min(0.999, score), (f"edit similarity {score:.2f}",))


def _lines(text: str, reference: str) -> Component:
    said = [line.rstrip() for line in text.splitlines() if line.strip()][:2000]
    wanted = [line.rstrip() for line in reference.splitlines() if line.strip()]
    common = LCSseq.similarity(said, wanted)
    score = 2 * common / (len(said) + len(wanted))
    return Component(score, (f"{common} of {len(wanted)} lines in order, {len(said)} given",) if score < 1 else ())


def _structured(text: str, reference: str, intent: Intent) -> Component:
    said, wanted = parse_payload(intent, text), parse_payload(intent, reference)
    if said is None or wanted is None:
        ratio = fuzz.ratio(text[:_MAX_CHARS], reference) / 100
        score = _UNPARSED_SHARE * clamp((ratio - RATIO_FLOOR) / (1 - RATIO_FLOOR))
        return Component(score, (f"does not parse as {intent}",))
    if intent is Intent.TABLE:
        said, wanted = _records(said), _records(wanted)
    matched, reasons = _match(said, wanted, "")
    score = 2 * matched / (_leaves(said) + _leaves(wanted))
    return Component(clamp(score), tuple(reasons[:8]))


def _records(table: list[list[str]]) -> list[Any]:
    header, *rows = table
    if len(set(header)) != len(header):
        return [header, *rows]
    return [dict(zip(header, row, strict=True)) for row in rows] or [header]


def _leaves(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_leaves, value.values())) or 1
    if isinstance(value, list):
        return sum(map(_leaves, value)) or 1
    return 1


def _match(said: Any, wanted: Any, path: str) -> tuple[float, list[str]]:
    """Return the leaves of `wanted` that `said` has, near ones in part, and what is wrong."""
    if isinstance(wanted, dict) and isinstance(said, dict):
        total, reasons = 0.0, []
        for key, value in wanted.items():
            if key not in said:
                reasons.append(f"key {path}/{key} is missing")
                continue
            matched, more = _match(said[key], value, f"{path}/{key}")
            total, reasons = total + matched, reasons + more
        extra = [str(key) for key in said if key not in wanted]
        return total + (not wanted and not said), reasons + [f"key {path}/{key} is not asked for" for key in extra]
    if isinstance(wanted, list) and isinstance(said, list):
        return _match_lists(said, wanted, path)
    if isinstance(wanted, dict | list) or isinstance(said, dict | list):
        return 0.0, [f"{path or '/'} has another shape"]
    return _match_scalars(said, wanted, path)


def _match_lists(said: Sequence[Any], wanted: Sequence[Any], path: str) -> tuple[float, list[str]]:
    keys = [[_canonical(item) for item in items] for items in (said[:500], wanted)]
    total = float(not said and not wanted)
    reasons: list[str] = []
    # Equal items in the same order first; what lies between is compared place by place.
    at_said = at_wanted = 0
    for block in [*LCSseq.editops(keys[0], keys[1]).as_matching_blocks(), None]:
        end_said = block.a if block else len(said)
        end_wanted = block.b if block else len(wanted)
        for index in range(at_wanted, end_wanted):
            place = at_said + index - at_wanted
            if place < end_said:
                matched, more = _match(said[place], wanted[index], f"{path}/{index}")
                total, reasons = total + matched, reasons + more
            else:
                reasons.append(f"item {path}/{index} is missing or out of order")
        if end_said - at_said > end_wanted - at_wanted:
            reasons.append(f"{end_said - at_said - end_wanted + at_wanted} items too many in {path or '/'}")
        if block:
            total += sum(map(_leaves, wanted[block.b : block.b + block.size]))
            at_said, at_wanted = block.a + block.size, block.b + block.size
    return total, reasons


def _canonical(value: Any) -> str:
    """Return one text for equal values; YAML allows keys of any type, so JSON cannot do this."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{_canonical(k)}:{_canonical(v)}" for k, v in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return f"{type(value).__name__} {value!r}"


def _match_scalars(said: Any, wanted: Any, path: str) -> tuple[float, list[str]]:
    if type(said) is type(wanted) and said == wanted:
        return 1.0, []
    left, right = str(said), str(wanted)
    if left == right:
        return 0.7, [f"{path or '/'} is {type(said).__name__}, not {type(wanted).__name__}"]
    reasons = [f"{path or '/'} is {left[:60]!r}, not {right[:60]!r}"]
    if not (isinstance(said, str) and isinstance(wanted, str)) or len(right) < 4:
        return 0.0, reasons
    near = Levenshtein.normalized_similarity(left[:2000], right)
    return 0.8 * clamp((near - 0.5) / 0.5), reasons
