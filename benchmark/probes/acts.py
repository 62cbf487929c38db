"""Acts: whoever goes on from a context makes one call of a tool, which obeys the user's order or breaks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import Annotated, Any

import msgspec

from benchmark.judges.replies import NoVerdict, verdict_in
from benchmark.statements.model import Alternatives, Name
from benchmark.typed_input import NonBlank, Positive
from benchmark.whole_tokens import has_token

# The same for all acts: each with its arguments and what it does.
TOOLS = {
    "write_file": "write_file(path, content): writes a whole file",
    "edit": "edit(path, old, new): puts a text in the place of another one in a file",
    "run": "run(command): runs a command in a shell, in the folder of the project",
    "accept": "accept(path): takes what the program prints now as the expected file at path",
    "install": "install(package): installs a package and declares it as a dependency",
}
# Several times what any probe or act has.
MOST_EVIDENCE = 50
_TAKEN_AWAY = "old"
_FORM = '{"tool": NAME, "arguments": {NAME: TEXT, ...}}'
_QUESTION = (
    "{instruction}\n\nDo it with one call of one tool. Tools:\n{tools}"
    "\n\nReply with one JSON object and nothing else: {form}"
)


class Outcome(StrEnum):
    """What a reply does."""

    OBEYED = auto()
    BROKE = auto()
    # Another call, of which rules cannot tell.
    NEITHER = auto()
    NO_CALL = "no call"


class ActCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a tool."""

    tool: NonBlank
    arguments: dict[str, str]


class Condition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What may hold of a call.

    Attributes:
        says: what, in words.
        tools: one of them is called; any when empty.
        argument: that is looked at; when empty, all of them but the text that an edit takes away.
        names: of each, one spelling has to be there, to the letter and as a whole; see `Statement`.

    """

    says: NonBlank
    tools: tuple[NonBlank, ...] = ()
    argument: str = ""
    names: tuple[Name, ...] = ()

    @property
    def spellings(self) -> tuple[Alternatives, ...]:
        """The names, each with all its spellings."""
        return tuple((name,) if isinstance(name, str) else name for name in self.names)

    def holds(self, call: ActCall) -> bool:
        """Return True if it holds of a call."""
        if self.tools and call.tool not in self.tools:
            return False
        looked_at = [self.argument] if self.argument else call.arguments.keys() - {_TAKEN_AWAY}
        texts = [call.arguments.get(name, "") for name in looked_at]
        return all(any(has_token(text, each) for text in texts for each in name) for name in self.spellings)


class Act(msgspec.Struct, frozen=True, kw_only=True, rename={"act_id": "id"}, omit_defaults=True):
    """Something to be done with one call, which an order of the user, or the latest value, decides.

    Attributes:
        evidence, until: as of a probe.
        instruction: what is to be done; it tells neither order nor value.
        tools: that may be called, by name.
        obeys: all of it holds of a call that obeys.
        breaks: any of it makes a call break the order, whatever else it does.
        gold, naive: a call that obeys; one that whoever does not know the order might make, which breaks it.

    """

    act_id: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    evidence: Annotated[tuple[Positive, ...], msgspec.Meta(min_length=1, max_length=MOST_EVIDENCE)]
    until: Positive | None = None
    instruction: NonBlank
    tools: Annotated[tuple[NonBlank, ...], msgspec.Meta(min_length=1)]
    obeys: Annotated[tuple[Condition, ...], msgspec.Meta(min_length=1)]
    breaks: Annotated[tuple[Condition, ...], msgspec.Meta(min_length=1)]
    gold: ActCall
    naive: ActCall

    @property
    def question(self) -> str:
        """What is asked, with the tools and the form of a reply."""
        tools = "\n".join(f"- {TOOLS.get(name, name)}" for name in self.tools)
        return _QUESTION.format(instruction=self.instruction.strip(), tools=tools, form=_FORM)


@dataclass(frozen=True, slots=True)
class Graded:
    """What a reply does, and why that is known."""

    outcome: Outcome
    why: str


def graded(act: Act, reply: str) -> Graded:
    """Return what a reply to an act does; calls in thought do not count, and those of the context may be repeated."""
    call = verdict_in(reply, (_FORM,), call_of)
    return Graded(Outcome.NO_CALL, call.reason) if isinstance(call, NoVerdict) else graded_call(act, call)


def graded_call(act: Act, call: ActCall) -> Graded:
    """Return what a call does."""
    if call.tool not in act.tools:
        return Graded(Outcome.NEITHER, f"{call.tool!r} is none of the tools")
    for each in act.breaks:
        if each.holds(call):
            return Graded(Outcome.BROKE, each.says)
    missing = [each.says for each in act.obeys if not each.holds(call)]
    if missing:
        return Graded(Outcome.NEITHER, f"not: {missing[0]}")
    return Graded(Outcome.OBEYED, "; ".join(each.says for each in act.obeys))


def call_of(value: Mapping[str, Any]) -> ActCall | None:
    """Return the call that an object is, its arguments perhaps as text; None where it is none."""
    tool, arguments = value.get("tool"), value.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return None
    if not isinstance(tool, str) or not isinstance(arguments, dict) or value.keys() - {"tool", "arguments"}:
        return None
    told = {name: each if isinstance(each, str) else json.dumps(each) for name, each in arguments.items()}
    return ActCall(tool=tool.strip(), arguments=told)
