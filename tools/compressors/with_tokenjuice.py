"""tokenjuice reads JSON of its own: `with_tokenjuice.py PROGRAM...`, request as JSON on stdin, the reduced text out."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys


def main() -> int:
    """Hand the request to `PROGRAM... reduce-json`, and return its exit code."""
    told = json.load(sys.stdin)
    command = told["command"] or ""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    asked = {
        "toolName": "exec",
        "command": command,
        "argv": words,
        "combinedText": told["output"],
        "exitCode": told["exit_code"] or 0,
    }
    reply = subprocess.run(
        [*sys.argv[1:], "reduce-json"], input=json.dumps(asked), capture_output=True, text=True, check=False
    )
    sys.stderr.write(reply.stderr)
    if reply.returncode == 0:
        sys.stdout.write(json.loads(reply.stdout)["inlineText"])
    return reply.returncode


if __name__ == "__main__":
    sys.exit(main())
