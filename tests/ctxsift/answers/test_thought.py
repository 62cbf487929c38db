"""Detection of visible thought on labelled answers."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ctxsift.answers.recovery import recover
from ctxsift.answers.thought_density import find_thought
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.conftest import ROOT
from tests.support.results import earlier_requests

FOLDER = ROOT / "tests" / "data" / "thought"
Entry = dict[str, Any]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """Return all parts of the set; real answers name the case whose request they answer."""
    requests = earlier_requests()
    found = [entry for path in sorted(FOLDER.glob("*.yaml")) for entry in yaml.safe_load(path.read_text())]
    for entry in found:
        if "case_id" in entry:
            asked = requests[entry["case_id"]]
            known = {"raw_input": asked.raw_input, "instruction": asked.instruction, "intent": str(asked.intent)}
            entry.update(known | entry)
    return found


def request(entry: Entry) -> Request:
    return Request(entry["raw_input"], entry["instruction"], Intent(entry["intent"]))


def density(entry: Entry) -> float:
    asked = request(entry)
    return find_thought(
        entry["text"], raw_input=asked.raw_input, instruction=asked.instruction, intent=asked.intent
    ).density


def test_the_set_is_large_and_varied(entries: list[Entry]) -> None:
    leaking = [entry for entry in entries if entry["leaking"]]
    assert len(entries) >= 160
    assert 0.4 <= len(leaking) / len(entries) <= 0.6
    assert len({entry["style"] for entry in leaking}) >= 10
    assert len({entry["model_family"] for entry in leaking}) >= 8
    assert len({entry["id"] for entry in entries}) == len(entries)


def test_detection_f1(entries: list[Entry]) -> None:
    verdicts = [(entry["leaking"], density(entry) > 0) for entry in entries]
    hits = sum(leaks and found for leaks, found in verdicts)
    errors = sum(leaks != found for leaks, found in verdicts)
    f1 = 2 * hits / (2 * hits + errors)
    wrong = [entry["id"] for entry in entries if entry["leaking"] != (density(entry) > 0)]
    print(f"{len(entries)} answers, F1 {f1:.3f}, wrong: {wrong}")
    assert f1 >= 0.98, wrong


def test_innocent_answers_are_not_changed(entries: list[Entry]) -> None:
    # Real answers (with a case_id) may stand in a fence or an echo that has to go without having leaked a thought.
    for entry in entries:
        if not entry["leaking"] and "case_id" not in entry:
            assert recover(entry["text"], request(entry)).text == entry["text"], entry["id"]


def test_recovered_payloads_are_whole(entries: list[Entry]) -> None:
    """What recovery returns is the payload, or holds it in full: nothing of it is lost."""
    known = [entry for entry in entries if "payload" in entry]
    exact = 0
    for entry in known:
        recovered = recover(entry["text"], request(entry)).text
        exact += recovered == entry["payload"]
        characters = iter(recovered)
        assert all(character in characters for character in entry["payload"]), entry["id"]
    print(f"{exact} of {len(known)} payloads recovered byte for byte")
    assert exact >= 0.75 * len(known)


def test_density_follows_the_share_of_thought(entries: list[Entry]) -> None:
    def mean(share: str) -> float:
        figures = [density(entry) for entry in entries if entry.get("thought_share") == share]
        return sum(figures) / len(figures)

    assert mean("less") < mean("most") < mean("all")
    assert all(density(entry) == 0 for entry in entries if entry["style"] == "plain_good")
