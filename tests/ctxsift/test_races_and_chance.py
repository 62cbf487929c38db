"""Attacks by chance and by races: no byte is lost, no exit code changes, and nobody else's file does."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

HOSTS: dict[str, dict[str, Any]] = json.loads((ROOT / "tests" / "data" / "hosts.json").read_text(encoding="utf-8"))
OUTPUT = "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c\n" for n in range(200))
LAST = re.compile(rb"\n\[ctxsift: [^\n]+ ctxsift raw (\w+)\]\n\Z")
CTXSIFT = [sys.executable, "-m", "ctxsift"]
MOST_S = 60
# Of each kind of attack.
TRIES = 40


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELL", "/bin/bash")
    for name in ("CTXSIFT", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "state" / "ctxsift" / "raw"


def call(*arguments: str | bytes, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    done = subprocess.run([*CTXSIFT, *arguments], input=data, capture_output=True, timeout=MOST_S, check=False)
    assert b"Traceback" not in done.stderr
    return done


LINES = [
    r"""echo "$HOME" '$HOME' \$HOME""", """echo 'it'"'"'s'""", 'echo "a  b"   c', "echo a; exit 7", "false || echo $?",
    "echo $((6 * 7)) && (exit 9)", "printf '%s\\n' \"$(printf 'x\\ny')\"", "echo `echo back`",
    "x='a b'; echo $x \"$x\"",
    "cat <<'END'\n$not expanded\nEND", "cat <<END\n$((1 + 1))\nEND", "echo a | tr a b",
    "echo out; echo err >&2; exit 3",
    "printf '\\377\\000\\001'", "printf 'no end'", "exec 1>&2; echo hidden", "exit 255", "exit 256", "kill -9 $$",
    "kill -TERM $$", "kill -PIPE $$", "trap 'exit 5' TERM; kill -TERM $$", "set -e; false; echo never",
    "set -o pipefail; false | true", "echo '\"; rm -rf \"$HOME\"; echo \"'", "echo -- -- --raw -c",
    "echo $'\\e[31mred'",
    "echo {1..5} ~ * > /dev/null", "for i in 1 2 3; do echo $i; done", "f() { return 4; }; f", "echo 日本語 \"é\"",
    "seq 1 2000; exit 11", "yes | head -c 9000 | tr -d '\\n'", "head -c 9000 /dev/zero", "seq 1 1500 >&2; exit 12",
    "read line; echo \"got $line\"", "cat; exit 6", "sh -c 'exit 8'", "(seq 1 900 & wait); exit 13", "no-such-program",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_hostile_line_says_and_ends_as_in_the_shell_alone(line: str, state: Path) -> None:
    told = b"one line\n"
    both = subprocess.run(
        ["/bin/bash", "-c", f"exec 2>&1\n{line}"], input=told, stdout=subprocess.PIPE, timeout=MOST_S, check=False
    )
    done = call("run", "-c", line, data=told)
    assert done.returncode == (both.returncode if both.returncode >= 0 else 128 - both.returncode)
    found = LAST.search(done.stdout)
    shown = call("raw", found[1].decode()).stdout if found else done.stdout
    # What goes to both at once may come in any order; the shell names the line of a fault.
    assert sorted(re.sub(rb"line \d+: ", b"", shown)) == sorted(re.sub(rb"line \d+: ", b"", both.stdout))


# Of JSON, to be put anywhere.
PIECES = (b"null", b"[", b"}", b'"', b"\\", b"\\u0000", b"\\ud800", b"1e999", b",")


def noise(chance: random.Random, data: bytes) -> bytes:
    """Return bytes with a few of them changed, taken away, doubled or put in."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at, length = chance.randrange(len(changed)), chance.choice((1, 1, 2, 9, 400))
        match chance.randrange(4):
            case 0:
                changed[at : at + length] = chance.randbytes(length)
            case 1:
                del changed[at : at + length]
            case 2:
                changed[at:at] = changed[at : at + length]
            case _:
                changed[at:at] = chance.choice(
                    (b"null", b"[", b"}", b'"', b"\\", b"\\u0000", b"\\ud800", b"1e999", b",")
                )
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.parametrize("host", HOSTS)
def test_json_that_is_damaged_blocks_nobody(host: str, state: Path) -> None:
    chance = random.Random(f"damaged {host}")
    whole = json.dumps(HOSTS[host]["told"]).replace("OUTPUT", json.dumps(OUTPUT)[1:-1]).encode()
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda data: call("hook", host, data=data), [noise(chance, whole) for _ in range(TRIES)]):
            assert (done.returncode, done.stderr.count(b"\n") <= 1) == (0, True)
            if done.stdout:
                jsonschema.validate(json.loads(done.stdout), HOSTS[host]["answer_schema"])
                identity = re.search(rb"ctxsift raw (\w+)\]", done.stdout)
                assert host == "cursor" or (identity and (state / f"{identity[1].decode()}.log").is_file())


@pytest.mark.parametrize("host", ["claude", "codex", "gemini"])
def test_settings_that_are_damaged_stay_to_the_byte(host: str, tmp_path: Path) -> None:
    """Run in one process each: add and remove what is there to every damaged file."""
    chance = random.Random(f"settings {host}")
    event = "AfterTool" if host == "gemini" else "PostToolUse"
    entry = [{"matcher": "Bash", "hooks": [{"type": "command", "command": 'mine $HOME "x"', "timeout": 5}]}]
    whole = json.dumps({"model": "x", "hooks": {event: entry, "Stop": []}, "ü": [1.50, None]}, indent=2).encode()
    files = [whole, *(noise(chance, whole) for _ in range(TRIES))]
    program = """
import contextlib, io, json, os, sys
from pathlib import Path
sys.argv[0] = sys.argv[1]
from ctxsift.cli.main import main
host, path = sys.argv[2], Path(sys.argv[3])
path.parent.mkdir(parents=True)
for line in sys.stdin:
    before = bytes.fromhex(line)
    path.write_bytes(before)
    said = []
    for more in ([], [], ["--uninstall"]):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = main(["init", host, *more])
        said.append((code, path.read_bytes().hex() if path.exists() else None))
    print(json.dumps(said))
    for each in path.parent.iterdir():
        each.unlink()
"""
    tool = tmp_path / "ctxsift"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    path = tmp_path / "home" / {"codex": ".codex/hooks.json"}.get(host, f".{host}/settings.json")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tool), host, str(path)],
        input="\n".join(each.hex() for each in files), capture_output=True, text=True, timeout=MOST_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert len(told) == len(files)
    added = 0
    for before, ((code, once), (_, twice), (_, last)) in zip(files, told, strict=True):
        assert code in (0, 1)
        assert once == twice
        assert last == before.hex()
        if code:
            assert once == before.hex()
        else:
            added += 1
            assert json.dumps(json.loads(bytes.fromhex(once))).count("ctxsift hook") == 1
    assert added


@contextlib.contextmanager
def beside(work: Any) -> Iterator[None]:
    """Do a thing over and over while another goes on."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.is_set():
            work()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def outputs(count: int) -> list[bytes]:
    return [OUTPUT.replace("module", f"part{number}").encode() for number in range(count)]


def test_fifty_at_once_lose_nothing_also_as_others_clear_the_store() -> None:
    def run(data: bytes) -> tuple[bytes, subprocess.CompletedProcess[bytes]]:
        return data, call("run", "--", "sh", "-c", "cat; exit 42", data=data)

    with ThreadPoolExecutor(50) as pool, beside(lambda: call("raw", "--clear")):
        done = list(pool.map(run, outputs(50)))
    for data, one in done:
        assert one.returncode == 42
        if found := LAST.search(one.stdout):
            again = call("raw", found[1].decode())
            assert (again.returncode, again.stdout) in ((0, data), (3, b""))
        else:
            assert one.stdout == data


@pytest.mark.parametrize("level", ["state", "state/ctxsift", "state/ctxsift/raw"])
def test_a_folder_that_turns_into_a_link_and_back_leads_nobody_out(level: str, tmp_path: Path) -> None:
    place, victim = tmp_path / level, tmp_path / "victim"
    (tmp_path / "state" / "ctxsift" / "raw").mkdir(parents=True, mode=0o700)
    victim.mkdir(mode=0o700)
    precious = {victim / name: name.encode() for name in ("0123456789ab.log", "expired", "uses", ".x.log.1.tmp")}
    for path, content in precious.items():
        path.write_bytes(content)
        os.utime(path, (0, 0))

    numbers = itertools.count()

    def swap() -> None:
        aside = tmp_path / f"aside{next(numbers)}"
        # What writes in between may make the folder anew, or find none.
        for step in (
            lambda: place.rename(aside),
            lambda: place.symlink_to(victim),
            lambda: time.sleep(0.02),
            place.unlink,
            lambda: aside.rename(place),
        ):
            with contextlib.suppress(OSError):
                step()
        # So that it is a link for about half of the time.
        time.sleep(0.02)

    with beside(swap):
        for data in outputs(TRIES // 4):
            done = call("run", "--", "sh", "-c", "cat; exit 42", data=data)
            assert done.returncode == 42
            assert done.stdout == data or LAST.search(done.stdout)
    for path, content in precious.items():
        assert path.read_bytes() == content
