"""A program as a compressor: real processes, good and bad ones."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from ctxsift.answers.validation import validate
from ctxsift.asking import ask_async
from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelOptions, ModelSpec
from ctxsift.backends.command import CommandBackend
from ctxsift.backends.registry import COMMAND, is_service, traits_of
from ctxsift.compression import Failure, View, failure_of
from ctxsift.confined import Bounds, removed, run_confined
from ctxsift.errors import BackendError, LoadError
from ctxsift.intents import Intent
from ctxsift.programs import AnyCode, Placeholder, Program, Stdin, filled, placeholder_in_script
from ctxsift.prompts import Request, RequestPrompt, build_messages
from ctxsift.scratch import Scratch, remove_left
from ctxsift.settings import Settings
from tests.support.depth import depth

REQUEST = Request("\n\n E1 {intent} 'quoted'\r\nE2\n\n", 'Why "E1"?', Intent.JSON, "make -j2\nmake install", 2)
# What the row of a bad program does at every request but the line of input on which it is tried.
_TRIED = "import os, sys, time, signal, subprocess; raw = sys.stdin.buffer.read()\nif raw == b'ok\\n': sys.exit(0)\n"


def spec(program: Program) -> ModelSpec:
    return ModelSpec("tool", options=ModelOptions(program=program))


def loaded(program: Program) -> tuple[CommandBackend, LoadInfo]:
    backend = CommandBackend()
    return backend, backend.load(spec(program))


def put(program: Program, request: Request = REQUEST) -> Generation:
    """Load a program and return what it makes of a request, by the path of every answer."""
    backend, _ = loaded(program)
    return asyncio.run(ask_async(RequestPrompt(request), backend, Limits(1_000_000))).generation


def python(code: str, **fields: Any) -> Program:
    return Program((sys.executable, "-c", code), **fields)


def bad(code: str, **fields: Any) -> Generation:
    """Return what comes of a program that is fine on a line of input."""
    return put(python(_TRIED + code, **fields))


def failure(generation: Generation) -> Failure | None:
    view = View(generation.text, validate(generation.text, REQUEST))
    return failure_of(generation, view)


# What a program is told ------------------------------------------------------------------------------------------


def test_raw_output_reaches_standard_input_to_the_byte() -> None:
    assert put(Program(("cat",))).text == REQUEST.raw_input
    assert put(Program(("cat", "{input_file}"), stdin=Stdin.NONE)).text == REQUEST.raw_input


def test_placeholders_are_replaced_by_exact_name_and_once() -> None:
    words = ["--task={instruction}", "{command}|{exit_code}|{intent}", "{Intent} {x} ${HOME} {} {{print $1}}", "a{2}"]
    values = {each: str(each) for each in Placeholder} | {Placeholder.INSTRUCTION: "{intent} \\1"}
    assert filled(words, values) == ["--task={intent} \\1", "command|exit_code|intent", words[2], words[3]]


def test_a_program_gets_arguments_and_variables() -> None:
    code = "import os, sys, json; print(json.dumps([sys.argv[1:], dict(os.environ)]))"
    program = python(code, env={"LEVEL": "3"}, stdin=Stdin.NONE)
    program = dataclasses.replace(program, command=(*program.command, "{instruction}", "{command}", "{exit_code}"))
    arguments, variables = json.loads(put(program).text)
    assert arguments == [REQUEST.instruction, REQUEST.command, "2"]
    told = {name: value for name, value in variables.items() if name.startswith("CTXSIFT_")}
    assert Path(told.pop("CTXSIFT_INPUT_FILE")).name == "output.txt"
    names = ("CTXSIFT_INSTRUCTION", "CTXSIFT_COMMAND", "CTXSIFT_EXIT_CODE", "CTXSIFT_INTENT")
    assert told == dict(zip(names, (REQUEST.instruction, REQUEST.command, "2", "json"), strict=True))
    assert variables["LEVEL"] == "3"


def test_no_other_variable_of_ours_gets_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    code = "import os; print(*sorted(os.environ))"
    names = set(put(python(code)).text.split())
    assert "OPENAI_API_KEY" not in names
    assert {"PATH", "HOME", "TMPDIR", "LANG"} <= names


def test_json_on_standard_input_and_an_answer_within_json() -> None:
    code = "import json, sys; told = json.load(sys.stdin); print(json.dumps({'a/b': [{'text': told['output']}]}))"
    assert put(python(code, stdin=Stdin.JSON, output_pointer="/a~1b/0/text")).text == REQUEST.raw_input
    echoed = put(python("import sys; print(sys.stdin.read())", stdin=Stdin.JSON)).text
    assert json.loads(echoed) == {
        "output": REQUEST.raw_input,
        "instruction": REQUEST.instruction,
        "command": REQUEST.command,
        "exit_code": 2,
        "intent": "json",
    }


def test_what_is_not_known_of_the_command_is_empty() -> None:
    program = Program(("printf", "<%s>", "{command}", "{exit_code}"))
    assert put(program, dataclasses.replace(REQUEST, command=None, exit_code=None)).text == "<><>"


def test_messages_that_are_made_of_no_request_mean_nothing_to_a_program() -> None:
    backend, _ = loaded(Program(("cat",)))
    with pytest.raises(BackendError, match="only accepts compression requests"):
        asyncio.run(backend.agenerate(build_messages(REQUEST), Limits()))


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (("sh", "-c", "grep '{instruction}'"), "{instruction}"),
        (("/bin/bash", "-ec", "x {command}"), "{command}"),
        (("env", "A=1", "bash", "--norc", "-c", "x {input_file}"), "{input_file}"),
        (("sh", "-c", 'grep "$1"', "sh", "{instruction}"), None),
        (("sh", "-c", 'grep "$CTXSIFT_INSTRUCTION"'), None),
        (("awk", "{print}", "{input_file}"), None),
    ],
)
def test_a_placeholder_in_a_script_of_a_shell_is_found(command: tuple[str, ...], found: str | None) -> None:
    assert placeholder_in_script(command) == found


# Where it runs ----------------------------------------------------------------------------------------------------


def test_each_request_has_an_empty_folder_and_home() -> None:
    code = (
        "import os, pathlib; home = pathlib.Path.home()\n"
        "print(sorted(os.listdir('.')), sorted(os.listdir(home)), pathlib.Path.cwd() != home)\n"
        "(home / '.tool.cfg').write_text('x'); pathlib.Path('cache').mkdir()"
    )
    backend, _ = loaded(python(code))
    for _ in range(2):
        generation = asyncio.run(ask_async(RequestPrompt(REQUEST), backend, Limits(100)))
        assert generation.generation.text == "[] [] True\n"
        assert generation.generation.remarks == ("left files in its folder or HOME",)


def test_nothing_of_it_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    put(python("import pathlib, tempfile; tempfile.mkdtemp(); pathlib.Path('x').touch()"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_beside_the_caller_is_named_by_its_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("import sys; print(len(sys.stdin.buffer.read()))")
    monkeypatch.chdir(tmp_path)
    assert put(Program((sys.executable, "./mine.py"))).text == f"{len(REQUEST.raw_input)}\n"


# Bad programs: each costs its request, or is remarked ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("time.sleep(60)", "did not end within 2 s"),
        ("while True: sys.stdout.write('x' * 65536)", "printed more than 1 MB"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "was killed by signal 11"),
        ("print('half an answer'); sys.exit('no such mode')", "exited with 1: no such mode"),
        ("os.close(1); time.sleep(60)", "did not end within 2 s"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); os.kill(os.getpid(), signal.SIGSTOP)", "did not end within"),
    ],
)
def test_a_program_that_fails_has_no_answer_and_says_why(code: str, fault: str) -> None:
    generation = bad(code, timeout_s=2)
    assert generation.fault.startswith(fault)
    assert generation.text == ""
    assert failure(generation) is Failure.PROGRAM_FAILED


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("import shutil; shutil.rmtree(os.getcwd())", "removed or replaced its folder or HOME"),
        ("import shutil; shutil.rmtree(os.path.dirname(os.getcwd()))", "removed or replaced its folder or HOME"),
        ("os.rmdir(os.environ['HOME']); os.mkfifo(os.environ['HOME'])", "removed or replaced its folder or HOME"),
        ("os.rmdir(os.environ['HOME']); os.symlink(os.getcwd(), os.environ['HOME'])", "removed or replaced its folder"),
        ("[(os.mkdir('d' * 200), os.chdir('d' * 200)) for _ in range(25)]", "made folders in folders, too deep"),
        # A hole: it is beyond the bound, and takes no room.
        ("open('x', 'wb').truncate(300_000_000)", "exited with 1: OSError: [Errno 27] File too large"),
        ("os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)", "ended what watched over it"),
    ],
)
def test_what_a_program_does_to_its_folders_costs_its_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, fault: str
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    generation = bad(f"{code}\nprint('E1')", timeout_s=50)
    assert generation.fault.startswith(fault)
    assert generation.text == ""
    assert failure(generation) is Failure.PROGRAM_FAILED
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_closed_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    generation = bad("os.makedirs('a/b'); os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('.', 0); print('E1')")
    assert (generation.text, generation.fault) == ("E1\n", "")
    assert generation.remarks == ("left files in its folder or HOME",)
    assert list(tmp_path.iterdir()) == []


def test_what_a_link_of_a_program_leads_to_stays(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "link").symlink_to(kept)
    assert removed(folder)
    folder.symlink_to(kept)
    assert removed(folder)
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
    assert (kept / "file").exists()


def test_what_cannot_be_removed_costs_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    backend, _ = loaded(python("print('E1')"))

    def stays(folder: Path) -> bool:
        removed(folder)
        return False

    monkeypatch.setattr("ctxsift.scratch.removed", stays)
    generation = asyncio.run(ask_async(RequestPrompt(REQUEST), backend, Limits(100))).generation
    assert (generation.text, generation.fault) == ("", "left files that cannot be removed in its folder or HOME")


def test_folders_deeper_in_each_other_than_recursion_goes_are_removed(tmp_path: Path) -> None:
    folder, here = tmp_path / "folder", os.open(tmp_path, os.O_RDONLY)
    for name in ["folder", *["d"] * (sys.getrecursionlimit() + 10)]:
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    assert removed(folder)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("then", ["time.sleep(60)", "pass"])
def test_a_program_that_fills_its_folder_is_ended(tmp_path: Path, then: str) -> None:
    code = f"import time; [open(str(n), 'wb').write(b'x' * 300_000) for n in range(9)]; {then}"
    bounds = Bounds(timeout_s=50, disk_bytes=2_000_000)
    env = {"HOME": str(tmp_path)}
    ran = run_confined((sys.executable, "-c", code), stdin=None, env=env, folder=tmp_path, bounds=bounds)
    assert ran.beyond == "wrote more than 2 MB"
    bounds = Bounds(timeout_s=50, files=8)
    ran = run_confined((sys.executable, "-c", code), stdin=None, env=env, folder=tmp_path, bounds=bounds)
    assert ran.beyond == "made more than 8 files"


def test_time_does_not_count_what_watches_over_a_program(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "PATH": os.defpath}
    started = time.perf_counter()
    ran = run_confined(("true",), stdin=None, env=env, folder=tmp_path, bounds=Bounds(50))
    assert 0 < ran.wall_ms < (time.perf_counter() - started) * 1000


def test_a_program_is_given_the_variables_and_signals_that_it_would_have_alone(tmp_path: Path) -> None:
    code = "import os, signal; print(sorted(os.environ), signal.getsignal(signal.SIGTERM), os.getsid(0) == os.getpid())"
    env = {"HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "ODD": "\udce9"}
    ran = run_confined((sys.executable, "-c", code), stdin=None, env=env, folder=tmp_path, bounds=Bounds(50))
    assert ran.output == b"['HOME', 'LC_ALL', 'ODD'] 0 True\n"


def test_a_program_that_takes_too_much_memory_is_ended(tmp_path: Path) -> None:
    code = "import time; hold = b'x' * 300_000_000; time.sleep(60)"
    bounds = Bounds(timeout_s=50, memory_bytes=200_000_000)
    ran = run_confined(
        (sys.executable, "-c", code), stdin=None, env={"HOME": str(tmp_path)}, folder=tmp_path, bounds=bounds
    )
    assert ran.beyond == "took more than 200 MB of memory"


# Each sleeps for a time of its own, by which the others are told from it where they run at the same time.
@pytest.mark.parametrize(
    ("start", "seconds"),
    [
        ("subprocess.Popen(['sleep', '61.25'])", "61.25"),
        ("subprocess.Popen(['sleep', '61.5'], start_new_session=True, stdout=subprocess.DEVNULL)", "61.5"),
        ("subprocess.Popen('setsid sleep 61.75 >/dev/null 2>&1 &', shell=True)", "61.75"),
        ("subprocess.Popen('setsid env -i sleep 62.25 >/dev/null 2>&1 &', shell=True)", "62.25"),
    ],
)
def test_processes_left_behind_are_ended_and_remarked(start: str, seconds: str) -> None:
    generation = bad(f"{start}; print('E1')")
    assert generation.text == "E1\n"
    assert generation.remarks == ("left processes behind",)
    running = [process.cmdline() for process in psutil.process_iter(["cmdline"]) if process.info["cmdline"]]
    assert ["sleep", seconds] not in running


def test_what_it_starts_and_waits_for_is_no_remark() -> None:
    generation = put(Program(("sh", "-c", "cat | sort | head -n 1; sleep 0.1 & wait")))
    assert (generation.fault, generation.remarks) == ("", ())


def test_bytes_that_are_no_text_are_remarked() -> None:
    generation = bad("sys.stdout.buffer.write(b'E1 \\xff\\x00')")
    assert generation.text == "E1 \ufffd\0"
    assert generation.remarks == ("the answer is not UTF-8",)


def test_an_answer_on_stderr_is_none() -> None:
    generation = bad("print('E1', file=sys.stderr)")
    assert generation.remarks == ("printed to stderr alone",)
    assert failure(generation) is Failure.EMPTY_ANSWER


def test_a_program_that_changes_its_answer_is_found_out_at_the_first_requests() -> None:
    backend, _ = loaded(python("import time; print(time.time_ns())"))
    found = [asyncio.run(ask_async(RequestPrompt(REQUEST), backend, Limits(100))).generation.remarks for _ in range(4)]
    assert found == [("two answers to the same request differ",)] * 3 + [()]


def test_a_program_that_does_not_read_is_no_fault() -> None:
    large = dataclasses.replace(REQUEST, raw_input="x" * 3_000_000)
    assert put(Program(("echo", "E1")), large).text == "E1\n"
    assert len(put(Program(("head", "-c", "100000")), large).text) == 100_000


@pytest.mark.parametrize("instruction", ["a\0b", "x" * 200_000])
def test_what_no_argument_can_carry_costs_the_request(instruction: str) -> None:
    generation = put(Program(("echo", "{instruction}")), dataclasses.replace(REQUEST, instruction=instruction))
    assert generation.fault.startswith("cannot be started")


def test_exit_codes_that_are_fine() -> None:
    one = "print('E1'); sys.exit(1)"
    assert bad(one, ok_exit_codes=(0, 1)).text == "E1\n"
    assert bad(one, ok_exit_codes=AnyCode.ANY).text == "E1\n"
    assert bad("os.kill(os.getpid(), signal.SIGKILL)", ok_exit_codes=AnyCode.ANY).fault == "was killed by signal 9"


@pytest.mark.parametrize("printed", ["[" * 100_000, "not json", '{"text": 3}', "[]", '{"more": "x"}'])
def test_a_reply_without_the_answer_it_should_hold(printed: str) -> None:
    code = f'import sys; print(\'{{"text": ""}}\' if b\'"ok\' in sys.stdin.buffer.read() else {printed!r})'
    assert "printed no JSON with a text at /text" in put(python(code, stdin=Stdin.JSON, output_pointer="/text")).fault


def test_cancelling_ends_the_program(tmp_path: Path) -> None:
    pids = tmp_path / "pid"
    backend, _ = loaded(python(_TRIED + f"open({str(pids)!r}, 'w').write(str(os.getpid())); time.sleep(60)"))

    async def cancel() -> None:
        asking = asyncio.create_task(ask_async(RequestPrompt(REQUEST), backend, Limits(1)))
        while not (pids.exists() and pids.read_text()):
            await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(cancel())
    assert not psutil.pid_exists(int(pids.read_text()))


def test_a_stop_ends_it_at_once(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    env = {"HOME": str(tmp_path), "PATH": os.defpath}
    ran = run_confined(("sleep", "60"), stdin=None, env=env, folder=tmp_path, bounds=Bounds(60), stop=stop)
    assert (ran.beyond, ran.exit_code) == ("was stopped", -signal.SIGKILL)


# What a SIGKILL leaves ---------------------------------------------------------------------------------------------

# Fine on a line of input; else it starts another, in a session of its own, and neither ends by itself.
_ENDLESS = "if grep -qx ok; then exit 0; fi; setsid sleep {0} & touch started; sleep {0}"
_RUNNER = """
import sys
from ctxsift.backends.base import ModelOptions, ModelSpec
from ctxsift.backends.command import CommandBackend
from ctxsift.intents import Intent
from ctxsift.programs import Program
from ctxsift.prompts import Request
backend = CommandBackend()
backend.load(ModelSpec("tool", options=ModelOptions(program=Program(("sh", "-c", sys.argv[1])))))
backend._put(Request("a secret", "What?", Intent.SUMMARY))
"""


def killed_runner(temporary: Path, sleep_s: str) -> None:
    """Let a process put a request to a program that does not end, and kill it meanwhile."""
    command = [sys.executable, "-c", _RUNNER, _ENDLESS.format(sleep_s)]
    runner = subprocess.Popen(command, env={**os.environ, "TMPDIR": str(temporary)})
    until(lambda: any(temporary.glob("*/work/started")))
    assert sleeping(sleep_s)
    runner.kill()
    runner.wait()


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    by = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < by
        time.sleep(0.02)


def sleeping(seconds: str) -> list[int]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cmdline() == ["sleep", seconds]:
                found.append(process.pid)
    return found


def test_a_killed_runner_leaves_no_program_running_and_no_folder_after_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_runner(tmp_path, "63.125")
    until(lambda: not sleeping("63.125"), seconds=5)
    (left,) = tmp_path.iterdir()
    assert (left / "input" / "output.txt").read_text() == "a secret"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    loaded(Program(("cat",)))
    assert list(tmp_path.iterdir()) == []


def test_only_folders_of_the_dead_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    alive, dead = Scratch.made(), Scratch.made()
    os.close(dead.lock)
    (dead.path / "deep" / "er").mkdir(parents=True)
    (dead.path / "deep").chmod(0)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("mine")
    (dead.path / "way out").symlink_to(elsewhere)
    link = tmp_path / "ctxsift-scratch-aaaaaaaa"
    link.symlink_to(elsewhere)
    others = [tmp_path / name for name in ("ctxsift-results", "ctxsift-scratch-mine", "ctxsift-scratch-aaaaaaab.old")]
    for each in others:
        each.mkdir()
    file = tmp_path / "ctxsift-scratch-bbbbbbbb"
    file.write_text("a file")
    remove_left()
    assert set(tmp_path.iterdir()) == {alive.path, elsewhere, link, file, *others}
    assert (elsewhere / "kept").read_text() == "mine"
    assert alive.removed()


def test_a_folder_of_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    theirs = Scratch.made()
    os.close(theirs.lock)
    another = os.geteuid() + 1
    with monkeypatch.context() as there:
        there.setattr(os, "geteuid", lambda: another)
        remove_left()
    assert theirs.path.exists()
    remove_left()
    assert not theirs.path.exists()


def test_folders_that_are_made_while_others_clean_up_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = threading.Event()

    def clean() -> None:
        while not done.is_set():
            remove_left()

    cleaners = [threading.Thread(target=clean) for _ in range(2)]
    for each in cleaners:
        each.start()
    try:
        for _ in range(depth(200, 5000)):
            folder = Scratch.made()
            (folder.path / "file").write_text("x")
            assert folder.removed()
    finally:
        done.set()
        for each in cleaners:
            each.join()
    assert list(tmp_path.iterdir()) == []


# Loading ----------------------------------------------------------------------------------------------------------


def missing(program: Program) -> str:
    (found,) = traits_of(COMMAND).missing([spec(program)], Settings())
    with pytest.raises(LoadError) as caught:
        loaded(program)
    assert str(caught.value) == found
    return found or ""


def test_a_program_that_is_missing_is_told_with_how_to_install_it() -> None:
    told = "there is no program nosuchtool; "
    assert (
        missing(Program(("nosuchtool",), install="pip install nosuchtool"))
        == f"{told}install it: pip install nosuchtool"
    )
    assert missing(Program(("nosuchtool",))) == f"{told}install it, or put it on PATH"
    assert missing(Program((sys.executable, "./gone.py"))).startswith("there is no file ./gone.py here")


@pytest.mark.parametrize(("code", "said"), [("exit('old')", "exited with 1: old"), ("while True: pass", "did not end")])
def test_a_program_that_fails_at_a_line_is_not_loaded(code: str, said: str) -> None:
    with pytest.raises(LoadError, match=f"on a line of input it {said}"):
        loaded(python(code, timeout_s=2))


def test_what_is_told_of_a_program(tmp_path: Path) -> None:
    script = tmp_path / "tool"
    script.write_text("#!/bin/sh\ncat\n")
    script.chmod(0o755)
    program = Program((str(script),), version_command=("sh", "-c", "echo; echo tool 1.2; echo more"))
    _, load = loaded(program)
    assert (load.backend, load.engine, load.engine_version) == (COMMAND, "tool", "tool 1.2")
    script.write_text("#!/bin/sh\ncat # changed\n")
    assert loaded(program)[1].settings != load.settings
    assert is_service(COMMAND)


CHANGES_NO_ANSWER = {
    "version_command": "its output tells: engine_version",
    "warmup": "runs before the first request",
    "install": "for a person",
}


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Program)])
def test_every_field_that_can_change_an_answer_is_told(field: str) -> None:
    other: dict[str, Any] = {
        "command": ("cat", "-"),
        "stdin": Stdin.JSON,
        "output_pointer": "/x",
        "env": {"A": "1"},
        "timeout_s": 9.0,
        "ok_exit_codes": AnyCode.ANY,
        "version_command": ("cat", "--version"),
        "warmup": 2,
        "install": "apt",
    }
    program = Program(("cat",))
    changed = dataclasses.replace(program, **{field: other[field]})
    assert (program.answering == changed.answering) == (field in CHANGES_NO_ANSWER)


def test_the_time_on_a_line_is_that_of_a_warm_program(tmp_path: Path) -> None:
    count = tmp_path / "runs"
    loaded(python(f"open({str(count)!r}, 'a').write('x')", warmup=3))
    assert count.read_text() == "xxxx"
    started = time.perf_counter()
    _, load = loaded(Program(("cat",)))
    assert 0 < load.load_ms < (time.perf_counter() - started) * 1000
