"""The common part of the programs of all clients: sequential calls of `add`, and their figures as JSON."""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Awaitable, Callable

WARM_UP = 50
URL, TOOL, ERA, SECONDS = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])


async def measure(call: Callable[[int], Awaitable[int]]) -> None:
    """Print the duration of a call, and its CPU time in this process.

    Args:
        call: calls the tool to add 1 to a number, and returns the sum.
    """
    for number in range(WARM_UP):
        assert await call(number) == number + 1
    gc.collect()
    calls, begun, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begun < SECONDS:
        assert await call(calls) == calls + 1
        calls += 1
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    print(json.dumps({"per_second": calls / wall, "cpu_us": cpu / calls * 1e6}))
