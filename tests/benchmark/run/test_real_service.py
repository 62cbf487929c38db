"""The remote track against a real service on loopback: llama.cpp's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark.cases import Case, Corpus
from benchmark.record.base import to_json
from benchmark.record.read import find_results
from ctxsift.backends.loops import MIN_TOKENS
from tests.conftest import Run, scenario, write_matrix
from tests.support.depth import depth
from tests.support.remote import remote

pytestmark = [pytest.mark.slow, pytest.mark.model, pytest.mark.xdist_group("service")]


def shortest(corpus: Corpus, count: int) -> list[Case]:
    return sorted(corpus.cases, key=lambda case: len(case.raw_input))[:count]


def test_a_real_service_answers_as_the_cpu_track_does(
    service: str, runner: Run, tmp_path: Path, corpus: Corpus
) -> None:
    # Fewer tokens than the rule against loops needs: it is the cpu track's alone.
    limit = MIN_TOKENS - 1
    (tmp_path / ".env").write_text(
        f"CTXSIFT_LLM_BASE_URL={service}\nCTXSIFT_LLM_API_KEY=k\nCTXSIFT_TIMEOUT_MS=110000\nCTXSIFT_RETRIES=0\n"
    )
    write_matrix(
        tmp_path,
        scenario(name="here", phase="here", max_output_tokens=limit),
        # The service punishes repetition unless it is told not to (docs/footguns.md).
        remote(name="there", phase="there", concurrency=2, max_output_tokens=limit, extra_body={"repeat_penalty": 1.0}),
    )
    chosen = [word for case in shortest(corpus, depth(3, 6)) for word in ("--case-id", case.case_id)]
    for arguments in (["--phase", "here"], ["--phase", "there", "--remote", "--env-file", ".env"]):
        done = runner(*arguments, *chosen)
        assert done.returncode == 0, done.stderr
    here, there = (find_results([path])[0] for path in sorted((tmp_path / "results").glob("*/*.json")))
    assert (here.name, there.name) == ("here", "there")
    rows = {case["case_id"]: case for case in to_json(here.record)["cases"]}
    answered = to_json(there.record)["cases"]
    same = [case["raw_view"]["output"] == rows[case["case_id"]]["raw_view"]["output"] for case in answered]
    assert sum(same) >= 0.8 * len(same)
    for case in answered:
        assert case["prompt_tokens"] == rows[case["case_id"]]["prompt_tokens"]
        assert case["completion_tokens"] <= limit
