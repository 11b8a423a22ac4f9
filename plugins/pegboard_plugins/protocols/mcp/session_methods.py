"""The session methods that are answered without the host, for every binding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pegboard.plugin import ProtocolError
from pegboard_plugins.protocols.mcp.call_notifications import check_level
from pegboard_plugins.protocols.mcp.session import Session
from pegboard_plugins.support.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RequestId,
    jsonrpc_result,
)

MAX_SUBSCRIPTIONS = 1000
"""The largest number of resources that a session may subscribe to."""
MAX_SUBSCRIBED_URI_CHARACTERS = 4096
"""The longest URI of a subscribed resource."""

SEALED: Final = 'this server has sealed sessions ([plugins.mcp] sessions = "sealed")'
"""The reason why a session cannot change."""
_CHANGES: Final = ("logging/setLevel", "resources/subscribe", "resources/unsubscribe")


def answer_at_once(session: Session, request_id: RequestId, method: str, params: Mapping[str, Any]) -> bytes | None:
    """Return the response to a request, or None if the host must answer it.

    Raises:
        ProtocolError: the parameters are invalid, or the method is not supported.
    """
    if session.is_sealed and method in _CHANGES:
        # the capability logging is declared, because log messages are sent (server/utilities/logging, error handling)
        code = INTERNAL_ERROR if method == "logging/setLevel" else METHOD_NOT_FOUND
        raise ProtocolError(code, f"{method} needs a stored session, and {SEALED}.")
    if method == "logging/setLevel":
        session.set_level(check_level(params.get("level")))
    elif method == "resources/subscribe":
        _subscribe(session, _uri(session, method, params))
    elif method == "resources/unsubscribe":
        session.unsubscribe(_uri(session, method, params))
    elif method != "ping":
        return None
    return jsonrpc_result(request_id, b"{}")


def _uri(session: Session, method: str, params: Mapping[str, Any]) -> str:
    if "resources" not in session.offered:
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")
    uri = params.get("uri")
    if type(uri) is not str or not 0 < len(uri) <= MAX_SUBSCRIBED_URI_CHARACTERS:
        raise ProtocolError(
            INVALID_PARAMS, f"params.uri must be a URI of up to {MAX_SUBSCRIBED_URI_CHARACTERS} characters"
        )
    return uri


def _subscribe(session: Session, uri: str) -> None:
    if uri not in session.subscriptions and len(session.subscriptions) >= MAX_SUBSCRIPTIONS:
        raise ProtocolError(INVALID_PARAMS, f"A session may subscribe to at most {MAX_SUBSCRIPTIONS} resources.")
    session.subscribe(uri)
