"""One model at several quantizations, made from the packaged results of three different models."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from benchmark.cli.command import PACKAGED_RESULTS

# What results of the quantization hold the answers of, and how big its file is; that with Q4_K_M is as it was.
RUNGS = {
    "Q8_0": ("cpu-qwen2.5-coder-1.5b-q4_k_m", 675_710_816),
    "Q3_K_M": ("cpu-qwen2.5-coder-0.5b-q4_k_m", 432_042_848),
    "Q2_K": ("cpu-smollm2-135m-q4_1", 415_183_712),
}
MEASURED = "cpu-qwen2.5-coder-0.5b-q4_k_m"


def rungs(folder: Path) -> Path:
    """Write results of one model at four quantizations, and of the two models whose answers they hold; return `folder`.

    The best has the biggest file, one answers as the one above it does, and the smallest answers next to nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted((PACKAGED_RESULTS / "easy").glob("*.json.gz")):
        (folder / file.name).write_bytes(file.read_bytes())
    about = _record(MEASURED)["run"]["backend"]["model_file"]
    for quantization, (answers, size) in RUNGS.items():
        record = _record(answers)
        name = f"cpu-qwen2.5-coder-0.5b-{quantization.lower()}"
        record["scenario"] |= {
            "name": name,
            "gguf_filename": f"qwen2.5-coder-0.5b-instruct-{quantization.lower()}.gguf",
        }
        record["scenario"]["model"] = "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF"
        record["run"]["weights_sha256"] = "ab" * 32
        record["run"]["backend"]["model_file"] = about | {"quantization": quantization, "size_bytes": size}
        (folder / f"{name}.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


def _record(name: str) -> dict[str, Any]:
    file = PACKAGED_RESULTS / "easy" / f"{name}.json.gz"
    found: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return found
