"""Cases of a result as questions: the lines that a filter selected are chunks, and gold is the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from benchmark.record.read import StoredResult, find_results
from benchmark.record.result import Answered
from benchmark.statements.model import Statement
from benchmark.utilization.records import DataRow
from ctxsift.errors import InputError
from ctxsift.terminal import tell

_HINT = "name the result of a scenario that selects lines, e.g. a filter"


def from_cases(path: Path, dataset: Path | None) -> list[DataRow]:
    """Return the answered cases of a result as questions; what is left out is told.

    A chunk is a line of the answer that is a line of the output, in the order of the answer. Answers without one were
    put in other words, or are empty, and have no chunks.

    Args:
        path: a result file, or a folder that holds one.
        dataset: the corpus of the run, for its statements; the packaged one when None.

    Raises:
        InputError: there is no result, more than one, or none of its answers holds a line of the output.

    """
    results = find_results([path])
    if len(results) > 1:
        raise InputError(str(path), f"contains {len(results)} results", "name one of them")
    result = results[0]
    statements = {
        (case.case_id, case.raw_input): case.statements for case in load_corpus(dataset or DEFAULT_CORPUS).cases
    }
    found = list(_questions(result, statements))
    if not found:
        raise InputError(str(path), "no answer contains a line of the output", _HINT)
    if left_out := len(result.record.cases) - len(found):
        tell(f"left out: {left_out} of {len(result.record.cases)} cases, whose answers contain no line of the output")
    return found


def _questions(result: StoredResult, statements: dict[tuple[str, str], tuple[Statement, ...]]) -> Iterator[DataRow]:
    for number, outcome in enumerate(result.record.cases, 1):
        asked = outcome.question
        if not isinstance(outcome, Answered) or asked.raw_input is None or asked.expected_output is None:
            continue
        printed = {line.rstrip() for line in asked.raw_input.split("\n")}
        selected = (line.rstrip() for line in outcome.recovered.output.split("\n"))
        chunks = tuple(line for line in selected if line and line in printed)
        if chunks:
            yield DataRow(
                number=number,
                where=f"{result.path}: {asked.case_id}",
                question=asked.instruction or asked.case_id,
                contexts=chunks,
                answer=asked.expected_output,
                statements=statements.get((asked.case_id, asked.raw_input), ()),
            )
