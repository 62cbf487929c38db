"""What is wrong with probes, as far as a machine can tell before any method is measured with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmark.probes.acts import TOOLS, Act, Outcome, graded_call
from benchmark.probes.asking import (
    UNCOUNTED,
    ProbeAtCut,
    askings,
    is_gone,
    kept_says,
    kept_texts,
    leaked,
    probe_cuts,
    told_by_question,
)
from benchmark.probes.judge import Counted, ProbeUnit, ProbeVerdict, SessionProbes
from benchmark.probes.judging import RuleJudge, unsaid
from benchmark.probes.model import Maker, Probe, Unanswerable, sentence
from benchmark.statements.judging import judge, violations
from benchmark.statements.lints import beyond_limits, swappable, unkept
from benchmark.statements.model import Weight
from benchmark.statements.text import read, tokens_of
from benchmark.statements.vocabulary import AUXILIARIES
from benchmark.typed_input import place_in
from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.compaction.transcript import text_of
from ctxsift.sessions.records import Session

FEWEST_MUST_NOT = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a probe.

    Attributes:
        where: file and place.
        text: what, and what to do.

    """

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class ProbeCheck:
    """What a check of the probes of a session found.

    Attributes:
        problems: to be mended.
        cuts: at which they are asked.
        asked: probe by id -> the cuts at which it is, counted from 0.
        leaks: (probe by id, cut, statement by index) that the kept steps say, so that it does not count there.

    """

    problems: tuple[Problem, ...]
    cuts: tuple[Cut, ...]
    asked: dict[str, tuple[int, ...]]
    leaks: tuple[tuple[str, int, int], ...]


def check_probes(
    session: Session,
    probes: Sequence[Probe],
    where: str,
    unanswerable: Sequence[Unanswerable] = (),
    acts: Sequence[Act] = (),
) -> ProbeCheck:
    """Return what is wrong with the probes of a session, and where they are asked.

    Args:
        session: as it was read.
        probes: its probes.
        where: the file of the probes.
        unanswerable: the questions in it that the session never answers.
        acts: what is to be done.

    """
    cuts, rules = probe_cuts(session), RuleJudge(SessionProbes(probes))
    kept = kept_says(probes, cuts, kept_texts(session, cuts), rules)
    whole = [each.text for each in compact_session(session, "everything", cuts)]
    asked: dict[str, list[ProbeAtCut]] = {probe.probe_id: [] for probe in probes}
    for asking in askings(probes, cuts, kept):
        asked[asking.probe.probe_id].append(asking)
    steps = [(step.step_id, text_of([step])) for step in session.steps]
    problems: list[Problem] = []
    for number, probe in enumerate(probes):
        mine = asked[probe.probe_id]
        found = [*_shape(probe), *_gold(probe), *_wrong(probe), *_evidence(probe, session, cuts, rules)]
        found += [*_before(probe, steps, rules), *_history(mine, rules, whole, cuts), *_nowhere(probe, rules, whole)]
        if not mine and any(is_gone(probe, cut) for cut in cuts):
            found.append("never asked: the kept steps say every vital statement; ask for what they do not repeat")
        there = f"{place_in(where, 'probes', number)} ({probe.probe_id})"
        problems += [Problem(there, text) for text in found]
    problems += _answered(session, unanswerable, where)
    for number, act in enumerate(acts):
        there = f"{place_in(where, 'acts', number)} ({act.act_id})"
        problems += [Problem(there, text) for text in _act(act, cuts)]
    where_asked = {name: tuple(asking.at for asking in mine) for name, mine in asked.items()}
    leaks = tuple(leaked(probes, kept))
    return ProbeCheck(tuple(problems), tuple(cuts), where_asked, leaks)


def _answered(session: Session, unanswerable: Sequence[Unanswerable], where: str) -> Iterator[Problem]:
    """Yield what a session says after all of what it is supposed never to say."""
    said = text_of(session.steps).lower()
    for number, each in enumerate(unanswerable):
        for word in each.never_said:
            if word.lower() in said:
                there = f"{place_in(where, 'unanswerable', number)} ({each.probe_id})"
                yield Problem(there, f"the session says {word!r}; ask for what it never mentions")


def _act(act: Act, cuts: Sequence[Cut]) -> Iterator[str]:
    """Yield what is wrong with an act: whom it cannot tell apart, and what it gives away."""
    for name, call, due in (("gold", act.gold, Outcome.OBEYED), ("naive", act.naive, Outcome.BROKE)):
        found = graded_call(act, call)
        if found.outcome is not due:
            yield f"{name}: {found.outcome}, not {due}: {found.why}"
    if unknown := [name for name in act.tools if name not in TOOLS]:
        yield f"tools: there is no {unknown[0]!r}; name some of {', '.join(TOOLS)}"
    for name in [name for each in act.obeys for spellings in each.spellings for name in spellings]:
        if name.casefold() in act.instruction.casefold():
            yield f"the instruction itself says {name!r}"
    if not any(is_gone(act, cut) for cut in cuts):
        yield f"never asked: step {max(act.evidence)} is kept until the end, or until it holds no more"


def _shape(probe: Probe) -> Iterator[str]:
    if probe.files is not None:
        return
    yield from beyond_limits(probe.statements, probe.must_not)
    if probe.made_by is Maker.HAND and len(probe.must_not) < FEWEST_MUST_NOT:
        fewer = f"{len(probe.must_not)} must_not; write at least {FEWEST_MUST_NOT}"
        yield f"{fewer}: values that were superseded, neighbours, what was rejected"
    for index in sorted(told_by_question(probe)):
        yield f"the question itself says {probe.statements[index].says!r}"


def _gold(probe: Probe) -> Iterator[str]:
    if probe.files is not None:
        return
    for place, problem, hint in unkept(probe.gold, probe.statements, probe.must_not):
        yield f"{'/'.join(map(str, place))}: {problem.replace('gold', '`says`')}; {hint}"
    names = list(dict.fromkeys(spelling for name in probe.names() for spelling in name if spelling in probe.gold))
    rest = {statement.says: statement for statement in probe.statements}

    def quality(text: str) -> float:
        return judge(text, tuple(rest.values()), probe.must_not).quality

    for ours, theirs in swappable(probe.gold, names, probe.statements, quality):
        yield f"with {ours!r} and {theirs!r} swapped the answer is as good: bind them in pairs"


def _wrong(probe: Probe) -> Iterator[str]:
    """Yield what the rules against wrong answers miss, or excuse."""
    for index, rule in enumerate(probe.must_not):
        if not list(violations(read(sentence(rule.says)), rule)):
            yield f"must_not/{index}: `says` does not break it: {rule.says!r}; no other wording will, either"
        for unless in rule.unless:
            if all(token.norm in AUXILIARIES for token in tokens_of(unless)):
                yield f"must_not/{index}: unless {unless!r} excuses nearly every sentence; say more"


def _evidence(probe: Probe, session: Session, cuts: Sequence[Cut], rules: RuleJudge) -> Iterator[str]:
    by_id = {step.step_id: step for step in session.steps}
    if missing := [number for number in probe.evidence if number not in by_id]:
        yield f"evidence: the session has no step {missing[0]}; its last one is {session.steps[-1].step_id}"
        return
    if not any(is_gone(probe, cut) for cut in cuts):
        least = min((cut.first_kept for cut in cuts if cut.first_kept > max(probe.evidence)), default=None)
        if least is None:
            yield f"never asked: step {max(probe.evidence)} is kept to the end"
        else:
            yield f"never asked: step {max(probe.evidence)} is kept until step {probe.until} makes the answer wrong"
    text = text_of(by_id[number] for number in probe.evidence)
    said = _said(rules, probe, text)
    for index, statement in enumerate(probe.statements):
        if statement.weight is not Weight.VITAL or said.share(index) == 1:
            continue
        told = f"statements/{index}: no step of the evidence says {statement.says!r}"
        if index in said.statements:
            yield f"{told}: its terms are there, but too few words of `says`; use those of the session"
        else:
            yield f"{told}{unsaid(text, statement)}"


def _before(probe: Probe, steps: Sequence[tuple[int, str]], rules: RuleJudge) -> Iterator[str]:
    """Yield vital statements that are read where nobody could know them yet: their terms meet by chance elsewhere, too.

    Args:
        probe: with evidence that the session has.
        steps: ids and texts, in their order.
        rules: the judge of the probes.

    """
    if probe.made_by is Maker.RULE:
        # Rules take a sentence wherever it stands; people repeat themselves.
        return
    open_yet = {index for index, each in enumerate(probe.statements) if each.weight is Weight.VITAL}
    for step_id, text in steps:
        if step_id >= min(probe.evidence) or not open_yet:
            return
        said = _said(rules, probe, text)
        for index in sorted(index for index in open_yet if said.share(index) == 1):
            open_yet.remove(index)
            yield (
                f"statements/{index}: step {step_id} says {probe.statements[index].says!r} before the evidence does: "
                f"{said.statements[index].why!r}; ask for more, or name that step in `evidence`"
            )


def _history(mine: Sequence[ProbeAtCut], rules: RuleJudge, whole: Sequence[str], cuts: Sequence[Cut]) -> Iterator[str]:
    """Yield where the whole history does not give the answer, although nothing is gone from it."""
    for asking in mine:
        said = _said(rules, asking.probe, whole[asking.at], asking.counted)
        if said.contradiction is not None:
            wrong, found = said.contradiction
            yield (
                f"at step {cuts[asking.at].after_step} the whole history contradicts it: {wrong!r} is read in "
                f"{found.why!r}; narrow the terms, or say `until` where the answer changes"
            )
            return


def _nowhere(probe: Probe, rules: RuleJudge, whole: Sequence[str]) -> Iterator[str]:
    """Yield statements that are nice to have, and that nobody can have."""
    said = _said(rules, probe, whole[-1] if whole else "")
    for index, statement in enumerate(probe.statements):
        if statement.weight is Weight.OKAY and index not in said.statements:
            yield f"statements/{index}: the whole history does not say {statement.says!r}"


def _said(rules: RuleJudge, probe: Probe, text: str, counted: Counted = UNCOUNTED) -> ProbeVerdict:
    if probe.files is not None:
        return ProbeVerdict()
    return rules.judge(ProbeUnit(probe, probe.statements, counted, probe.evidence[-1], context=text))
