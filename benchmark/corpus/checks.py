"""The proofs a corpus has to pass; each finding names the case and the reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain

from rapidfuzz import fuzz, process

from benchmark.cases import Case, Corpus, Family
from benchmark.corpus.question_checks import question_findings
from benchmark.corpus.quotas import NEGATIVE
from benchmark.corpus.statement_checks import gold_findings, statement_findings
from benchmark.corpus.variants import variant_of
from benchmark.patterns import PatternError, compiled
from benchmark.scoring import Embedder, score_view
from benchmark.scoring.anchors import missing_anchors
from benchmark.scoring.instruction import check_rules
from benchmark.scoring.said import is_prose
from benchmark.statements.vocabulary import is_common
from benchmark.whole_tokens import has_token
from ctxsift.answers.validation import Status
from ctxsift.backends.baselines import baseline_answer
from ctxsift.compression import examine
from ctxsift.contracts import ContractKind, contract_of
from ctxsift.intents import Intent

BASELINE_CEILING = 0.6
# Those that do not read the instruction; where a line of the output is asked for, picking by words may well find it.
_CHECKED_BASELINES = ("empty", "echo", "first-20-lines", "last-20-lines", "error-lines")
MAX_USES_OF_A_CAPTURE = 3
# Fuzzy ratio above which two captures are the same one with other numbers.
_NEAR_DUPLICATE = 90
_PLAIN_GOLD_SHARE = 0.25
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]*")
_SMALL_NUMBER = re.compile(r"[-+]?\d{1,2}")


@dataclass(frozen=True)
class CorpusFinding:
    """One defect: where it is and what is wrong.

    Attributes:
        house: it breaks a rule that the packaged corpus has for itself; another data set may have its reasons.

    """

    where: str
    problem: str
    house: bool = False


def check_corpus(cases: Sequence[Case], embedder: Embedder, *, whole: bool = True) -> list[CorpusFinding]:
    """Return every defect of the corpus; an empty list is a pass.

    Args:
        cases: all of them.
        embedder: the scorer's.
        whole: also require every intent and family to be present.

    """
    together = chain(_check_together(cases), _check_presence(cases) if whole else ())
    return [*check_each(cases, embedder), *together]


def check_variant(corpus: Corpus, seed: int, only: Set[str] = frozenset()) -> list[CorpusFinding]:
    """Return every defect of the cases of one variant; what holds between cases holds as it does in the corpus.

    Args:
        corpus: of which it is a variant.
        seed: of the variant.
        only: ids of the cases to check; all, if empty.

    """
    # Cases on one capture are renamed together, so a capture comes with all of its cases.
    captures = {case.capture.name for case in corpus.cases if not only or case.case_id in only}
    needed = replace(corpus, cases=tuple(case for case in corpus.cases if case.capture.name in captures))
    return list(check_each([c for c in variant_of(needed, seed).cases if not only or c.case_id in only], Embedder()))


def check_each(cases: Iterable[Case], embedder: Embedder) -> Iterator[CorpusFinding]:
    """Yield every defect that a case has by itself."""
    for case in cases:
        for problem in chain(check_case(case), check_scores(case, embedder)):
            yield CorpusFinding(f"{case.case_id} ({case.where})", problem)
        for problem in chain(house_findings(case), _strong_baselines(case, embedder)):
            yield CorpusFinding(f"{case.case_id} ({case.where})", problem, house=True)


def check_case(case: Case) -> Iterator[str]:
    """Yield what is wrong with the text of one case."""
    modes = contract_of(case.intent).modes
    if case.output_mode not in modes:
        yield f"output mode {case.output_mode} does not go with the intent {case.intent}: use {', '.join(modes)}"
    for anchor in missing_anchors(case.raw_input, case.required_anchors):
        yield f"required anchor {anchor!r} is not in the input"
    if not case.anchors and NEGATIVE not in case.tags:
        yield "has no anchors"
    for anchor in case.derived_anchors:
        if has_token(case.raw_input, anchor):
            yield f"derived anchor {anchor!r} is in the input: make it a required one"
    for token in case.rules.forbidden:
        if not has_token(case.raw_input, token):
            yield f"forbidden token {token!r} is not in the input, so it is not a decoy"
    if case.rules.pattern is not None:
        try:
            compiled(case.rules.pattern)
        except PatternError as error:
            yield f"the pattern does not compile: {error}"
    for reference in case.references:
        yield from _check_reference(reference, case)
    if case.statements:
        yield from gold_findings(case)
        yield from statement_findings(case)


def house_findings(case: Case) -> Iterator[str]:
    """Yield where one case breaks the rules that the packaged corpus has for its questions, anchors and gold."""
    yield from question_findings(case)
    if is_prose(case):
        yield from weak_anchors(case.anchors)
    share = _PLAIN_GOLD_SHARE if contract_of(case.intent).kind is ContractKind.PLAIN else 1.0
    for reference in case.references:
        if len(reference) > share * len(case.raw_input):
            found = len(reference) / len(case.raw_input)
            yield f"gold has {found:.0%} of the input's characters, at most {share:.0%} allowed"


def _check_reference(reference: str, case: Case) -> Iterator[str]:
    for anchor in missing_anchors(reference, case.anchors):
        if case.intent not in (Intent.JSON, Intent.YAML):
            yield f"anchor {anchor!r} is not in the gold"
    for kept, problem in check_rules(reference, case.rules, case.intent):
        if kept < 1:
            yield f"gold breaks its own rule: {problem}"


def weak_anchors(anchors: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with anchors that a right answer in other words may lack, or a wrong one may have.

    Phrases of nothing but plain words and numbers, numbers of one or two digits, and words that everybody uses of
    software. A lower-case name (isort) looks like any other word; whether the instruction asks for it, no look tells.
    """
    for anchor in anchors:
        parts = anchor.split()
        if len(parts) > 1 and all(_PLAIN_WORD.fullmatch(part) or part.lstrip("-+").isdigit() for part in parts):
            yield f"anchor {anchor!r} binds the wording: say it in a statement, or take the names in it one by one"
        elif _SMALL_NUMBER.fullmatch(anchor):
            what = "is a small number that may occur by chance; add a statement that says what it counts"
            yield f"anchor {anchor!r} {what}"
        elif _PLAIN_WORD.fullmatch(anchor) and anchor.islower() and is_common(anchor):
            yield f"anchor {anchor!r} is a plain word, for which there are others: say it in a statement"


def check_scores(case: Case, embedder: Embedder) -> Iterator[str]:
    """Yield where gold does not score 1.0."""
    for reference in case.references:
        raw, recovered, recovery = examine(reference, case.request)
        if recovery.text != reference:
            yield f"recovery changes the gold: {[step.name for step in recovery.steps]}"
        for name, view in (("raw", raw), ("recovered", recovered)):
            if view.validation.status is not Status.ACCEPTED:
                why = [*view.validation.reasons, *view.validation.flags, *view.validation.ungrounded]
                yield f"gold is {view.validation.status} ({name}): {', '.join(why)}"
            if name == "recovered" and recovered is raw:
                continue
            scores = score_view(view.text, view.validation, case, embedder)
            if scores.case_score < 1.0 - 1e-12:
                why = [f"{part}: {reason}" for part, score in scores.parts.items() for reason in score.reasons]
                # A part may lose points without a word, and a refused answer loses all of them.
                why = why or [f"{part} {each.score:.3f}" for part, each in scores.parts.items() if each.score < 1]
                why = why or [f"the answer is {view.validation.status}"]
                yield f"gold scores {scores.case_score:.3f} ({name}): {', '.join(why)}"


def _strong_baselines(case: Case, embedder: Embedder) -> Iterator[str]:
    for name in _CHECKED_BASELINES:
        view = examine(baseline_answer(name, case.request), case.request)[1]
        if view.validation.status is Status.REJECTED:
            # It is worth less than the ceiling, whatever it says.
            continue
        score = score_view(view.text, view.validation, case, embedder).case_score
        if score >= BASELINE_CEILING:
            yield f"the baseline {name!r} scores {score:.2f}; it must stay below {BASELINE_CEILING}"


def _check_together(cases: Sequence[Case]) -> Iterator[CorpusFinding]:
    uses = Counter(case.capture.name for case in cases)
    for name, count in uses.items():
        if count > MAX_USES_OF_A_CAPTURE:
            yield CorpusFinding(
                name, f"is used by {count} cases, at most {MAX_USES_OF_A_CAPTURE} are allowed", house=True
            )
    pairs = Counter((case.capture.name, case.intent) for case in cases)
    for (name, intent), count in pairs.items():
        if count > 1:
            yield CorpusFinding(name, f"is used {count} times with the intent {intent}", house=True)
    inputs: dict[str, str] = {}
    for case in cases:
        first = inputs.setdefault(case.raw_input, case.capture.name)
        if first != case.capture.name:
            yield CorpusFinding(case.capture.name, f"has the same text as {first}")
    questions: dict[tuple[str, str], str] = {}
    for case in cases:
        first = questions.setdefault((case.raw_input, " ".join(case.instruction.split())), case.case_id)
        if first != case.case_id:
            yield CorpusFinding(f"{case.case_id} ({case.where})", f"asks what {first} asks of the same input")
    names, texts = list(inputs.values()), list(inputs)
    for index, text in enumerate(texts):
        for _, likeness, other in process.extract(
            text, texts[:index], scorer=fuzz.ratio, score_cutoff=_NEAR_DUPLICATE, limit=1
        ):
            yield CorpusFinding(names[index], f"is {likeness:.0f}% similar to {names[other]}", house=True)


def _check_presence(cases: Sequence[Case]) -> Iterator[CorpusFinding]:
    for intent in Intent:
        if not any(case.intent is intent for case in cases):
            yield CorpusFinding("corpus", f"has no case of the intent {intent}")
    for family in Family:
        if not any(case.family is family for case in cases):
            yield CorpusFinding("corpus", f"has no case of the family {family}")
