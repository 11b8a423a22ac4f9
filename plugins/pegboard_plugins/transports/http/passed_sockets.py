"""Sockets that a service manager opened and passed to this process (`LISTEN_FDS`, systemd's socket activation)."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address

from pegboard.plugin import TransportError

FIRST_DESCRIPTOR = 3
WORKER_VARIABLE = "PEGBOARD_WORKER"
"""The number of a worker and the number of workers, as `2/4`, if a process with workers has passed the sockets."""


def passed_sockets() -> list[socket.socket]:
    """Return duplicates of the passed sockets. The originals stay open, so clients can connect during a restart.

    Raises:
        TransportError: a passed descriptor does not listen for streams.
    """
    # a child process inherits the variables, but not the descriptors
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return []
    count = os.environ.get("LISTEN_FDS", "")
    if not count.isdecimal():
        raise TransportError(f'http: LISTEN_FDS must be a number of sockets, not "{count}"')
    return [_duplicate(descriptor) for descriptor in range(FIRST_DESCRIPTOR, FIRST_DESCRIPTOR + int(count))]


def _duplicate(descriptor: int) -> socket.socket:
    try:
        os.set_inheritable(descriptor, False)
        passed = socket.socket(fileno=os.dup(descriptor))
        listens = passed.type == socket.SOCK_STREAM and passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError as error:
        raise TransportError(f"http: descriptor {descriptor} of LISTEN_FDS is not a socket: {error}") from error
    if not listens:
        passed.close()
        advice = "use ListenStream= and Accept=no in the socket unit"
        raise TransportError(f"http: descriptor {descriptor} of LISTEN_FDS does not listen: {advice}")
    return passed


def is_unix(opened: socket.socket) -> bool:
    """Return True for a Unix socket."""
    return opened.family == getattr(socket, "AF_UNIX", None)


def is_of_this_machine(opened: socket.socket) -> bool:
    """Return True if only programs of this machine can connect."""
    return is_unix(opened) or ip_address(opened.getsockname()[0]).is_loopback


def address_of(opened: socket.socket, scheme: str) -> str:
    """Return the address of a listening socket."""
    if is_unix(opened):
        return f"unix:{opened.getsockname()}"
    host, port, *_ = opened.getsockname()
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
