"""The ceiling: a backend that gives the right answer, so that it travels the same path as every other."""

from __future__ import annotations

from pathlib import Path

from benchmark.corpus import DEFAULT_CORPUS, load_corpus
from ctxsift.backends.base import Generation, Limits, LoadInfo, ModelSpec
from ctxsift.backends.baselines import ReferenceBackend, reference_generation, reference_load_info
from ctxsift.errors import BackendError, InputError, LoadError
from ctxsift.prompts import Request


class OracleBackend(ReferenceBackend):
    """Answer with gold, from the corpus `spec.options.dataset`; see RequestBackend. No other backend ever sees gold."""

    def __init__(self) -> None:
        self._answers: dict[Request, str] = {}

    def load(self, spec: ModelSpec) -> LoadInfo:
        """Read the corpus. Raises LoadError when it cannot be read."""
        try:
            corpus = load_corpus(Path(spec.options.dataset) if spec.options.dataset else DEFAULT_CORPUS)
        except InputError as error:
            raise LoadError(str(error)) from error
        self._answers = {case.request: case.expected_output for case in corpus.cases}
        return reference_load_info("gold", corpus.sha256)

    def generate_request(self, request: Request, limits: Limits) -> Generation:
        """Give the gold of the case with this request. Raises BackendError when there is none."""
        del limits
        answer = self._answers.get(request)
        if answer is None:
            raise BackendError("the corpus has no case with this request")
        return reference_generation(answer, 0.0, "gold")
