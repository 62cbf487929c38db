"""What command lines and tools do with files, and what they hide: one small session for each trap."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from ctxsift.sessions.artifacts.index import ArtifactIndex
from ctxsift.sessions.artifacts.records import Artifacts, CheckState, FileState, IndexLimits, as_json
from ctxsift.sessions.records import JsonValue, Source, Step, ToolCall, ToolResult
from tests.conftest import ROOT

_FOLDER = "/home/me/tool"
_LISTING = "a.txt\nb.txt\nlib/one.py\nlib/two.py\nlib/deep/three.py\nn.ipynb\nnotes.md\n"
_STATE = {state.value: state for state in FileState}


def shell(command: str, output: str = "", code: int | None = 0) -> tuple[str, dict[str, JsonValue], str, int | None]:
    return "bash", {"command": command}, output, code


def tool(
    name: str, output: str = "ok", failed: int = 0, **arguments: JsonValue
) -> tuple[str, dict[str, JsonValue], str, int]:
    return name, arguments, output, failed


def index(*calls: tuple[str, dict[str, JsonValue], str, int | None], limits: IndexLimits | None = None) -> Artifacts:
    """Return the index of a session whose first step lists its files."""
    found = ArtifactIndex(_FOLDER, limits=limits)
    for number, (name, arguments, output, code) in enumerate((shell("git ls-files", _LISTING), *calls)):
        result = ToolResult("c", output, code, bool(code) if code is not None else None)
        call = ToolCall("c", name, arguments)
        found.add(Step(number, Source.AGENT, "", calls=(call,), results=(result,), folder=_FOLDER))
    return found.artifacts()


def states(artifacts: Artifacts) -> dict[str, str]:
    return {entry.path: entry.state.value for entry in artifacts.files}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        # Bases
        ("cd lib && rm one.py", {"lib/one.py": "deleted"}),
        ("(cd lib; rm one.py); rm a.txt", {"lib/one.py": "deleted", "a.txt": "deleted"}),
        ("cat ~/tool/a.txt", {"a.txt": "read"}),
        ("cat $HOME/tool/lib/../a.txt", {"a.txt": "read"}),
        ("cd /tmp && cd ~/tool && cat a.txt", {"a.txt": "read"}),
        ("cd .. && cat tool/a.txt", {"a.txt": "read"}),
        ("touch ~/.profile2", {"/home/me/.profile2": "written"}),
        ("cp -r lib/deep/. out", {"lib/deep/three.py": "read", "out/three.py": "created"}),
        # sed
        ("sed -i 's/a/b/' a.txt", {"a.txt": "modified"}),
        ("sed -i '' 's/a/b/' a.txt", {"a.txt": "modified"}),
        ("sed -i.bak -e 's/a/b/' -e 's/c/d/' a.txt b.txt", {"a.txt": "modified", "b.txt": "modified"}),
        ("sed -n '1,20p' a.txt", {"a.txt": "read"}),
        ("cat a.txt | sed 's/a/b/' > c.txt", {"a.txt": "read", "c.txt": "created"}),
        # Blanks that part no words
        ("touch c\u00a0d.txt; cat\u000ba.txt", {"c\u00a0d.txt": "created"}),
        # Comments and quotations are no redirects
        ("ls # old -> new.txt > c.txt", {}),
        ("echo 'a > c.txt'; git log --format='%h -> %s' > /dev/null 2>&1", {}),
        ("grep -n '=>' a.txt 2>/dev/null", {"a.txt": "inspected"}),
        # Heredocs
        ("cat > c.txt <<'EOF'\nrm a.txt > b.txt\nEOF\nrm b.txt", {"c.txt": "created", "b.txt": "deleted"}),
        ("cat <<-EOF >> a.txt\n\tx\n\tEOF", {"a.txt": "modified"}),
        (
            "python3 - <<'EOF'\nfrom pathlib import Path\nfor n in ('one', 'two'):\n    p = Path('lib') / f'{n}.py'\n"
            "    p.write_text(p.read_text().upper())\nEOF",
            {"lib/one.py": "modified", "lib/two.py": "modified"},
        ),
        (
            "python - a.txt <<EOF\nimport sys, os\ndef go(path):\n    with open(path, 'a') as f: f.write('x')\n"
            "go(sys.argv[1])\nos.remove('b.txt')\nEOF",
            {"a.txt": "modified", "b.txt": "deleted"},
        ),
        (
            "node -e \"const fs = require('fs'); const f = 'a.txt'; fs.writeFileSync(f, fs.readFileSync(f) + 'x')\"",
            {"a.txt": "modified"},
        ),
        (
            "node <<'EOF'\nconst fs = require('fs');\nfor (const f of ['lib/one.py', 'lib/two.py']) {\n"
            "  fs.appendFileSync(f, 'x');\n}\nEOF",
            {"lib/one.py": "modified", "lib/two.py": "modified"},
        ),
        # Loops, patterns, lists
        (
            'for f in lib/*.py; do sed -i s/a/b/ "$f"; done',
            {"lib/one.py": "modified", "lib/two.py": "modified"},
        ),
        ("rm {a,b}.txt", {"a.txt": "deleted", "b.txt": "deleted"}),
        ('f=a.txt; g=$f; rm "$g" && rm $UNSET', {"a.txt": "deleted"}),
        ("rm -f /tmp/*.log", {"/tmp/*.log": "removed if present"}),
        # Folders
        ("rm -rf lib", {"lib/one.py": "deleted", "lib/two.py": "deleted", "lib/deep/three.py": "deleted"}),
        (
            "mv lib src",
            {
                "src/one.py": "renamed",
                "src/two.py": "renamed",
                "src/deep/three.py": "renamed",
                "lib/one.py": "renamed away",
                "lib/two.py": "renamed away",
                "lib/deep/three.py": "renamed away",
            },
        ),
        (
            "mkdir -p out && cp a.txt b.txt out",
            {"out/a.txt": "created", "out/b.txt": "created", "a.txt": "read", "b.txt": "read"},
        ),
        ("cp -r lib/deep copy", {"copy/three.py": "created", "lib/deep/three.py": "read"}),
        # What stood before
        ("echo x > a.txt", {"a.txt": "modified"}),
        ("echo x > c.txt", {"c.txt": "created"}),
        ("echo x > /tmp/c.txt", {"/tmp/c.txt": "written"}),
        ("echo x > c.txt && rm c.txt", {"c.txt": "created and removed"}),
        ("echo x | tee -a a.txt | tee c.txt", {"a.txt": "modified", "c.txt": "created"}),
        ("touch a.txt c.txt", {"c.txt": "created"}),
        ("mv a.txt c.txt; mv c.txt a.txt", {"a.txt": "reverted", "c.txt": "created and removed"}),
        ("cp a.txt /tmp/k; echo x > a.txt; mv /tmp/k a.txt", {"a.txt": "reverted", "/tmp/k": "written and removed"}),
        # git
        ("echo x > a.txt; echo y > c.txt; git checkout -- .", {"a.txt": "reverted", "c.txt": "created"}),
        # Of a file outside every listing, git does not tell whether it holds it
        ("cd /tmp/t && echo x > c.txt && git checkout -- .", {"/tmp/t/c.txt": "written"}),
        ("cd /tmp/t && echo x > c.txt && git reset --hard", {"/tmp/t/c.txt": "written"}),
        ("cd /tmp/t && echo x > c.txt && git stash", {"/tmp/t/c.txt": "written"}),
        ("cd /tmp/t && echo x > c.txt && git checkout -- c.txt", {"/tmp/t/c.txt": "reverted"}),
        ("cd /tmp/t && echo x > c.txt && git add . && git checkout -- .", {"/tmp/t/c.txt": "written"}),
        ("echo x > a.txt; git checkout a.txt", {"a.txt": "reverted"}),
        ("echo x > a.txt; git add a.txt; git checkout -- a.txt", {"a.txt": "modified"}),
        (
            "rm -rf lib; git restore lib/one.py",
            {"lib/one.py": "reverted", "lib/two.py": "deleted", "lib/deep/three.py": "deleted"},
        ),
        ("echo x > a.txt; git stash", {"a.txt": "reverted"}),
        ("echo x > a.txt; git stash; git stash pop", {"a.txt": "modified"}),
        ("echo x > a.txt; git stash && git checkout stash@{0} -- .", {"a.txt": "modified"}),
        ("echo x > a.txt; git add a.txt; git stash -k", {"a.txt": "modified"}),
        ("git checkout -b f; echo x > a.txt && git commit -qam x && git checkout main", {"a.txt": "reverted"}),
        ("echo x > a.txt; git stash && git stash branch side", {"a.txt": "modified"}),
        (
            "echo x > a.txt; git diff > /tmp/p; git checkout -- .; git apply /tmp/p",
            {"a.txt": "modified", "/tmp/p": "written"},
        ),
        # What another branch or revision holds is not known.
        ("git checkout dev; echo x > a.txt && git commit -qam x && git checkout other", {"a.txt": "modified"}),
        ("echo x > a.txt; git checkout v1 -- .", {"a.txt": "modified"}),
        ("echo x > a.txt && git commit -qam x && git reset --hard v1", {"a.txt": "modified"}),
        ("git mv a.txt c.txt", {"c.txt": "renamed", "a.txt": "renamed away"}),
        ("git rm a.txt; git reset --hard", {"a.txt": "reverted"}),
        ("git checkout -b side && git checkout -", {}),
        ("git -C lib rm one.py", {"lib/one.py": "deleted"}),
        ("grep -rn x lib", {}),
        ("git diff HEAD~1 -- a.txt; git show HEAD:b.txt", {"a.txt": "inspected", "b.txt": "inspected"}),
        # What runs only where something holds
        ("[ -f a.txt ] && rm a.txt; [ ! -f b.txt ] && rm lib/one.py", {"a.txt": "deleted"}),
        ("if [ -d nowhere ]; then rm a.txt; else rm b.txt; fi", {"b.txt": "deleted"}),
        ('for f in *.txt; do [ "$f" != "a.txt" ] && rm "$f"; done', {"b.txt": "deleted"}),
        ('for f in *.txt; do if [[ $f == a.txt ]]; then rm "$f"; fi; done', {"a.txt": "deleted"}),
        ("npm test || rm a.txt", {}),
        ("true || rm a.txt; false && rm b.txt", {}),
        ("rm a.txt 2>/dev/null || true", {"a.txt": "deleted"}),
        # Others
        ("xargs rm <<< 'a.txt'", {}),
        ("echo a.txt b.txt | xargs -n1 rm", {"a.txt": "deleted", "b.txt": "deleted"}),
        ("bash -lc 'cd lib && rm one.py'", {"lib/one.py": "deleted"}),
        ("sudo rm a.txt", {"a.txt": "deleted"}),
        ("curl -s https://example.org/x.json -o x.json", {"x.json": "created"}),
        (
            "curl -F 'file=@a.txt;type=text/plain' -F note=@- -d @b.txt http://127.0.0.1/x",
            {"a.txt": "read", "b.txt": "read"},
        ),
        ("diff <(sort a.txt) <(sort b.txt)", {"a.txt": "inspected", "b.txt": "inspected"}),
        ("echo $(cat a.txt) > c.txt", {"a.txt": "read", "c.txt": "created"}),
        ("perl -pi -e 's/a/b/' a.txt", {"a.txt": "modified"}),
        ("chmod +x a.txt", {"a.txt": "modified"}),
        ("echo 'unclosed; rm a.txt", {}),
    ],
)
def test_what_a_command_line_does(command: str, expected: dict[str, str]) -> None:
    assert states(index(shell(command))) == expected


@pytest.mark.parametrize(
    ("command", "output", "code", "expected"),
    [
        ("rm a.txt zzz", "rm: cannot remove 'zzz': No such file or directory", 1, {"a.txt": "deleted"}),
        ("cat a.txt zzz", "x\ncat: zzz: No such file or directory", 1, {"a.txt": "read"}),
        ("grep -q x a.txt && echo y >> b.txt", "", 1, {"a.txt": "inspected"}),
        ("sed -i s/a/b/ a.txt && npm test && rm b.txt", "1 failing", 1, {"a.txt": "modified"}),
        ("cd nowhere && rm a.txt", "bash: line 1: cd: nowhere: No such file or directory", 1, {}),
        ("git checkout -- zzz", "error: pathspec 'zzz' did not match any file(s) known to git", 1, {}),
        (
            "python3 -c \"open('a.txt', 'w'); 1/0\"",
            'Traceback (most recent call last):\n  File "<string>", line 1, in '
            "<module>\nZeroDivisionError: division by zero",
            1,
            {},
        ),
        ("grep -rn x lib", "lib/one.py:3:x", 0, {"lib/one.py": "inspected"}),
        ("grep -rl x lib", "lib/one.py", 0, {}),
        (
            "echo x > a.txt; git stash; git stash pop",
            "CONFLICT (content): Merge conflict in a.txt",
            1,
            {"a.txt": "modified"},
        ),
        ("patch -p1 < x.diff", "patching file a.txt", 0, {"x.diff": "read", "a.txt": "modified"}),
        ("git clean -fd", "Removing notes.md", 0, {"notes.md": "deleted"}),
    ],
)
def test_what_failed_did_nothing(command: str, output: str, code: int, expected: dict[str, str]) -> None:
    assert states(index(shell(command, output, code))) == expected


@pytest.mark.parametrize(
    ("command", "output", "code", "state"),
    [
        ("npm test", "1 failing", 1, CheckState.FAILED),
        ("npm test", "", 0, CheckState.PASSED),
        ("npm test | tail -3", "done", 0, CheckState.NOT_SHOWN),
        ("npm test 2>&1 | tail -3", "Tests: 2 failed, 3 total", 0, CheckState.FAILED),
        ("pytest -q 2>&1 | tail -1", "12 passed in 0.31s", 0, CheckState.PASSED),
        ("set -o pipefail; pytest -q | tail -1", "", 0, CheckState.PASSED),
        ("npx tsc --noEmit | grep 'error TS' | wc -l", "      11", 0, CheckState.FAILED),
        ("npx tsc --noEmit | grep 'error TS' | wc -l", "       0", 0, CheckState.PASSED),
        ("npx tsc --noEmit | grep -c 'src/'", "11", 0, CheckState.NOT_SHOWN),
        ("npx tsc --noEmit | grep main.ts", "", 1, CheckState.NOT_SHOWN),
        ("npx tsc --noEmit | grep main.ts", "main.ts(3,1): error TS2304: Cannot find name 'x'.", 0, CheckState.FAILED),
        ("npm run check | tail -2", "npm error command sh -c biome check\n\n", 0, CheckState.FAILED),
        ("npm test; echo done", "done", 0, CheckState.NOT_SHOWN),
        ('npm test; echo "exit: $?"', "x\nexit: 1", 0, CheckState.FAILED),
        ("npm test || true", "", 0, CheckState.NOT_SHOWN),
        ("npm test > log.txt 2>&1", "", 1, CheckState.FAILED),
        ("npm test > log.txt 2>&1; tail -3 log.txt", "1 failing", 0, CheckState.FAILED),
        ("npm test &", "", 0, CheckState.NOT_SHOWN),
        ("npm test", "...\nCommand aborted", 1, CheckState.ABORTED),
        ("timeout 5 npm test", "", 124, CheckState.ABORTED),
        ("cd lib && npm test", "", 0, CheckState.PASSED),
        ("git commit -m x && npm test", "[main 1234567] x\n1 failing", 1, CheckState.FAILED),
        ("git add -A && npm test", "1 failing", 1, CheckState.FAILED),
        ("npm run lint && npm test", "> t@1 lint\n\n> t@1 test\n", 1, CheckState.FAILED),
        ("mypy .", "Success: no issues found in 3 files", None, CheckState.PASSED),
        ("mypy .", "a.py:1: error: x\nFound 1 error in 1 file", None, CheckState.FAILED),
        ("ruff check .", "", None, CheckState.NOT_SHOWN),
    ],
)
def test_how_a_check_ended(command: str, output: str, code: int | None, state: CheckState) -> None:
    assert index(shell(command, output, code)).checks[-1].state is state


@pytest.mark.parametrize(
    ("command", "output", "code", "lines"),
    [
        ("grep zzz a.txt", "", 1, []),
        ("cat a.txt | grep zzz", "", 1, []),
        ("diff a.txt b.txt", "1c1", 1, []),
        ("which nothing", "", 1, []),
        ("grep x zzz", "grep: zzz: No such file or directory", 2, ["grep: zzz: No such file or directory"]),
        ("sleep 100", "Command aborted", 1, []),
        ("./x", "Exit code 143\nCommand timed out after 2m 0s\n1 of 9\n2 of 9\n3 of 9", 143, []),
        ("./x", "Script failed\nWall time 0.1 seconds\nOutput:\nScript error:\nno such mode", 1, ["no such mode"]),
        (
            "python x.py",
            "Traceback (most recent call last):\n  File \"x.py\", line 1\nKeyError: 'a'\n",
            1,
            ["KeyError: 'a'"],
        ),
        (
            "npm test | tail",
            "npm error code 1\nsrc/a.ts(1,2): error TS2339: no x",
            0,
            ["src/a.ts(1,2): error TS2339: no x"],
        ),
        ("zzz", "bash: zzz: command not found", None, ["bash: zzz: command not found"]),
        ("cat a.txt; true", "cat: a.txt: Permission denied", 0, []),
        ("make", "cc x.c\nx.c:3:1: error: bad\nmake: *** [x] Error 1", 2, ["x.c:3:1: error: bad"]),
        # What a call beside it stopped did not run
        ("npx vitest run", "<tool_use_error>Sibling tool call errored</tool_use_error>", 1, []),
        ("ls", "<tool_use_error>Cancelled: parallel tool call Bash(git add) errored</tool_use_error>", 1, []),
        (
            "mix test",
            '  [path: "/api", query: %Unfetched{aspect: :missing}]\n14 doctests, 297 tests, 11 failures',
            2,
            ["14 doctests, 297 tests, 11 failures"],
        ),
    ],
)
def test_which_commands_failed(command: str, output: str, code: int | None, lines: list[str]) -> None:
    assert [each.key_line for each in index(shell(command, output, code)).failed] == lines


def test_an_editor_is_believed_before_what_it_quotes() -> None:
    quoted = "String: case start() do\n    {:error, reason} -> error: failed(reason)"
    refused = f"<tool_use_error>String to replace not found in file.\n{quoted}</tool_use_error>"
    failed = index(tool("Edit", refused, 1, file_path="a.txt", old_string="x", new_string="y")).failed
    assert [each.key_line for each in failed] == ["String to replace not found in file."]


def test_a_check_is_known_by_its_command_and_folder() -> None:
    found = index(
        shell("npm test", "", 1), shell("cd lib && npm test", "", 0), shell(f"cd {_FOLDER} && npm test", "", 0)
    )
    assert [(check.folder, [run.state for run in check.runs]) for check in found.checks] == [
        ("lib", [CheckState.PASSED]),
        (".", [CheckState.FAILED, CheckState.PASSED]),
    ]


def test_hooks_run_checks_inside_a_commit() -> None:
    made = "> tool@1.0.0 check\n> tsc --noEmit\n\n[main 1234567] Mend\n 1 file changed\n create mode 100644 c.txt\n"
    refused = "> tool@1.0.0 check\n> tsc --noEmit\n\na.ts(1,1): error TS1005: ';' expected.\n"
    hooks = "ruff.....................Passed\nmypy (strict)...........Failed\n"
    found = index(
        tool("write", path="/elsewhere/c.txt", content=""),
        shell("git commit -am 'Try'", refused, 1),
        shell("git commit -am 'Mend'", made),
        shell("git commit -m 'More'", hooks, 1),
    )
    assert [(commit.step_id, commit.revision, commit.branch, commit.subject) for commit in found.commits] == [
        (3, "1234567", "main", "Mend")
    ]
    told = {check.command: [run.state for run in check.runs] for check in found.checks}
    assert told["npm run check"] == [CheckState.FAILED, CheckState.PASSED]
    assert told["pre-commit: ruff"] == [CheckState.PASSED]
    assert told["pre-commit: mypy (strict)"] == [CheckState.FAILED]
    assert [failure.step_id for failure in found.failed] == [2, 4]


def test_a_commit_tells_which_files_were_new() -> None:
    found = ArtifactIndex(_FOLDER)
    made = "[main 1234567] New\n 1 file changed\n create mode 100644 lib/c.py\n"
    calls = [
        tool("write", path="lib/c.py", content="x"),
        tool("write", path="lib/d.py", content="x"),
        shell("git commit -m New", made),
    ]
    for number, (name, arguments, output, code) in enumerate(calls):
        result = ToolResult("c", output, code, False)
        found.add(
            Step(number, Source.AGENT, "", calls=(ToolCall("c", name, arguments),), results=(result,), folder=_FOLDER)
        )
    assert states(found.artifacts()) == {"lib/c.py": "created", "lib/d.py": "written"}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([tool("read", path="a.txt")], {"a.txt": "read"}),
        ([tool("Read", "File does not exist.", 1, file_path="/home/me/tool/z.txt")], {}),
        ([tool("write", path="a.txt", content="x")], {"a.txt": "modified"}),
        ([tool("write", path="/tmp/x", content="x")], {"/tmp/x": "written"}),
        (
            [tool("Write", "File created successfully at: /tmp/x", file_path="/tmp/x", content="")],
            {"/tmp/x": "created"},
        ),
        ([tool("Write", "The file /tmp/x has been updated.", file_path="/tmp/x", content="")], {"/tmp/x": "modified"}),
        (
            [
                tool("edit", path="a.txt", oldText="x", newText="y"),
                tool("edit", path="a.txt", oldText="y", newText="x"),
            ],
            {"a.txt": "reverted"},
        ),
        ([tool("edit", "Could not find the exact text", 1, path="a.txt", oldText="x", newText="y")], {}),
        ([tool("MultiEdit", file_path="a.txt", edits=[{"old_string": "x", "new_string": "y"}])], {"a.txt": "modified"}),
        ([tool("NotebookEdit", notebook_path="n.ipynb", new_source="x")], {"n.ipynb": "modified"}),
        ([tool("Grep", "a.txt:1:x", pattern="x", path="a.txt")], {"a.txt": "inspected"}),
        ([tool("shell", command=["bash", "-lc", "cd lib && rm one.py"])], {"lib/one.py": "deleted"}),
        ([tool("shell", command=["rm", "a.txt"], workdir="/home/me/tool")], {"a.txt": "deleted"}),
        (
            [tool("shell", '{"output": "rm: x", "metadata": {"exit_code": 0}}', command=["rm", "a.txt"])],
            {"a.txt": "deleted"},
        ),
        (
            [
                tool(
                    "apply_patch",
                    input="*** Begin Patch\n*** Add File: c.txt\n+x\n*** Update File: a.txt\n*** Move to: d.txt\n@@\n"
                    "-x\n+y\n*** Delete File: b.txt\n*** End Patch",
                )
            ],
            {"c.txt": "created", "a.txt": "renamed away", "d.txt": "renamed", "b.txt": "deleted"},
        ),
        (
            [tool("shell", command=["apply_patch", "*** Begin Patch\n*** Add File: c.txt\n+x\n*** End Patch"])],
            {"c.txt": "created"},
        ),
        (
            [shell("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: b.txt\n*** End Patch\nEOF")],
            {"b.txt": "deleted"},
        ),
        (
            [
                tool("str_replace_editor", command="create", path="c.txt", file_text="x"),
                tool("str_replace_editor", command="str_replace", path="a.txt", old_str="x", new_str="y"),
            ],
            {"c.txt": "created", "a.txt": "modified"},
        ),
        (
            [
                tool(
                    "str_replace_editor",
                    "ERROR: No replacement was performed",
                    1,
                    command="str_replace",
                    path="a.txt",
                    old_str="x",
                    new_str="y",
                )
            ],
            {},
        ),
        (
            [tool("execute_bash", command="cd lib"), tool("execute_bash", command="rm one.py")],
            {"lib/one.py": "deleted"},
        ),
        ([tool("bash", command="cd lib"), tool("bash", command="rm a.txt")], {"a.txt": "deleted"}),
        ([tool("mcp__files__write_file", path="a.txt", content="x")], {"a.txt": "modified"}),
        ([tool("save_thing", path="a.txt", contents="x")], {"a.txt": "modified"}),
        ([tool("change_thing", path="a.txt", old="x", new="y")], {"a.txt": "modified"}),
        ([tool("WebFetch", url="https://example.org/a.txt")], {}),
    ],
)
def test_tools_of_agents(calls: list[tuple[str, dict[str, JsonValue], str, int]], expected: dict[str, str]) -> None:
    assert states(index(*calls)) == expected


@pytest.mark.parametrize(
    "row",
    [
        "-rw-rw-r-- 1 me me 1059 Mar 24 23:34 cart.py",
        "-rw-r--r--@  1 me  staff  2024 Sep  4  2024 cart.py",
        "-rw-r--r-- 1 me me 1059 24 Mär 23:34 cart.py",
        "-rw-r--r-- 1 me me 1059 2026-03-24 23:34 cart.py",
        "-rw-r--r-- 1 me me 1059 2026-03-24 23:34:00.123456789 +0100 cart.py",
        "-rw-r--r-- 1 me me 1059 03-24 23:34 cart.py",
    ],
)
def test_a_size_of_four_digits_is_no_year(row: str) -> None:
    made = index(shell("ls -la src", f"total 8\n{row}\n"), shell("rm src/*"))
    assert states(made) == {"src/cart.py": "deleted"}


def test_the_windowed_editor_works_on_the_open_file() -> None:
    window = "[File: /home/me/tool/lib/one.py (3 lines total)]\n1:x"
    refused = f"Your proposed edit has introduced new syntax error(s).\nYour changes have NOT been applied.\n{window}"
    found = index(
        shell("open lib/one.py", window, None),
        shell("edit 1:1\ny = (\nend_of_edit", refused, None),
        shell("edit 1:1\ny = 1\nend_of_edit", window, None),
        shell("create c.py", "[File: c.py (1 lines total)]\n1:", None),
    )
    assert states(found) == {"lib/one.py": "modified", "c.py": "created"}
    assert [touch.step_id for touch in found.files[0].touches] == [1, 3]
    assert [(failure.step_id, failure.command) for failure in found.failed] == [(2, "edit lib/one.py")]


def test_a_call_without_a_result_is_not_counted() -> None:
    found = ArtifactIndex(_FOLDER)
    found.add(Step(1, Source.AGENT, "", calls=(ToolCall("c", "write", {"path": "a", "content": ""}),), folder=_FOLDER))
    assert found.artifacts() == Artifacts()


def test_it_stays_within_its_limits_and_says_so() -> None:
    calls: list[tuple[str, dict[str, JsonValue], str, int | None]] = []
    calls.extend(tool("read", path=f"r{number}.txt") for number in range(30))
    calls.extend(tool("edit", path="a.txt", oldText=f"{number}", newText="y" * 900) for number in range(30))
    calls.extend(shell(f"exit {number}", "x" * 900, 1) for number in range(30))
    found = index(*calls, limits=IndexLimits(files=10, touches=9, failed=5, detail=50))
    assert len(found.files) == 10
    assert found.files[0].path == "a.txt"
    assert (len(found.files[0].touches), found.files[0].touches_left_out) == (9, 21)
    assert found.left_out == {"files": 21, "failed commands": 25}
    assert max(len(touch.detail) for entry in found.files for touch in entry.touches) <= 50
    assert max(len(failure.key_line) for failure in found.failed) <= 50


def test_a_snapshot_stands_and_is_json_ready() -> None:
    found = ArtifactIndex(_FOLDER)
    call = ToolCall("c", "write", {"path": "a.txt", "content": "x"})
    found.add(Step(7, Source.AGENT, "", calls=(call,), results=(ToolResult("c", "", 0),), folder=_FOLDER))
    first = found.artifacts()
    told = as_json(first)
    call = ToolCall("c", "edit", {"path": "a.txt", "oldText": "x", "newText": "y"})
    found.add(Step(8, Source.AGENT, "", calls=(call,), results=(ToolResult("c", "", 0),), folder=_FOLDER))
    assert as_json(first) == told
    assert told["files"] == [
        {
            "path": "a.txt", "state": "written", "step_ids": [7],
            "touches": [{"step_id": 7, "action": "written", "detail": "1 line"}],
        }
    ]  # fmt: skip
    assert [touch.step_id for touch in found.artifacts().files[0].touches] == [7, 8]


@pytest.mark.parametrize(
    "command",
    [
        "$(" * 5000,
        '"$(' * 3000,
        "echo {" + "," * 4000,
        "rm " + "{a,b}" * 30,
        "if " * 500,
        "a=$a$a; " * 100,
        "f() { f; f; f; f; f; f; f; f; }; f",
        "for a in {1..200}; do for b in {1..200}; do for c in {1..200}; do touch $a; done; done; done",
        "python3 -c 'x = " + "[" * 5000 + "'",
        "<<A " * 1000 + "\n" * 1000,
        "\ud800 \x00 'unclosed",
    ],
    ids=lambda command: command[:12].encode("unicode_escape").decode(),
)
def test_no_command_line_costs_more_than_it_should(command: str) -> None:
    began = time.process_time()
    found = index(shell(command, "\n" * 100_000, None), tool("read", path="notes.md"))
    assert states(found)["notes.md"] == "read"
    assert time.process_time() - began < 5


def test_a_text_that_a_script_doubles_takes_no_memory() -> None:
    code = """\
import resource
from ctxsift.sessions.artifacts.scripts import OpKind, python_ops
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, 2_000_000_000))
doubled = "a = 'x'\\n" + "a = a + a\\n" * 40 + "open(a, 'w')\\nopen('notes.md', 'w')\\n"
assert [op.path for op in python_ops(doubled, [], lambda pattern: [], None)] == ["notes.md"]
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=True)


_HELD = "Makefile\nREADME.md\nsrc/app.py\nsrc/cart.py\ntests/test_cart.py"
_SIZES = "  12 Makefile\n   3 README.md\n 140 src/app.py\n  70 src/cart.py\n   9 tests/test_cart.py\n 234 total"


@pytest.mark.parametrize(
    ("command", "output", "expected"),
    [
        ("git log --oneline; git ls-files; ls -la", f"1a2b3c4 Begin\n{_HELD}\ntotal 8\ndrwxr-xr-x 2 me", "created"),
        ("git status -s; wc -l $(git ls-files)", _SIZES, "created"),
        ("git ls-files | xargs wc -l", _SIZES, "created"),
        ("git ls-files | head -100; date", f"{_HELD}\nTue Nov 24", "created"),
        # What was listed is there.
        ("date; git ls-files", "Tue Nov 24\nREADME.md\nsrc/a.py\nsrc/b.py\nsrc/new.py\ntests/x.py", "modified"),
        # These may not be all.
        ("date; git ls-files | head -5", f"Tue Nov 24\n{_HELD}", "written"),
        ("date; git ls-files | grep -v new", f"Tue Nov 24\n{_HELD}", "written"),
        ("date; git ls-files", f"Tue Nov 24\n{_HELD}\n[120 characters left out]", "written"),
        ("wc -l $(git ls-files '*.md')", "  3 README.md\n  4 docs.md\n  7 total", "written"),
    ],
)
def test_what_git_holds_is_told_beside_other_output(command: str, output: str, expected: str) -> None:
    found = ArtifactIndex(_FOLDER)
    calls = (shell(command, output), tool("Write", file_path="src/new.py", content="x"))
    for number, (name, arguments, printed, code) in enumerate(calls):
        result = ToolResult("c", printed, code, bool(code))
        calls_made = (ToolCall("c", name, arguments),)
        found.add(Step(number, Source.AGENT, "", calls=calls_made, results=(result,), folder=_FOLDER))
    assert states(found.artifacts())["src/new.py"] == expected


@pytest.mark.parametrize(
    ("first", "later", "expected"),
    [
        (
            "",
            " M a.txt\nD  b.txt\nA  new.txt\n?? made.log",
            {"a.txt": "modified", "b.txt": "deleted", "new.txt": "created"},
        ),
        ("", "Changes not staged for commit:\n\tmodified:   a.txt", {"a.txt": "modified"}),
        # Lines of other commands are no paths.
        ("", " A new run\n   M a.txt\nM x of y\n D  b.txt", {}),
        # What differed before the session did anything is the user's.
        (" M a.txt", " M a.txt\n M b.txt", {"b.txt": "modified"}),
    ],
)
def test_git_tells_what_programs_changed(first: str, later: str, expected: dict[str, str]) -> None:
    assert states(index(shell("git status", first), shell("make; git status", later))) == expected


def test_a_diff_of_other_revisions_tells_of_no_change() -> None:
    stat = " a.txt | 2 +-\n 1 file changed"
    assert states(index(shell("git status"), shell("cargo fmt && git diff --stat", stat))) == {"a.txt": "modified"}
    cut = " .../a.txt | 2 +-\n 1 file changed"
    assert states(index(shell("git status"), shell("cargo fmt && git diff --stat", cut))) == {}
    for command in ("git diff v1 --stat", "git diff v1..v2 --stat", "git diff --stat; git show --stat"):
        assert states(index(shell("git status"), shell(command, stat))) == {}


def test_what_a_patch_or_a_branch_brought_was_not_there_before() -> None:
    brought = shell("git checkout -q rle && git am 0001.patch", "Applying: Run lengths")
    edited = tool("Edit", file_path="src/rle.c", old_string="a", new_string="b")
    assert states(index(brought, edited)) == {"src/rle.c": "created"}
    assert states(index(brought, tool("Read", file_path="src/rle.c"))) == {"src/rle.c": "read"}
