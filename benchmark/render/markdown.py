"""Results as Markdown: the report of a run, that of a scenario, and tables for other documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence

from benchmark.analysis.figures import AXES, COLUMNS, Form
from benchmark.analysis.leaderboard import NAME_TITLE, RANK_TITLE, Leaderboard, build_leaderboards
from benchmark.analysis.model_facts import facts_of
from benchmark.record.base import Interval, known
from benchmark.record.read import StoredResult, labels
from benchmark.record.result import Answered, InstrumentFailure, Outcome, Run
from benchmark.record.summary import Dimension, Group, Reference, Summary
from benchmark.record.views import ViewSummary
from benchmark.render.figures import (
    MISSING,
    board_title,
    column_text,
    entry_text,
    figure_text,
    form_text,
    headline_text,
    interval_text,
    is_reference,
    marked,
    rank_text,
)
from benchmark.render.models import TITLES, identity_rows, model_rows
from benchmark.render.notes import BY_WORDING, notes, notes_of_rows, notes_together, reference_notes, wording_notes
from benchmark.scoring import COMPONENTS
from benchmark.scoring.remarks import faults
from ctxsift.answers.recovery import STEPS, THOUGHT_STEPS
from ctxsift.terminal import one_line

_MARKUP = re.compile(r"([\\`*_\[\]!#~|])")
_SCORE, _GAP = Form(), Form(signed=True)
_PERCENT, _LIFT = Form(scale=100), Form(scale=100, signed=True)
_SHOWN_HASH = 16
_SHOWN_REASONS = 3
# Beside the intent of a case.
_WORDING_MARK = "~"
_QUALITY = "quality"
# Components whose reasons tell what is wrong with an answer; the others are matters of degree, quality unless it is
# judged by statements.
_EXPLAINING = tuple(component.name for component in COMPONENTS if component.name not in (_QUALITY, "brevity"))


def _mean_of(component: str) -> Callable[[ViewSummary], float]:
    return lambda view: float(getattr(view, f"avg_{component}"))


_PROFILE: dict[str, Callable[[ViewSummary], float]] = {
    **{component.name: _mean_of(component.name) for component in COMPONENTS},
    "case score": lambda view: view.avg_case_score,
    "p10 case score": lambda view: view.p10_case_score,
    "quality core": lambda view: view.quality_core,
    "latency factor": lambda view: view.latency_factor,
}


def markdown_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, in_italics: Container[int] = frozenset()
) -> str:
    """Return a Markdown table; cells are text, never markup. Rows of these numbers, from 0, are in italics."""
    body = [
        [f"*{plain_cell(cell)}*" for cell in row] if number in in_italics else list(map(plain_cell, row))
        for number, row in enumerate(rows)
    ]
    lines = [list(map(plain_cell, header)), ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown_list(lines: Sequence[str]) -> str:
    """Return a Markdown list; items are text, never markup."""
    return "\n".join(f"- {plain_cell(line)}" for line in lines)


def plain_cell(text: str) -> str:
    """Return `text` as one printable line in which Markdown and HTML mean nothing."""
    return _MARKUP.sub(r"\\\1", one_line(text)).replace("&", "&amp;").replace("<", "&lt;")


def run_markdown(results: Sequence[StoredResult]) -> str:
    """Rank results and return their report; see `leaderboards_markdown`."""
    return leaderboards_markdown(build_leaderboards(results))


def leaderboards_markdown(boards: Sequence[Leaderboard]) -> str:
    """Return the report of many results: each board, what it comes to, notes, and every breakdown across results."""
    parts = ["# Results"]
    for board in boards:
        if len(boards) > 1:
            parts.append(f"# {plain_cell(board_title(board))}")
        parts += _board_parts(board)
    return "\n\n".join(parts) + "\n"


def _board_parts(board: Leaderboard) -> list[str]:
    titles = [RANK_TITLE, NAME_TITLE, *(column.title for column in board.columns)]
    rows = [
        [rank_text(row), marked(row), *(entry_text(column, row) for column in board.columns)] for row in board.entries
    ]
    parts = [
        headline_text(board, lambda row: plain_cell(row.label)),
        markdown_table(titles, rows, in_italics={n for n, row in enumerate(board.entries) if is_reference(row)}),
    ]
    if remarks := notes_of_rows(board) + notes_together(board) + reference_notes(board):
        parts.append(markdown_list(remarks))
    parts.append(markdown_table(["column or mark", "meaning"], board.legend))
    if models := model_rows(board):
        parts.append(f"## Model details\n\n{markdown_table([NAME_TITLE, *TITLES], models)}")
    results = [row.result for row in board.rows]
    return parts + [
        f"## By {dimension.words}\n\nMean case score, 0 to 100.\n\n{table}"
        for dimension in Dimension
        if (table := _across(results, dimension))
    ]


def _across(results: Sequence[StoredResult], dimension: Dimension) -> str:
    """Return a table of the groups of a dimension, a column a result."""
    broken_down = [
        (result, {group.group: group for group in groups})
        for result in results
        if (groups := (result.record.breakdowns or {}).get(dimension))
    ]
    names = list(dict.fromkeys(name for _, groups in broken_down for name in groups))
    if not names:
        return ""
    body = [
        [
            name,
            str(max(groups[name].case_count for _, groups in broken_down if name in groups)),
            *(_score(groups.get(name)) for _, groups in broken_down),
        ]
        for name in names
    ]
    return markdown_table([dimension.words, "answered", *labels([result for result, _ in broken_down])], body)


def _score(group: Group | None) -> str:
    return MISSING if group is None else form_text(_PERCENT, known(group.avg_case_score))


def scenario_markdown(result: StoredResult) -> str:
    """Return the report of one scenario: figures, notes, profile, breakdowns, cases, identity."""
    record = result.record
    scenario, summary = record.scenario, record.summary
    when = f", {result.timestamp}" if result.timestamp else ""
    parts = [
        f"# {plain_cell(scenario.name)}",
        plain_cell(f"{scenario.model} ({scenario.track}, phase {scenario.phase}){when}"),
        markdown_table([c.title for c in COLUMNS], [[column_text(c, summary) for c in COLUMNS]]),
    ]
    if remarks := notes(result) + wording_notes(result):
        parts.append(markdown_list(remarks))
    if summary.recovered is not None:
        parts += _about_answers(summary, summary.recovered)
        parts += [
            f"## By {dimension.words}\n\n{_breakdown(dimension, groups)}"
            for dimension, groups in (record.breakdowns or {}).items()
        ]
    if removed := _recovery(record.cases):
        parts.append("## Removed by recovery\n\n" + removed)
    parts.append("## Cases\n\n" + _case_table(record.cases))
    if record.run:
        facts = () if result.is_reference else identity_rows(facts_of(result))
        parts.append("## Identity\n\n" + _identity(record.run, facts))
    return "\n\n".join(parts) + "\n"


def _about_answers(summary: Summary, recovered: ViewSummary) -> list[str]:
    axes = markdown_table(["axis", "value"], [[figure.title, figure_text(figure, summary)] for figure in AXES])
    found = ["## Profile\n\n" + _profile(recovered, summary.raw_view), "## Beside the score\n\n" + axes]
    if summary.reference:
        found.append("## Between floor and ceiling\n\n" + _references(summary.reference, recovered.final_score))
    return found


def _recovery(cases: Sequence[Outcome]) -> str:
    """Return what was taken off the answers, by step; empty where nothing was."""
    answers: Counter[str] = Counter()
    characters: Counter[str] = Counter()
    for case in cases:
        steps = case.recovery_steps if isinstance(case, Answered) else []
        answers.update({step.name for step in steps})
        for step in steps:
            characters[step.name] += len(step.removed)
    rows = [
        [_step_words(name), STEPS.get(name, "a step of an earlier version"), str(count), f"{characters[name]:,}"]
        for name, count in answers.most_common()
    ]
    return markdown_table(["step", "what it removes", "answers", "characters"], rows) if rows else ""


def _profile(recovered: ViewSummary, raw: ViewSummary | None) -> str:
    rows = [
        [title, f"{read(recovered):.3f}", f"{read(raw):.3f}" if raw else MISSING] for title, read in _PROFILE.items()
    ]
    return markdown_table(["component", "recovered", "raw"], rows)


def _references(reference: Reference, final_score: float) -> str:
    rows = [["gold", form_text(_SCORE, reference.ceiling_score)], ["this scenario", form_text(_SCORE, final_score)]]
    best_first = sorted(reference.baselines.items(), key=lambda item: -item[1])
    rows += [[name, form_text(_SCORE, score)] for name, score in best_first]
    gap = _with_interval(_GAP, *reference.compared)
    table = markdown_table(["on the same cases", "final score"], rows)
    core = "" if reference.core_difference is None else " of the quality core"
    return f"{table}\n\nDifference{core} from the best baseline: {gap}."


def _breakdown(dimension: Dimension, groups: Sequence[Group]) -> str:
    rows = [
        [
            group.group,
            f"{group.case_count}/{group.planned_count}",
            _with_interval(_PERCENT, known(group.avg_case_score), known(group.avg_case_score_interval)),
            _with_interval(_PERCENT, known(group.raw_avg_case_score), known(group.raw_avg_case_score_interval)),
            _with_interval(_LIFT, known(group.avg_lift), known(group.avg_lift_interval)),
        ]
        for group in groups
    ]
    return markdown_table([dimension.words, "answered", "recovered", "raw", "lift"], rows)


def _with_interval(form: Form, value: float | None, ends: Interval | None) -> str:
    return form_text(form, value) + interval_text(form, ends)


def _case_table(cases: Sequence[Outcome]) -> str:
    """Return the cases, worst first; those without a score before all."""
    ordered = sorted(cases, key=lambda case: case.recovered.case_score if isinstance(case, Answered) else -1.0)
    titles = ["case", Dimension.INTENT.words, "score", "verdict", "why", "s"]
    table = markdown_table(titles, [_case_row(case) for case in ordered])
    marked_ones = any(case.question.by_wording for case in cases)
    return f"{table}\n\n{plain_cell(f'{_WORDING_MARK} no statements yet: {BY_WORDING}')}" if marked_ones else table


def _case_row(case: Outcome) -> list[str]:
    mark = f" {_WORDING_MARK}" if case.question.by_wording else ""
    asked = [case.question.case_id, f"{case.question.intent or MISSING}{mark}"]
    if isinstance(case, InstrumentFailure):
        return [*asked, MISSING, "not scored", case.error, MISSING]
    view = case.recovered
    why = [*view.validation_flags, *([case.failure_reason] if case.failure_reason else [])]
    why += [said for said in (case.generation.fault, *case.generation.remarks) if said]
    if case.question.says:
        why += faults(view.reasons.get(_QUALITY, []))[:_SHOWN_REASONS]
    why += [reason for name in _EXPLAINING for reason in view.reasons.get(name, [])[:_SHOWN_REASONS]]
    steps = dict.fromkeys(step.name for step in case.recovery_steps if step.name in THOUGHT_STEPS)
    why += [f"removed: {_step_words(name)}" for name in steps]
    seconds = f"{case.generation.total_ms / 1000:.1f}"
    return [*asked, f"{view.case_score:.2f}", view.validation_status, ", ".join(dict.fromkeys(why)), seconds]


def _step_words(name: str) -> str:
    return plain_cell(name.replace("_", " "))


def _identity(run: Run, facts: Iterable[list[str]]) -> str:
    rows = [
        ["corpus", f"{run.corpus_cases} cases, {_hash(run.corpus_sha256)}"],
        ["weights", _hash(run.weights_sha256) if run.weights_sha256 else MISSING],
        ["prompt / scorer / recovery", f"{run.prompt_version} / {run.scorer_version} / {run.recovery_version}"],
    ]
    drawn = run.statistics
    how = f"{drawn.confidence:.0%} {drawn.method}, {drawn.draws} draws, seed {drawn.seed}" if drawn.draws else MISSING
    rows.append(["uncertainty", how])
    if backend := run.backend:
        rows.append(["inference engine", f"{backend.engine} {backend.engine_version}"])
        rows.append(["chat template", f"{backend.chat_template}, {_hash(backend.chat_template_sha256)}"])
    machine = run.environment
    cores = machine.cpu_cores_physical or machine.cpu_cores_logical or "unknown"
    rows.append(["machine", f"{machine.cpu}, {cores} cores, {machine.platform}"])
    rows += facts
    rows.append(["commit", (machine.git_commit or "unknown") + (" (with local changes)" if machine.git_dirty else "")])
    return markdown_table(["what", "value"], rows)


def _hash(sha256: str) -> str:
    return f"sha256 {sha256[:_SHOWN_HASH]}"
