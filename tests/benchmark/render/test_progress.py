"""What is said as a scenario begins."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from benchmark.matrix import Scenario, Track
from benchmark.render.progress import RunProgress
from ctxsift.backends.base import LoadInfo
from ctxsift.backends.baselines import reference_load_info
from ctxsift.backends.command import UNKNOWN_VERSION
from ctxsift.backends.registry import BASELINES, COMMAND

PROGRAM = replace(reference_load_info(COMMAND, UNKNOWN_VERSION), engine="sh", threads=0)
MODEL = replace(PROGRAM, backend="llama_cpp", engine="llama-cpp-python", engine_version="0.3", context_tokens=8192)


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (PROGRAM, ["mine: runs the program sh"]),
        (replace(PROGRAM, engine_version="1.2"), ["mine: runs the program sh 1.2"]),
        (reference_load_info(BASELINES, "3"), []),
        (MODEL, ["mine: llama-cpp-python 0.3, context 8192, loaded in 0.0 s"]),
    ],
)
def test_only_of_a_model_is_said_that_it_was_loaded(load: LoadInfo, said: list[str]) -> None:
    told = io.StringIO()
    scenario = Scenario(name="mine", track=Track.COMMAND, phase="p", model="m", quantization="none", device="cpu")
    with (
        RunProgress(Console(file=told, width=120), 1, 1, show_output=False) as progress,
        progress.scenario() as listener,
    ):
        listener.started(scenario, load)
    assert [line.rstrip() for line in told.getvalue().splitlines() if line.startswith("mine: ")] == said
