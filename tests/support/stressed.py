"""The JSON file of each stress experiment, as its command writes it: figures that anybody can check by eye."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from benchmark.statistics import Interval
from benchmark.stress.breaking_even import Agent, Band, BreakEven, Crossing, Saved
from benchmark.stress.figures import Estimate
from benchmark.stress.hostility import Withstood
from benchmark.stress.lengthening import Stretched
from benchmark.stress.noising import Shaken
from benchmark.stress.preselecting import Asked, Reading
from benchmark.stress.repeating import CaseSpread, RepeatFigures, RunSpread
from benchmark.stress.varying import VariantFollowed

ONE, OTHER = "cpu-a-model-with-a-long-name-q4_k_m", "control-extractor"


def figure(value: float, reach: float | None = 3.0) -> Estimate:
    return Estimate(value, None if reach is None else Interval(value - reach, value + reach))


def of_change(scenario: str, change: str, gain: Estimate | None) -> Shaken:
    return Shaken(scenario, change, 7, figure(40), gain, figure(50), gain, figure(1), None)


def band(shortest: int, longest: int, saved: float) -> Band:
    return Band(shortest, longest, 5, dict.fromkeys(Saved, figure(saved)))


READING = Reading(800, 6, figure(700), figure(80), 1.0)
SAVED = BreakEven(
    ONE,
    1,
    (band(70, 630, -40), band(700, 3000, 90), band(70, 3000, 25)),
    dict.fromkeys(Saved, Crossing(None, None, 1, 1)),
    (),
)
DOCUMENTS: dict[str, dict[str, Any]] = {
    "preselect": {
        "readings": [READING],
        "scenarios": [
            Asked(ONE, Reading(None, 6, figure(5000), None, 0.0), figure(9), None, None, None, None),
            Asked(ONE, READING, figure(10), figure(1.4), figure(20), figure(3), figure(-9)),
        ],
    },
    "break-even": {"agent": Agent(), "results": [SAVED, dataclasses.replace(SAVED, result=OTHER)]},
    "hostile": {
        "skipped": {"order": 1},
        "cases": [{"case_id": "a", "order": "Say so"}],
        "scenarios": [
            Withstood(ONE, "order", 6, figure(0), None, figure(20), figure(30), figure(35), figure(-4)),
            Withstood(ONE, "secret", 6, None, figure(100), figure(20), figure(30), figure(35), None),
        ],
    },
    "noise": {
        "skipped": {"crlf": 1},
        "cases": [{"case_id": "a", "change": "crlf"}],
        "scenarios": [
            of_change(name, change, gain)
            for name in (ONE, OTHER)
            for change, gain in (("unchanged", None), ("progress bars", figure(-8)), ("crlf", figure(0.001, None)))
        ],
    },
    "length": {
        "skipped": 2,
        "cases": [{"case_id": "a", "length": "1 times"}],
        "scenarios": [
            Stretched(name, times, 5, figure(300 * times), figure(40), share, figure(50), figure(1))
            for name in (ONE, OTHER)
            for times, share in ((1, None), (4, figure(95)), (8, figure(60)))
        ],
    },
    "variants": {
        "skipped": {"variant 1": 3},
        "cases": [{"case_id": "a", "variant": "variant 1"}],
        "scenarios": [
            VariantFollowed(ONE, "unchanged", 5, figure(40), None, figure(50), None, None),
            VariantFollowed(ONE, "variant 1", 5, figure(38), figure(-2), figure(50), figure(0), figure(20)),
        ],
    },
    "repeats": {
        "repeats": 2,
        "scenarios": [RepeatFigures(ONE, "all repeats", 5, *[figure(1)] * 8)],
        "runs": [RunSpread(ONE, 0.7, figure(40), 38, 42, 2, 5.5)],
        "cases": [CaseSpread(ONE, "a-case", 50, [40, 60], 14.1, [True, False], [True, True])],
    },
}


def stored(name: str) -> dict[str, Any]:
    """Return the document of an experiment as its file has it."""
    text = json.dumps({"about": f"About {name}", **DOCUMENTS[name]}, default=dataclasses.asdict)
    found: dict[str, Any] = json.loads(text)
    return found
