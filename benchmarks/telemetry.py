"""The CPU time that telemetry adds to a call: `python -m benchmarks.telemetry`. The calls run inside the process."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from pegboard import Host, Toolkit
from pegboard.types import Call, Client

CALLS = 1000
ROUNDS = 30
WITHOUT_WAITING = {"flush_seconds": 0}  # no collector runs
SETTINGS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "prometheus": {"prometheus": {"port": 0}},
    "opentelemetry, only metrics": {"opentelemetry": {"traces": False, "logs": False, **WITHOUT_WAITING}},
    "opentelemetry": {"opentelemetry": WITHOUT_WAITING},
}


def started(plugins: dict[str, Any]) -> Host:
    """Return a host with one tool and these plugins."""
    kit = Toolkit("bench")

    @kit.tool
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return Host({"host": {"autoload": False}, "plugins": plugins}, toolkits={"bench": kit})


async def measure() -> dict[str, float]:
    """Return the least microseconds of CPU time per call of all rounds, by the name of the settings."""
    params = {"name": "bench_add", "arguments": {"a": 1, "b": 2}}
    call = Call("tools/call", params, client=Client(revision="2025-11-25"), request_id=1, transport="stdio")
    hosts = {name: started(plugins) for name, plugins in SETTINGS.items()}
    best: dict[str, float] = {}
    for host in hosts.values():
        await host.start()
    for _ in range(ROUNDS):
        for name, host in hosts.items():
            began = time.process_time()
            for _ in range(CALLS):
                await host.dispatch(call)
            spent = (time.process_time() - began) / CALLS * 1e6
            best[name] = min(best.get(name, spent), spent)
    for host in hosts.values():
        await host.stop()
    return best


if __name__ == "__main__":
    logging.disable()
    best = asyncio.run(measure())
    for name, microseconds in best.items():
        print(f"{name:30}{microseconds:8.1f} us{microseconds - best['nothing']:+8.1f}")
