"""Probes by rule: what a session says in words that give it away. They are many and shallow; no person read them."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from benchmark.probes.asking import probe_cuts
from benchmark.probes.model import FileChange, Maker, Probe, ProbeType, Tag
from benchmark.probes.passages import passages_of
from benchmark.statements.judging import finding
from benchmark.statements.model import Statement
from benchmark.statements.phrases import places_of
from benchmark.statements.text import Token, TokenKind, read, tokens_of
from ctxsift.sessions.compaction.cutting import SHARES
from ctxsift.sessions.compaction.lines import MessageLine, lines_of
from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.running import DEFAULT_KEEP_LAST
from ctxsift.sessions.compaction.tasks import open_tasks
from ctxsift.sessions.records import Session, Step, ToolCall

# Probes of each type; what is more is thinned out evenly, so that all of the session is asked about.
MOST_OF_A_TYPE = 12
_FEWEST_WORDS, _MOST_WORDS = 5, 45
_FEWEST_ASKED, _ASKED_WORDS, _ASKED_NAMES = 2, 3, 2
_ORDER = re.compile(
    r"(?i)\b(?:never|always|must|mustn't|don't|do not|only|nothing else|stay(?:s)? as|no new|without)\b"
)
_REASON = re.compile(r"(?i)\b(?:because|instead of|rather than|not taken|not proposed|turned out)\b")
_LEFT = re.compile(r"(?i)\b(?:open|left to do|not done|next|todo|to do|remaining|later|not yet|not started)\b")
# Where no blank follows, names go on: `bill.Run`.
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")
_FOUND = re.compile(r"\d")
_NAME = re.compile(r"[_/.\d]|[a-z][A-Z]|\(\)")
_WRITES = ("content", "new_text", "new_string", "new_str", "newText", "file_text", "edits", "patch", "input")
_PATHS = ("path", "file_path", "filePath", "notebook_path")
_CHANGE_WORDS = ("created", "written", "wrote", "write", "added", "new", "modified", "changed", "edit", "updated")


def generated(
    session: Session,
    *,
    knows_files: bool = False,
    keep_last: int = DEFAULT_KEEP_LAST,
    shares: Sequence[float] = SHARES,
) -> tuple[Probe, ...]:
    """Return the probes that rules make of a session.

    Args:
        session: as it was read.
        knows_files: git tells which files were changed, so that one can ask for all of them.
        keep_last: tokens of the steps that stay at a cut.
        shares: of the tokens at which it is cut.

    """
    cuts = probe_cuts(session, keep_last, shares)
    if not cuts:
        return ()
    gone = [step for step in session.steps if step.step_id < cuts[-1].first_kept]
    lines = [line for whole in lines_of(gone) for line in _sentences(whole) if _is_prose(line)]
    rarity = Counter(token.norm for line in lines for token in {t.norm: t for t in tokens_of(line.text)}.values())
    made = _Maker(rarity)
    told = [
        *made.of_lines(ProbeType.CONSTRAINT, lines, _is_order),
        *made.of_lines(ProbeType.DECISION, lines, lambda line: bool(_REASON.search(line.text))),
        *made.of_lines(ProbeType.RECALL, lines, lambda line: line.is_report and bool(_FOUND.search(line.text))),
        *made.of_work(session.steps, lines, cuts),
    ]
    files = _all_files(gone[0].step_id) if knows_files and gone else _each_file(gone)
    return (*told, *files)


class _Maker:
    """Makes probes of lines.

    Args:
        rarity: in how many lines each norm stands.

    """

    def __init__(self, rarity: Counter[str]) -> None:
        self._rarity = rarity

    def of_lines(
        self, kind: ProbeType, lines: Sequence[MessageLine], fits: Callable[[MessageLine], bool]
    ) -> Iterator[Probe]:
        """Yield a probe for each line that fits, thinned out."""
        for line in _thinned([line for line in lines if fits(line)]):
            tags = (Tag.TECHNICAL,) if kind is ProbeType.RECALL else ()
            yield from self._of_text(kind, line.text, line.step_id, f"{line.step_id}-{line.place}", tags=tags)

    def of_work(self, steps: Sequence[Step], lines: Sequence[MessageLine], cuts: Sequence[Cut]) -> Iterator[Probe]:
        """Yield at each cut what the last report or to-do list before it calls open; asked at that cut alone."""
        for cut in cuts:
            until = cut.after_step + 1
            tasks = open_tasks(step for step in steps if step.step_id < cut.first_kept) or ()
            for number, task in enumerate(tasks[:3]):
                where = f"{cut.after_step}-todo-{number}"
                yield from self._of_text(ProbeType.CONTINUATION, task.text, task.step_id, where, (Tag.TODO,), until)
            told = [line for line in lines if line.is_report and line.step_id < cut.first_kept]
            last = [line for line in told if line.step_id == told[-1].step_id]
            for line in [line for line in last if _LEFT.search(f"{line.lead} {line.text}")][:3]:
                where = f"{cut.after_step}-{line.place}"
                yield from self._of_text(ProbeType.CONTINUATION, line.text, line.step_id, where, (Tag.STATE,), until)

    def _of_text(
        self,
        kind: ProbeType,
        text: str,
        step: int,
        where: str,
        tags: tuple[Tag, ...] = (),
        until: int | None = None,
    ) -> Iterator[Probe]:
        passage = read("\n".join(passages_of(text)))
        names = sorted(hard_names(passage.tokens), key=lambda name: -len(name))[:_ASKED_NAMES]
        words = self._rarest([each for each in passage.tokens if each.kind is TokenKind.WORD and each.says_something])
        terms = [(term,) for word in words for term in (word, f"!{word}") if places_of(passage, (term,))]
        terms = terms[: _ASKED_WORDS - min(len(names), 1)]
        statement = Statement(says=text, names=tuple(names), terms=tuple(terms))
        if len(names) + len(terms) < _FEWEST_ASKED or finding(passage, statement).share < 1:
            return
        yield Probe(
            probe_id=f"rule-{kind}-{where}",
            type=kind,
            question=_QUESTIONS[kind].format(step=step),
            evidence=(step,),
            until=until,
            tags=tags,
            statements=(statement,),
            made_by=Maker.RULE,
        )

    def _rarest(self, tokens: Sequence[Token]) -> list[str]:
        by_norm = {token.norm: token.text for token in reversed(tokens)}
        return [by_norm[norm] for norm in sorted(by_norm, key=lambda norm: (self._rarity[norm], norm))]


_QUESTIONS = {
    ProbeType.CONSTRAINT: "What did the user order in step {step}?",
    ProbeType.DECISION: "What was decided in step {step}, and why?",
    ProbeType.RECALL: "What was found out by step {step}?",
    ProbeType.CONTINUATION: "What was left to do after step {step}?",
}


def hard_names(tokens: Iterable[Token]) -> list[str]:
    """Return identifiers, paths and versions among tokens, each once."""
    return list(dict.fromkeys(each.text for each in tokens if each.kind is TokenKind.NAME and _NAME.search(each.text)))


def _sentences(line: MessageLine) -> Iterator[MessageLine]:
    """Yield the sentences of a line, each as one of its own; only what ends a turn of the agent, and the user's."""
    if line.by_user or line.is_report:
        for number, text in enumerate(SENTENCE_END.split(line.text)):
            yield dataclasses.replace(line, text=text, place=100 * line.place + number)


def _is_order(line: MessageLine) -> bool:
    return line.by_user and (line.is_reply or bool(_ORDER.search(line.text)))


def _is_prose(line: MessageLine) -> bool:
    # A short answer says enough below its question.
    words = len(f"{line.lead if line.is_reply else ''} {line.text}".split())
    return (
        not line.in_code and not line.is_row and _FEWEST_WORDS <= words <= _MOST_WORDS and not line.text.endswith("?")
    )


def _thinned(lines: Sequence[MessageLine]) -> Iterable[MessageLine]:
    if len(lines) <= MOST_OF_A_TYPE:
        return lines
    return [lines[number * len(lines) // MOST_OF_A_TYPE] for number in range(MOST_OF_A_TYPE)]


def _all_files(first: int) -> Iterator[Probe]:
    for change in FileChange:
        yield Probe(
            probe_id=f"rule-files-{change}",
            type=ProbeType.ARTIFACT,
            question=f"Which files were {change} in this session?",
            evidence=(first,),
            files=change,
            made_by=Maker.RULE,
        )


def _each_file(gone: Sequence[Step]) -> Iterator[Probe]:
    """Yield a probe for each file that a call of an editing tool names."""
    touched = {path: step.step_id for step in gone for call in step.calls if (path := _edited(call))}
    paths = sorted(touched, key=lambda path: touched[path])
    count = min(len(paths), MOST_OF_A_TYPE)
    for number in range(count):
        path = paths[number * len(paths) // count]
        name = path.rstrip("/").rpartition("/")[2]
        yield Probe(
            probe_id=f"rule-file-{touched[path]}-{number}",
            type=ProbeType.ARTIFACT,
            question="Which files were written or changed in this session?",
            evidence=(touched[path],),
            statements=(Statement(says=f"{name} was changed", names=(name,), terms=(_CHANGE_WORDS,)),),
            made_by=Maker.RULE,
        )


def _edited(call: ToolCall) -> str:
    """Return the path of a file that a call writes; empty where it writes none."""
    if not any(key in call.arguments for key in _WRITES):
        return ""
    return next((value for key in _PATHS if isinstance(value := call.arguments.get(key), str) and value), "")
