"""Sessions that no store keeps: the id of a session is its record, encrypted with `state_keys`.

Such a session does not change. It ends at a fixed time, and any process with the same keys serves it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.plugin import ProtocolError, SessionStore, encode
from pegboard_plugins.protocols.mcp.change_broadcaster import ChangeBroadcaster
from pegboard_plugins.protocols.mcp.http.http_sessions import HttpSessions
from pegboard_plugins.protocols.mcp.http.session_record import RECORD, SessionRecord, members_of
from pegboard_plugins.protocols.mcp.sealing import STATE_VERSION, Sealer
from pegboard_plugins.protocols.mcp.settings import McpConfig
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS

MAX_ID_BYTES = 4096
"""The longest id. Clients send it with each request, and proxies limit the size of header fields."""


class SealedSessions(HttpSessions):
    """The sealed sessions of one endpoint.

    Args:
        config: the settings of the plugin.
        changes: the changes that clients are notified of.
        profile: the profile of the endpoint, "" for none.
    """

    is_sealed = True

    def __init__(self, config: McpConfig, changes: ChangeBroadcaster, profile: str = "") -> None:
        keys = [key.get_secret_value() for key in config.state_keys]
        self._ids = SealedIdStore(Sealer(keys, config.sealed_seconds), profile)
        super().__init__(self._ids, None, config, changes, profile)

    def _new_id(self, record: SessionRecord) -> str:
        """Return the sealed record.

        Raises:
            ProtocolError: the client describes itself at such length that the id is too long.
        """
        sealed = self._ids.sealed(record)
        if len(sealed) > MAX_ID_BYTES:
            text = (
                f"The session id would have {len(sealed)} bytes, and may have {MAX_ID_BYTES}: "
                "send shorter capabilities and clientInfo."
            )
            raise ProtocolError(INVALID_PARAMS, text)
        return sealed


class SealedIdStore(SessionStore):
    """The store of sealed sessions, which reads a record from its id.

    Args:
        sealer: seals records. It determines their expiry.
        profile: the profile whose ids it accepts.
    """

    def __init__(self, sealer: Sealer, profile: str) -> None:
        self._sealer = sealer
        self._bound_to = ["session", profile]

    def sealed(self, record: SessionRecord) -> str:
        """Return the sealed form of a new record."""
        return self._sealer.seal(members_of(record), self._bound_to).removeprefix(STATE_VERSION)

    async def create(self, session_id: str, owner: str, fields: Mapping[str, bytes]) -> bool:
        """Accept a new session."""
        return True

    async def update(self, session_id: str, changes: Mapping[str, bytes | None]) -> bool:
        """Return False if the session has ended."""
        return await self.get(session_id) is not None

    async def get(self, session_id: str) -> Mapping[str, bytes] | None:
        """Return the record in an id, or None if it is invalid or has expired."""
        sealed = session_id.rpartition(".")[2]
        if len(sealed) > MAX_ID_BYTES:
            return None
        try:
            return {RECORD: encode(self._sealer.open(STATE_VERSION + sealed, self._bound_to))}
        except ValueError:
            return None

    async def remove(self, session_id: str) -> None:
        """Do nothing: a sealed session cannot be deleted."""

    async def count(self, owner: str) -> int:
        """Return 0: sealed sessions take no memory, and have no limit."""
        return 0
