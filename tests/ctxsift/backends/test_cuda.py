"""What torch reports of GPUs, and what we make of it. No GPU is needed: torch is asked through its own names."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from ctxsift.backends.cuda import DeviceWatch, Gpu, Sight, index_of, look, look_from_outside, problem_of

HERE = {"torch": "2.13.0", "transformers": "5.23.0", "accelerate": "1.15.0"}
TWO = (Gpu("NVIDIA L4", 24 << 30, (8, 9)), Gpu("NVIDIA P100", 16 << 30, (6, 0)))
BNB = HERE | {"bitsandbytes": "0.49"}
GOOD = Sight(HERE, "12.8", True, TWO)


class FakeCuda:
    """The part of torch.cuda that is used, with two GPUs."""

    OutOfMemoryError = MemoryError

    def __init__(self) -> None:
        self.calls: list[str] = []

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return 2

    def get_device_properties(self, index: int) -> Any:
        major, minor = TWO[index].capability
        return SimpleNamespace(name=TWO[index].name, total_memory=TWO[index].memory_bytes, major=major, minor=minor)

    def synchronize(self, index: int) -> None:
        self.calls.append(f"synchronize {index}")

    def reset_peak_memory_stats(self, index: int) -> None:
        self.calls.append(f"reset {index}")

    def max_memory_allocated(self, index: int) -> int:
        return (index + 1) * 1000


@pytest.mark.parametrize(
    ("sight", "device", "quantization", "problem"),
    [
        (GOOD, "cuda", "none", None),
        (GOOD, "cuda:1", "none", None),
        (
            GOOD,
            "cuda:2",
            "none",
            "device 'cuda:2' does not exist; torch 2.13.0 sees cuda:0 NVIDIA L4 (24 GB), cuda:1 NVIDIA P100 (16 GB)",
        ),
        (GOOD, "cuda", "bnb-8bit", "quantization 'bnb-8bit' needs bitsandbytes: pip install bitsandbytes"),
        (Sight(BNB, "12.8", True, TWO), "cuda", "bnb-4bit-nf4", None),
        (Sight(BNB, "12.8", True, TWO), "cuda:1", "bnb-4bit-fp4", None),
        (Sight(BNB, "12.8", True, TWO), "cuda:1", "bnb-8bit", "needs compute capability 7.5; NVIDIA P100 has 6.0"),
        (Sight(HERE), "cuda", "none", "torch 2.13.0 was built without CUDA; install a build of torch for CUDA"),
        (Sight(HERE, "12.8"), "cuda", "none", "torch 2.13.0 (for CUDA 12.8) sees none; check the driver"),
        (Sight({}), "cuda", "none", "torch, transformers, accelerate are not installed; models on a GPU need: "),
        (Sight(HERE, error="OSError: libcudart.so.12"), "cuda", "none", "torch cannot be used: OSError: libcudart"),
    ],
)
def test_what_is_missing_is_said(sight: Sight, device: str, quantization: str, problem: str | None) -> None:
    found = problem_of(sight, device, quantization)
    assert (problem in found) if found and problem else found is problem


def test_what_torch_reports_is_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = SimpleNamespace(cuda=FakeCuda(), version=SimpleNamespace(cuda="12.8"))
    monkeypatch.setitem(sys.modules, "torch", fake)
    seen = look()
    assert (seen.cuda_build, seen.available, seen.gpus) == ("12.8", True, TWO)


@pytest.mark.slow
def test_this_machine_seen_from_outside_is_this_machine() -> None:
    import torch

    seen = look_from_outside()
    assert seen.available == torch.cuda.is_available()
    assert len(seen.gpus) == torch.cuda.device_count()
    assert seen.versions["torch"] == torch.__version__
    assert seen.error is None


def test_a_torch_that_cannot_be_asked_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    seen = look_from_outside()
    assert "torch cannot be used: torch could not be asked" in (problem_of(seen, "cuda", "none") or "")


def test_the_watch_waits_for_the_device_and_reads_its_memory() -> None:
    cuda = FakeCuda()
    watch = DeviceWatch(SimpleNamespace(cuda=cuda), "cuda:1")
    watch.reset_peak()
    watch.synchronize()
    assert cuda.calls == ["reset 1", "synchronize 1"]
    assert (watch.peak_bytes(), watch.name()) == (2000, "NVIDIA P100")


def test_on_a_cpu_there_is_nothing_to_watch() -> None:
    cuda = FakeCuda()
    watch = DeviceWatch(SimpleNamespace(cuda=cuda), "cpu")
    watch.reset_peak()
    watch.synchronize()
    assert cuda.calls == []
    assert watch.peak_bytes() is None


@pytest.mark.parametrize(("device", "index"), [("cuda", 0), ("cuda:0", 0), ("cuda:3", 3)])
def test_the_number_of_a_gpu(device: str, index: int) -> None:
    assert index_of(device) == index
