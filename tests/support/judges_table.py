"""How far judges agree with labelled answers, as docs/judging.md shows it: from the calibrations that ship."""

from __future__ import annotations

from collections.abc import Iterator

from benchmark.judges.calibrations import CALIBRATION_FILE
from benchmark.judges.records import CalibratedCriterion, Calibration, Use
from benchmark.judges.rubric import Criterion
from benchmark.probes.calibrating import SHIPPED_CALIBRATIONS
from benchmark.render.figures import MISSING
from benchmark.render.markdown import markdown_table

# File of a calibration -> what its judge is called, best known first.
JUDGES = {
    "rules-first-look": "rules, held-out test",
    "rules": "rules, all labelled answers",
    "reader-1": "reader 1",
    "reader-2": "reader 2",
    "published-words-1": "reader 3, the framework's wording only",
    "published-words-2": "reader 4, the framework's wording only",
    "qwen2.5-coder-0.5b": "Qwen2.5-Coder-0.5B",
}
LABELLED = (
    Criterion.ACCURACY_FACTUAL,
    Criterion.ACCURACY_TECHNICAL,
    Criterion.ARTIFACT_KEY_DETAILS,
    Criterion.COMPLETENESS_COVERAGE,
    Criterion.COMPLETENESS_DEPTH,
)
_MARKS = {Use.LOWER_BOUND_ONLY: "≥ {}", Use.NOT_TO_BE_USED: "({})"}


def shipped_calibrations() -> dict[str, Calibration]:
    """Return the calibrations that ship, by file."""
    paths = {path.stem: path for path in SHIPPED_CALIBRATIONS.glob("*.json")}
    return {name: CALIBRATION_FILE.read(paths[name]) for name in JUDGES if name in paths}


def judges_table() -> str:
    """Return a row for each judge: kappa with its interval, marked by what its scores may be used for."""
    rows = [[JUDGES[name], str(found.answers), *_cells(found)] for name, found in shipped_calibrations().items()]
    table = markdown_table(["judge", "answers", *LABELLED], rows)
    told = (
        "Quadratically weighted kappa \\[95%\\]. ≥: lower bound only; in parentheses: not to be used; the others may "
        "be used."
    )
    return f"{told}\n\n{table}"


def types_table() -> str:
    """Return how rules judge coverage of all labelled answers, by type of question."""
    found = shipped_calibrations()["rules"]
    coverage = next(each for each in found.criteria if each.criterion is Criterion.COMPLETENESS_COVERAGE)
    rows = [
        [
            kind,
            str(each.agreement.answers),
            _kappa(each.agreement.kappa, each.agreement.kappa_interval),
            f"{each.agreement.bias:+.2f}",
            f"{each.agreement.passed} of {each.agreement.wrong}",
            each.use,
        ]
        for kind, each in coverage.types.items()
    ]
    return markdown_table(["questions", "answers", "kappa", "bias", "wrong ones passed", "use"], rows)


def _cells(found: Calibration) -> Iterator[str]:
    by_criterion = {each.criterion: each for each in found.criteria}
    yield from (_cell(by_criterion.get(each)) for each in LABELLED)


def _cell(found: CalibratedCriterion | None) -> str:
    if found is None or not found.agreement.answers:
        return MISSING
    return _MARKS.get(found.use, "{}").format(_kappa(found.agreement.kappa, found.agreement.kappa_interval))


def _kappa(kappa: float | None, interval: tuple[float, float] | None) -> str:
    if kappa is None:
        return MISSING
    return f"{kappa:.2f}" + (f" [{interval[0]:.2f}, {interval[1]:.2f}]" if interval else "")
