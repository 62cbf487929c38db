"""The keys of result files are known in one package: nowhere else does one stand as a string."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmark.record.schema import schema_keys
from tests.conftest import ROOT

# What reads and writes the sessions, settings and hooks of agents, and tables of other people, whose keys others have
# named; and what has results of its own, with words of its own.
OTHER_FILES = (
    *(
        "ctxsift/cli/hook",
        "ctxsift/cli/host_settings",
        "ctxsift/cli/host_plugins",
        "ctxsift/cli/self_test",
        "ctxsift/cli/doctor",
        "ctxsift/cli/stats",
    ),
    *("ctxsift/sessions/", "ctxsift/cli/session", "ctxsift/cli/compact_output"),
    *("benchmark/utilization/", "benchmark/probes/", "benchmark/judges/", "benchmark/stress/"),
)
# Plain words that are keys in what a judge says of prose alone (benchmark/record/judged_quality.py).
PLAIN = frozenset(
    {
        *("name", "version", "identity", "seconds", "tokens", "prose"),
        *("quality", "score", "spread", "reasoning", "use", "kappa"),
    }
)
# Words that are values there, not keys: (file, word) -> what it is.
VALUES: dict[tuple[str, str], str] = {
    ("benchmark/corpus/__main__.py", "command"): "the argument of the parser that names one of its commands",
    ("benchmark/corpus/__main__.py", "capture"): "a word that is counted",
    ("benchmark/viewer/watching.py", "run"): "a word that is counted",
    ("benchmark/viewer/publishing.py", "summary"): "a kind of link preview",
    **{
        ("benchmark/render/models.py", word): "a title of a table"
        for word in ("quantization", "parameters", "licence", "engine")
    },
    ("benchmark/runner.py", "before"): "a phase of the matrix",
    ("benchmark/corpus/quotas.py", "python"): "the name of a tool",
    ("ctxsift/__init__.py", "settings"): "the name of a module",
    ("benchmark/validity/measures.py", "outcome"): "a kind of falsehood",
    ("benchmark/matrix.py", "name"): "a field of the matrix",
    ("benchmark/matrix.py", "phase"): "a field of the matrix",
    ("benchmark/run/named.py", "name"): "a field of the matrix",
    ("ctxsift/cli/listing.py", "name"): "a key of what `ctxsift list --json` prints",
    ("benchmark/analysis/figures.py", "latency"): "the name of a column",
    ("benchmark/render/markdown.py", "machine"): "a heading for people",
    ("benchmark/viewer/board_data.py", "floor"): "a badge of the leaderboard",
    ("benchmark/matrix.py", "enabled"): "a field of the matrix",
    ("ctxsift/extras.py", "cpu"): "the name of an extra",
    ("ctxsift/backends/litellm_reasoning.py", "enabled"): "what Anthropic's parameter `thinking` is set to",
    ("ctxsift/backends/baselines.py", "instruction"): "the name of a baseline",
    ("ctxsift/backends/registry.py", "command"): "the registered name of the backend of programs",
    ("ctxsift/answers/meta_language.py", "question"): "the name of a signal",
    ("ctxsift/answers/prose.py", "question"): "a kind of sentence",
    ("ctxsift/backends/registry.py", "controls"): "the registered name of the baselines' backend",
    ("ctxsift/backends/compact_endpoint.py", "model"): "a field of OpenAI's Responses API",
    ("ctxsift/backends/compact_endpoint.py", "output"): "a field of OpenAI's Responses API",
    ("ctxsift/backends/templates.py", "model"): "the name of a chat template: the model's own",
    ("benchmark/run/row_asking.py", "timestamp"): "the field of an identity that is no part of it",
    ("ctxsift/answers/validation.py", "ungrounded_facts"): "the stable name of a flag",
    ("ctxsift/cli/main.py", "run"): "the name of a subcommand",
    ("ctxsift/cli/run.py", "run"): "the name of a subcommand",
    ("ctxsift/cli/raw.py", "read"): "what became of an original",
    ("ctxsift/secret_kinds.py", "env"): "the ending of a file's name",
}


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of every string in a file that is no docstring and no part of an f-string."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                skipped.add(id(first.value))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in node.values)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            # Names of Python, not of files.
            skipped.update(id(part) for part in ast.walk(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def test_no_key_stands_as_a_string_outside_the_record_package() -> None:
    keys = schema_keys() - PLAIN
    assert len(keys) > 120
    found = []
    for package in ("benchmark", "ctxsift"):
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if name.startswith(("benchmark/record/", *OTHER_FILES)):
                continue
            found += [
                f"{name}:{line} {text!r}" for line, text in strings(file) if text in keys and (name, text) not in VALUES
            ]
    assert not found, "\n".join(found)


def test_no_exception_is_there_for_nothing() -> None:
    for (name, word), reason in VALUES.items():
        assert reason
        assert any(text == word for _, text in strings(ROOT / name)), (name, word)
