"""Running hosts that serve an older version of a plugin or toolkit than the installed version."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pegboard.cli.reloads.running_hosts import Record, running_hosts
from pegboard.host import Host
from pegboard.plugin.origin import Origin
from pegboard.reloading.own_modules import changed_since
from pegboard.reloading.units import own_modules
from pegboard.terminal.printing import say


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
