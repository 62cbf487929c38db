"""Sessions of one's own: what would a compaction have lost? Probes by rule, every method by rules, one table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.probes.generating import generated, hard_names
from benchmark.probes.measuring import MethodResult, Subject, measure
from benchmark.probes.model import ProbeType
from benchmark.probes.records import AskedProbe
from benchmark.probes.scenarios import RULE_BASED
from benchmark.probes.states import Posed, State, posed_by_id, state_of
from benchmark.statements.text import tokens_of
from ctxsift.errors import InputError
from ctxsift.sessions.compaction.controls import Given
from ctxsift.sessions.compaction.cutting import SHARES
from ctxsift.sessions.compaction.methods import DEFAULT_METHOD, RECORDED
from ctxsift.sessions.compaction.transcript import text_of
from ctxsift.sessions.reading import read_session

GIVEN = "given"
_AT_END = (1.0,)


@dataclass(frozen=True, slots=True)
class Example:
    """Something that is not kept.

    Attributes:
        step: that says it.
        found: the words that stand in its place; empty where it is lost.

    """

    state: State
    session: str
    step: int
    text: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """What a method lost of one's own sessions.

    Attributes:
        method: its name; the summary that was given is called `given`.
        asked, lost, other_words: probes of each type over all cuts, and how many of them are in these states.
        tokens: of what it left after the last cut of each session; 0 where it has no summary there.
        own_words: see MeasuredMethod.
        examples: at the last cut.

    """

    method: str
    asked: dict[ProbeType, int]
    lost: dict[ProbeType, int]
    other_words: dict[ProbeType, int]
    tokens: int
    own_words: bool
    examples: tuple[Example, ...]

    @property
    def share(self) -> float | None:
        """Share of all that was asked that is lost, in [0, 1]; None where nothing was."""
        return self._share(self.lost)

    @property
    def share_in_other_words(self) -> float | None:
        """Share of all that was asked that stands there in other words."""
        return self._share(self.other_words)

    def _share(self, found: Mapping[ProbeType, int]) -> float | None:
        asked = sum(self.asked.values())
        return sum(found.values()) / asked if asked else None


def own_subjects(paths: Sequence[Path], keep_last: int, *, at_end: bool) -> list[Subject]:
    """Return sessions with the probes that rules make of them.

    Args:
        paths: their files.
        keep_last: tokens of the steps that stay.
        at_end: cut them once, at their end.

    Raises:
        InputError: a file is no session, or so short that nothing would go or that rules find nothing to ask.

    """
    found = []
    for path in paths:
        session = read_session(path)
        shares = _AT_END if at_end else SHARES
        probes = generated(session, keep_last=keep_last, shares=shares)
        subject = Subject(str(path), "own", session, probes, keep_last=keep_last, shares=shares)
        if not subject.cuts:
            raise InputError(str(path), f"all of it is kept within {keep_last:,} tokens", "lower --keep-last")
        if not subject.asked:
            raise InputError(str(path), "rules find nothing to ask about what is gone", "name a longer session")
        found.append(subject)
    return found


def measured_own(
    subjects: Sequence[Subject], budget: int, summary: str | None = None, told: Callable[[str], None] = lambda _: None
) -> dict[str, list[MethodResult]]:
    """Return what each method by rules makes of each session, by name.

    Args:
        subjects: at least one.
        budget: tokens of a summary.
        summary: one that was made elsewhere, of the one session; None for none.
        told: called with each method that is done.

    """
    recorded = any(subject.session.compactions for subject in subjects)
    names = [*RULE_BASED, *([RECORDED] if recorded else [])]
    results: dict[str, list[MethodResult]] = {name: [] for name in names}
    for subject in subjects:
        for name in names:
            told(f"{subject.name}: {name}")
            results[name].append(measure(subject, name, budget))
        if summary is not None:
            results[GIVEN] = [measure(subject, GIVEN, budget, made=Given(summary))]
    return results


def lost_by_methods(subjects: Sequence[Subject], results: Mapping[str, Sequence[MethodResult]]) -> list[Lost]:
    """Return what each method loses, the least lost first; below, those whose words are their own."""
    posed = posed_by_id(each for subject in subjects for each in subject.posed)
    rows = (_lost(name, subjects, made, posed) for name, made in results.items())
    return sorted(rows, key=lambda each: (each.own_words, each.share is None, each.share or 0, each.tokens))


def invented_names(subject: Subject, summary: str) -> list[str]:
    """Return the identifiers, paths and versions of a summary that stand nowhere in its session."""
    history = text_of(subject.session.steps)
    return [name for name in hard_names(tokens_of(summary)) if name not in history]


def shown_examples(rows: Sequence[Lost]) -> Lost:
    """Return the row whose losses are shown: the summary that was given, else the product's own method."""
    by_name = {row.method: row for row in rows}
    return by_name.get(GIVEN) or by_name[DEFAULT_METHOD]


def _lost(name: str, subjects: Sequence[Subject], made: Sequence[MethodResult], posed: Posed) -> Lost:
    asked = [each for result in made for each in result.asked]
    states = [state_of(each, posed[each.session, each.probe]) for each in asked]
    by_state = {state: [each for each, found in zip(asked, states, strict=True) if found is state] for state in State}
    return Lost(
        name,
        _by_type(asked),
        _by_type(by_state[State.LOST]),
        _by_type(by_state[State.OTHER_WORDS]),
        sum(result.contexts[-1].tokens for result in made if not result.contexts[-1].absent),
        any(result.own_words for result in made),
        tuple(
            example
            for state in (State.LOST, State.OTHER_WORDS)
            for subject in subjects
            for example in _examples(subject, by_state[state], state)
        ),
    )


def _by_type(asked: Sequence[AskedProbe]) -> dict[ProbeType, int]:
    return {kind: sum(each.type is kind for each in asked) for kind in ProbeType}


def _examples(subject: Subject, asked: Sequence[AskedProbe], state: State) -> Iterator[Example]:
    probes = {probe.probe_id: probe for probe in subject.probes}
    last = len(subject.cuts) - 1
    for each in asked:
        if each.session == subject.name and each.at == last:
            probe = probes[each.probe]
            text = " ".join(statement.says for statement in probe.statements)
            found = " ".join(statement.why for statement in each.statements if statement.reworded)
            yield Example(state, subject.name, probe.evidence[-1], text, found if state is State.OTHER_WORDS else "")
