"""`python -m tools.record`: what it records, what it refuses, and that its sessions replay."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from atif import Trajectory

from benchmark.sessions.loader import open_recorded
from benchmark.sessions.records import Changes
from tests.conftest import ROOT
from tests.tools.recorded import Recorder, short_session, started

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """A recording of a short session; tests only read it."""
    return short_session(tmp_path_factory.mktemp("short"))


@pytest.fixture(scope="module")
def session(recorder: Recorder) -> Path:
    """The folder of the short session, finished."""
    return recorder.finished(recorder.folder.parent / "finished")


@pytest.fixture
def fresh(tmp_path: Path) -> Recorder:
    """A recording without a step."""
    return started(tmp_path)


def test_the_session_is_atif(session: Path) -> None:
    document = json.loads(gzip.decompress((session / "session.json.gz").read_bytes()))
    trajectory = Trajectory.model_validate(document)
    assert trajectory.agent.name == "recorded"
    assert trajectory.agent.model_name is None
    assert [step.source for step in trajectory.steps] == ["user", *["agent"] * 7]
    assert [step.step_id for step in trajectory.steps] == list(range(1, 9))


def test_steps_hold_what_was_done_and_seen(session: Path) -> None:
    steps = open_recorded(session).session().steps
    user, failing, reading, editing, passing, _, moving, saying = steps
    assert user.message == "Empty carts have to cost 0. Never touch the tests."
    assert (failing.calls[0].name, failing.calls[0].arguments) == ("bash", {"command": "python3 -m unittest"})
    assert "AssertionError: None != 0" in failing.results[0].text
    assert failing.results[0].exit_code == 1
    assert reading.message == "Where the total is made"
    assert reading.calls[0].arguments == {"path": "cart.py", "offset": 2, "limit": 2}
    assert reading.results[0].text == "     2\t    if not prices:\n     3\t        return None"
    assert editing.calls[0].arguments["new_text"] == "return 0"
    assert "-        return None\n+        return 0\n" in editing.results[0].text
    assert (passing.results[0].text, passing.results[0].exit_code) == ("OK", 0)
    assert moving.folder == "/home/dev/shop"
    assert (saying.message, saying.calls, saying.folder) == ("Empty carts cost 0 now.", (), "/home/dev/shop/src")
    assert all(step.timestamp for step in steps)


def test_the_truth_is_what_git_says(session: Path) -> None:
    truth = open_recorded(session).truth()
    assert [each.since_previous for each in truth] == [
        Changes(),
        Changes(),
        Changes(),
        Changes(modified=("cart.py",)),
        Changes(),
        Changes(created=("notes/CHANGES.md",)),
        Changes(created=("basket.py",), deleted=("notes/CHANGES.md",)),
        Changes(),
    ]
    assert truth[5].since_start == Changes(created=("notes/CHANGES.md",), modified=("cart.py",))
    assert truth[-1].since_start == Changes(created=("basket.py",), modified=("cart.py",))


def test_a_replay_gives_the_same_files(recorder: Recorder, session: Path) -> None:
    assert recorder.done("replay", str(session)) == "6 calls done again: the files at the end are the same"


def test_a_replay_tells_what_differs(fresh: Recorder, tmp_path: Path) -> None:
    fresh.run("date +%N > when.txt; test -e /tmp/seen")
    plain, excepted = fresh.finished(tmp_path / "a"), fresh.finished(tmp_path / "b", "--varies", "when.*")
    done = fresh("replay", str(plain))
    assert (done.returncode, done.stdout.splitlines()) == (
        1,
        [
            "step 1: the files differ from here on",
            "differs at the end: when.txt",
            "1 calls done again: the files at the end are not the same",
        ],
    )
    assert "differs at the end (may: it varies): when.txt" in fresh.done("replay", str(excepted))


def test_nothing_that_commands_see_is_of_this_machine(fresh: Recorder) -> None:
    told = fresh.run("whoami; hostname; pwd; echo $HOME; id -u; stat -c %U cart.py; ls -A ~ /tmp; env")
    assert told.startswith("dev\ndevbox\n/home/dev/shop\n/home/dev\n1000\ndev\n/home/dev:\nshop\n\n/tmp:\n")
    assert not [each for each in (str(ROOT), str(Path.home()), "PYTEST", "RECORDING") if each in told]
    assert fresh.run("ps -o pid= | wc -l") < "9"
    assert fresh.run("git log --format='%an <%ae>'") == "Dev <dev@example.invalid>"


def test_what_is_of_this_machine_has_to_be_taken_back(fresh: Recorder, tmp_path: Path) -> None:
    fresh.run("touch kept")
    home = str(Path.home())
    leaking = fresh("run", "--reason", "To see", "--", f"touch gone; echo in {home}/x")
    assert f"step 2 holds '{home}'" in leaking.stderr
    for refused in (
        fresh("say", text="Done."),
        fresh("finish", str(tmp_path / "x"), "--split", "dev", "--licence", "MIT"),
    ):
        assert refused.returncode == 2
        assert refused.stderr.startswith(f"error: step 2: holds '{home}'")
    assert fresh.done("undo").startswith("dropped step 2")
    assert fresh.run("ls") == "cart.py\nkept\ntest_cart.py"
    assert fresh("undo").returncode == 2


def test_changes_by_no_step_are_refused_until_they_are_undone(fresh: Recorder) -> None:
    fresh.done("user", text="Go on.")
    (fresh.files / "cart.py").write_text("by hand")
    refused = fresh("run", "--reason", "To see", "--", "ls")
    assert refused.returncode == 2
    assert "changed since step 1, by no step: cart.py" in refused.stderr
    assert fresh.done("undo") == "restored cart.py"
    assert "prices" in fresh.run("cat cart.py")


def test_a_torn_last_line_is_cut_off(fresh: Recorder) -> None:
    fresh.done("user", text="First.")
    journal = fresh.folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"type":"step","sou')
    fresh.done("say", text="Second.")
    assert fresh.done("status").startswith("2 steps, 1 by the user")


def test_a_command_that_takes_too_long_is_ended_with_all_it_started(fresh: Recorder) -> None:
    told = fresh.run("echo begun; (sleep 2; touch late) & sleep 60", "--timeout", "1")
    assert told == "begun\n\nCommand timed out after 1 s"
    assert fresh.run("sleep 2; ls") == "cart.py\ntest_cart.py"


def test_a_recorder_that_is_killed_leaves_nothing_running(fresh: Recorder) -> None:
    fresh.done("user", text="Go on.")
    command = [sys.executable, "-m", "tools.record", "run", "-r", "To see", "touch early; sleep 3; touch late"]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | {"RECORDING": str(fresh.folder)}) as process:
        while not (fresh.files / "early").exists():
            time.sleep(0.02)
        process.kill()
    time.sleep(3)
    assert not (fresh.files / "late").exists()
    assert fresh.done("undo") == "restored early"
    assert fresh.run("ls") == "cart.py\ntest_cart.py"


def test_repositories_inside_the_project_are_left_out(fresh: Recorder, tmp_path: Path) -> None:
    fresh.run("git init -q 'in[1]' && touch 'in[1]/x' other && git clone -q . clone 2>&1")
    fresh.run("touch clone/y more")
    truth = open_recorded(fresh.finished(tmp_path / "finished")).truth()
    assert [each.since_previous.created for each in truth] == [("other",), ("more",)]


def test_both_streams_come_in_order_and_long_output_is_cut(fresh: Recorder) -> None:
    assert fresh.run("echo 1; echo 2 >&2; echo 3; exit 4") == "1\n2\n3\n\nCommand exited with code 4"
    told = fresh.run("echo first; head -c 100000 /dev/zero | tr '\\0' x; echo; echo last")
    assert told.startswith("first\nxxx")
    assert told.endswith("xxx\nlast")
    assert "[... 70012 bytes of output left out ...]" in told


def test_the_shell_keeps_its_folder_until_that_is_gone(fresh: Recorder) -> None:
    assert fresh.run("mkdir -p a/b && cd a/b") == "(no output)"
    assert fresh.run("pwd; exit 1").startswith("/home/dev/shop/a/b\n")
    assert fresh.done("write", "--reason", "Here", "here.txt", text="x") == "Wrote 1 bytes to here.txt"
    assert fresh.run("cd ~/shop; find a -type f; rm -r a; cd /usr") == "a/b/here.txt"
    assert fresh.run("pwd; cd ~/shop; mkdir a; cd a; rmdir ../a") == "/usr"
    assert fresh.run("pwd") == "/home/dev/shop"


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("nowhere", "The old text was not found in cart.py. Nothing was changed."),
        ("return", "The old text was found 2 times, it has to be unique in cart.py. Nothing was changed."),
    ],
)
def test_an_edit_that_fails_is_a_step(fresh: Recorder, old: str, told: str) -> None:
    assert fresh.done("edit", "--reason", "Try", "cart.py", "--old", old, "--new", "x") == told
    assert fresh.done("status").startswith("1 steps")


def test_an_edit_may_come_on_stdin(fresh: Recorder) -> None:
    marked = "<<<<<<< OLD\n        return None\n=======\n        # Nothing to pay.\n        return 0\n>>>>>>> NEW\n"
    assert "+        # Nothing to pay.\n+        return 0\n" in fresh.done("edit", "-r", "Zero", "cart.py", text=marked)
    twice = fresh("edit", "-r", "Two places", "cart.py", text=marked * 2)
    assert (twice.returncode, "or more than one" in twice.stderr) == (2, True)


def test_a_message_within_a_turn_is_told(fresh: Recorder) -> None:
    fresh.done("user", text="Begin.")
    assert not fresh("read", "-r", "Look", "cart.py").stderr
    fresh.done("user", text="Stop after this.")
    assert "the user wrote before this step: Stop after this." in fresh("read", "-r", "Again", "cart.py").stderr
    assert not fresh("read", "-r", "Once more", "cart.py").stderr


def test_files_outside_the_recording_are_refused(fresh: Recorder) -> None:
    fresh.run("ln -s /etc/hostname link")
    for path in ("/etc/hostname", "../../../etc/hostname", "link"):
        done = fresh("read", "--reason", "Try", path)
        assert (done.returncode, "is not a file of the recording" in done.stderr) == (2, True)


def test_secrets_are_taken_out_and_addresses_of_nobody_stay(fresh: Recorder, tmp_path: Path) -> None:
    key = "sk-" + "Ab1" * 9
    told = fresh("run", "--reason", "To see", "--", f"echo {key} joe@corp.com ann@example.com")
    assert "replay will differ; `undo` it now" in told.stderr
    recorded = open_recorded(fresh.finished(tmp_path / "finished"))
    (step,) = recorded.session().steps
    assert step.results[0].text == "*** *** ann@example.com"
    assert recorded.provenance.redacted_steps == [1]


def test_a_call_that_could_not_be_replayed_may_be_taken_back(fresh: Recorder) -> None:
    fresh.done("write", "--reason", "Settings", "settings.py", text='token = "a1b2c3d4e5"\n')
    assert fresh.done("undo").startswith("dropped step 1")
    assert fresh.done("write", "--reason", "Settings", "settings.py", text="ann@example.com\n")
    assert fresh("undo").returncode == 2


def test_usage_errors_record_nothing(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "recording")
    assert "no such file; name the folder of a recording" in recorder("status").stderr
    assert recorder("start", str(tmp_path / "nowhere")).returncode == 2
    assert not recorder.folder.exists()
