"""MCP for one host and every binding: an encoder for each revision, and the calls for requests."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeGuard

from pegboard import ClientError, MCPError, ToolResult
from pegboard.plugin import Contributions, ProtocolContext, ProtocolError, SessionInfo, Subscription, as_failure
from pegboard.types import (
    Ask,
    Call,
    Caller,
    Client,
    Failure,
    Headers,
    InputRequired,
    ItemKind,
    Notify,
    Outcome,
    RawResult,
    Tool,
)
from pegboard_plugins.protocols.mcp.call_notifications import (
    log_limit,
    progress_token,
    session_notify,
    stateless_notify,
)
from pegboard_plugins.protocols.mcp.change_broadcaster import ChangeBroadcaster
from pegboard_plugins.protocols.mcp.client_requests import CallChannel
from pegboard_plugins.protocols.mcp.listing_objects import implementation_object
from pegboard_plugins.protocols.mcp.notification_dispatcher import NotificationDispatcher
from pegboard_plugins.protocols.mcp.plugin_extensions import contributed_capabilities, require_method, subscribe_topics
from pegboard_plugins.protocols.mcp.progress_reports import ProgressReports
from pegboard_plugins.protocols.mcp.result_encoder import ResultEncoder
from pegboard_plugins.protocols.mcp.revisions import (
    METHOD_CAPABILITIES,
    SERVER_INFO,
    STATELESS_REVISIONS,
    SUPPORTED_REVISIONS,
    since,
)
from pegboard_plugins.protocols.mcp.session import Session
from pegboard_plugins.protocols.mcp.session_methods import SEALED
from pegboard_plugins.support.jsonrpc import METHOD_NOT_FOUND, RequestId

if TYPE_CHECKING:
    from weakref import WeakSet

    from pegboard_plugins.protocols.mcp.admitted_streams import AdmittedStreams
    from pegboard_plugins.protocols.mcp.profiles import Profile
    from pegboard_plugins.protocols.mcp.round_trips import RoundTrips
    from pegboard_plugins.protocols.mcp.settings import McpConfig
    from pegboard_plugins.protocols.mcp.subscriptions import ClientSubscription


class Queues(Protocol):
    """Queues of messages to clients. Any thread may read how many wait."""

    @property
    def waiting(self) -> int: ...


CAPABILITY_KINDS: Final = tuple(dict.fromkeys(METHOD_CAPABILITIES.values()))
"""The capabilities for the host's lists and completions."""

LIST_CHANGED_CAPABILITIES: Final = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
}
"""The changes that the server notifies clients of, on a session's stream or by a subscription."""


class McpService:
    """MCP for one host, with its whole catalogue or one profile.

    Additions of plugins to the protocol are not restricted to a profile. So a profile has only those that are metadata.

    Args:
        host: the host.
        config: the settings of the plugin.
        round_trips: the rounds of calls that require input.
        queues: the queues of the plugin, for the gauge `messages_waiting`.
        transport: the transport of the requests; see `pegboard.types.Call`.
        profile: the profile; None for the whole catalogue.

    Attributes:
        revisions: the revisions that clients of the transport may use, newest first.
    """

    def __init__(
        self,
        host: ProtocolContext,
        config: McpConfig,
        round_trips: RoundTrips,
        queues: WeakSet[Queues],
        transport: str = "",
        profile: Profile | None = None,
    ) -> None:
        self.host = host
        self._profile = profile
        self._serves = None if profile is None else profile.serves
        self._transport = transport
        self._round_trips = round_trips
        interval = 60 / config.changes_per_minute if config.changes_per_minute else 0
        watch = host.watch if profile is None else lambda listener: host.watch(profile.watching(listener))
        self.changes = ChangeBroadcaster(host, config.change_delay_ms / 1000, interval, watch)
        self.queues = queues
        queues.add(self.changes)
        self._progress_interval = 1 / config.progress_per_second if config.progress_per_second else 0
        self.log_limit = partial(log_limit, config.logs_per_second)
        self._stateless_notify = partial(stateless_notify, logs_per_second=config.logs_per_second)
        self._offered: frozenset[str] = frozenset()
        has_sessions = transport != "http" or config.sessions != "off"
        self.revisions = SUPPORTED_REVISIONS if has_sessions else STATELESS_REVISIONS
        self._dispatcher = NotificationDispatcher(host, transport)
        self._encoders = {
            revision: ResultEncoder(revision, host.identity, config.ttl_ms()) for revision in SUPPORTED_REVISIONS
        }

    def offers(self, kind: ItemKind | Literal["completions"]) -> bool:
        """Return True if the host lists items of a kind, and the profile may have them."""
        return self.host.offers(kind) and (self._profile is None or self._profile.may_have(kind))

    @property
    def contributed(self) -> Contributions:
        """The additions of plugins to the protocol."""
        if self._profile is None:
            return self.host.contributed
        from pegboard_plugins.protocols.mcp.profiles import inert

        return inert(self.host.contributed)

    def tool(self, name: str, caller: Caller) -> Tool | None:
        """Return a tool that clients can use. Return None if the caller has no access to such a tool."""
        return self.host.tool(name, caller) if self._serves is None or self._serves("tools", name) else None

    def capabilities(self, revision: str) -> dict[str, Any]:
        """Return the server's capabilities in a revision (MCP ServerCapabilities)."""
        capabilities: dict[str, Any] = {
            kind: dict(LIST_CHANGED_CAPABILITIES.get(kind, {})) for kind in CAPABILITY_KINDS if self.offers(kind)
        }
        if not since(revision, "2025-03-26"):
            capabilities.pop("completions", None)
        capabilities["logging"] = {}
        return capabilities | contributed_capabilities(self.contributed, revision)

    def dispatch_notification(self, name: str, params: Any, caller: Caller, session: Session | None = None) -> None:
        """Dispatch a client's notification to plugins."""
        if self._profile is None or name not in self.host.contributed.notifications:
            self._dispatcher.dispatch_notification(name, params, caller, session)

    def subscribe(self, call: Call, wanted: Mapping[str, Any], notify: Notify) -> Subscription:
        """Begin the plugins' part of a `subscriptions/listen` request; see `subscribe_topics`."""
        encoder = self._encoders[call.client.revision]
        return subscribe_topics(
            self.contributed, call, wanted, lambda method, params: notify(method, encoder.inlined(params))
        )

    @cached_property
    def admitted_streams(self) -> AdmittedStreams:
        from pegboard_plugins.protocols.mcp.admitted_streams import AdmittedStreams

        authenticate = self.host.authenticate
        return AdmittedStreams(
            authenticate if self._profile is None else partial(authenticate, policy=self._profile.policy)
        )

    def end(self) -> None:
        self._dispatcher.end()

    def handshake(self, request_id: RequestId, session: Session) -> bytes:
        """Return the response to `initialize`. Store its capabilities in the session."""
        session.offered = self.offered()
        revision = session.client.revision
        capabilities = self.capabilities(revision)
        if session.is_sealed and "resources" in capabilities:
            capabilities["resources"].pop("subscribe")
        return self._encoders[revision].handshake(request_id, capabilities)

    def offered(self) -> frozenset[str]:
        """Return the capabilities that a handshake advertises now. Sessions share one object."""
        offered = frozenset(filter(self.offers, CAPABILITY_KINDS))
        if offered != self._offered:
            self._offered = offered
        return self._offered

    def session_started(self, key: Hashable, session: Session, caller: Caller) -> None:
        """Report the start of a session to observers."""
        info = SessionInfo(id=session.id, client=session.client, caller=caller, transport=self._transport)
        self.host.session_started(key, info)

    def discovery(self, request_id: RequestId) -> bytes:
        """Return the response to `server/discover`."""
        revision = STATELESS_REVISIONS[0]
        return self._encoders[revision].discovery(request_id, self.capabilities(revision), self.revisions)

    @property
    def server_info(self) -> dict[str, Any]:
        """The `_meta` that names the server (2026-07-28)."""
        return {SERVER_INFO: implementation_object(self.host.identity, STATELESS_REVISIONS[0])}

    def response(self, call: Call, outcome: Outcome) -> bytes:
        """Return the response to a call.

        Never raise: an outcome that cannot be encoded becomes an error, and is logged.
        """
        assert call.request_id is not None
        encoder = self._encoders[call.client.revision]
        try:
            if type(outcome) is InputRequired:
                return encoder.input_required(call.request_id, self._round_trips.result(call, outcome))
            # the encoder wraps values that are not objects; for objects, the tool's schema decides
            if encoder.wraps_results and _has_structured_object(outcome) and self._has_wrapped_results(call):
                return encoder.wrapped_answer(call.request_id, outcome)
            return encoder.answer(call.request_id, call.method, outcome)
        except MCPError as error:
            return encoder.answer(call.request_id, call.method, Failure(error))
        except Exception as error:  # noqa: BLE001 - the outcome of a plugin: the host checks results of functions only
            wrong = TypeError(f"the outcome was changed by a plugin and cannot be encoded: {error}")
            wrong.__cause__ = error
            return encoder.answer(call.request_id, call.method, as_failure(call, wrong))

    def _has_wrapped_results(self, call: Call) -> bool:
        from pegboard_plugins.protocols.mcp.wrapped_results import is_wrapped  # most tools return text

        tool = self.tool(str(call.params.get("name")), call.caller)
        return tool is not None and is_wrapped(tool)

    def listen(
        self,
        request_id: RequestId,
        params: Mapping[str, Any],
        client: Client,
        caller: Caller,
        headers: Headers | None = None,
    ) -> ClientSubscription:
        """Return the subscription for a request (2026-07-28).

        Raises:
            ProtocolError: the request is invalid.
        """
        from pegboard_plugins.protocols.mcp.subscriptions import ClientSubscription

        call = self._subscription("subscriptions/listen", request_id, params, client, caller)
        return ClientSubscription(call._replace(headers=headers), self)

    def refused_subscription(
        self, request_id: RequestId, params: Mapping[str, Any], client: Client, caller: Caller
    ) -> tuple[Call, Failure] | None:
        """Return a `resources/subscribe` call and its error if the caller is not allowed to read the resource.

        Return None if the caller is allowed. The resource is then notified.
        """
        call = self._subscription("resources/subscribe", request_id, params, client, caller)
        uri = params.get("uri")
        error = self.host.subscribe(uri, call) if type(uri) is str else None
        return None if error is None else (call, Failure(error))

    def _subscription(
        self, method: str, request_id: RequestId, params: Mapping[str, Any], client: Client, caller: Caller
    ) -> Call:
        """Return the call of a request that asks for notifications of changes."""
        return Call(method, params, caller, client, request_id, serves=self._serves, transport=self._transport)

    def require(self, method: str, client: Client, session: Session | None = None) -> None:
        """Reject unknown methods, methods without advertised capability, and methods closed to this client.

        A session may use the capabilities of its handshake. Other requests may use the current capabilities.

        Raises:
            ProtocolError: -32601; -32021 for a method of an extension that the client does not declare.
        """
        capability = METHOD_CAPABILITIES.get(method)
        if capability is None:
            require_method(self.contributed, method, client)
        elif not (self.offers(capability) if session is None else capability in session.offered):
            raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {method}")

    def name_parameter(self, method: str) -> str | None:
        """Return the parameter of a plugin's method that `Mcp-Name` mirrors. Return None if there is none."""
        added = None if method in METHOD_CAPABILITIES else self.contributed.methods.get(method)
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
        """Return the call for a request.

        Args:
            request_id: the id of the request.
            method: the method of the request.
            params: the parameters of the request.
            client: the client program.
            caller: the caller.
            channel: the channel for the call's messages, or None if the client accepts none.
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
        token = progress_token(meta) if meta else None
        if channel is not None:
            if token is not None:
                channel.progress = ProgressReports(token, channel, self._progress_interval)
            if session is None:
                notify = self._stateless_notify(meta, channel.progress, channel.send) if type(meta) is dict else None
            else:
                notify = session_notify(session, channel.progress, channel.send)
                ask = _refuse_question if session.is_sealed else partial(session.ask, channel)
        begun = self._round_trips.begin(method, params, caller) if session is None else None
        session_id = None if session is None else session.id
        state = None if session is None or session.is_sealed else session
        # one for each request: keywords would cost 2 % of a call
        return Call(
            method, params, caller, client, request_id, session_id, notify, ask, begun, state,
            None, headers, (), None, peer, self._serves, self._transport,
        )  # fmt: skip


async def _refuse_question(method: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Refuse to ask the client of a sealed session: another process may receive its answer."""
    raise ClientError(f"The client cannot be asked, as {SEALED}.")


def _has_structured_object(outcome: Outcome) -> TypeGuard[ToolResult | RawResult]:
    """Return True for the structured result of a tool whose value is an object, or of another server's tool."""
    if type(outcome) is RawResult:
        return "structuredContent" in outcome.value
    if not isinstance(outcome, ToolResult) or not outcome.structured:
        return False
    encoded = outcome.json
    return type(outcome.value) is dict if encoded is None else encoded.startswith(b"{")
