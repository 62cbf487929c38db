"""Statements: what a text says, and what it contradicts, whatever its words.

The one meaning of "says" in this project. Pure and deterministic: statements in, verdict out. Nothing here knows of
cases, contracts or models. docs/statements.md is the guide for people who write statements.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmark.cases import MustNot, Statement, Weight
from benchmark.scoring.component_score import clamp
from benchmark.scoring.findings import Finding, Likeness, find_all, sentences_of, unsaid_terms
from benchmark.scoring.names import invented_names
from benchmark.scoring.phrases import find, phrase_of
from benchmark.scoring.remarks import Remark
from benchmark.scoring.terms import places_of
from benchmark.scoring.tokens import Prose, read

__all__ = ["Finding", "Likeness", "Verdict", "judge", "unsaid_terms"]
# What a first contradiction leaves of the quality, and each further one.
_FIRST_LEAVES, _NEXT_LEAVES = 0.3, 0.6
_INVENTED_LEAVES = 0.7
_MOST_CONTRADICTIONS = 6
_UNKNOWN_WORTH = 0.5


@dataclass(frozen=True)
class Verdict:
    """What a text says of all that it should and should not.

    Attributes:
        quality: share of the vital statements that are said, times what contradictions and inventions leave; [0, 1].
        findings: one for each statement.
        contradictions: what is wrong, in words.
        invented: names and numbers that nothing known holds.
        reasons: all of it, for people.
        support: for each sentence its start and end in characters, and how much of something it says, in [0, 1].

    """

    quality: float
    findings: tuple[Finding, ...]
    contradictions: tuple[str, ...]
    invented: tuple[str, ...]
    reasons: tuple[str, ...]
    support: tuple[tuple[int, int, float], ...]


def judge(
    answer: str,
    statements: Sequence[Statement],
    must_not: Sequence[MustNot] = (),
    *,
    known: str | None = None,
    likeness: Likeness | None = None,
) -> Verdict:
    """Return what `answer` says of `statements`, and what it says against them.

    Args:
        answer: text of up to 8,000 characters; what is beyond is not read.
        statements: at least one of them vital.
        must_not: what only wrong answers say.
        known: all text whose names and numbers an answer may use; None to let it invent.
        likeness: (sentence, statement) -> closeness in meaning, in [0, 1]. With it, a sentence that has every name of a
            statement but not its words may say part of it.

    """
    text = read(answer)
    findings = find_all(text, statements, likeness)
    wrong = [_Wrong(f.sentence, f.contradiction) for f in findings if f.contradiction]
    wrong += [hit for each in must_not if (hit := _violation(text, each))]
    if text.taken_back and any(finding.share for finding in findings):
        wrong.append(_Wrong(-1, "all of it, by taking it back"))
    invented = () if known is None else tuple(invented_names(text, (known, _terms_of(tuple(statements)))))
    contradictions = tuple(dict.fromkeys(each.words for each in wrong))[:_MOST_CONTRADICTIONS]
    quality = _quality(findings, contradictions, invented)
    return Verdict(
        quality=quality,
        findings=tuple(findings),
        contradictions=contradictions,
        invented=invented,
        reasons=(*_reasons(findings, contradictions, invented), *_list_reasons(text)),
        support=_support(text, findings, {each.sentence for each in wrong}, quality),
    )


@dataclass(frozen=True)
class _Wrong:
    sentence: int
    words: str


@functools.lru_cache(maxsize=1024)
def _terms_of(statements: tuple[Statement, ...]) -> str:
    """Return all that statements ask for as one text: whoever says it invents nothing."""
    groups = (group for s in statements for group in (*s.terms, *(group for pair in s.pairs for group in pair)))
    return "\n".join(term for group in groups for term in group)


def _quality(findings: Sequence[Finding], contradictions: Sequence[str], invented: Sequence[str]) -> float:
    vital = [f for f in findings if f.statement.weight is Weight.VITAL]
    if not vital:
        return 0.0
    said = sum(f.share for f in vital) / len(vital)
    left = _FIRST_LEAVES * _NEXT_LEAVES ** (len(contradictions) - 1) if contradictions else 1.0
    return clamp(said * left * _INVENTED_LEAVES ** min(3, len(invented)))


def _reasons(findings: Sequence[Finding], contradictions: Sequence[str], invented: Sequence[str]) -> Iterator[str]:
    for finding in findings:
        says = finding.statement.says
        if finding.contradiction:
            continue
        if finding.share >= 1:
            yield f"{Remark.SAYS}{says}"
        elif finding.share > 0:
            yield f"{Remark.IN_PART}{says}"
        elif finding.statement.weight is Weight.VITAL:
            yield f"{Remark.UNSAID}{says}"
    yield from (f"{Remark.CONTRADICTS}{words}" for words in contradictions)
    yield from (f"{Remark.INVENTED}{name}, which the output does not" for name in invented)


def _list_reasons(text: Prose) -> Iterator[str]:
    if text.lists:
        yield "lists names, or denies a whole sentence, and says nothing there"


def _support(
    text: Prose, findings: Sequence[Finding], wrong: set[int], quality: float
) -> tuple[tuple[int, int, float], ...]:
    # What no statement knows is believed as far as the rest is right.
    shares = [_UNKNOWN_WORTH * quality] * text.sentences
    for finding in findings:
        for sentence in sentences_of(text, finding):
            shares[sentence] = max(shares[sentence], finding.share)
    # Said again, what is wrong is as wrong.
    norms = [tuple(token.norm for token in text.tokens[a:b]) for a, b in itertools.pairwise(text.bounds)]
    wrong_norms = {norms[index] for index in wrong}
    spans = []
    for index, share in enumerate(shares):
        first, past = text.bounds[index], text.bounds[index + 1]
        end = text.tokens[past - 1].end
        spans.append((text.tokens[first].start, end, 0.0 if norms[index] in wrong_norms else share))
    return tuple(spans)


def _violation(text: Prose, must_not: MustNot) -> _Wrong | None:
    found = []
    for group in must_not.terms:
        places = places_of(text, group, widened=False)[0]
        if not places:
            return None
        found.append(places)
    for first, past in text.clauses:
        if all(any(first <= p.first and p.last < past for p in places) for places in found) and not any(
            first <= p.first < past and p.negated >= phrase.under_negation
            for phrase in map(phrase_of, must_not.unless)
            for p in find(text, phrase)
        ):
            return _Wrong(text.sentence_of(first), must_not.says)
    return None
