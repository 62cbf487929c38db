"""The import graph runs down the layers of docs/architecture.md, and showing the matrix loads nothing heavy."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import grimp
import pytest

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "architecture.md"
# Files of one name in one tree of packages, by package, tree and name; none may be added.
SHARED_MODULE_NAMES = {
    ("ctxsift", "sessions", "lines"),
    ("ctxsift", "sessions", "records"),
    ("ctxsift", "sessions", "values"),
}


def pages() -> str:
    """Return the page and the maps of packages, whose files are named from the folder of the map."""
    maps = [path for package in ("ctxsift", "benchmark") for path in (ROOT / package).rglob("README.md")]
    texts = [
        re.sub(
            r"`((?!ctxsift|benchmark|docs|tests|tools)[\w/]+\.(?:py|js))`",
            rf"`{path.parent.relative_to(ROOT)}/\1`",
            text,
        )
        for path in maps
        if "**Read in this order:**" in (text := path.read_text(encoding="utf-8"))
    ]
    assert len(texts) == 4
    return "\n".join([PAGE.read_text(encoding="utf-8").partition("## The life of one case")[0], *texts])


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Every import of both packages, those inside functions and for types alone included."""
    return grimp.build_graph("ctxsift", "benchmark", cache_dir=None)


def layers() -> list[list[str]]:
    """Return the modules of each layer of the page, top first; a package stands for all that is in it."""
    table = PAGE.read_text(encoding="utf-8").partition("## Layers")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [re.findall(r"`([\w.]+)`", row) for row in rows]


def place(module: str) -> tuple[int, str] | None:
    """Return the layer of a module, counted from the top, and the entry of the page that it belongs to."""
    found = [
        (number, entry)
        for number, entries in enumerate(layers())
        for entry in entries
        if module == entry or module.startswith(f"{entry}.")
    ]
    return max(found, key=lambda each: len(each[1]), default=None)


def test_there_is_no_cycle(graph: grimp.ImportGraph) -> None:
    arrows = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    # Raises CycleError, which names the modules.
    assert len(list(graphlib.TopologicalSorter(arrows).static_order())) == len(graph.modules) > 80


def test_every_module_has_a_layer_and_every_entry_exists(graph: grimp.ImportGraph) -> None:
    assert not [module for module in graph.modules if module not in ("ctxsift", "benchmark") and place(module) is None]
    assert not [entry for entries in layers() for entry in entries if entry not in graph.modules]


def test_every_arrow_runs_down_the_layers(graph: grimp.ImportGraph) -> None:
    wrong = []
    for module in graph.modules:
        for imported in graph.find_modules_directly_imported_by(module):
            here, there = place(module), place(imported)
            # Modules of one entry may import each other (there is no cycle); entries of one layer may not.
            if here and there and here[1] != there[1] and there[0] <= here[0]:
                wrong.append(f"{module} -> {imported}")
    assert not wrong


@pytest.mark.parametrize(
    ("who", "whom"),
    [
        ("benchmark.viewer", "benchmark.run"),
        ("benchmark.report", "benchmark.run"),
        ("benchmark.compare", "benchmark.run"),
        ("benchmark.viewer", "ctxsift.backends.worker"),
        ("benchmark.report", "ctxsift.backends.worker"),
        ("benchmark.scoring", "benchmark.corpus"),
        ("ctxsift", "benchmark"),
    ],
)
def test_never_reaches(graph: grimp.ImportGraph, who: str, whom: str) -> None:
    chain = [
        found
        for start in {who} | graph.find_descendants(who)
        for end in {whom} | graph.find_descendants(whom)
        if (found := graph.find_shortest_chain(start, end))
    ]
    assert not chain


def test_engines_are_reached_only_through_backends() -> None:
    engines = {"llama_cpp", "torch", "transformers", "litellm"}
    graph = grimp.build_graph("ctxsift", "benchmark", cache_dir=None, include_external_packages=True)
    importers = {each for engine in engines & graph.modules for each in graph.find_modules_that_directly_import(engine)}
    assert importers
    assert all(module.startswith("ctxsift.backends.") for module in importers)


def test_a_model_is_opened_in_one_place() -> None:
    front = ROOT / "ctxsift" / "__init__.py"
    allowed = (ROOT / "ctxsift" / "models", ROOT / "ctxsift" / "backends")
    makes = re.compile(r"\b(?:create_backend|start_worker|WorkerBackend|ThreadedBackend)\b")
    places = [path for package in ("ctxsift", "benchmark") for path in (ROOT / package).rglob("*.py")]
    others = [path for path in places if path != front and not any(path.is_relative_to(each) for each in allowed)]
    assert len(others) > 200
    assert not [str(path) for path in others if makes.search(path.read_text(encoding="utf-8"))]


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
    extras += ["pyarrow", "scipy", "sklearn"]
    commands = ["runner", "report", "compare", "rescore", "corpus.__main__", "viewer.__main__", "viewer.page"]
    commands += ["utilization.__main__", "probes.__main__", "race.__main__"]
    modules = ", ".join(["ctxsift.cli.main", "benchmark.run.asking", *(f"benchmark.{name}" for name in commands)])
    code = f"import sys; sys.modules.update(dict.fromkeys({extras})); import {modules}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    core = (ROOT / "pyproject.toml").read_text(encoding="utf-8").partition("[project.optional-dependencies]")[0]
    # What `ctxsift` and `benchmark` import as they start is a dependency of its own, not of an extra.
    assert '"tenacity"' in core


def test_every_file_the_page_names_exists() -> None:
    text = PAGE.read_text(encoding="utf-8") + pages()
    named = set(re.findall(r"`((?:ctxsift|benchmark|docs|tests|tools)/[\w./-]+|[\w-]+\.(?:md|json|toml))`", text))
    assert len(named) > 60
    # NAME stands for what somebody adds.
    assert not [name for name in named if "NAME" not in name and not (ROOT / name).exists()]


def test_the_map_holds_every_module(graph: grimp.ImportGraph) -> None:
    text = pages()
    modules = [module for module in graph.modules if "." in module and not graph.find_children(module)]
    missing = [m for m in modules if not m.endswith("__main__") and f"`{m.replace('.', '/')}.py`" not in text]
    # One more of a kind that the page explains (a backend, a component, a command) need not be named.
    kinds = ("ctxsift.backends", "benchmark.scoring", "benchmark")
    assert not [module for module in missing if module.rpartition(".")[0] not in kinds]
    assert len(missing) <= len(modules) // 10


def sources() -> list[Path]:
    """Return the modules of both packages, from the root of the repository."""
    found = (path for package in ("ctxsift", "benchmark") for path in (ROOT / package).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in found)


def test_a_class_name_stands_for_one_thing() -> None:
    places = defaultdict(list)
    for path in sources():
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        for name in [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]:
            places[name].append(str(path))
    assert len(places) > 800
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_a_module_name_stands_for_one_thing() -> None:
    modules = [path for path in sources() if not path.stem.startswith("__")]
    assert not [str(path) for path in modules if (ROOT / path.with_suffix("") / "__init__.py").exists()]
    places = defaultdict(list)
    for path in modules:
        package, *folders, _ = path.parts
        places[package, folders[0] if folders else "", path.stem].append(path)
    assert {key for key, found in places.items() if len(found) > 1} == SHARED_MODULE_NAMES
