"""The context and the keys of metadata, under the names of `arcade_core.schema`."""

from __future__ import annotations

from enum import StrEnum

from pegboard import Authorization as ToolAuthorizationContext
from pegboard_plugins.compat.arcade.context import Context as ToolContext
from pegboard_plugins.compat.arcade.context import ToolMetadataItem, ToolSecretItem

__all__ = ["ToolAuthorizationContext", "ToolContext", "ToolMetadataItem", "ToolMetadataKey", "ToolSecretItem"]


class ToolMetadataKey(StrEnum):
    """The keys of metadata that several toolkits require."""

    CLIENT_ID = "client_id"
    COORDINATOR_URL = "coordinator_url"
