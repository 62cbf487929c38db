"""Results of probes as records of the page. All figures are those of `probes report`; texts are packed by session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmark.analysis.comparison import beyond_chance
from benchmark.probes.costs import Prices, costs_of
from benchmark.probes.drift import Drift, drifts
from benchmark.probes.figures import ProbeBoard, ProbeEstimate, Row, boards
from benchmark.probes.model import ProbeType
from benchmark.probes.nulls import ENDS, NULLS, row_of
from benchmark.probes.printing import findings_of, heading_of, shared_though_apart, summary_of
from benchmark.probes.printing_probes import said, wrong_said
from benchmark.probes.records import (
    RESULT_FILE,
    AskedProbe,
    JudgedStatement,
    MeasuredMethod,
    PosedProbe,
    ProbedSession,
    ProbeResult,
    read_result,
)
from benchmark.probes.states import ProbeState, state_of, statement_state
from benchmark.record.base import Interval
from benchmark.statistics import Difference
from benchmark.viewer.compaction_records import (
    AskedAtCut,
    ContextVerdict,
    MethodBoard,
    MethodDrift,
    MethodGain,
    MethodPair,
    MethodRow,
    ProbeAnswer,
    ProbeFigure,
    ProbeOfSession,
    ProbePack,
    ProbeTexts,
    RightFrom,
    RightStatement,
    SessionOfProbes,
    SessionTexts,
    VerdictLine,
)
from benchmark.viewer.page_records import PageInterval, PageRecord, ProbeRunInfo, RankInfo
from ctxsift.errors import InputError
from ctxsift.files import read_bytes
from ctxsift.sessions.compaction.transcript import STEP_LINE
from ctxsift.terminal import one_line

# Only results of probes have all of these keys.
_SIGNS = (b'"keep_last"', b'"leaks"', b'"methods"', b'"sessions"')
_STATES = tuple(ProbeState)
# The method that leaves whole steps.
_EVERYTHING = "everything"
# Session and id of a probe.
_Key = tuple[str, str]
# More than anybody reads.
_DIGITS = 4


@dataclass(frozen=True)
class ProbeRun:
    """A result of probes that the page shows; `id` names it in addresses."""

    id: str
    result: ProbeResult


def is_probe_file(path: Path) -> bool:
    """Return True if a file holds a result of probes, whatever its name; it may be damaged."""
    try:
        content = read_bytes(path, "", most_mb=RESULT_FILE.most_mb)
    except InputError:
        return False
    return all(sign in content for sign in _SIGNS)


def read_runs(paths: Sequence[Path], refused: list[InputError]) -> tuple[ProbeRun, ...]:
    """Return the results of probes in files; what is wrong with those that cannot be read goes to `refused`."""
    runs: list[ProbeRun] = []
    for path in dict.fromkeys(paths):
        try:
            result = read_result(path)
        except InputError as error:
            refused.append(error)
            continue
        taken = sum(run.result.timestamp == result.timestamp for run in runs)
        runs.append(ProbeRun(result.timestamp + (f"~{taken + 1}" if taken else ""), result))
    return tuple(runs)


def run_infos(runs: Sequence[ProbeRun]) -> list[ProbeRunInfo]:
    """Return what the page says of runs at once."""
    return [ProbeRunInfo(id=run.id, about=one_line(summary_of(run.result))) for run in runs]


def compaction_packs(runs: Sequence[ProbeRun]) -> Iterator[tuple[str, PageRecord]]:
    """Yield what is unpacked on demand, by name: of each run its figures, and the texts of each of its sessions."""
    for number, run in enumerate(runs):
        asked = _AskedByProbe(run.result)
        yield f"probes-{number}", probe_pack(run.result, asked)
        if run.result.probes:
            for place, session in enumerate(run.result.sessions):
                yield f"probes-{number}-{place}", session_texts(run.result, session, asked)


# Methods -----------------------------------------------------------------------------------------------------------


def probe_pack(result: ProbeResult, asked: _AskedByProbe) -> ProbePack:
    """Return a result without its texts."""
    return ProbePack(
        methods=[one_line(method.label) for method in result.methods],
        types=list(ProbeType),
        states=list(_STATES),
        boards=[_board(result, board, whole=True) for board in boards(result)],
        sessions=[_session(result, session, asked) for session in result.sessions] if result.probes else [],
    )


def _board(result: ProbeResult, board: ProbeBoard, *, whole: bool) -> MethodBoard:
    """Return a board; what only many sessions can tell is left out unless `whole`."""
    tokens = {cost.label: cost.left for cost in costs_of(result, Prices())}
    places: dict[str, list[int]] = {}
    for place, method in enumerate(result.methods):
        places.setdefault(row_of(method).label, []).append(place)
    return MethodBoard(
        maker=board.maker,
        about=heading_of(board),
        findings=[one_line(each) for each in findings_of(board)],
        ages=list(board.ages),
        at_every_age=board.at_every_age,
        rows=[
            _row(row, places[row.label], tokens.get(result.methods[places[row.label][0]].label)) for row in board.rows
        ],
        pairs=[
            MethodPair(method=one_line(method), gain=_gain(over, found))
            for (over, method), found in board.differences.items()
            if whole
        ],
        drifts=[_drift(each, board) for each in drifts(result.methods, board.maker)] if whole else [],
        apart=[one_line(each) for each in shared_though_apart(board)],
        unasked=[one_line(label) for label in board.unasked],
    )


def _drift(found: Drift, board: ProbeBoard) -> MethodDrift:
    return MethodDrift(
        type=found.type,
        ages=found.ages,
        probes=found.probes,
        kept=[[None if share is None else _short(share) for share in found.kept[row.label]] for row in board.rows],
    )


def _row(row: Row, places: list[int], tokens: float | None) -> MethodRow:
    return MethodRow(
        label=one_line(row.label),
        methods=places,
        budget=row.budget,
        rank=RankInfo(place=row.rank.place, tied=row.rank.tied) if row.rank else None,
        score=_figure(row.score),
        types={kind: _figure(found) for kind, found in row.types.items()},
        lift=_gain(row.lift.over, row.lift.above) if row.lift else None,
        left=_short(1 / row.ratio),
        ratio=_short(row.ratio),
        tokens=tokens,
        kept=[None if share is None else _short(share) for share in row.kept],
        kept_of_same=[None if share is None else _short(share) for share in row.kept_of_same],
        is_end=row.method in ENDS,
        is_control=row.method in NULLS,
    )


def _figure(found: ProbeEstimate) -> ProbeFigure:
    return ProbeFigure(value=_short(found.value), count=found.count, interval=_ends(found.interval))


def _gain(over: str, found: Difference) -> MethodGain:
    ends = (found.interval.low, found.interval.high) if found.interval else None
    return MethodGain(
        over=one_line(over),
        value=_short(found.value),
        p=found.p,
        interval=_ends(ends),
        may_be_chance=not beyond_chance(found),
    )


def _ends(ends: Interval | None) -> PageInterval | None:
    return PageInterval(low=_short(ends[0]), high=_short(ends[1])) if ends else None


def _short(value: float) -> float:
    return round(value, _DIGITS)


# Sessions ----------------------------------------------------------------------------------------------------------


class _AskedByProbe:
    """What the methods of a result were asked, and what was answered, by probe."""

    def __init__(self, result: ProbeResult) -> None:
        self.methods = len(result.methods)
        self._found: dict[_Key, dict[int, dict[int, AskedProbe]]] = {}
        for place, method in enumerate(result.methods):
            for each in method.asked:
                self._found.setdefault((each.session, each.probe), {}).setdefault(each.at, {})[place] = each
        self._answers: dict[_Key, list[ProbeAnswer]] = {}
        for answering in result.answered:
            for method in answering.methods:
                for each in method.asked:
                    found = self._answers.setdefault((each.session, each.probe), [])
                    found.append(_answer(answering.answerer, method, each))

    def at_cuts(self, posed: PosedProbe) -> list[tuple[int, list[AskedProbe | None]]]:
        """Return each cut at which a probe is asked, with what each method left of it; None without a summary."""
        cuts = self._found.get((posed.session, posed.probe), {})
        return [(at, [cuts[at].get(place) for place in range(self.methods)]) for at in sorted(cuts)]

    def answers(self, posed: PosedProbe) -> list[ProbeAnswer]:
        """Return the answers to a probe."""
        return self._answers.get((posed.session, posed.probe), [])


def _session(result: ProbeResult, session: ProbedSession, asked: _AskedByProbe) -> SessionOfProbes:
    alone = _alone(result, session)
    return SessionOfProbes(
        name=session.name,
        split=session.split,
        steps=session.steps,
        cuts=session.cuts,
        probes=[_probe(posed, asked) for posed in _posed(result, session)],
        boards=[_board(alone, board, whole=False) for board in boards(alone)],
    )


def _alone(result: ProbeResult, session: ProbedSession) -> ProbeResult:
    """Return a result as if it were of one session."""
    methods = [
        msgspec.structs.replace(
            method,
            contexts=[each for each in method.contexts if each.session == session.name],
            asked=[each for each in method.asked if each.session == session.name],
        )
        for method in result.methods
    ]
    return msgspec.structs.replace(result, methods=methods, sessions=[session])


def _posed(result: ProbeResult, session: ProbedSession) -> list[PosedProbe]:
    """Return the probes of a session, earliest evidence first."""
    found = [each for each in result.probes if each.session == session.name]
    return sorted(found, key=lambda each: (min(each.evidence, default=0), each.probe))


def _probe(posed: PosedProbe, asked: _AskedByProbe) -> ProbeOfSession:
    return ProbeOfSession(
        id=posed.probe,
        type=posed.type,
        maker=posed.made_by,
        question=posed.question,
        evidence=posed.evidence,
        asked=[_asked_at(at, posed, found) for at, found in asked.at_cuts(posed)],
    )


def _asked_at(at: int, posed: PosedProbe, found: Sequence[AskedProbe | None]) -> AskedAtCut:
    return AskedAtCut(
        at=at,
        age=next(each.age for each in found if each),
        scores=[_short(each.score) if each else None for each in found],
        states=[_STATES.index(state_of(each, posed)) if each else -1 for each in found],
        uptakes=[place for place, each in enumerate(found) if each and each.uptake],
    )


# Texts -------------------------------------------------------------------------------------------------------------


def _left_in(method: MeasuredMethod, session: str) -> dict[int, str]:
    """Return the contexts that a method left of a session: number of the cut -> SHA-256."""
    return {each.at: each.sha256 for each in method.contexts if each.session == session and each.sha256}


def session_texts(result: ProbeResult, session: ProbedSession, asked: _AskedByProbe) -> SessionTexts:
    """Return the texts of a session."""
    left = [_left_in(method, session.name) for method in result.methods]
    labels = [method.method for method in result.methods]
    everything = left[labels.index(_EVERYTHING)] if _EVERYTHING in labels else {}
    base = result.contexts[everything[max(everything)]].split("\n") if everything else []
    places = {key: place for place, key in enumerate(dict.fromkeys(key for each in left for key in each.values()))}
    table, posed = _LineTable(base), _posed(result, session)
    texts = [table.stretches(result.contexts[key].split("\n")) for key in places]
    return SessionTexts(
        lines=table.lines,
        texts=texts,
        contexts=[[places[by_cut[at]] if at in by_cut else -1 for at in range(len(session.cuts))] for by_cut in left],
        evidence=_steps(base, {step for each in posed for step in each.evidence}),
        probes=[_probe_texts(each, asked) for each in posed],
    )


class _LineTable:
    """Lines, to which texts add those that are not there yet."""

    def __init__(self, base: Sequence[str]) -> None:
        self.lines = list(base)
        self._places: dict[str, int] = {}
        for place, line in enumerate(base):
            self._places.setdefault(line, place)

    def stretches(self, lines: Sequence[str]) -> list[int]:
        """Return a text as begin and count of stretches of the table."""
        found: list[int] = []
        for line in lines:
            end = found[-2] + found[-1] if found else -1
            goes_on = 0 <= end < len(self.lines) and self.lines[end] == line
            if not goes_on and line not in self._places:
                self._places[line] = len(self.lines)
                self.lines.append(line)
            # If a line occurs several times, extend the previous stretch if possible.
            if goes_on or self._places[line] == end:
                found[-1] += 1
            else:
                found += [self._places[line], 1]
        return found


def _steps(lines: Sequence[str], wanted: set[int]) -> dict[str, list[int]]:
    """Return begin and count of the lines of steps. What looks like an earlier step is quoted by a later one."""
    heads: list[tuple[int, int]] = []
    for place, line in enumerate(lines):
        if head := STEP_LINE.fullmatch(line):
            step = int(head[1].removeprefix("step "))
            if not heads or step > heads[-1][0]:
                heads.append((step, place))
    ends = [place for _, place in heads[1:]] + [len(lines)]
    return {str(step): [begin, end - begin] for (step, begin), end in zip(heads, ends, strict=True) if step in wanted}


def _probe_texts(posed: PosedProbe, asked: _AskedByProbe) -> ProbeTexts:
    return ProbeTexts(
        gold=[
            RightFrom(
                at=right.at,
                text=right.text,
                statements=[RightStatement(says=each.says, weight=each.weight) for each in right.statements],
            )
            for right in posed.gold
        ],
        must_not=posed.must_not,
        verdicts=[[_verdict(each) if each else None for each in found] for _, found in asked.at_cuts(posed)],
        answers=asked.answers(posed),
    )


def _verdict(asked: AskedProbe) -> ContextVerdict:
    return ContextVerdict(
        statements=[_statement(each, statement_state(each)) for each in asked.statements],
        wrong=[VerdictLine(says=each.says, place=each.place, line=each.line, why=each.why) for each in asked.wrong],
        criteria={name: _short(score) for name, score in asked.criteria.items()},
    )


def _statement(found: JudgedStatement, told: str) -> VerdictLine:
    return VerdictLine(told=told, index=found.index, place=found.place, line=found.line, why=found.why)


def _answer(answerer: str, method: MeasuredMethod, asked: AskedProbe) -> ProbeAnswer:
    return ProbeAnswer(
        answerer=one_line(answerer),
        method=one_line(method.label),
        at=asked.at,
        score=_short(asked.score),
        text=asked.answer or "",
        abstains=bool(asked.abstains),
        statements=[_statement(each, said(each)) for each in asked.statements],
        wrong=wrong_said(asked),
    )
