"""Imports point one way, and showing the matrix loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT


def imports(folder: str) -> Iterator[tuple[Path, int, str]]:
    """Yield file, line and module of every import below `folder`."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                yield from ((file, node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}:{node.lineno}: write imports in full"
                yield file, node.lineno, node.module or ""


def test_the_product_never_imports_the_benchmark() -> None:
    found = list(imports("ctxsift"))
    assert len(found) > 50
    assert not [(file, line) for file, line, name in found if name.split(".")[0] == "benchmark"]


@pytest.mark.parametrize("folder", ["ctxsift", "benchmark"])
def test_engines_are_reached_only_through_backends(folder: str) -> None:
    engines = {"llama_cpp", "torch", "transformers", "litellm"}
    for file, line, name in imports(folder):
        if file.parent != ROOT / "ctxsift" / "backends":
            assert name.split(".")[0] not in engines, f"{file}:{line}"


def test_listing_scenarios_imports_nothing_heavy() -> None:
    code = (
        "import sys; from benchmark.runner import main; main(['--list-scenarios']); "
        "print('LOADED', *(m for m in sys.modules if '.' not in m))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    listing, _, loaded = done.stdout.rpartition("LOADED")
    assert "cpu-smollm2-135m-q4_1" in listing
    heavy = {"torch", "transformers", "litellm", "llama_cpp", "numpy", "rich", "tokenizers", "huggingface_hub"}
    assert not heavy & set(loaded.split())


def test_commands_need_no_extra() -> None:
    extras = ["litellm", "torch", "transformers", "accelerate", "gguf", "llama_cpp", "playwright", "fastapi", "pytest"]
    commands = ["runner", "report", "compare", "rescore", "corpus.__main__", "viewer.__main__", "viewer.page"]
    modules = ", ".join(["ctxsift.cli", "benchmark.run.schedule", *(f"benchmark.{command}" for command in commands)])
    code = f"import sys; sys.modules.update(dict.fromkeys({extras})); import {modules}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    core = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]")[0]
    # What `ctxsift` and `benchmark` import as they start is a dependency of its own, not of an extra.
    assert '"tenacity"' in core
