"""The revisions of MCP, and the names, codes and methods that the specification defines. Data only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from pegboard.types import ItemKind

STATELESS_REVISIONS: Final = ("2026-07-28",)
"""Revisions without a handshake: every request names its own protocol version."""

SESSION_REVISIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that begin with `initialize`, newest first."""

SUPPORTED_REVISIONS: Final = (*STATELESS_REVISIONS, *SESSION_REVISIONS)

BATCH_REVISION: Final = "2025-03-26"
"""The only revision with JSON-RPC batches."""

PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL: Final = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"

LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Log levels, from the least to the most severe (RFC 5424)."""

UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

METHOD_CAPABILITIES: Final[dict[str, ItemKind | Literal["completions"]]] = {
    "tools/list": "tools",
    "tools/call": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "resources/read": "resources",
    "prompts/list": "prompts",
    "prompts/get": "prompts",
    "completion/complete": "completions",
}
"""The methods that the host answers in every revision, each with its capability."""


def since(revision: str, first: str) -> bool:
    """Return True if a revision is `first` or later. Revisions are ISO dates and compare as strings."""
    return revision >= first
