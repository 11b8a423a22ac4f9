"""The era of sessions (2024-11-05 to 2025-11-25): a handshake first, then requests in the negotiated revision."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Final

from pegboard.plugin import ProtocolError, encode
from pegboard.types import EMPTY, Change, Client
from pegboard_plugins.mcp.envelope import INVALID_PARAMS
from pegboard_plugins.mcp.requests import Outlet, QuestionIds, Requests
from pegboard_plugins.mcp.revisions import LEGACY

DEFAULT_LEVEL: Final = "info"
"""What a session hears that has set no level; the server may decide (2025-11-25, server/utilities/logging)."""

MOST_CAPABILITIES = 64 * 1024
"""How long a client's capabilities may be, in bytes of JSON: a session keeps them."""
MOST_TEXT = 200
"""How much of a client's name and version is kept, in characters."""


class Session:
    """What a handshake settled, and what is open between its two ends, whatever the binding.

    Attributes:
        id: its id, None where the connection is the session.
        client: who opened it, and its revision.
        level: the least severe log message that the client wants.
        offered: what the handshake advertised of the things that a host lists.
        subscriptions: the resources of whose changes the client wants to be told.
    """

    __slots__ = ("_question_ids", "_requests", "client", "id", "level", "offered", "subscriptions")

    def __init__(self, client: Client, session_id: str | None = None, question_ids: QuestionIds | None = None) -> None:
        self.client = client
        self.id = session_id
        self.level = DEFAULT_LEVEL
        self.offered: frozenset[str] = frozenset()
        self.subscriptions: frozenset[str] = frozenset()
        self._question_ids = question_ids
        self._requests: Requests | None = None

    @property
    def requests(self) -> Requests:
        """The server's requests to the client."""
        if self._requests is None:
            self._requests = Requests(self._question_ids or QuestionIds())
        return self._requests

    def ask(self, outlet: Outlet, method: str, params: dict[str, Any], **options: Any) -> Awaitable[dict[str, Any]]:
        """Send a request to the client by the outlet of a call; see `Requests.ask`."""
        return self.requests.ask(outlet, self.client.revision, method, params, **options)

    def withdraw(self, outlet: Outlet) -> None:
        """Ask no more what a call asked that ends."""
        if self._requests is not None:
            self._requests.withdraw(outlet)

    def hears_of(self, change: Change) -> bool:
        """Whether the client is to be told of a change."""
        return change.uri in self.subscriptions if change.kind == "resource" else change.kind in self.offered

    def end(self) -> None:
        """Fail what is still asked."""
        self.requests.close()


def negotiate(params: Mapping[str, Any]) -> Client:
    """Who opens a session and in which revision: the one asked for where it is served, else the newest with sessions.

    Raises:
        ProtocolError: the parameters of `initialize` are not sound.
    """
    requested = params.get("protocolVersion")
    capabilities = params.get("capabilities", {})
    info = params.get("clientInfo", EMPTY)
    if type(requested) is not str:
        raise ProtocolError(INVALID_PARAMS, "params.protocolVersion must be a string", {"supported": list(LEGACY)})
    if type(capabilities) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params.capabilities must be an object")
    if capabilities and len(encode(capabilities)) > MOST_CAPABILITIES:
        raise ProtocolError(INVALID_PARAMS, f"params.capabilities may have {MOST_CAPABILITIES} bytes")
    if info is not EMPTY and type(info) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params.clientInfo must be an object")
    revision = requested if requested in LEGACY else LEGACY[0]
    return Client(_text(info.get("name")), _text(info.get("version")), revision, capabilities)


def _text(value: object) -> str:
    return value[:MOST_TEXT] if type(value) is str else ""
