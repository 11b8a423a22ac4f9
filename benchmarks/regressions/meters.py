"""Two ways to measure the cost of a process: its instructions, counted by valgrind, and its CPU time."""

from __future__ import annotations

import dataclasses
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.contenders import Contender
from benchmarks.regressions.paths import KeyPath

_REPEATABLE: Final = {"PYTHONHASHSEED": "0"}


@dataclass(frozen=True, slots=True)
class Meter(ABC):
    """Measures processes.

    Attributes:
        unit: the unit of the costs that a table shows.
        scale: the cost of one unit.
        limit: the largest accepted growth of a cost, as a share.
        rounds: the number of measurements of each process, of which the least is used.
        times: the factor of the number of requests.
        is_exact: True if other load of the machine does not change the costs, so that two processes may run at once.
    """

    unit: str
    scale: float
    limit: float
    rounds: int
    times: int
    is_exact: bool

    @abstractmethod
    def total(self, path: KeyPath, contender: Contender, requests: int) -> float:
        """Return the cost of a process with a number of requests."""


class Instructions(Meter):
    """Instructions of all threads in user mode, which valgrind counts. It makes a process about 40 times slower."""

    def total(self, path: KeyPath, contender: Contender, requests: int) -> float:
        """Return the instructions from the start of the process to its end."""
        with tempfile.TemporaryDirectory() as folder:
            counts = Path(folder, "counts")
            valgrind = ("valgrind", "--tool=cachegrind", "--cache-sim=no", f"--cachegrind-out-file={counts}")
            counted = dataclasses.replace(
                contender, command=(*valgrind, *contender.command), serve=(*valgrind, *contender.serve)
            )
            with path.serve(counted, _REPEATABLE) as server:
                path.drive(server, counted, requests)
            match = re.search(r"^summary: (\d+)", counts.read_text("ascii"), re.MULTILINE)
        assert match
        return float(match[1])


class CpuTime(Meter):
    """CPU time of all threads, user and system. Other load of the machine changes it, so the limit is wide."""

    def total(self, path: KeyPath, contender: Contender, requests: int) -> float:
        """Return the CPU seconds from the start of the process to the last response."""
        with path.serve(contender, _REPEATABLE) as server:
            path.drive(server, contender, requests)
            return server.cpu_seconds()


INSTRUCTIONS: Final = Instructions("1000 instructions", 1000, limit=0.05, rounds=1, times=1, is_exact=True)
CPU_TIME: Final = CpuTime("us of CPU time", 1e-6, limit=0.2, rounds=9, times=5, is_exact=False)


def best() -> Meter:
    """Return the meter: instructions if valgrind is installed, otherwise CPU time."""
    return INSTRUCTIONS if shutil.which("valgrind") else CPU_TIME
