"""What a text does with one statement: says it, is silent, or says the opposite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from benchmark.cases import Alternatives, Statement, Weight, Within
from benchmark.scoring import binding
from benchmark.scoring.component_score import clamp
from benchmark.scoring.names import VAGUE_SHAPES, is_part, names_in, shape_of
from benchmark.scoring.phrases import Place, find, phrase_of
from benchmark.scoring.terms import hard_names, is_name_group, names_of, places_of
from benchmark.scoring.tokens import Kind, Prose, read
from benchmark.scoring.vocabulary import ANAPHORS, STANDING_FOR, common_norms

# In tokens: "It is worth noting that ..." points to nothing that is said later.
_NEAR_ANAPHOR = 8
# A cosine of static embeddings: what a sentence close to the statement is worth, from where, and where it is in full.
_NEAR_WORTH, _NEAR_FROM, _NEAR_FULL = 0.6, 0.4, 0.65
Likeness = Callable[[str, str], float]


@dataclass(frozen=True)
class Finding:
    """What a text does with one statement.

    Attributes:
        share: how much of it is said, in [0, 1].
        sentence: index of the sentence that says it or contradicts it; -1 for none.
        contradiction: how the text contradicts it, in words; empty if it does not.

    """

    statement: Statement
    share: float
    sentence: int = -1
    contradiction: str = ""


def find_all(text: Prose, statements: Sequence[Statement], likeness: Likeness | None) -> list[Finding]:
    """Return what a text does with each of several statements, which also have to go together."""
    return _without_stolen(text, _bound(text, [_finding(text, statement, likeness) for statement in statements]))


def unsaid_terms(answer: str, statement: Statement) -> list[Alternatives]:
    """Return the groups that keep the best sentence of `answer` from saying a statement."""
    text = read(answer)
    states = [_with_reference(text, statement, state) for state in _states(text, statement)]
    best = min(states, key=lambda state: sum(not said for said in state.said), default=None)
    if best is None:
        return list(statement.terms)
    groups = [group for group, said in zip(statement.terms, best.said, strict=True) if not said]
    return groups + [group for pair in statement.pairs for group in pair if not places_of(text, group)[0]]


def sentences_of(text: Prose, finding: Finding) -> set[int]:
    """Return the sentences that have a part in saying a statement."""
    if not finding.share:
        return set()
    found = {finding.sentence} if finding.sentence >= 0 else set()
    statement = finding.statement
    groups = list(statement.terms) if statement.within is Within.ANSWER else []
    groups += [group for pair in statement.pairs for group in pair]
    for group in groups:
        found |= {text.sentence_of(place.first) for place in places_of(text, group)[0]}
    if statement.within is Within.SENTENCE and statement.terms:
        # The name that a later sentence takes up may stand alone in the one before.
        found |= {finding.sentence - 1} & {
            text.sentence_of(place.first)
            for group in statement.terms
            if is_name_group(group)
            for place in places_of(text, group)[0]
        }
    return {sentence for sentence in found if sentence >= 0}


@dataclass(frozen=True)
class _State:
    """What one sentence has of a statement: group -> its places, or those of its opposite."""

    sentence: int
    said: tuple[tuple[Place, ...], ...]
    opposite: tuple[tuple[Place, ...], ...]

    @property
    def missing(self) -> list[int]:
        """Groups that are neither said nor negated."""
        return [i for i, (s, o) in enumerate(zip(self.said, self.opposite, strict=True)) if not s and not o]

    @property
    def negated(self) -> list[int]:
        """Groups of which only the opposite is said."""
        return [i for i, (s, o) in enumerate(zip(self.said, self.opposite, strict=True)) if o and not s]

    @property
    def whole(self) -> bool:
        """Every group is said."""
        return all(self.said)


def _states(text: Prose, statement: Statement) -> list[_State]:
    """Return the state of each sentence; of the whole answer where that is what the statement asks for."""
    found = [places_of(text, group) for group in statement.terms]
    if found and not any(said or opposite for said, opposite in found):
        return []
    if statement.within is Within.ANSWER or not statement.terms:
        return [_State(-1, tuple(tuple(s) for s, _ in found), tuple(tuple(o) for _, o in found))]
    states = []
    for sentence in range(text.sentences):
        first, past = text.bounds[sentence], text.bounds[sentence + 1]
        states.append(
            _State(
                sentence,
                tuple(tuple(p for p in s if first <= p.first < past) for s, _ in found),
                tuple(tuple(p for p in o if first <= p.first < past) for _, o in found),
            )
        )
    return states


def _finding(text: Prose, statement: Statement, likeness: Likeness | None) -> Finding:
    if not text.tokens:
        return Finding(statement, 0.0)
    best = Finding(statement, 0.0)
    states = [_with_reference(text, statement, state) for state in _states(text, statement)]
    for state in states:
        finding = _judge_state(text, statement, state, likeness)
        if _rank(finding) > _rank(best):
            best = finding
    if statement.pairs and best.share:
        best = _with_pairs(text, statement, best)
    return best


def _rank(finding: Finding) -> tuple[float, bool]:
    # Said anywhere outweighs a contradiction elsewhere, which outweighs silence.
    return finding.share, bool(finding.contradiction)


def _judge_state(text: Prose, statement: Statement, state: _State, likeness: Likeness | None) -> Finding:
    if state.whole:
        if statement.order and not _in_order(text, statement, state):
            return _contradicted(Finding(statement, 0.0, state.sentence), "the other way round")
        return Finding(statement, 1.0, state.sentence)
    if not state.missing and state.negated and _is_denied(text, statement, state):
        return _contradicted(Finding(statement, 0.0, state.sentence), "negated")
    share = _near(text, statement, state, likeness)
    return Finding(statement, share, state.sentence if share else -1)


def _contradicted(finding: Finding, how: str) -> Finding:
    """Return a finding that is contradicted; what is only okay to say is merely not said."""
    statement = finding.statement
    vital = statement.weight is Weight.VITAL
    return replace(finding, share=0.0, contradiction=f"{statement.says} ({how})" if vital else "")


def _is_denied(text: Prose, statement: Statement, state: _State) -> bool:
    """Say whether the opposite of a vital statement is said in the clause that has its names."""
    if statement.weight is not Weight.VITAL or state.sentence < 0:
        return False
    first, past = text.bounds[state.sentence], text.bounds[state.sentence + 1]
    for start, end in text.clauses:
        if not first <= start < past:
            continue
        opposed = all(any(start <= p.first < end for p in state.opposite[i]) for i in state.negated)
        named = all(
            any(start <= p.first < end for p in state.said[i])
            for i, group in enumerate(statement.terms)
            if is_name_group(group) and state.said[i]
        )
        if opposed and named:
            return True
    return False


def _near(text: Prose, statement: Statement, state: _State, likeness: Likeness | None) -> float:
    """Return what a sentence with every name, but not every word, of a statement says of it."""
    if likeness is None or state.negated or state.sentence < 0:
        return 0.0
    names = [i for i, group in enumerate(statement.terms) if is_name_group(group)]
    if not names or any(not state.said[i] for i in names) or len(statement.terms) - len(state.missing) < 2:
        return 0.0
    first, past = text.bounds[state.sentence], text.bounds[state.sentence + 1]
    sentence = text.text[text.tokens[first].start : text.tokens[past - 1].end]
    close = likeness(sentence, statement.says)
    return _NEAR_WORTH * clamp((close - _NEAR_FROM) / (_NEAR_FULL - _NEAR_FROM))


def _with_reference(text: Prose, statement: Statement, state: _State) -> _State:
    """Return a state in which one missing name is taken from the sentence before, where an anaphor points to it."""
    if state.sentence < 1 or len(state.missing) != 1:
        return state
    (group,) = state.missing
    if not is_name_group(statement.terms[group]) or not _refers_back(text, state):
        return state
    own = {name for other in statement.terms for name in hard_names(other)}
    shapes = {shape_of(name) for name in hard_names(statement.terms[group])}
    if any(shape_of(token.text) in shapes and token.text not in own for token in names_in(text, state.sentence)):
        return state
    first, past = text.bounds[state.sentence - 1], text.bounds[state.sentence]
    before = tuple(p for p in places_of(text, statement.terms[group])[0] if first <= p.first < past)
    return replace(state, said=tuple(before if i == group else said for i, said in enumerate(state.said)))


def _refers_back(text: Prose, state: _State) -> bool:
    """Say whether a sentence points back, close to what it says."""
    first, past = text.bounds[state.sentence], text.bounds[state.sentence + 1]
    places = [place.first for places in state.said for place in places]
    for index in range(first, past):
        token = text.tokens[index]
        points = token.kind is Kind.WORD and token.norm in ANAPHORS
        if token.norm == "the" and index + 1 < past:
            points = text.tokens[index + 1].norm in STANDING_FOR
        if points and any(abs(place - index) <= _NEAR_ANAPHOR for place in places):
            return True
    return False


def _in_order(text: Prose, statement: Statement, state: _State) -> bool:
    first, past = (0, len(text.tokens)) if state.sentence < 0 else text.bounds[state.sentence : state.sentence + 2]
    at = -1
    for term in statement.order:
        places = [p.first for p in find(text, phrase_of(term)) if first <= p.first < past and p.first > at]
        if not places:
            return False
        at = min(places)
    return True


def _says_little(text: Prose, state: _State) -> bool:
    """Say whether all that a sentence has of a statement is one common word: "failed" is said of many names."""
    said = [places for places in state.said if places]
    return len(said) == 1 and all(text.tokens[place.first].norm in common_norms() for place in said[0])


def _with_pairs(text: Prose, statement: Statement, best: Finding) -> Finding:
    labels = [places_of(text, label)[0] for label, _ in statement.pairs]
    values = [places_of(text, value)[0] for _, value in statement.pairs]
    present = [i for i in range(len(labels)) if labels[i] and values[i]]
    if len(present) > 1:
        costs = [[binding.nearest(text, labels[i], values[j]) for j in present] for i in present]
        if wrong := binding.crossed(costs):
            names = " and ".join(statement.pairs[present[i]][0][0] for i in wrong[:2])
            sentence = text.sentence_of(labels[present[wrong[0]]][0].first)
            # Whoever gives a value to the wrong name says something false, asked for or not.
            words = f"{statement.says} (mixes up {names})"
            return Finding(statement, 0.0, sentence, words)
    share = best.share * len(present) / len(labels)
    sentence = best.sentence
    if present and sentence < 0:
        sentence = text.sentence_of(labels[present[0]][0].first)
    return replace(best, share=share, sentence=sentence)


def _bound(text: Prose, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, where names and predicates of two statements in one sentence go with each other.

    Where crossing them is cheaper, neither is said.
    """
    found = list(findings)
    for i, a in enumerate(findings):
        for j, b in enumerate(findings[:i]):
            if a.share < 1 or b.share < 1 or a.sentence != b.sentence or a.sentence < 0:
                continue
            if _cross(text, a, b):
                for k in (i, j):
                    found[k] = _contradicted(found[k], "said of something else")
    return found


def _cross(text: Prose, a: Finding, b: Finding) -> bool:
    ours, theirs = _parts(text, a), _parts(text, b)
    if ours is None or theirs is None:
        return False
    (name_a, places_a, words_a), (name_b, places_b, words_b) = ours, theirs
    if name_a == name_b or shape_of(name_a) != shape_of(name_b):
        return False
    if {(p.first, p.last) for p in words_a} & {(p.first, p.last) for p in words_b}:
        return False
    costs = [
        [binding.nearest(text, places_a, words_a), binding.nearest(text, places_a, words_b)],
        [binding.nearest(text, places_b, words_a), binding.nearest(text, places_b, words_b)],
    ]
    return costs[0][1] + costs[1][0] + 1 < costs[0][0] + costs[1][1]


def _parts(text: Prose, finding: Finding) -> tuple[str, list[Place], list[Place]] | None:
    """Return the only name of a statement, its places, and those of its predicate, in the sentence that says it."""
    groups = finding.statement.terms
    first, past = text.bounds[finding.sentence], text.bounds[finding.sentence + 1]
    names = [g for g in groups if is_name_group(g)]
    predicates = [g for g in groups if not is_name_group(g)]
    if len(names) != 1 or not predicates:
        return None

    def here(group: Alternatives) -> list[Place]:
        return [p for p in places_of(text, group)[0] if first <= p.first < past]

    places, words = here(names[0]), here(predicates[0])
    hard = hard_names(names[0])
    return (hard[0], places, words) if hard and places and words else None


def _without_stolen(text: Prose, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings; an unsaid statement whose words are said of another name is contradicted."""
    taken: dict[int, set[str]] = {}
    for finding in findings:
        for sentence in sentences_of(text, finding):
            taken.setdefault(sentence, set()).update(names_of(finding.statement))
    return [_unless_substituted(text, finding, taken) for finding in findings]


def _unless_substituted(text: Prose, finding: Finding, taken: dict[int, set[str]]) -> Finding:
    statement = finding.statement
    if finding.share or finding.contradiction or statement.within is Within.ANSWER or len(statement.terms) < 2:
        return finding
    if statement.weight is not Weight.VITAL:
        return finding
    own = names_of(statement)
    for state in _states(text, statement):
        if len(state.missing) != 1 or state.negated or _says_little(text, state):
            continue
        (group,) = state.missing
        if not is_name_group(statement.terms[group]):
            continue
        shapes = {shape_of(name) for name in hard_names(statement.terms[group])} - VAGUE_SHAPES
        others = own | taken.get(state.sentence, set())
        for token in names_in(text, state.sentence):
            if shape_of(token.text) in shapes and not is_part(token.text, others):
                return _contradicted(replace(finding, sentence=state.sentence), f"said of {token.text}")
    return finding
