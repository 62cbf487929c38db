"""What a model is: what its file says of itself, what it took to run it, and whether its row says something else."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from benchmark.matrix import Scenario
from benchmark.record.base import known
from benchmark.record.journal import Hardware
from benchmark.record.read import StoredResult
from benchmark.record.result import Run
from ctxsift.backends.base import ModelFile
from ctxsift.backends.packaged import known_weights

# As the names of files and rows have it: Q4_K_M, q8-0, IQ3_XXS, bf16.
_QUANTIZATION = re.compile(
    r"(?<![a-z0-9])(?:i?q[1-8][-_](?:[01]|k(?:[-_][sml])?|xxs|xs|nl|[sm])|b?f16|f32)(?![a-z0-9]|_[a-z0-9])",
    re.IGNORECASE,
)
_GPU = "gpu"


@dataclass(frozen=True)
class ModelFacts:
    """What is known of the model of a result; a text is empty and a number None where nothing is.

    Attributes:
        file: what the header of its weights says.
        architecture: as its engine calls it.
        engine: with its version.
        memory_bytes: most that an answer took, on the GPU where there is one; None for a service.
        machine: processor, cores and GPU, in words.
        label: the quantization that its row says, where the header says another one.

    """

    file: ModelFile
    architecture: str = ""
    engine: str = ""
    memory_bytes: int | None = None
    machine: str = ""
    label: str = ""


def facts_of(result: StoredResult) -> ModelFacts:
    """Return what a result tells of its model; of a packaged one, the table of these tells what the header does not."""
    run, scenario = result.record.run, result.record.scenario
    if run is None:
        return ModelFacts(ModelFile())
    backend = run.backend
    file = known(backend.model_file) if backend else None
    return ModelFacts(
        file=_completed(file or ModelFile(), run),
        architecture=backend.architecture if backend else "",
        engine=f"{backend.engine} {backend.engine_version}" if backend else "",
        memory_bytes=None if scenario.sends_away else _memory(result),
        machine="" if scenario.sends_away else _machine(run),
        label=label_against(scenario, file) if file else "",
    )


def label_against(scenario: Scenario, file: ModelFile) -> str:
    """Return the quantization that a row names where the header of its file says another; an empty text if none does.

    `none`, which says that nothing is quantized as the model is loaded, is no name of one. A part of a name (`Q4_K` of
    `Q4_K_M`) is no other name.
    """
    header = file.quantization
    if not header:
        return ""
    for words in (scenario.quantization, scenario.name, scenario.gguf_filename or ""):
        for found in _QUANTIZATION.findall(words):
            label = str(found).upper().replace("-", "_")
            if not (f"{label}_".startswith(f"{header}_") or f"{header}_".startswith(f"{label}_")):
                return label
    return ""


def _completed(file: ModelFile, run: Run) -> ModelFile:
    """Return what a header says, with what the table of packaged models says of weights with this hash."""
    model = known_weights(run.weights_sha256) if run.weights_sha256 else None
    if model is None:
        return file
    # A licence of the table was looked up; a publisher's header may leave it out.
    return replace(file, size_bytes=file.size_bytes or model.size, name=model.title, licence=model.licence)


def _memory(result: StoredResult) -> int | None:
    peaks = result.record.summary.peaks
    return (peaks.peak_gpu_bytes or peaks.peak_cpu_rss_bytes) if peaks else None


def _machine(run: Run) -> str:
    told = run.environment
    if machines := known(run.machines):
        return f"{len(machines)} kinds of machine"
    gpu = run.backend.settings.get(_GPU) if run.backend else None
    return str(
        Hardware(
            cpu=told.cpu,
            cpu_cores_physical=told.cpu_cores_physical,
            cpu_cores_logical=told.cpu_cores_logical,
            accelerator=gpu if isinstance(gpu, str) else None,
        )
    )
