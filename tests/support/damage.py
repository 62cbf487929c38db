"""Ways to spoil a right answer, for tests: each one has to cost points.

`python -m tests.support.damage` prints the table.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from benchmark.cases import Case
from benchmark.corpus import load_corpus
from benchmark.scoring import Embedder, score_view
from benchmark.whole_tokens import has_token
from ctxsift.answers.payloads import parse_payload
from ctxsift.answers.recovery import recover
from ctxsift.answers.validation import validate
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent
from ctxsift.prompts import TASK_HEADING

Spoil = Callable[[str, Case], str | None]
_FILE = re.compile(r"[\w-]+\.(?:py|js|ts|tsx|c|h|cpp|hpp|rs|go|java|rb|php|yml|yaml|json|toml|sql|tf|sh|conf|log)\b")
_UNITS = {"ms": "s", "s": "min", "KB": "MB", "MB": "GB", "KiB": "MiB", "MiB": "GiB", "GB": "TB", "bytes": "KiB"}
_UNIT = re.compile(rf"(?<=\d)( ?)({'|'.join(_UNITS)})\b")
_VERB = re.compile(r"\b(is|was|were|are|has|had|did|does|can|could)\b(?! not)")
_GERMAN = {
    "the": "die",
    "a": "ein",
    "an": "ein",
    "and": "und",
    "in": "in",
    "of": "von",
    "is": "ist",
    "was": "war",
    "were": "waren",
    "failed": "scheiterte",
    "because": "weil",
    "with": "mit",
    "at": "bei",
    "for": "wegen",
    "line": "Zeile",
    "to": "zu",
    "from": "aus",
    "by": "durch",
    "has": "hat",
    "are": "sind",
    "after": "nach",
    "on": "auf",
    "it": "es",
    "before": "vor",
    "only": "nur",
    "passed": "bestand",
    "two": "zwei",
    "three": "drei",
    "expected": "erwartet",
    "error": "Fehler",
    "which": "die",
    "file": "Datei",
    "instead": "statt",
    "missing": "fehlend",
    "but": "aber",
    "then": "dann",
    "its": "sein",
}
_PADDING = (
    "It is worth noting that this kind of output is quite common in many projects and that there are usually several "
    "things one could look at next, depending on the situation, the team, the time of day and how much patience "
    "most people still have left for problems like this."
)


@dataclass(frozen=True)
class Damage:
    """One way to spoil an answer.

    Attributes:
        spoil: text and case -> spoiled text, or None where the damage does not apply.
        stage: 0 removes content, 1 changes it, 2 says it of something else, 3 adds to it, 4 wraps all. Damages are
            combined in this order, since removing what another damage brought in would undo that; and of stage 2 only
            one is taken, since a second could put things right again.
        removable: recovery may take it off again.

    """

    name: str
    spoil: Spoil
    stage: int
    removable: bool = False

    def apply(self, text: str, case: Case) -> str | None:
        """Return the spoiled text, or None where the damage does not apply."""
        spoiled = self.spoil(text, case)
        return None if spoiled is None or spoiled == text else spoiled


def kind(case: Case) -> ContractKind:
    return contract_of(case.intent).kind


def drop_anchor(text: str, case: Case) -> str | None:
    for anchor in sorted(case.anchors, key=len, reverse=True):
        if anchor in text and not any(has_token(other, anchor) for other in case.anchors if other != anchor):
            return text.replace(anchor, "") if text.replace(anchor, "").strip() else None
    return None


def change_digit(text: str, case: Case) -> str | None:
    # Never to 0, which would make an octal number of it in YAML.
    return re.sub(r"\d", lambda m: str(int(m.group()) + 1) if m.group() != "9" else "8", text, count=1)


def swap_file(text: str, case: Case) -> str | None:
    match = _FILE.search(text)
    if match is None:
        return None
    others = [name for name in _FILE.findall(case.raw_input) if name != match.group() and name not in text]
    return text.replace(match.group(), others[0] if others else "unrelated_helper.py")


def change_unit(text: str, case: Case) -> str | None:
    return _UNIT.sub(lambda m: m.group(1) + _UNITS[m.group(2)], text, count=1)


def negate(text: str, case: Case) -> str | None:
    if kind(case) is not ContractKind.PLAIN:
        return None
    if re.search(r"\bnot ", text):
        return re.sub(r"\bnot ", "", text)
    return _VERB.sub(r"\1 not", text, count=1)


def swap_numbers(text: str, case: Case) -> str | None:
    """Say the first two different numbers of prose in each other's place."""
    if kind(case) is not ContractKind.PLAIN:
        return None
    found = list(re.finditer(r"(?<![\w.:/-])\d+(?![\w:/-]|\.\d)", text))
    other = next((m for m in found[1:] if m.group() != found[0].group()), None)
    if other is None:
        return None
    first = found[0]
    between = text[first.end() : other.start()]
    return text[: first.start()] + other.group() + between + first.group() + text[other.end() :]


def swap_anchors(text: str, case: Case) -> str | None:
    """Say the first and the last anchor of prose in each other's place."""
    if kind(case) is not ContractKind.PLAIN:
        return None
    places = sorted((text.find(a), a) for a in case.anchors if text.count(a) == 1)
    if len(places) < 2 or places[0][0] + len(places[0][1]) > places[-1][0]:
        return None
    (start, first), (end, last) = places[0], places[-1]
    return text[:start] + last + text[start + len(first) : end] + first + text[end + len(last) :]


def shuffle_words(text: str, case: Case) -> str | None:
    if kind(case) is not ContractKind.PLAIN:
        return None
    words = text.split()
    random.Random(0).shuffle(words)
    return " ".join(words)


def say_the_opposite(text: str, case: Case) -> str | None:
    if kind(case) is not ContractKind.PLAIN:
        return None
    opposites = {"failed": "passed", "passed": "failed", "before": "after", "after": "before", "missing": "present"}
    return re.sub(rf"\b(?:{'|'.join(opposites)})\b", lambda m: opposites[m.group()], text)


def empty_form(text: str, case: Case) -> str | None:
    """Keep the keys of a document and say x for every value."""
    return _document(_blank_values)(text, case)


def translate(text: str, case: Case) -> str | None:
    if kind(case) is not ContractKind.PLAIN:
        return None
    spoiled = re.sub(r"(?<![\w./-])[A-Za-z]+(?![\w./-])", lambda m: _GERMAN.get(m.group(), m.group()), text)
    changed = sum(a != b for a, b in zip(text.split(), spoiled.split(), strict=True))
    return spoiled if changed >= 3 else None


def cut_half(text: str, case: Case) -> str | None:
    half = text[: len(text) // 2]
    # At a word's end, if there is one: half a word is a damage of its own.
    return half.rpartition(" ")[0] or half if len(text) > 3 else None


def lower(text: str, case: Case) -> str | None:
    return text.lower()


def lose_last_item(text: str, case: Case) -> str | None:
    if kind(case) is ContractKind.PLAIN:
        sentences = re.split(r"(?<=[.!?]) (?=[A-Z])", text)
        return " ".join(sentences[:-1]) if len(sentences) > 1 else None
    if case.intent in (Intent.EXACT_LINES, Intent.BULLET_LIST, Intent.TABLE):
        lines = text.split("\n")
        least = 3 if case.intent is Intent.TABLE else 1
        return "\n".join(lines[:-1]) if len(lines) > least else None
    return None


def reorder(text: str, case: Case) -> str | None:
    lines = text.split("\n")
    if case.intent in (Intent.EXACT_LINES, Intent.BULLET_LIST):
        return "\n".join([*lines[1:], lines[0]])
    return "\n".join([*lines[:2], *lines[3:], lines[2]]) if case.intent is Intent.TABLE and len(lines) > 3 else None


def duplicate(text: str, case: Case) -> str | None:
    if case.intent in (Intent.EXACT_LINES, Intent.BULLET_LIST, Intent.TABLE):
        return f"{text}\n{text.rsplit(chr(10), maxsplit=1)[-1]}"
    return f"{text} {text}" if kind(case) is ContractKind.PLAIN else None


def indent_lines(text: str, case: Case) -> str | None:
    # Blanks around an answer as a whole are nobody's fault.
    if case.intent is not Intent.EXACT_LINES or "\n" not in text:
        return None
    return "\n".join(f"  {line}" for line in text.split("\n"))


def swap_columns(text: str, case: Case) -> str | None:
    table = parse_payload(Intent.TABLE, text) if case.intent is Intent.TABLE else None
    if not isinstance(table, list) or len(table[0]) < 2:
        return None
    rows = [[row[1], row[0], *row[2:]] for row in table[1:]]
    return _table([table[0], *rows])


def lose_column(text: str, case: Case) -> str | None:
    table = parse_payload(Intent.TABLE, text) if case.intent is Intent.TABLE else None
    return _table([row[:-1] for row in table]) if isinstance(table, list) and len(table[0]) > 1 else None


def lose_separator(text: str, case: Case) -> str | None:
    lines = text.split("\n")
    return "\n".join([lines[0], *lines[2:]]) if case.intent is Intent.TABLE else None


def _table(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _document(change: Callable[[Any], bool]) -> Spoil:
    """Return the damage that changes the parsed document and writes it again."""

    def spoil(text: str, case: Case) -> str | None:
        if case.intent not in (Intent.JSON, Intent.YAML):
            return None
        before = json.dumps(parse_payload(case.intent, text), default=str)
        value = json.loads(before)
        if value is None or not change(value) or json.dumps(value) == before:
            return None
        if case.intent is Intent.JSON:
            return json.dumps(value, indent=2, ensure_ascii=False)
        return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)).rstrip("\n")

    return spoil


def _objects(value: Any) -> list[dict[str, Any]]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return ([value] if isinstance(value, dict) and value else []) + [o for item in inner for o in _objects(item)]


def _lose_key(value: Any) -> bool:
    for found in _objects(value):
        if len(found) > 1:
            del found[next(iter(found))]
            return True
    return False


def _rename_key(value: Any) -> bool:
    objects = _objects(value)
    if not objects:
        return False
    key, item = objects[-1].popitem()
    objects[-1][f"{key}_name"] = item
    return True


def _add_key(value: Any) -> bool:
    objects = _objects(value)
    if objects:
        objects[0]["confidence"] = "high"
    return bool(objects)


def _wrong_type(value: Any) -> bool:
    for found in _objects(value):
        for key, item in found.items():
            if isinstance(item, bool | int | float):
                found[key] = str(item)
                return True
    return False


def _blank_values(value: Any) -> bool:
    for found in _objects(value):
        for key, item in found.items():
            if not isinstance(item, dict | list):
                found[key] = "x" if isinstance(item, str) else 0
    return bool(_objects(value))


def _swap_values(value: Any) -> bool:
    for found in _objects(value):
        texts = [key for key, item in found.items() if isinstance(item, str)]
        if len(texts) > 1 and found[texts[0]] != found[texts[1]]:
            found[texts[0]], found[texts[1]] = found[texts[1]], found[texts[0]]
            return True
    return False


def truncate_document(text: str, case: Case) -> str | None:
    return text[: int(len(text) * 0.8)] if case.intent is Intent.JSON else None


def lose_indentation(text: str, case: Case) -> str | None:
    if case.intent is not Intent.YAML:
        return None
    spoiled = "\n".join(line.lstrip() for line in text.split("\n"))
    # A list may stand unindented below its key: the same document then.
    return None if parse_payload(Intent.YAML, spoiled) == parse_payload(Intent.YAML, text) else spoiled


def _add(addition: str) -> Spoil:
    """Return the damage that adds a sentence, a line or an item, as the contract has it."""

    def spoil(text: str, case: Case) -> str | None:
        if kind(case) is ContractKind.PLAIN:
            return f"{text} {addition}"
        if case.intent is Intent.BULLET_LIST:
            return f"{text}\n- {addition}"
        return f"{text}\n{addition}"

    return spoil


def add_decoy(text: str, case: Case) -> str | None:
    fresh = [token for token in case.rules.forbidden if not has_token(text, token)]
    return _add(f"Also {fresh[0]}.")(text, case) if fresh else None


def add_dump(text: str, case: Case) -> str | None:
    return f"{text}\n" + "\n".join(case.raw_input.splitlines()[:30])


def quote(text: str, case: Case) -> str | None:
    return f'"{text}"' if case.intent is Intent.EXACT_FORMAT else None


def label(text: str, case: Case) -> str | None:
    return f"Answer: {text}" if case.intent is Intent.EXACT_FORMAT else None


def heading(text: str, case: Case) -> str | None:
    return f"## Summary\n\n{text}" if kind(case) is ContractKind.PLAIN else None


def bullets(text: str, case: Case) -> str | None:
    if kind(case) is not ContractKind.PLAIN or "\n" in text:
        return None
    return "\n".join(f"- {sentence}" for sentence in re.split(r"(?<=[.!?]) (?=[A-Z])", text))


def _wrap(form: str) -> Spoil:
    return lambda text, case: form.format(text=text, task=case.instruction.strip()[:60], heading=TASK_HEADING)


DAMAGES = (
    Damage("anchor dropped", drop_anchor, 0),
    Damage("digit changed", change_digit, 2),
    Damage("file name swapped", swap_file, 0),
    Damage("unit changed", change_unit, 1),
    Damage("negation flipped", negate, 1),
    Damage("numbers swapped", swap_numbers, 2),
    Damage("anchors swapped", swap_anchors, 2),
    Damage("words shuffled", shuffle_words, 2),
    Damage("opposite said", say_the_opposite, 2),
    Damage("prose translated", translate, 1),
    Damage("cut in half", cut_half, 0),
    Damage("case lost", lower, 1),
    Damage("last item or sentence lost", lose_last_item, 0),
    Damage("lines or rows reordered", reorder, 2),
    Damage("exact lines indented", indent_lines, 1),
    Damage("table columns swapped", swap_columns, 2),
    Damage("table column lost", lose_column, 0),
    Damage("table separator lost", lose_separator, 0),
    Damage("key lost", _document(_lose_key), 0),
    Damage("key renamed", _document(_rename_key), 1),
    Damage("key invented", _document(_add_key), 3),
    Damage("wrong type", _document(_wrong_type), 1),
    Damage("values blanked", empty_form, 2),
    Damage("two values swapped", _document(_swap_values), 2),
    Damage("JSON truncated", truncate_document, 0),
    Damage("YAML indentation lost", lose_indentation, 1),
    Damage("rows or text duplicated", duplicate, 3),
    Damage("path invented", _add("See also src/legacy/handler_v2.go:214."), 3),
    Damage("fix hallucinated", _add("To fix it, run pip install --upgrade requests and restart the service."), 3),
    Damage("decoy named", add_decoy, 3),
    Damage("50 words of padding", _add(_PADDING), 3),
    Damage("raw output appended", add_dump, 3),
    Damage("value quoted", quote, 4),
    Damage("value labelled", label, 4, removable=True),
    Damage("heading added", heading, 4),
    Damage("prose as bullets", bullets, 4),
    Damage("fenced", _wrap("```\n{text}\n```"), 4, removable=True),
    Damage("preamble", _wrap("Sure! Here is the answer you asked for:\n\n{text}"), 4, removable=True),
    Damage("closing chatter", _wrap("{text}\n\nLet me know if you need anything else!"), 4, removable=True),
    Damage("visible thought", _wrap("Okay, the user wants this. Let me think.\n\n{text}"), 4, removable=True),
    Damage("reasoning block", _wrap("<think>The log has an error, so I pick it.</think>\n{text}"), 4, removable=True),
    Damage("control token", _wrap("{text}<|im_end|>"), 4, removable=True),
    Damage("prompt echoed", _wrap("{heading} {task}\n{text}"), 4, removable=True),
)


# Said twice the other way round is said rightly ("is not present" for "is missing"); and thought is a smaller share of
# a text that has more around it, which statements forgive. Rows that only the lost column told apart differ again, and
# what is false of a file is not said of it any more once the file has another name.
_UNDOING = {
    ("negation flipped", "opposite said"),
    ("visible thought", "preamble"),
    ("table column lost", "digit changed"),
    ("negation flipped", "digit changed"),
}


def _combine(first: Damage, second: Damage) -> bool:
    if first is second or second.stage == 0 or first.stage > second.stage:
        return False
    return not first.stage == second.stage == 2


def pairs(seed: int, count: int) -> list[tuple[Damage, Damage]]:
    """Return `count` pairs in the order in which they are to be applied, chosen by `seed`."""
    every = [(a, b) for a in DAMAGES for b in DAMAGES if _combine(a, b)]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    return [(a, b) for a, b in chosen if (a.name, b.name) not in _UNDOING]


class Judge:
    """Scores answers to the cases of a corpus, each text once."""

    def __init__(self, cases: Sequence[Case], embedder: Embedder) -> None:
        self._cases = {case.case_id: case for case in cases}
        self._embedder = embedder
        self._scores: dict[tuple[str, str], float] = {}

    def raw(self, text: str, case: Case) -> float:
        """Return the case score of `text` as it stands."""
        key = case.case_id, text
        if key not in self._scores:
            scores = score_view(text, validate(text, case.request), case, self._embedder)
            self._scores[key] = scores.case_score
        return self._scores[key]

    def recovered(self, text: str, case: Case) -> float:
        """Return the case score of `text` after recovery."""
        return self.raw(recover(text, case.request).text, case)


def drops(cases: Sequence[Case], judge: Judge) -> dict[str, list[float]]:
    """Return for each kind of damage what it costs in each case it applies to; content damages in both views."""
    found: dict[str, list[float]] = {damage.name: [] for damage in DAMAGES}
    for case in cases:
        for damage in DAMAGES:
            text = damage.apply(case.expected_output, case)
            if text is not None:
                score = judge.raw(text, case)
                if not damage.removable:
                    score = max(score, judge.recovered(text, case))
                found[damage.name].append(1 - score)
    return found


def raises(
    cases: Sequence[Case], judge: Judge, combined: Sequence[tuple[Damage, Damage]]
) -> Iterator[tuple[str, float]]:
    """Yield what a second damage adds to the score of the first, for every pair and case; it should not be above 0."""
    for case in cases:
        for first, second in combined:
            once = first.apply(case.expected_output, case)
            twice = second.apply(once, case) if once is not None else None
            if once is not None and twice is not None:
                yield f"{case.case_id}: {first.name}, {second.name}", judge.raw(twice, case) - judge.raw(once, case)


def table(found: dict[str, list[float]]) -> str:
    """Return the damages as lines: kind, cases, how many lowered, mean and least drop."""
    lines = [f"{'damage':28} {'cases':>5} {'lowered':>7} {'mean drop':>9} {'least':>6}"]
    for name, values in found.items():
        lowered = sum(value > 0 for value in values)
        lines.append(f"{name:28} {len(values):5} {lowered:7} {sum(values) / len(values):9.3f} {min(values):6.3f}")
    return "\n".join(lines)


if __name__ == "__main__":
    corpus = load_corpus()
    judge = Judge(corpus.cases, Embedder())
    print(table(drops(corpus.cases, judge)))
    changes = list(raises(corpus.cases, judge, pairs(0, 10_000)))
    print(f"{len(changes)} pairs of damages; the second raised the score by at most {max(c for _, c in changes):.6f}")
