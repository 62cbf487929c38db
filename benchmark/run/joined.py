"""A merged run -> its folder: journal, result and report, as a run that nobody divided has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmark.cases import Corpus
from benchmark.grading.baselines import ReferenceScores
from benchmark.record.paths import journal_path, scenario_report_beside
from benchmark.record.read import StoredResult, read_result
from benchmark.run.case_workload import run_cases
from benchmark.run.merging import Merged, merged_journal
from benchmark.run.plan import ScenarioPlan
from benchmark.run.resume import finished
from benchmark.run.run_group import Listening, RunGroup, scenario_report
from benchmark.run.stop import Stop
from ctxsift.backends.base import Limits, ModelSpec
from ctxsift.errors import InputError
from ctxsift.files import PRIVATE, exists, open_regular, write_atomically


def joined_group(runs: Sequence[Merged], corpus: Corpus, output_dir: Path) -> RunGroup:
    """Return merged runs as scenarios that ran together; no model is needed for them any more."""
    plans = tuple(_plan(run, corpus, output_dir) for run in runs)
    return RunGroup(
        plans=plans,
        not_ready=(),
        folders=frozenset(plan.journal.parent for plan in plans),
        output_dir=output_dir,
        timestamp=max(run.identity.timestamp for run in runs),
        devices=(),
        resumed=False,
    )


def _plan(run: Merged, corpus: Corpus, output_dir: Path) -> ScenarioPlan:
    identity, by_id = run.identity, {case.case_id: case for case in corpus.cases}
    scenario = identity.scenario
    return ScenarioPlan(
        scenario=scenario,
        cases=tuple(by_id[case_id] for case_id in identity.case_ids),
        corpus_cases=len(corpus.cases),
        journal=journal_path(output_dir / f"{scenario.name}-{identity.timestamp}", scenario.name),
        identity=identity,
        spec=ModelSpec(model=scenario.model, seed=identity.seed),
        limits=Limits(identity.max_output_tokens),
        resumed=True,
    )


def write_result(run: Merged, plan: ScenarioPlan, references: ReferenceScores, listening: Listening) -> StoredResult:
    """Write journal, result and report of a merged run, and return the result; one that is there already stays.

    Args:
        run: what to write.
        plan: where.
        references: gold and the baselines.
        listening: gives a listener for one scenario.

    Raises:
        InputError: another journal is there already.
        OSError: something cannot be written.

    """
    content = merged_journal(run)
    if exists(plan.journal):
        # What resumed it has added a line.
        with open_regular(plan.journal) as file:
            if file.read(len(content)) != content:
                hint = "move it away, or name another --output-dir"
                raise InputError(str(plan.journal), "is there already, with other answers", hint)
        if (result := finished(plan.journal)) is not None:
            return result
    else:
        plan.journal.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(plan.journal, content, mode=PRIVATE if plan.scenario.is_private else None)
    # Nothing is asked in any case.
    stop = Stop()
    stop.request()
    with listening() as listener:
        result = read_result(run_cases(plan, references, listener, stop))
    write_atomically(scenario_report_beside(result.path), scenario_report(result))
    return result
