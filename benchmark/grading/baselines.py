"""Floor and ceiling: what gold and the compressors without a model score on cases, by the path of every answer."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmark.cases import Case
from benchmark.record.base import Ratio, Record, sealed_text, unsealed
from benchmark.scoring import SCORER_VERSION, Embedder, case_score_of
from ctxsift.answers.recovery import RECOVERY_VERSION
from ctxsift.backends.baselines import BASELINES, BASELINES_VERSION, baseline_answer
from ctxsift.compression import examine
from ctxsift.errors import InputError
from ctxsift.files import read_bytes

GOLD = "gold"
# What they score on the packaged corpus: they cost a run more than its answers do. `make tables` writes it.
SHIPPED = Path(__file__).with_name("reference_scores.json")
_VERSIONS = (SCORER_VERSION, RECOVERY_VERSION, BASELINES_VERSION)
_HINT = "restore it, or recreate it with: make tables"


class ShippedScores(Record, frozen=True, kw_only=True):
    """Case scores that were measured before.

    Attributes:
        versions: of scorer, recovery and baselines; with others the scores are of no use.
        cases: digest of a case -> score by name, in [0, 1], where it is not 0.

    """

    versions: tuple[str, str, str]
    cases: dict[str, dict[str, Ratio]]


class ReferenceScores:
    """Scores gold and every baseline, each case once.

    Args:
        embedder: for what is not known.
        shipped: file of what is known; None measures everything. A damaged one raises InputError when it is asked.

    """

    def __init__(self, embedder: Embedder, *, shipped: Path | None = SHIPPED) -> None:
        self.embedder = embedder
        self._shipped = shipped
        self._case_scores: dict[tuple[str, str, bool], float] = {}

    def scores(self, cases: Sequence[Case], *, recovery_enabled: bool = True) -> dict[str, list[float]]:
        """Return for gold and each baseline the recovered case scores of `cases`, in their order."""
        names = (GOLD, *BASELINES)
        if self._shipped is not None and recovery_enabled:
            known = _known(self._shipped)
            for case in cases:
                if (GOLD, case.case_id, True) not in self._case_scores and (found := known.get(digest_of(case))):
                    self._case_scores |= {(name, case.case_id, True): found.get(name, 0.0) for name in names}
        return {name: [self._score(name, case, recovery_enabled) for case in cases] for name in names}

    def _score(self, name: str, case: Case, recovery_enabled: bool) -> float:
        key = name, case.case_id, recovery_enabled
        if key not in self._case_scores:
            text = case.expected_output if name == GOLD else baseline_answer(name, case.request)
            view = examine(text, case.request, recovery_enabled=recovery_enabled)[1]
            self._case_scores[key] = case_score_of(view.text, view.validation, case, self.embedder)
        return self._case_scores[key]


def shipped_case_scores(cases: Sequence[Case], path: Path = SHIPPED) -> dict[str, list[float]]:
    """Return what gold and each baseline score on cases of the packaged corpus, in their order, without an embedder.

    Empty where one of them is not among what was measured before. Raises InputError for a damaged file.
    """
    known = _known(path)
    found = [known.get(digest_of(case)) for case in cases]
    told = [scores for scores in found if scores is not None]
    if len(told) < len(found):
        return {}
    return {name: [scores.get(name, 0.0) for scores in told] for name in (GOLD, *BASELINES)}


def digest_of(case: Case) -> str:
    """Return what tells a case apart from any other, and from what it was before a change; 16 hexadecimal digits."""
    return hashlib.sha256(repr(dataclasses.replace(case, where="")).encode()).hexdigest()[:16]


def shipped_scores(cases: Sequence[Case], scores: Mapping[str, Sequence[float]]) -> ShippedScores:
    """Return what is to ship; floats are rounded, so that machines agree.

    Args:
        cases: of the packaged corpus.
        scores: of each name, one a case.

    """
    by_case = {
        digest_of(case): {name: round(each[number], 6) for name, each in scores.items() if each[number]}
        for number, case in enumerate(cases)
    }
    return ShippedScores(versions=_VERSIONS, cases=by_case)


def shipped_text(shipped: ShippedScores) -> str:
    """Return the file of it."""
    return sealed_text(shipped)


def read_shipped(path: Path = SHIPPED) -> ShippedScores:
    """Return what a file holds. Raises InputError when it is not one."""
    try:
        return unsealed(ShippedScores, read_bytes(path, _HINT, most_mb=4))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InputError(str(path), f"does not contain valid reference scores ({error})", _HINT) from error


@functools.cache
def _known(path: Path) -> Mapping[str, Mapping[str, float]]:
    shipped = read_shipped(path)
    return shipped.cases if shipped.versions == _VERSIONS else {}
