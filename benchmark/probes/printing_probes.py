"""The probes of one method, one by one: what is kept of each, what was answered, and what the judges say of that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from benchmark.cli.console import terminal
from benchmark.judges.rubric import FULL
from benchmark.probes.answer_figures import is_wrong
from benchmark.probes.printing import POINTS
from benchmark.probes.records import (
    Answering,
    AskedProbe,
    GoldStatement,
    JudgedStatement,
    MeasuredMethod,
    PosedProbe,
    ProbeResult,
)
from benchmark.probes.states import Posed, posed_by_id, state_of, statement_state
from benchmark.record.base import to_json
from benchmark.render.figures import MISSING, form_text
from benchmark.render.terminal import print_table
from benchmark.statements.model import Weight
from ctxsift.errors import InputError, did_you_mean
from ctxsift.terminal import one_line, show

_UNNAMED = "does not mention it, and does not say that it is unknown"
_ABSENT = {True: "the answer says so", False: "the answer does not"}
# Of the widest word that begins a line, its colon, and a blank.
_WIDTH = 11


def print_method(result: ProbeResult, name: str) -> None:
    """Print each probe that a method does not answer in full at some cut, with its score at each age; then answers.

    Raises:
        InputError: the method was not measured.

    """
    method, posed = _method_named(result, name), posed_by_id(result.probes)
    by_probe: dict[tuple[str, str], list[AskedProbe]] = {}
    for each in method.asked:
        by_probe.setdefault((each.session, each.probe), []).append(each)
    short = {key: found for key, found in sorted(by_probe.items()) if min(each.score for each in found) < FULL}
    rows = [
        [
            *(session, probe, found[0].type, found[0].made_by),
            ", ".join(form_text(POINTS, each.score) + ("!" if each.uptake else "") for each in found),
        ]
        for (session, probe), found in short.items()
    ]
    title = f"{name}: {len(rows)} of {len(by_probe)} probes are not answered in full"
    print_table(terminal(), ["session", "probe", "type", "made by", "scores from age 0 on"], rows, title=title)
    if any("!" in row[-1] for row in rows):
        show("! the last statement in the context is wrong")
    for key, found in short.items():
        if key in posed:
            show(f"\n{key[0]}, {key[1]}: statements from age 0 on")
            for says, states in _states(found, posed[key]).items():
                show(one_line(f"{', '.join(states)}: {says}"))
    print_answers(result, name)


def _method_named(result: ProbeResult, name: str) -> MeasuredMethod:
    """Return what the contexts of a method hold, also of one that was only answered about. Raises InputError."""
    kept = (method for answering in result.answered for method in answering.kept)
    labels = {method.label: method for method in (*result.methods, *kept)}
    if name not in labels:
        raise InputError(name, "was not measured", did_you_mean(name, labels))
    return labels[name]


def _states(found: Sequence[AskedProbe], posed: PosedProbe) -> Mapping[str, Sequence[str]]:
    """Return what became of each statement of a probe, in words; a dash where it does not count."""
    told = [
        {gold[each.index]: statement_state(each) for each in asked.statements}
        for asked in found
        for gold in [posed.gold_at(asked.at).statements]
    ]
    gold = dict.fromkeys(statement for states in told for statement in states)
    return {_told(each): [states.get(each, MISSING) for states in told] for each in gold}


def _told(statement: GoldStatement) -> str:
    return statement.says if statement.weight is Weight.VITAL else f"{statement.says} ({statement.weight})"


def print_answers(result: ProbeResult, name: str, most: int | None = None) -> None:
    """Print what was answered about the contexts of a method, with the verdict on each answer, statement by statement.

    Args:
        result: with answers, or without any, and then nothing is printed.
        name: of the method.
        most: so many answers of each answerer; all of them when None.

    """
    posed = posed_by_id(result.probes)
    for answering, method in _answered(result, name):
        asked = method.asked[:most]
        further = "" if len(asked) == len(method.asked) else " (--all shows all)"
        count = f"{len(asked)} of {len(method.asked)}{further}"
        show(f"\n{one_line(f'answers of {answering.answerer} under {name}, {count}:')}")
        for each in asked:
            _show(_heading(each), _verdict(each, posed[each.session, each.probe]))
        for without in method.unanswerable[:most]:
            heading = f"{without.session}, {without.probe}: the session never says it; {_ABSENT[without.abstains]}"
            _show(heading, [("question", without.question), ("answer", without.answer)])


def _show(heading: str, lines: Iterable[tuple[str, str]]) -> None:
    show(f"\n{one_line(heading)}")
    for told, text in lines:
        show(f"  {f'{told}:':{_WIDTH}}{one_line(text)}")


def _answered(result: ProbeResult, name: str) -> Iterator[tuple[Answering, MeasuredMethod]]:
    for answering in result.answered:
        yield from ((answering, method) for method in answering.methods if method.label == name)


def _heading(asked: AskedProbe) -> str:
    abstains = "; it abstains" if asked.abstains else ""
    return f"{asked.session}, {asked.probe}, cut {asked.at + 1}: {form_text(POINTS, asked.score)} of {FULL:g}{abstains}"


def _verdict(asked: AskedProbe, posed: PosedProbe) -> Iterator[tuple[str, str]]:
    """Yield the lines on an answer, each with what begins it."""
    right = posed.gold_at(asked.at)
    yield "question", posed.question
    yield "right", right.text
    yield "answer", asked.answer or MISSING
    for each in asked.statements:
        told = said(each)
        why = f" [{each.why}]" if each.why not in ("", told) else ""
        yield told, f"{_told(right.statements[each.index])}{why}"
    for statement in _uncounted(asked, right.statements):
        yield "uncounted", f"{_told(statement)} [the question or the kept steps say it]"
    for says in wrong_said(asked):
        yield "wrong", says


def said(found: JudgedStatement) -> str:
    """Return how much of a statement an answer says, in words."""
    return "said" if found.share == 1 else "in part" if found.share else "not said"


def _uncounted(asked: AskedProbe, gold: Sequence[GoldStatement]) -> list[GoldStatement]:
    counted = {each.index for each in asked.statements}
    return [statement for index, statement in enumerate(gold) if index not in counted]


def wrong_said(asked: AskedProbe) -> list[str]:
    """Return what is wrong with an answer, in words; nothing where nothing is."""
    return [each.says for each in asked.wrong] or ([_UNNAMED] if is_wrong(asked) else [])


def method_json(result: ProbeResult, name: str) -> dict[str, Any]:
    """Return the probes of a method, and the answers about it, as JSON values. Raises InputError as `print_method`."""
    method, posed = _method_named(result, name), posed_by_id(result.probes)
    probes = [_kept_json(each, posed) for each in method.asked]
    return {"method": name, "probes": probes, "answers": answers_json(result, name)}


def _kept_json(asked: AskedProbe, posed: Posed) -> dict[str, Any]:
    probe = posed.get((asked.session, asked.probe))
    found: dict[str, Any] = {"age": asked.age, "score": asked.score}
    if probe is None:
        # Of files of version 1.
        return {"session": asked.session, "probe": asked.probe, "at": asked.at} | found
    found["state"] = state_of(asked, probe)
    found["wrong"] = [each.says for each in asked.wrong]
    return _probe_json(asked, probe) | found | _statements_json(asked, probe, statement_state)


def answers_json(result: ProbeResult, name: str) -> list[dict[str, Any]]:
    """Return what was answered about the contexts of a method as JSON values, with the verdict on each answer."""
    posed = posed_by_id(result.probes)
    found: list[dict[str, Any]] = []
    for answering, method in _answered(result, name):
        values = [*_answers_json(method.asked, posed), *(to_json(each) for each in method.unanswerable)]
        found += [{"answerer": answering.answerer} | each for each in values]
    return found


def _answers_json(asked: Iterable[AskedProbe], posed: Posed) -> Iterator[dict[str, Any]]:
    for each in asked:
        probe = posed[each.session, each.probe]
        verdict = {"answer": each.answer, "score": each.score, "abstains": each.abstains, "wrong": wrong_said(each)}
        yield _probe_json(each, probe) | verdict | _statements_json(each, probe, said)


def _probe_json(asked: AskedProbe, posed: PosedProbe) -> dict[str, Any]:
    return {
        "session": asked.session,
        "probe": asked.probe,
        "type": asked.type,
        "made_by": asked.made_by,
        "at": asked.at,
        "question": posed.question,
        "right": posed.gold_at(asked.at).text,
    }


def _statements_json(
    asked: AskedProbe, posed: PosedProbe, told: Callable[[JudgedStatement], str]
) -> dict[str, list[Any]]:
    gold = posed.gold_at(asked.at).statements
    counted = [(gold[each.index], each) for each in asked.statements]
    return {
        "statements": [
            {"says": right.says, "weight": right.weight, "verdict": told(each), "share": each.share, "why": each.why}
            for right, each in counted
        ],
        "uncounted": [each.says for each in _uncounted(asked, gold)],
    }
