"""Seven working sessions in a real repository: the index says what git says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxsift.sessions.artifacts.records import FileState
from tests.ctxsift.sessions.worked import Worked, letters

_HOOK = """cat > .git/hooks/pre-commit <<'EOF'
#!/bin/sh
echo "> tool@1.0.0 test"
python3 -m unittest discover -s tests 2>&1
EOF
chmod +x .git/hooks/pre-commit"""


def feature(work: Worked) -> None:
    """Write, edit, fail, mend, commit; the tool does not say what was there."""
    work.run("ls -R . | head -40")
    work.run("find . -type f")
    work.read("src/util.py")
    work.write("src/triple.py", "def triple(x):\n    return x * 3\n")
    work.edit("src/app.py", "import util\n", "import triple\nimport util\n")
    work.edit("src/app.py", "no such text", "x")
    work.run("cd src && sed -i 's/x \\* 2/x + x + 1/' util.py")
    work.run("python3 -m unittest discover -s tests 2>&1 | tail -5")
    work.run("python3 -m unittest discover -s tests")
    work.run("sed -i 's/x + x + 1/x + x/' src/util.py && python3 -m unittest discover -s tests")
    work.run("git add -A && git commit -m 'Triple'")
    work.write("README.md", "# Tool\n\nTwice and three times.\n")
    work.write("notes.txt", "scratch\n")
    work.run("rm notes.txt  # scratch -> nothing")
    work.edit("docs/one.md", "one", "1")
    work.edit("docs/one.md", "1", "one")
    work.run("git add README.md && git commit -m 'Say so' | tail -2; rm docs/two.md")
    work.run("git status --short")


def folders(work: Worked) -> None:
    """Move and remove folders, stash, put back; the tool says what was there."""
    work.run("git ls-files", name="Bash")
    work.save("src/new/c.txt", "gamma\n")
    work.save("README.md", "# Other\n")
    work.run("git mv src/old src/older && mkdir -p src/deep/er && cp -r docs src/deep/er/", name="Bash")
    work.run("mv docs/one.md docs/uno.md; mv src/new fresh", name="Bash")
    work.run("git stash -u && git stash pop", name="Bash")
    work.run("rm -rf tests && git checkout -- tests", name="Bash")
    work.run("echo extra >> setup.cfg; git checkout setup.cfg", name="Bash")
    work.run("rm -rf src/deep/er/docs/two.md; rmdir nothing 2>/dev/null || true", name="Bash")
    work.run("[ -f docs/two.md ] && rm docs/two.md; [ -f docs/missing.md ] && rm -rf src", name="Bash")
    work.run("cp README.md README.bak && sed -i 's/Other/Third/' README.md && mv README.bak README.md", name="Bash")
    work.run("git restore --source=HEAD --staged --worktree README.md", name="Bash")
    work.run("git rm --dry-run README.md; git mv -n setup.cfg set.cfg; git clean -nf", name="Bash")
    work.run("pushd src && echo 1 > pushed.txt && popd && echo 2 > popped.txt", name="Bash")
    work.run("cd src && cd - && echo 3 > dashed.txt; git mv none.md some.md 2>&1 || true", name="Bash")


def heredocs(work: Worked) -> None:
    """Heredocs through a shell that is given as a list of words."""
    work.run("find . -type f -not -path './.git/*'; git ls-files", name="shell")
    work.run("git ls-files", name="shell")
    work.run("mkdir lib && cat > lib/one.py <<'EOF'\nprint('a -> b')\nEOF\ncat lib/one.py", name="shell")
    work.run("printf '%s\\n' beta2 > src/old/b.txt && git diff --stat", name="shell")
    work.run("tee lib/two.py lib/three.py <<< 'x = 1' > /dev/null && rm lib/three.py", name="shell")
    work.run("git checkout -- docs/one.md 2>&1; git add -A; git commit -qm 'Patches'", name="shell")
    work.run("git mv lib/one.py lib/first.py && git commit -m 'First' && git rm -q docs/two.md", name="shell")


def scripts(work: Worked) -> None:
    """Scripts, loops, patterns and pipes that edit files."""
    work.run("git ls-files | sort")
    work.run("git ls-files")
    work.run(
        "python3 - <<'EOF'\nfrom pathlib import Path\nfor name in ['docs/one.md', 'docs/two.md']:\n"
        "    path = Path(name)\n    path.write_text(path.read_text().replace('o', '0'))\n"
        "open('out.txt', 'w').write('made')\nEOF"
    )
    work.run(
        "python3 - <<'EOF'\nopen('early.txt', 'w').write('x')\nopen('missing/file.txt').read()\n"
        "open('setup.cfg', 'w').write('gone')\nEOF"
    )
    work.run("for f in src/*.py; do\n  sed -i 's/^import /import  /' \"$f\"\ndone")
    work.run("find src/old -name '*.txt' | xargs sed -i 's/a/A/g'")
    work.run("rm early.txt; for n in 1 2; do echo $n > gen_$n.txt; done; rm gen_{1,2}.txt")
    work.run("grep -rl double src tests")
    work.run("grep -rl double src tests | xargs sed -i 's/double/twice/g'")
    work.run("perl -pi -e 's/Tool/Gadget/' README.md && git checkout -- src/old")
    work.run(
        "cat > fix.py <<'EOF'\nimport sys\nfrom pathlib import Path\np = Path(sys.argv[1])\n"
        "p.write_text(p.read_text() + '# end\\n')\nEOF\npython3 fix.py setup.cfg && rm fix.py"
    )
    work.run("test -e nothing || touch empty.txt; false || echo more >> out.txt")


def branches(work: Worked) -> None:
    """Commits, branches, resets, reverts, merges."""
    work.run("git checkout -b feature")
    work.run("git ls-files")
    work.write("one.txt", "1\n")
    work.run("git add one.txt && git commit -m One && echo two > two.txt && git add . && git commit -m Two")
    work.run("git reset --hard HEAD~1")
    work.run("echo 3 > three.txt; sed -i s/alpha/ALPHA/ src/old/a.txt; git commit -qam 'Alpha' && git log | head -3")
    work.run("git checkout main && cat README.md && echo main >> docs/one.md && git commit -am 'On main'")
    work.run("git merge feature -m merged")
    work.run("touch left.txt && git clean -fd")
    work.run("git stash list; echo dirty >> src/app.py; touch new.txt; git stash; git stash drop; rm -f new.txt")
    work.run("git switch -c side && git rm -q src/util.py && git commit -m 'No util' && git switch main")
    work.run("echo kept > kept.txt && git add kept.txt && git commit -q --amend --no-edit && git status")


def told(work: Worked) -> None:
    """Changes that only git tells of, stashes and branches that are named."""
    work.run("git status --short")
    work.run("git branch side && git ls-files")
    patch = "--- a/{0}\n+++ b/{0}\n@@ -1 +1,2 @@\n {1}\n+and a half\n"
    work.run(f"git apply <<'EOF'\n{patch.format('docs/one.md', 'one')}EOF\ngit diff --stat")
    work.run(f"git apply --index <<'EOF'\n{patch.format('docs/two.md', 'two')}EOF\ngit rm -q src/old/a.txt; git status")
    work.run("python3 -c 'exec(chr(111)+\"pen(chr(122),chr(119)).close()\")' && git add -A && git status --short")
    work.run("git commit -qm 'Told' && echo more >> README.md && echo new > new.txt")
    work.run("git stash -q -u && git checkout stash@{0} -- . && git diff --cached --name-only")
    work.run("git commit -qm 'Of the stash' && git stash drop -q")
    work.run("echo again >> setup.cfg && git add setup.cfg && git stash -k -q")
    work.run("git commit -qm 'Kept' && git checkout -q side && git merge -q main && git checkout main -- README.md")
    work.run("git checkout -q main && git checkout HEAD~1 -- setup.cfg")


def unlisted(work: Worked) -> None:
    """Rename files and folders that nothing listed, after changes of unknown files were undone."""
    work.run("mkdir -p pages/deep && ls docs")
    work.run('cd docs && for f in one.md two.md; do cp "$f" ../pages/deep/; done')
    work.run("cd pages/deep && sed -i 's/o/0/' *.md")
    work.run("echo scratch > scratch.txt; git checkout -- . && rm -rf pages")
    work.run("mkdir -p pages/deep lib && mv docs/one.md docs/two.md pages/deep/")
    work.run("mv src/old lib && rm scratch.txt")
    work.edit("lib/old/a.txt", "alpha", "alpha beta gamma")
    work.run("cat lib/old/b.txt && mv src/* lib/ && rmdir src")
    work.edit("lib/app.py", "print", "return")
    work.read("lib/util.py")


@pytest.mark.parametrize("session", [feature, folders, heredocs, scripts, branches, told, unlisted])
@pytest.mark.parametrize("states_codes", [True, False])
def test_the_index_says_what_git_says(session: object, states_codes: bool, tmp_path: Path) -> None:
    work = Worked(tmp_path / "tool", states_codes=states_codes)
    assert callable(session)
    session(work)
    artifacts = work.artifacts()
    assert letters(artifacts) == work.name_status()
    renamed = {entry.path: entry.counterpart for entry in artifacts.files if entry.state is FileState.RENAMED}
    assert work.renames().items() <= renamed.items()
