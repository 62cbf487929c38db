"""What other programs keep of three recorded sessions, as it follows from their sources, not from the rules here.

The numbers of the steps were derived by hand: from the sources named in docs/compaction.md and the sizes of the steps,
estimated as here. Whoever changes a rule derives them again.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import pytest

from benchmark.probes.asking import probe_cuts
from benchmark.probes.loading import recorded_named
from ctxsift.sessions.compaction.records import Cut
from ctxsift.sessions.compaction.running import compact_session
from ctxsift.sessions.compaction.transcript import STEP_LINE
from ctxsift.sessions.records import Session
from ctxsift.sessions.speakers import words_of

Sessions: TypeAlias = dict[str, tuple[Session, list[Cut]]]

_FILES = re.compile(r"^Files (changed|read):\n((?:- .+\n)+)", re.MULTILINE)


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    read = {name: recorded_named([name])[0].session() for name in ("tidecast", "harvestlog", "sheafc")}
    return {name: (session, probe_cuts(session)) for name, session in read.items()}


def last_summary(sessions: Sessions, name: str, method: str, budget: int = 2000) -> str:
    session, cuts = sessions[name]
    return list(compact_session(session, method, cuts, budget=budget))[-1].summary.text


def steps_in(text: str) -> list[int]:
    lines = (STEP_LINE.fullmatch(line) for line in text.splitlines())
    return [int(found[1].removeprefix("step ")) for found in lines if found]


@pytest.mark.parametrize(
    ("name", "budget", "kept"),
    [
        ("tidecast", 1000, [113]),
        ("tidecast", 2000, [108, 109, 110, 111, 112, 113]),
        ("tidecast", 4000, [101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113]),
        # Its last step has 1,182 tokens: nothing stays. With 4,000, the turn of step 107 is whole, that of 101 is not.
        ("harvestlog", 1000, []),
        ("harvestlog", 2000, [109]),
        ("harvestlog", 4000, [105, 106, 107, 108, 109]),
        ("sheafc", 1000, [173, 174]),
        ("sheafc", 2000, [170, 171, 172, 173, 174]),
        ("sheafc", 4000, [161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174]),
    ],
)
def test_opencode_keeps_these_steps(sessions: Sessions, name: str, budget: int, kept: list[int]) -> None:
    assert steps_in(last_summary(sessions, name, "opencode-rules", budget)) == kept


@pytest.mark.parametrize(
    ("name", "budget", "kept", "is_cut"),
    [
        ("tidecast", 1000, [112, 113], True),
        # Results of step 107 reach the limit, as those of 108 in harvestlog and of 172 in sheafc: the step goes.
        ("tidecast", 2000, [108, 109, 110, 111, 112, 113], False),
        # The names of files take 93 tokens; step 101 reaches the 3,907 that are left.
        ("tidecast", 4000, [101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113], False),
        ("harvestlog", 1000, [109], True),
        ("harvestlog", 2000, [109], False),
        ("harvestlog", 4000, [105, 106, 107, 108, 109], True),
        ("sheafc", 1000, [173, 174], False),
        ("sheafc", 2000, [170, 171, 172, 173, 174], True),
        ("sheafc", 4000, [161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174], False),
    ],
)
def test_pi_keeps_these_steps(sessions: Sessions, name: str, budget: int, kept: list[int], is_cut: bool) -> None:
    text = last_summary(sessions, name, "pi-rules", budget)
    assert steps_in(text) == kept
    assert ("characters of the step left out here" in text) is is_cut


@pytest.mark.parametrize(("name", "changed", "read"), [("tidecast", 19, 0), ("harvestlog", 14, 0), ("sheafc", 17, 2)])
def test_pi_names_so_many_files(sessions: Sessions, name: str, changed: int, read: int) -> None:
    lists = dict(_FILES.findall(last_summary(sessions, name, "pi-rules")))
    assert [lists.get(key, "").count("\n") for key in ("changed", "read")] == [changed, read]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("tidecast", [1, 43, 45, 63, 87]),
        ("harvestlog", [1, 26, 41, 50, 58, 64, 74, 82, 87, 93, 101, 107]),
        ("sheafc", [1, 43, 63, 115, 145, 163]),
    ],
)
def test_codex_keeps_what_the_user_said_in_these_steps(sessions: Sessions, name: str, kept: list[int]) -> None:
    words = {step.step_id: words_of(step) for step in sessions[name][0].steps}
    assert last_summary(sessions, name, "user") == "\n".join(f"user: {words[number]}" for number in kept)
