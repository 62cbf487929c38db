"""What git commands do with the files of a session."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ctxsift.sessions.artifacts.paths import below
from ctxsift.sessions.artifacts.records import Action
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import LEFT_OUT, MADE, UNKNOWN, CommandStatus
from ctxsift.sessions.artifacts.versions import Before

_ALREADY = re.compile(r"^ (create|delete) mode \d+ (.+)$", re.MULTILINE)
_RENAMED = re.compile(r"^ rename (.+) \(\d+%\)$", re.MULTILINE)
_TOLD = re.compile(r"Updated (\d+) paths? from")
_COUNT = re.compile(r"\s*\d+ (\S+)")
_NAME = re.compile(r"[\w@+.~][\w./@+~-]*")
# Fewer lines in order may be anything.
_FEWEST_NAMES = 4
# Only tell with `-n` what they would do.
_TELL_WITH_N = frozenset({"add", "rm", "mv", "clean"})
_WITH_VALUE = frozenset({
    "-m", "-F", "-C", "-c", "--message", "--file", "--author", "--date", "--source",
    "-s", "--fixup", "--squash", "-b", "-B", "--reuse-message",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class GitCall:
    """One git command: its words behind the subcommand, split."""

    run: ShellRun
    invocation: Invocation
    folder: str
    options: tuple[str, ...]
    words: tuple[str, ...]
    paths: tuple[str, ...]

    def has(self, *options: str) -> bool:
        """Return True if one of these options is set; one-letter options may stand together."""
        letters = "".join(word[1:] for word in self.options if re.fullmatch(r"-[a-zA-Z]+", word))
        return any(each in self.options or (len(each) == 2 and each[1] in letters) for each in options)

    def resolved(self, words: tuple[str, ...]) -> list[str]:
        """Return words as paths."""
        return [self.run.path(word) for word in words if UNKNOWN not in word]


def run_git(run: ShellRun, invocation: Invocation) -> list[tuple[str, str, str]]:
    """Take down what a git command does; return the commits it made: revision, branch, subject."""
    words = list(invocation.words[1:])
    folder = outer = run.folder
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("-C", "-c", "--git-dir", "--work-tree") and words:
            value = words.pop(0)
            folder = run.path(value) if option == "-C" else folder
    if not words:
        return []
    name, rest = words[0], words[1:]
    options, plain, paths = _split(name, rest)
    call = GitCall(run, invocation, folder, tuple(options), tuple(plain), tuple(paths))
    if name in _TELL_WITH_N and call.has("-n"):
        return []
    run.folder = folder
    made: list[tuple[str, str, str]] = []
    complaints = re.findall(r"^(?:fatal|error): (.*)", run.output, re.MULTILINE)
    # The exit code of a whole line, or one that a recorder made up, may hide what git refused to do with these files.
    refused = complaints and (
        invocation.status is not CommandStatus.PASSED
        or any(word in complaint for word in (*call.words, *call.paths) for complaint in complaints)
    )
    if name in ("commit", "revert", "merge", "cherry-pick"):
        made = _commit(call, name)
    elif name in _HANDLERS and not refused and invocation.status is not CommandStatus.FAILED:
        _HANDLERS[name](call)
    run.folder = outer
    return made


def _split(name: str, words: list[str]) -> tuple[list[str], list[str], list[str]]:
    options: list[str] = []
    plain: list[str] = []
    while words:
        word = words.pop(0)
        if word == "--":
            return options, plain, words
        if word.startswith("-") and word != "-":
            options.append(word)
            takes = word in _WITH_VALUE or (name == "commit" and re.fullmatch(r"-[a-zA-Z]*m", word))
            if takes and words:
                options.append("=" + words.pop(0))
        else:
            plain.append(word)
    return options, plain, []


# Commits


def _commit(call: GitCall, name: str) -> list[tuple[str, str, str]]:
    run, invocation, repository = call.run, call.invocation, call.run.repository
    hushed = call.has("-q", "--quiet")
    found = [] if hushed else MADE.findall(run.output)[run.commits :]
    quiet = hushed or not invocation.shows
    silent = invocation.status is CommandStatus.PASSED and (quiet or bool(invocation.after))
    if name == "merge":
        if invocation.status is not CommandStatus.FAILED and "CONFLICT" not in run.output and call.words:
            repository.merge(call.folder, call.words[-1], "")
        return []
    if not found and not silent and not re.search(r"^ \d+ files? changed", run.output):
        return []
    branch, revision, subject = found[0] if found else ("", "", "")
    run.commits += bool(found)
    given = [option[1:] for option in call.options if option.startswith("=")]
    subject = subject or next((line for line in (given or [""])[0].split("\n") if UNKNOWN not in line), "")
    _learn(call)
    if branch and branch != "detached":
        repository.name_branch(call.folder, branch)
    if name == "revert":
        if not repository.revert(call.folder, call.words[0] if call.words else "HEAD", revision):
            _as_told(call)
    else:
        paths = call.resolved(call.paths or call.words) if name == "commit" else []
        repository.commit(
            call.folder, revision, everything=call.has("-a", "--all"), paths=paths, amend="--amend" in call.options
        )
    return [(revision, branch, subject)] if found or silent else []


def _learn(call: GitCall) -> None:
    """Learn from a commit which files were new to the repository."""
    output = call.run.output
    for kind, path in _ALREADY.findall(output):
        _settle(call, path, Before.MISSING if kind == "create" else Before.THERE)
    for told in _RENAMED.findall(output):
        match = re.fullmatch(r"(.*?)\{(.*?) => (.*?)\}(.*)", told)
        target = re.sub("//", "/", match[1] + match[3] + match[4]) if match else told.rpartition(" => ")[2]
        _settle(call, target, Before.MISSING)


def _as_told(call: GitCall) -> None:
    """Take down what git says that it created and deleted, where the commit itself is not known."""
    root = call.run.repository.root(call.folder)
    for kind, path in _ALREADY.findall(call.run.output):
        if kind == "create":
            call.run.ledger.write(f"{root}/{path}", None, "git revert")
        else:
            call.run.ledger.delete(f"{root}/{path}", "git revert")
    call.run.repository.add(call.folder, None)
    call.run.repository.commit(call.folder, "")


def _settle(call: GitCall, path: str, before: Before) -> None:
    """Settle a file by the path that git prints: relative to its root, which may lie above the folder."""
    path = path.strip().strip('"')
    root = call.run.repository.root(call.folder)
    for file in call.run.repository.files(call.folder):
        if file.path == f"{root}/{path}" or file.path.endswith("/" + path) or file.path == path:
            # A file that was edited or read first stood there, whatever the repository knew of it.
            first = file.touches[0].action if file.touches else Action.READ
            if file.changed and first in (Action.WRITTEN, Action.COPIED_HERE, Action.APPENDED, Action.MOVED_HERE):
                file.settle(before)


# Index and working tree


def _add(call: GitCall) -> None:
    everything = call.has("-A", "--all", "-u", "--update") and not (call.words or call.paths)
    paths = None if everything else call.resolved(call.words + call.paths)
    # A folder is itself below nothing; `.` at the root is all of it.
    if paths is not None and call.run.repository.root(call.folder) in paths:
        paths = None
    call.run.repository.add(call.folder, paths, tracked_only=call.has("-u", "--update"))


def _checkout(call: GitCall) -> None:
    repository, output = call.run.repository, call.run.output
    for option in ("-b", "-B", "--orphan"):
        if option in call.options:
            name = next((each[1:] for each in call.options if each.startswith("=")), *call.words[:1] or [""])
            repository.branch(call.folder, name, switch=True)
            return
    told = _TOLD.search(output)
    number = int(told[1]) if told else None
    if call.paths:
        _put_back(call, call.words[0] if call.words else "", call.paths, number)
    elif call.words[:1] and (told or _is_path(call, call.words[0])):
        _put_back(call, "", call.words, number)
    elif len(call.words) > 1 and _is_path(call, call.words[1]):
        _put_back(call, call.words[0], call.words[1:], number)
    elif call.words or call.invocation.words[-1] == "-":
        repository.switch(call.folder, call.words[0] if call.words else "-")


def _is_path(call: GitCall, word: str) -> bool:
    path = call.run.path(word)
    known = path in call.run.ledger.files or path in call.run.ledger.seen or bool(call.run.ledger.children(path))
    switched = re.search(r"Switched to|Already on|HEAD is now at", call.run.output)
    return not switched and (known or word == "." or bool(re.search(r"\.\w+$", word)))


def _put_back(call: GitCall, revision: str, words: tuple[str, ...], told: int | None) -> None:
    ledger, detail = call.run.ledger, " ".join(call.invocation.words)[:200]
    paths = [path for word in words for path in call.resolved((word,))]
    if revision in ("", "HEAD", "@"):
        for path in paths:
            # What git put back stood in the repository: also a file that was never mentioned.
            if path in ledger.seen and path not in ledger.files:
                ledger.read(path, detail, part=True)
        root = call.run.repository.root(call.folder)
        whole = [path for path in paths if path != root]
        wanted = whole if len(whole) == len(paths) else [root]
        call.run.repository.restore(call.folder, wanted, head=bool(revision), told=told, detail=detail)
        return
    for path in paths:
        if not ledger.children(path):
            ledger.edit(path, detail)


def _restore(call: GitCall) -> None:
    source = next((word.partition("=")[2] for word in call.options if word.startswith("--source=")), "")
    source = source or next((word[1:] for word in call.options if word.startswith("=")), "")
    words = call.words + call.paths
    if call.has("--staged", "-S"):
        call.run.repository.unstage(call.folder, call.resolved(words))
        if not call.has("--worktree", "-W"):
            return
    _put_back(call, source, words, None)


def _reset(call: GitCall) -> None:
    keep = "hard" if "--hard" in call.options else "soft" if "--soft" in call.options else "mixed"
    words = call.words
    revision = words[0] if words and not call.paths and not _is_path(call, words[0]) else "HEAD"
    if call.paths or (words and revision == "HEAD" and words[0] not in ("HEAD", "@")):
        call.run.repository.unstage(call.folder, call.resolved(call.paths or words))
        return
    call.run.repository.reset(call.folder, revision, keep=keep)


def _stash(call: GitCall) -> None:
    repository = call.run.repository
    verb = call.words[0] if call.words else "push"
    number = re.search(r"(\d+)", call.words[1]) if len(call.words) > 1 else None
    if verb in ("push", "save") and "No local changes" not in call.run.output:
        words = call.paths or (call.words[1:] if verb == "push" else ())
        paths = call.resolved(words) or None
        told = "Saved working directory" in call.run.output
        untracked = call.has("-u", "--include-untracked", "-a", "--all")
        repository.stash(call.folder, untracked=untracked, told=told, paths=paths)
    elif verb in ("pop", "apply", "drop") and "CONFLICT" not in call.run.output:
        at = int(number[1]) if number else 0
        repository.unstash(call.folder, at, restore=verb != "drop", drop=verb != "apply")


def _move(call: GitCall) -> None:
    ledger = call.run.ledger
    *sources, target = call.resolved(call.words + call.paths) or [""]
    inside = len(sources) > 1 or bool(ledger.children(target)) or target in ledger.made_folders
    for source in sources:
        end = f"{target}/{source.rpartition('/')[2]}" if inside else target
        if ledger.exists(end) is None and not ledger.children(source):
            ledger.missing(end)
        ledger.move(source, end)
        call.run.repository.add(call.folder, [source, end])


def _remove(call: GitCall) -> None:
    paths = call.resolved(call.words + call.paths)
    for path in paths:
        if "--cached" not in call.options:
            call.run.ledger.delete(path, "git rm")
        elif path in call.run.ledger.seen:
            call.run.ledger.read(path, "git rm --cached", part=True)
    call.run.repository.remove(call.folder, paths)


def _clean(call: GitCall) -> None:
    if not call.has("-f", "--force"):
        return
    told = re.findall(r"^Removing (.+)$", call.run.output, re.MULTILINE)
    if told:
        for path in told:
            call.run.ledger.delete(call.run.path(path.strip('"')), "git clean")
        return
    wanted = call.resolved(call.words + call.paths)
    for file in call.run.repository.files(call.folder, wanted or None):
        if file.staged is None and file.work is not None and below(file.path, call.folder):
            call.run.ledger.delete(file.path, "git clean")
    # Folders that are empty now went with them.
    ledger = call.run.ledger
    for folders in (ledger.made_folders, ledger.new_folders):
        folders.difference_update([folder for folder in folders if not ledger.children(folder)])


# What git tells


def _status(call: GitCall) -> None:
    sections = {"modified": Before.THERE, "deleted": Before.THERE, "new file": Before.MISSING}
    untracked = False
    for line in call.run.output.split("\n")[:2000]:
        if line.startswith("Untracked files:"):
            untracked = True
        elif match := re.match(r"\s+(modified|deleted|new file):\s+(.+)", line):
            _settle(call, match[2], sections[match[1]])
        elif match := re.fullmatch(r"([ MADRCU?!]{2}) (.+)", line):
            code, path = match[1], match[2].rpartition(" -> ")[2]
            if code == "??" or "A" in code:
                _untracked(call, path)
            elif "M" in code or "D" in code:
                _settle(call, path, Before.THERE)
        elif untracked and (match := re.fullmatch(r"\t(.+)", line)):
            _untracked(call, match[1])


def _untracked(call: GitCall, path: str) -> None:
    if not path.endswith("/"):
        _settle(call, path, Before.MISSING)
        return
    for child in call.run.ledger.children(call.run.path(path)):
        if file := call.run.ledger.files.get(child):
            file.settle(Before.MISSING if file.changed else Before.UNKNOWN)


def _list(call: GitCall) -> None:
    run = call.run
    if call.options or len(call.words) > 1:
        return
    folder = call.resolved(call.words)[0] if call.words else run.folder
    if names := _names(call):
        run.ledger.list_tracked(folder, [run.path(name) for name in names])
    elif run.printing == 1 and call.invocation.after:
        for line in run.output.split("\n"):
            if re.search(r"\.\w{1,12}$", line):
                run.ledger.see(run.path(line))


def _names(call: GitCall) -> list[str]:
    """Return the names that `git ls-files` printed; none where they may not be all, or cannot be told from the rest."""
    output, after = call.run.output, call.invocation.after
    limits = [_limit(words) for words in after if words[:1] == ("head",)]
    passing = all(words[:1] in (("head",), ("sort",), ("cat",), ("xargs",)) for words in after)
    if LEFT_OUT.search(output) or not passing:
        return []
    lines = [line for line in output.split("\n") if line.strip() and line.strip() != "(no output)"]
    # `wc -l $(git ls-files)` is one that prints, too.
    counted = _counted(lines)
    alone = call.run.printing == 1 and not counted
    names = lines if alone else max(_longest_in_order(lines), counted, key=len)
    whole = all(limit is not None and len(names) < limit for limit in limits)
    return names if whole and (alone or len(names) >= _FEWEST_NAMES) else []


def _limit(words: tuple[str, ...]) -> int | None:
    number = "".join(words[1:]).removeprefix("-n").removeprefix("-")
    return int(number) if number.isdecimal() and len(number) < 7 else 10 if not words[1:] else None


def _counted(lines: list[str]) -> list[str]:
    """Return the names in what `wc` printed of several files; it ends with their total."""
    names: list[str] = []
    for line in lines:
        match = _COUNT.fullmatch(line)
        if match and match[1] == "total" and len(names) > 1:
            return names
        names = [*names, match[1]] if match else []
    return []


def _longest_in_order(lines: list[str]) -> list[str]:
    """Return the longest run of lines that are names in the order in which git prints them."""
    best: list[str] = []
    run: list[str] = []
    for line in [*lines, " "]:
        if _NAME.fullmatch(line) and (not run or line > run[-1]):
            run.append(line)
            continue
        best = max(best, run, key=len)
        run = [line] if _NAME.fullmatch(line) else []
    return best


def _look(call: GitCall) -> None:
    for word in call.words + call.paths:
        revision, colon, path = word.partition(":")
        named = path if colon and revision else word
        if colon or word in call.paths or _is_path(call, word):
            resolved = call.run.path(named)
            if not call.run.ledger.children(resolved) and UNKNOWN not in named and "..." not in named:
                call.run.ledger.read(resolved, " ".join(call.invocation.words[:2]), part=True)


def _init(call: GitCall) -> None:
    call.run.repository.roots.add(call.resolved(call.words)[0] if call.words else call.folder)


def _clone(call: GitCall) -> None:
    if call.words:
        name = call.words[1] if len(call.words) > 1 else re.sub(r"\.git$", "", call.words[0].rpartition("/")[2])
        call.run.repository.roots.add(call.run.path(name))


def _branch(call: GitCall) -> None:
    if call.words and not call.has("-d", "-D", "-m", "--list", "-r", "-a"):
        call.run.repository.branch(call.folder, call.words[0], switch=False)


def _switch(call: GitCall) -> None:
    if call.has("-c", "-C", "--create"):
        given = [word[1:] for word in call.options if word.startswith("=")]
        call.run.repository.branch(call.folder, (given + list(call.words))[0], switch=True)
    elif call.words or call.invocation.words[-1] == "-":
        call.run.repository.switch(call.folder, call.words[0] if call.words else "-")


_HANDLERS: dict[str, Callable[[GitCall], None]] = {
    "add": _add, "stage": _add, "checkout": _checkout, "restore": _restore, "reset": _reset, "stash": _stash,
    "mv": _move, "rm": _remove, "clean": _clean, "status": _status, "ls-files": _list, "init": _init,
    "clone": _clone, "branch": _branch, "switch": _switch, "diff": _look, "show": _look,
    "log": _look, "blame": _look,
}  # fmt: skip
