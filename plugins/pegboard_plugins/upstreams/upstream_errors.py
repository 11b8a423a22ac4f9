"""Errors of calls that a server does not answer. Each names the server and says if the call may be repeated."""

from __future__ import annotations

from typing import Any

from pegboard import ErrorKind, MCPError, NetworkTransportError, ToolExecutionError
from pegboard.plugin import AuthorizationRequiredError, TransportError
from pegboard_plugins.upstreams.link import NotConnectedError


def not_connected(server: str, error: NotConnectedError) -> ToolExecutionError:
    """Return the error of a call that was not sent, because the server is not connected."""
    if isinstance(error.cause, AuthorizationRequiredError):
        return _token_refused(server, error.cause)
    after = "" if error.seconds is None else f" The next attempt to connect is in {error.seconds:.1f} s."
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


def _token_refused(server: str, error: AuthorizationRequiredError) -> AuthorizationRequiredError:
    """Return the error of a call whose token the server refused. It names the server without its address."""
    return AuthorizationRequiredError(server, scopes=error.scopes, status="failed", developer_message=str(error))


def no_response(server: str, error: MCPError, *, repeatable: bool = False) -> ToolExecutionError | None:
    """Return the error of a call that got no response, or None if the error is of another kind.

    Args:
        server: the name of the server.
        error: the error of the connection.
        repeatable: True if repeating the call has no further effect.
    """
    from pegboard.client import LoginRequiredError, ServerTimeoutError, UnreachableError

    if isinstance(error, LoginRequiredError):
        return _token_refused(server, error)
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
