"""Two results against each other in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmark.analysis.comparison import Comparison, DifferenceVerdict, Measure, verdict_of
from benchmark.analysis.model_facts import facts_of
from benchmark.analysis.speed import Speed, SpeedFinding, same_machine
from benchmark.record.read import StoredResult
from benchmark.record.result import Answered
from benchmark.render.figures import counted, signed
from benchmark.render.models import bytes_text
from benchmark.statistics import Difference, mean

# What is less than this share apart is as good as the same.
_ALIKE = 0.02


@dataclass(frozen=True)
class AnswerTokens:
    """Mean answer tokens of two results on the cases where both are counted, by one tokenizer."""

    a: float
    b: float

    @classmethod
    def of(cls, a: Mapping[str, int], b: Mapping[str, int]) -> AnswerTokens | None:
        """Return the means of two results, given the tokens of each answer by its case; None if they share none."""
        both = a.keys() & b.keys()
        return cls(mean([a[case] for case in both]), mean([b[case] for case in both])) if both else None


def answer_tokens(comparison: Comparison) -> AnswerTokens | None:
    """Return the mean answer tokens of two results that hold their cases; None where the files do not tell them."""
    return AnswerTokens.of(_counted(comparison.a), _counted(comparison.b))


def _counted(result: StoredResult) -> dict[str, int]:
    return {
        case.question.case_id: case.recovered.output_tokens
        for case in result.record.cases
        if isinstance(case, Answered) and case.recovered.output.strip() and case.recovered.output_tokens is not None
    }


def pair_sentence(comparison: Comparison, tokens: AnswerTokens | None) -> str:
    """Return what is known of B against A; empty where their scores may not be compared.

    `{b}` is a placeholder for B's name. The verdict compares quality cores. The sentence mentions time and memory only
    if both runs used the same machine.
    """
    if comparison.refusals:
        return ""
    price = ", ".join(filter(None, (_time(comparison.speed), _memory(comparison), _tokens(tokens))))
    parts = [_quality(comparison), price and f"it {price}", _flips(comparison)]
    return "; ".join(filter(None, parts)) + "."


def _quality(comparison: Comparison) -> str:
    difference, cases = comparison.difference(Measure.CORE), counted(len(comparison.shared), "case")
    found = verdict_of(difference)
    if found is DifferenceVerdict.TOO_FEW or difference.interval is None:
        outputs = counted(comparison.captures, "raw output")
        return f"{cases} on {outputs} are too few to tell {{b}} from A"
    if found is DifferenceVerdict.EQUAL:
        return f"{{b}} and A have the same quality core on {cases}"
    if found is DifferenceVerdict.CANNOT_TELL:
        return (
            f"{{b}} and A cannot be told apart on {cases}: {{b}} - A is {signed(difference.value)} {_ends(difference)}"
        )
    word = "better" if found is DifferenceVerdict.BETTER else "worse"
    told = difference if found is DifferenceVerdict.BETTER else difference.turned
    interval = told.interval
    ends = f"[{interval.low:.1f}, {interval.high:.1f}]" if interval else ""
    return f"{{b}} is {word} than A by {told.value:.1f} points {ends} on {cases}"


def _ends(difference: Difference) -> str:
    interval = difference.interval
    return f"[{signed(interval.low)}, {signed(interval.high)}]" if interval else ""


def _time(speed: Speed | None) -> str:
    if speed is None:
        return ""
    if speed.verdict in (SpeedFinding.CANNOT_TELL, SpeedFinding.TOO_FEW):
        return "takes about as long as A (the difference is not significant)"
    more = (speed.b_ms - speed.a_ms) / 1000
    # Of thousandths of a second, two decimals say nothing.
    shown = f"{abs(more):.1f} s" if abs(more) >= 1 else f"{abs(1000 * more):.0f} ms"
    if more > 0:
        return f"takes {shown} a case more ({speed.ratio:.1f} times as long as A)"
    return f"takes {shown} a case less ({1 / speed.ratio:.1f} times as fast as A)"


def _memory(comparison: Comparison) -> str:
    if not same_machine(comparison.a, comparison.b) or comparison.a.track is not comparison.b.track:
        return ""
    a, b = (facts_of(result).memory_bytes for result in (comparison.a, comparison.b))
    if not a or not b:
        return ""
    if abs(b - a) < _ALIKE * a:
        return "needs as much memory"
    return f"needs {bytes_text(abs(b - a))} {'more' if b > a else 'less'} memory"


def _tokens(tokens: AnswerTokens | None) -> str:
    if tokens is None or not tokens.a:
        return ""
    more = tokens.b / tokens.a - 1
    if abs(more) < _ALIKE:
        return "writes as many tokens"
    return f"writes {100 * abs(more):.0f}% {'more' if more > 0 else 'fewer'} tokens"


def _flips(comparison: Comparison) -> str:
    return " and ".join(_flip_parts(comparison))


def _flip_parts(comparison: Comparison) -> Iterator[str]:
    lost, won = len(comparison.lost), len(comparison.won)
    if lost:
        yield f"it loses {counted(lost, 'case')} that A passes"
    if won:
        yield f"{'' if lost else 'it '}passes {counted(won, 'case')} that A does not"
    if not lost and not won:
        yield "each passes the cases that the other passes"
