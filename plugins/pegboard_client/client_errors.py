"""Errors of the client, in addition to `ProtocolError` and `TransportError`."""

from __future__ import annotations

from pegboard.errors import MCPRuntimeError, TransportError


class ServerTimeoutError(MCPRuntimeError):
    """The server did not respond in time. The client has cancelled the request at the server."""


class UnreachableError(TransportError):
    """The server cannot be reached. It has not received the request."""


class HttpStatusError(TransportError):
    """The server rejected an HTTP request without a JSON-RPC error.

    Attributes:
        status: the HTTP status.
        reason: the first line of a text that the server sent with a status from 500.
    """

    status: int = 0
    reason: str = ""


class SessionExpiredError(TransportError):
    """The server does not know the session. It has not run the request.

    Attributes:
        session_id: the id of the expired session.
    """

    session_id: str = ""


class ConnectionLostError(TransportError):
    """A response ended before the message was complete."""
