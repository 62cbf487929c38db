"""What the packaged corpus contains, as benchmark/corpus/README.md tells it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from benchmark.cases import Case, Difficulty, Origin
from benchmark.corpus.quotas import EVERYDAY, HOSTILE, LONG_TAIL, LONG_TOKENS, MAX_TOKENS, NEGATIVE, SHORT_WORDS
from benchmark.scoring.said import is_prose
from benchmark.statistics import Clusters, mean, percentile

_WIDTH = 118


def card(cases: Sequence[Case], count_tokens: Callable[[str], int]) -> str:
    """Return the card of the corpus: what its cases are like, and how many there are of each kind."""
    words, prose = _words(cases), [case for case in cases if is_prose(case)]
    long = sum(count_tokens(case.raw_input) >= LONG_TOKENS for case in cases)
    real = sum(case.capture.origin == Origin.CAPTURED for case in cases)
    rows = {
        "words in a question: median, maximum": f"{median(words):.0f}, {max(words)}",
        f"questions of at most {SHORT_WORDS} words": f"{sum(count <= SHORT_WORDS for count in words)}",
        "cases about tools in everyday use": _share(cases, EVERYDAY),
        "cases about rare tools": _share(cases, LONG_TAIL),
        "negatives (there is nothing to report)": f"{_tagged(cases, NEGATIVE)}",
        "hostile cases (tag `hostile`)": f"{_tagged(cases, HOSTILE)}",
        f"inputs of {LONG_TOKENS:,} to {MAX_TOKENS:,} tokens (SmolLM2 tokenizer)": f"{long}",
        "prose cases with statements": f"{sum(bool(case.statements) for case in prose)} of {len(prose)}",
        "captures": f"{_captures(cases)}",
        "tools and subcommands in them": f"{len({case.capture.tool for case in cases})}",
        "cases with output from real tools": f"{100 * real / len(cases):.0f}%",
    }
    order = [str(difficulty) for difficulty in Difficulty]
    difficulties = Counter(str(case.difficulty) for case in cases)
    kinds = {
        "intents": _counted(str(case.intent) for case in cases),
        "families": _counted(str(case.family) for case in cases),
        "difficulty": ", ".join(f"{name} {difficulties[name]}" for name in order),
    }
    return "\n".join(
        ["| | |", "|---|---|", *_rows(rows), "", "| | cases |", "|---|---|", *_rows(kinds)],
    )


def blind_table(cases: Sequence[Case], scores: Mapping[str, float]) -> str:
    """Return what blind readers reach by intent."""
    groups = {str(intent): [c for c in cases if c.intent is intent] for intent in {case.intent for case in cases}}
    rows = []
    for name, members in [*sorted(groups.items()), ("all", list(cases))]:
        found = [scores[case.case_id] for case in members]
        rows.append(f"| {name} | {len(found)} | {mean(found):.3f} | {percentile(found, 10):.3f} |")
    return "\n".join(["| intent | answers | mean | p10 |", "| --- | --- | --- | --- |", *rows])


def clusters_text(cases: Sequence[Case]) -> str:
    """Return how many captures count as how many, for docs/scoring.md."""
    sizes = Counter(case.capture.name for case in cases)
    sharing = sum(size for size in sizes.values() if size > 1)
    effective = Clusters.of(case.capture.name for case in cases).effective_count
    return textwrap.fill(
        f"In the packaged corpus {sharing} of the {len(cases)} cases share their capture with another; the effective "
        f"number of its {len(sizes)} captures (Kish, below) is {effective:.0f}.",
        _WIDTH,
    )


def _words(cases: Sequence[Case]) -> list[int]:
    return [len(case.instruction.split()) for case in cases]


def _captures(cases: Sequence[Case]) -> int:
    return len({case.capture.name for case in cases})


def _share(cases: Sequence[Case], tools: frozenset[str]) -> str:
    return f"{100 * sum(case.capture.tool in tools for case in cases) / len(cases):.0f}%"


def _tagged(cases: Sequence[Case], tag: str) -> int:
    return sum(tag in case.tags for case in cases)


def _counted(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(Counter(names).items(), key=lambda n: (-n[1], n[0])))


def _rows(cells: Mapping[str, str]) -> list[str]:
    return [f"| {name} | {value} |" for name, value in cells.items()]
