"""Several GPUs, one scenario on each at a time; everything else one after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

from benchmark.matrix import Track
from benchmark.run.plan import ScenarioPlan
from benchmark.run.signals import stop_at_once_next_time
from benchmark.run.stop import Stop


def run_on_devices(
    plans: Sequence[ScenarioPlan], devices: Sequence[str], run_one: Callable[[ScenarioPlan, Stop], bool]
) -> bool:
    """Run all scenarios and return whether a person interrupted them.

    Args:
        plans: in their order; those that need no GPU run first, one after the other.
        devices: the GPUs to use; with fewer than two, everything runs one after the other.
        run_one: runs a scenario and returns whether it was interrupted.

    Raises:
        OSError: whatever `run_one` raises first; the other devices end their scenario.

    """
    stop = Stop()
    shared = Track.GPU if len(devices) > 1 else None
    on_gpus = [plan for plan in plans if plan.scenario.track is shared]
    for plan in plans:
        if plan.scenario.track is not shared and run_one(plan, stop):
            return True
    if not on_gpus:
        return False
    waiting, lock = list(on_gpus), threading.Lock()

    def next_for(device: str) -> ScenarioPlan | None:
        with lock:
            for plan in waiting:
                if plan.pinned_device in (None, device):
                    waiting.remove(plan)
                    return plan.on(device)
        return None

    def work(device: str) -> None:
        while not stop.requested and (plan := next_for(device)) is not None:
            run_one(plan, stop)

    with ThreadPoolExecutor(len(devices), thread_name_prefix="gpu") as pool:
        devices_at_work = [pool.submit(work, device) for device in devices]
        try:
            wait(devices_at_work, return_when=FIRST_EXCEPTION)
            for ended in devices_at_work:
                if ended.done():
                    ended.result()
        except KeyboardInterrupt:
            stop_at_once_next_time()
            stop.request()
            return True
        except BaseException:
            stop.request()
            raise
    return False
