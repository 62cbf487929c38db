"""CTXSIFT_* settings, from the environment and an env file. The environment wins."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from ctxsift.errors import InputError
from ctxsift.files import read_text
from ctxsift.preselect import DEFAULT_PRESELECT_TOKENS, LEAST_PRESELECT_TOKENS, Preselect
from ctxsift.redaction import Secrets, parts_of_address

PREFIX = "CTXSIFT_"
ReasoningMode = Literal["auto", "true", "false"]
# A day; what a service is asked at most for; more attempts than anybody waits for.
MOST_TIMEOUT_MS = 86_400_000
MOST_TOKENS = 1_000_000
MOST_RETRIES = 100
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


@dataclass(frozen=True)
class Settings:
    """What can be set through the environment; .env.example explains each.

    Attributes:
        llm_api_key: kept out of every representation.
        llm_reasoning_budget: tokens a model may reason before its answer, beside the answer's own limit.
        model: that answers `ctxsift compress`, unless --model names another.
        remote: what --remote says, for every command: the configured service may be sent what it is asked about.
        timeout_ms: milliseconds one remote attempt may take.
        retries: remote attempts after the first.
        allow_provider: of LiteLLM, that may call other hosts than `llm_base_url`.
        preselect: how lines of a long output are chosen before the model of `ctxsift compress` reads it.
        preselect_tokens: about how many tokens of an output it reads then.

    """

    llm_base_url: str | None = None
    llm_api_key: str | None = field(default=None, repr=False)
    llm_api_version: str | None = None
    llm_reasoning_mode: ReasoningMode = "auto"
    llm_reasoning_budget: int = 4096
    model: str | None = None
    remote: bool = False
    timeout_ms: int = 120_000
    retries: int = 2
    max_output_tokens: int | None = None
    recovery_enabled: bool = True
    allow_provider: tuple[str, ...] = ()
    preselect: Preselect = Preselect.NONE
    preselect_tokens: int = DEFAULT_PRESELECT_TOKENS

    @property
    def service(self) -> str | None:
        """Address of the service, without what may be secret in it: name, password and query."""
        if not self.llm_base_url or not _is_address(self.llm_base_url):
            return None
        parts = urlsplit(self.llm_base_url)
        port = f":{parts.port}" if parts.port else ""
        return self.secrets.out_of_message(f"{parts.scheme}://{parts.hostname}{port}{parts.path}")

    @property
    def secrets(self) -> Secrets:
        """The key of the service, and what may be secret in its address: a service may say them again in an error."""
        return Secrets((self.llm_api_key or "", *parts_of_address(self.llm_base_url or "")))

    def missing_for_service(self) -> str | None:
        """Return what has to be set before a service can be asked, in one line; None when nothing is missing."""
        if not self.llm_base_url:
            return "CTXSIFT_LLM_BASE_URL is not set: give the address of the service (see .env.example)"
        if not _is_address(self.llm_base_url):
            return "CTXSIFT_LLM_BASE_URL is not an address: write it like https://api.openai.com/v1"
        if not self.llm_api_key:
            return "CTXSIFT_LLM_API_KEY is not set: give the service's key, or any word if it needs none"
        if not (self.llm_api_key.isascii() and self.llm_api_key.isprintable()):
            return "CTXSIFT_LLM_API_KEY holds a character that no header can carry: copy the key again, as plain ASCII"
        return None


def load_settings(env_file: Path | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings.

    Args:
        env_file: a file of NAME=value lines, or None.
        environ: the environment; the process's own when None.

    Raises:
        InputError: the file cannot be read, or a value is not one its setting accepts.

    """
    given: dict[str, tuple[str, str]] = {}
    if env_file is not None:
        from dotenv import dotenv_values

        text = read_text(env_file, "check --env-file", most_mb=0.1)
        values = dotenv_values(stream=io.StringIO(text), interpolate=False)
        given |= {k: (str(env_file), v) for k, v in values.items() if v}
    given |= {k: ("the environment", v) for k, v in (os.environ if environ is None else environ).items() if v}
    read = {name.removeprefix(PREFIX): value for name, value in given.items() if name.startswith(PREFIX)}
    mode = _choice(read, "LLM_REASONING_MODE", ("auto", "true", "false"), "auto")
    return Settings(
        llm_base_url=_text(read, "LLM_BASE_URL"),
        llm_api_key=_text(read, "LLM_API_KEY"),
        llm_api_version=_text(read, "LLM_API_VERSION"),
        llm_reasoning_mode=mode,  # type: ignore[arg-type]
        llm_reasoning_budget=_whole(read, "LLM_REASONING_BUDGET", 1, MOST_TOKENS) or Settings.llm_reasoning_budget,
        model=_text(read, "MODEL"),
        remote=_flag(read, "REMOTE", default=False),
        timeout_ms=_whole(read, "TIMEOUT_MS", 1, MOST_TIMEOUT_MS) or Settings.timeout_ms,
        retries=_retries(read),
        max_output_tokens=_whole(read, "MAX_OUTPUT_TOKENS", 1, MOST_TOKENS),
        recovery_enabled=_flag(read, "RECOVERY_ENABLED", default=True),
        allow_provider=tuple(filter(None, (_text(read, "ALLOW_PROVIDER") or "").replace(",", " ").split())),
        preselect=Preselect(_choice(read, "PRESELECT", tuple(Preselect), Settings.preselect)),
        preselect_tokens=_whole(read, "PRESELECT_TOKENS", LEAST_PRESELECT_TOKENS, MOST_TOKENS)
        or Settings.preselect_tokens,
    )


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        # Control characters within it would be dropped by one reader and sent by another.
        plain = url.isprintable() and " " not in url
        has_port = parts.port is None or parts.port > 0
        return plain and parts.scheme in ("http", "https") and bool(parts.hostname) and has_port
    except ValueError:
        return False


_Given = Mapping[str, tuple[str, str]]


def _text(read: _Given, name: str) -> str | None:
    # A file written on Windows leaves a carriage return at the end of each value.
    return read[name][1].strip() or None if name in read else None


def _retries(read: _Given) -> int:
    found = _whole(read, "RETRIES", 0, MOST_RETRIES)
    return Settings.retries if found is None else found


def _whole(read: _Given, name: str, least: int, most: int) -> int | None:
    if name not in read:
        return None
    where, value = read[name]
    try:
        number = int(value)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        problem = f"{value[:40]!r} is {'too large' if number > most else 'not a whole number'}"
        raise InputError(f"{where}: {PREFIX}{name}", problem, f"give {least} to {most}")
    return number


def _choice(read: _Given, name: str, known: tuple[str, ...], default: str) -> str:
    if name not in read:
        return default
    where, value = read[name]
    if value.lower() not in known:
        raise InputError(f"{where}: {PREFIX}{name}", f"{value!r} is unknown", f"give {', '.join(known)}")
    return value.lower()


def _flag(read: _Given, name: str, *, default: bool) -> bool:
    if name not in read:
        return default
    return _choice(read, name, tuple(sorted(_TRUE | _FALSE)), "") in _TRUE
