"""Retention: what of an output's facts is left in what a compressor makes of it, and what that saves an agent.

No contract is asked of an answer here, and no words are judged: a filter, which can only pass lines on, is measured by
the same figures as a model. Cases whose anchors are not all in the output (counts, keys) or that have none are left
out, since nobody who only passes lines on could keep them.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmark.analysis.leaderboard import BoardRow, Leaderboard
from benchmark.grading.baselines import GOLD
from benchmark.matrix import Track
from benchmark.patterns import PatternError, compiled
from benchmark.record.base import Interval
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered, Question
from benchmark.scoring import Embedder
from benchmark.scoring.anchors import missing_anchors, score_preserve
from benchmark.statistics import Clusters, bootstrap_means, interval_of, mean
from ctxsift.backends.baselines import BLIND, baseline_answer, by_tf_idf
from ctxsift.intents import Intent
from ctxsift.prompts import Request

# Orders of lines that are drawn for each case; the standard error over a hundred cases is then below .01.
DRAWS = 50
SEED = 0
# What a program or a baseline prints is nobody's talk: nothing is taken off it.
_PRINTS = (Track.COMMAND, Track.CONTROL)
# What one result's markers may take.
_MARKER_S = 5.0

Floats = npt.NDArray[np.float64]


class LeftOut(StrEnum):
    """Why a case says nothing of what is kept."""

    DERIVED = auto()
    NO_ANCHORS = auto()


@dataclass(frozen=True)
class Kept:
    """One answer.

    Attributes:
        tokens_in, tokens_out: of the raw output and of the answer.
        anchors: share of the anchors that it holds, in [0, 1].
        random: the share that lines of the same size hold, drawn at random; the mean of DRAWS orders.
        tf_idf: the share that the lines nearest to the question hold, as many as have that size.
        cluster: what it has in common with the questions that are drawn with it.

    """

    tokens_in: int
    tokens_out: int
    anchors: float
    random: float
    tf_idf: float
    cluster: tuple[str, str]

    @property
    def saved(self) -> int:
        """Tokens an agent is spared; negative where it reads the raw output, too, since an anchor is missing."""
        return self.tokens_in - self.tokens_out if self.anchors == 1.0 else -self.tokens_out


@dataclass(frozen=True)
class Retention:
    """One row of the view.

    Attributes:
        label: as on the leaderboard.
        is_reference: gold or a baseline.
        is_ceiling: gold.
        is_blind: it was not told the question.
        score: final score, 0 to 100; None for one without it.
        case_count: cases that could be judged; without any, the figures are None.
        anchors_kept: mean share of the anchors, in [0, 1]; all_kept: share of the cases that kept all.
        tokens_left: answer tokens / input tokens; ratio: the inverse, None where nothing is left.
        random_kept, tf_idf_kept: what lines of equal size keep.
        lift: anchors_kept - random_kept; None for a row that leaves out nothing.
        net_saved: (tokens spared where all anchors are kept - tokens of the answer where not) / input tokens.
        line_ms: time on a line of input, which is mostly the start of a program; None for other rows.

    """

    label: str
    is_reference: bool
    is_blind: bool
    score: float | None
    case_count: int
    anchors_kept: float | None = None
    all_kept: float | None = None
    tokens_left: float | None = None
    ratio: float | None = None
    random_kept: float | None = None
    tf_idf_kept: float | None = None
    lift: float | None = None
    net_saved: float | None = None
    net_saved_interval: Interval | None = None
    line_ms: float | None = None
    is_ceiling: bool = False


@dataclass(frozen=True)
class RetentionBoard:
    """The rows of a leaderboard by what they keep, most saved first.

    Attributes:
        left_out: how many of its cases say nothing of that, and why.

    """

    board: Leaderboard
    rows: tuple[Retention, ...]
    left_out: Mapping[LeftOut, int]


@dataclass(frozen=True)
class ResultKept:
    """What the answers of one result keep.

    Attributes:
        answers: those to cases that are not left out.
        without_markers: the same without the lines that a program adds of its own; None where it says of none, or by
            an expression that cannot be used.
        questions: by case, those whose raw input is known.

    """

    answers: tuple[Kept, ...]
    without_markers: tuple[Kept, ...] | None
    questions: Mapping[str, Question]


class _OutputLines:
    """The lines of one raw output: what each costs, and which anchors it holds."""

    def __init__(self, raw_input: str, instruction: str, anchors: Sequence[str], embedder: Embedder) -> None:
        lines = [line for line in raw_input.splitlines() if line.strip()]
        counts = np.array([embedder.count_tokens(line) for line in lines], dtype=np.float64)
        self.tokens = embedder.count_tokens(raw_input)
        # Together they are the whole.
        self._costs: Floats = counts * (self.tokens / max(1.0, counts.sum()))
        self._holds = np.array([[not missing_anchors(line, [a]) for a in anchors] for line in lines], dtype=bool)
        random = np.random.default_rng(SEED)
        self._orders = np.array([random.permutation(len(lines)) for _ in range(DRAWS)])
        self._nearest = np.array([by_tf_idf(lines, instruction)])

    def random(self, size: int) -> float:
        """Return the share of the anchors that lines in random order hold, as many as have `size` tokens."""
        return self._share(self._orders, size)

    def tf_idf(self, size: int) -> float:
        """Return the share that the lines nearest to the question hold, as many as have `size` tokens."""
        return self._share(self._nearest, size)

    def _share(self, orders: npt.NDArray[np.int64], size: int) -> float:
        """Return the mean over orders; the line that would go beyond `size` counts by the part of it that fits."""
        costs = self._costs[orders]
        ends = costs.cumsum(axis=1)
        # 1 for a line that is taken, 0 for one that is not.
        part = np.clip((size - (ends - costs)) / np.maximum(costs, 1e-9), 0.0, 1.0)
        # An anchor on several lines is there as soon as one of them is.
        found = (part[:, :, np.newaxis] * self._holds[orders]).max(axis=1)
        return float(found.mean())


class _Marker:
    """Finds the lines that a program adds of its own. Its expression comes with a file, so its time is bounded.

    Raises PatternError.
    """

    def __init__(self, expression: str) -> None:
        self._pattern = compiled(expression)
        self._left_s = _MARKER_S

    def stripped(self, text: str) -> str:
        """Return a text without these lines. Raises TimeoutError: all texts together took longer than _MARKER_S."""
        return "".join(line for line in text.splitlines(keepends=True) if not self._is_in(line))

    def _is_in(self, line: str) -> bool:
        started = time.perf_counter()
        found = self._pattern.search(line, timeout=self._left_s) is not None
        self._left_s -= time.perf_counter() - started
        if self._left_s <= 0:
            raise TimeoutError
        return found


class RetentionJudge:
    """Judges answers; what is known of a question is worked out once.

    Args:
        embedder: counts tokens.

    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lines = functools.cache(functools.partial(_OutputLines, embedder=embedder))
        self._verdicts: dict[tuple[str, tuple[str, ...]], LeftOut | None] = {}
        self._questions: dict[tuple[object, ...], Question] = {}

    def left_out(self, question: Question) -> LeftOut | None:
        """Return why a case says nothing of what is kept; None where it does."""
        key = raw_input, anchors = question.raw_input or "", tuple(question.required_anchors or ())
        if key not in self._verdicts:
            derived = missing_anchors(raw_input, anchors)
            self._verdicts[key] = LeftOut.DERIVED if derived else None if anchors else LeftOut.NO_ANCHORS
        return self._verdicts[key]

    def read(self, result: StoredResult) -> ResultKept:
        """Return what a result keeps; nothing of its texts is held but one copy of each question."""
        marker = result.record.scenario.marker
        known = (case.question for case in result.record.cases if case.question.raw_input is not None)
        return ResultKept(
            answers=tuple(self._kept_of(result)),
            without_markers=None if marker is None else self._unmarked(result, marker),
            questions={question.case_id: self._one_copy(question) for question in known},
        )

    def _one_copy(self, question: Question) -> Question:
        anchors = tuple(question.required_anchors or ())
        key = question.case_id, question.raw_input or "", question.instruction, question.expected_output, anchors
        return self._questions.setdefault(key, question)

    def _unmarked(self, result: StoredResult, marker: str) -> tuple[Kept, ...] | None:
        try:
            return tuple(self._kept_of(result, _Marker(marker)))
        except (PatternError, TimeoutError):
            return None

    def _kept_of(self, result: StoredResult, marker: _Marker | None = None) -> Iterator[Kept]:
        prints = result.track in _PRINTS
        for case in result.record.cases:
            question = case.question
            if isinstance(case, Answered) and question.raw_input is not None and self.left_out(question) is None:
                view = case.raw if prints else case.recovered
                if marker is None:
                    yield self.kept(question, view.output, view.output_tokens)
                else:
                    yield self.kept(question, marker.stripped(view.output))

    def kept(self, question: Question, text: str, tokens_out: int | None = None) -> Kept:
        """Return what an answer keeps of a case that is not left out."""
        anchors = tuple(question.required_anchors or ())
        raw_input = question.raw_input or ""
        size = self._embedder.count_tokens(text) if tokens_out is None else tokens_out
        lines = self._lines(raw_input, question.instruction or "", anchors)
        return Kept(
            tokens_in=lines.tokens,
            tokens_out=size,
            anchors=score_preserve(text, anchors, _intent(question)).score,
            random=lines.random(size),
            tf_idf=lines.tf_idf(size),
            cluster=question.cluster,
        )


def retention_boards(
    boards: Iterable[Leaderboard], results: Iterable[StoredResult], judge: RetentionJudge
) -> list[RetentionBoard]:
    """Return the rows of leaderboards, gold and their baselines included, by what they keep.

    A board without a case that could be judged is left out, unless there is no other.

    Args:
        boards: their rows may have lost their cases.
        results: all that the boards are of, told apart by their paths. They are read one at a time.
        judge: reads them.

    """
    kept = {result.path: judge.read(result) for result in results}
    found = [_retention_board(board, kept, judge) for board in boards]
    return [board for board in found if any(row.case_count for row in board.rows)] or found


def _retention_board(board: Leaderboard, kept: Mapping[Path, ResultKept], judge: RetentionJudge) -> RetentionBoard:
    questions = {case_id: q for row in board.rows for case_id, q in kept[row.result.path].questions.items()}
    rows = [each for row in board.rows for each in _rows(row, kept[row.result.path])]
    rows += [
        summarised(
            Retention(each.label, True, each.name in BLIND, each.score, 0, is_ceiling=each.is_ceiling),
            [
                judge.kept(question, _reference_text(each.name, question))
                for question in questions.values()
                if judge.left_out(question) is None
            ],
        )
        for each in board.references.rows
        if all(question.instruction is not None for question in questions.values())
    ]
    reasons = [judge.left_out(question) for question in questions.values()]
    judged = max((row.case_count for row in rows), default=0)
    return RetentionBoard(
        board,
        # What is kept of some of the cases cannot be compared with what is kept of all.
        tuple(sorted(rows, key=lambda row: (row.case_count < judged, *_place(row)))),
        {reason: count for reason in LeftOut if (count := reasons.count(reason))},
    )


def _rows(row: BoardRow, kept: ResultKept) -> Iterator[Retention]:
    """Yield the figures of a result, and those without the lines that a program adds of its own."""
    scenario, result = row.result.record.scenario, row.result
    blind = not scenario.question or (scenario.track is Track.CONTROL and scenario.model in BLIND)
    load_ms = result.record.warmup.load_ms if scenario.track is Track.COMMAND else None
    ceiling = result.is_reference and scenario.model == GOLD
    score = row.summary.final_score
    empty = Retention(row.label, result.is_reference, blind, score, 0, line_ms=load_ms, is_ceiling=ceiling)
    yield summarised(empty, kept.answers)
    if kept.without_markers is not None:
        yield summarised(replace(empty, label=f"{row.label}, markers stripped", score=None), kept.without_markers)


def _reference_text(name: str, question: Question) -> str:
    if name == GOLD:
        return question.expected_output or ""
    told = question.raw_input or "", question.instruction or "", _intent(question)
    return baseline_answer(name, Request(*told, question.command, question.exit_code))


def _intent(question: Question) -> Intent:
    return Intent(question.intent) if question.intent in list(Intent) else Intent.SUMMARY


def summarised(row: Retention, kept: Sequence[Kept]) -> Retention:
    """Return a row with the figures of its answers; as it is where there are none."""
    given, left = sum(each.tokens_in for each in kept), sum(each.tokens_out for each in kept)
    if not given:
        return row
    anchors, random = mean([each.anchors for each in kept]), mean([each.random for each in kept])
    shorter = any(each.tokens_out < each.tokens_in for each in kept)
    value, interval = net_saved(kept)
    return replace(
        row,
        case_count=len(kept),
        anchors_kept=anchors,
        all_kept=mean([float(each.anchors == 1.0) for each in kept]),
        tokens_left=left / given,
        ratio=given / left if left else None,
        random_kept=random,
        tf_idf_kept=mean([each.tf_idf for each in kept]),
        lift=anchors - random if shorter else None,
        net_saved=value,
        net_saved_interval=interval,
    )


def net_saved(kept: Sequence[Kept]) -> tuple[float, Interval | None]:
    """Return the share of all input tokens that is saved, net, and its 95% interval (bootstrap of the clusters)."""
    saved, given = [float(each.saved) for each in kept], [float(each.tokens_in) for each in kept]
    clusters = Clusters.of(each.cluster for each in kept)
    found = interval_of(bootstrap_means(saved, clusters) / bootstrap_means(given, clusters), clusters)
    return sum(saved) / sum(given), (found.low, found.high) if found else None


def _place(row: Retention) -> tuple[float, float, str]:
    if row.net_saved is None or row.anchors_kept is None:
        return 2.0, 0.0, row.label
    return -row.net_saved, -row.anchors_kept, row.label
