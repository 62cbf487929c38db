"""What `ctxsift session` prints: lists, steps and figures, for people and as JSON."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ctxsift.rich_text import block, plain_text
from ctxsift.sessions.exporting import as_atif, step_as_atif
from ctxsift.sessions.figures import CHARACTERS_PER_TOKEN, Figures
from ctxsift.sessions.finding import SessionFile
from ctxsift.sessions.records import Compaction, Session, SessionHead, Step, StepEnding, ToolResult
from ctxsift.strict_json import printable_json
from ctxsift.terminal import in_line, one_line, printable, show, show_json

# Of an output or an argument, where a whole session is shown.
_MOST_LINES, _MOST_CHARACTERS = 12, 1200
_STYLES = {"system": "magenta", "user": "bold green", "agent": "bold cyan"}
_NO_TERMINAL = 10_000
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def _console() -> Console:
    """Return a console that takes nothing for markup; elsewhere than in a terminal, it breaks no line."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _NO_TERMINAL
    return console


def _print_body(console: Console, text: str, indent: int, style: str = "") -> None:
    """Print a text with an indent that holds also where the terminal breaks its lines."""
    if not text.strip():
        return
    lines = text.strip("\n").split("\n")
    if console.is_terminal:
        console.print(Padding(block("\n".join(lines), style), (0, 0, 0, indent)))
    else:
        console.print("\n".join(" " * indent + line if line else "" for line in lines), soft_wrap=True)


def _duration(seconds: float) -> str:
    """Return a time in its two largest units."""
    left = int(max(0.0, seconds))
    parts = []
    for size, unit in _UNITS:
        if left >= size:
            parts.append(f"{left // size} {unit}")
            left %= size
    return " ".join(parts[:2]) or "0 s"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def print_list(found: Sequence[tuple[SessionFile, SessionHead]], total: int, *, as_json: bool) -> None:
    """Print the sessions on this machine, and of how many they are the newest."""
    now = time.time()
    if as_json:
        listed = [
            {
                "path": str(file.path),
                "agent": file.agent,
                "folder": head.folder,
                "title": head.title,
                "bytes": file.size,
                "age_s": round(now - file.changed),
            }
            for file, head in found
        ]
        show_json({"sessions": listed, "total": total})
        return
    console = _console()
    if not found:
        console.print("There is no session of Claude Code or Codex on this machine.")
        return
    table = Table(box=None, pad_edge=False)
    for name, justify in (("age", "right"), ("size", "right"), ("agent", "left"), ("folder", "left"), ("file", "left")):
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for file, head in found:
        cells = (_duration(now - file.changed), _size(file.size), file.agent, head.folder or "?", str(file.path))
        table.add_row(*(plain_text(cell) for cell in cells))
    console.print(table)
    console.print(f"{len(found)} of {total} sessions, the newest first.")


def print_session(session: Session, step_id: int | None, *, as_json: bool) -> None:
    """Print a session with long texts cut, or one step of it whole; through a pager where stdout is a terminal."""
    chosen = [step for step in session.steps if step_id in (None, step.step_id)]
    if as_json:
        show_json(as_atif(session) if step_id is None else step_as_atif(chosen[0]))
        return
    console = _console()
    # Colours pass through less only with -R; -F ends it where all fits on the screen.
    os.environ.setdefault("LESS", "-FRX")
    with console.pager(styles=True) if console.is_terminal else contextlib.nullcontext():
        if step_id is None:
            console.print(plain_text(_title(session.head), "bold"))
        compactions = deque(session.compactions if step_id is None else ())
        for step in chosen:
            while compactions and compactions[0].after_step < step.step_id:
                _print_compaction(console, compactions.popleft())
            _print_step(console, step, whole=step_id is not None)
        for compaction in compactions:
            _print_compaction(console, compaction)


def _title(head: SessionHead) -> str:
    known = (f"{head.agent} {head.agent_version}".strip(), head.model, head.folder, head.started or "", head.title)
    return one_line(" · ".join(part for part in known if part)) or head.format


def _print_compaction(console: Console, compaction: Compaction) -> None:
    kept = f", steps from {compaction.first_kept_step} on kept" if compaction.first_kept_step else ""
    size = f" at {compaction.tokens_before:,} tokens" if compaction.tokens_before else ""
    console.print()
    console.print(plain_text(f"--- compaction{size}{kept}", "bold yellow"))
    _print_body(console, _cut(compaction.summary), 2, "yellow")


def _print_step(console: Console, step: Step, *, whole: bool) -> None:
    marks = [str(step.step_id), str(step.source), step.timestamp or "", step.model or ""]
    marks += [str(step.ending)] if step.ending is not StepEnding.COMPLETE else []
    marks += ["copied"] if step.copied else []
    marks += ["undone"] if step.taken_back else []
    console.print()
    console.print(plain_text(one_line(" · ".join(mark for mark in marks if mark)), _STYLES[step.source]))

    def body(text: str, indent: int, style: str = "") -> None:
        _print_body(console, printable(text, len(text)) if whole else _cut(text), indent, style)

    body(step.reasoning, 2, "dim italic")
    body(step.message, 2)
    answers: dict[str, list[ToolResult]] = {}
    for result in step.results:
        answers.setdefault(result.call_id, []).append(result)

    def outputs(results: Iterable[ToolResult]) -> None:
        for each in results:
            body(_outcome(each.exit_code, each.is_error) + each.text, 4, "dim")

    for call in step.calls:
        body(f"> {one_line(call.name)}", 2, "cyan")
        body("\n".join(_arguments(call.arguments.items())), 4)
        outputs(answers.pop(call.call_id, ()))
    outputs(chain.from_iterable(answers.values()))


def _arguments(arguments: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for name, value in arguments:
        yield f"{name}: {value if isinstance(value, str) else printable_json(value)}"


def _outcome(exit_code: int | None, is_error: bool | None) -> str:
    said = [f"exit code {exit_code}"] if exit_code is not None else []
    said += ["error"] if is_error else []
    return f"[{', '.join(said)}]\n" if said else ""


def _cut(text: str) -> str:
    """Return the beginning of a text, and how much is left out."""
    lines = text.strip("\n").split("\n")
    shown = "\n".join(lines[:_MOST_LINES])
    more = f"\n[... {len(lines) - _MOST_LINES} lines more]" if len(lines) > _MOST_LINES else ""
    return printable(shown, _MOST_CHARACTERS) + more


def print_figures(figures: Figures, redacted: Counter[str], *, as_json: bool) -> None:
    """Print the figures of a session."""
    if as_json:
        show_json(_figures_as_json(figures, redacted))
        return
    rows = list(_rows(figures, redacted))
    console = _console()
    if not console.is_terminal:
        for name, value in rows:
            show(f"{name:<12} {value}")
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(plain_text(name, "bold"), plain_text(value))
    console.print(table)


def _about_steps(figures: Figures) -> Iterator[str]:
    """Yield what sets some steps apart: how they ended, where they come from, that they were taken back."""
    ended = {ending: number for ending, number in figures.endings.items() if ending is not StepEnding.COMPLETE}
    if ended:
        yield "agent steps: " + ", ".join(f"{number:,} {ending}" for ending, number in ended.items())
    if figures.copied:
        yield f"{figures.copied:,} copied from the session that this one branched from"
    if figures.taken_back:
        branches = f"{figures.branches:,} branch{'es' if figures.branches > 1 else ''}"
        yield f"{figures.taken_back:,} undone, in {branches} that the user left for an earlier step"


def _rows(figures: Figures, redacted: Counter[str]) -> Iterator[tuple[str, str]]:
    head, usage = figures.head, figures.usage
    yield "session", f"{one_line(_title(head))} ({head.format})"
    steps = ", ".join(f"{number:,} {source}" for source, number in figures.steps.most_common())
    yield "steps", f"{figures.steps.total():,}" + (f": {steps}" if steps else "")
    yield from (("", told) for told in _about_steps(figures))
    yield "tool calls", f"{figures.tools.total():,}" + _listed(figures.tools)
    yield "results", f"{figures.results:,}"
    if figures.counted:
        counts = f"{usage.prompt_tokens:,} in ({usage.cached_tokens:,} of them cached), {usage.completion_tokens:,} out"
        yield "tokens", f"{counts}, as counted by the provider in {figures.counted:,} steps"
    else:
        yield "tokens", "not counted by the provider"
    rule = f"{figures.characters:,} characters / {CHARACTERS_PER_TOKEN}"
    yield "text", f"about {figures.estimated_tokens:,} tokens ({rule})"
    for number, each in enumerate(figures.compactions):
        size = f" at {each.tokens_before:,} tokens" if each.tokens_before else ""
        kept = f", steps from {each.first_kept_step} on kept" if each.first_kept_step else ""
        yield "" if number else "compactions", f"after step {each.after_step}{size}{kept}"
    if figures.first and figures.last:
        span = f"{figures.first:%Y-%m-%d %H:%M:%S} to {figures.last:%Y-%m-%d %H:%M:%S} UTC"
        yield "time", f"{span} ({_duration((figures.last - figures.first).total_seconds())})"
    if figures.demonstration:
        yield "kept aside", f"a demonstration of {figures.demonstration:,} steps"
    if figures.subagents:
        yield "subagents", f"{len(figures.subagents):,} with {figures.subagents.total():,} steps"
    if figures.skipped.counts:
        yield "not read", f"{figures.skipped.counts.total():,}" + _listed(figures.skipped.counts)
    if redacted:
        yield "secrets", f"{redacted.total():,} taken out" + _listed(redacted)


def _listed(counts: Counter[str]) -> str:
    return (
        ": " + ", ".join(f"{in_line(name, 80)} {number:,}" for name, number in counts.most_common()) if counts else ""
    )


def _figures_as_json(figures: Figures, redacted: Counter[str]) -> dict[str, Any]:
    head, usage = figures.head, figures.usage
    counted = {
        "steps": figures.counted,
        "prompt": usage.prompt_tokens,
        "cached": usage.cached_tokens,
        "completion": usage.completion_tokens,
    }
    return {
        "format": head.format,
        "session_id": head.session_id,
        "agent": head.agent,
        "agent_version": head.agent_version,
        "model": head.model,
        "folder": head.folder,
        "title": head.title,
        "started": head.started,
        "first_step": figures.first.isoformat() if figures.first else None,
        "last_step": figures.last.isoformat() if figures.last else None,
        "steps": dict(figures.steps)
        | {"total": figures.steps.total(), "copied": figures.copied, "taken_back": figures.taken_back},
        "branches_taken_back": figures.branches,
        "endings": dict(figures.endings),
        "tool_calls": dict(figures.tools),
        "results": figures.results,
        "tokens_counted_by_provider": counted,
        "characters": figures.characters,
        "tokens_estimated": figures.estimated_tokens,
        "characters_per_token": CHARACTERS_PER_TOKEN,
        "compactions": [
            {
                "after_step": each.after_step,
                "first_kept_step": each.first_kept_step,
                "tokens_before": each.tokens_before,
                "summary_characters": len(each.summary),
            }
            for each in figures.compactions
        ],
        "demonstration_steps": figures.demonstration,
        "subagents": dict(figures.subagents),
        "skipped": dict(figures.skipped.counts),
        "redacted": dict(redacted),
    }
