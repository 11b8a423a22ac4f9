"""Records of running hosts in the state directory, by which other commands find them.

A host holds the lock of its record while it runs, so that the record of a process that has crashed is recognized.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from pegboard.cli import FAILED, OK
from pegboard.config.environment import this_worker
from pegboard.config.files import candidates
from pegboard.config.state import StateFiles
from pegboard.errors import ServerError
from pegboard.loading.discovery import own_version
from pegboard.plugin.commands import CommandContext, RunningWorkers
from pegboard.plugin.origin import Origin
from pegboard.reloading.own_modules import changed_since
from pegboard.reloading.units import own_modules
from pegboard.routing.operator_token import operator_token
from pegboard.terminal.printing import print_json, print_text, say
from pegboard.types.reloads import ReloadResult
from pegboard.wire.codec import decode, encode

if TYPE_CHECKING:
    from pegboard.host import Host

_PREFIX = f"running-{gethostname()}-"
"""Containers may share the state directory, but not their process ids."""
_SUFFIX = ".json"

logger = logging.getLogger("pegboard")

Record = Mapping[str, Any]
"""The process and the environment of a host, the times at which it loaded its plugins, and its last reload."""


class _RunningProcess:
    """The record of this process. The block removes it at its end.

    Args:
        environ: the environment variables; None to write no record.
    """

    def __init__(self, environ: Mapping[str, str] | None) -> None:
        self._environ = environ
        self._name = f"{_PREFIX}{os.getpid()}{_SUFFIX}"
        self._reloads = 0
        self._lock = ExitStack()

    def __enter__(self) -> Self:
        if self._environ is not None:
            try:
                self._lock.enter_context(StateFiles(self._environ).lock(self._name))
            except OSError as error:
                logger.debug("the host has no record: %s", error)
                self._environ = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._environ is not None:
            _forget(self._name, self._environ)
        self._lock.close()

    def _store(self, served: Mapping[str, Any], results: Sequence[ReloadResult] | None) -> None:
        """Record what this process serves, and the results of a reload."""
        if self._environ is None:
            return
        self._reloads += results is not None
        record = {
            **served,
            "pid": os.getpid(),
            "reloads": self._reloads,
            "results": [result._asdict() for result in results or ()],
        }
        try:
            StateFiles(self._environ).write(self._name, encode(record), sync=False)  # a power failure ends the host
        except OSError as error:
            logger.debug("the record of the host cannot be written: %s", error)


class RunningHost(_RunningProcess, AbstractContextManager["RunningHost"]):
    """The record of a host of this process. `pegboard reload` ignores the record of a worker.

    Args:
        host: the started host.
        environ: the environment variables; None to write no record.

    Attributes:
        url: the URL of the MCP endpoint; "" if no URL leads to it.
    """

    def __init__(self, host: Host, environ: Mapping[str, str] | None) -> None:
        super().__init__(environ)
        self._host = host
        self.url = ""

    def __enter__(self) -> Self:
        super().__enter__()
        self.write(None)
        return self

    def write(self, results: Sequence[ReloadResult] | None) -> None:
        """Record the results of a reload."""
        served = {
            "prefix": sys.prefix,
            "version": own_version(),
            "config": str(self._host.config.file or ""),
            "url": self.url,
            "installed": [
                choice.origin[:5] for choice in self._host.report.choices if choice.origin.entry_point is not None
            ],
            "loaded": {str(plugin.origin): plugin.loaded_at for plugin in self._host.report.plugins},
            "is_worker": this_worker() is not None,
        }
        self._store(served, results)


class WorkerRecords(_RunningProcess, RunningWorkers):
    """The records of the workers of this process, which has no host.

    Args:
        environ: the environment variables.
    """

    def results(self, pid: int) -> Sequence[ReloadResult]:
        return results_in(record_of(pid, os.environ) or {"results": ()})

    def write(self, pid: int, results: Sequence[ReloadResult] | None = None) -> None:
        self._store({**(record_of(pid, os.environ) or {}), "is_worker": False}, results)


def running_hosts(environ: Mapping[str, str]) -> Iterator[Record]:
    """Yield the records of the running hosts of this Python environment. Remove those of ended processes."""
    files = StateFiles(environ)
    for name in _names(files.location):
        with suppress(OSError), files.lock(name) as is_free:
            if is_free:
                _forget(name, environ)
                continue
        record = read_record(name, environ)
        if record is not None and record.get("prefix") == sys.prefix and not record.get("is_worker"):
            yield record


def _names(folder: Path | None) -> list[str]:
    """Return the records of this machine. The name of another machine may begin with the name of this one."""
    files = folder.glob(f"{_PREFIX}*{_SUFFIX}") if folder is not None else ()
    return sorted(file.name for file in files if file.stem.removeprefix(_PREFIX).isdecimal())


def running_server(config: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the URL of a running host with a configuration file, "" for none, and the operator token.

    Raises:
        ServerError: no such host runs.
    """
    for record in running_hosts(environ):
        if record["config"] == config and record.get("url"):
            return record["url"], operator_token(environ)
    raise ServerError("no `pegboard serve` with this configuration is running: start it first, or add --url URL")


def read_record(name: str, environ: Mapping[str, str]) -> Record | None:
    """Return a record, or None if it cannot be read."""
    try:
        record: Any = decode(StateFiles(environ).read(name, secret=False) or b"null")
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("pid"), int) else None


def results_in(record: Record) -> list[ReloadResult]:
    """Return the results of the last reload."""
    return [ReloadResult(**result) for result in record["results"]]


def record_of(pid: int, environ: Mapping[str, str]) -> Record | None:
    """Return the record of a process."""
    return read_record(f"{_PREFIX}{pid}{_SUFFIX}", environ)


def _forget(name: str, environ: Mapping[str, str]) -> None:
    for file in (name, f".{name}.lock"):
        with suppress(OSError):
            StateFiles(environ).remove(file)


# --- Hosts that serve an older version of a plugin or toolkit than the installed version.


class OutdatedPlugin(NamedTuple):
    """A plugin or toolkit that has changed since a host loaded it.

    Attributes:
        origin: the plugin as the host loaded it, or the one that was added.
        change: the change, such as "became 1.1".
        now: the installed plugin; None if it was removed.
    """

    origin: Origin
    change: str
    now: Origin | None


def outdated_hosts(host: Host, environ: Mapping[str, str]) -> Iterator[tuple[int, list[OutdatedPlugin]]]:
    """Yield the process of each outdated host, and its plugins and toolkits that have changed.

    Args:
        host: a loaded host with the same configuration. Running hosts with another configuration are left out.
        environ: the environment variables.
    """
    for record in running_hosts(environ):
        if record["config"] == str(host.config.file or "") and (changed := list(_changes(host, record))):
            yield record["pid"], changed


def say_outdated_hosts(host: Host) -> None:
    """Name the outdated hosts on standard error."""
    for pid, changed in outdated_hosts(host, os.environ):
        changes = "; ".join(f"{plugin.origin} {plugin.change}" for plugin in changed)
        say(f"the running host of process {pid} is outdated: {changes}; `pegboard reload` reloads it")


def _changes(host: Host, record: Record) -> Iterator[OutdatedPlugin]:
    loaded: Mapping[str, int] = record["loaded"]
    before = {str(origin): origin for origin in (Origin(*fields) for fields in record["installed"])}
    now = {str(choice.origin): choice.origin for choice in host.report.choices if choice.origin.entry_point}
    for name, origin in ((str(plugin.origin), plugin.origin) for plugin in host.report.plugins):
        if name in loaded and name in before and changed_since(own_modules(origin), loaded[name]):
            yield OutdatedPlugin(origin, "has changed", origin)
    gone = {name.rpartition(" ")[0]: origin for name, origin in before.items() if name not in now}
    for name in [name for name in now if name not in before]:
        base, _, version = name.rpartition(" ")
        if base in gone:
            yield OutdatedPlugin(gone.pop(base), f"became {version}", now[name])
        else:
            yield OutdatedPlugin(now[name], "was added", now[name])
    for origin in gone.values():
        yield OutdatedPlugin(origin, "was removed", None)


# --- `pegboard reload`: running hosts apply changes of toolkits, plugins and settings.

MAX_WAIT_SECONDS = 60.0
"""The time limit of a reload in seconds."""
_POLL_SECONDS = 0.05


def run_reload(command: CommandContext) -> int:
    """Send a signal to each running host of this environment, or of the file of `--config`. Print the results.

    Raises:
        ServerError: no such host runs, a host does not answer, or the system has no such signal.
    """
    if not hasattr(signal, "SIGUSR1"):
        raise ServerError("this system has no signal for a reload: start the host with `pegboard serve --reload`")
    hosts = _chosen_hosts(command.options.config)
    for host in hosts:
        try:
            os.kill(host["pid"], signal.SIGUSR1)
        except OSError as error:
            raise ServerError(f"the host of {_named(host)} cannot be reached: {error.strerror}") from error
    reloaded = [(host, _results(host)) for host in hosts]
    if command.options.json:
        print_json(
            [
                {
                    "pid": host["pid"],
                    "config": host["config"] or None,
                    "url": host["url"] or None,
                    "results": [result._asdict() for result in results],
                }
                for host, results in reloaded
            ]
        )
    else:
        for host, results in reloaded:
            lines = [str(result) for result in results] or ["nothing has changed"]
            print_text("\n".join(f"{_named(host)}: {line}" for line in lines))
    return OK if all(result.is_applied for _, results in reloaded for result in results) else FAILED


def _chosen_hosts(config: Path | None) -> list[Record]:
    """Return the running hosts of a configuration file, or all if the command line names none."""
    hosts = [*running_hosts(os.environ)]
    if not hosts:
        raise ServerError("no `pegboard serve` of this user and Python environment is running: start one first")
    if config is None:
        return hosts
    (named, *_) = candidates(config, os.environ, Path.cwd())
    file = os.path.realpath(named.path)
    chosen = [host for host in hosts if host["config"] and os.path.realpath(host["config"]) == file]
    if not chosen:
        raise ServerError(
            f"no running host has the configuration {file}: name the file of a running host, or omit --config to "
            f"reload all: {', '.join(map(_named, hosts))}"
        )
    return chosen


def _named(host: Record) -> str:
    """Return the process of a host, with its configuration file or its URL."""
    place = host["config"] or host["url"]
    return f"process {host['pid']}" + (f" ({place})" if place else "")


def _results(host: Record) -> list[ReloadResult]:
    """Wait for the end of the reload and return its results."""
    until = time.monotonic() + MAX_WAIT_SECONDS
    while time.monotonic() < until:
        record: Record | None = record_of(host["pid"], os.environ)
        if record is None:
            raise ServerError(f"the host of {_named(host)} has ended: its log has the reason")
        if record["reloads"] > host["reloads"]:
            return results_in(record)
        time.sleep(_POLL_SECONDS)
    raise ServerError(
        f"the host of {_named(host)} did not reload within {MAX_WAIT_SECONDS:.0f} s: see its log, or restart it"
    )
