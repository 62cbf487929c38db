"""Which model a command asks, and where: what is asked leaves this machine only where somebody said so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxsift.backends.registry import GGUF, SERVICE, is_service
from ctxsift.devices import Device
from ctxsift.errors import InputError, LoadError

if TYPE_CHECKING:
    from ctxsift.settings import Settings

# What to do where a service would be asked, and nobody said that it may be.
CONSENT = "add --remote if that is meant, or set CTXSIFT_REMOTE=1"
_PACKAGED = "package:"


@dataclass(frozen=True)
class Named:
    """What options say of a model; None or False where they do not.

    Attributes:
        remote: the configured service is to be asked.
        backend_option: what `backend` was given with.

    """

    model: str | None = None
    backend: str | None = None
    device: str | None = None
    gguf_filename: str | None = None
    remote: bool = False
    backend_option: str = "--backend"

    @property
    def is_here(self) -> bool:
        """They name what is on this machine, so that the setting does not speak of it."""
        packaged = self.model is not None and self.model.startswith(_PACKAGED)
        return self.device is not None or self.gguf_filename is not None or packaged


@dataclass(frozen=True)
class BackendPlace:
    """Which backend answers, where, and whether that sends to a service what it is asked."""

    backend: str
    device: str
    asks_service: bool


def place_of(named: Named, settings: Settings) -> BackendPlace:
    """Decide where a model runs: on this machine, or, by --remote or CTXSIFT_REMOTE, at the configured service.

    The setting speaks for what names nothing of this machine, and only where an address is configured.

    Raises:
        InputError: options contradict each other, there is no such backend, or it asks a service without consent.

    """
    if named.remote and named.device is not None:
        raise InputError("--remote", f"--device {named.device} runs on this machine", "leave out one of the two")
    allowed = named.remote or (settings.remote and not named.is_here)
    if named.backend is None:
        service = allowed and (named.remote or settings.llm_base_url is not None)
        return BackendPlace(SERVICE if service else GGUF, _device(named, service=service), service)
    try:
        service = is_service(named.backend)
    except LoadError as error:
        raise InputError(named.backend_option, str(error)) from error
    if service and not allowed:
        raise InputError(named.backend_option, f"{named.backend} asks a service", CONSENT)
    if named.remote and not service:
        raise InputError("--remote", f"the backend {named.backend} does not use a service", "leave out --remote")
    return BackendPlace(named.backend, _device(named, service=service), service)


def _device(named: Named, *, service: bool) -> str:
    return str(Device.REMOTE if service else named.device or Device.CPU)
