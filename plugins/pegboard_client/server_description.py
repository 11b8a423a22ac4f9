"""The description that a server gives of itself."""

from __future__ import annotations

from typing import Any, NamedTuple

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
