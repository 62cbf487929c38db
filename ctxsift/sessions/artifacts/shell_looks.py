"""Commands that look at files and change none."""

from __future__ import annotations

import re

from ctxsift.sessions.artifacts.shell_operands import files_of, is_folder, operands
from ctxsift.sessions.artifacts.shell_run import Invocation, ShellRun

READ_PART = frozenset({"head", "tail"})
# What a program of awk prints into a file; of a name that is put together, the file is not known.
_PRINTED_INTO = re.compile(
    r"print(?:f?\([^()]{0,200}\)|[^;}\n>(]{0,200})\s{0,8}(>>?)\s{0,8}\"([^\"]{1,200})\"\s{0,8}(?=[;}\n]|\Z)"
)


def read_files(run: ShellRun, invocation: Invocation) -> None:
    """`cat` and its like: whole files, or their beginnings and ends."""
    for path in files_of(run, invocation, operands(invocation)):
        part = " ".join(invocation.words[:-1]) if invocation.name in READ_PART else ""
        cut = [" ".join(words) for words in invocation.after if words and words[0] in ("head", "tail", "grep", "sed")]
        if not path.endswith("/"):
            run.ledger.read(path, part or ("| " + cut[0] if cut else ""))
    if invocation.name == "cat" and invocation.text is not None and not operands(invocation):
        run.produced = invocation.text if not re.search(r"[$`]", invocation.text) else None


def inspect_files(run: ShellRun, invocation: Invocation) -> None:
    """`wc`, `diff` and their like."""
    for path in files_of(run, invocation, operands(invocation)):
        if not is_folder(run, path):
            run.ledger.read(path, invocation.name, part=True)
    if invocation.name == "sort" and "-o" in invocation.words[:-1]:
        target = invocation.words[invocation.words.index("-o") + 1]
        run.ledger.write(run.path(target), None, "sort")


def filter_files(run: ShellRun, invocation: Invocation) -> None:
    """`awk`, `jq` and their like: a program first, then files."""
    scripted = any(word in ("-f", "--from-file") for word in invocation.words)
    words = operands(invocation)
    for path in files_of(run, invocation, words if scripted else words[1:]):
        if "=" not in path.rpartition("/")[2]:
            run.ledger.read(path)
    is_awk = invocation.name.endswith("awk") and invocation.name not in run.printed.complaints()
    if is_awk and words and not scripted:
        for arrow, name in dict.fromkeys(_PRINTED_INTO.findall(words[0])):
            for path in files_of(run, invocation, [name]):
                # Of awk, `>` empties a file once, when it is opened.
                if arrow == ">>":
                    run.ledger.append(path, None)
                else:
                    run.ledger.write(path, None, invocation.name)
