"""The errors of calls that a server does not answer. Each names the server, and tells if the call may be repeated."""

from __future__ import annotations

from typing import Any

from pegboard import ErrorKind, MCPError, NetworkTransportError
from pegboard.plugin import TransportError
from pegboard_plugins.upstreams.link import NotConnectedError


def not_connected(server: str, error: NotConnectedError) -> NetworkTransportError:
    """Return the error of a call that was not sent, because the server is not connected."""
    after = "" if error.seconds is None else f" The next attempt to connect is in {error.seconds:.0f} seconds."
    extra: dict[str, Any] = {"upstream": server}
    if error.seconds is not None:
        extra["retry_after_ms"] = int(error.seconds * 1000)
    return NetworkTransportError(
        f"The server {server!r} is not available.{after}",
        error.reason,
        kind=ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE,
        can_retry=error.seconds is not None,
        extra=extra,
    )


def no_response(server: str, error: MCPError, *, repeatable: bool = False) -> NetworkTransportError | None:
    """Return the error of a call that got no response, or None if the error is of another kind.

    Args:
        server: the name of the server.
        error: the error of the connection.
        repeatable: True if repeating the call has no further effect.
    """
    from pegboard.client import ServerTimeoutError, UnreachableError

    if isinstance(error, UnreachableError):
        problem, kind, repeatable = "cannot be reached", ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNREACHABLE, True
    elif isinstance(error, ServerTimeoutError):
        problem, kind = "did not respond in time", ErrorKind.NETWORK_TRANSPORT_RUNTIME_TIMEOUT
    elif isinstance(error, TransportError):
        problem, kind = "lost its connection before it responded", ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED
    else:
        return None
    return NetworkTransportError(
        f"The server {server!r} {problem}." + ("" if repeatable else " The call may have had effects."),
        str(error),
        kind=kind,
        can_retry=repeatable,
        extra={"upstream": server},
    )
