"""Every figure that documents tell of the packaged corpus: `make tables` measures them anew and writes them.

The figures of `benchmark.validity` are written for the viewer, too.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark.cases import EASY_TIER, Case
from benchmark.corpus import load_corpus
from benchmark.corpus.answers import read_answers
from benchmark.corpus.model_answers import read_model_answers
from benchmark.grading.baselines import (
    GOLD,
    SHIPPED,
    ReferenceScores,
    ShippedScores,
    read_shipped,
    shipped_scores,
    shipped_text,
)
from benchmark.record.validity import MEASURED, Validity, read_validity, validity_text
from benchmark.scoring import Embedder, score_view
from benchmark.scoring.said import is_prose
from benchmark.validity.measures import measure
from ctxsift.compression import examine
from ctxsift.files import write_atomically
from ctxsift.terminal import show
from tests.conftest import ROOT
from tests.support.control_table import board_table, control_scores, control_table
from tests.support.corpus_tables import blind_table, card, clusters_text
from tests.support.judges_table import judges_table, types_table
from tests.support.marks import BLOCK, INLINE, renewed
from tests.support.models_table import models_texts
from tests.support.probes_table import (
    answered_table,
    bars_table,
    costs_table,
    order_table,
    probed,
    probes_table,
    published_answers,
)
from tests.support.published_table import PUBLISHED_PAGE, published_texts
from tests.support.results import blind_answers
from tests.support.validity_table import validity_table

DOCUMENTS = (
    ROOT / "README.md",
    ROOT / "docs" / "judging.md",
    ROOT / "docs" / "models.md",
    ROOT / "docs" / "probes-measurement.md",
    ROOT / "docs" / "probes.md",
    PUBLISHED_PAGE,
    ROOT / "docs" / "runner.md",
    ROOT / "docs" / "scoring.md",
    ROOT / "benchmark" / "corpus" / "README.md",
)
_FIGURE = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])")
# By decimals: scores in [0, 1] have three, final scores one. Counts, bars and shares in per cent are met exactly.
_TOLERANCES = {1: 0.1, 3: 0.002}
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Figures:
    """What is measured on the packaged corpus.

    Attributes:
        controls: final scores of gold and the baselines, best first.
        easy_controls: the same on the easy tier.
        blind: case scores of blind readers, by case.
        shipped: case scores of gold and the baselines.

    """

    cases: tuple[Case, ...]
    embedder: Embedder
    controls: dict[str, float]
    easy_controls: dict[str, float]
    validity: Validity
    blind: dict[str, float]
    shipped: ShippedScores


@cache
def measured() -> Figures:
    """Measure all of them, once in a process."""
    corpus, embedder = load_corpus(), Embedder()
    references = ReferenceScores(embedder, shipped=None)
    return Figures(
        cases=corpus.cases,
        embedder=embedder,
        controls=control_scores(corpus.cases, references),
        easy_controls=control_scores([case for case in corpus.cases if EASY_TIER in case.tags], references),
        validity=measure(corpus, read_answers(), read_model_answers(), embedder, references),
        blind=blind_scores(corpus.cases, embedder),
        shipped=shipped_scores(corpus.cases, references.scores(corpus.cases)),
    )


def blind_scores(cases: tuple[Case, ...], embedder: Embedder) -> dict[str, float]:
    """Return what the blind readers' answers score, by case."""
    answers, found = blind_answers(), {}
    for case in cases:
        recovered = examine(answers[case.case_id], case.request)[1]
        found[case.case_id] = score_view(recovered.text, recovered.validation, case, embedder).case_score
    return found


def texts(figures: Figures) -> dict[str, str]:
    """Return what stands between the marks, by their names."""
    cases = figures.cases
    best_easy = max(score for name, score in figures.easy_controls.items() if name != GOLD)
    return {
        "board table": board_table(figures.controls),
        "control table": control_table(figures.controls),
        "validity table": validity_table(figures.validity),
        "probes table": probes_table(probed()),
        "costs table": costs_table(probed()),
        "probes bars": bars_table(probed()),
        "answers table": answered_table(published_answers()),
        "answers order": order_table(published_answers()),
        "judges table": judges_table(),
        "judges by type": types_table(),
        **models_texts(),
        **published_texts(),
        "corpus card": card(cases, figures.embedder.count_tokens),
        "blind table": blind_table(cases, figures.blind),
        "captures": clusters_text(cases),
        "cases": f"{len(cases)}",
        "easy cases": f"{sum(EASY_TIER in case.tags for case in cases)}",
        "prose cases": f"{sum(map(is_prose, cases))}",
        "unseen auc": f"{_unseen_auc(figures.validity):.3f}",
        "best easy baseline": f"{best_easy:.1f}",
    }


def _unseen_auc(validity: Validity) -> float:
    """Return how well the score tells right from wrong on answers of writers whom nobody tuned on."""
    return next(each.value for each in validity.figures if each.half == "held out" and each.measure.startswith("AUC"))


def stale(figures: Figures) -> Iterator[str]:
    """Yield each file, with the line, that tells other figures than these, by more than two processors differ."""
    found = texts(figures)
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        yield from _other(document, _lines(text), _lines(renewed(text, found)))
    yield from _other(MEASURED, list(_told(read_validity())), list(_told(figures.validity)))
    yield from _other(SHIPPED, list(_scored(read_shipped())), list(_scored(figures.shipped)))


def _scored(shipped: ShippedScores) -> Iterator[str]:
    yield f"versions {shipped.versions}"
    for digest, scores in shipped.cases.items():
        yield from (f"case {digest}, {name}: {score:.3f}" for name, score in scores.items())


def _other(file: Path, told: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    for old, new in itertools.zip_longest(told, known, fillvalue=""):
        if not same(old, new):
            yield f"{file.relative_to(ROOT)}: {old!r} should be {new!r}"


def _lines(document: str) -> list[str]:
    """Return the lines; rows that tell of the same things in another order are brought into one."""
    blocks = [mark.group().splitlines() for mark in BLOCK.finditer(document)]
    inline = [line for line in document.splitlines() if INLINE.search(line)]
    return [*inline, *(line for block in blocks for line in sorted(block, key=lambda row: row.split("|")[:3]))]


def _told(validity: Validity) -> Iterator[str]:
    """Yield what a measurement says; the hashes of corpus and answers say where it comes from, and may be older."""
    yield f"scorer {validity.scorer_version}"
    for figure in validity.figures:
        final = "final score" in figure.measure
        value = f"{figure.value:.1f}" if final else f"{figure.value:.3f}"
        yield f"{figure.half}, {figure.measure}: {value} over {figure.count} ({figure.limit} {figure.bar})"
    yield from (f"{answer.case_score:.3f}" for answer in (*validity.worst_right, *validity.best_wrong))


def same(told: str, known: str) -> bool:
    """Say whether two lines tell the same, but for the last digits of scores."""
    if _FIGURE.sub("#", told) != _FIGURE.sub("#", known):
        return False
    return all(_near(a, b) for a, b in zip(_FIGURE.findall(told), _FIGURE.findall(known), strict=True))


def _near(told: str, known: str) -> bool:
    tolerance = _TOLERANCES.get(len(known.partition(".")[2]), 0.0)
    return abs(float(told.replace(",", "")) - float(known.replace(",", ""))) <= tolerance + _ROUNDING


def main() -> int:
    """Write all of them, and say where something changed."""
    figures = measured()
    found = texts(figures)
    files: dict[Path, str] = {document: renewed(document.read_text(encoding="utf-8"), found) for document in DOCUMENTS}
    files[MEASURED] = validity_text(figures.validity)
    files[SHIPPED] = shipped_text(figures.shipped)
    for file, text in files.items():
        if file.read_text(encoding="utf-8") != text:
            write_atomically(file, text)
            show(f"written: {file.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
