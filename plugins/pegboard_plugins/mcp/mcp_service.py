"""What every binding of MCP needs of one host: an encoder for each revision, and calls that pass the gate."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from pegboard import MCPError
from pegboard.plugin import METHOD_NOT_FOUND, ProtocolContext, ProtocolError, Subscription, as_failure
from pegboard.types import Ask, Call, Caller, Client, Failure, Headers, InputRequired, Notify, Outcome, RequestId
from pegboard_plugins.mcp.call_notifications import progress_token, session_notify, stateless_notify
from pegboard_plugins.mcp.change_broadcaster import ChangeBroadcaster
from pegboard_plugins.mcp.client_requests import CallChannel
from pegboard_plugins.mcp.listing_objects import implementation_object
from pegboard_plugins.mcp.notification_dispatcher import NotificationDispatcher
from pegboard_plugins.mcp.plugin_extensions import contributed_capabilities, require_method, subscribe_topics
from pegboard_plugins.mcp.progress_reports import ProgressReports
from pegboard_plugins.mcp.result_encoder import ResultEncoder
from pegboard_plugins.mcp.revisions import (
    METHOD_CAPABILITIES,
    SERVER_INFO,
    STATELESS_REVISIONS,
    SUPPORTED_REVISIONS,
    since,
)
from pegboard_plugins.mcp.session import Session

if TYPE_CHECKING:
    from pegboard_plugins.mcp import McpConfig
    from pegboard_plugins.mcp.round_trips import RoundTrips
    from pegboard_plugins.mcp.subscriptions import ClientSubscription


CAPABILITY_KINDS: Final = tuple(dict.fromkeys(METHOD_CAPABILITIES.values()))
"""The capabilities that depend on what there is to list."""

LIST_CHANGED_CAPABILITIES: Final = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
}
"""What clients are told of, where they listen: on a session's stream, or by a subscription."""


class McpService:
    """MCP over one host, whatever the binding.

    Args:
        host: the host.
        config: the settings of the plugin.
        round_trips: the questions that end a call, and their answers.
    """

    def __init__(self, host: ProtocolContext, config: McpConfig, round_trips: RoundTrips) -> None:
        self.host = host
        self._round_trips = round_trips
        self.changes = ChangeBroadcaster(host)
        self._offered: frozenset[str] = frozenset()
        self._dispatcher = NotificationDispatcher(host)
        self._encoders = {
            revision: ResultEncoder(revision, host.identity, config.ttl_ms()) for revision in SUPPORTED_REVISIONS
        }

    def capabilities(self, revision: str) -> dict[str, Any]:
        """What the server can do in a revision (MCP ServerCapabilities)."""
        capabilities: dict[str, Any] = {
            kind: dict(LIST_CHANGED_CAPABILITIES.get(kind, {})) for kind in CAPABILITY_KINDS if self.host.offers(kind)
        }
        if not since(revision, "2025-03-26"):
            capabilities.pop("completions", None)
        capabilities["logging"] = {}
        return capabilities | contributed_capabilities(self.host.contributed, revision)

    def dispatch_notification(self, name: str, params: Any, caller: Caller, session: Session | None = None) -> None:
        """Take note of a notification: a plugin may want to hear of it, the specification's own included."""
        self._dispatcher.dispatch_notification(name, params, caller, session)

    def subscribe(self, call: Call, wanted: Mapping[str, Any], notify: Notify) -> Subscription:
        """Begin what a `subscriptions/listen` wants of plugins; see `additions.subscribe`."""
        encoder = self._encoders[call.client.revision]
        return subscribe_topics(
            self.host.contributed, call, wanted, lambda method, params: notify(method, encoder.inlined(params))
        )

    def end(self) -> None:
        """Hear no more."""
        self._dispatcher.end()

    def handshake(self, request_id: RequestId, session: Session) -> bytes:
        """The response to `initialize`, which settles what the session may use, whatever comes later."""
        offered = frozenset(kind for kind in CAPABILITY_KINDS if self.host.offers(kind))
        if offered != self._offered:
            self._offered = offered  # sessions share it
        session.offered = self._offered
        revision = session.client.revision
        return self._encoders[revision].handshake(request_id, self.capabilities(revision))

    def discovery(self, request_id: RequestId) -> bytes:
        """The response to `server/discover`."""
        return self._encoders[STATELESS_REVISIONS[0]].discovery(request_id, self.capabilities(STATELESS_REVISIONS[0]))

    @property
    def server_info(self) -> dict[str, Any]:
        """The member of `_meta` that says who answers (2026-07-28)."""
        return {SERVER_INFO: implementation_object(self.host.identity, STATELESS_REVISIONS[0])}

    def response(self, call: Call, outcome: Outcome) -> bytes:
        """The response to a call. Never raises: what cannot be encoded is an error, and logged."""
        assert call.request_id is not None
        encoder = self._encoders[call.client.revision]
        try:
            if type(outcome) is InputRequired:
                return encoder.input_required(call.request_id, self._round_trips.result(call, outcome))
            return encoder.answer(call.request_id, call.method, outcome)
        except MCPError as error:
            return encoder.answer(call.request_id, call.method, Failure(error))
        except Exception as error:  # noqa: BLE001 - some plugin's outcome: the host checks what functions give
            wrong = TypeError(f"its outcome, which a plugin made, cannot be encoded: {error}")
            wrong.__cause__ = error
            return encoder.answer(call.request_id, call.method, as_failure(call, wrong))

    def listen(
        self,
        request_id: RequestId,
        params: Mapping[str, Any],
        client: Client,
        caller: Caller,
        headers: Headers | None = None,
    ) -> ClientSubscription:
        """The subscription that a request begins (2026-07-28).

        Raises:
            ProtocolError: the request is not sound.
        """
        from pegboard_plugins.mcp.subscriptions import ClientSubscription

        call = Call(
            method="subscriptions/listen",
            params=params,
            caller=caller,
            client=client,
            request_id=request_id,
            headers=headers,
        )
        return ClientSubscription(call, self)

    def refused_subscription(
        self, request_id: RequestId, params: Mapping[str, Any], client: Client, caller: Caller
    ) -> tuple[Call, Failure] | None:
        """A `resources/subscribe` whose caller may not hear of the resource, and why; None where they may."""
        call = Call(method="resources/subscribe", params=params, caller=caller, client=client, request_id=request_id)
        uri = params.get("uri")
        error = self.host.refused(uri, call) if type(uri) is str else None
        return None if error is None else (call, Failure(error))

    def require(self, method: str, client: Client, session: Session | None = None) -> None:
        """Refuse a method that is unknown, whose capability is not advertised, or that is not for this client.

        What a session may use is what its handshake advertised; without one, it is what is advertised now.

        Raises:
            ProtocolError: -32601; -32021 for a method of an extension that the client does not declare.
        """
        capability = METHOD_CAPABILITIES.get(method)
        if capability is None:
            require_method(self.host.contributed, method, client)
        elif not (self.host.offers(capability) if session is None else capability in session.offered):
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def name_parameter(self, method: str) -> str | None:
        """The parameter that `Mcp-Name` mirrors in a method that a plugin added, if any."""
        added = None if method in METHOD_CAPABILITIES else self.host.contributed.methods.get(method)
        return None if added is None else added.name_parameter

    def call(
        self,
        request_id: RequestId,
        method: str,
        params: Mapping[str, Any],
        client: Client,
        caller: Caller,
        channel: CallChannel | None,
        session: Session | None = None,
        headers: Headers | None = None,
        peer: str = "",
    ) -> Call:
        """Return the call that a request makes.

        Args:
            request_id: the id of the request.
            method: the method of the request.
            params: the parameters of the request.
            client: the client program.
            caller: the caller.
            channel: takes the messages of the call, None if the client takes none.
            session: the session of the request, None in 2026-07-28.
            headers: the header fields of the HTTP request.
            peer: the address of the client, for logs.

        Raises:
            ProtocolError: the method is not served to this client, or the progress token is invalid.
        """
        self.require(method, client, session)
        meta = params.get("_meta")
        notify: Notify | None = None
        ask: Ask | None = None
        token = progress_token(meta)
        if channel is not None:
            if token is not None:
                channel.progress = ProgressReports(token, channel)
            if session is None:
                notify = stateless_notify(meta, channel.progress, channel.send) if type(meta) is dict else None
            else:
                notify = session_notify(session, channel.progress, channel.send)
                ask = partial(session.ask, channel)
        begun = self._round_trips.begin(method, params, caller) if session is None else None
        return Call(
            method=method,
            params=params,
            caller=caller,
            client=client,
            request_id=request_id,
            session_id=None if session is None else session.id,
            notify=notify,
            ask=ask,
            round=begun,
            headers=headers,
            peer=peer,
        )
