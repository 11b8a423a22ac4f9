"""Servers and toolkits written for Arcade: `arcade_mcp_server` and `arcade_tdk`.

Change `from arcade_mcp_server import MCPApp` to `from pegboard_plugins.compat.arcade import MCPApp`, and submodules
such as `arcade_tdk.errors` to `pegboard_plugins.compat.arcade.errors`. docs/migration.md lists the differences.
"""

from pegboard_plugins.compat.arcade import auth, exceptions, metadata
from pegboard_plugins.compat.arcade.annotations import Inferrable
from pegboard_plugins.compat.arcade.app import MCPApp
from pegboard_plugins.compat.arcade.auth import *  # noqa: F403
from pegboard_plugins.compat.arcade.context import Context, ToolMetadataItem, ToolSecretItem
from pegboard_plugins.compat.arcade.decorators import tool
from pegboard_plugins.compat.arcade.exceptions import *  # noqa: F403
from pegboard_plugins.compat.arcade.metadata import *  # noqa: F403
from pegboard_plugins.compat.arcade.resources import ResourceDeclaration, resource
from pegboard_plugins.compat.arcade.types import (
    Annotations,
    BlobResourceContents,
    Icon,
    Resource,
    ResourceTemplate,
    TextResourceContents,
    ToolChoice,
    ToolExecution,
    ToolResultContent,
    ToolUseContent,
)
from pegboard_plugins.compat.missing import missing_names

ToolContext = Context

__getattr__ = missing_names(
    __name__, MCPServer="server", MCPSettings="settings", ToolCatalog="catalog", create_arcade_mcp="worker"
)

__all__ = [  # noqa: PLE0604 - names of the other modules
    "Annotations",
    "BlobResourceContents",
    "Context",
    "Icon",
    "Inferrable",
    "MCPApp",
    "Resource",
    "ResourceDeclaration",
    "ResourceTemplate",
    "TextResourceContents",
    "ToolChoice",
    "ToolContext",
    "ToolExecution",
    "ToolMetadataItem",
    "ToolResultContent",
    "ToolSecretItem",
    "ToolUseContent",
    "resource",
    "tool",
    *auth.__all__,
    *exceptions.__all__,
    *metadata.__all__,
]
