"""Methods by name: those that come with the product, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from ctxsift.errors import InputError, did_you_mean
from ctxsift.sessions.compaction.anchored import Anchored
from ctxsift.sessions.compaction.controls import (
    ConversationText,
    Drop,
    Everything,
    First,
    Last,
    Mask,
    Random,
    RecordedSummary,
    TextCut,
    UserText,
)
from ctxsift.sessions.compaction.opaque import Opaque
from ctxsift.sessions.compaction.products import OpenCodeRules, PiRules
from ctxsift.sessions.compaction.records import Method
from ctxsift.sessions.compaction.regenerative import Regenerative
from ctxsift.sessions.records import Compaction

if TYPE_CHECKING:
    from ctxsift.sessions.compaction.modelled import Asker

GROUP = "ctxsift.compaction"
INDEX = "+index"
DEFAULT_METHOD = f"anchored{INDEX}"
RANDOM = "random"
# What one draw keeps is chance; their mean is what chance keeps.
DRAWS = {f"{RANDOM}-{seed}": seed for seed in (1, 2, 3)}
METHODS: Mapping[str, Callable[[], Method]] = {
    "anchored": Anchored,
    "regenerative": Regenerative,
    "opaque": Opaque,
    "drop": Drop,
    "last": Last,
    "first": First,
    **{name: partial(Random, seed) for name, seed in DRAWS.items()},
    "mask": Mask,
    "text": ConversationText,
    "text-cut": TextCut,
    "user": UserText,
    "everything": Everything,
    "opencode-rules": OpenCodeRules,
    "pi-rules": PiRules,
}
RECORDED = "recorded"


def parted(name: str) -> tuple[str, bool]:
    """Return the name of a method without `+index`, and whether that was there."""
    return name.removesuffix(INDEX), name.endswith(INDEX)


def create_method(name: str, compactions: Iterable[Compaction] = (), asker: Asker | None = None) -> Method:
    """Return the method of a name, `+index` apart.

    Args:
        name: one of METHODS, `recorded`, or an entry point of the group `ctxsift.compaction`. What that names is called
            without arguments, or, where its `needs_model` is true, with `asker`.
        compactions: that the file of the session records.
        asker: asks the model that was named; None where none was.

    Raises:
        InputError: there is none of that name, or it cannot be loaded; it needs a model, or asks none that was named.

    """
    name, _ = parted(name)
    make = method_with_model(name) if asker is not None else _method_by_rules(name, compactions)
    try:
        return make(asker) if asker is not None else make()
    except Exception as error:  # other people's code
        raise _not_loaded(name, error) from error


def method_with_model(name: str) -> Callable[..., Method]:
    """Return what makes the method of a name, given an Asker. Raises InputError where there is none that asks one."""
    from ctxsift.sessions.compaction.modelled import MODELLED

    name, _ = parted(name)
    if name in MODELLED:
        return MODELLED[name]
    if name not in METHODS and name != RECORDED and _needs_model(found := _of_package(name)):
        return found
    hint = f"leave out --model, or use {', '.join(MODELLED)}"
    raise InputError("--model", f"the method {name} does not use a model", hint)


def by_rules(name: str) -> str:
    """Return the method whose summaries stand in for those of a method that asks a model no more."""
    base, index = parted(name)
    return name if base in METHODS else f"anchored{INDEX if index else ''}"


def _method_by_rules(name: str, compactions: Iterable[Compaction]) -> Callable[..., Method]:
    if name == RECORDED:
        return lambda: RecordedSummary(compactions)
    if name in METHODS:
        return METHODS[name]
    found = _of_package(name)
    if _needs_model(found):
        raise InputError("--method", f"the method {name} needs a model", "`ctxsift compact --model` names one")
    return found


def _of_package(name: str) -> Callable[..., Method]:
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        known = [*METHODS, RECORDED, *points]
        raise InputError("--method", f"unknown method {name!r}", did_you_mean(name, known))
    try:
        return cast("Callable[..., Method]", points[name].load())
    except Exception as error:  # other people's code
        raise _not_loaded(name, error) from error


def _needs_model(found: Callable[..., Method]) -> bool:
    return bool(getattr(found, "needs_model", False))


def _not_loaded(name: str, error: Exception) -> InputError:
    where = {point.name: point.value for point in entry_points(group=GROUP)}.get(name, "ctxsift")
    problem = f"the method {name!r} of {where} cannot be loaded ({type(error).__name__}: {error})"
    return InputError("--method", problem, "report this to the author of the package")
