"""Methods of compaction that packages bring, with and without a model."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from ctxsift.cli import listing
from ctxsift.sessions.compaction.methods import METHODS, RECORDED
from ctxsift.sessions.reading import IMPORTERS
from tests.conftest import ROOT
from tests.support.processes import default_signals
from tests.support.remote import clean_environ

EXAMPLE = ROOT / "docs" / "examples" / "session.json"
PAGE = (ROOT / "docs" / "compaction.md").read_text(encoding="utf-8")
PLAIN = '''
class Plain:
    """Always the same word."""
    takes_budget = must_shrink = True
    def compact(self, cycle):
        from ctxsift.sessions.compaction.records import CompactionSummary
        return CompactionSummary("plain")

class Broken(Plain):
    def __init__(self):
        raise RuntimeError("no luck")

class BrokenToy(Toy):
    def __init__(self, asker):
        raise RuntimeError("no luck either")
'''


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder with an installed package of methods: both examples of the page, and others."""
    by_rules, toy = re.findall(r"<!-- held by \S*test_method_packages.py -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    folder = tmp_path / "packages"
    information = folder / "toy-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "toy.py").write_text(by_rules + toy + PLAIN)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    names = ("user-lines:UserLines", "toy:Toy", "plain:Plain", "broken:Broken", "broken-toy:BrokenToy")
    points = [f"{name} = toy:{kind}" for name, kind in (each.split(":") for each in names)]
    (information / "entry_points.txt").write_text("\n".join(("[ctxsift.compaction]", *points)) + "\n")
    return folder


def command(packages: Path, *options: str) -> tuple[list[str], dict[str, str]]:
    sizes = (str(EXAMPLE), "--keep-last", "60", "--budget", "400")
    environ = clean_environ(PYTHONPATH=f"{packages}:{ROOT}")
    return [sys.executable, "-m", "ctxsift", "compact", *sizes, *options], environ


def call(packages: Path, *options: str) -> subprocess.CompletedProcess[str]:
    arguments, environ = command(packages, *options)
    return subprocess.run(
        arguments, cwd=packages.parent, env=environ, capture_output=True, text=True, timeout=100, check=False
    )


def model(packages: Path, **script: object) -> list[str]:
    path = packages.parent / "script.json"
    path.write_text(json.dumps(script))
    return ["--backend", "scripted", "--model", str(path)]


def test_a_method_of_a_package_is_given_the_model(packages: Path) -> None:
    says = model(packages, default="The toy was here.", log="log")
    done = call(packages, "--method", "toy+index", *says, "--json", "--journal", "journal")
    assert done.returncode == 0, done.stderr
    (cycle,) = json.loads(done.stdout)["cycles"]
    assert cycle["fallback"] == ""
    summary = json.loads(done.stdout)["summary"]
    assert summary.startswith("The toy was here.\n\n## Files and commands")
    # Its answers are in the journal.
    again = call(packages, "--method", "toy+index", *says, "--json", "--journal", "journal")
    assert json.loads(again.stdout)["summary"] == summary
    assert len((packages.parent / "log").read_text().splitlines()) == 1


def test_where_its_model_fails_rules_make_the_summary(packages: Path) -> None:
    done = call(packages, "--method", "toy", *model(packages, crash_always=True))
    assert done.returncode == 3
    assert "the summary was made by rules: the model process died" in done.stderr
    assert "## Constraints" in done.stdout


def test_after_a_signal_rules_make_the_summary(packages: Path) -> None:
    arguments, environ = command(packages, "--method", "toy", *model(packages, hang_on="Say"))
    process = subprocess.Popen(
        arguments, cwd=packages.parent, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=default_signals,
    )  # fmt: skip
    assert process.stderr is not None
    while "asking" not in process.stderr.readline():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "interrupted; using the rule-based summary" in stderr
    assert "## Constraints" in stdout


@pytest.mark.parametrize(
    ("method", "with_model", "told"),
    [
        ("toy", False, "--method: the method toy needs a model; `ctxsift compact --model` names one"),
        (
            "plain",
            True,
            "--model: the method plain does not use a model; leave out --model, or use anchored, regenerative, opaque",
        ),
        ("mask", True, "--model: the method mask does not use a model"),
        ("recorded", True, "--model: the method recorded does not use a model"),
        ("toi", True, "--method: unknown method 'toi'; did you mean toy?"),
        ("broken", False, "the method 'broken' of toy:Broken cannot be loaded (RuntimeError: no luck)"),
        (
            "broken-toy",
            True,
            "the method 'broken-toy' of toy:BrokenToy cannot be loaded (RuntimeError: no luck either)",
        ),
    ],
)
def test_methods_that_cannot_be_used(packages: Path, method: str, with_model: bool, told: str) -> None:
    done = call(packages, "--method", method, *(model(packages) if with_model else []))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_method_of_a_package_without_a_model(packages: Path) -> None:
    done = call(packages, "--method", "plain", "--json")
    assert (done.returncode, json.loads(done.stdout)["summary"]) == (0, "plain")


def test_the_method_of_the_page_without_a_model(packages: Path) -> None:
    done = call(packages, "--method", "user-lines+index", "--json")
    assert done.returncode == 0, done.stderr
    lines, _, index = json.loads(done.stdout)["summary"].partition("\n\n")
    assert lines.splitlines()[0] == "Add discount codes to the checkout of the shop service."
    assert lines.splitlines()[-1] == "Make the limit 25 percent, and set the limit to 25 in codes.toml, too."
    assert index.startswith("## Files and commands")


def listed(packages: Path, *options: str) -> subprocess.CompletedProcess[str]:
    _, environ = command(packages)
    return subprocess.run(
        [sys.executable, "-m", "ctxsift", "list", *options],
        cwd=packages.parent, env=environ, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_a_list_says_what_there_is_and_whose_it_is(packages: Path) -> None:
    (packages / "toy-1.0.dist-info" / "entry_points.txt").write_text(
        "[ctxsift.compaction]\ntoy = toy:Toy\nmissing = toy:Missing\n[ctxsift.backends]\nbad = toy:\x1b[2JNone\n"
    )
    found = json.loads(listed(packages, "--json").stdout)
    methods = {each["name"]: each for each in found if each["kind"] == "methods"}
    assert set(methods) == {*METHODS, RECORDED, "toy", "missing"}
    assert methods["toy"]["from"] == "toy 1.0"
    assert methods["toy"]["what"] == "One sentence from a model about each removed piece (needs --model)"
    assert methods["missing"]["what"].startswith("cannot be loaded (AttributeError: module 'toy' has no attribute")
    assert methods["anchored"]["from"] == "built-in"
    assert methods["anchored"]["what"].endswith("(rules; or a model, with --model)")
    backends = {each["name"]: each for each in found if each["kind"] == "backends"}
    assert {"llama_cpp", "litellm", "transformers", "controls", "command", "bad"} <= set(backends)
    assert backends["bad"]["from"] == "toy 1.0"
    assert "cannot be imported" in backends["bad"]["what"]
    assert [each["name"] for each in found if each["kind"] == "importers"] == sorted(each.format for each in IMPORTERS)
    assert not [each for each in found if each["what"] == "says nothing of itself"]
    shown = listed(packages, "methods").stdout
    assert [line.split()[1] for line in shown.splitlines()] == sorted(methods)
    assert "\x1b" not in listed(packages).stdout


@pytest.mark.parametrize(
    ("options", "told"), [(["method"], "did you mean methods?"), (["--", "ls"], "--: list takes no command")]
)
def test_lists_that_there_are_not(packages: Path, options: list[str], told: str) -> None:
    done = listed(packages, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_backend_that_lacks_its_packages_is_described_all_the_same() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['jinja2', 'llama_cpp'])); "
        "from ctxsift.cli.main import main; sys.exit(main(['list', 'backends', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    says = {each["name"]: each["what"] for each in json.loads(done.stdout)}["llama_cpp"]
    assert says.startswith("Run a GGUF model in this process through llama.cpp; models on this machine need: pip")
    assert "jinja2" not in says


def test_built_in_is_what_this_distribution_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["name"] == listing._OWN
