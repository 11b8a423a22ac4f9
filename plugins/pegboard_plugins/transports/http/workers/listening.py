"""The sockets of all workers. This process keeps them open, so that no connection is lost with a worker.

On Linux each worker has sockets of its own, among which the system distributes connections (SO_REUSEPORT). On other
systems, at a Unix socket, and at the sockets of a service manager, all workers accept connections at the same sockets.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from pegboard.plugin import TransportError
from pegboard_plugins.transports.http.passed_sockets import passed_sockets
from pegboard_plugins.transports.http.port_owner import cannot_open
from pegboard_plugins.transports.http.unix_socket import bound_unix_socket

if TYPE_CHECKING:
    from pegboard_plugins.transports.http.settings import HttpConfig

MAX_PENDING_CONNECTIONS = 1024
SocketGroup = Sequence[socket.socket]
"""The sockets of one worker."""


@contextmanager
def open_sockets(config: HttpConfig, count: int) -> Iterator[Sequence[SocketGroup]]:
    """Open the listening sockets of each worker, and close them at the end of the block.

    Raises:
        TransportError: an address cannot be opened.
    """
    with ExitStack() as stack:
        try:
            groups = _shared(config, stack, count) or _of_each(config, count)
        except OSError as error:
            raise TransportError(cannot_open(config, error)) from error
        for group in groups:
            for opened in group:
                stack.callback(opened.close)
        yield groups


def _shared(config: HttpConfig, stack: ExitStack, count: int) -> Sequence[SocketGroup]:
    """Return the same passed sockets or Unix socket for all workers, or () without any."""
    shared = passed_sockets()
    if not shared and config.socket is not None:
        shared = [stack.enter_context(bound_unix_socket(config.socket, config.socket_mode))]
        shared[0].listen(MAX_PENDING_CONNECTIONS)
    return [shared] * count if shared else ()


def _of_each(config: HttpConfig, count: int) -> Sequence[SocketGroup]:
    """Return sockets at each address of the host, of their own for each worker on Linux."""
    has_own = sys.platform == "linux"
    groups: list[list[socket.socket]] = [[] for _ in range(count if has_own else 1)]
    port = config.port
    addresses = socket.getaddrinfo(config.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    for family, host in dict.fromkeys((family, address[0]) for family, _, _, _, address in addresses):
        with socket.create_server((str(host), port), family=family) as probe:  # fails if another server listens
            port = probe.getsockname()[1]
        for group in groups:
            opened = socket.create_server((str(host), port), family=family, reuse_port=has_own)
            opened.listen(MAX_PENDING_CONNECTIONS)
            group.append(opened)
    return groups if has_own else groups * count
