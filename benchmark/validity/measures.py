"""The figures: what answers of known truth, gold and the compressors without a model score."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from benchmark.cases import Case, Corpus
from benchmark.corpus.answers import IRRELEVANT, RIGHT, STUFFING, AnswerSet, CorpusAnswer
from benchmark.corpus.model_answers import AnswerLabel, ModelAnswers
from benchmark.grading.baselines import GOLD, ReferenceScores
from benchmark.record.validity import (
    AUC,
    OF_MODELS,
    RIGHT_MEAN,
    WRONG_MEAN,
    Half,
    Judged,
    Limit,
    Validity,
    ValidityFigure,
)
from benchmark.scoring import SCORER_VERSION, Embedder, scenario_score, score_view
from benchmark.scoring.said import is_prose
from benchmark.statements.text import WORD
from benchmark.statistics import mean, percentile
from benchmark.validity.models import ScoredModelAnswer, ahead, figures_of, scored_answers
from benchmark.validity.simulated import SimulatedAnswers, simulated_figures
from ctxsift.compression import examine
from ctxsift.errors import InputError, did_you_mean
from ctxsift.intents import Intent

# A wrong answer above this would pass for a good one.
_PASSES = 0.70
_SHOWN = 5
_EQUAL_LENGTH = 1.1
_SHUFFLED, _ECHOED = "shuffled", "instruction echoed"
_WRONG = "wrong"
_OK = "ok"
# Statements were written beside the answers of these writers.
_WITH_STATEMENTS = ("first", "second", "third", "fresh")
_FEWEST = 20


# Measure -> the side of the bar that is good, and the bar; None for what is only told.
_BARS: Mapping[str, tuple[Limit, float] | None] = {
    RIGHT_MEAN: (Limit.LEAST, 0.82),
    "right answers, p10": None,
    WRONG_MEAN: None,
    "wrong answers above 0.70, share": (Limit.MOST, 0.15),
    AUC: (Limit.LEAST, 0.92),
    "AUC, right against wrong of equal length": (Limit.LEAST, 0.90),
    "pairs of a case with the right one ahead, share": (Limit.LEAST, 0.94),
    "false reasons above 0.70, share": (Limit.MOST, 0.15),
    "anchors listed, summary, mean": (Limit.MOST, 0.30),
    "anchors listed, recall, mean": (Limit.MOST, 0.45),
    "instruction echoed, summary, mean": (Limit.MOST, 0.30),
    "instruction echoed, recall, mean": (Limit.MOST, 0.45),
    "gold's words shuffled, mean": (Limit.MOST, 0.25),
}
# Kinds of falsehoods, those of the first set among them -> what they are called.
_KINDS = {
    "false-reason": "false reason",
    "cause-effect": "false reason",
    "invented": "invented",
    "polarity": "invented",
    "swapped-roles": "swapped roles",
    "anchors-false": "swapped roles",
    "innocent-blamed": "innocent blamed",
    "blame": "innocent blamed",
    "decoy": "innocent blamed",
    "neighbouring-value": "neighbouring value",
    "value": "neighbouring value",
    "success-claimed": "success claimed",
    "outcome": "success claimed",
    "wrong-outcome": "wrong outcome",
}


def _judged_answers(
    answers: AnswerSet, by_id: Mapping[str, Case], embedder: Embedder
) -> tuple[list[Judged], list[float]]:
    """Return all answers, judged, with those that are made of some of them; and the scores of the answers alone."""
    without: dict[tuple[str, str], Case] = {}
    judged: list[Judged] = []
    own: list[float] = []
    for each in answers.answers:
        if each.case_id not in by_id:
            raise InputError(each.case_id, "has answers, but is not in the corpus", did_you_mean(each.case_id, by_id))
        case, half = by_id[each.case_id], half_of(each)
        if half is Half.TUNED:
            case = without.setdefault((each.case_id, each.writer), without_writer(case, each.writer))
        judged.append(_judge(case, half, each.kind, each.text, embedder))
        own.append(judged[-1].case_score)
        if each.kind == STUFFING:
            made = ((_SHUFFLED, _shuffled(case)), (_ECHOED, case.instruction))
            judged += [_judge(case, half, kind, text, embedder) for kind, text in made]
    return judged, own


def measure(
    corpus: Corpus,
    answers: AnswerSet,
    labelled: ModelAnswers,
    embedder: Embedder,
    references: ReferenceScores | None = None,
) -> Validity:
    """Return all figures.

    Args:
        corpus: with the cases of the answers.
        answers: whose truth is known.
        labelled: what models answered, with the labels of two readers.
        embedder: the scorer's.
        references: with what gold and the baselines have scored already, if anything.

    Raises:
        InputError: there are answers of a case that the corpus does not have.

    """
    by_id = {case.case_id: case for case in corpus.cases}
    judged, own = _judged_answers(answers, by_id, embedder)
    figures = [
        figure
        for half in (Half.HELD_OUT, Half.TUNED)
        for figure in _half_figures(half, [answer for answer in judged if answer.half is half], by_id)
    ]
    scored = scored_answers(labelled.answers, by_id, embedder)
    figures += figures_of(scored)
    sources = list(_sources(zip(answers.answers, own, strict=True), scored))
    figures += simulated_figures(sources, sum(is_prose(case) for case in corpus.cases))
    figures += _whole_figures(corpus.cases, references or ReferenceScores(embedder))
    right = [answer for answer in judged if answer.kind == RIGHT]
    wrong = [answer for answer in judged if _is_wrong(answer)]
    return Validity(
        scorer_version=SCORER_VERSION,
        corpus_sha256=corpus.sha256,
        answers_sha256=answers.sha256,
        labelled_sha256=labelled.sha256,
        figures=figures,
        sources=[source.record for source in sources],
        worst_right=sorted(right, key=lambda answer: answer.case_score)[:_SHOWN],
        best_wrong=sorted(wrong, key=lambda answer: -answer.case_score)[:_SHOWN],
    )


def _sources(
    written: Iterable[tuple[CorpusAnswer, float]], labelled: Sequence[ScoredModelAnswer]
) -> Iterator[SimulatedAnswers]:
    """Yield the scores of each writer for whom nobody wrote statements, and of all models together."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for answer, score in written:
        if answer.writer not in _WITH_STATEMENTS and (answer.is_right or answer.is_wrong):
            found.setdefault(answer.writer, ([], []))[answer.is_wrong].append(score)
    for each in labelled:
        if each.answer.label in (AnswerLabel.RIGHT, AnswerLabel.WRONG):
            found.setdefault(OF_MODELS, ([], []))[each.answer.label is AnswerLabel.WRONG].append(each.score)
    for name, (right, wrong) in found.items():
        if min(len(right), len(wrong)) >= _FEWEST:
            yield SimulatedAnswers(name, right, wrong)


def half_of(answer: CorpusAnswer) -> Half:
    """Return whether anybody may have tuned the scorer on an answer."""
    return Half.HELD_OUT if answer.held_out else Half.TUNED


def without_writer(case: Case, writer: str) -> Case:
    """Return a case that knows no answer of a writer: theirs are judged as those of somebody new."""
    return replace(case, known=tuple(each for each in case.known if each.writer != writer))


def _judge(case: Case, half: Half, kind: str, text: str, embedder: Embedder) -> Judged:
    view = examine(text, case.request)[1]
    scores = score_view(view.text, view.validation, case, embedder)
    return Judged(
        half=half,
        case_id=case.case_id,
        kind=kind,
        text=text,
        case_score=scores.case_score,
        reasons=[reason for part in scores.parts.values() for reason in part.reasons],
    )


def _shuffled(case: Case) -> str:
    words = case.expected_output.split()
    random.Random(case.case_id).shuffle(words)
    return " ".join(words)


def _is_wrong(answer: Judged) -> bool:
    return answer.kind not in (RIGHT, STUFFING, IRRELEVANT, _SHUFFLED, _ECHOED)


def _half_figures(half: Half, judged: Sequence[Judged], cases: Mapping[str, Case]) -> Iterator[ValidityFigure]:
    if not judged:
        return
    values = _values(judged, cases)
    for measure, told in _BARS.items():
        if measure in values:
            (value, count), (limit, bar) = values[measure], told or (None, None)
            yield ValidityFigure(half=half, measure=measure, value=value, count=count, limit=limit, bar=bar)
    for kind in dict.fromkeys(_KINDS.values()):
        if found := _of_kind(judged, kind):
            yield ValidityFigure(half=half, measure=f"wrong by {kind}, mean", value=mean(found), count=len(found))
    irrelevant = _scores(judged, lambda answer: answer.kind == IRRELEVANT)
    if irrelevant:
        yield ValidityFigure(
            half=half, measure="irrelevant answers, mean", value=mean(irrelevant), count=len(irrelevant)
        )


def _values(judged: Sequence[Judged], cases: Mapping[str, Case]) -> dict[str, tuple[float, int]]:
    """Return each measure with its value and what it was taken over."""
    right, wrong = _scores(judged, lambda a: a.kind == RIGHT), _scores(judged, _is_wrong)
    passing = sum(score > _PASSES for score in wrong) / len(wrong)
    found = {
        RIGHT_MEAN: (mean(right), len(right)),
        "right answers, p10": (percentile(right, 10), len(right)),
        WRONG_MEAN: (mean(wrong), len(wrong)),
        "wrong answers above 0.70, share": (passing, len(wrong)),
        AUC: (ahead(right, wrong), len(right) * len(wrong)),
        "AUC, right against wrong of equal length": _ahead_at_equal_length(judged),
        "pairs of a case with the right one ahead, share": _ahead_by_case(judged),
    }
    if reasons := _of_kind(judged, "false reason"):
        found["false reasons above 0.70, share"] = (sum(x > _PASSES for x in reasons) / len(reasons), len(reasons))
    groups = {
        f"{words}, {intent}, mean": [
            a.case_score for a in judged if a.kind == kind and cases[a.case_id].intent is intent
        ]
        for kind, words in ((STUFFING, "anchors listed"), (_ECHOED, _ECHOED))
        for intent in (Intent.SUMMARY, Intent.RECALL)
    }
    groups["gold's words shuffled, mean"] = _scores(judged, lambda a: a.kind == _SHUFFLED)
    return found | {measure: (mean(scores), len(scores)) for measure, scores in groups.items() if scores}


def _of_kind(judged: Sequence[Judged], kind: str) -> list[float]:
    return _scores(judged, lambda answer: _KINDS.get(answer.kind) == kind)


def _ahead_by_case(judged: Sequence[Judged]) -> tuple[float, int]:
    """Return the share of pairs of one case in which the right answer is ahead, and how many pairs there are."""
    won, count = 0.0, 0
    for case_id in sorted({answer.case_id for answer in judged}):
        members = [answer for answer in judged if answer.case_id == case_id]
        right, wrong = _scores(members, lambda a: a.kind == RIGHT), _scores(members, _is_wrong)
        pairs = len(right) * len(wrong)
        if pairs:
            won, count = won + pairs * ahead(right, wrong), count + pairs
    return won / max(1, count), count


def _ahead_at_equal_length(judged: Sequence[Judged]) -> tuple[float, int]:
    """Return the AUC over pairs of which neither has a tenth more words than the other, and how many pairs there are.

    Writers make right answers longer than falsehoods; length alone would tell them apart.
    """
    right, wrong = (
        [(len(answer.text.split()), answer.case_score) for answer in judged if wanted(answer)]
        for wanted in (lambda a: a.kind == RIGHT, _is_wrong)
    )
    pairs = [(a, b) for long, a in right for short, b in wrong if max(long, short) <= _EQUAL_LENGTH * min(long, short)]
    return sum((a > b) + 0.5 * (a == b) for a, b in pairs) / max(1, len(pairs)), len(pairs)


def _scores(judged: Sequence[Judged], wanted: Callable[[Judged], bool]) -> list[float]:
    return [answer.case_score for answer in judged if wanted(answer)]


def _whole_figures(cases: Sequence[Case], references: ReferenceScores) -> Iterator[ValidityFigure]:
    embedder, scores = references.embedder, references.scores(cases)
    finals = {name: scenario_score(values, 0.0).final_score for name, values in scores.items()}
    count = len(cases)
    gold = finals.pop(GOLD)
    best = max(finals, key=lambda name: finals[name])
    changed = [score for case in cases if case.intent is Intent.EXACT_FORMAT for score in _other_values(case, embedder)]
    found = (
        ("gold, final score", gold, count, Limit.LEAST, 100.0),
        ('"ok" for everything, final score', finals[_OK], count, Limit.MOST, 2.5),
        (f"best baseline ({best}), final score", finals[best], count, Limit.MOST, 25.0),
        ("exact value with one wrong token, highest", max(changed, default=0.0), len(changed), Limit.MOST, 0.10),
    )
    for name, value, number, limit, bar in found:
        yield ValidityFigure(half=Half.ALL, measure=name, value=value, count=number, limit=limit, bar=bar)


def _other_values(case: Case, embedder: Embedder) -> Iterator[float]:
    """Yield the scores of gold with one character of one of its tokens changed."""
    gold = case.expected_output
    for token in WORD.finditer(gold):
        place = token.end() - 1
        letter = gold[place].lower()
        other = {"9": "8", "x": "y"}.get(letter, "9" if letter.isdigit() else "x")
        yield _judge(case, Half.ALL, _WRONG, gold[:place] + other + gold[place + 1 :], embedder).case_score
