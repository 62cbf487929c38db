"""What a run of probes writes: the contexts of each method, and what each probe found in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from benchmark.probes.model import Maker, ProbeType
from benchmark.probes.scoring import Criterion
from benchmark.record.base import Record, Seconds, Sha256, Timestamp
from benchmark.record.record_file import RecordFile
from ctxsift.errors import InputError

RESULT_VERSION = 1
_DAMAGED = "the file is damaged; run it again"
Points = Annotated[float, msgspec.Meta(ge=0, le=5)]
# More cuts than any session has.
_Cut = Annotated[int, msgspec.Meta(ge=0, le=999)]
_Whole = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class AskedProbe(Record, frozen=True, kw_only=True):
    """A probe in the context of a method at a cut.

    Attributes:
        at: the cut, counted from 0.
        age: cuts since the first one after which its evidence was gone.
        score: 0 to 5.
        criteria: those that are scored, 0 to 5; the others are unscored.
        uptake: what stands last contradicts the answer; None where nothing could (no must_not).

    """

    session: str
    probe: str
    type: ProbeType
    made_by: Maker
    at: _Cut
    age: _Cut
    score: Points
    criteria: dict[Criterion, Points]
    uptake: bool | None = None


class LeftContext(Record, frozen=True, kw_only=True):
    """The context that a method left at a cut.

    Attributes:
        tokens: of it, system prompts left out; an estimate.
        tokens_whole: of all steps up to the cut.
        seconds: that the cycle took.
        refused: the summary was not used.

    """

    session: str
    at: _Cut
    tokens: _Whole
    tokens_whole: _Whole
    seconds: Seconds
    refused: bool = False


class MeasuredMethod(Record, frozen=True, kw_only=True):
    """A method with a budget, over all sessions.

    Attributes:
        budget: tokens of a summary; None where the method takes none.

    """

    method: str
    budget: _Whole | None
    contexts: list[LeftContext]
    asked: list[AskedProbe]

    @property
    def label(self) -> str:
        """What it is called in a table."""
        return self.method if self.budget is None else f"{self.method} {self.budget / 1000:g}k"


class ProbedSession(Record, frozen=True, kw_only=True):
    """A session that was probed.

    Attributes:
        sha256: of its steps and probes.
        probes: how many it has, made by hand and by rule.

    """

    name: str
    split: str
    sha256: Sha256
    steps: _Whole
    cuts: list[int]
    probes: dict[Maker, int]


class ProbeResult(Record, frozen=True, kw_only=True):
    """A run of probes.

    Attributes:
        judge: who judged, with the version.
        keep_last: tokens of the steps that are kept.
        leaks: statements that were taken out at a cut, because the kept steps say them.

    """

    schema_version: int = RESULT_VERSION
    timestamp: Timestamp
    judge: str
    keep_last: _Whole
    leaks: _Whole
    sessions: list[ProbedSession]
    methods: list[MeasuredMethod]


RESULT_FILE = RecordFile(ProbeResult, "result of probes", RESULT_VERSION, most_mb=64)


def read_result(path: Path) -> ProbeResult:
    """Return a result from a file.

    Raises:
        InputError: it is none, or its parts do not go together.

    """
    result = RESULT_FILE.read(path)
    names = {session.name for session in result.sessions}
    first = None
    for number, method in enumerate(result.methods):
        where = f"{path}: /methods/{number}"
        asked = [(each.session, each.probe, each.at) for each in method.asked]
        first = set(asked) if first is None else first
        if not method.contexts:
            raise InputError(f"{where}/contexts", "is empty", _DAMAGED)
        if len(asked) != len(first) or set(asked) != first:
            raise InputError(f"{where}/asked", "is not what the first method was asked", _DAMAGED)
        if strange := {session for session, _, _ in asked} - names:
            raise InputError(f"{where}/asked", f"{min(strange)!r} is none of the sessions", _DAMAGED)
    if len({method.label for method in result.methods}) < len(result.methods):
        raise InputError(f"{path}: /methods", "has a method twice", _DAMAGED)
    return result
