"""What is printed in place of an output: lines of it, bounded, never hiding why a command failed; or nothing."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxsift import raw_store
from ctxsift.shortening import reads_kept, shortened
from tests.support.depth import depth

QUESTION = "errors, failures, warnings, result"
MOST = 8000
NOISE = [f"[{n:04}] copied asset {n * 37 % 991} to the folder of the release" for n in range(600)]
GAP = re.compile(
    r"\.\.\. ([\d,]+) lines?(?:, [\d,]+ of them with a failure)? \.\.\."
    r"|\.\.\. the same line [\d,]+ more times? \.\.\."
)
LAST = re.compile(
    r"\[ctxsift: ([\d,]+) of ([\d,]+) lines, (?:exit (\d+), )?extractor; all: (\S+) or: ctxsift raw ([0-9a-f]{12,64})\]"
)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def short(output: str | bytes, exit_code: int | None = 0, most: int = MOST) -> str | None:
    data = output if isinstance(output, bytes) else output.encode()
    return shortened(data, QUESTION, exit_code, most)


def log(*said: str, at: int = 300) -> str:
    return "\n".join([*NOISE[:at], *said, *NOISE[at:]]) + "\n"


def test_the_last_line_counts_and_leads_to_the_original() -> None:
    output = log("src/app.py:7: error: no 'total'")
    printed = short(output, 2)
    assert printed is not None
    *lines, last = printed.split("\n")
    found = LAST.fullmatch(last)
    assert found is not None, last
    own = [line for line in lines if not GAP.fullmatch(line)]
    assert (found[1], found[2], found[3]) == (str(len(own)), "601", "2")
    assert set(own) <= set(output.split("\n"))
    path = Path(found[4])
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (output.encode(), 0o600)
    assert raw_store.read(found[5]) == output.encode()


def test_an_unknown_exit_code_is_not_told() -> None:
    printed = short(log(), None)
    assert printed is not None
    assert "lines, extractor; " in printed.split("\n")[-1]


# What each of them prints where nothing is tested, compiled or found, and a word of success stands beside it.
FALSE_GREEN = {
    "pytest cannot collect": (
        2,
        "collected 0 items / 1 error",
        "ERROR tests/test_cart.py - ModuleNotFoundError: No module named 'cart'",
    ),
    "jest suite does not compile": (1, "  ● Test suite failed to run", "Tests:       12 passed, 12 total"),
    "tsc is missing": (127, "sh: 1: tsc: not found", "up to date, audited 214 packages in 1s"),
    "go has no such path": (
        1,
        "stat /src/cmd/nowhere: directory not found",
        "ok      example.com/shop/cart   0.012s",
    ),
    "ruff cannot parse": (1, "error: Failed to parse src/app.py:3:5: Expected an expression", "All checks passed!"),
    "vitest has no tests": (1, "No test files found, exiting with code 1", "include: **/*.{test,spec}.?(c|m)[jt]s?(x)"),
    "killed": (137, "[0601] copied asset 7 to", ""),
}


# Without a word of failure, only at the end of an output is it sure to be seen.
PLACES = [
    (name, at)
    for name in FALSE_GREEN
    for at in (300, 600)
    if at == 600 or name not in ("vitest has no tests", "killed")
]


@pytest.mark.parametrize(("name", "at"), PLACES)
def test_a_failure_is_never_hidden(name: str, at: int) -> None:
    code, said, beside = FALSE_GREEN[name]
    output = log(beside, said, at=at)
    printed = short(output, code)
    assert printed is None or (said in printed.split("\n") and f", exit {code}, " in printed)


def test_the_last_lines_of_a_failed_command_are_there_as_they_are() -> None:
    last = ["x" * 700, "", "y", "y", "the end " * 90]
    printed = short("\n".join(["error: early", *NOISE, *last]) + "\n\n", 1)
    assert printed is not None
    assert printed.split("\n")[-6:-1] == last


def test_where_no_line_shows_a_failure_the_end_of_the_output_tells() -> None:
    printed = short("\n".join([*NOISE, *(f"step {n} went well, 0 errors" for n in range(300))]), 3)
    assert printed is not None
    lines = printed.split("\n")
    assert lines[-100:-1] == [f"step {n} went well, 0 errors" for n in range(201, 300)]
    assert LAST.fullmatch(lines[-1])


def test_what_is_unlike_the_rest_is_shown_where_no_line_shows_a_failure() -> None:
    told = "check 3000: bad value 7"
    checks = [f"check {n}: good" for n in range(6000)]
    printed = short("\n".join([*checks[:3000], told, *checks[3000:], "OK"]), 1)
    assert printed is not None
    assert told in printed.split("\n")


def test_an_end_without_room_leaves_the_output_as_it_is() -> None:
    assert short("\n".join([*NOISE, *("z" * 3000 for _ in range(5))]), 1) is None
    assert short("\n".join([*NOISE, *("z" * 3000 for _ in range(5))]), 0) is not None


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(NOISE).encode() + b"\xff",
        "\n".join(NOISE).encode() + b"\x00",
        ("\n".join(NOISE) + "\n[ctxsift: 9 of 1,214 lines, exit 1, extractor; all: /x or: ctxsift raw 0]\n").encode(),
        b"short\n" * 250,
        b"",
    ],
    ids=["not UTF-8", "bytes", "shortened already", "nothing saved", "empty"],
)
def test_what_is_never_shortened(data: bytes, state: Path) -> None:
    assert short(data) is None
    assert not list(state.iterdir())


def test_what_cannot_be_kept_is_not_shortened(state: Path) -> None:
    (state / "ctxsift").write_text("a file")
    with pytest.raises(OSError, match="Not a directory"):
        short(log())


_LINES = st.lists(
    st.tuples(
        st.sampled_from(("", "error: no ", "ok ", "日本語 失敗 ", "x" * 600, "\x1b[31mFAIL\x1b[0m ")),
        st.integers(0, 99),
    ),
    max_size=400,
)


@given(_LINES, st.integers(0, 3), st.sampled_from((500, 2000, MOST)), st.booleans())
@settings(max_examples=depth(60, 5000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_it_is_bounded_and_made_of_lines_of_the_output(
    drawn: list[tuple[str, int]], code: int, most: int, ends: bool
) -> None:
    lines = [f"{said}{number}" for said, number in drawn]
    output = "\n".join(lines) + "\n" * ends
    printed = short(output, code, most)
    if printed is None:
        return
    size, whole = len(printed.encode()) + 1, len(output.encode())
    assert size <= most
    assert size <= whole - 1500
    assert size <= 0.75 * whole
    *shown, last = printed.split("\n")
    assert LAST.fullmatch(last)
    told = re.compile(r".{300} \.\.\. [\d,]+ characters \.\.\. .{200}|\.\.\. this line occurs [\d,]+ times \.\.\.")
    assert all(line in lines or GAP.fullmatch(line) or told.fullmatch(line) for line in shown)
    if code:
        assert shown[-min(5, len(lines)) :] == output.rstrip("\n").split("\n")[-5:]


@pytest.mark.parametrize(
    "command",
    [
        "cat /home/me/.local/state/ctxsift/raw/3f2a9c81d04e.log",
        "sed -n 1,900p ~/.local/state/ctxsift/raw/3f2a9c81d04e.log",
        "cd $XDG_STATE_HOME/ctxsift/raw && grep -n error *",
        "cat 3f2a9c81d04e.log | head -500",
        "ctxsift raw 3f2a9c81d04e",
        "/usr/bin/ctxsift raw 3f2a9c81d04e | grep x",
        "python3 -m ctxsift raw 3f2a9c81d04e",
        "ctxsift run -- pytest",
        "ctxsift compress 'what failed?' -- make",
    ],
)
def test_what_is_kept_or_shortened_already_is_known_by_its_command(command: str) -> None:
    assert reads_kept(command)


@pytest.mark.parametrize("command", ["pytest tests/ctxsift", "cat build.log", "cat raw.log", "git log ctxsift/rawhide"])
def test_other_commands_are_not(command: str) -> None:
    assert not reads_kept(command)
