"""Backends by name, from entry points: ours and a third party's are found the same way."""

from __future__ import annotations

from importlib.metadata import entry_points

from ctxsift.backends.base import Backend
from ctxsift.errors import LoadError, did_you_mean

GROUP = "ctxsift.backends"


def create_backend(name: str) -> Backend:
    """Return a new backend registered as `name`. Raises LoadError when there is none or it cannot be imported."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        raise LoadError(f"no backend is registered as {name!r}; {did_you_mean(name, found)}")
    try:
        backend: Backend = found[name].load()()
    except ImportError as error:
        raise LoadError(f"backend {name!r} cannot be imported: {error}") from error
    return backend
