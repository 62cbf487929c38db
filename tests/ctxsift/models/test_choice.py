"""Where a model runs, by what is named and what is set; a service is asked only where somebody said so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxsift.backends.registry import GGUF, SERVICE
from ctxsift.errors import InputError
from ctxsift.models.choice import BackendPlace, Named, place_of
from ctxsift.settings import Settings

NOWHERE = Settings()
ADDRESS = Settings(llm_base_url="http://127.0.0.1:9/v1", llm_api_key="k")
ALLOWED = replace(ADDRESS, remote=True)
HERE, THERE = BackendPlace(GGUF, "cpu", asks_service=False), BackendPlace(SERVICE, "remote", asks_service=True)


@pytest.mark.parametrize(
    ("named", "settings", "place"),
    [
        (Named("m"), NOWHERE, HERE),
        # An address alone sends nothing, and neither does consent without one.
        (Named("m"), ADDRESS, HERE),
        (Named("m"), Settings(remote=True), HERE),
        (Named("m", remote=True), ADDRESS, THERE),
        (Named("m"), ALLOWED, THERE),
        (Named(), ALLOWED, THERE),
        (Named("m", SERVICE), ALLOWED, THERE),
        (Named("m", SERVICE, remote=True), ADDRESS, THERE),
        # The setting does not speak of what is on this machine; the option does.
        (Named("package:m"), ALLOWED, HERE),
        (Named("m", device="cpu"), ALLOWED, HERE),
        (Named("m", device="cuda:1"), ALLOWED, BackendPlace(GGUF, "cuda:1", asks_service=False)),
        (Named("m", gguf_filename="m.gguf"), ALLOWED, HERE),
        (Named("m", "scripted"), ALLOWED, BackendPlace("scripted", "cpu", asks_service=False)),
        (Named("package:m", remote=True), ADDRESS, THERE),
    ],
)
def test_where_a_model_runs(named: Named, settings: Settings, place: BackendPlace) -> None:
    assert place_of(named, settings) == place


@pytest.mark.parametrize(
    ("named", "settings", "told"),
    [
        (
            Named("m", SERVICE),
            ADDRESS,
            "--backend: litellm asks a service; add --remote if that is meant, or set ",
        ),
        (Named("m", SERVICE, device="cpu"), ALLOWED, "--backend: litellm asks a service; add --remote"),
        (Named("m", SERVICE, backend_option="--judge-backend"), NOWHERE, "--judge-backend: litellm asks a service"),
        (
            Named("m", "scripted", remote=True),
            ADDRESS,
            "--remote: the backend scripted does not use a service; leave out --remote",
        ),
        (Named("m", device="cpu", remote=True), ADDRESS, "--remote: --device cpu runs on this machine; leave out one"),
        (Named("m", "scriptd"), ALLOWED, "--backend: no backend is registered as 'scriptd'; did you mean scripted?"),
    ],
)
def test_what_is_refused(named: Named, settings: Settings, told: str) -> None:
    with pytest.raises(InputError) as caught:
        place_of(named, settings)
    assert str(caught.value).startswith(told)
