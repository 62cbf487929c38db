"""Journals of the shards of a run -> one journal, as if one process had asked everything."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from benchmark.cases import Corpus
from benchmark.record.journal import (
    JOURNAL_VERSION,
    AnswerLine,
    LoadedLine,
    ResumedLine,
    RunIdentity,
    RunLine,
    Shard,
    encode_line,
    placed_lines,
    read_line,
)
from benchmark.record.paths import journals_below
from benchmark.run.identity import load_differences, prompt_sha256, run_differences
from benchmark.run.sharding import COUNT, array_of, shard_index
from ctxsift.backends.base import LoadInfo
from ctxsift.errors import InputError
from ctxsift.files import exists
from ctxsift.prompts import PROMPT_VERSION

_MOST_NAMED = 3


@dataclass(frozen=True)
class ShardJournal:
    """The journal of one shard.

    Attributes:
        path: of the file.
        identity: of its first line, which says which shard it is.

    """

    path: Path
    identity: RunIdentity

    @property
    def shard(self) -> Shard:
        """Which it is."""
        assert self.identity.shard is not None
        return self.identity.shard

    @property
    def run(self) -> RunIdentity:
        """Of the whole run, but for when it began."""
        return replace(self.identity, shard=None, case_ids=self.shard.case_ids)


@dataclass(frozen=True)
class FoundShards:
    """What is below the folders that were named.

    Attributes:
        shards: their journals, by scenario.
        unreadable: files and folders that cannot be read, and why.

    """

    shards: Mapping[str, Sequence[ShardJournal]]
    unreadable: Sequence[InputError]


@dataclass(frozen=True)
class Merged:
    """The shards of a run, all there and of one run.

    Attributes:
        identity: of the whole run; it began when its first shard did.
        journals: with its answers, in the order of their shards.
        doubled: cases that two journals answer, in the same words.

    """

    identity: RunIdentity
    journals: tuple[ShardJournal, ...]
    doubled: int = 0


def find_shards(paths: Sequence[Path]) -> FoundShards:
    """Return the journals of shards below `paths`; those of whole runs are passed over.

    Raises:
        InputError: a path is missing, or there is no shard at all.

    """
    found: dict[str, list[ShardJournal]] = {}
    unreadable: list[InputError] = []
    seen: set[Path] = set()
    for path in paths:
        if not exists(path):
            raise InputError(
                str(path), "no such file or folder", "name folders of shards, or a results tree that contains them"
            )
        for journal in journals_below(path, unreadable.append) if path.is_dir() else [path]:
            if journal.resolve() in seen or not journal.is_file() or not journal.stat().st_size:
                continue
            seen.add(journal.resolve())
            try:
                line = read_line(journal)
            except (OSError, ValueError) as error:
                unreadable.append(InputError(f"{journal}:1", f"the journal is damaged ({error})", "run its job again"))
                continue
            if not isinstance(line, RunLine):
                what = "does not say which run it belongs to"
                unreadable.append(InputError(f"{journal}:1", what, "run its job again"))
            elif line.identity.shard is not None:
                others = found.setdefault(line.identity.scenario.name, [])
                others.append(ShardJournal(journal, _sharing(line.identity, others)))
    if not found:
        what = "contains no journal of a shard"
        if unreadable:
            raise unreadable[0]
        raise InputError(" ".join(map(str, paths)), what, "shards are run with --shard I/N")
    return FoundShards(found, unreadable)


def _sharing(identity: RunIdentity, others: Sequence[ShardJournal]) -> RunIdentity:
    """Return an identity that has its list of all cases in common with the first of others: there may be thousands."""
    shard = identity.shard
    if not others or shard is None or shard.case_ids != (whole := others[0].shard.case_ids):
        return identity
    return replace(identity, shard=replace(shard, case_ids=whole))


def merged(journals: Sequence[ShardJournal], corpus: Corpus, unreadable: Sequence[InputError] = ()) -> Merged:
    """Return the shards of one scenario as one run.

    Args:
        journals: of its shards; at least one.
        corpus: that it asks about.
        unreadable: what cannot be read and may be one of them.

    Raises:
        InputError: shards are of several runs or of another corpus or prompt than today's, answers are missing, or
            two answers to one case differ; it says in one line which jobs to run.

    """
    run, foreign = _one_run(journals)
    own = [journal for journal in journals if journal not in foreign]
    scenario, count = run.scenario.name, own[0].shard.count
    kept = [_JournalAnswers(journal) for journal in sorted(own, key=lambda each: (each.shard.index, str(each.path)))]
    foreign |= _other_loads(kept)
    if foreign:
        raise _mixed(scenario, foreign, count)
    if run.corpus_sha256 != corpus.sha256:
        what = f"its shards used a different corpus, or a different version of it, from {corpus.path}"
        raise InputError(scenario, what, "name theirs with --dataset, or run all jobs again")
    if (run.prompt_version, run.prompt_sha256) != (PROMPT_VERSION, prompt_sha256()):
        raise InputError(scenario, "its shards used prompts that have changed since", "run all jobs again")
    missing = set(run.case_ids).difference(*(each.texts for each in kept))
    if missing:
        captures = {case.case_id: case.capture.name for case in corpus.cases}
        lost = Counter(shard_index(captures[case_id], count) for case_id in missing)
        raise _incomplete(run, own, lost, [*unreadable, *(error for each in kept for error in each.damage)])
    return Merged(
        identity=replace(run, timestamp=min(journal.identity.timestamp for journal in own)),
        journals=tuple(each.journal for each in kept),
        doubled=_doubled(scenario, kept),
    )


class _JournalAnswers:
    """What a journal answers."""

    def __init__(self, journal: ShardJournal) -> None:
        self.journal = journal
        self.load: LoadInfo | None = None
        self.texts: dict[str, str] = {}
        self.damage: list[InputError] = []
        for placed in placed_lines(journal.path, self._damaged):
            line = placed.line
            if isinstance(line, LoadedLine):
                self.load = line.load
            elif isinstance(line, AnswerLine):
                self.texts[line.case_id] = line.generation.text

    def _damaged(self, number: int, problem: str) -> None:
        self.damage.append(InputError(f"{self.journal.path}:{number}", f"is damaged ({problem})", "run its job again"))


@dataclass
class _Foreign:
    """Journals of other runs, and what makes them so."""

    why: dict[Path, str] = field(default_factory=dict)
    indices: set[int] = field(default_factory=set)

    def __contains__(self, journal: object) -> bool:
        return isinstance(journal, ShardJournal) and journal.path in self.why

    def __bool__(self) -> bool:
        return bool(self.why)

    def __ior__(self, other: _Foreign) -> _Foreign:
        self.why |= other.why
        self.indices |= other.indices
        return self

    def add(self, journal: ShardJournal, why: str) -> None:
        self.why[journal.path] = why
        self.indices.add(journal.shard.index)


def _one_run(journals: Sequence[ShardJournal]) -> tuple[RunIdentity, _Foreign]:
    """Return the run that most journals are of, or the newest of several, and the journals of other runs."""
    runs: list[tuple[RunIdentity, int, list[ShardJournal]]] = []
    for journal in sorted(journals, key=lambda each: each.identity.timestamp, reverse=True):
        for run, count, members in runs:
            if not _differences(run, count, journal):
                members.append(journal)
                break
        else:
            runs.append((journal.run, journal.shard.count, [journal]))
    run, count, members = max(runs, key=lambda each: len({member.shard.index for member in each[2]}))
    foreign = _Foreign()
    for journal in journals:
        if journal not in members:
            foreign.add(journal, ", ".join(_differences(run, count, journal)))
    return run, foreign


def _differences(run: RunIdentity, count: int, journal: ShardJournal) -> list[str]:
    found = run_differences(run, journal.run)
    if count != journal.shard.count:
        found.append(f"there were {count} shards, are {journal.shard.count}")
    elif run.case_ids != journal.shard.case_ids:
        found.append(f"{len(run.case_ids)} cases were chosen, these are {len(journal.shard.case_ids)} others")
    return found


def _other_loads(kept: Sequence[_JournalAnswers]) -> _Foreign:
    """Return the journals whose model was loaded in another way than most, so that it may answer otherwise."""
    loads = [(each.journal, each.load) for each in kept if each.load is not None]
    kinds: list[LoadInfo] = []
    votes: Counter[int] = Counter()
    places = []
    for _, load in loads:
        place = next((i for i, kind in enumerate(kinds) if not load_differences(kind, load)), len(kinds))
        kinds += [load] if place == len(kinds) else []
        votes[place] += 1
        places.append(place)
    foreign = _Foreign()
    for (journal, load), place in zip(loads, places, strict=True):
        if place != (most := votes.most_common(1)[0][0]):
            foreign.add(journal, ", ".join(load_differences(kinds[most], load)))
    return foreign


def _mixed(scenario: str, foreign: _Foreign, count: int) -> InputError:
    named = [f"{path} ({why})" for path, why in itertools.islice(foreign.why.items(), _MOST_NAMED)]
    more = f" and {len(foreign.why) - _MOST_NAMED} more" if len(foreign.why) > _MOST_NAMED else ""
    what = f"shards of several runs: {', '.join(named)}{more}"
    indices = [index for index in foreign.indices if index <= count]
    again = f", and run its jobs again: {_jobs(indices, count)}" if indices else ""
    return InputError(scenario, what, f"leave that out{again}")


def _incomplete(
    run: RunIdentity, journals: Sequence[ShardJournal], lost: Mapping[int, int], damage: Sequence[InputError]
) -> InputError:
    count = journals[0].shard.count
    asked = {journal.shard.index: len(journal.identity.case_ids) for journal in journals}
    absent = [index for index in lost if index not in asked]
    short = sorted(index for index in lost if index in asked)
    parts = [f"{_shards(absent)} of {count} has no journal"] if absent else []
    parts += [f"shard {index} has {asked[index] - lost[index]} of {asked[index]}" for index in short[:_MOST_NAMED]]
    parts += [f"{len(short) - _MOST_NAMED} more have too few"] if len(short) > _MOST_NAMED else []
    parts += [f"{error.where} {error.problem}" for error in damage[:1]]
    what = f"{sum(lost.values())} of {len(run.case_ids)} answers are missing: {', '.join(parts)}"
    return InputError(run.scenario.name, what, f"run these jobs, each goes on where it stopped: {_jobs(lost, count)}")


def _shards(indices: Sequence[int]) -> str:
    return f"shard {array_of(indices)}" if len(indices) == 1 else f"each of shards {array_of(indices)}"


def _doubled(scenario: str, kept: Sequence[_JournalAnswers]) -> int:
    """Return how many answers are there twice. Raises InputError where two of them differ."""
    first: dict[str, _JournalAnswers] = {}
    doubled = 0
    for each in kept:
        for case_id, text in each.texts.items():
            before = first.setdefault(case_id, each)
            if before is each:
                continue
            if before.texts[case_id] != text:
                what = f"two journals of shard {each.journal.shard} answer {case_id} differently"
                where = f"{before.journal.path} and {each.journal.path}"
                raise InputError(scenario, f"{what}: {where}", "leave one of them out")
            doubled += 1
    return doubled


def _jobs(indices: Iterable[int], count: int) -> str:
    return f"{COUNT}={count}, --array={array_of(indices)}"


def merged_journal(run: Merged) -> bytes:
    """Return the journal of a whole run: the same for the same shards. Raises InputError for what cannot be read."""
    return b"".join(_lines(run))


def _lines(run: Merged) -> Iterator[bytes]:
    yield encode_line(RunLine(journal_version=JOURNAL_VERSION, identity=run.identity))
    seen: set[str] = set()
    for number, journal in enumerate(run.journals):
        lines = [placed.line for placed in placed_lines(journal.path, lambda *_: None)]
        answers = {line.case_id for line in lines if isinstance(line, AnswerLine)} - seen
        for line in lines:
            if isinstance(line, RunLine | ResumedLine):
                # The clock of each part begins anew.
                yield encode_line(ResumedLine(owner=line.owner, at_s=line.at_s))
            elif isinstance(line, AnswerLine):
                if line.case_id in answers:
                    yield encode_line(replace(line, node=_node(number, line.node)))
            elif isinstance(line, LoadedLine):
                yield encode_line(replace(line, node=_node(number, line.node)))
            else:
                yield encode_line(line)
        seen |= answers


def _node(number: int, node: str) -> str:
    return f"{number}:{node}" if node else str(number)
