"""Lines that are chosen before a model reads a long output: within their budget, and with what an answer needs."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.cases import Corpus
from benchmark.scoring.anchors import missing_anchors
from ctxsift.asking import ask
from ctxsift.backends.base import Limits, ModelSpec
from ctxsift.backends.baselines import BaselinesBackend
from ctxsift.intents import Intent
from ctxsift.preselect import Preselect
from ctxsift.preselection import Preselection, preselected, tokens_in
from ctxsift.prompts import Request, RequestPrompt
from tests.ctxsift.test_cli_compress import LONG, call, script

TROUBLE = "src/app.py:7: error: no 'total'"
REQUEST = Request(LONG.decode(), "what went wrong?", Intent.SUMMARY, "make", 2)


def test_a_long_output_becomes_lines_within_the_budget() -> None:
    for budget in (100, 400, 1600):
        chosen = preselected(REQUEST, budget)
        assert TROUBLE in chosen.raw_input
        assert tokens_in(chosen.raw_input) <= budget
        assert replace(chosen, raw_input=REQUEST.raw_input) == REQUEST
    lines = preselected(REQUEST, 400).raw_input.split("\n")
    told = [line for line in lines if not line.startswith("... ")]
    assert set(told) <= set(REQUEST.raw_input.split("\n"))
    assert len(told) < len(lines)


def test_what_fits_is_read_whole() -> None:
    assert preselected(REQUEST, tokens_in(REQUEST.raw_input)) is REQUEST
    one_line = Request("x" * 90_000, "what?", Intent.SUMMARY)
    assert len(preselected(one_line, 100).raw_input) < 1_000


def test_unless_it_is_wanted_nothing_is_chosen() -> None:
    assert Preselection(tokens=100).prompt(REQUEST) == RequestPrompt(REQUEST)


def test_an_answer_keeps_what_was_read_in_place_of_the_output() -> None:
    backend = BaselinesBackend()
    backend.load(ModelSpec("echo"))
    prompt = Preselection(Preselect.LINES, 400).prompt(REQUEST)
    answer = ask(prompt, backend, Limits(4_000))
    assert answer.generation.read == answer.generation.text == preselected(REQUEST, 400).raw_input
    # What was chosen is not what did not fit.
    assert answer.input_chars_cut == 0
    assert ask(Preselection(Preselect.LINES, 100_000).prompt(REQUEST), backend, Limits(4_000)).generation.read is None


def test_what_does_not_fit_is_cut_from_the_lines() -> None:
    output = "\n".join(f"part{n}.c: error {n}: cannot find part{n}.h" for n in range(900))
    shorter = Preselection(Preselect.LINES, 1_600).prompt(replace(REQUEST, raw_input=output)).shortened(0.5)
    assert shorter is not None
    assert shorter.read == shorter.request.raw_input
    assert shorter.chars_cut > 0
    assert "left out here" in shorter.request.raw_input


@pytest.mark.parametrize(("budget", "least"), [(800, 0.65), (1600, 0.8)])
def test_what_an_answer_needs_survives(corpus: Corpus, budget: int, least: float) -> None:
    """Of the forty longest outputs, six to nine times as long as the smaller budget."""
    longest = sorted(corpus.cases, key=lambda case: (-tokens_in(case.raw_input), case.case_id))[:40]
    kept = []
    for case in longest:
        anchors = [each for each in case.required_anchors if not missing_anchors(case.raw_input, [each])]
        text = preselected(case.request, budget).raw_input
        assert tokens_in(text) <= budget
        kept += [1 - len(missing_anchors(text, anchors)) / len(anchors)] if anchors else []
    assert sum(kept) / len(kept) >= least


@pytest.mark.slow
def test_compress_lets_the_model_read_lines(tmp_path: Path) -> None:
    fields = {"answers": [["module 200 of", "all of it"]], "default": f"{TROUBLE.partition(':')[0]} has an error."}
    asked = ("what went wrong?", *script(tmp_path, **fields))
    lines = ("--preselect", "lines", "--preselect-tokens", "300")
    assert call(*asked, *lines, data=LONG).stdout == b"src/app.py has an error.\n"
    told = json.loads(call(*asked, *lines, "--json", data=LONG).stdout)
    whole = json.loads(call(*asked, "--json", data=LONG).stdout)
    assert told["tokens"]["prompt"] < whole["tokens"]["prompt"] / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--preselect", "lines"), "--preselect: has an effect only with a model; name one"),
        (("--model", "x", "--preselect-tokens", "9"), "--preselect-tokens 9: is too few; the minimum is 100"),
        (("--model", "x", "--preselect", "words"), "argument --preselect: invalid choice: 'words'"),
    ],
)
def test_bad_options_let_the_output_through(options: tuple[str, ...], problem: str) -> None:
    done: subprocess.CompletedProcess[bytes] = call("what?", *options, data=LONG)
    assert (done.returncode, done.stdout) == (2, LONG)
    assert problem in done.stderr.decode()
