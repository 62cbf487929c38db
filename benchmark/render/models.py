"""What models are, in words and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmark.analysis.leaderboard import Leaderboard
from benchmark.analysis.model_facts import ModelFacts, facts_of
from ctxsift.terminal import one_line

NOT_KNOWN = "unknown"
# What a wide table has room for, and the rest.
COLUMNS = ("quantization", "parameters", "file", "peak memory")
HINTS = {
    "quantization": "how the weights are stored: fewer bits make the file smaller, and sometimes the answers worse",
    "parameters": "number of weights of the model",
    "file": "size of the file of weights",
    "peak memory": "most memory in use while the model answered, weights included",
}
TITLES = (*COLUMNS, "context", "base model", "licence", "engine")
_GB, _MILLION, _BILLION = 1e9, 1e6, 1e9


def fact_texts(facts: ModelFacts) -> tuple[str, ...]:
    """Return what is known of a model, in the order of TITLES; `unknown` where a file does not tell it."""
    file = facts.file
    told = (
        file.quantization,
        parameters_text(file.parameters),
        bytes_text(file.size_bytes),
        bytes_text(facts.memory_bytes),
        "" if file.context_tokens is None else f"{file.context_tokens:,} tokens",
        " ".join(filter(None, (file.base_model or file.name, facts.architecture and f"({facts.architecture})"))),
        file.licence,
        facts.engine,
    )
    return tuple(one_line(text) or NOT_KNOWN for text in told)


def bytes_text(count: int | None) -> str:
    """Return a number of bytes in GB, or in MB below 0.1 GB; an empty text for None."""
    if count is None:
        return ""
    return f"{count / _GB:.1f} GB" if count >= _GB / 10 else f"{count / _MILLION:.0f} MB"


def parameters_text(count: int | None) -> str:
    """Return a number of parameters in billions or millions; an empty text for None."""
    if count is None:
        return ""
    return f"{count / _BILLION:.1f} B" if count >= _BILLION else f"{count / _MILLION:.0f} M"


def model_rows(board: Leaderboard) -> Sequence[tuple[str, ...]]:
    """Return label and facts of each model of a board; none where no file of weights is known."""
    told = [(row.label, facts_of(row.result)) for row in board.rows if not row.result.is_reference]
    if all(facts.file.size_bytes is None for _, facts in told):
        return ()
    return [(label, *fact_texts(facts)) for label, facts in told]


def identity_rows(facts: ModelFacts) -> Iterator[list[str]]:
    """Yield what a model is as rows of a table of two columns."""
    for title, text in zip(TITLES, fact_texts(facts), strict=True):
        yield [f"model: {title}", text]
