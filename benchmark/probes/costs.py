"""What a method costs: what every further call sends again, what a cache of prompts loses, when a cycle has paid.

Prices are relative to a token of input that no cache holds, which costs 1. A call sends its whole context: a cache has
what the call before it sent as well, the rest is new. What a method keeps of the beginning of a context stays in the
cache; the first call after a cut pays for all else anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmark.probes.records import LeftContext, MeasuredMethod, ModelCall, ProbedSession, ProbeResult


@dataclass(frozen=True)
class Prices:
    """Of a token, relative to one of input that no cache holds.

    Attributes:
        cached: of input that a cache holds, in (0, 1].
        output: of a token that a model writes, at least 0.

    """

    cached: float = 0.1
    output: float = 5.0


@dataclass(frozen=True)
class Cost:
    """What one method costs, over all cycles that have a summary.

    Attributes:
        label: of the method.
        left: tokens of a context after its cut, in the mean; `before`: as it would have been without that cut.
        kept: share of what is left that the context before the cut begins with as well, in [0, 1].
        cycle: tokens that a model read and wrote for a cycle, in the mean; 0 by rules.
        seconds: of a cycle, in the mean.
        break_even: calls after a cut until it has paid, in the mean; None where it never does.
        sent: tokens that all calls of the sessions send, as a share of those without any cut; None where no call is
            known.
        bill: what that costs, cycles with it, as a share of the cost without any cut; None as above.

    """

    label: str
    left: float
    before: float
    kept: float
    cycle: float
    seconds: float
    break_even: float | None
    sent: float | None
    bill: float | None


def costs_of(result: ProbeResult, prices: Prices) -> Iterator[Cost]:
    """Yield the cost of each method; of files that do not tell what stood before a cut, none."""
    sessions = {session.name: session for session in result.sessions}
    for method in result.methods:
        left = [each for each in method.contexts if not each.absent]
        if left and all(each.tokens_before is not None for each in left):
            yield _cost(method, left, sessions, prices)


def break_even(cycles: Sequence[LeftContext], prices: Prices) -> float | None:
    """Return the calls after a cut until it has paid, in the mean of cycles; None where it never does.

    With L tokens left, P of them kept from the beginning, B before the cut, and M for the cycle itself, n calls cost
    M + L - P + c P + (n - 1) c L after the cut and n c B without it, where c is the price of cached input. They are
    equal at n = (M + (1 - c) (L - P)) / (c (B - L)); sums over all cycles stand for each of these. The first call is
    the least that can pay.
    """
    saved = sum(_before(each) - each.tokens for each in cycles)
    if saved <= 0:
        return None
    anew = sum(each.tokens - (each.prefix or 0) for each in cycles)
    spent = sum(_made(each, prices) for each in cycles)
    return max(1.0, (spent + (1 - prices.cached) * anew) / (prices.cached * saved))


def _cost(
    method: MeasuredMethod, left: Sequence[LeftContext], sessions: dict[str, ProbedSession], prices: Prices
) -> Cost:
    tokens = sum(each.tokens for each in left)
    with_cuts, without = _Sent(), _Sent()
    for name in dict.fromkeys(each.session for each in left):
        session = sessions[name]
        cycles = [each for each in left if each.session == name]
        with_cuts += _sent(session, cycles, prices)
        without += _sent(session, [], prices)
    return Cost(
        method.label,
        tokens / len(left),
        sum(map(_before, left)) / len(left),
        sum(each.prefix or 0 for each in left) / max(1, tokens),
        sum(_asked(each) for each in left) / len(left),
        sum(each.seconds for each in left) / len(left),
        break_even(left, prices),
        with_cuts.tokens / without.tokens if without.tokens else None,
        with_cuts.price / without.price if without.price else None,
    )


@dataclass(frozen=True)
class _Sent:
    """What calls send, in tokens, and what it costs."""

    tokens: float = 0
    price: float = 0

    def __add__(self, other: _Sent) -> _Sent:
        return _Sent(self.tokens + other.tokens, self.price + other.price)


def _sent(session: ProbedSession, cycles: Iterable[LeftContext], prices: Prices) -> _Sent:
    """Return what the calls of a session send with these cycles, and what that and the cycles cost."""
    by_cut = {session.cuts[each.at]: each for each in cycles}
    tokens = price = 0.0
    # Tokens that cuts took out of what stands before a call.
    gone = 0
    first = ModelCall(step=0, tokens=0)
    for before, call in pairwise([first, *session.calls]):
        cached = before.tokens - gone
        for cut in (cut for cut in by_cut if before.step <= cut < call.step):
            cycle = by_cut[cut]
            gone += _before(cycle) - cycle.tokens
            # No more than the call before sent.
            cached = min(cached, cycle.prefix or 0)
            price += _made(cycle, prices)
        whole = call.tokens - gone
        tokens += whole
        price += prices.cached * cached + whole - cached
    return _Sent(tokens, price)


def _before(context: LeftContext) -> int:
    return context.tokens_before or 0


def _asked(context: LeftContext) -> int:
    return (context.prompt_tokens or 0) + (context.completion_tokens or 0)


def _made(context: LeftContext, prices: Prices) -> float:
    """Return what a model's part of a cycle costs; nothing by rules."""
    return (context.prompt_tokens or 0) + prices.output * (context.completion_tokens or 0)
