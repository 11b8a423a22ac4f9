"""What every binding of MCP needs of one host: an encoder for each revision, and calls that pass the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pegboard import Call, Caller, Client, Notify, Outcome, ProtocolError, ProtocolHost, RequestId, jsonrpc_notification
from pegboard_plugins.mcp.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, is_request_id
from pegboard_plugins.mcp.results import Encoder
from pegboard_plugins.mcp.revisions import GATES, MODERN, SUPPORTED

Send = Callable[[bytes], None]
"""Takes a message for the client on the stream of one call; from any thread."""


class Service:
    """MCP over one host, whatever the binding.

    Args:
        host: the host.
        list_ttl_ms: for how long clients may keep lists, in milliseconds.
    """

    def __init__(self, host: ProtocolHost, list_ttl_ms: int) -> None:
        self.host = host
        self._capabilities: dict[str, Any] = {
            kind: {} for kind in ("tools", "resources", "prompts") if host.offers(kind)
        }
        self._encoders = {
            revision: Encoder(revision, host.identity, self._capabilities, list_ttl_ms) for revision in SUPPORTED
        }

    def handshake(self, request_id: RequestId, client: Client) -> bytes:
        """The response to `initialize`."""
        return self._encoders[client.revision].handshake(request_id)

    def discovery(self, request_id: RequestId) -> bytes:
        """The response to `server/discover`."""
        return self._encoders[MODERN[0]].discovery(request_id)

    def response(self, call: Call, outcome: Outcome) -> bytes:
        """The response to a call."""
        assert call.request_id is not None
        return self._encoders[call.client.revision].answer(call.request_id, call.method, outcome)

    def require(self, method: str) -> None:
        """Refuse a method that is unknown, or whose capability is not advertised.

        Raises:
            ProtocolError: -32601.
        """
        if GATES.get(method) not in self._capabilities:
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def call(
        self,
        request_id: RequestId,
        method: str,
        params: Mapping[str, Any],
        client: Client,
        caller: Caller,
        send: Send,
        session_id: str | None = None,
    ) -> Call:
        """The call that a request makes.

        Raises:
            ProtocolError: the method is not served, or the progress token is not sound.
        """
        self.require(method)
        return Call(method, params, caller, client, request_id, session_id, _notify(params, client, send))


def _notify(params: Mapping[str, Any], client: Client, send: Send) -> Notify | None:
    """How a call reaches its client while it runs: only by progress, and only where the client asked for it."""
    meta = params.get("_meta")
    if type(meta) is not dict or "progressToken" not in meta:
        return None
    token = meta["progressToken"]
    if not is_request_id(token):
        raise ProtocolError(INVALID_PARAMS, "params._meta.progressToken must be a string or an integer")

    def notify(method: str, detail: dict[str, Any]) -> None:
        if client.revision == "2024-11-05":
            detail.pop("message", None)
        send(jsonrpc_notification(method, {"progressToken": token, **detail}))

    return notify
