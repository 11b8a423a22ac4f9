"""The revisions of MCP that a client speaks, the selection of one, and the description of the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pegboard.errors import ProtocolError, TransportError
from pegboard_client.in_flight import Message

STATELESS = "2026-07-28"
"""The revision without sessions."""
SESSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions with sessions, newest first."""
PROBE_SECONDS = 10.0
"""How long a server on a message stream may take to respond to `server/discover` before `initialize` is sent, too."""

MISMATCHED_HEADERS = -32020
_UNSUPPORTED_VERSION = -32022
_MODERN_ERRORS = (MISMATCHED_HEADERS, -32021, _UNSUPPORTED_VERSION)
_META = "io.modelcontextprotocol/"


class SessionServerError(TransportError):
    """The server speaks only revisions with sessions.

    Attributes:
        revision: the revision to request.
    """

    revision: str = SESSIONS[0]


def stateless_meta(info: Mapping[str, str], capabilities: Mapping[str, Any]) -> Message:
    """Return the members of `_meta` that each request of 2026-07-28 has."""
    return {
        f"{_META}protocolVersion": STATELESS,
        f"{_META}clientInfo": info,
        f"{_META}clientCapabilities": capabilities,
    }


def check_discovered(label: str, result: Message) -> None:
    """Check that a `server/discover` result offers 2026-07-28.

    Raises:
        SessionServerError: the server offers only revisions with sessions, or sent the result of another method.
        TransportError: the server offers no revision that the client speaks.
    """
    versions = result.get("supportedVersions")
    if not isinstance(versions, list):
        raise SessionServerError(f"{label} does not implement server/discover")
    if STATELESS not in versions:
        raise _other_revision(label, versions)


def refusal_of_discover(label: str, error: ProtocolError) -> TransportError | ProtocolError:
    """Return the exception for an error response to `server/discover`."""
    if error.code not in _MODERN_ERRORS:
        return SessionServerError(f"{label} does not implement server/discover: {error.message}")
    supported = error.data.get("supported") if isinstance(error.data, dict) else None
    if error.code != _UNSUPPORTED_VERSION or not isinstance(supported, list):
        return error
    return _other_revision(label, supported)


def selected_revision(label: str, result: Message) -> str:
    """Return the revision in an `initialize` result.

    Raises:
        TransportError: the client does not speak the revision.
    """
    revision = result.get("protocolVersion")
    if revision not in SESSIONS:
        raise TransportError(f"{label} selected the revision {revision!r:.40}, which this client does not support")
    return str(revision)


def _other_revision(label: str, offered: list[Any]) -> TransportError:
    common = [revision for revision in SESSIONS if revision in offered]
    if not common:
        return TransportError(f"{label} offers only the revisions {offered!r:.200}, which this client does not support")
    error = SessionServerError(f"{label} offers only revisions with sessions")
    error.revision = common[0]
    return error


_SERVER_INFO = "io.modelcontextprotocol/serverInfo"


class ServerDescription(NamedTuple):
    """The description of a server, from its `server/discover` or `initialize` result.

    Attributes:
        name: its name; "" if it has none.
        version: its version; "" if it has none.
        title: its name for people; None if it has none.
        capabilities: its capabilities.
        instructions: its instructions to the model; None if it has none.
        raw: the whole result.
    """

    name: str
    version: str
    title: str | None
    capabilities: dict[str, Any]
    instructions: str | None
    raw: dict[str, Any]


def description_in(raw: dict[str, Any]) -> ServerDescription:
    """Return the description in a result. Members of other types count as absent."""
    meta = raw.get("_meta")
    info = meta.get(_SERVER_INFO) if isinstance(meta, dict) and "serverInfo" not in raw else raw.get("serverInfo")
    info = info if isinstance(info, dict) else {}
    capabilities = raw.get("capabilities")
    return ServerDescription(
        name=_string(info.get("name")) or "",
        version=_string(info.get("version")) or "",
        title=_string(info.get("title")),
        capabilities=capabilities if isinstance(capabilities, dict) else {},
        instructions=_string(raw.get("instructions")),
        raw=raw,
    )


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
