"""What `import ctxsift` promises to those who embed it."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys

import pytest

import ctxsift
from ctxsift import errors
from tests.conftest import ROOT


def test_everything_promised_is_there_and_nothing_else_is() -> None:
    assert dir(ctxsift) == sorted(ctxsift.__all__)
    assert [name for name in ctxsift.__all__ if getattr(ctxsift, name, None) is None] == []
    with pytest.raises(AttributeError, match="has no attribute 'recovery_of'"):
        _ = ctxsift.recovery_of


def test_every_error_can_be_caught_by_its_public_name() -> None:
    tree = {
        name
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.CtxsiftError)
    }
    assert len(tree) > 10
    assert tree <= set(ctxsift.__all__)


def test_what_is_promised_is_documented() -> None:
    for name in ctxsift.__all__:
        assert name == "__version__" or inspect.getdoc(getattr(ctxsift, name)), name


def test_the_example_runs() -> None:
    found = doctest.testmod(ctxsift)
    assert found.attempted >= 5
    assert found.failed == 0


def test_importing_it_loads_nothing_heavy() -> None:
    code = "import sys, ctxsift; print(*(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {
        "msgspec",
        "regex",
        "torch",
        "transformers",
        "litellm",
        "llama_cpp",
        "numpy",
        "rich",
        "tokenizers",
        "huggingface_hub",
    }
    assert not heavy & set(done.stdout.split())
    assert "benchmark" not in done.stdout


def test_both_packages_ship_their_types() -> None:
    assert (ROOT / "ctxsift" / "py.typed").is_file()
    assert (ROOT / "benchmark" / "py.typed").is_file()
