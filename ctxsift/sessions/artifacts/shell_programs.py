"""What is known of programs: one table, one row for those that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# What a program does with files | what is known of its end | programs, each with its options that take a value.
# says: tells its name when it fails, so that silence is success. answers: its exit code 1 is no failure.
# quiet: prints nothing that could be a check's.
_TABLE = """
read    | says       | cat, tac, nl -b -w, less -p, more, column
read    | says quiet | source, .
read    |            | bat -r -l, xxd, strings, od, hexdump, base64
part    | says       | head -n -c --lines --bytes, tail -n -c --lines --bytes
inspect | says       | wc, sort -k -t -o, uniq, cut -d -f -c
inspect | answers    | diff -U --exclude -x, cmp, comm
inspect |            | stat -c -f, md5sum, sha256sum, shasum, du, file, fold -w
filter  | says       | awk -F -v -f
filter  |            | gawk -F -v -f, jq --indent, yq
search  | answers    | grep -e -f -m -A -B -C --include --exclude --exclude-dir --max-count, egrep, fgrep
search  | answers    | rg -e -f -m -A -B -C -g -t --type --glob --max-count, ag, ack
list    | says       | ls, find
sed     | says       | sed -e -f --expression --file
sed     |            | gsed -e -f, perl -e -i
echo    | says       | echo, printf
folder  | says quiet | cd, pushd, popd
set     | says quiet | set, export
write   | says       | tee
touch   | says quiet | touch -d -t -r
make    | says quiet | mkdir -m
remove  | says quiet | rm
remove  |            | unlink
move    | says       | mv -t
copy    | says       | cp -t
copy    |            | install -m -o -g, rsync -e --exclude --include
link    | says       | ln
mode    | says       | chmod
fetch   |            | curl -o --output -H -X -d --data -u -A -m -F -b -c -w -e --max-time --connect-timeout
script  |            | python, python2, python3, node, bun, tsx, bash, sh, zsh, dash
patch   |            | patch -p -i -d -o, apply_patch, applypatch
xargs   | says       | xargs -n -P -L -I -d -s
        | says       | rmdir, chown, unset, date, pwd, tr
        | says quiet | true, :, sleep
        | answers    | test, [, [[, expr, read, false, which, type, command, pgrep, pkill
"""


@dataclass(frozen=True, slots=True)
class ShellProgram:
    """What is known of a program: its effect on files, how it ends, and its options that take a value."""

    effect: str = ""
    says: bool = False
    answers: bool = False
    quiet: bool = False
    with_value: frozenset[str] = frozenset()


def _rows() -> dict[str, ShellProgram]:
    found: dict[str, ShellProgram] = {}
    for line in _TABLE.strip("\n").split("\n"):
        effect, ends, names = line.split("|")
        for each in names.split(","):
            name, *options = each.split()
            known = {word: word in ends.split() for word in ("says", "answers", "quiet")}
            found[name] = ShellProgram(effect.strip(), **known, with_value=frozenset(options))
    return found


_PROGRAMS: Mapping[str, ShellProgram] = _rows()
_UNKNOWN = ShellProgram()


def program(name: str) -> ShellProgram:
    """Return what is known of a program by its name; nothing of one that has no row."""
    return _PROGRAMS.get(name, _UNKNOWN)
