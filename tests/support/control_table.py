"""What gold and the baselines score on the packaged corpus, as the tables of README and docs/scoring.md.

`python -m tests.support.control_table` scores them anew and writes the tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmark.analysis.references import ALWAYS_SHOWN, SHOWN_BASELINES
from benchmark.cases import Case
from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.grading.baselines import GOLD, ReferenceScores
from benchmark.scoring import Embedder, scenario_score
from ctxsift.backends.baselines import BASELINES
from ctxsift.files import write_atomically
from ctxsift.terminal import show
from tests.conftest import ROOT

README, SCORING = ROOT / "README.md", ROOT / "docs" / "scoring.md"
_BEGIN, _END = "<!-- control table: python -m tests.support.control_table -->", "<!-- end of control table -->"
_TABLE = re.compile(f"({re.escape(_BEGIN)}\n).*?({re.escape(_END)}\n)", re.DOTALL)


def control_scores(cases: Sequence[Case], references: ReferenceScores) -> dict[str, float]:
    """Return the final scores of gold and each baseline, best first."""
    scores = references.scores(cases)
    finals = {name: scenario_score(values, 0.0).final_score for name, values in scores.items()}
    return dict(sorted(finals.items(), key=lambda item: -item[1]))


def documents(scores: Mapping[str, float]) -> dict[Path, str]:
    """Return the documents with these scores in their tables: all in docs/scoring.md, in README those of a board.

    Raises ValueError when a document has not exactly one such table.
    """
    baselines = [name for name in scores if name != GOLD]
    board = dict.fromkeys([GOLD, *baselines[:SHOWN_BASELINES], ALWAYS_SHOWN])
    return {README: _filled(README, scores, list(board)), SCORING: _filled(SCORING, scores, [GOLD, *baselines])}


def _filled(document: Path, scores: Mapping[str, float], names: Sequence[str]) -> str:
    rows = [f"| {name} | {_does(name)} | {scores[name]:.1f} |" for name in names]
    table = "\n".join(["| on the packaged corpus | | final score |", "|---|---|---|", *rows, ""])
    text, count = _TABLE.subn(lambda found: found[1] + table + found[2], document.read_text(encoding="utf-8"))
    if count != 1:
        raise ValueError(f"{document}: {count} tables between {_BEGIN} and {_END}")
    return text


def _does(name: str) -> str:
    said = "Give the right answer." if name == GOLD else (BASELINES[name].__doc__ or "").splitlines()[0]
    return said.rstrip(".").replace("|", "\\|")


def main() -> int:
    """Write the tables and say where."""
    cases = load_corpus(DEFAULT_CORPUS).cases
    for document, text in documents(control_scores(cases, ReferenceScores(Embedder()))).items():
        write_atomically(document, text)
        show(str(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
