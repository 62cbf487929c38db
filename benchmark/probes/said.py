"""What an answerer said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ProbeAnswers:
    """What an answerer said to questions.

    Attributes:
        texts: by `AnswerQuestion.question_id`; a question that got no answer is left out.
        foreign: answers to other questions than those asked, e.g. about contexts that methods make no more.
        shortened: questions whose context did not fit, so that its middle was left out.
        error: why it ended early; None where it did not.

    """

    texts: Mapping[str, str]
    foreign: int = 0
    shortened: int = 0
    error: str | None = None
