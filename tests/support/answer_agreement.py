"""How far the judge of answers agrees with readers, and which of its rules that takes.

`python -m tests.support.answer_agreement [FILE...] [--ablate] [--list]` reads labelled answers as JSON Lines:
`session`, `probe`, `answer`, `labels` (of each reader, with `coverage`), and `method` or `kind`. It prints

- agreement of coverage with the mean of the readers, beside judges that look at next to nothing, each also stretched
  to the mean and the spread of the labels, which is the best that it could come to;
- what becomes of answers that are wrong, by their kind, and of right ones whose sense, numbers or order was changed;
- with `--ablate`, what each rule moves in all that; with `--list`, each answer that rules and readers judge apart.

The sessions are drawn for the intervals.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import random
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np
import numpy.typing as npt

from benchmark.judges.rubric import FULL
from benchmark.probes.answer_rules import AnswerJudge, AnswerVerdict, FilesAsked, Rule, paths_in
from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.model import Maker, Probe
from benchmark.probes.recorded import (
    ANSWERED_ON,
    SHIPPED,
    TUNED_ON,
    RubricLabel,
    published_answers,
    published_contexts,
)
from benchmark.probes.subjects import recorded_subjects
from benchmark.statements.text import tokens_of
from benchmark.statistics import resamples
from ctxsift.sessions.compaction.transcript import text_of

Floats = npt.NDArray[np.float64]
RIGHT, WRONG, PASSED, MISSED = 4.0, 1.0, 4.0, 1.0
_APART = 2.0
_NEGATION = re.compile(r"(?i)\b(?:no longer|not even|not|no|never|nobody|nothing|none|without)\b")
_AFFIRMED = {
    "no longer": "still",
    "not even": "even",
    "not": "",
    "no": "a",
    "never": "always",
    "nobody": "everybody",
    "nothing": "everything",
    "none": "all",
    "without": "with",
}
_AUXILIARY = re.compile(r"(?i)\b(?:is|are|was|were|can|may|must|should|will|would|has|have|had)\b")
_VERB = re.compile(r"(?<= )[a-z]{2,}(?:[^s\W]s|ed)\b")
_WHOLE_NUMBER = re.compile(r"(?<![\w./])\d+(?![\w/])")


class Labelled(msgspec.Struct, frozen=True, rename={"part": "set"}):
    """An answer with what readers say of it."""

    session: str
    probe: str
    answer: str
    labels: tuple[RubricLabel, ...]
    method: str = ""
    kind: str = ""
    part: str = ""

    @property
    def coverage(self) -> float:
        return fmean(label.coverage for label in self.labels if label.coverage is not None)


@dataclass(frozen=True, slots=True)
class Question:
    """A probe as it is asked at the last cut of its session."""

    probe: Probe
    gold: str
    files: FilesAsked | None


Key = tuple[str, str]
Judge = Callable[[Question, str], float]


def shipped() -> list[Labelled]:
    """Return the labelled answers that ship: see benchmark/probes/answers/README.md."""
    seen = {each.context: each for each in published_contexts(TUNED_ON, ANSWERED_ON)}
    published = [
        Labelled(
            context.session, each.probe, each.answer, each.labels, method=context.method, part=f"read {context.days[0]}"
        )
        for each in published_answers(TUNED_ON, ANSWERED_ON)
        for context in [seen[each.context]]
    ]
    return [*published, *_read(gzip.decompress((SHIPPED / "labelled.jsonl.gz").read_bytes()))]


def _read(lines: bytes) -> list[Labelled]:
    return [msgspec.json.decode(line, type=Labelled) for line in lines.splitlines() if line.strip()]


def questions(names: Sequence[str]) -> dict[Key, Question]:
    """Return the hand-written probes of sessions, by session and id."""
    return {
        (subject.name, found.probe.probe_id): found for subject in recorded_subjects(names) for found in _last(subject)
    }


def _last(subject: ProbedSubject) -> Iterator[Question]:
    at = len(subject.cuts) - 1
    known = paths_in(text_of(subject.session.steps))
    for asking in subject.asked:
        if asking.at == at and asking.probe.made_by is Maker.HAND:
            change = asking.probe.files
            gold = subject.files.gold(change, subject.cuts[at].after_step, subject.kept[at]) if change else frozenset()
            files = FilesAsked(gold, known) if change else None
            yield Question(asking.probe, subject.gold_of(asking), files)


def kappa(some: Sequence[float] | Floats, others: Sequence[float] | Floats) -> float:
    """Return Cohen's kappa with quadratic weights: 1 less the squared distance by what chance would make it."""
    a, b = np.asarray(some, dtype=float), np.asarray(others, dtype=float)
    # The mean over all pairs of an a and a b.
    chance = float((a * a).mean() + (b * b).mean() - 2 * a.mean() * b.mean())
    return 1 - float(((a - b) ** 2).mean()) / chance if chance else 0.0


def rho(some: Sequence[float], others: Sequence[float]) -> float:
    """Return Spearman's rank correlation; values that tie have their mean rank."""
    return float(np.corrcoef(_ranks(some), _ranks(others))[0, 1])


def _ranks(values: Sequence[float]) -> Floats:
    found, ordered = np.asarray(values, dtype=float), np.sort(values)
    ranks: Floats = (np.searchsorted(ordered, found, "left") + np.searchsorted(ordered, found, "right") - 1) / 2
    return ranks


def by_rules(judge: AnswerJudge) -> Judge:
    """Return the coverage by rules as a judge."""
    return lambda question, answer: judge.judge(question.probe, answer, question.files).coverage


def _words(text: str) -> frozenset[str]:
    return frozenset(token.norm for token in tokens_of(text) if token.norm.isalnum())


def _abstaining(question: Question, answer: str) -> float:
    return 1.2 if AnswerJudge().judge(question.probe, answer, question.files).abstains else FULL


def _gold_words(question: Question, answer: str) -> float:
    own = _words(question.gold) - _words(question.probe.question)
    return FULL * len(own & _words(answer)) / max(1, len(own))


def _asked_words(question: Question, answer: str) -> float:
    asked = _words(question.probe.question)
    return FULL * len(asked & _words(answer)) / max(1, len(asked))


TRIVIAL: Mapping[str, Judge] = {
    "5, but 1.2 where it abstains": _abstaining,
    "words of gold that are not asked": _gold_words,
    "words of the question": _asked_words,
    "length": lambda _, answer: min(FULL, len(answer.split()) / 12),
    "always 3": lambda _, __: 3.0,
}


def stretched(values: Sequence[float], labels: Sequence[float]) -> list[float]:
    """Return values with the mean and the spread of labels."""
    found, spread = np.asarray(values), float(np.std(values))
    return list((found - found.mean()) / (spread or 1.0) * float(np.std(labels)) + fmean(labels))


def interval(sessions: Sequence[str], figure: Callable[[npt.NDArray[np.intp]], float]) -> tuple[float, float]:
    """Return between what a figure of some rows lies where sessions are drawn; the rows are given to it by index."""
    names = sorted(set(sessions))
    rows = [np.flatnonzero(np.asarray(sessions) == name) for name in names]
    draws = [tuple(sorted(draw)) for draw in resamples(len(names)).tolist()]
    values = {draw: figure(np.concatenate([rows[each] for each in draw])) for draw in set(draws)}
    low, high = np.percentile([values[draw] for draw in draws], (2.5, 97.5))
    return float(low), float(high)


# Right answers that are none any more.


def sense_turned(gold: str) -> str:
    """Return gold with each of its lines denied, or no longer denied."""
    return "\n".join(map(_turned, gold.splitlines()))


def _turned(line: str) -> str:
    if _NEGATION.search(line):
        return _NEGATION.sub(lambda found: _AFFIRMED[found[0].lower()], line)
    if auxiliary := _AUXILIARY.search(line):
        return f"{line[: auxiliary.end()]} not{line[auxiliary.end() :]}"
    if verb := _VERB.search(line):
        return f"{line[: verb.start()]}does not {verb[0].removesuffix('s')}{line[verb.end() :]}"
    return f"not {line}"


def called_untrue(gold: str) -> str:
    """Return gold with each of its lines called untrue."""
    return "\n".join(f"It is not true that {line.removeprefix('- ')}" for line in gold.splitlines())


def shuffled(gold: str) -> str:
    """Return the words of gold in no order."""
    words = gold.split()
    random.Random(0).shuffle(words)
    return " ".join(words)


def shuffled_lines(gold: str) -> str:
    """Return gold with the words of each of its lines in no order."""
    return "\n".join(map(shuffled, gold.splitlines()))


def other_numbers(gold: str) -> str:
    """Return gold with each of its whole numbers changed."""
    draw = random.Random(0)
    return _WHOLE_NUMBER.sub(lambda found: str(int(found[0]) + draw.choice((1, 2, 3, 5))), gold)


SPOILT: Mapping[str, Callable[[str], str]] = {
    "sense turned": sense_turned,
    "called untrue": called_untrue,
    "shuffled": shuffled,
    "lines shuffled": shuffled_lines,
    "other numbers": other_numbers,
    "empty": lambda _: "",
}


def spoilt(judge: Judge, asked: Iterable[Question], spoil: Callable[[str], str]) -> list[float]:
    """Return what a judge gives for right answers that were spoilt; a set of files has no order."""
    texts = [(question, spoil(question.gold)) for question in asked]
    orderless = spoil in (shuffled, shuffled_lines)
    return [judge(q, text) for q, text in texts if text != q.gold and not (orderless and q.files)]


def figures(judge: Judge, rows: Sequence[Labelled], asked: Mapping[Key, Question]) -> dict[str, float]:
    """Return all figures of a judge, by name."""
    scores, labels = _scored(judge, rows, asked), [row.coverage for row in rows]
    found = {
        "kappa": kappa(scores, labels),
        "rho": rho(scores, labels),
        f"right ones at <= {MISSED:g}": float(
            sum(score <= MISSED for score, label in zip(scores, labels, strict=True) if label >= RIGHT)
        ),
        f"wrong ones at >= {PASSED:g}": float(
            sum(score >= PASSED for score, label in zip(scores, labels, strict=True) if label <= WRONG)
        ),
    }
    for group in dict.fromkeys(row.kind or row.method for row in rows):
        found[f"mean: {group}"] = fmean(
            s for s, row in zip(scores, rows, strict=True) if group == (row.kind or row.method)
        )
    for name, spoil in SPOILT.items():
        if values := spoilt(judge, asked.values(), spoil):
            found[f"gold, {name}"] = fmean(values)
            found[f"gold, {name}, share at >= {PASSED:g}"] = fmean(value >= PASSED for value in values)
    return found


def _scored(judge: Judge, rows: Iterable[Labelled], asked: Mapping[Key, Question]) -> list[float]:
    return [judge(asked[row.session, row.probe], row.answer) for row in rows]


def _print_agreement(rows: Sequence[Labelled], asked: Mapping[Key, Question]) -> None:
    sessions, labels = [row.session for row in rows], np.asarray([row.coverage for row in rows])
    rules = np.asarray(_scored(by_rules(AnswerJudge()), rows, asked))
    low, high = interval(sessions, lambda at: kappa(rules[at], labels[at]))
    print(f"{len(rows)} answers of {len(set(sessions))} sessions")
    print(f"  {'rules':34} kappa {kappa(rules, labels):6.3f} [{low:.3f}, {high:.3f}]")
    for name, judge in TRIVIAL.items():
        scores = np.asarray(_scored(judge, rows, asked))
        best = np.asarray(stretched(list(scores), list(labels)))
        ahead = functools.partial(lead, rules, best, labels)
        low, high = interval(sessions, ahead)
        print(
            f"  {name:34} kappa {kappa(scores, labels):6.3f}, at best {kappa(best, labels):6.3f}; "
            f"rules are ahead of that by {ahead(np.arange(len(labels))):+.3f} [{low:+.3f}, {high:+.3f}]"
        )


def lead(ours: Floats, theirs: Floats, labels: Floats, at: npt.NDArray[np.intp]) -> float:
    """Return how much more one judge agrees with labels than another, on the answers at these places."""
    return kappa(ours[at], labels[at]) - kappa(theirs[at], labels[at])


def _print_wrong(rows: Sequence[Labelled], asked: Mapping[Key, Question]) -> None:
    scores = _scored(by_rules(AnswerJudge()), rows, asked)
    for kind in sorted({row.kind for row in rows if row.kind}):
        here = [score for score, row in zip(scores, rows, strict=True) if row.kind == kind]
        passed = sum(score >= PASSED for score in here)
        print(f"  {kind:20} {len(here):3}  mean {fmean(here):.2f}  at >= {PASSED:g}: {passed}")


def _print_apart(rows: Sequence[Labelled], asked: Mapping[Key, Question]) -> None:
    judge = AnswerJudge()
    for row in rows:
        question = asked[row.session, row.probe]
        verdict = judge.judge(question.probe, row.answer, question.files)
        if abs(verdict.coverage - row.coverage) >= _APART:
            print(f"\n{verdict.coverage:.2f} by rules, {row.coverage:.1f} by readers: {row.session} {row.probe}")
            print(f"  {question.probe.question}\n  {row.answer}")
            print("\n".join(_reasons(question, verdict)))


def _reasons(question: Question, verdict: AnswerVerdict) -> Iterator[str]:
    for index, found in verdict.shares.items():
        says = question.probe.statements[index].says if question.probe.statements else ""
        yield f"    {found.share:.2f} {says}: {found.reason} {' | '.join(found.matched)}"
    yield from (f"    wrong: {each}" for each in verdict.contradictions)


def main(argv: Sequence[str]) -> None:
    """Print what the files of labelled answers say of the judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="default: the labelled answers that ship")
    parser.add_argument("--sessions", nargs="+", help="only answers of these")
    parser.add_argument("--ablate", action="store_true", help="what each rule moves")
    parser.add_argument("--list", action="store_true", help="answers on which rules and readers differ")
    args = parser.parse_args(argv)
    rows = [row for path in args.files for row in _read(path.read_bytes())] if args.files else shipped()
    rows = [row for row in rows if not args.sessions or row.session in args.sessions]
    asked = questions(sorted({row.session for row in rows}))
    _print_agreement(rows, asked)
    _print_wrong(rows, asked)
    whole = figures(by_rules(AnswerJudge()), rows, asked)
    print("\n".join(f"  {name:44} {value:.3f}" for name, value in whole.items()))
    for rule in Rule if args.ablate else ():
        without = figures(by_rules(AnswerJudge([rule])), rows, asked)
        moved = (f"{name} {without[name] - value:+.3f}" for name, value in whole.items())
        print(f"without {rule}: " + "; ".join(each for each in moved if not each.endswith("0.000")))
    if args.list:
        _print_apart(rows, asked)


if __name__ == "__main__":
    main(sys.argv[1:])
