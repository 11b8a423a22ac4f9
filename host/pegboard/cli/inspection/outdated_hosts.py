"""Running hosts that serve an older version of a plugin or toolkit than the installed one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pegboard.cli.serving.running_hosts import Record, running_hosts
from pegboard.host import Host
from pegboard.loading.own_modules import changed_since
from pegboard.loading.reloading import own_modules


def outdated_hosts(host: Host, environ: Mapping[str, str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the process of each outdated host, and its plugins and toolkits that have changed, each with its change.

    Args:
        host: a loaded host with the same configuration. Running hosts with another configuration are left out.
        environ: the environment variables.
    """
    for record in running_hosts(environ):
        if record["config"] == str(host.config.file or "") and (changed := _changes(host, record)):
            yield record["pid"], changed


def _changes(host: Host, record: Record) -> dict[str, str]:
    loaded: Mapping[str, int] = record["loaded"]
    before, now = record["installed"], [str(one.origin) for one in host.report.choices if one.origin.entry_point]
    changes = {
        name: "has changed"
        for name, origin in ((str(one.origin), one.origin) for one in host.report.plugins)
        if name in loaded and name in before and changed_since(own_modules(origin), loaded[name])
    }
    gone = {name.rpartition(" ")[0]: name for name in before if name not in now}
    for name in [name for name in now if name not in before]:
        base, _, version = name.rpartition(" ")
        if base in gone:
            changes[gone.pop(base)] = f"became {version}"
        else:
            changes[name] = "was added"
    return changes | dict.fromkeys(gone.values(), "was removed")
