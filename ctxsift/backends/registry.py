"""Backends by name, from entry points: ours and a third party's are found the same way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ctxsift.errors import LoadError, did_you_mean
from ctxsift.extras import Extra, install_hint

if TYPE_CHECKING:
    from ctxsift.backends.base import Ability, Backend, Traits

GROUP = "ctxsift.backends"
# The backends that come with the product; nothing outside this package knows their registered names.
GGUF, TRANSFORMERS, SERVICE, BASELINES, COMMAND = "llama_cpp", "transformers", "litellm", "controls", "command"
# The extras that install what they need.
_EXTRAS = {GGUF: Extra.CPU, TRANSFORMERS: Extra.GPU, SERVICE: Extra.REMOTE}

# Distributions that hold their engines.
ENGINES = ("llama-cpp-python", "litellm", "torch", "transformers")


def backend_class(name: str) -> Any:
    """Return the class registered as `name`. Raises LoadError when there is none or it cannot be imported."""
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        raise LoadError(f"no backend is registered as {name!r}; {did_you_mean(name, found)}")
    try:
        return found[name].load()
    except ModuleNotFoundError as error:
        if name in _EXTRAS:
            # Which of its packages was looked for first tells nobody anything.
            raise LoadError(install_hint(_EXTRAS[name])) from error
        raise LoadError(f"the package {error.name!r} is not installed") from error
    except Exception as error:  # other people's code
        raise LoadError(f"backend {name!r} cannot be imported: {error}") from error


def create_backend(name: str) -> Backend:
    """Return a new backend registered as `name`. Raises LoadError as `backend_class` does."""
    backend: Backend = backend_class(name)()
    return backend


def traits_of(name: str) -> Traits:
    """Return what the backend wants of whoever runs it. Raises LoadError as `backend_class` does."""
    from ctxsift.backends.base import Traits

    traits: Traits = getattr(backend_class(name), "traits", Traits())
    return traits


def lacking(name: str, needs: Iterable[Ability]) -> str | None:
    """Say in one line what of `needs` the backend cannot do; None where it can do all. Nothing is loaded or asked.

    Raises:
        LoadError: as `backend_class` does.

    """
    missing = sorted(set(needs) - traits_of(name).abilities)
    return f"the backend {name!r} cannot {' or '.join(missing)}" if missing else None


def is_service(name: str) -> bool:
    """Say whether the backend is an AsyncBackend. Raises LoadError as `backend_class` does."""
    from ctxsift.backends.base import AsyncBackend

    return issubclass(backend_class(name), AsyncBackend)
