"""What a reader must know of results before comparing them, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmark.analysis.caveats import Identity, Mismatch, mismatches, refusals
from benchmark.analysis.figures import ANSWERED, PLANNED, Column, Form
from benchmark.analysis.judged import judged, opposed
from benchmark.analysis.leaderboard import FLAGS, Flag, Leaderboard, flags_of
from benchmark.analysis.model_facts import facts_of
from benchmark.analysis.references import ALWAYS_SHOWN
from benchmark.matrix import Track
from benchmark.record.base import Interval, known
from benchmark.record.judged_quality import CriterionUse
from benchmark.record.read import StoredResult, labels
from benchmark.record.result import Answered, Disturbance, LoadedBackend, MachineFigures, Result, Run
from benchmark.record.summary import Latency, Reference, Summary
from benchmark.record.validity import AUC, MEASURED, RIGHT_MEAN, WRONG_MEAN, Half, read_validity
from benchmark.render.figures import column_text, counted, interval_text, is_old, signed
from benchmark.scoring import SCORER_VERSION
from ctxsift.backends.base import CANARY
from ctxsift.files import exists
from ctxsift.preselect import Preselect
from ctxsift.terminal import one_line

BY_WORDING = "their quality is only similarity to the wording of gold"
NOT_CALIBRATED = (
    "not calibrated with prose, so do not use these figures; calibrate with python -m benchmark.validity calibrate"
)
RANKS_APART = (
    "rows are sorted by the quality core; a rank counts the results that are significantly better, so the two orders "
    "can differ"
)
_MOST_NAMED = 5
_POINTS = Form(signed=True)
_CASES = Column("", (ANSWERED, PLANNED))
_RESCORE = "run python -m benchmark.rescore on them first"
_MISMATCHES = {
    Identity.SCORER: ("were scored by different scorers", _RESCORE),
    Identity.CORPUS: ("come from different versions of the corpus", _RESCORE),
    Identity.PROMPT: ("were asked with different prompts", "the difference may come from the prompt"),
}
_CAVEATS = {
    Flag.INCOMPLETE: "incomplete",
    Flag.DISTURBED: "latency is unreliable (busy machine); the quality core ignores it",
}


def _below_floor(reference: Reference) -> str:
    difference, ends = reference.compared
    core = " quality core" if reference.core_difference is not None else ""
    gap = f":{core} {signed(difference)}{interval_text(_POINTS, ends)} on the same cases" if ends else ""
    verdict = "significantly worse" if ends and ends[1] < 0 else "not significantly better"
    return f"{verdict} than the best baseline ({reference.floor}, {reference.floor_score:.1f}){gap}"


def notes(result: StoredResult) -> list[str]:
    """Return what a reader must know before comparing this result."""
    run, summary = result.record.run, result.record.summary
    if run is None:
        return [FLAGS[Flag.PUBLISHED].meaning, *_part_of_a_file(result), *_silence(result)]
    found = _about_answers(run, summary) + _silence(result)
    if before := result.record.scenario.before:
        found.append(f"this model reads the output of {before} instead of the raw output")
    if (lines := result.record.scenario.preselection).how is Preselect.LINES:
        found.append(f"of outputs longer than about {lines.tokens:,} tokens, this model reads lines that rules choose")
    found += prose_notes(result.record)
    if result.is_reference:
        return found
    if not run.disturbance.latency_clean:
        found.append(_latency(run.disturbance, ignored=run.latency_ignored))
    found += [_machine(machine) for machine in known(run.machines) or ()]
    if run.backend:
        found += _about_backend(run.backend)
    if label := (facts := facts_of(result)).label:
        found.append(f"its row says {label}, but the header of its file says {facts.file.quantization}")
    if summary.latency and (cached := known(summary.latency.cached_cases)):
        found.append(_cached(summary.latency, cached))
    if summary.reference and summary.reference.beats_floor is False:
        found.append(_below_floor(summary.reference))
    if failures := failures_text(summary):
        found.append(failures)
    return found + _about_program(result)


def failures_text(summary: Summary) -> str:
    """Return how many answers failed and how, e.g. `model failures: 1 loop, 3 token limits`; empty if none did."""
    failures = summary.model_failure_counts.items()
    words = ", ".join(counted(count, reason.replace("_", " ")) for reason, count in failures)
    return f"model failures: {words}" if words else ""


def _part_of_a_file(result: StoredResult) -> list[str]:
    if result.told_count is None:
        return []
    held = counted(len(result.cases), "case")
    return [
        f"this file holds {held}, but its own summary is of {result.told_count}: all figures are of the cases it holds"
    ]


def _silence(result: StoredResult) -> list[str]:
    """Return in one line how often a service sent nothing back, which is not the model's quality alone."""
    silent = sum(case.is_empty for case in result.cases.values())
    if result.track is not Track.REMOTE or not silent:
        return []
    return [f"the service gave no answer to {counted(silent, 'case')}; they count as rejected"]


def prose_notes(record: Result) -> list[str]:
    """Return in one line what a judge says of the answers in prose, and what that is worth; nothing without a judge."""
    judge, prose = known(record.judge), known(record.summary.prose)
    if judge is None or prose is None:
        return []
    found = f"prose judged by {judge.name} ({judge.version})"
    if prose.judged_quality is not None and prose.scorer_quality is not None:
        ends = _ends(prose.judged_quality_interval, 1)
        found += f": {prose.judged_quality:.1f}{ends} over {counted(prose.judged_count, 'answer')}"
        found += f"; the scorer's quality of the same: {prose.scorer_quality:.1f}"
    if prose.unscored_count:
        found += f"; {counted(prose.unscored_count, 'answer')} not scored by the judge"
    uses = [f"{name} {each.use}{_kappa(each)}" for name, each in judge.calibrated.items()]
    return [f"{found}; {', '.join(uses) or NOT_CALIBRATED}"]


def _kappa(use: CriterionUse) -> str:
    return "" if use.kappa is None else f" (kappa {use.kappa:.2f}{_ends(use.kappa_interval, 2)})"


def _ends(interval: Interval | None, digits: int) -> str:
    return f" [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]" if interval else ""


def _cached(latency: Latency, cases: int) -> str:
    tokens, seconds = known(latency.cached_tokens) or 0, (known(latency.cached_ms) or 0.0) / 1000
    return (
        f"{counted(cases, 'prompt')} shared a beginning with the one before: {tokens:,} tokens were not read "
        f"again; latency includes the {seconds:,.1f} s that the first reading took"
    )


def _about_program(result: StoredResult) -> list[str]:
    """Return what a program did beside answering, and why the first case without an answer has none."""
    answers = [case.generation for case in result.record.cases if isinstance(case, Answered)]
    remarks = Counter(remark for answer in answers for remark in answer.remarks)
    found = [f"{counted(number, 'case')}: {remark}" for remark, number in sorted(remarks.items())]
    fault = next((answer.fault for answer in answers if answer.fault), None)
    return [*found, f"the first failure: {fault}"] if fault else found


def notes_together(board: Leaderboard) -> list[str]:
    """Return what makes the results of a board hard to rank against each other."""
    found: dict[str, list[str]] = {}
    for row in board.rows:
        for note in wording_notes(row.result):
            found.setdefault(note, []).append(row.label)
    everybody = len(board.rows)
    labelled = {row.result: row.label for row in board.rows}
    return [
        *_old_scorer(board),
        *([] if board.ranks_follow_rows else [RANKS_APART]),
        *_reliability(board),
        *(note if len(names) == everybody else f"{_listed(names)}: {note}" for note, names in found.items()),
        *(
            f"{labelled[true]} is significantly better than {labelled[worded]} on cases judged by truth, and "
            "significantly worse on cases judged by wording"
            for true, worded in opposed([row.result for row in board.rows if row.rank is not None])
        ),
    ]


def _old_scorer(board: Leaderboard) -> list[str]:
    if not is_old(board):
        return []
    return [
        f"scored by an old scorer; python -m benchmark.rescore scores these answers again by scorer {SCORER_VERSION}"
    ]


def _reliability(board: Leaderboard) -> Iterator[str]:
    """Yield how far the scores of prose may be believed, where it was measured with this scorer and corpus."""
    runs = [row.result.record.run for row in board.rows]
    asked = {(run.scorer_version, run.corpus_sha256) for run in runs if run}
    if not any(row.summary.halves and row.summary.halves.prose_count for row in board.rows) or not exists(MEASURED):
        return
    measured = read_validity()
    if asked != {(measured.scorer_version, measured.corpus_sha256)}:
        return
    found = {figure.measure: figure for figure in measured.figures if figure.half is Half.HELD_OUT}
    right, wrong, ahead = (found.get(name) for name in (RIGHT_MEAN, WRONG_MEAN, AUC))
    if right and wrong and ahead:
        yield (
            f"prose scores are estimates: on {right.count + wrong.count} held-out answers, right ones average "
            f"{100 * right.value:.0f} and wrong ones {100 * wrong.value:.0f}; "
            f"AUC {ahead.value:.2f} (docs/scoring.md)"
        )


def notes_of_rows(board: Leaderboard) -> list[str]:
    """Return the notes of the results of a board, each once, with the names of those that it is about."""
    named: dict[str, list[str]] = {}
    for row in board.rows:
        for note in notes(row.result):
            named.setdefault(note, []).append(row.label)
    return [one_line(f"{_all_or_some(names, board)}: {note}") for note, names in named.items()]


def _all_or_some(names: Sequence[str], board: Leaderboard) -> str:
    whole = len(names) == len(board.rows) > 1
    return f"all {counted(len(names), 'result')}" if whole else _listed(names)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def wording_note(worded: int, prose: int) -> str:
    """Return in one line how many of some cases in prose have no statements, and what that means."""
    verb = "has" if worded == 1 else "have"
    return f"{worded} of {counted(prose, 'prose case')} {verb} no statements: {BY_WORDING}"


def wording_notes(result: StoredResult) -> list[str]:
    """Return in one line which cases have no statements, and the score with and without them; nothing if all have."""
    prose = [case.by_wording for case in result.cases.values() if case.by_wording is not None]
    if not any(prose):
        return []
    found = [wording_note(sum(prose), len(prose))]
    # Apart, because it differs from result to result, and the first line does not.
    if not result.is_reference and (parts := judged(result)):
        true, worded = (f"{part.score:.1f} over {counted(len(part.result.cases), 'case')}" for part in parts)
        found.append(f"the score is {true} judged by truth, {worded} judged by wording")
    return found


def reference_notes(board: Leaderboard) -> list[str]:
    """Return in one line what the reference rows are; nothing where there are none."""
    references = board.references
    source = references.source
    names = {row.name for row in references.rows} | {each.record.scenario.model for each in references.results}
    if source is None or not names:
        return []
    where = f"the same {counted(len(source.cases), 'case')}"
    if any(row.result.cases and len(row.result.cases) < len(source.cases) for row in board.rows):
        where = f"the {counted(len(source.cases), 'case')} of {next(r.label for r in board.rows if r.result is source)}"
    example = f" ({ALWAYS_SHOWN} always answers {ALWAYS_SHOWN})" if ALWAYS_SHOWN in names else ""
    return [
        f"reference rows: gold is the reference answers; a baseline is a program that uses no model{example}; both "
        f"are scored on {where}"
    ]


def _about_answers(run: Run, summary: Summary) -> list[str]:
    found = []
    if not run.statistics.draws:
        found.append("written by an early version, without intervals; run benchmark.rescore on it")
    if run.error:
        found.append(f"failed: {run.error}")
    if summary.instrument_failure_count:
        found.append(f"{counted(summary.instrument_failure_count, 'case')} have no answer that could be scored")
    if not run.complete:
        why = f"stopped by a {stop}" if (stop := known(run.stopped_by)) else "incomplete"
        found.append(f"{why}: {column_text(_CASES, summary)} cases")
    return found


def _latency(disturbance: Disturbance, *, ignored: bool) -> str:
    # Older files only know of other processes.
    reasons = disturbance.reasons or [f"other processes used {disturbance.other_cpu_share:.0%} of the machine"]
    left_out = "; the score leaves it out" if ignored else ""
    return f"latency is unreliable: {', '.join(reasons)}{left_out}"


def _machine(machine: MachineFigures) -> str:
    latency = machine.latency
    answers = f"{counted(machine.case_count, 'answer')}, {latency.avg_inference_ms / 1000:.2f} s on average"
    rates = [("reads", latency.prefill_tokens_per_s), ("writes", latency.decode_tokens_per_s)]
    told = ", ".join(f"{verb} {rate:.0f}" for verb, rate in rates if rate is not None)
    return one_line(f"on {machine.hardware}: {answers}") + (f", {told} tokens/s" if told else "")


def _about_backend(backend: LoadedBackend) -> list[str]:
    found = []
    if backend.chat_template_note:
        found.append(f"chat template {backend.chat_template}: {backend.chat_template_note}")
    if CANARY in backend.settings:
        found.append(str(backend.settings[CANARY]))
    return found


def _asking_otherwise(results: Sequence[StoredResult]) -> int:
    """Return how many cases have another input or instruction in one result than in another."""
    asked: dict[str, set[tuple[str | None, str | None]]] = {}
    for result in results:
        for case in result.record.cases:
            question = case.question
            asked.setdefault(question.case_id, set()).add((question.raw_input, question.instruction))
    return sum(len(different) > 1 for different in asked.values())


def refused(results: Sequence[StoredResult]) -> list[str]:
    """Return why there is no verdict on these results, to stand behind `the results`; nothing where there is one."""
    return [_mismatch(results, mismatch)[0] for mismatch in refusals(results)]


def rescore_hint(results: Sequence[StoredResult]) -> str:
    """Return what helps where a verdict is refused."""
    return _mismatch(results, refusals(results)[0])[1]


def _mismatch(results: Sequence[StoredResult], mismatch: Mismatch) -> tuple[str, str]:
    words, hint = _MISMATCHES[mismatch.identity]
    if mismatch.identity is Identity.CORPUS and (changed := _asking_otherwise(results)):
        # Nothing that could be scored again would make them the same.
        words = "come from different corpora, or from a corpus and its variant"
        cases = f"{counted(changed, 'case')} with the same name {'asks' if changed == 1 else 'ask'} different questions"
        hint = f"{cases}, so the difference is not due to the models alone"
    values = ", ".join("unknown" if value is None else one_line(value[:12]) for value in mismatch.values)
    return f"{words} ({values})", hint


def comparison_notes(results: Sequence[StoredResult]) -> list[str]:
    """Return what makes these results hard to compare; first why there is no verdict, where there is none."""
    found = [f"the results {': '.join(_mismatch(results, mismatch))}" for mismatch in mismatches(results)]
    for label, result in zip(labels(results), results, strict=True):
        found += [f"{label}: {_CAVEATS[flag]}" for flag in flags_of(result) if flag in _CAVEATS]
    return found
