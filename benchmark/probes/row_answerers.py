"""A row of the matrix as an answerer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmark.matrix import Scenario
from benchmark.probes.questions import PROMPT_VERSION, AnswerPrompt, AnswerQuestion, prompt_sha256
from benchmark.probes.said import ProbeAnswers
from benchmark.run.asking import Unit
from benchmark.run.plan import RunSettings
from benchmark.run.row_asking import AskedRow, Purpose
from benchmark.run.workload import UnitAnswer
from ctxsift.compression import Failure, compression

# A summary of 4,000 tokens, the steps that are kept, and the answer, in tokens of any model; of what is longer, the
# middle is left out.
CONTEXT_TOKENS = 16_384
_NOTHING_SAID = (Failure.TRUNCATED_REASONING, Failure.PROGRAM_FAILED, Failure.EMPTY_ANSWER)


class RowAnswerer:
    """A row of the matrix, of any track; see Answerer.

    Args:
        scenario: the row.
        run: as `asking_run` returns it.
        told: hears how far it has come.

    Raises:
        InputError: it cannot run, which no question has to be put to find.

    """

    def __init__(self, scenario: Scenario, run: RunSettings, told: Callable[[str], None] = lambda _: None) -> None:
        self._scenario, self._row = scenario, AskedRow(scenario, run, _purpose(), told)

    @property
    def name(self) -> str:
        """Of the row."""
        return self._scenario.name

    @property
    def version(self) -> str:
        """The model, and the prompt."""
        return f"{self._scenario.model}, prompt {PROMPT_VERSION}"

    def answers(self, questions: Sequence[AnswerQuestion]) -> ProbeAnswers:
        """Ask what its journal does not answer; see Answerer."""
        distinct = {each.question_id: each for each in questions}
        replies = self._row.ask([Unit(name, AnswerPrompt(each)) for name, each in distinct.items()])
        return ProbeAnswers(replies.texts, shortened=replies.shortened, error=replies.error)


def _purpose() -> Purpose:
    return Purpose(
        workload="answers",
        option="--answerer",
        unit="answer",
        prompt_version=PROMPT_VERSION,
        prompt_sha256=prompt_sha256(),
        # Raised when the same reply may come to another answer.
        reading_version="1",
        context_tokens=CONTEXT_TOKENS,
        read=_answer_in,
    )


def _answer_in(unit: Unit, given: UnitAnswer) -> str:
    """Return a reply without wrappers and reasoning."""
    request = unit.prompt.request
    assert request is not None
    found = compression(request, given.answer)
    return "" if found.failure in _NOTHING_SAID else found.recovered.text.strip()
