"""What answerers did, under each method: tables in a terminal, Markdown, CSV and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from benchmark.cli.console import terminal
from benchmark.probes.acts import Outcome
from benchmark.probes.model import Maker
from benchmark.probes.printing import SHARE, BoardTable
from benchmark.probes.records import Answering, AskedAct
from benchmark.render.csv import harmless
from benchmark.render.figures import MISSING, form_text
from benchmark.render.markdown import markdown_table, plain_cell
from benchmark.render.terminal import print_table
from ctxsift.terminal import one_line, show

_NOTE = (
    "Share of the acts, judged by rules. Obeyed: the call follows the user's instruction, or uses the current value. "
    "Broke: it breaks the instruction, or uses a value that was replaced. Neither: a different call, which rules "
    "cannot judge."
)
_HEADER = ("method", "acts", *Outcome, "broken")


def print_acts(answered: Sequence[Answering]) -> None:
    """Print what each answerer did that was asked to act."""
    for each, table in _tables(answered):
        show(f"\n{one_line(_heading(each))}")
        print_table(terminal(), table.header, table.rows, title=table.title)
        show(one_line(table.note))


def acts_markdown(answered: Sequence[Answering]) -> str:
    """Return the same as Markdown; empty where nobody was asked."""
    parts = []
    for each, table in _tables(answered):
        parts += [f"## {plain_cell(_heading(each))}", markdown_table(table.header, table.rows), plain_cell(table.note)]
    return "\n\n".join(parts) + "\n" if parts else ""


def acts_csv_rows(answered: Iterable[Answering]) -> Iterator[list[str]]:
    """Yield lines under the header of the boards; who acted stands in the name of the figure."""
    for each in answered:
        for acts in _by_method(each.acts).values():
            counts, first = _counts(acts), acts[0]
            for outcome, count in counts.items():
                name, share = f"act {outcome}: {each.answerer}", count / len(acts)
                cells = (Maker.HAND, "", first.method, first.budget or "", name, share, "", "", len(acts))
                yield [str(harmless(cell)) for cell in cells]


def acts_json(answered: Iterable[Answering]) -> list[dict[str, Any]]:
    """Return what each answerer did as JSON values, act by act."""
    return [
        {
            "answerer": each.answerer,
            "version": each.version,
            "acted": [
                {
                    "method": acts[0].method,
                    "budget": acts[0].budget,
                    "acts": len(acts),
                    "outcomes": _counts(acts),
                    "replies": [msgspec.to_builtins(act) for act in acts],
                }
                for acts in _by_method(each.acts).values()
            ],
        }
        for each in answered
        if each.acts
    ]


def _tables(answered: Iterable[Answering]) -> Iterator[tuple[Answering, BoardTable]]:
    for each in answered:
        if each.acts:
            rows = [[label, str(len(acts)), *_cells(acts)] for label, acts in _by_method(each.acts).items()]
            yield each, BoardTable("Is it obeyed?", _HEADER, rows, _NOTE)


def _heading(answering: Answering) -> str:
    return f"Acts of {answering.answerer} ({answering.version})"


def _by_method(acts: Iterable[AskedAct]) -> dict[str, list[AskedAct]]:
    """Return acts by the label of their method, the most obedient first."""
    found: dict[str, list[AskedAct]] = {}
    for each in acts:
        found.setdefault(each.label, []).append(each)
    return dict(sorted(found.items(), key=lambda item: (-_counts(item[1])[Outcome.OBEYED] / len(item[1]), item[0])))


def _counts(acts: Iterable[AskedAct]) -> Mapping[Outcome, int]:
    found = Counter(each.outcome for each in acts)
    return {outcome: found[outcome] for outcome in Outcome}


def _cells(acts: Sequence[AskedAct]) -> list[str]:
    shares = [form_text(SHARE, count / len(acts)) for count in _counts(acts).values()]
    broken = [f"{each.session}/{each.act}" for each in acts if each.outcome is Outcome.BROKE]
    return [*shares, ", ".join(broken) or MISSING]
