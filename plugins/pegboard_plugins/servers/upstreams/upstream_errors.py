"""Errors of calls that a server does not answer. Each names the server and says if the call may be repeated."""

from __future__ import annotations

from typing import Any

from pegboard import AuthorizationRequiredError, ErrorKind, MCPError, NetworkTransportError, ToolExecutionError
from pegboard.plugin import TransportError
from pegboard_plugins.servers.upstreams.host_login import CALLERS_ADVICE, HostLogin
from pegboard_plugins.servers.upstreams.link import NotConnectedError


def not_connected(
    server: str, error: NotConnectedError, auth: str | None = None, login: HostLogin | None = None
) -> ToolExecutionError:
    """Return the error of a call that was not sent, because the server is not connected.

    Args:
        server: the name of the server.
        error: the failed attempt.
        auth: the provider of the caller's token; None if the connection sends none.
        login: the operator's login; None if the connection cannot use one.
    """
    if isinstance(error.cause, AuthorizationRequiredError):
        return _login_required(server, error.cause, auth, login)
    after = ""
    if error.seconds is not None:
        after = f" The next attempt to connect is in {error.seconds:.1f} s." if error.seconds else " It is connecting."
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


def _login_required(
    server: str, error: AuthorizationRequiredError, auth: str | None, login: HostLogin | None
) -> AuthorizationRequiredError:
    """Return the error of a call that the server accepts only after a login. It names the server, not its address."""
    if login is not None:
        return login.required(error)
    if auth is None:
        return AuthorizationRequiredError(
            server, scopes=error.scopes, hint=CALLERS_ADVICE, developer_message=str(error)
        )
    hint = f"the server refuses the token of {auth}; log in again, as the operator with `pegboard login {auth}`"
    login_error = AuthorizationRequiredError(server, scopes=error.scopes, hint=hint, developer_message=str(error))
    login_error.additional_prompt_content = "Do not try again before the user has logged in again. Tell the user."
    return login_error


def no_response(
    server: str,
    error: MCPError,
    *,
    repeatable: bool = False,
    auth: str | None = None,
    login: HostLogin | None = None,
) -> ToolExecutionError | None:
    """Return the error of a call that got no response, or None if the error is of another kind.

    Args:
        server: the name of the server.
        error: the error of the connection.
        repeatable: True if repeating the call has no further effect.
        auth, login: see `not_connected`.
    """
    from pegboard_client import LoginRequiredError, ServerTimeoutError, UnreachableError

    if isinstance(error, LoginRequiredError):
        return _login_required(server, error, auth, login)
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
