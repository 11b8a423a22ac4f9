"""The definitions of a mounted server that the operator has accepted in `pegboard.lock`."""

from __future__ import annotations

import re

from pegboard_plugins.servers.upstreams.settings import ServerConfig
from pegboard_plugins.servers.upstreams.upstream_lists import ListReader, UpstreamLists
from pegboard_plugins.support.catalogue_lock import LockFileError
from pegboard_plugins.support.lock_files import read_lock

_CHANGED_NAME = re.compile("_[0-9a-f]{8}$")
"""The end of a name that may have other characters at the server, see `wire_form`."""


def accepted_lists(
    owner: str, server: str, config: ServerConfig, folder: str | None, reader: ListReader
) -> UpstreamLists | None:
    """Return the accepted definitions of a server, or None if there are none.

    Definitions whose names at the server are not known are left out.

    Args:
        owner: the owner of the definitions in the lock.
        server: the name of the server.
        config: its settings.
        folder: the directory of the configuration file; None without one.
        reader: checks the items, as it checks those of a connection.
    """
    try:
        locked = read_lock(folder).owners.get(owner)
    except LockFileError:
        return None  # a host that needs the lock does not start without it
    if locked is None:
        return None
    tools, prompts = (
        [{**item.definition, "name": own} for shown, item in items.items() if (own := _own_name(server, config, shown))]
        for items in (locked.tools, locked.prompts)
    )
    resources = [item.definition for item in locked.resources.values()]
    lists = reader.taken({"tools": tools, "resources": resources, "templates": resources, "prompts": prompts})
    return lists if any(lists) else None


def _own_name(server: str, config: ServerConfig, shown: str) -> str | None:
    """Return the server's own name of a tool or prompt, or None if the name on the wire does not show it."""
    if _CHANGED_NAME.search(shown):
        return None
    renamed = [own for own, name in config.rename.items() if name == shown]
    own = renamed[0] if renamed else shown.removeprefix(config.shown_name(server, ""))
    return own if config.shown_name(server, own) == shown else None
