"""The stateless era (2026-07-28): each request names its client and its revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pegboard.plugin import ProtocolError
from pegboard.types import Client
from pegboard_plugins.protocols.mcp.jsonrpc_messages import EMPTY
from pegboard_plugins.protocols.mcp.revisions import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    LOG_LEVELS,
    PROTOCOL_VERSION,
    STATELESS_REVISIONS,
    SUPPORTED_REVISIONS,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from pegboard_plugins.support.jsonrpc import INVALID_PARAMS


def is_stateless(params: Mapping[str, Any]) -> bool:
    """Return True if a request is stateless: its `_meta` names a protocol version, even an unsupported version."""
    meta = params.get("_meta")
    return type(meta) is dict and PROTOCOL_VERSION in meta


def read_client(meta: Mapping[str, Any], supported: Sequence[str] = SUPPORTED_REVISIONS) -> Client:
    """Return the client that a request's `_meta` describes. `require_stateless` checks the revision later.

    Raises:
        ProtocolError: a required member is missing or has the wrong type.
    """
    if PROTOCOL_VERSION not in meta:
        raise ProtocolError(
            INVALID_PARAMS, f"params._meta: {PROTOCOL_VERSION} is missing", {"supported": list(supported)}
        )
    revision = meta[PROTOCOL_VERSION]
    capabilities = meta.get(CLIENT_CAPABILITIES)
    if type(revision) is not str:
        raise _bad(PROTOCOL_VERSION, "must be a string")
    if type(capabilities) is not dict:
        raise _bad(CLIENT_CAPABILITIES, "must be an object" if CLIENT_CAPABILITIES in meta else "is missing")
    info = meta.get(CLIENT_INFO, EMPTY)
    if info is not EMPTY and not _is_implementation(info):
        raise _bad(CLIENT_INFO, "must be an object with the members name and version")
    if LOG_LEVEL in meta and meta[LOG_LEVEL] not in LOG_LEVELS:
        raise _bad(LOG_LEVEL, "is not a log level")
    return Client(info.get("name", ""), info.get("version", ""), revision, capabilities)  # one for each request


def require_stateless(client: Client, supported: Sequence[str] = SUPPORTED_REVISIONS) -> None:
    """Reject a revision that the stateless era does not support.

    Raises:
        ProtocolError: -32022, with the supported revisions.
    """
    if client.revision not in STATELESS_REVISIONS:
        data = {"supported": list(supported), "requested": client.revision}
        raise ProtocolError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)


def _is_implementation(info: object) -> bool:
    return type(info) is dict and type(info.get("name")) is str and type(info.get("version")) is str


def _bad(key: str, problem: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"params._meta: {key} {problem}")
