"""Results of the shards of a run of probes -> one result, as if one process had measured all sessions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec.structs import replace

from benchmark.probes.records import Answering, MeasuredMethod, ProbeResult, SessionShard, read_result
from benchmark.run.sharding import array_of, shard_index
from ctxsift.errors import InputError


class _OfOneSession(Protocol):
    @property
    def session(self) -> str: ...


_OfSession = TypeVar("_OfSession", bound=_OfOneSession)


def joined(paths: Sequence[Path]) -> ProbeResult:
    """Return the results of all shards of a run as one.

    Raises:
        InputError: a file is no shard, belongs to another run, or is there twice; or shards are missing, with those
            that have to be run.

    """
    parts: dict[int, tuple[Path, ProbeResult]] = {}
    for path in paths:
        result = read_result(path)
        shard = _shard(path, result)
        if shard.index in parts:
            raise InputError(
                str(path), f"is shard {shard}, and so is {parts[shard.index][0]}", "leave out one of the two"
            )
        first_path, first = next(iter(parts.values()), (path, result))
        if differs := _difference(first, result):
            raise InputError(str(path), f"{differs} than {first_path} has", "name shards of one run only")
        parts[shard.index] = (path, result)
    whole = _shard(*next(iter(parts.values())))
    due = {shard_index(name, whole.count) for name in whole.sessions}
    if missing := due - parts.keys():
        problem = f"shards of {whole.count} are missing: {array_of(missing)}"
        raise InputError(
            ", ".join(map(str, paths)), problem, "run the missing ones with --shard I/N, or with --array= on a cluster"
        )
    return _one([result for _, result in parts.values()], whole.sessions)


def _shard(path: Path, result: ProbeResult) -> SessionShard:
    if result.shard is None:
        raise InputError(str(path), "is the result of a whole run, not of a shard", "leave it out")
    if result.judged or result.labels:
        raise InputError(str(path), "already contains verdicts", "merge the shards first, then judge the merged result")
    return result.shard


def _difference(first: ProbeResult, other: ProbeResult) -> str:
    """Return what two results do not have in common, though the shards of one run would; empty where they are."""
    assert first.shard is not None
    assert other.shard is not None
    compared: list[tuple[str, object, object]] = [
        ("is one of other shards", first.shard.count, other.shard.count),
        ("has other sessions to measure", first.shard.sessions, other.shard.sessions),
        ("has another judge", first.judge, other.judge),
        ("keeps other steps", first.keep_last, other.keep_last),
        ("has other methods", [each.label for each in first.methods], [each.label for each in other.methods]),
        ("has other versions of answerers", _answerers(first, other), _answerers(other, first)),
    ]
    return next((told for told, here, there in compared if here != there), "")


def _answerers(result: ProbeResult, other: ProbeResult) -> list[tuple[str, str, str, int]]:
    """Return what tells answerers apart, of those that both have: some have nothing to say of some sessions."""
    names = {each.answerer for each in other.answered}
    return [(each.answerer, each.version, each.judge, each.words) for each in result.answered if each.answerer in names]


def _one(parts: Sequence[ProbeResult], sessions: Sequence[str]) -> ProbeResult:
    order = _Order(sessions)
    named = {session.name: session for part in parts for session in part.sessions}
    parts = sorted(parts, key=lambda part: sessions.index(part.sessions[0].name))
    return replace(
        parts[0],
        timestamp=max(part.timestamp for part in parts),
        leaks=sum(part.leaks for part in parts),
        leaked=order([part.leaked for part in parts]),
        probes=order([part.probes for part in parts]),
        sessions=[named[name] for name in sessions],
        methods=_methods([part.methods for part in parts], order),
        contexts={key: text for part in parts for key, text in part.contexts.items()},
        answered=_answered(parts, order),
        shard=None,
    )


class _Order:
    """The order of the sessions of a run, in which everything about them stands."""

    def __init__(self, sessions: Sequence[str]) -> None:
        self._place = {name: number for number, name in enumerate(sessions)}

    def __call__(self, lists: Iterable[Iterable[_OfSession]]) -> list[_OfSession]:
        return sorted((each for one in lists for each in one), key=lambda each: self._place[each.session])


def _methods(parts: Iterable[Sequence[MeasuredMethod]], order: _Order) -> list[MeasuredMethod]:
    by_label: dict[str, list[MeasuredMethod]] = {}
    for methods in parts:
        for method in methods:
            by_label.setdefault(method.label, []).append(method)
    return [
        replace(
            found[0],
            own_words=any(each.own_words for each in found),
            contexts=order([each.contexts for each in found]),
            asked=order([each.asked for each in found]),
            unanswerable=order([each.unanswerable for each in found]),
        )
        for found in by_label.values()
    ]


def _answered(parts: Sequence[ProbeResult], order: _Order) -> list[Answering]:
    by_name: dict[str, list[Answering]] = {}
    for part in parts:
        for answering in part.answered:
            by_name.setdefault(answering.answerer, []).append(answering)
    place = {each.label: number for number, each in enumerate(parts[0].methods)}

    def methods(found: Iterable[Sequence[MeasuredMethod]]) -> list[MeasuredMethod]:
        return sorted(_methods(found, order), key=lambda each: place.get(each.label, len(place)))

    return [
        replace(
            found[0],
            questions=sum(each.questions for each in found),
            unanswered=sum(each.unanswered for each in found),
            foreign=sum(each.foreign for each in found),
            shortened=sum(each.shortened for each in found),
            error=next((each.error for each in found if each.error), None),
            methods=methods([each.methods for each in found]),
            kept=methods([each.kept for each in found]),
            acts=sorted(order([each.acts for each in found]), key=lambda each: place[each.label]),
        )
        for found in by_name.values()
    ]
