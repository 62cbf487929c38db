"""Pre-selection: rules choose lines of a long output, so that a small model has less to read."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ctxsift.extract import Weighed
from ctxsift.preselect import DEFAULT_PRESELECT_TOKENS, Preselect
from ctxsift.prompts import Request, RequestPrompt

# What tokenizers of models make one token of, about: so many letters, a digit, so many marks. Within a tenth, as a
# rule, of what Qwen2.5 reads command output as.
_TOKEN = re.compile(r"[A-Za-z]{1,6}|\d|[!-/:-@\[-`{-~]{1,3}|[^\s!-~]{1,2}|\n")
# Marks of gaps are not part of the room that lines are given: it is made smaller until both fit.
_TRIES, _AIM = 6, 0.97


def tokens_in(text: str) -> int:
    """Return about how many tokens a text has for a model: the same for all models, and without a tokenizer."""
    return sum(1 for _ in _TOKEN.finditer(text))


@dataclass(frozen=True)
class Preselection:
    """What a model reads of a long output.

    Attributes:
        tokens: about how many a model is to read at most; shorter outputs are read whole.

    """

    how: Preselect = Preselect.NONE
    tokens: int = DEFAULT_PRESELECT_TOKENS

    def prompt(self, request: Request) -> RequestPrompt:
        """Return the prompt of a request, with the raw input shortened as chosen."""
        if self.how is Preselect.NONE:
            return RequestPrompt(request)
        chosen = preselected(request, self.tokens)
        return RequestPrompt(chosen, chosen=chosen is not request)


def preselected(request: Request, most_tokens: int = DEFAULT_PRESELECT_TOKENS) -> Request:
    """Return a request with lines of its raw input, gaps named; the request itself where its input is short enough.

    Args:
        request: as it was made; the lines are chosen for its instruction.
        most_tokens: about how many tokens of the raw input a model is to read; shorter ones stay as they are. The
            first and the last lines are always there, so that an output of very long lines may keep more.

    """
    output = request.raw_input
    tokens = tokens_in(output)
    if tokens <= most_tokens:
        return request
    weighed, room = Weighed(output, request.instruction), int(most_tokens * len(output) / tokens)
    for _ in range(_TRIES):
        chosen = weighed.densely_within(room).text
        left = tokens_in(chosen)
        if left <= most_tokens:
            break
        room = int(room * _AIM * most_tokens / left)
    # Very long lines and marks may take more than is left out.
    return replace(request, raw_input=chosen) if len(chosen) < len(output.rstrip("\n")) else request
