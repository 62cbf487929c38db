"""When is an answer an endless loop? A rule on token ids: deterministic, cheap, documented in docs/loops.md."""

from __future__ import annotations

LOOP_RULE_VERSION = 1
MAX_PERIOD = 64
MIN_REPEATS = 4
MIN_TOKENS = 48


class LoopDetector:
    """Says whether the tokens seen so far end in one block repeated beyond doubt.

    The tail is a loop when it consists of a block of at most 64 tokens, repeated at least 4 times and
    over at least 48 tokens. Cost: 64 comparisons a token.
    """

    def __init__(self) -> None:
        self._tokens: list[int] = []
        # _runs[p]: how many of the last tokens each equal the token p places before.
        self._runs = [0] * (MAX_PERIOD + 1)

    def push(self, token: int) -> bool:
        """Take the next token; return True once the tail is a loop."""
        tokens, runs = self._tokens, self._runs
        tokens.append(token)
        last = len(tokens) - 1
        looping = False
        for period in range(1, min(MAX_PERIOD, last) + 1):
            if tokens[last - period] == token:
                runs[period] += 1
                if runs[period] + period >= max(MIN_REPEATS * period, MIN_TOKENS):
                    looping = True
            else:
                runs[period] = 0
        return looping
