"""For compressors that run the command themselves: `replay.py PROGRAM...`, request as JSON on stdin.

Runs `PROGRAM... COMMAND`, having put a stand-in for the command's program first on PATH, which prints the captured
output and ends with its exit code. Assignments before the command and what follows it in the shell (`| ...`,
`&& ...`) are left out: a wrapper is put before one command.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NAMELESS = "command"


def simple_command(line: str) -> list[str]:
    """Return the words of the first command of a shell line."""
    lexer = shlex.shlex(line.strip().partition("\n")[0], posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set("();<>|&"):
                break
            if words or not _ASSIGNMENT.match(word):
                words.append(word)
    except ValueError:
        # A quote that is not closed.
        words = line.split()
    return words or [_NAMELESS]


def main() -> int:
    """Run the compressor, and return its exit code."""
    told = json.load(sys.stdin)
    words = simple_command(told["command"] or "")
    words[0] = Path(words[0]).name
    with tempfile.TemporaryDirectory() as folder:
        stand_in, output = Path(folder, words[0]), Path(folder, ".output")
        output.write_text(told["output"], encoding="utf-8", newline="")
        # By its path: the stand-in may be called `cat` itself.
        cat = shutil.which("cat") or "/bin/cat"
        stand_in.write_text(f"#!/bin/sh\n{cat} {shlex.quote(str(output))}\nexit {told['exit_code'] or 0}\n")
        stand_in.chmod(0o755)
        env = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run([*sys.argv[1:], *words], env=env, stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
