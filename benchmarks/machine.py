"""The other load of the machine during a run. Figures of a busy machine get a warning."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OTHERS_LIMIT = 0.05
"""The share of the machine's CPU time that other programs may use without a warning."""
STEAL_LIMIT = 0.01


@dataclass(frozen=True, slots=True)
class Moment:
    """The kernel's counters at one moment, in seconds of CPU time."""

    busy: float
    total: float
    steal: float
    own: float

    @classmethod
    def now(cls) -> Moment:
        """Read the counters."""
        first = Path("/proc/stat").read_text("ascii").split("\n", 1)[0]
        user, nice, system, idle, wait, interrupt, soft, steal = (int(field) for field in first.split()[1:9])
        tick = os.sysconf("SC_CLK_TCK")
        busy = user + nice + system + interrupt + soft
        own = sum(
            usage.ru_utime + usage.ru_stime
            for usage in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
        )
        return cls(busy / tick, (busy + idle + wait + steal) / tick, steal / tick, own)


@dataclass(frozen=True, slots=True)
class Load:
    """The other load of the machine between two moments, as shares of all its CPU time."""

    others: float
    steal: float

    @classmethod
    def between(cls, before: Moment, after: Moment) -> Load:
        """Return the CPU time of other processes, and the time that the hypervisor gave to other machines."""
        total = max(after.total - before.total, 1e-9)
        others = (after.busy - before.busy) - (after.own - before.own)
        return cls(round(max(others, 0.0) / total, 3), round((after.steal - before.steal) / total, 3))

    @classmethod
    def mean(cls, loads: Sequence[tuple[Load, float]]) -> Load:
        """Return the mean of loads, each weighted with its duration in seconds."""
        total = sum(seconds for _, seconds in loads) or 1.0
        return cls(
            sum(load.others * seconds for load, seconds in loads) / total,
            sum(load.steal * seconds for load, seconds in loads) / total,
        )

    def warnings(self) -> list[str]:
        """Return the warnings for the reader."""
        texts = []
        if self.others > OTHERS_LIMIT:
            texts.append(
                f"the machine was busy: others took {self.others:.0%} of its CPU time; trust ratios, not figures"
            )
        if self.steal > STEAL_LIMIT:
            texts.append(f"the hypervisor took {self.steal:.0%} of the CPU time away (steal)")
        return texts


def description() -> dict[str, Any]:
    """Return the facts about the machine that affect the figures."""
    cpu = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "unknown"
    )
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": cpu,
        "processors": os.cpu_count(),
    }


def one_processor() -> set[int]:
    """Return the processor for the servers and the client. On two, they may share a core, and slow each other."""
    return {max(os.sched_getaffinity(0))}


@contextmanager
def own_processors(cpus: set[int] | None) -> Iterator[None]:
    """Run the block on these processors."""
    before = os.sched_getaffinity(0)
    try:
        if cpus:
            os.sched_setaffinity(0, cpus)
        yield
    finally:
        os.sched_setaffinity(0, before)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
