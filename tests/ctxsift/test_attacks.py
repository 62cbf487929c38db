"""What may be in the way of the store, the hooks and `init`: nobody's output, file or session may suffer from it."""

from __future__ import annotations

import json
import os
import random
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ctxsift import raw_store
from ctxsift.cli.hook_commands import may_be_shortened
from ctxsift.cli.host_settings import HOSTS

_REFUSED = "Too many levels of symbolic links|is not a file|No such device"
DATA = b"one\ntwo\nthree\n"
OUTPUT = "".join(f"[{n:03}] compiling module_{n * 37 % 991}.c into build/obj\n" for n in range(400))
# What a command of ours may take, also where others wait for it.
MOST_S = 60


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of outputs, with one in it that is not attacked."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CTXSIFT", raising=False)
    raw_store.keep(b"not attacked")
    return raw_store.folder()


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "of mine").write_text("precious")


def a_link(path: Path) -> None:
    target = path.with_name("..target")
    target.write_text("precious")
    path.symlink_to(target)


def a_loop(path: Path) -> None:
    path.symlink_to(path.name)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        # The path of a socket may have about a hundred bytes.
        here = Path.cwd()
        os.chdir(path.parent)
        one.bind(path.name)
        os.chdir(here)


PLANTED: dict[str, Callable[[Path], None]] = {
    "a folder": a_folder,
    "a link": a_link,
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": a_loop,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": os.mkfifo,
    "a socket": a_socket,
}
# The place of an output, of the IDs of deleted ones, of the counts, of what a killed writer left, and others.
PLACES = ("output", "expired", "../uses", ".x.log.1.tmp", "no-id.log")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_in_the_store_stops_nothing_else(place: str, what: str, store: Path) -> None:
    other = raw_store.keep(DATA)
    path = store / f"{other}.log" if place == "output" else store / place
    path.unlink(missing_ok=True)
    PLANTED[what](path)
    began = time.monotonic()
    if place == "output":
        # So that the output is printed.
        for refused in (lambda: raw_store.keep(DATA), lambda: raw_store.read(other)):
            with pytest.raises(OSError, match=_REFUSED):
                refused()
    else:
        assert raw_store.read(raw_store.keep(DATA)) == DATA
    raw_store.log("read", other)
    assert raw_store.read(raw_store.keep(b"another")) == b"another"
    assert raw_store.clear() >= 2
    assert [each.identity for each in raw_store.entries()] == []
    assert time.monotonic() - began < MOST_S
    for precious in (path / "of mine", path.with_name("..target")):
        if what == "a folder" and precious.name == "of mine":
            assert precious.read_text() == "precious"
        if what == "a link" and precious.name == "..target":
            assert precious.read_text() == "precious"


@pytest.mark.parametrize("name", [b"x", b"\xff.log", b"0123456789AB.log", b".log", b"a" * 255, b"0123456789ab.log.log"])
def test_what_is_not_ours_stays(name: bytes, store: Path) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(store), name)))  # noqa: PTH118
    path.write_bytes(b"precious")
    assert raw_store.clear() == 1
    assert path.read_bytes() == b"precious"


STATES: dict[str, bytes] = {
    "no UTF-8": b"\xff\xfe state",
    "a line break": b"a\nb",
    "an escape sequence": b"\x1b[2J\x1b]0;x\x07",
    "quotes and a dollar": b"a 'b' \"$(touch x)\" `id` $HOME",
    "blanks": b"  a  b  ",
    "right to left": "\u202egol.".encode(),
    "half a character": b"\xed\xa0\x80",
    "too long a name": b"x" * 300,
    "too long a path": b"/".join([b"x" * 250] * 20),
    "a file": b"file",
    "in a file": b"file/state",
    "a link to nothing": b"nowhere",
    "a link to itself": b"loop",
    "a device": b"null",
    "a pipe": b"pipe",
    "a process": b"proc",
}


def in_state(tmp_path: Path, name: str, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run ctxsift with a hostile folder for state, which is also its home folder."""
    (tmp_path / "file").touch()
    for link, target in (("nowhere", "gone/x"), ("loop", "loop"), ("null", "/dev/null"), ("proc", "/proc/self")):
        if not os.path.lexists(tmp_path / link):
            (tmp_path / link).symlink_to(target)
    if not (tmp_path / "pipe").exists():
        os.mkfifo(tmp_path / "pipe")
    state = os.fsencode(tmp_path) + b"/" + STATES[name]
    environment = {**os.environb, b"XDG_STATE_HOME": state, b"HOME": state}
    environment.pop(b"CTXSIFT", None)
    command = [sys.executable, "-m", "ctxsift", *arguments]
    return subprocess.run(
        command, input=data, env=environment, capture_output=True, timeout=MOST_S, check=False, cwd=Path.cwd()
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_a_hostile_folder_for_state_costs_no_output(name: str, tmp_path: Path) -> None:
    printed = in_state(tmp_path, name, "run", "--", "sh", "-c", "cat; exit 3", data=OUTPUT.encode())
    assert printed.returncode == 3
    assert printed.stderr.count(b"\n") <= 1
    assert b"Traceback" not in printed.stderr
    if printed.stdout == OUTPUT.encode():
        assert b"cannot be stored" in printed.stderr
    else:
        last = printed.stdout.decode().removesuffix("\n").rpartition("\n")[2]
        assert last.startswith("[ctxsift: ")
        again = in_state(tmp_path, name, "raw", last.removesuffix("]").rpartition(" ")[2])
        assert (again.returncode, again.stdout) == (0, OUTPUT.encode())
    event = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": OUTPUT}
    reply = in_state(tmp_path, name, "hook", "codex", data=json.dumps(event).encode())
    assert (reply.returncode, reply.stderr.count(b"\n") <= 1) == (0, True)
    # Any reader of JSON takes it: halves of characters are none.
    assert not reply.stdout or json.loads(reply.stdout)["reason"].encode()
    for arguments in (("raw", "--list"), ("raw", "--clear"), ("stats",), ("raw", "0123456789ab")):
        told = in_state(tmp_path, name, *arguments)
        assert told.returncode in (0, 1, 3)
        assert (told.stderr.count(b"\n") <= 1, b"\x1b" in told.stdout + told.stderr) == (True, False)
    told = in_state(tmp_path, name, "init", "claude")
    lines = 1 if told.returncode else 1 + len(HOSTS["claude"].after)
    assert (told.returncode in (0, 1), (told.stdout + told.stderr).count(b"\n")) == (True, lines)


@pytest.mark.slow
def test_the_path_of_an_output_is_the_one_that_opens_it(tmp_path: Path) -> None:
    printed = in_state(tmp_path, "no UTF-8", "run", "--", "cat", data=OUTPUT.encode())
    identity = printed.stdout.decode().rstrip("]\n").rpartition(" ")[2]
    path = in_state(tmp_path, "no UTF-8", "raw", identity, "--path").stdout.removesuffix(b"\n")
    assert Path(os.fsdecode(path)).read_text() == OUTPUT


TOOLS = {
    "claude": ("PostToolUse", "Bash"),
    "codex": ("PostToolUse", "Bash"),
    "gemini": ("AfterTool", "run_shell_command"),
    "cursor": ("postToolUse", "Shell"),
    "pi": ("tool_result", "bash"),
    "opencode": ("tool.execute.after", "bash"),
}


def deep(levels: int) -> Any:
    found: Any = "x"
    for _ in range(levels):
        found = {"stdout": [found]}
    return found


def named(value: Any) -> dict[str, Any]:
    """Return a value under every name by which a program hands over text."""
    return {
        "stdout": value,
        "llmContent": value,
        "output": value,
        "content": [{"type": "text", "text": value}],
        "isError": False,
        "metadata": {"exit": 0},
    }


HOSTILE: dict[str, Any] = {
    "null": None,
    "true": True,
    "a number": 7,
    "a huge number": 10**400,
    "a list": [OUTPUT],
    "deep": deep(300),
    "an empty text": named(""),
    "no text": named(None),
    "a list for text": named([OUTPUT]),
    "an object for text": named({"text": OUTPUT}),
    "a byte that ends text": named(OUTPUT + "\x00"),
    "half a character": named(OUTPUT + "\udfff"),
    "an answer of ours": named(OUTPUT + "[ctxsift: 3 of 900 lines, exit 0, extractor; all: x]"),
    "a path of a device": named(OUTPUT) | {
        "persistedOutputPath": "/dev/zero", "details": {"fullOutputPath": "/dev/zero"},
        "metadata": {"exit": 0, "outputPath": "/dev/zero"}, "error": "x",
    },
    "a path of no text": named(OUTPUT[:2000]) | {"persistedOutputPath": {}, "details": [], "metadata": []},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("host", TOOLS)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_changes_no_result(host: str, name: str, store: Path) -> None:
    event, tool = TOOLS[host]
    response = HOSTILE[name]
    if host == "codex" and isinstance(response, dict):
        response = response["stdout"] if "path" not in name else None
    told = {"hook_event_name": event, "tool_name": tool, "tool_input": {"command": "make"}, "tool_response": response}
    data = json.dumps(told | {"padding": "x" * 5000}).encode()
    command = [sys.executable, "-m", "ctxsift", "hook", host]
    done = subprocess.run(command, input=data, capture_output=True, timeout=MOST_S, check=False)
    assert (done.returncode, done.stderr.count(b"\n") <= 1) == (0, True)
    assert done.stdout == (b"{}\n" if host == "cursor" else b"")
    assert len(raw_store.entries()) == 1


@pytest.mark.parametrize("given", [None, 7, [], {}, "make", {"command": None}, {"command": ["make"]}, {"command": ""}])
@pytest.mark.slow
def test_a_hostile_command_changes_no_result(given: Any, store: Path) -> None:
    told = {"tool_name": "Bash", "tool_input": given, "tool_response": OUTPUT}
    command = [sys.executable, "-m", "ctxsift", "hook", "codex"]
    done = subprocess.run(command, input=json.dumps(told).encode(), capture_output=True, timeout=MOST_S, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize(
    "line",
    [
        'make "$(cat secret)"', "make \"`cat secret`\"", "make ${X:-$(cat y)}", "make <(cat x)", "make <<< x",
        'make "unclosed', "make 'a\nb", "make\ncat x", "make;cat x", "make&&cat x", "make |& cat",
        "{ make; cat x; }", "make & cat x", "eval 'make; cat x'", "sh -c 'make; cat x'", "coproc make",
        "$(echo make)", "$MAKE", "\"$@\"", "make () { cat x; }; make", "[[ -f x ]] && make && cat x",
        "if true; then make; fi", "case x in x) make;; esac", "((1)) && make && cat x", "make" + " (" * 5000,
        "make; " * 3000 + "cat x", "'" * 9999, "\x00make", "$'cat' x", "c''at x", "c\\at x && make",
        "make && \"cat\" x", "make && /bin/cat x", "X=1 cat x && make", "make && time cat x", "make && nice cat x",
    ],
)  # fmt: skip
def test_a_command_line_that_hides_what_it_prints_is_left_alone(line: str) -> None:
    began = time.monotonic()
    assert not may_be_shortened(line)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "line",
    [
        "pytest -k 'it is $5'", "make CFLAGS='-O2 -g'", 'pytest -k "a and not b"', "make \\\n all",
        "pytest 'tests/test_a.py::test_b[$x-\"y\"]'",
    ],
)  # fmt: skip
def test_quotes_and_dollars_in_a_word_are_no_reason(line: str) -> None:
    assert may_be_shortened(line)


def no_room() -> None:
    """Let no file be written: also root meets this."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("run", "--", "cat"), ("hook", "codex")])
def test_on_a_full_disk_the_output_stays(arguments: tuple[str, ...], store: Path) -> None:
    event = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": OUTPUT}
    data = json.dumps(event).encode() if arguments[0] == "hook" else OUTPUT.encode()
    command = [sys.executable, "-m", "ctxsift", *arguments]
    done = subprocess.run(command, input=data, capture_output=True, timeout=MOST_S, check=False, preexec_fn=no_room)
    shown = b"" if arguments[0] == "hook" else data
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (0, shown, 1)
    assert [each.name for each in store.iterdir() if each.name != "expired"] == [
        f"{each.identity}.log" for each in raw_store.entries()
    ]


PROGRAM = "import sys; from ctxsift.cli.main import main; sys.argv[0] = sys.argv.pop(1); sys.exit(main())"
FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "pi": ".pi/agent/extensions/ctxsift.js",
    "opencode": ".config/opencode/plugins/ctxsift.js",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "ctxsift").write_text("#!/bin/sh\n")
    (folder / "ctxsift").chmod(0o755)
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def init(home: Path, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROGRAM, str(home / "ctxsift"), "init", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def done(home: Path, *arguments: str) -> None:
    one = init(home, *arguments)
    one.communicate(timeout=MOST_S)
    assert one.returncode == 0


def before(home: Path, host: str) -> bytes | None:
    """Put a file of the user's where there may be one, and return it."""
    path = home / FILES[host]
    path.parent.mkdir(parents=True)
    if path.suffix != ".json":
        return None
    path.write_text('{"mine": [1, 2],\n "hooks": {}}\n')
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
def test_on_a_full_disk_no_settings_are_lost(host: str, home: Path) -> None:
    content = before(home, host)
    one = init(home, host, preexec_fn=no_room)
    _, said = one.communicate(timeout=MOST_S)
    assert (one.returncode, said.count(b"\n")) == (1, 1)
    path = home / FILES[host]
    assert (path.read_bytes() if path.exists() else None) == content


@pytest.mark.slow
@pytest.mark.parametrize("host", FILES)
def test_who_is_killed_leaves_whole_settings(host: str, home: Path) -> None:
    content, chance = before(home, host), random.Random(f"killed {host}")
    done(home, host)
    path = home / FILES[host]
    whole = {content, path.read_bytes()}
    for round_ in range(6):
        one = init(home, host, *(["--uninstall"] if round_ % 2 == 0 else []))
        time.sleep(chance.uniform(0.05, 0.5))
        one.kill()
        one.communicate()
        assert (path.read_bytes() if path.exists() else None) in whole
    # What it left behind is in nobody's way.
    done(home, host)
    done(home, host, "--uninstall")
    assert (path.read_bytes() if path.exists() else None) == content


@pytest.mark.slow
@pytest.mark.parametrize("host", ["claude", "pi"])
def test_fifty_that_add_and_remove_at_once_leave_whole_settings(host: str, home: Path) -> None:
    content = before(home, host)
    running = [init(home, host, *(["--uninstall"] if number % 2 else [])) for number in range(50)]
    assert [one.communicate(timeout=100) and one.returncode for one in running] == [0] * 50
    done(home, host, "--uninstall")
    path = home / FILES[host]
    assert (path.read_bytes() if path.exists() else None) == content
    assert [each.name for each in path.parent.iterdir()] == ([path.name] if content else [])
