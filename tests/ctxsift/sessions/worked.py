"""A working session in a real git repository: commands and tools really run, and what they did is recorded as steps."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ctxsift.sessions.artifacts.index import ArtifactIndex
from ctxsift.sessions.artifacts.records import Artifacts, FileState
from ctxsift.sessions.records import JsonValue, Source, Step, ToolCall, ToolResult

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C",
    "PYTHONDONTWRITEBYTECODE": "1",
}
START = {
    "README.md": "# Tool\n\nA tool.\n",
    "setup.cfg": "[tool]\nname = tool\n",
    "src/app.py": "import util\n\nprint(util.double(2))\n",
    "src/util.py": "def double(x):\n    return x * 2\n",
    "src/old/a.txt": "alpha\n",
    "src/old/b.txt": "beta\n",
    "tests/test_util.py": "import sys\nimport unittest\n\nsys.path.insert(0, 'src')\nimport util\n\n\n"
    "class T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(util.double(2), 4)\n",
    "docs/one.md": "one\n",
    "docs/two.md": "two\n",
}
_LETTERS = {
    FileState.CREATED: "A",
    FileState.RENAMED: "A",
    FileState.MODIFIED: "M",
    FileState.DELETED: "D",
    FileState.RENAMED_AWAY: "D",
}


class Worked:
    """A repository in `folder` with one commit, and the steps of what was done in it since."""

    def __init__(self, folder: Path, *, states_codes: bool = True) -> None:
        self.folder = folder
        self.steps: list[Step] = []
        self.states_codes = states_codes
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in START.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        self._shell("git init -q -b main && git add -A && git commit -q -m start && git tag start")

    def _shell(self, command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=os.environ | _ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )

    def step(self, name: str, arguments: dict[str, JsonValue], output: str, code: int | None, *, failed: bool) -> None:
        number = len(self.steps) + 1
        call = ToolCall(f"c{number}", name, arguments)
        result = ToolResult(f"c{number}", output, code if self.states_codes else None, failed)
        self.steps.append(Step(number, Source.AGENT, "", calls=(call,), results=(result,), folder=str(self.folder)))

    def run(self, command: str, *, name: str = "bash") -> str:
        """Run a command line as an agent's shell does; return its output."""
        done = self._shell(command)
        output = done.stdout or "(no output)"
        if done.returncode and not self.states_codes:
            output += f"\n\nCommand exited with code {done.returncode}"
        arguments: dict[str, JsonValue] = {"command": ["bash", "-lc", command] if name == "shell" else command}
        self.step(name, arguments, output, done.returncode, failed=done.returncode != 0)
        return done.stdout

    def write(self, path: str, text: str) -> None:
        """Write a file as Pi's tool does: it does not say whether it was there."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        output = f"Successfully wrote {len(text)} bytes to {path}"
        self.step("write", {"path": path, "content": text}, output, None, failed=False)

    def save(self, path: str, text: str) -> None:
        """Write a file as Claude Code does: it says whether it was there."""
        target = self.folder / path
        there = target.exists()
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        output = f"The file {target} has been updated." if there else f"File created successfully at: {target}"
        self.step("Write", {"file_path": str(target), "content": text}, output, None, failed=False)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that stands in a file once; where it does not, the call fails."""
        target = self.folder / path
        text = target.read_text(encoding="utf-8")
        found = text.count(old) == 1
        if found:
            target.write_text(text.replace(old, new), encoding="utf-8")
        output = f"Successfully replaced text in {path}." if found else f"Could not find the exact text in {path}."
        self.step("edit", {"path": path, "oldText": old, "newText": new}, output, None, failed=not found)

    def read(self, path: str) -> None:
        text = (self.folder / path).read_text(encoding="utf-8")
        self.step("read", {"path": path}, text, None, failed=False)

    def artifacts(self) -> Artifacts:
        index = ArtifactIndex(str(self.folder))
        for step in self.steps:
            index.add(step)
        return index.artifacts()

    def name_status(self) -> dict[str, str]:
        """Return what git sees between the start and the working tree: a rename is a deletion and a creation."""
        self._shell("git add -A")
        told = self._shell("git diff --cached --name-status --no-renames start").stdout
        return {path: letter for letter, path in (line.split("\t") for line in told.splitlines())}

    def renames(self) -> dict[str, str]:
        """Return the files that git sees as renamed and otherwise unchanged, by their new names."""
        self._shell("git add -A")
        told = self._shell("git diff --cached --name-status -M100% start").stdout
        rows = [line.split("\t") for line in told.splitlines()]
        return {row[2]: row[1] for row in rows if row[0].startswith("R")}


def letters(artifacts: Artifacts) -> dict[str, str]:
    """Return what the index says in the letters of git; `written` stays as it is: git knows no such thing."""
    files = [entry for entry in artifacts.files if not entry.path.startswith("/") and not entry.path.endswith("/")]
    states = {entry.path: entry.state for entry in files}
    return {
        path: _LETTERS.get(state, state.value)
        for path, state in states.items()
        if state in _LETTERS or state is FileState.WRITTEN
    }
