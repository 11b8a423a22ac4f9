"""`pegboard reload`: running hosts apply changes of toolkits, plugins and settings."""

from __future__ import annotations

import os
import signal
import time

from pegboard.cli import FAILED, OK
from pegboard.cli.reloads.running_hosts import Record, record_of, results_in, running_hosts
from pegboard.errors import ServerError
from pegboard.plugin.commands import CommandContext
from pegboard.terminal.printing import print_json, print_text
from pegboard.types.reloads import ReloadResult

MAX_WAIT_SECONDS = 60.0
"""The time limit of a reload in seconds."""
_POLL_SECONDS = 0.05


def run_reload(command: CommandContext) -> int:
    """Send a signal to each running host of this environment, and print the results.

    Raises:
        ServerError: no host runs, a host does not answer, or the system has no such signal.
    """
    if not hasattr(signal, "SIGUSR1"):
        raise ServerError("this system has no signal for a reload: start the host with `pegboard serve --reload`")
    hosts = [*running_hosts(os.environ)]
    if not hosts:
        raise ServerError("no `pegboard serve` of this user and Python environment is running: start one first")
    for host in hosts:
        try:
            os.kill(host["pid"], signal.SIGUSR1)
        except OSError as error:
            raise ServerError(f"the host of process {host['pid']} cannot be reached: {error.strerror}") from error
    results_by_pid = {host["pid"]: _results(host) for host in hosts}
    if command.options.json:
        print_json(
            [
                {"pid": pid, "results": [result._asdict() for result in results]}
                for pid, results in results_by_pid.items()
            ]
        )
    else:
        for pid, results in results_by_pid.items():
            print_text(
                "\n".join(f"process {pid}: {result}" for result in results) or f"process {pid}: nothing has changed"
            )
    return OK if all(result.is_applied for results in results_by_pid.values() for result in results) else FAILED


def _results(host: Record) -> list[ReloadResult]:
    """Wait for the end of the reload and return its results."""
    until = time.monotonic() + MAX_WAIT_SECONDS
    while time.monotonic() < until:
        record: Record | None = record_of(host["pid"], os.environ)
        if record is None:
            raise ServerError(f"the host of process {host['pid']} has ended: its log has the reason")
        if record["reloads"] > host["reloads"]:
            return results_in(record)
        time.sleep(_POLL_SECONDS)
    raise ServerError(
        f"the host of process {host['pid']} did not reload within {MAX_WAIT_SECONDS:.0f} s: see its log, or restart it"
    )
