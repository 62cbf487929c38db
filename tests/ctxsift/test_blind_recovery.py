"""Answers in the manner of many models, written by people who saw no code: what is recovered, found and accepted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from ctxsift.answers.grounding import ground
from ctxsift.answers.thought_density import find_thought
from ctxsift.answers.validation import Status, has_fact
from ctxsift.compression import examine
from ctxsift.intents import Intent
from ctxsift.prompts import Request
from tests.conftest import ROOT
from tests.support.results import earlier_requests

FOLDER = ROOT / "tests" / "data" / "recovery"
VERDICTS = {Status.ACCEPTED: "accepted", Status.SOFT_ACCEPTED: "flagged", Status.REJECTED: "rejected"}
Entry = dict[str, Any]


def entries(name: str) -> list[Entry]:
    found: list[Entry] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return found


def request(entry: Entry) -> Request:
    return Request(
        entry["raw_input"],
        entry["instruction"],
        Intent(entry["intent"]),
        entry.get("command"),
        entry.get("exit_code"),
    )


def leaks(entry: Entry) -> bool:
    asked = request(entry)
    found = find_thought(entry["text"], raw_input=asked.quotable, instruction=asked.instruction, intent=asked.intent)
    return found.density > 0


def share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != "innocents"))
def test_blind_sets(name: str) -> None:
    found = entries(name)
    dirty = [entry for entry in found if entry["dirty"]]
    innocent = [entry for entry in found if not entry["dirty"]]
    assert 3 * len(innocent) == 2 * len(dirty) >= 48
    views = {entry["id"]: examine(entry["text"], request(entry))[1] for entry in found}

    verdicts = [(entry["leaking"], leaks(entry)) for entry in found]
    right = sum(wanted and got for wanted, got in verdicts)
    f1 = 2 * right / (2 * right + sum(wanted != got for wanted, got in verdicts))
    exact = [views[e["id"]].text.strip() == e["payload"].strip() for e in dirty if e["payload"] is not None]
    wrong = [e for e in dirty if e["payload"] is None or views[e["id"]].text.strip() != e["payload"].strip()]
    accepted = [e["id"] for e in wrong if views[e["id"]].validation.status is Status.ACCEPTED]
    changed = [e["id"] for e in innocent if views[e["id"]].text != e["text"]]
    expected = [VERDICTS[views[e["id"]].validation.status] == e["expected"] for e in found]
    print(
        f"{name}: F1 {f1:.3f}, payloads {sum(exact)} of {len(exact)}, innocents changed {len(changed)}, "
        f"non-payloads accepted {len(accepted)} of {len(found)}, verdicts as expected {sum(expected)} of {len(found)}"
    )
    assert f1 >= 0.93
    assert share(exact) >= 0.75
    assert not changed
    assert len(accepted) <= 0.02 * len(found), accepted
    assert share(expected) >= 0.90


def test_adversarial_innocents_lose_nothing() -> None:
    found = entries("innocents")
    assert len(found) >= 35
    for entry in found:
        raw, recovered, _ = examine(entry["text"], request(entry))
        assert recovered.text == entry["text"], entry["id"]
        assert "visible_thought" not in (*raw.validation.reasons, *raw.validation.flags), entry["id"]


def test_answers_that_models_really_gave() -> None:
    """What is accepted of them was read by a person, and none of it lost a fact."""
    requests = earlier_requests()
    data = ROOT / "tests" / "data"
    answers = json.loads((data / "answers.json").read_text(encoding="utf-8"))
    usable = json.loads((data / "usable_answers.json").read_text(encoding="utf-8"))
    assert sum(map(len, answers.values())) == 136
    for model, said in answers.items():
        for case_id, text in said.items():
            asked = requests[case_id]
            _, recovered, recovery = examine(text, asked)
            status = str(recovered.validation.status)
            if recovered.validation.status is Status.REJECTED:
                assert case_id not in usable[model], (model, case_id)
                continue
            assert usable[model][case_id] == {"status": status, "text": recovered.text}, (model, case_id)
            prose = "\n".join(step.removed for step in recovery.steps if step.name == "thought_prose")
            lost = ground(asked.quotable).lost(prose, recovered.text)
            assert not any(has_fact(word) or (word.isdigit() and len(word) > 1) for word in lost), (model, case_id)
