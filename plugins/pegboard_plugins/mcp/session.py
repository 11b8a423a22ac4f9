"""The era of sessions (2024-11-05 to 2025-11-25): a handshake first, then requests in the negotiated revision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard import NOTHING, Client, ProtocolError
from pegboard_plugins.mcp.envelope import INVALID_PARAMS
from pegboard_plugins.mcp.revisions import LEGACY


def negotiate(params: Mapping[str, Any]) -> Client:
    """Who opens a session and in which revision: the one asked for where it is served, else the newest with sessions.

    Raises:
        ProtocolError: the parameters of `initialize` are not sound.
    """
    requested = params.get("protocolVersion")
    capabilities = params.get("capabilities", NOTHING)
    info = params.get("clientInfo", NOTHING)
    if type(requested) is not str:
        raise ProtocolError(INVALID_PARAMS, "params.protocolVersion must be a string", {"supported": list(LEGACY)})
    if capabilities is not NOTHING and type(capabilities) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params.capabilities must be an object")
    if info is not NOTHING and type(info) is not dict:
        raise ProtocolError(INVALID_PARAMS, "params.clientInfo must be an object")
    revision = requested if requested in LEGACY else LEGACY[0]
    return Client(_text(info.get("name")), _text(info.get("version")), revision, capabilities)


def _text(value: object) -> str:
    return value if type(value) is str else ""
