"""Several GPUs, one scenario on each at a time; everything else one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmark.matrix import Track
from benchmark.run.plan import ScenarioPlan
from benchmark.run.stop import Stop


def run_on_devices(
    plans: Sequence[ScenarioPlan], devices: Sequence[str], stop: Stop, run_one: Callable[[ScenarioPlan], None]
) -> None:
    """Run all scenarios; once `stop` is requested, no further one is begun.

    Args:
        plans: in their order; those that need no GPU run first, one after the other.
        devices: the GPUs to use; with fewer than two, everything runs one after the other.
        stop: ends it early.
        run_one: runs a scenario.

    """
    shared = Track.GPU if len(devices) > 1 else None
    for plan in plans:
        if plan.scenario.track is not shared and not stop.requested:
            run_one(plan)
    waiting, lock = [plan for plan in plans if plan.scenario.track is shared], threading.Lock()
    if not waiting:
        return

    def next_for(device: str) -> ScenarioPlan | None:
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
