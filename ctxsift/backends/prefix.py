"""What a model has read already: prompts that begin alike are read once.

Every prompt is read in blocks of the same size, counted from its first token, whether or not something of it was read
before. So a block's state depends on the tokens up to its end and on nothing else, and an answer that begins with
blocks of an earlier prompt is the answer that it would have been alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, takewhile


class ReadPrefix:
    """The blocks that a model's state holds, and how long it took to read each of them.

    Args:
        block_tokens: tokens of a block, from 1 upwards.
        enabled: whether anything is ever kept.

    """

    def __init__(self, block_tokens: int, *, enabled: bool = True) -> None:
        self._block_tokens, self._enabled = block_tokens, enabled
        self._blocks: list[tuple[int, ...]] = []
        self._ms: list[float] = []

    @property
    def tokens(self) -> int:
        """How many tokens of the prompt are held."""
        return len(self._blocks) * self._block_tokens

    @property
    def read_ms(self) -> float:
        """Milliseconds it took to read them, when they were read."""
        return sum(self._ms)

    def keep(self, prompt: Sequence[int]) -> int:
        """Forget what this prompt does not begin with, and return how many of its tokens are held.

        At least its last token is left to read: what follows is chosen by what the model makes of that.
        """
        same = takewhile(lambda pair: pair[0] == pair[1], zip(self._blocks, self._split(prompt), strict=False))
        held = sum(1 for _ in same) if self._enabled else 0
        del self._blocks[held:], self._ms[held:]
        return self.tokens

    def left(self, prompt: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield the whole blocks of a prompt that are not held; what stands behind them is no block."""
        return islice(self._split(prompt), len(self._blocks), None)

    def hold(self, block: tuple[int, ...], ms: float) -> None:
        """Take down that the next block has been read, in so many milliseconds."""
        self._blocks.append(block)
        self._ms.append(ms)

    def clear(self) -> None:
        """Forget everything: the state was used for something else."""
        self._blocks, self._ms = [], []

    def _split(self, prompt: Sequence[int]) -> Iterator[tuple[int, ...]]:
        size = self._block_tokens
        for end in range(size, len(prompt), size):
            yield tuple(prompt[end - size : end])
