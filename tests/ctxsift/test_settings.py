"""CTXSIFT_* settings and the example file that explains them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from ctxsift.errors import InputError
from ctxsift.settings import PREFIX, Settings, load_settings
from tests.conftest import ROOT


def test_defaults() -> None:
    assert load_settings(environ={}) == Settings()


def test_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("CTXSIFT_RETRIES=5\nCTXSIFT_TIMEOUT_MS=7\nOTHER=x\n# comment\n")
    settings = load_settings(file, {"CTXSIFT_RETRIES": "0", "CTXSIFT_LLM_BASE_URL": ""})
    assert (settings.retries, settings.timeout_ms, settings.llm_base_url) == (0, 7, None)


@pytest.mark.parametrize(
    ("value", "expected"), [("false", False), ("0", False), ("Off", False), ("true", True), ("1", True)]
)
def test_flags(value: str, expected: bool) -> None:
    assert load_settings(environ={"CTXSIFT_RECOVERY_ENABLED": value}).recovery_enabled is expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RETRIES", "-1"),
        ("TIMEOUT_MS", "0"),
        ("MAX_OUTPUT_TOKENS", "many"),
        ("LLM_REASONING_MODE", "perhaps"),
        ("RECOVERY_ENABLED", "maybe"),
    ],
)
def test_bad_values_are_named(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"environment: CTXSIFT_{name}: '{value}'"):
        load_settings(environ={f"CTXSIFT_{name}": value})


def test_the_key_is_never_shown() -> None:
    assert "s3cret" not in repr(load_settings(environ={"CTXSIFT_LLM_API_KEY": "s3cret"}))


def test_example_file_names_every_setting_with_its_default() -> None:
    text = (ROOT / ".env.example").read_text()
    given = dict(re.findall(r"^CTXSIFT_(\w+)=(.*)$", text, re.MULTILINE))
    assert set(given) == {field.name.upper() for field in fields(Settings)}
    shown = load_settings(environ={PREFIX + name: value for name, value in given.items()})
    assert shown == Settings()
