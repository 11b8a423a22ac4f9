# Written by `python -m tools.stubs` from the names in `__init__.py`.
from pegboard.authoring import (
    tool,
)
from pegboard.authoring.transformed import (
    transformed,
)
from pegboard.config import (
    PluginConfig,
)
from pegboard.context import (
    Context,
    Progress,
    current_context,
)
from pegboard.context.elicitation import (
    Elicited,
)
from pegboard.errors import (
    AuthorizationRequiredError,
    ClientCapabilityError,
    ClientError,
    ContextRequiredToolError,
    ErrorKind,
    FatalToolError,
    InsufficientScopeError,
    MCPError,
    NetworkTransportError,
    NotFoundError,
    PromptError,
    ResourceError,
    RetryableToolError,
    ToolDefinitionError,
    ToolError,
    ToolExecutionError,
    ToolInputError,
    ToolRuntimeError,
    ToolkitError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.host import (
    Host,
)
from pegboard.media import (
    Audio,
    File,
    Image,
)
from pegboard.toolkit import (
    Toolkit,
)
from pegboard.types.callers import (
    Authorization,
)
from pegboard.types.calls import (
    Completion,
    PromptMessage,
    PromptResult,
    ResourceContents,
    ResourceResult,
    ToolResult,
)
from pegboard.types.catalogue import (
    ToolAnnotations,
)
from pegboard.types.content import (
    Annotations,
    AudioContent,
    Content,
    EmbeddedResource,
    Icon,
    ImageContent,
    ResourceLink,
    TextContent,
)
from pegboard.types.metadata import (
    Behavior,
    Classification,
    Operation,
    ResourceUi,
    ServiceDomain,
    ToolMetadata,
    ToolUi,
)
from pegboard.types.parameters import (
    ArgumentChange,
    Depends,
    Inferrable,
)

__all__ = [
    "Annotations",
    "ArgumentChange",
    "Audio",
    "AudioContent",
    "Authorization",
    "AuthorizationRequiredError",
    "Behavior",
    "Classification",
    "ClientCapabilityError",
    "ClientError",
    "Completion",
    "Content",
    "Context",
    "ContextRequiredToolError",
    "Depends",
    "Elicited",
    "EmbeddedResource",
    "ErrorKind",
    "FatalToolError",
    "File",
    "Host",
    "Icon",
    "Image",
    "ImageContent",
    "Inferrable",
    "InsufficientScopeError",
    "MCPError",
    "NetworkTransportError",
    "NotFoundError",
    "Operation",
    "PluginConfig",
    "Progress",
    "PromptError",
    "PromptMessage",
    "PromptResult",
    "ResourceContents",
    "ResourceError",
    "ResourceLink",
    "ResourceResult",
    "ResourceUi",
    "RetryableToolError",
    "ServiceDomain",
    "TextContent",
    "ToolAnnotations",
    "ToolDefinitionError",
    "ToolError",
    "ToolExecutionError",
    "ToolInputError",
    "ToolMetadata",
    "ToolResult",
    "ToolRuntimeError",
    "ToolUi",
    "Toolkit",
    "ToolkitError",
    "UpstreamError",
    "UpstreamRateLimitError",
    "current_context",
    "tool",
    "transformed",
]
