"""Sessions of one's own: what would a compaction have lost? Probes by rule, every method by rules, one table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.probes.generating import SENTENCE_END, generated
from benchmark.probes.judging import words_told
from benchmark.probes.measuring import MethodResult, ProbedSubject, measure
from benchmark.probes.model import ProbeType
from benchmark.probes.passages import passages_of
from benchmark.probes.records import AskedProbe
from benchmark.probes.scenarios import RULE_BASED
from benchmark.probes.states import Posed, ProbeState, posed_by_id, state_of
from benchmark.statements.text import tokens_of
from ctxsift.errors import InputError
from ctxsift.sessions.compaction.controls import GivenSummary
from ctxsift.sessions.compaction.cutting import SHARES
from ctxsift.sessions.compaction.methods import DEFAULT_METHOD, DRAWS, RECORDED
from ctxsift.sessions.compaction.transcript import STEP_LINE
from ctxsift.sessions.reading import read_session

GIVEN = "given"
_AT_END = (1.0,)
# A sentence that has so many of the words of something is about it, perhaps; so much of it is shown, in characters.
_NEAR, _FEWEST_NEAR, _MOST_NEAR = 1 / 3, 2, 160


@dataclass(frozen=True, slots=True)
class Example:
    """Something that is not kept.

    Attributes:
        step: that says it.
        found: what stands in its place, or the sentence nearest to what is lost; empty where there is none.

    """

    state: ProbeState
    session: str
    step: int
    text: str
    type: ProbeType
    found: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """What a method lost of one's own sessions.

    Attributes:
        method: its name; the summary that was given is called `given`.
        asked, lost, other_words: probes of each type over all cuts, and how many of them are in these states.
        tokens: of what it left after the last cut of each session; 0 where it has no summary there.
        own_words: see MeasuredMethod.
        at_end: probes at the last cuts, by what became of them.
        examples: of what is not kept there.

    """

    method: str
    asked: dict[ProbeType, int]
    lost: dict[ProbeType, int]
    other_words: dict[ProbeType, int]
    tokens: int
    own_words: bool
    at_end: Mapping[ProbeState, int]
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


def own_subjects(paths: Sequence[Path], keep_last: int, *, at_end: bool) -> list[ProbedSubject]:
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
        # Of methods by rules, which copy, nobody asks what they invent.
        subject = ProbedSubject(
            str(path), "own", session, probes, keep_last=keep_last, shares=shares, counts_inventions=False
        )
        if not subject.cuts:
            raise InputError(
                str(path), f"all steps fit into the {keep_last:,} tokens that are kept", "lower --keep-last"
            )
        if not subject.asked:
            raise InputError(
                str(path), "the rules find nothing to ask about the removed steps", "name a longer session"
            )
        found.append(subject)
    return found


def measured_own(
    subjects: Sequence[ProbedSubject],
    budget: int,
    summary: str | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> dict[str, list[MethodResult]]:
    """Return what each method by rules makes of each session, by name.

    Args:
        subjects: at least one.
        budget: tokens of a summary.
        summary: one that was made elsewhere, of the one session; None for none.
        told: called with each method that is done.

    """
    recorded = any(subject.session.compactions for subject in subjects)
    # Of one session, a draw of lines tells of that draw.
    names = [*(name for name in RULE_BASED if name not in DRAWS), *([RECORDED] if recorded else [])]
    results: dict[str, list[MethodResult]] = {name: [] for name in names}
    for subject in subjects:
        for name in names:
            told(f"{subject.name}: {name}")
            results[name].append(measure(subject, name, budget))
        if summary is not None:
            results[GIVEN] = [measure(subject, GIVEN, budget, made=GivenSummary(summary))]
    return results


def lost_by_methods(subjects: Sequence[ProbedSubject], results: Mapping[str, Sequence[MethodResult]]) -> list[Lost]:
    """Return what each method loses, the least lost first; below, those whose words are their own."""
    posed = posed_by_id(each for subject in subjects for each in subject.posed)
    rows = (_lost(name, subjects, made, posed) for name, made in results.items())
    return sorted(rows, key=lambda each: (each.own_words, each.share is None, each.share or 0, each.tokens))


def told_once(examples: Iterable[Example]) -> list[Example]:
    """Return examples without those whose sentence came before: rules of two types ask for the same one."""
    first: dict[tuple[str, int, str], Example] = {}
    for each in examples:
        first.setdefault((each.session, each.step, each.text), each)
    return list(first.values())


def shown_examples(rows: Sequence[Lost]) -> Lost:
    """Return the row whose losses are shown: the summary that was given, else the product's own method."""
    by_name = {row.method: row for row in rows}
    return by_name.get(GIVEN) or by_name[DEFAULT_METHOD]


def _lost(name: str, subjects: Sequence[ProbedSubject], made: Sequence[MethodResult], posed: Posed) -> Lost:
    asked = [each for result in made for each in result.asked]
    by_state: dict[ProbeState, list[AskedProbe]] = {state: [] for state in ProbeState}
    for each in asked:
        by_state[state_of(each, posed[each.session, each.probe])].append(each)
    last = {(subject.name, len(subject.cuts) - 1) for subject in subjects}
    at_end = {state: [each for each in found if (each.session, each.at) in last] for state, found in by_state.items()}
    return Lost(
        name,
        _by_type(asked),
        _by_type(by_state[ProbeState.LOST]),
        _by_type(by_state[ProbeState.OTHER_WORDS]),
        sum(result.contexts[-1].tokens for result in made if not result.contexts[-1].absent),
        any(result.own_words for result in made),
        {state: len(found) for state, found in at_end.items()},
        tuple(
            example
            for state in (ProbeState.LOST, ProbeState.OTHER_WORDS)
            for subject, result in zip(subjects, made, strict=True)
            for example in _examples(subject, result, at_end[state], state)
        ),
    )


def _by_type(asked: Sequence[AskedProbe]) -> dict[ProbeType, int]:
    return {kind: sum(each.type is kind for each in asked) for kind in ProbeType}


def _examples(
    subject: ProbedSubject, result: MethodResult, asked: Sequence[AskedProbe], state: ProbeState
) -> Iterator[Example]:
    probes = {probe.probe_id: probe for probe in subject.probes}
    passages = passages_of(_summary(result)) if asked else ()
    sentences = {each: words_told(tokens_of(each)) for passage in passages for each in SENTENCE_END.split(passage)}
    for each in asked:
        if each.session == subject.name:
            probe = probes[each.probe]
            text = " ".join(statement.says for statement in probe.statements)
            told = " ".join(statement.why for statement in each.statements if statement.reworded)
            found = told if state is ProbeState.OTHER_WORDS else _nearest(sentences, text)
            yield Example(state, subject.name, probe.evidence[-1], text, each.type, found)


def _summary(result: MethodResult) -> str:
    """Return what a method left at the last cut, without the steps that every method keeps."""
    context = result.texts[result.contexts[-1].sha256 or ""]
    return "\n".join(itertools.takewhile(lambda line: not STEP_LINE.fullmatch(line), context.split("\n")))


def _nearest(sentences: Mapping[str, frozenset[str]], text: str) -> str:
    """Return the sentence, by its words, that has most of those of a text; nothing where these are too few."""
    own = words_told(tokens_of(text))
    found = max(sentences, key=lambda each: len(own & sentences[each]), default="")
    near = len(own & sentences.get(found, frozenset())) >= max(_FEWEST_NEAR, _NEAR * len(own))
    return found[:_MOST_NEAR] if near else ""
