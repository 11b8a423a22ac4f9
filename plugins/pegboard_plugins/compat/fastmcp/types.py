"""MCP objects with the names and fields of `mcp.types`.

Members may be written and read in both forms, `mime_type` and `mimeType`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel, to_snake

from pegboard_plugins.compat.fastmcp.elsewhere import missing_names

LoggingLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
Role = Literal["user", "assistant"]

__getattr__ = missing_names(__name__)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
URL_ELICITATION_REQUIRED = -32042


class Object(BaseModel):
    """An MCP object."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="allow")

    def __getattr__(self, name: str) -> Any:
        if (snake := to_snake(name)) != name and snake in type(self).model_fields:
            return getattr(self, snake)
        return super().__getattr__(name)  # type: ignore[misc]

    def json_object(self) -> dict[str, Any]:
        """Return the object as JSON members."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


Meta = Annotated[dict[str, Any] | None, Field(alias="_meta")]


class Annotations(Object):
    """The audience and priority of content."""

    audience: list[Role] | None = None
    priority: float | None = None
    last_modified: str | None = None


class Icon(Object):
    """An icon."""

    src: str
    mime_type: str | None = None
    sizes: list[str] | str | None = None
    theme: Literal["light", "dark"] | None = None


class ToolAnnotations(Object):
    """Hints about a tool."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class Block(Object):
    """A block of content."""

    annotations: Annotations | None = None
    meta: Meta = None


class TextContent(Block):
    """A block of text."""

    type: Literal["text"] = "text"
    text: str


class ImageContent(Block):
    """An image in base64."""

    type: Literal["image"] = "image"
    data: str
    mime_type: str


class AudioContent(Block):
    """Audio in base64."""

    type: Literal["audio"] = "audio"
    data: str
    mime_type: str


class ResourceContents(Object):
    """One part of a resource."""

    uri: str
    mime_type: str | None = None
    meta: Meta = None


class TextResourceContents(ResourceContents):
    """A part that is text."""

    text: str


class BlobResourceContents(ResourceContents):
    """A part that is binary, in base64."""

    blob: str


class EmbeddedResource(Block):
    """A resource inside a result."""

    type: Literal["resource"] = "resource"
    resource: TextResourceContents | BlobResourceContents


class ResourceLink(Block):
    """A link to a resource."""

    type: Literal["resource_link"] = "resource_link"
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: list[Icon] | None = None


ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class CallToolResult(Object):
    """The result of a tool."""

    content: list[ContentBlock] = []
    structured_content: Any = None
    is_error: bool = False
    meta: Meta = None


class SamplingMessage(Object):
    """A message for the client's model."""

    role: Role
    content: Any


class PromptMessage(Object):
    """A message of a prompt."""

    role: Role
    content: ContentBlock


class CreateMessageResult(Object):
    """The answer of the client's model."""

    role: Role = "assistant"
    content: Any
    model: str
    stop_reason: str | None = None


class ModelHint(Object):
    """The name of a preferred model, or a part of it."""

    name: str | None = None


class ModelPreferences(Object):
    """The preferred model."""

    hints: list[ModelHint] | None = None
    cost_priority: float | None = None
    speed_priority: float | None = None
    intelligence_priority: float | None = None


class Root(Object):
    """A directory in which servers may work."""

    uri: str
    name: str | None = None


class ListRootsResult(Object):
    """The client's roots."""

    roots: list[Root]


class PromptReference(Object):
    """A prompt whose argument is completed."""

    type: Literal["ref/prompt"] = "ref/prompt"
    name: str


class ResourceTemplateReference(Object):
    """A resource template whose variable is completed."""

    type: Literal["ref/resource"] = "ref/resource"
    uri: str


class CompletionArgument(Object):
    """The argument that is completed, and the typed string."""

    name: str
    value: str


class CompletionContext(Object):
    """The arguments that the user has chosen."""

    arguments: dict[str, str] | None = None


class Completion(Object):
    """The values that complete an argument."""

    values: list[str]
    total: int | None = None
    has_more: bool | None = None


ElicitationCapability = Object
SamplingCapability = Object
RootsCapability = Object
"""Capabilities of a client: it can ask the user, offer a model, and has roots."""


class ClientCapabilities(Object):
    """The capabilities of a client."""

    elicitation: ElicitationCapability | None = None
    sampling: SamplingCapability | None = None
    roots: RootsCapability | None = None
    experimental: dict[str, Any] | None = None


class ElicitRequestURLParams(Object):
    """The parameters of an elicitation by URL."""

    mode: Literal["url"] = "url"
    message: str
    url: str
    elicitation_id: str | None = None


class ErrorData(Object):
    """A JSON-RPC error."""

    code: int
    message: str
    data: Any = None


class Described(Object):
    """An item with names and a description."""

    name: str
    title: str | None = None
    description: str | None = None
    icons: list[Icon] | None = None


class Tool(Described):
    """A tool as clients see it."""

    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None


class PromptArgument(Object):
    """An argument of a prompt."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(Described):
    """A prompt."""

    arguments: list[PromptArgument] | None = None


class GetPromptResult(Object):
    """The messages of a prompt."""

    description: str | None = None
    messages: list[PromptMessage]


class Resource(Described):
    """A resource."""

    uri: str
    mime_type: str | None = None
    annotations: Annotations | None = None


class ResourceTemplate(Described):
    """A template of URIs."""

    uri_template: str
    mime_type: str | None = None
    annotations: Annotations | None = None


class CallToolRequestParams(Object):
    """The parameters of a call."""

    name: str
    arguments: dict[str, Any] | None = None


class ReadResourceRequestParams(Object):
    """The parameters of a read."""

    uri: str


class GetPromptRequestParams(Object):
    """The parameters of a prompt."""

    name: str
    arguments: dict[str, str] | None = None


MESSAGES: Mapping[str, type[Object]] = {
    "tools/call": CallToolRequestParams,
    "resources/read": ReadResourceRequestParams,
    "prompts/get": GetPromptRequestParams,
}
"""The parameters of requests, by method."""


def plain(value: Any) -> Any:
    """Return an MCP object as JSON members: an object of this module or of `mcp.types`, or a mapping."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dict(value) if isinstance(value, Mapping) else value
