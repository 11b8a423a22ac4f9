"""The era of sessions (2024-11-05 to 2025-11-25): a handshake, then requests in the negotiated revision."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from pegboard.plugin import ProtocolError, encode
from pegboard.types import Change, Client
from pegboard_plugins.protocols.mcp.client_requests import CallChannel, ClientRequestIds, ClientRequests
from pegboard_plugins.protocols.mcp.jsonrpc_messages import EMPTY
from pegboard_plugins.protocols.mcp.revisions import SESSION_REVISIONS
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS

if TYPE_CHECKING:
    from pegboard_plugins.protocols.mcp.call_notifications import LogLimit

DEFAULT_LEVEL: Final = "info"
"""The log level of a session without `logging/setLevel` (2025-11-25, server/utilities/logging)."""

MAX_CAPABILITIES_BYTES = 64 * 1024
"""The maximum size of a client's capabilities as JSON. The session stores them."""
MAX_CLIENT_INFO_CHARACTERS = 200
"""The maximum stored length of a client's name and of its version."""

CHANGE: Final = Lock()
"""Held while values of a session change. Tools in threads may change them at the same time."""


class Session:
    """The result of a handshake, and the state that both ends share.

    Attributes:
        id: the session id, or None if the session is bound to a connection.
        client: the client, with its revision.
        level: the least severe log level that the client requests.
        offered: the capabilities that the handshake advertised.
        subscriptions: the URIs of subscribed resources.
        data: the values that tools keep in the session; see `Call.session`.
        log_limit: the limit of its log messages, or None for no limit.
        is_sealed: True if nothing stores the session, so that it cannot change, and cannot be asked questions.
    """

    __slots__ = (
        "_request_ids",
        "_requests",
        "client",
        "data",
        "id",
        "is_sealed",
        "level",
        "log_limit",
        "offered",
        "subscriptions",
    )

    def __init__(
        self, client: Client, session_id: str | None = None, request_ids: ClientRequestIds | None = None
    ) -> None:
        self.client = client
        self.id = session_id
        self.level = DEFAULT_LEVEL
        self.offered: frozenset[str] = frozenset()
        self.subscriptions: frozenset[str] = frozenset()
        self.data: dict[str, str] = {}
        self.log_limit: LogLimit | None = None
        self.is_sealed = False
        self._request_ids = request_ids
        self._requests: ClientRequests | None = None

    @property
    def requests(self) -> ClientRequests:
        """The server's requests to the client."""
        if self._requests is None:
            self._requests = ClientRequests(self._request_ids or ClientRequestIds())
        return self._requests

    def ask(
        self, channel: CallChannel, method: str, params: dict[str, Any], **options: Any
    ) -> Awaitable[dict[str, Any]]:
        """Send a request to the client on the channel of a call; see `ClientRequests.ask`."""
        return self.requests.ask(channel, self.client.revision, method, params, **options)

    async def load(self) -> None:
        """Read the values that tools keep; see `Call.session`. They are in this process."""

    def change(self, name: str, text: str | None) -> None:
        """Set a value that tools keep, or remove it, in any thread; see `Call.session`."""
        with CHANGE:
            self.data = {other: kept for other, kept in self.data.items() if other != name}
            if text is not None:
                self.data[name] = text
            self.changed_field(f"data/{name}", text)

    def set_level(self, level: str) -> None:
        self.level = level
        self.changed_field("level", level)

    def subscribe(self, uri: str) -> None:
        self.subscriptions |= {uri}
        self.changed_field(f"uri/{uri}", "")

    def unsubscribe(self, uri: str) -> None:
        self.subscriptions -= {uri}
        self.changed_field(f"uri/{uri}", None)

    def changed_field(self, name: str, text: str | None) -> None:
        """Note that a field of the stored session has changed. A session of a connection is not stored."""

    def withdraw(self, channel: CallChannel) -> None:
        """Cancel the requests of a call that ends."""
        if self._requests is not None:
            self._requests.withdraw(channel)

    def is_subscribed_to(self, change: Change) -> bool:
        """Return True if the client is notified of a change."""
        return change.uri in self.subscriptions if change.kind == "resource" else change.kind in self.offered

    @property
    def everything(self) -> list[Change]:
        """A change of each list and resource that the client is notified of."""
        kinds = [Change(kind) for kind in ("tools", "resources", "prompts") if kind in self.offered]
        return [*kinds, *(Change("resource", uri) for uri in sorted(self.subscriptions))]

    def end(self) -> None:
        """Fail the waiting requests."""
        self.requests.close()


def negotiate(params: Mapping[str, Any]) -> Client:
    """Return the client that opens a session. Its revision is the requested revision if supported, else the newest.

    Raises:
        ProtocolError: the parameters of `initialize` are invalid.
    """
    requested = params.get("protocolVersion")
    capabilities = params.get("capabilities", {})
    info = params.get("clientInfo", EMPTY)
    if type(requested) is not str:
        raise ProtocolError(
            INVALID_PARAMS, "params.protocolVersion must be a string", {"supported": list(SESSION_REVISIONS)}
        )
    if type(capabilities) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params.capabilities must be an object")
    if capabilities and len(encode(capabilities)) > MAX_CAPABILITIES_BYTES:
        raise ProtocolError(INVALID_PARAMS, f"params.capabilities may have at most {MAX_CAPABILITIES_BYTES} bytes")
    if info is not EMPTY and type(info) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params.clientInfo must be an object")
    revision = requested if requested in SESSION_REVISIONS else SESSION_REVISIONS[0]
    return Client(
        name=_text(info.get("name")), version=_text(info.get("version")), revision=revision, capabilities=capabilities
    )


def _text(value: object) -> str:
    return value[:MAX_CLIENT_INFO_CHARACTERS] if type(value) is str else ""
