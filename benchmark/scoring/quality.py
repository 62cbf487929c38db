"""quality: how close an answer is in meaning to a reference, by the measure that suits its contract."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz
from rapidfuzz.distance import LCSseq

from benchmark.scoring.component_score import ComponentScore, clamp
from benchmark.scoring.embedder import MAX_CHARS, Embedder
from benchmark.scoring.exact_values import OTHER_VALUE, same_value, value_similarity
from benchmark.scoring.prose_facts import facts, numbers, wording
from benchmark.scoring.shuffled import SALAD, SALAD_LEAVES, is_shuffled
from ctxsift.answers.payloads import outer_fence, parse_payload
from ctxsift.answers.validation import is_prose
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent

# What two texts share by being English about software earns nothing: golds of different cases reach a cosine of 0.34
# and a share of common words of 0.15 at their 95th percentile. Careful paraphrases lie around 0.9 and 0.7; the last
# tenth tells them from gold itself. Each scale: where merit begins, where it is 0.9; 1 is at 1.
COSINE_SCALE = (0.35, 0.90)
RATIO_SCALE = (0.18, 0.70)
_COSINE_SHARE = 0.6
# What is left of the quality of a text that embeds like gold and says other numbers.
_NUMBERS_LEAVE = 0.3
# Times the length of gold from which, and at which, being long leaves less, and nothing.
_LENGTH_FREE, _LENGTH_ZERO = 1.25, 5.0
# Structured text that does not parse still tells something, but never more than this.
_UNPARSED_SHARE = 0.4


def score_quality(text: str, reference: str, intent: Intent, embedder: Embedder) -> ComponentScore:
    """Return how close `text` is to `reference` under the contract of `intent`; 1.0 only when they agree."""
    if not text.strip():
        return ComponentScore(0.0, ("empty",))
    if text.strip() == reference.strip():
        return ComponentScore(1.0)
    kind = contract_of(intent).kind
    if kind is ContractKind.PLAIN:
        return _plain(text, reference, embedder)
    if kind is ContractKind.STRUCTURED:
        return _structured(text, reference, intent)
    return _lines(text, reference) if intent is Intent.EXACT_LINES else _value(text, reference)


def _plain(text: str, reference: str, embedder: Embedder) -> ComponentScore:
    text = text[:MAX_CHARS]
    # A text that holds gold among much else does not mean the same; without this, more of it could come closer.
    longer = len(text.split()) / max(1, len(reference.split()))
    if longer >= _LENGTH_ZERO:
        return ComponentScore(0.0, (f"{longer:.1f} times as long as gold",))
    cosine = embedder.cosine(text, reference)
    ratio = wording(text, reference)
    blend = _COSINE_SHARE * rescale(cosine, *COSINE_SCALE) + (1 - _COSINE_SHARE) * rescale(ratio, *RATIO_SCALE)
    reasons = [f"cosine {cosine:.2f}, wording {ratio:.2f}"]
    factor = 1.0
    if is_shuffled(text, reference):
        factor *= SALAD_LEAVES
        reasons.append(SALAD)
    said, wanted = numbers(text), numbers(reference)
    if said != wanted:
        # Jaccard index plus one free agreement, so that a single extra number does not contradict.
        agreement = (len(said & wanted) + 1) / (len(said | wanted) + 1)
        factor *= _NUMBERS_LEAVE + (1 - _NUMBERS_LEAVE) * agreement
        reasons += [f"number {fact} is missing" for fact in sorted(wanted - said)[:4]]
        reasons += [f"number {fact} is not asked for" for fact in sorted(said - wanted)[:4]]
    if longer > _LENGTH_FREE:
        factor *= clamp((_LENGTH_ZERO - longer) / (_LENGTH_ZERO - _LENGTH_FREE))
        reasons.append(f"{longer:.1f} times as long as gold")
    # Only gold itself is gold.
    return ComponentScore(min(0.999, blend * factor), tuple(reasons))


def rescale(value: float, floor: float, near: float) -> float:
    """Map `floor` to 0, `near` to 0.9 and 1 to 1, linearly between them and never outside [0, 1]."""
    if value <= near:
        return 0.9 * clamp((value - floor) / (near - floor))
    return clamp(0.9 + 0.1 * (value - near) / (1 - near))


def _value(text: str, reference: str) -> ComponentScore:
    score = value_similarity(text.strip()[:MAX_CHARS], reference.strip())
    name = "similarity" if score > OTHER_VALUE else "another value, similarity"
    return ComponentScore(min(0.999, score), (f"{name} {score:.2f}",))


def _lines(text: str, reference: str) -> ComponentScore:
    said = [line.rstrip() for line in text.splitlines() if line.strip()][:2000]
    wanted = [line.rstrip() for line in reference.splitlines() if line.strip()]
    common = LCSseq.similarity(said, wanted)
    score = 2 * common / (len(said) + len(wanted))
    return ComponentScore(score, (f"{common} of {len(wanted)} lines in order, {len(said)} given",) if score < 1 else ())


def _structured(text: str, reference: str, intent: Intent) -> ComponentScore:
    fence = outer_fence(text)
    # A fence is a matter of format.
    body = text if fence is None else fence
    if parse_payload(intent, body) is None:
        ratio = fuzz.ratio(text[:MAX_CHARS], reference) / 100
        score = _UNPARSED_SHARE * rescale(ratio, *RATIO_SCALE)
        return ComponentScore(score, (f"does not parse as {intent}",))
    score, reasons = payload_agreement(body, reference, intent)
    return ComponentScore(score if body == text else min(score, 0.999), reasons)


@lru_cache(maxsize=4096)
def payload_agreement(text: str, reference: str, intent: Intent) -> tuple[float, tuple[str, ...]]:
    """Return how many of the values of two payloads agree (Dice), in [0, 1], and what does not; 0 for broken text."""
    said, wanted = parse_payload(intent, text), parse_payload(intent, reference)
    if said is None or wanted is None:
        return 0.0, ()
    if intent is Intent.TABLE:
        said, wanted = _records(said), _records(wanted)
    elif intent is Intent.BULLET_LIST:
        said, wanted = [_Bullet(item) for item in said], [_Bullet(item) for item in wanted]
    matched, reasons = _match(said, wanted, "")
    return clamp(2 * matched / (_leaves(said) + _leaves(wanted))), tuple(reasons[:8])


class _Bullet(str):
    """A bullet, which may be a sentence instead of a value."""


def column_name(cell: str) -> str:
    """Return the name of a column without case and markdown emphasis, by which columns are told apart."""
    return " ".join(cell.strip("*_` ").casefold().split())


def _records(table: list[list[str]]) -> list[Any]:
    """Return the rows by the names of their columns, in whatever order these stand."""
    header, rows = [column_name(cell) for cell in table[0]], table[1:]
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
    said = _without_repeats(said[:500], wanted)
    keys = [[_canonical(item) for item in items] for items in (said, wanted)]
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


def _without_repeats(said: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """Leave out what is said more often than wanted: a row said twice is not half of the one that is missing."""
    allowed = Counter(map(_canonical, wanted))
    seen: Counter[str] = Counter()
    kept = []
    for item in said:
        key = _canonical(item)
        seen[key] += 1
        if seen[key] <= max(1, allowed[key]):
            kept.append(item)
    return kept


def _canonical(value: Any) -> str:
    """Return one text for equal values; YAML allows keys of any type, so JSON cannot do this."""
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{_canonical(k)}:{_canonical(v)}" for k, v in value.items())) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return f"{type(value).__name__} {value!r}"


def _match_scalars(said: Any, wanted: Any, path: str) -> tuple[float, list[str]]:
    if said == wanted and (type(said) is type(wanted) or {type(said), type(wanted)} == {int, float}):
        return 1.0, []
    left, right = str(said), str(wanted)
    if left == right:
        return 0.7, [f"{path or '/'} is {type(said).__name__}, not {type(wanted).__name__}"]
    reasons = [f"{path or '/'} is {left[:60]!r}, not {right[:60]!r}"]
    if not (isinstance(said, str) and isinstance(wanted, str)):
        return 0.0, reasons
    left = left[:2000]
    if isinstance(wanted, _Bullet) and is_prose(right) and not same_value(left, right) and _same_facts(left, right):
        # Other words of a sentence are no other value.
        return 0.8 * clamp((fuzz.ratio(left, right) / 100 - 0.5) / 0.5), reasons
    return 0.8 * value_similarity(left, right), reasons


def _same_facts(left: str, right: str) -> bool:
    return numbers(left) == numbers(right) and set(facts(left)) == set(facts(right))
