"""Renamed and renumbered cases: whether answers follow the output, or have names of the case as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmark.cases import Case, Corpus
from benchmark.corpus.variants import variant_of
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.scoring import Embedder
from benchmark.scoring.anchors import missing_anchors
from benchmark.stress.changing import (
    Changed,
    answers_of,
    by_turns,
    changed,
    id_of,
    keeps_gold,
    kept_values,
    paired,
    score_values,
)
from benchmark.stress.figures import Estimate, estimate, estimate_text
from ctxsift.preselection import tokens_in

TITLES = (
    *("scenario", "case", "cases", "skipped", "score", "difference"),
    *("anchors kept", "anchors gained", "old names"),
)
AS_IT_IS = "unchanged"
ALL = "all variants"
_PERCENT = 100.0


@dataclass(frozen=True)
class Varied:
    """A case as it is, or one of its variants.

    Attributes:
        changed: the case.
        old: anchors of the case as it is that stand nowhere in the variant; empty for the case as it is.

    """

    changed: Changed
    old: tuple[str, ...]


@dataclass(frozen=True)
class Varying:
    """All cases of an experiment.

    Attributes:
        cases: each base as it is, and its variants.
        kinds: of the variants, in order.
        skipped: kind -> cases of which it renames no anchor, or whose gold would no longer score 100.
        too_long: cases that were left out because of their length.

    """

    cases: tuple[Varied, ...]
    kinds: tuple[str, ...]
    skipped: dict[str, int]
    too_long: int


@dataclass(frozen=True)
class VariantFollowed:
    """A scenario and one variant (`as it is` for none); the gains are from the same cases as they are.

    Attributes:
        score: mean case score, 0 to 100. score_gain: in points.
        anchors_kept: percent of the anchors that its answers keep. anchors_gain: in points.
        old_names: percent of the answers with an anchor of the case as it is that the variant lacks; None for `as it
            is`.

    """

    scenario: str
    variant: str
    cases: int
    score: Estimate | None
    score_gain: Estimate | None
    anchors_kept: Estimate | None
    anchors_gain: Estimate | None
    old_names: Estimate | None


def varying(corpus: Corpus, embedder: Embedder, *, variants: int, count: int, most_tokens: int, seed: int) -> Varying:
    """Return cases as they are, and their variants: those that `--dataset variant:1`, `variant:2` and so on have.

    Args:
        corpus: to be varied.
        embedder: of the scorer.
        variants: of each case.
        count: bases.
        most_tokens: estimated tokens that the input of a base may have.
        seed: draws the bases.

    """
    short = [case for case in corpus.cases if tokens_in(case.raw_input) <= most_tokens]
    # Cases on one capture are renamed together, so a capture comes with all of its cases.
    captures = {case.capture.name for case in short}
    needed = replace(corpus, cases=tuple(case for case in corpus.cases if case.capture.name in captures))
    kinds = tuple(f"variant {number}" for number in range(1, variants + 1))
    renamed = {
        kind: {case.case_id: case for case in variant_of(needed, number).cases} for number, kind in enumerate(kinds, 1)
    }
    found: list[Varied] = []
    skipped: Counter[str] = Counter()
    bases = 0
    for case in by_turns(short, seed):
        if bases == count:
            break
        made = []
        for kind in kinds:
            one = _variant(case, renamed[kind][case.case_id], kind, embedder)
            made += [one] if one else []
            skipped[kind] += one is None
        if made:
            bases += 1
            found += [Varied(changed(case, AS_IT_IS), ()), *made]
    return Varying(tuple(found), kinds, dict(skipped), len(corpus.cases) - len(short))


def _variant(case: Case, renamed: Case, kind: str, embedder: Embedder) -> Varied | None:
    """Return the variant of a case; None where it has all anchors of the case, or where its gold loses its 100."""
    text = "\n".join((renamed.raw_input, renamed.instruction, *renamed.references, *renamed.anchors))
    if not (old := missing_anchors(text, case.anchors)):
        return None
    made = replace(changed(renamed, kind), base=case.case_id)
    return Varied(made, tuple(old)) if keeps_gold(made.case, embedder) else None


def followed(scenario: str, varied: Varying, result: StoredResult) -> list[VariantFollowed]:
    """Return the figures of a scenario: of the cases as they are, of each variant, and of all variants."""
    answers = answers_of(result)
    scores, kept = score_values(answers), kept_values(answers)
    found = []
    for kind, cases in _by_kind(varied):
        score, score_gain = paired(_beside(cases), scores)
        anchors, anchors_gain = paired(_beside(cases), kept)
        old = {}
        for each in cases:
            answer = answers[each.changed.case.case_id]
            if each.old:
                old[answer.question.case_id] = _PERCENT * bool(_old_in(answer, each)), answer.question.cluster
        found.append(
            VariantFollowed(scenario, kind, len(cases), score, score_gain, anchors, anchors_gain, estimate(old))
        )
    return found


def _by_kind(varied: Varying) -> Iterator[tuple[str, list[Varied]]]:
    """Yield the cases as they are, those of each variant that there is, and all variants where there are several."""
    for kind in (AS_IT_IS, *varied.kinds):
        if found := [each for each in varied.cases if each.changed.kind == kind]:
            yield kind, found
    if len(varied.kinds) > 1:
        yield ALL, [each for each in varied.cases if each.changed.kind != AS_IT_IS]


def _beside(cases: Sequence[Varied]) -> Mapping[str, str | None]:
    """Return the id of each case, and that of the same case as it is; None for that case itself."""
    return {
        each.changed.case.case_id: None if each.changed.kind == AS_IT_IS else id_of(each.changed.base, AS_IT_IS)
        for each in cases
    }


def _old_in(answer: Answered, asked: Varied) -> list[str]:
    missing = missing_anchors(answer.recovered.output, asked.old)
    return [name for name in asked.old if name not in missing]


def answer_rows(scenario: str, varied: Varying, result: StoredResult) -> list[dict[str, object]]:
    """Return the score of each answer, and the old names in it, for the JSON file."""
    answers = answers_of(result)
    return [
        {
            "scenario": scenario,
            "case_id": each.changed.case.case_id,
            "score": _PERCENT * answers[each.changed.case.case_id].recovered.case_score,
            "old_names": _old_in(answers[each.changed.case.case_id], each),
        }
        for each in varied.cases
    ]


def case_rows(varied: Varying) -> list[dict[str, object]]:
    """Return what is asked, for the JSON file."""
    return [
        {
            "case_id": each.changed.case.case_id,
            "base": each.changed.base,
            "variant": each.changed.kind,
            "renamed": each.old,
        }
        for each in varied.cases
    ]


def varied_rows(varied: Varying) -> list[list[str]]:
    """Return the rows of the variants without a model."""
    return [
        ["(no model)", kind, str(len(cases)), _skipped(varied.skipped, kind), *["-"] * (len(TITLES) - 4)]
        for kind, cases in _by_kind(varied)
    ]


def followed_row(found: VariantFollowed, skipped: Mapping[str, int]) -> list[str]:
    """Return the row of a scenario and a variant; `skipped` counts the cases that each variant leaves out."""
    return [
        *(found.scenario, found.variant, str(found.cases), _skipped(skipped, found.variant)),
        *(estimate_text(found.score), estimate_text(found.score_gain, signed=True)),
        *(estimate_text(found.anchors_kept, suffix="%"), estimate_text(found.anchors_gain, signed=True)),
        estimate_text(found.old_names, suffix="%"),
    ]


def _skipped(skipped: Mapping[str, int], kind: str) -> str:
    return str(sum(skipped.values()) if kind == ALL else skipped.get(kind, 0))
