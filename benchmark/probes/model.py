"""A probe: a question about the part of a session that is gone, and what a context has to say for it to be answered."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum, auto
from typing import Annotated

import msgspec

from benchmark.probes.acts import MOST_EVIDENCE, Act
from benchmark.statements.model import MustNot, Statement, Weight
from benchmark.typed_input import NonBlank, Positive
from ctxsift.strict_json import learn

_ID = r"^[a-z0-9][a-z0-9._-]*$"


class ProbeType(StrEnum):
    """What is asked for; see docs/probes.md."""

    RECALL = auto()
    ARTIFACT = auto()
    CONTINUATION = auto()
    DECISION = auto()
    # An order of the user that still holds.
    CONSTRAINT = auto()


class Tag(StrEnum):
    """What its statements are about, where a criterion of the rubric looks at nothing else."""

    # Code, commands, how something works.
    TECHNICAL = auto()
    # How far the work has come.
    STATE = auto()
    # Work that is left, from a to-do list of the session.
    TODO = auto()


class FileChange(StrEnum):
    """Which files a question about all of them asks for: what became of them since the session began."""

    CREATED = auto()
    MODIFIED = auto()
    DELETED = auto()


class Maker(StrEnum):
    """Who wrote a probe."""

    HAND = auto()
    RULE = auto()


class Probe(msgspec.Struct, frozen=True, kw_only=True, rename={"probe_id": "id"}, omit_defaults=True):
    """A question about a session, with what a right answer says of it.

    Attributes:
        evidence: ids of the steps that say it. The probe is asked at every cut after which all of them are gone.
        until: id of the step that makes the answer wrong, e.g. by a new value; not asked at cuts from there on.
        files: asks for all files of a kind; git knows which they are, and the probe has no statements.

    """

    probe_id: Annotated[str, msgspec.Meta(pattern=_ID)]
    type: ProbeType
    question: NonBlank
    evidence: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=1, max_length=MOST_EVIDENCE)]
    until: Positive | None = None
    tags: tuple[Tag, ...] = ()
    files: FileChange | None = None
    statements: tuple[Statement, ...] = ()
    must_not: tuple[MustNot, ...] = ()
    made_by: Maker = Maker.HAND

    @property
    def gold(self) -> str:
        """A right answer: what all of its statements say."""
        return "\n".join(sentence(statement.says) for statement in self.statements)

    def names(self) -> Iterator[tuple[str, ...]]:
        """Yield the spellings of each name in its vital statements that its question does not tell."""
        seen = set()
        for statement in self.statements:
            if statement.weight is not Weight.VITAL:
                continue
            for name in statement.names:
                spellings = (name,) if isinstance(name, str) else name
                if spellings not in seen and not any(spelling in self.question for spelling in spellings):
                    seen.add(spellings)
                    yield spellings


class Unanswerable(msgspec.Struct, frozen=True, kw_only=True):
    """A question that the session never answers: whoever is asked should say so.

    Attributes:
        probe_id: unique among the probes of its session as well.
        never_said: what an answer would be about; the session has none of it, in any case or as a part of a word.

    """

    probe_id: Annotated[str, msgspec.Meta(pattern=_ID)] = msgspec.field(name="id")
    question: NonBlank
    never_said: Annotated[tuple[NonBlank, ...], msgspec.Meta(min_length=1)]


class ProbeFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of probes of one session."""

    probes: Annotated[tuple[Probe, ...], msgspec.Meta(min_length=1)]
    unanswerable: tuple[Unanswerable, ...] = ()
    acts: tuple[Act, ...] = ()


def sentence(text: str) -> str:
    """Return a text with a full stop at its end, unless something ends it already."""
    text = text.strip()
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


learn(ProbeFile)
