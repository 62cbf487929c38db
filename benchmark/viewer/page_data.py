"""Stored results -> the records of the page. Figures are those of the files; nothing is scored here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field, replace

import msgspec

from benchmark.analysis.comparison import Comparison, Comparisons, Measure, verdict_of
from benchmark.analysis.leaderboard import Leaderboard, build_leaderboards
from benchmark.analysis.retention import RetentionBoard
from benchmark.analysis.speed import Speed, why_untimed
from benchmark.matrix import Track
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered, InstrumentFailure, ModelFailure, Outcome, Scored
from benchmark.record.result import Question as AskedQuestion
from benchmark.record.validity import Validity
from benchmark.record.views import ScoredView
from benchmark.render.notes import rescore_hint
from benchmark.render.pair import NOT_COMPARABLE, no_verdict
from benchmark.render.pair_words import AnswerTokens, pair_sentence
from benchmark.scoring import COMPONENTS
from benchmark.statistics import Difference
from benchmark.viewer.compaction_data import ProbeRun
from benchmark.viewer.page_records import (
    CaseRow,
    CatalogEntry,
    PageAnswer,
    PageInterval,
    PageQuestion,
    Pair,
    PairFigure,
    PairSpeed,
    Shelf,
    ViewFigures,
    ViewTexts,
)
from benchmark.viewer.spans import RemovedSpan, anchor_spans, answer_spans, removed_spans, thought_spans
from benchmark.viewer.stress_data import StressFile
from ctxsift.contracts import CONTRACTS
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from ctxsift.terminal import in_line, one_line

# Each with each is quadratic: beyond this, pairs have no intervals in the page, and it says so.
MOST_COMPARED = 64
NOT_SCORED = "not scored"
# Of what went wrong, in a list of cases.
_ERROR_CHARS = 120
# Why the answer of a service that sent nothing back is rejected; what a local model does not say is its own doing.
NO_ANSWER = "no answer"
_INTENTS = frozenset(Intent)
_Identity = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Shown:
    """One result as the page holds it.

    Attributes:
        key: names it in everything else the page holds.
        id: names the run in addresses.
        result: without its cases' texts.
        cases: the figures of all its cases.

    """

    key: int
    id: str
    result: StoredResult
    cases: tuple[CaseRow, ...]


@dataclass(frozen=True, eq=False)
class AnsweredQuestion:
    """One question, and the answers of all results by their keys."""

    question: AskedQuestion
    answers: dict[int, PageAnswer] = field(default_factory=dict)


@dataclass(frozen=True)
class Gathered:
    """Everything the page shows, except what is drawn.

    Attributes:
        shown: best first.
        boards: the leaderboards of them, in the same order.
        asked: each question once for all results, with all their answers: they say much the same about the same
            input, so together they pack into a fraction.
        validity: how far scores can be trusted, where that was measured.
        retention: what the results of each board keep of the output, where that is shown.
        probed: results of probes, which have views of their own.
        stressed: files of stress experiments, which have a view of their own.

    """

    shown: tuple[Shown, ...]
    boards: tuple[Leaderboard, ...]
    asked: tuple[AnsweredQuestion, ...]
    comparisons: Comparisons
    validity: Validity | None = None
    retention: tuple[RetentionBoard, ...] = ()
    probed: tuple[ProbeRun, ...] = ()
    stressed: tuple[StressFile, ...] = ()

    @property
    def results(self) -> list[StoredResult]:
        """The results in the order of the page."""
        return [shown.result for shown in self.shown]


def gather(results: Iterable[StoredResult], validity: Validity | None = None) -> Gathered:
    """Return what to show of the results, best first; they are read one at a time and let go of what is not shown."""
    asked: dict[_Identity, tuple[int, AnsweredQuestion]] = {}
    shown: dict[StoredResult, Shown] = {}
    for key, result in enumerate(results):
        is_service = result.track is Track.REMOTE
        rows = tuple(_gather_case(key, outcome, asked, is_service=is_service) for outcome in result.record.cases)
        kept = replace(result, record=msgspec.structs.replace(result.record, cases=[]))
        shown[kept] = Shown(key, _run_id(kept, {each.id for each in shown.values()}), kept, rows)
    comparisons = Comparisons()
    boards = build_leaderboards(shown, comparisons)
    return Gathered(
        shown=tuple(shown[row.result] for board in boards for row in board.rows),
        boards=boards,
        asked=tuple(each for _, each in asked.values()),
        comparisons=comparisons,
        validity=validity,
    )


def questions_of(gathered: Gathered, board: Leaderboard) -> dict[int, AskedQuestion]:
    """Return what the results of a board were asked, by its place in the catalog."""
    on_board = {row.result for row in board.rows}
    places = {case.question for shown in gathered.shown if shown.result in on_board for case in shown.cases}
    return {place: gathered.asked[place].question for place in sorted(places)}


def _run_id(result: StoredResult, taken: Set[str]) -> str:
    """Return what addresses name a run by: the same whatever it is shown with, unless that is a copy of it."""
    name = one_line("~".join(filter(None, (result.name, result.timestamp))))
    return next(found for n in itertools.count(1) if (found := name if n == 1 else f"{name}~{n}") not in taken)


def _gather_case(
    key: int, outcome: Outcome, asked: dict[_Identity, tuple[int, AnsweredQuestion]], *, is_service: bool
) -> CaseRow:
    """Return the figures of one case, and put its texts beside the other results' answers to the same question."""
    values = msgspec.structs.astuple(outcome.question)
    identity = tuple(tuple(value) if isinstance(value, list) else value for value in values)
    place, kept = asked.setdefault(identity, (len(asked), AnsweredQuestion(outcome.question)))
    if isinstance(outcome, InstrumentFailure):
        kept.answers[key] = _unscored_answer(outcome)
        failure = in_line(outcome.error, _ERROR_CHARS)
        return CaseRow(question=place, verdict=NOT_SCORED, attempts=outcome.attempts, failure=failure)
    kept.answers[key] = _answer(outcome)
    row = _case_row(place, outcome)
    return _unanswered(row) if is_service and not outcome.raw.output.strip() else row


def _unanswered(row: CaseRow) -> CaseRow:
    views = (msgspec.structs.replace(view, flags=[NO_ANSWER]) for view in (row.recovered, row.raw) if view)
    return msgspec.structs.replace(row, **dict(zip(("recovered", "raw"), views, strict=True)))


# Figures of a case --------------------------------------------------------------------------------------------------


def _case_row(place: int, case: Scored | ModelFailure) -> CaseRow:
    generation = case.generation
    return CaseRow(
        question=place,
        verdict=words(case.recovered.validation_status),
        attempts=case.attempts,
        recovered=_view_figures(case.recovered),
        raw=_view_figures(case.raw),
        passed=case.recovered.passed,
        failure=words(case.failure_reason or ""),
        ended=words(generation.finish_reason),
        total_ms=_short(generation.total_ms),
        prefill_ms=_short(generation.prefill_ms),
        decode_ms=_short(generation.decode_ms),
        elapsed_ms=_short(case.elapsed_ms),
        prompt_tokens=generation.prompt_tokens,
        answer_tokens=generation.completion_tokens,
        reasoning_tokens=generation.reasoning_tokens,
        input_tokens=case.input_tokens,
        cut_chars=case.input_chars_cut,
        cost_usd=generation.cost_usd,
        memory_bytes=case.cpu_rss_bytes,
        gpu_bytes=generation.gpu_peak_bytes,
    )


def _view_figures(view: ScoredView) -> ViewFigures:
    return ViewFigures(
        score=round(view.case_score, 6),
        parts={component.name: round(getattr(view, component.name), 6) for component in COMPONENTS},
        verdict=words(view.validation_status),
        flags=[words(flag) for flag in view.validation_flags],
        thought=round(view.thought_density, 6),
        # Nothing is counted of what was not given.
        tokens=view.output_tokens if view.output.strip() else None,
    )


def words(name: str) -> str:
    """Return the name of a reason, verdict or field as people read it."""
    return name.replace("_", " ")


def _short(value: float | None) -> float | None:
    # Six decimals are more than anybody reads, and half of what is written.
    return None if value is None else round(value, 6)


# Texts of a case ----------------------------------------------------------------------------------------------------


def _unscored_answer(case: InstrumentFailure) -> PageAnswer:
    unscored = case.unscored_answer
    if isinstance(unscored, msgspec.UnsetType):
        return PageAnswer(error=case.error)
    return PageAnswer(error=case.error, unscored=unscored.generation.text)


def _answer(case: Answered) -> PageAnswer:
    spans, raw_spans = _spans(case)
    recovered, raw = _view_texts(case.recovered, spans), _view_texts(case.raw, raw_spans)
    return PageAnswer(
        error=case.error or "",
        served_by=case.generation.model,
        reasoning=case.generation.reasoning,
        recovered=_beyond(_NO_TEXTS, recovered),
        raw=_beyond(recovered, raw),
    )


_NO_TEXTS = ViewTexts(output="", reasons={}, missing=[], ungrounded=[], spans=[])


def _view_texts(view: ScoredView, spans: Sequence[RemovedSpan]) -> ViewTexts:
    return ViewTexts(
        output=view.output,
        reasons=view.reasons if view.output.strip() else {},
        missing=view.missing_tokens,
        ungrounded=view.ungrounded_facts,
        spans=answer_spans(spans, view.output),
    )


def _beyond(known: ViewTexts, texts: ViewTexts) -> ViewTexts:
    """Return what `texts` says that is not known already."""
    said = msgspec.structs.asdict(texts)
    return ViewTexts(**{name: value for name, value in said.items() if value != getattr(known, name)})


def _spans(case: Answered) -> tuple[list[RemovedSpan], list[RemovedSpan]]:
    """Return what is marked in the recovered and in the raw answer, found as recovery and scorer find it."""
    question = case.question
    if question.raw_input is None or question.intent not in _INTENTS:
        return [], []
    request = Request(question.raw_input, question.instruction or "", Intent(question.intent), question.command)

    def thought(view: ScoredView) -> list[RemovedSpan]:
        # Where nothing was found when the view was scored, nothing is looked for.
        if not view.thought_markers:
            return []
        if isinstance(view.thought_spans, msgspec.UnsetType):
            return thought_spans(view.output, request)
        size = len(view.output)
        return [RemovedSpan(start, min(end, size)) for start, end in view.thought_spans if start < min(end, size)]

    removed = removed_spans(case.raw.output, case.recovered.output, case.recovery_steps)
    return thought(case.recovered), [*removed, *thought(case.raw)]


# Questions ----------------------------------------------------------------------------------------------------------


def shelve(asked: Sequence[AnsweredQuestion]) -> tuple[list[CatalogEntry], list[Shelf]]:
    """Return the catalog, in the order of `asked`, and the shelves: questions about one raw input stand together."""
    shelves: dict[object, list[int]] = {}
    for number, each in enumerate(asked):
        raw_input = each.question.raw_input
        shelves.setdefault(number if raw_input is None else raw_input, []).append(number)
    places = {number: (s, p) for s, numbers in enumerate(shelves.values()) for p, number in enumerate(numbers)}
    catalog = [_catalog_entry(each.question, *places[number]) for number, each in enumerate(asked)]
    filled = [
        Shelf(raw_input=asked[numbers[0]].question.raw_input, questions=[_question(asked[n]) for n in numbers])
        for numbers in shelves.values()
    ]
    return catalog, filled


def _catalog_entry(question: AskedQuestion, shelf: int, place: int) -> CatalogEntry:
    def label(value: str | None) -> str:
        return one_line(words(value or ""))

    return CatalogEntry(
        case_id=question.case_id,
        title=one_line(question.title or ""),
        intent=label(question.intent),
        family=label(question.family),
        domain=label(question.domain),
        tool=one_line(question.tool or ""),
        difficulty=label(question.difficulty),
        output_mode=label(question.output_mode),
        shelf=shelf,
        place=place,
        by_wording=bool(question.by_wording),
    )


def _question(asked: AnsweredQuestion) -> PageQuestion:
    question = asked.question
    anchors, raw_input = question.required_anchors, question.raw_input
    return PageQuestion(
        instruction=question.instruction,
        gold=question.expected_output,
        anchors=anchors,
        command=question.command,
        exit_code=question.exit_code,
        contract=CONTRACTS[Intent(question.intent)].words if question.intent in _INTENTS else "",
        says=question.says or [],
        places=anchor_spans(raw_input, anchors) if raw_input is not None and anchors else [],
        answers={str(key): answer for key, answer in asked.answers.items()},
    )


# Head to head -------------------------------------------------------------------------------------------------------


def pairs(gathered: Gathered) -> list[Pair] | None:
    """Return each result against each that it shares cases with, better ones first; None when there are too many."""
    if len(gathered.shown) > MOST_COMPARED:
        return None
    ranked = _ranked_differences(gathered.boards)
    tokens = {shown: _tokens_of(shown, gathered.asked) for shown in gathered.shown}
    return [
        _pair(a, b, comparison, ranked.get((a.result, b.result)), AnswerTokens.of(tokens[a], tokens[b]))
        for a, b in itertools.combinations(gathered.shown, 2)
        if (comparison := gathered.comparisons.of(a.result, b.result)) is not None
    ]


def _tokens_of(shown: Shown, asked: Sequence[AnsweredQuestion]) -> dict[str, int]:
    """Return the tokens of each answer that was counted, by its case."""
    return {
        asked[case.question].question.case_id: case.recovered.tokens
        for case in shown.cases
        if case.recovered and case.recovered.tokens is not None
    }


@dataclass(frozen=True)
class _RankingDifference:
    """The difference that ranks two results, corrected for that many pairs."""

    difference: Difference
    pairs: int


def _ranked_differences(boards: Iterable[Leaderboard]) -> dict[tuple[StoredResult, StoredResult], _RankingDifference]:
    """Return what boards know of pairs, both ways round: no verdict on two of their results contradicts the ranks."""
    found = {}
    for board in boards:
        results, differences = board.ranking.results, board.ranking.differences
        for (i, j), difference in differences.items():
            found[results[i], results[j]] = _RankingDifference(difference, len(differences))
            found[results[j], results[i]] = _RankingDifference(difference.turned, len(differences))
    return found


def _pair(
    a: Shown, b: Shown, found: Comparison, ranked: _RankingDifference | None, tokens: AnswerTokens | None
) -> Pair:
    shared = len(found.shared)
    if ranked:
        found = found.with_difference(Measure.CORE, ranked.difference)
    return Pair(
        a=a.key,
        b=b.key,
        shared=shared,
        only_a=found.only_a,
        only_b=found.only_b,
        wins=found.wins,
        losses=found.losses,
        ties=found.ties,
        figures=[
            _pair_figure(f.name.words, shared, f.a, f.b, f.difference, _verdict(found, f.name, f.difference))
            for f in found.figures
        ],
        intents=[
            _pair_figure(one_line(words(g.name)), g.case_count, g.a, g.b, g.difference, verdict)
            for g in found.intents
            for verdict in [_verdict(found, Measure.CORE, g.difference)]
        ],
        no_verdict=no_verdict(found),
        what_helps=rescore_hint((found.a, found.b)) if found.refusals else "",
        words=_typeset(pair_sentence(found, tokens)),
        turned_words=_typeset(pair_sentence(found.turned, tokens and AnswerTokens(tokens.b, tokens.a))),
        speed=_pair_speed(found.speed),
        untimed="" if found.speed else why_untimed(found.a, found.b) or "they are too short",
        corrected_for=ranked.pairs if ranked and ranked.pairs > 1 else None,
    )


def _typeset(sentence: str) -> str:
    """Return a sentence of figures as the page writes them, with the sign of a minus."""
    return sentence.replace("-", "−")


def _verdict(found: Comparison, measure: Measure, difference: Difference) -> str:
    """Return what a difference says of B; nothing where the measure is not for a verdict."""
    if measure is not Measure.CORE:
        return ""
    return NOT_COMPARABLE if found.refusals else verdict_of(difference).removeprefix("B ")


def _pair_speed(speed: Speed | None) -> PairSpeed | None:
    if speed is None:
        return None
    ends = speed.interval
    return PairSpeed(
        a=speed.a_ms,
        b=speed.b_ms,
        ratio=speed.ratio,
        interval=PageInterval(low=ends.low, high=ends.high) if ends else None,
        verdict=speed.verdict.removeprefix("B "),
    )


def _pair_figure(name: str, cases: int, a: float, b: float, difference: Difference, verdict: str) -> PairFigure:
    ends = difference.interval if verdict not in ("", NOT_COMPARABLE) else None
    return PairFigure(
        name=name,
        cases=cases,
        a=a,
        b=b,
        gain=difference.value,
        interval=PageInterval(low=ends.low, high=ends.high) if ends else None,
        p=difference.p,
        verdict=verdict,
    )
