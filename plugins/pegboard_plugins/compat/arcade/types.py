"""MCP objects with the names and fields of `arcade_mcp_server.types`."""

from __future__ import annotations

from typing import Any, Literal

from pegboard_plugins.compat.fastmcp.types import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ClientCapabilities,
    ContentBlock,
    CreateMessageResult,
    EmbeddedResource,
    GetPromptResult,
    Icon,
    ImageContent,
    LoggingLevel,
    ModelHint,
    ModelPreferences,
    Object,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceContents,
    ResourceLink,
    ResourceTemplate,
    Role,
    Root,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

MCPContent = ContentBlock
MCPTool = Tool

__all__ = [
    "Annotations", "AudioContent", "BlobResourceContents", "CallToolResult", "ClientCapabilities",
    "CreateMessageResult", "EmbeddedResource", "GetPromptResult", "Icon", "ImageContent", "LoggingLevel", "MCPContent",
    "MCPTool", "ModelHint", "ModelPreferences", "Prompt", "PromptArgument", "PromptMessage", "Resource",
    "ResourceContents", "ResourceLink", "ResourceTemplate", "Role", "Root", "SamplingMessage", "TextContent",
    "TextResourceContents", "ToolAnnotations", "ToolChoice", "ToolExecution", "ToolResultContent", "ToolUseContent",
]  # fmt: skip


class ToolUseContent(Object):
    """A call of a tool that the client's model asks for."""

    type: Literal["tool_use"] = "tool_use"
    id: str
    name: str
    input: dict[str, Any]


class ToolResultContent(Object):
    """The result of a call, for the client's model."""

    type: Literal["tool_result"] = "tool_result"
    tool_use_id: str
    content: list[Any]
    is_error: bool | None = None
    structured_content: dict[str, Any] | None = None


class ToolChoice(Object):
    """The choice of a tool by the client's model."""

    mode: Literal["auto", "required", "none"]


class ToolExecution(Object):
    """The support of a tool for background tasks."""

    task_support: Literal["forbidden", "optional", "required"] | None = None
