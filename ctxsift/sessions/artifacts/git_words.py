"""What git commands do with the files of a session."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ctxsift.sessions.artifacts.records import Action
from ctxsift.sessions.artifacts.shell_files import move
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun
from ctxsift.sessions.artifacts.shell_verdicts import LEFT_OUT, MADE, UNKNOWN, CommandStatus
from ctxsift.sessions.artifacts.versions import Before, same

# Git quotes paths that hold a blank.
_SHORT = re.compile(r'(?!  | A)([ MADRU?])([ MADU?]) (?:\S+ -> )?(\S+|".+")')
_DIFFED = re.compile(r"^diff --(?:git a/(.+?) b/|cc )(.+)\n(new|deleted)?", re.MULTILINE)
_STAT = re.compile(r"^ (\S.*?\S) +\| +(?:\d+ [+-]+|Bin .+)$", re.MULTILINE)
# Commands of git that print what differs.
_PRINTS = re.compile(r"\bgit\b[^;&|\n]*?\b(?:diff|show|log|merge|pull|am|apply|cherry-pick|rebase)\b")
_COMPLAINT = re.compile(r"^(?:fatal|error): (.*)", re.MULTILINE)
_GIT = re.compile(r"\bgit\s")
_ALREADY = re.compile(r"^ (create|delete) mode \d+ (.+)$", re.MULTILINE)
_RENAMED = re.compile(r"^ rename (.+) \(\d+%\)$", re.MULTILINE)
_TOLD = re.compile(r"Updated \d+ paths? from")
_COUNT = re.compile(r"\s*\d+ (\S+)")
_NAME = re.compile(r"[\w@+.~][\w./@+~-]*")
_COMMITTING = frozenset({"commit", "revert", "cherry-pick"})
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
    # What stops at a conflict has begun.
    stopped = invocation.status is CommandStatus.FAILED and "CONFLICT" not in run.output
    if name in _COMMITTING:
        made = _commit(call, name)
    elif look := _LOOKS.get(name):
        look(call)
    elif name in _HANDLERS and not stopped and not _complains(call, name):
        _HANDLERS[name](call)
    run.folder = outer
    return made


def _complains(call: GitCall, name: str) -> bool:
    """Return True if git refused this command; of several, the one whose name or words a complaint holds."""
    complaints = _COMPLAINT.findall(call.run.output)
    if len(_GIT.findall(call.run.source)) == 1 and call.invocation.status is not CommandStatus.PASSED:
        return bool(complaints)
    named = {name, *call.words, *call.paths}
    return any(not named.isdisjoint(re.split(r"[\s':]+", complaint)) for complaint in complaints)


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
    if not found and not silent and not re.search(r"^ \d+ files? changed", run.output):
        return []
    branch, revision, subject = found[0] if found else ("", "", "")
    run.commits += bool(found)
    given = [option[1:] for option in call.options if option.startswith("=")]
    subject = subject or next((line for line in "".join(given[:1]).split("\n") if UNKNOWN not in line), "")
    _learn(call)
    if branch not in ("", "detached"):
        repository.name_branch(call.folder, branch)
    paths = call.resolved(call.words + call.paths) if name == "commit" else []
    everything = call.has("-a", "--all")
    repository.commit(call.folder, revision, everything=everything, paths=paths, amend="--amend" in call.options)
    return [(revision, branch, subject)]


def _merge(call: GitCall) -> None:
    if call.words and "CONFLICT" not in call.run.output:
        call.run.repository.merge(call.folder, call.words[-1], "")


def _go_on(call: GitCall) -> None:
    if "--continue" in call.options:
        call.run.repository.commit(call.folder, "")


def _learn(call: GitCall) -> None:
    """Learn from a commit which files were new to the repository."""
    output = call.run.output
    for kind, path in _ALREADY.findall(output):
        _settle(call, path, Before.MISSING if kind == "create" else Before.THERE)
    for told in _RENAMED.findall(output):
        match = re.fullmatch(r"(.*?)\{(.*?) => (.*?)\}(.*)", told)
        target = re.sub("//", "/", match[1] + match[3] + match[4]) if match else told.rpartition(" => ")[2]
        _settle(call, target, Before.MISSING)


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
    repository, words = call.run.repository, call.words
    if call.has("-b", "-B", "-c", "-C", "--create", "--orphan"):
        given = [word[1:] for word in call.options if word.startswith("=")]
        repository.branch(call.folder, (given + list(words))[0], switch=True)
        return
    told = _TOLD.search(call.run.output)
    if call.paths:
        _put_back(call, "".join(words[:1]), call.paths)
    elif words and (told or _is_path(call, words[0])):
        _put_back(call, "", words)
    elif len(words) > 1:
        _put_back(call, words[0], words[1:])
    elif words:
        repository.switch(call.folder, words[0])


def _is_path(call: GitCall, word: str) -> bool:
    path = call.run.path(word)
    known = path in call.run.ledger.files or path in call.run.ledger.seen or bool(call.run.ledger.children(path))
    switched = re.search(r"Switched to|Already on|HEAD is now at", call.run.output)
    named = word == "." or bool(re.search(r"(?<!\w\.)\.\w+$", word))
    return not switched and (known or named)


def _put_back(call: GitCall, revision: str, words: tuple[str, ...]) -> None:
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
        call.run.repository.restore(call.folder, wanted, head=bool(revision), detail=detail)
        return
    for path in paths:
        if path not in ledger.files and not ledger.children(path):
            ledger.edit(path, detail)
    call.run.repository.bring(call.folder, paths, revision, detail)


def _restore(call: GitCall) -> None:
    source = next((word.partition("=")[2] for word in call.options if word.startswith("--source=")), "")
    source = source or next((word[1:] for word in call.options if word.startswith("=")), "")
    words = call.words + call.paths
    if call.has("--staged", "-S"):
        call.run.repository.unstage(call.folder, call.resolved(words))
        if not call.has("--worktree", "-W"):
            return
    _put_back(call, source, words)


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
    number = re.search(r"^(?:stash@\{)?(\d+)\}?$", call.words[-1]) if call.words else None
    if verb in ("push", "save") and "No local changes" not in call.run.output:
        words = call.paths or (call.words[1:] if verb == "push" else ())
        paths = call.resolved(words) or None
        told = "Saved working directory" in call.run.output
        untracked, index = call.has("-u", "--include-untracked", "-a", "--all"), call.has("-k", "--keep-index")
        repository.stash(call.folder, untracked=untracked, told=told, index=index, paths=paths)
    elif verb in ("pop", "apply", "drop", "branch"):
        if verb == "branch":
            repository.branch(call.folder, "".join(call.words[1:2]), switch=True)
        # What conflicts stays among the stashes, but it is in the files as well.
        drop = verb != "apply" and "CONFLICT" not in call.run.output
        repository.unstash(call.folder, int(number[1]) if number else 0, restore=verb != "drop", drop=drop)


def _apply(call: GitCall) -> None:
    """Believe of no file that it is as it was: the patch is not known."""
    for file in call.run.repository.files(call.folder):
        if file.changed and same(file.work, file.start) and not call.has("--check", "--stat", "--numstat"):
            call.run.ledger.edit(file.path, "git apply")


def _move(call: GitCall) -> None:
    words = call.words + call.paths
    move(call.run, replace(call.invocation, words=("mv", *words)))
    call.run.repository.add(call.folder, call.resolved(words))


def _remove(call: GitCall) -> None:
    paths = call.resolved(call.words + call.paths)
    for path in paths:
        if "--cached" not in call.options:
            call.run.ledger.delete(path, "git rm")
    call.run.repository.remove(call.folder, paths)


def _clean(call: GitCall) -> None:
    for path in re.findall(r"^Removing (.+)$", call.run.output, re.MULTILINE):
        call.run.ledger.delete(call.run.path(path.strip('"')), "git clean")


# What git tells


def _status(call: GitCall) -> None:
    told: list[tuple[str, str, bool]] = []
    section = ""
    for line in call.run.output.split("\n")[:2000]:
        if re.match(r"(?:Changes|Untracked) .*:$", line):
            section = line
        elif match := _SHORT.fullmatch(line):
            path = call.run.path(match[3].strip('"'))
            told += [(path, letter, number == 0) for number, letter in enumerate(match.groups()[:2]) if letter != " "]
        elif section and (match := re.fullmatch(r"\t(?:(modified|deleted|new file): +)?(.+)", line)):
            letter = {"modified": "M", "deleted": "D", "new file": "A"}.get(match[1], "?")
            told.append((call.run.path(match[2]), letter, "to be committed" in section))
    for path, letter, _ in told:
        if letter in "A?":
            _untracked(call, path)
        elif letter in "MD":
            _settle(call, path, Before.THERE)
    # Untracked files may be what programs leave behind, and clear away.
    changes = [each for each in told if each[1] in "MDUA"]
    whole = not call.words and not call.paths
    call.run.repository.report(call.folder, changes, "git status", whole=whole)


def _untracked(call: GitCall, path: str) -> None:
    _settle(call, path, Before.MISSING)
    for child in call.run.ledger.children(path):
        if file := call.run.ledger.files.get(child):
            file.settle(Before.MISSING if file.changed else Before.UNKNOWN)


def _list(call: GitCall) -> None:
    run = call.run
    if call.options or len(call.words) > 1:
        return
    folder = call.resolved(call.words)[0] if call.words else run.folder
    if names := _names(call):
        run.ledger.list_tracked(folder, [run.path(name) for name in names])


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


def _diff(call: GitCall) -> None:
    _look(call)
    revisions = [word for word in call.words if not _is_path(call, word) and word != "HEAD"]
    if revisions or len(_PRINTS.findall(call.run.source)) != 1 or call.has("--no-index", "--relative"):
        return
    root, letters = call.run.repository.root(call.folder), {"new": "A", "deleted": "D"}
    told = [(match[2], letters.get(match[3], "M")) for match in _DIFFED.finditer(call.run.output)]
    told += [
        (path, "M") for path in _STAT.findall(call.run.output) if not path.startswith("...") and " => " not in path
    ]
    staged = call.has("--cached", "--staged")
    whole = not call.words and not call.paths and not call.invocation.after
    changes = [(f"{root}/{path}", letter, staged) for path, letter in told]
    call.run.repository.report(call.folder, changes, "git diff", whole=whole)


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


_HANDLERS: dict[str, Callable[[GitCall], None]] = {
    "add": _add, "stage": _add, "checkout": _checkout, "switch": _checkout, "restore": _restore, "reset": _reset,
    "stash": _stash, "mv": _move, "rm": _remove, "clean": _clean, "init": _init, "clone": _clone, "branch": _branch,
    "merge": _merge, "am": _go_on, "apply": _apply, "rebase": _go_on,
}  # fmt: skip
_LOOKS: dict[str, Callable[[GitCall], None]] = {
    "status": _status, "ls-files": _list, "diff": _diff, "show": _look, "log": _look, "blame": _look,
}  # fmt: skip
