"""The detection of hosts that mount themselves.

Each request to a server names the hosts that it has passed. The environment of a program
names the sections that started it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pegboard.plugin import ProtocolError
from pegboard_plugins.support.jsonrpc import INVALID_REQUEST

VIA = "pegboard/via"
"""The member of `_meta` with the random ids of the hosts that a request has passed."""
LOOP = "pegboard/loop"
"""The member of an error's data that tells a host that it sent the request itself."""
MAX_HOSTS = 8
"""The maximum number of hosts that a request may pass."""
MAX_HOST_ID_CHARACTERS = 64
"""The maximum length of an id. Longer ids are ignored, because callers can forge ids."""

MOUNTED_BY = "PEGBOARD_MOUNTED_BY"
"""The environment variable with the digests of the sections that have started this process."""


class LoopError(Exception):
    """A server is this host, or mounts this host."""


def passed_hosts(meta: Mapping[str, Any]) -> list[str]:
    """Return the ids of the hosts that a request has passed."""
    via = meta.get(VIA)
    listed = via if isinstance(via, list) else []
    return [host for host in listed if isinstance(host, str) and len(host) <= MAX_HOST_ID_CHARACTERS]


def next_hop(meta: Mapping[str, Any], host_id: str) -> dict[str, Any]:
    """Return the members of `_meta` for a request that continues another request.

    Raises:
        ProtocolError: the request has passed too many hosts.
    """
    passed = passed_hosts(meta)
    if len(passed) >= MAX_HOSTS:
        raise _passed_too_many()
    return {VIA: [*passed, host_id]}


def refuse_loop(meta: Mapping[str, Any], host_id: str) -> None:
    """Refuse a request that has passed this host already, or too many hosts.

    Raises:
        ProtocolError: the request has passed this host, or too many hosts.
    """
    passed = passed_hosts(meta)
    if host_id in passed:
        raise ProtocolError(INVALID_REQUEST, "The request has passed this host already.", {LOOP: True})
    if len(passed) > MAX_HOSTS:
        raise _passed_too_many()


def _passed_too_many() -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, f"The request has passed {MAX_HOSTS} hosts, which is the limit.")


def mounted_by(*section: str) -> dict[str, str]:
    """Return the environment variable for the program of a section.

    Args:
        section: the values that identify the section.

    Raises:
        LoopError: this process was started by the same section.
    """
    digest = sha256(repr(section).encode()).hexdigest()[:16]
    before = os.environ.get(MOUNTED_BY, "").split()
    if digest in before or len(before) >= MAX_HOSTS:
        raise LoopError("the program is a host that mounts itself; remove the section")
    return {MOUNTED_BY: " ".join([*before, digest])}
