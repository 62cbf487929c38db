"""The judge by rules beside people: packets for readers, drawn by seed, and how far they agree with it.

`python -m tests.support.probe_readers draw FOLDER` writes packets.jsonl (for readers) and key.jsonl (what rules say);
`compare FOLDER` reads a.jsonl and b.jsonl beside them, with {"id": ..., "said": true or false} for each packet.

A reader sees a question, a statement and the lines of a context that are nearest to it by shared words, hits and
misses alike, and says whether they say it.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.probes.measuring import ProbedSubject
from benchmark.probes.model import Maker
from benchmark.probes.nulls import ORACLE
from benchmark.probes.passages import passages_of
from benchmark.probes.scenarios import ProbeScenario, read_scenarios
from benchmark.probes.subjects import recorded_subjects
from benchmark.statements.model import Statement
from benchmark.statements.vocabulary import norm_of
from ctxsift.sessions.compaction.running import DEFAULT_BUDGET, compact_session
from ctxsift.terminal import show
from tests.conftest import ROOT

SEED, COUNT = 78, 120
_MOST_CHARACTERS = 2_400
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What rules say of one statement in one context; `method` is never shown."""

    session: str
    method: str
    at: int
    probe: str
    question: str
    statement: Statement
    context: str
    said: bool


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far a reader and the rules agree.

    Attributes:
        agreed: share of all packets.
        false_said: share of what rules call said that the reader does not.

    """

    agreed: float
    false_said: float


def verdicts(subject: ProbedSubject, scenarios: Sequence[ProbeScenario], maker: Maker) -> Iterator[Verdict]:
    """Yield what rules say of each vital statement that counts, in the context of each method at each cut."""
    for scenario in scenarios:
        if scenario.method == ORACLE:
            continue
        budget = scenario.budget or DEFAULT_BUDGET
        for at, left in enumerate(compact_session(subject.session, scenario.method, subject.cuts, budget=budget)):
            for asking in subject.asked:
                probe = asking.probe
                if asking.at != at or probe.made_by is not maker:
                    continue
                said = subject.rules.judge(subject.unit_of(asking, left.text))
                for index in sorted(asking.counted.vital):
                    yield Verdict(
                        subject.name,
                        scenario.method,
                        at,
                        probe.probe_id,
                        probe.question,
                        probe.statements[index],
                        left.text,
                        said.share(index) == 1,
                    )


def drawn(found: Sequence[Verdict], count: int = COUNT) -> list[Verdict]:
    """Return as many hits and as many misses, evenly over methods, in a random order."""
    generator = random.Random(SEED)
    chosen: list[Verdict] = []
    for said in (True, False):
        by_method: dict[str, list[Verdict]] = {}
        for verdict in found:
            if verdict.said is said:
                by_method.setdefault(verdict.method, []).append(verdict)
        for each in by_method.values():
            generator.shuffle(each)
        left = count
        while left and any(by_method.values()):
            for method in sorted(by_method):
                if by_method[method] and left:
                    chosen.append(by_method[method].pop())
                    left -= 1
    generator.shuffle(chosen)
    return chosen


def nearest(verdict: Verdict) -> str:
    """Return the lines that share most words with a statement, each with its neighbours, in their order."""
    lines = [line for passage in passages_of(verdict.context) for line in passage.split("\n")]
    groups = [term.lstrip("=!") for group in verdict.statement.groups for term in group]
    wanted = _norms(" ".join([verdict.statement.says, *groups]))
    has = [wanted & _norms(line) for line in lines]
    # A word tells the more, the fewer lines have it.
    often = Counter(norm for norms in has for norm in norms)
    shared = [sum(1 / often[norm] for norm in norms) for norms in has]
    chosen: set[int] = set()
    left = _MOST_CHARACTERS
    for number in sorted(range(len(lines)), key=lambda number: (-shared[number], number)):
        around = {near for near in (number - 1, number, number + 1) if 0 <= near < len(lines)} - chosen
        left -= sum(len(lines[near]) for near in around)
        if chosen and left < 0:
            break
        chosen |= around
    shown: list[str] = []
    for number in sorted(chosen):
        shown += ["..."] if shown and number - 1 not in chosen else []
        shown.append(lines[number])
    return "\n".join(shown)


def _norms(text: str) -> set[str]:
    return {norm_of(word.lower()) for word in _WORD.findall(text)}


def agreement(key: Mapping[str, bool], reader: Mapping[str, bool]) -> Agreement:
    """Return how far a reader agrees with the rules. Raises KeyError for a packet without an answer."""
    agreed = [key[packet] == reader[packet] for packet in key]
    said = [not reader[packet] for packet in key if key[packet]]
    return Agreement(sum(agreed) / len(agreed), sum(said) / len(said))


def read_said(path: Path) -> dict[str, bool]:
    """Return the answers in a file, by packet."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["id"]: bool(row["said"]) for row in rows}


def draw(folder: Path, maker: Maker) -> None:
    """Write packets and key."""
    scenarios = read_scenarios(ROOT / "probes.json")
    found = [each for subject in recorded_subjects() for each in verdicts(subject, scenarios, maker)]
    packets, key = [], []
    for number, verdict in enumerate(drawn(found)):
        name = f"{number:03}"
        packets.append(
            {
                "id": name,
                "question": verdict.question,
                "statement": verdict.statement.says,
                "lines": nearest(verdict),
            }
        )
        told = {"session": verdict.session, "method": verdict.method, "at": verdict.at, "probe": verdict.probe}
        key.append({"id": name, "said": verdict.said, **told})
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("packets.jsonl", packets), ("key.jsonl", key)):
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(text, encoding="utf-8")
    show(f"{len(packets)} packets of {len(found)} verdicts")


def compare(folder: Path) -> None:
    """Print how far each reader agrees with the rules, and with the other."""
    key, a, b = (read_said(folder / f"{name}.jsonl") for name in ("key", "a", "b"))
    for name, reader in (("a", a), ("b", b)):
        found = agreement(key, reader)
        show(f"reader {name}: agreement {found.agreed:.3f}, false said {found.false_said:.3f}")
        for packet in key:
            if key[packet] != reader[packet]:
                show(f"  {packet}: rules {'said' if key[packet] else 'not said'}")
    show(f"the readers: agreement {agreement(a, b).agreed:.3f}")


if __name__ == "__main__":
    act, place, *rest = sys.argv[1:]
    if act == "draw":
        draw(Path(place), Maker(rest[0]) if rest else Maker.HAND)
    else:
        compare(Path(place))
