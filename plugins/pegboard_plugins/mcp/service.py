"""What every binding of MCP needs of one host: an encoder for each revision, and calls that pass the gate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pegboard import (
    Ask,
    Call,
    Caller,
    Client,
    Headers,
    Notify,
    Outcome,
    ProtocolError,
    ProtocolHost,
    RequestId,
)
from pegboard_plugins.mcp.envelope import METHOD_NOT_FOUND
from pegboard_plugins.mcp.notices import modern_notify, session_notify, token_of
from pegboard_plugins.mcp.requests import Outlet
from pegboard_plugins.mcp.results import Encoder
from pegboard_plugins.mcp.revisions import GATES, MODERN, SUPPORTED
from pegboard_plugins.mcp.session import Session


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
        self._capabilities["logging"] = {}
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
        outlet: Outlet | None,
        session: Session | None = None,
        headers: Headers | None = None,
    ) -> Call:
        """The call that a request makes.

        Args:
            request_id: the request's id.
            method: its method.
            params: its parameters.
            client: which program asks.
            caller: who asks.
            outlet: where the call's own messages go, None where its client takes none.
            session: the session it belongs to, None in 2026-07-28.
            headers: the fields of the HTTP request it came by.

        Raises:
            ProtocolError: the method is not served, or the progress token is not sound.
        """
        self.require(method)
        meta = params.get("_meta")
        token = token_of(meta)
        notify: Notify | None = None
        ask: Ask | None = None
        if outlet is not None:
            if session is None:
                notify = modern_notify(meta, token, outlet.send) if type(meta) is dict else None
            else:
                notify = session_notify(session, token, outlet.send)
                ask = partial(session.requests.ask, outlet)
        session_id = None if session is None else session.id
        return Call(method, params, caller, client, request_id, session_id, notify=notify, ask=ask, headers=headers)
