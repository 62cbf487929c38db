"""Methods by name: those that come with the product, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from typing import cast

from ctxsift.errors import InputError, did_you_mean
from ctxsift.sessions.compaction.anchored import Anchored
from ctxsift.sessions.compaction.controls import Drop, Everything, First, Last, Mask, Recorded, Text
from ctxsift.sessions.compaction.opaque import Opaque
from ctxsift.sessions.compaction.records import Method
from ctxsift.sessions.compaction.regenerative import Regenerative
from ctxsift.sessions.records import Compaction, Source

GROUP = "ctxsift.compaction"
INDEX = "+index"
DEFAULT_METHOD = f"anchored{INDEX}"
METHODS: Mapping[str, Callable[[], Method]] = {
    "anchored": Anchored,
    "regenerative": Regenerative,
    "opaque": Opaque,
    "drop": Drop,
    "last": Last,
    "first": First,
    "mask": Mask,
    "text": Text,
    "text-cut": lambda: Text(cut=True),
    "user": lambda: Text(sources=(Source.USER,)),
    "everything": Everything,
}
RECORDED = "recorded"


def parted(name: str) -> tuple[str, bool]:
    """Return the name of a method without `+index`, and whether that was there."""
    return name.removesuffix(INDEX), name.endswith(INDEX)


def create_method(name: str, compactions: Iterable[Compaction] = ()) -> Method:
    """Return the method of a name, `+index` apart.

    Args:
        name: one of METHODS, `recorded`, or an entry point of the group `ctxsift.compaction`, called without arguments.
        compactions: that the file of the session records.

    Raises:
        InputError: there is none of that name, or it cannot be loaded.

    """
    name, _ = parted(name)
    if name == RECORDED:
        return Recorded(compactions)
    if name in METHODS:
        return METHODS[name]()
    others = {point.name: point for point in entry_points(group=GROUP)}
    if name not in others:
        raise InputError("--method", f"there is no method {name!r}", did_you_mean(name, [*METHODS, RECORDED, *others]))
    try:
        return cast(Method, others[name].load()())
    except Exception as error:  # other people's code
        problem = f"the method {name!r} of {others[name].value} cannot be loaded ({type(error).__name__}: {error})"
        raise InputError("--method", problem, "ask whoever wrote it") from error
