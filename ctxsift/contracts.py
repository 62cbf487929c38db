"""What each intent promises. The only place that maps intents to output modes and to words for a model."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ctxsift.intents import Intent


class OutputMode(StrEnum):
    """The shape of the text that fulfils an intent."""

    PLAIN_TEXT = "plain_text"
    BULLET_LIST = "bullet_list"
    JSON = "json"
    YAML = "yaml"
    TABLE = "table"
    SINGLE_LINE = "single_line"
    REGEX_CONSTRAINED = "regex_constrained"
    EXACT_LINES = "exact_lines"


class ContractKind(StrEnum):
    """How strict a contract is: prose, text to the letter, or a parseable shape."""

    PLAIN = "plain"
    STRICT = "strict"
    STRUCTURED = "structured"


class Contract(NamedTuple):
    """The promise of one intent.

    Attributes:
        modes: the output modes a case of this intent may have.
        words: what a model is told; part of every prompt, so a change is a new prompt version.

    """

    intent: Intent
    kind: ContractKind
    modes: tuple[OutputMode, ...]
    words: str


_PLAIN = (
    "Plain text of one to four short sentences. No headings, bullets, markdown or code fences, "
    "and no pasted blocks of output."
)

CONTRACTS: dict[Intent, Contract] = {
    contract.intent: contract
    for contract in (
        Contract(Intent.SUMMARY, ContractKind.PLAIN, (OutputMode.PLAIN_TEXT,), _PLAIN),
        Contract(
            Intent.RECALL,
            ContractKind.PLAIN,
            (OutputMode.PLAIN_TEXT,),
            _PLAIN + " Keep every path, line number, identifier, code, version and command that is asked "
            "for exactly as it is printed.",
        ),
        Contract(
            Intent.EXACT_LINES,
            ContractKind.STRICT,
            (OutputMode.EXACT_LINES,),
            "Only the requested lines, each copied from the output unchanged, one per line.",
        ),
        Contract(
            Intent.EXACT_FORMAT,
            ContractKind.STRICT,
            (OutputMode.SINGLE_LINE, OutputMode.REGEX_CONSTRAINED),
            "Only the requested value on a single line: no label, no quotes, no explanation.",
        ),
        Contract(
            Intent.JSON,
            ContractKind.STRUCTURED,
            (OutputMode.JSON,),
            "One valid JSON value and nothing else: no code fence, no comments, no prose.",
        ),
        Contract(
            Intent.YAML,
            ContractKind.STRUCTURED,
            (OutputMode.YAML,),
            "One valid YAML document in block style and nothing else: no code fence, no prose.",
        ),
        Contract(
            Intent.TABLE,
            ContractKind.STRUCTURED,
            (OutputMode.TABLE,),
            "One markdown table and nothing else: a header row, a separator row, one row per item.",
        ),
        Contract(
            Intent.BULLET_LIST,
            ContractKind.STRUCTURED,
            (OutputMode.BULLET_LIST,),
            "Only bullets: each item on one line that begins with '- '. No heading, no prose.",
        ),
    )
}


def contract_of(intent: Intent) -> Contract:
    """Return the contract of `intent`."""
    return CONTRACTS[intent]
