"""pegboard: a host for Model Context Protocol tool servers, in which every feature is a plugin.

This module is the API for authors of tools. `pegboard.plugin` is the API for authors of plugins, `pegboard.types`
defines the records that both exchange with the host. `pegboard_testing` helps to test both.
"""

from pegboard.exports import exports

_HOMES = {
    ".authoring": "tool",
    ".authoring.transformed": "transformed",
    ".toolkit": "Toolkit",
    ".host": "Host",
    ".config": "PluginConfig",
    ".context": "Context Progress current_context",
    ".context.elicitation": "Elicited",
    ".types.parameters": "ArgumentChange Depends Inferrable",
    ".types.callers": "Authorization",
    ".types.calls": "Completion PromptMessage PromptResult ResourceContents ResourceResult ToolResult",
    ".types.catalogue": "ToolAnnotations",
    ".types.content": """
        Annotations AudioContent Content EmbeddedResource Icon ImageContent ResourceLink TextContent
    """,
    ".media": "Audio File Image",
    ".types.metadata": "Behavior Classification Operation ResourceUi ServiceDomain ToolMetadata ToolUi",
    ".errors": """
        AuthorizationRequiredError ClientCapabilityError ClientError ContextRequiredToolError ErrorKind
        FatalToolError InsufficientScopeError MCPError NetworkTransportError NotFoundError PromptError ResourceError
        RetryableToolError ToolDefinitionError ToolError ToolExecutionError ToolInputError ToolRuntimeError
        ToolkitError UpstreamError UpstreamRateLimitError
    """,
}
"""The public names, by the module that defines them."""

__all__, __getattr__, __dir__ = exports(__name__, _HOMES)
