"""`pegboard serve --workers N`: a process that opens the sockets, and starts and replaces the processes that serve.

This process imports no toolkit, no other plugin and no HTTP server, and has one thread.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from pegboard.plugin import CommandContext

CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""The time on the processors that the control group of a container may use (cgroups version 2)."""


def run_workers(command: CommandContext) -> int | None:
    """Serve by workers, and return the exit code. Return None if the settings want one process.

    Raises:
        ConfigError: the transports or the system cannot have workers.
        TransportError: the address cannot be opened.
    """
    config = command.settings
    if config.workers == 1:
        return None
    if problem := refusal(config.workers, command.host_plan().config.host.transports):
        raise ConfigError([problem])
    from pegboard_plugins.transports.http.workers.listening import open_sockets
    from pegboard_plugins.transports.http.workers.supervisor import supervise

    count = config.workers or usable_cores()
    with open_sockets(config, count) as groups, command.running_workers() as records:
        return asyncio.run(supervise(groups, records))


def refusal(workers: int, transports: Sequence[str]) -> str:
    """Return the problem if the setting `workers` is not possible here with these transports, or ""."""
    problem = "" if workers == 1 else _refusal(transports)
    return problem and f"[plugins.http] workers = {workers}: {problem}; or set workers = 1"


def _refusal(transports: Sequence[str]) -> str:
    if not hasattr(os, "fork"):
        return "this system cannot pass open sockets to other processes; start several hosts behind a proxy"
    if "stdio" in transports:
        return "stdio serves one client over one pair of streams; leave it out of [host] transports"
    if others := [name for name in transports if name != "http"]:
        return f"the transport {others[0]} opens its own channel in each process; leave it out of [host] transports"
    return "" if transports else 'there is no HTTP server; set [host] transports = ["http"]'


def usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = map(int, CPU_QUOTA.read_text().split())
        cores = min(cores, quota // period)
    return max(1, cores)
