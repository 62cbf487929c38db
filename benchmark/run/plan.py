"""What is to be run, decided before anything runs."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmark.corpus import Case, Corpus
from benchmark.matrix import Scenario, Track
from benchmark.run.resume import Past
from ctxsift.backends.base import Limits, LoadInfo
from ctxsift.contracts import Intent
from ctxsift.errors import InputError, did_you_mean
from ctxsift.prompts import PROMPT_VERSION, build_messages
from ctxsift.settings import Settings

RESUME_KEY_VERSION = 2
SEED = 0
_BACKENDS = {
    Track.CPU: "llama_cpp",
    Track.GPU: "transformers",
    Track.REMOTE: "litellm",
    Track.CONTROL: "controls",
}
# Dense output (addresses, hashes) has about 1.5 bytes a token; a wider context costs only memory.
_BYTES_PER_TOKEN = 1.5
_SCAFFOLD_TOKENS = 256


@dataclass(frozen=True)
class RunPlan:
    """Everything a run consumes; the command line only fills this in.

    Attributes:
        cases: in the order in which they run.
        folder_name: shared run folder (`--name`), or None for one folder a scenario.
        timestamp: UTC, e.g. 20260518T065257Z; part of folder names.
        env_file: where a remote backend reads the same settings again, key included.
        devices: GPUs that scenarios of device `cuda` are spread over; empty for the first one alone.
        past: what is there already of the one scenario; its folder and timestamp are gone on with.
        retry_failed: ask again what the model failed at, too.
        case_timeout_s: how long one answer of a local model may take; None for a limit that follows from its tokens.
        forgive_latency: leave the latency factor out where the machine was disturbed.

    """

    scenarios: tuple[Scenario, ...]
    cases: tuple[Case, ...]
    corpus: Corpus
    output_dir: Path
    timestamp: str
    settings: Settings
    folder_name: str | None = None
    show_output: bool = False
    env_file: Path | None = None
    devices: tuple[str, ...] = ()
    past: Past | None = None
    retry_failed: bool = False
    case_timeout_s: float | None = None
    forgive_latency: bool = False

    def folder(self, scenario: Scenario) -> Path:
        """Return the folder this scenario's files go to."""
        if self.past is not None:
            return self.past.path.parent
        return self.output_dir / f"{self.folder_name or scenario.name}-{self.timestamp}"

    def timeout_s(self, scenario: Scenario) -> float:
        """Return how long one answer of a local model may take before its process is ended, in seconds.

        Generous on purpose (20 tokens/s read, 1 token/s written): a slow machine is no instrument failure.
        """
        if self.case_timeout_s is not None:
            return self.case_timeout_s
        return 60 + self.context_tokens(scenario) / 20 + self.limits(scenario).max_output_tokens

    def limits(self, scenario: Scenario) -> Limits:
        """Return the token limit of one answer; for remote scenarios CTXSIFT_MAX_OUTPUT_TOKENS wins over the matrix."""
        if scenario.track is Track.REMOTE and self.settings.max_output_tokens is not None:
            return Limits(self.settings.max_output_tokens)
        return Limits(scenario.max_output_tokens)

    def context_tokens(self, scenario: Scenario) -> int:
        """Return a context that holds the longest prompt of the whole corpus and its answer, in tokens.

        Sized to the corpus and not to the selection, so that a case gets the same treatment in every run.
        """
        longest = max(len(case.raw_input.encode()) + len(case.instruction.encode()) for case in self.corpus.cases)
        wanted = int(longest / _BYTES_PER_TOKEN) + _SCAFFOLD_TOKENS + self.limits(scenario).max_output_tokens
        return -(-wanted // 512) * 512


def backend_name(scenario: Scenario) -> str:
    """Return the registered name of the backend that runs `scenario`."""
    return scenario.backend or _BACKENDS[scenario.track]


def stratified(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases in a fixed order in which every stretch of eight holds all intents, while they last."""
    groups = [
        sorted((c for c in cases if c.intent is intent), key=lambda c: hashlib.sha256(c.case_id.encode()).digest())
        for cases in [tuple(cases)]
        for intent in Intent
    ]
    rounds = itertools.zip_longest(*groups)
    return tuple(case for row in rounds for case in row if case is not None)


def select_cases(corpus: Corpus, *, case_ids: Sequence[str] = (), max_cases: int | None = None) -> tuple[Case, ...]:
    """Return the cases to run.

    Raises:
        InputError: an unknown id (nearest ones shown) or a limit below 1.

    """
    if max_cases is not None and max_cases < 1:
        raise InputError("--max-cases", f"{max_cases} is below 1", "give 1 or more")
    by_id = {case.case_id: case for case in corpus.cases}
    for case_id in case_ids:
        if case_id not in by_id:
            raise InputError(f"--case-id {case_id}", "is not in the corpus", did_you_mean(case_id, by_id))
    chosen = [by_id[case_id] for case_id in case_ids] if case_ids else corpus.cases
    return stratified(dict.fromkeys(chosen))[:max_cases]


def resume_key(case: Case, scenario: Scenario, *, limits: Limits, load: LoadInfo, weights_sha256: str | None) -> str:
    """Return a hash of everything that can change the answer to `case`: two equal keys, one answer."""
    identity: dict[str, Any] = {
        "version": RESUME_KEY_VERSION,
        "prompt_version": PROMPT_VERSION,
        "messages": [asdict(message) for message in build_messages(case.request)],
        "model": scenario.model,
        "weights_sha256": weights_sha256,
        "quantization": scenario.quantization,
        "device": scenario.device,
        "dtype": scenario.dtype,
        "attn_implementation": scenario.attn_implementation,
        "trust_remote_code": scenario.trust_remote_code,
        "extra_body": scenario.extra_body,
        # What is read together is padded, and padding changes the last bits of a sum.
        "batch": 1 if scenario.track is Track.REMOTE else scenario.concurrency,
        "limits": asdict(limits),
        "seed": SEED,
        "backend": load.backend,
        "engine": load.engine,
        "engine_version": load.engine_version,
        "chat_template_sha256": load.chat_template_sha256,
        "context_tokens": load.context_tokens,
        "threads": load.threads,
        # Why the settings came to be (the canary's note) does not change an answer.
        "settings": {k: v for k, v in load.settings.items() if k != "canary"},
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
