"""How likely a model finds a text, token by token: what the engines share, and each engine's arithmetic."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from ctxsift.backends.base import LogProbability
from ctxsift.errors import BackendError, PromptTooLongError


def measured(spans: Sequence[tuple[int, int]], values: Sequence[float]) -> list[LogProbability]:
    """Return tokens with their places in a text; where values lack one, the first token has none before it."""
    known = [*([None] * (len(spans) - len(values))), *values]
    return [LogProbability(start, end, value) for (start, end), value in zip(spans, known, strict=True)]


def spans_of(text: str, pieces: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return where the tokens of a text lie in it, in characters, given the bytes of each.

    A token that begins or ends within a character has all of it.

    Raises:
        BackendError: the tokens do not give the text back.

    """
    sizes = [len(char.encode("utf-8", "replace")) for char in text]
    joined, content = b"".join(pieces), text.encode("utf-8", "replace")
    # Some tokenizers put a blank before the first word.
    added = 1 if joined == b" " + content else 0
    if joined[added:] != content:
        raise BackendError("the model's tokenizer does not give the text back, so its tokens have no place in it")
    starts, ends = [0, *accumulate(sizes)], list(accumulate(sizes))
    bounds = [max(0, offset - added) for offset in accumulate(map(len, pieces), initial=0)]
    return [
        (min(bisect_right(starts, first) - 1, len(text)), min(bisect_left(ends, last) + 1, len(text)) if last else 0)
        for first, last in pairwise(bounds)
    ]


def require_room(tokens: int, context: int) -> None:
    """Raise PromptTooLongError where so many tokens do not fit the context."""
    if tokens > context:
        raise PromptTooLongError(tokens, context)


def by_llama_cpp(llm: Any, tokens: Sequence[int], count: int, step: int) -> list[float]:
    """Return the log-probabilities of the last `count` tokens; of the very first one there is none.

    Args:
        llm: a `llama_cpp.Llama`; what it has read is forgotten.
        tokens: all that it reads, at least one.
        count: how many of them are measured.
        step: how many it reads at a time. The logits of each take 4 bytes a word of its vocabulary.

    """
    import numpy as np

    width, found = llm.n_vocab(), list[float]()
    llm.reset()
    llm._ctx.kv_cache_seq_rm(-1, 0, -1)
    first = len(tokens) - count
    for begin in range(0, len(tokens) - 1, step):
        read = list(tokens[begin : begin + step])
        llm._batch.set_batch(batch=read, n_past=begin, logits_all=True)
        llm._ctx.decode(llm._batch)
        # Each row tells of the token after the one that was read.
        rows = np.ctypeslib.as_array(llm._ctx.get_logits(), shape=(len(read) * width,)).reshape(len(read), width)
        for place, token in enumerate(tokens[begin + 1 : begin + 1 + len(read)]):
            if begin + 1 + place >= first:
                row = rows[place]
                top = float(row.max())
                found.append(float(row[token]) - top - float(np.log(np.exp(row - top).sum(dtype=np.float64))))
    llm.reset()
    return found


def by_torch(torch: Any, model: Any, tokens: Sequence[int], count: int, step: int) -> list[float]:
    """Return what `by_llama_cpp` does, of a model of Transformers."""
    found, past = list[float](), None
    first = len(tokens) - count
    ids = torch.tensor([list(tokens)], device=model.device)
    with torch.inference_mode():
        for begin in range(0, len(tokens) - 1, step):
            read = ids[:, begin : begin + step]
            said = model(input_ids=read, past_key_values=past, use_cache=True)
            past = said.past_key_values
            following = ids[0, begin + 1 : begin + 1 + read.shape[1]]
            rows = torch.log_softmax(said.logits[0, : len(following)].float(), dim=-1)
            values = rows.gather(1, following.unsqueeze(1)).squeeze(1).tolist()
            found += values[max(0, first - begin - 1) :]
    return found
