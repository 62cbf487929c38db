"""Several GPUs, one scenario on each at a time; everything else one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from benchmark.run.run_plan import RunPlan
from benchmark.run.stop import Stop
from ctxsift.devices import Device

PlanT = TypeVar("PlanT", bound=RunPlan)


def run_on_devices(
    plans: Sequence[PlanT], devices: Sequence[str], stop: Stop, run_one: Callable[[PlanT], None]
) -> None:
    """Run all scenarios; once `stop` is requested, no further one is begun.

    Args:
        plans: in their order; those that need no GPU run first, one after the other.
        devices: the GPUs to use; with fewer than two, everything runs one after the other.
        stop: ends it early.
        run_one: runs a scenario.

    """
    waiting, lock = list[PlanT](), threading.Lock()
    for plan in plans:
        if len(devices) > 1 and plan.spec.device.startswith(Device.CUDA):
            waiting.append(plan)
        elif not stop.requested:
            run_one(plan)
    if not waiting:
        return

    def next_for(device: str) -> PlanT | None:
        with lock:
            for plan in waiting:
                if plan.pinned_device in (None, device):
                    waiting.remove(plan)
                    return plan.on(device)
        return None

    def work(device: str) -> None:
        while not stop.requested and (plan := next_for(device)) is not None:
            run_one(plan)

    with ThreadPoolExecutor(len(devices), thread_name_prefix="gpu") as pool:
        for ended in [pool.submit(work, device) for device in devices]:
            ended.result()
