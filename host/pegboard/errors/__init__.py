"""The one taxonomy of errors: for tool authors, plugins, protocols, the operator and the logs.

    MCPError
    ├── MCPContextError             the caller's doing
    │   ├── NotFoundError           no such tool, resource or prompt
    │   ├── AuthorizationError      the caller may not do this
    │   │   └── InsufficientScopeError      their token does not allow it
    │   ├── PromptError             a prompt cannot be given as asked
    │   └── ResourceError           a resource cannot be read as asked
    ├── MCPRuntimeError             the server's doing
    │   ├── ProtocolError           a JSON-RPC error with code and data (also exported as McpError)
    │   ├── TransportError          a transport cannot open or keep its channel
    │   └── ServerError
    │       ├── ConfigError         hostconfig.toml, an environment variable or an option is wrong
    │       ├── PluginError         a plugin cannot be loaded, or broke a rule of the hooks
    │       │   └── LifespanError   the lifespan of a plugin failed to start
    │       ├── SessionError        the client's session does not allow this (also a base of ClientCapabilityError)
    │       ├── RequestError        a request failed
    │       │   └── ServerRequestError  a request to the client failed (also a base of ClientError)
    │       └── ResponseError       a response is missing or invalid (also a base of ClientError)
    └── ToolkitError
        ├── ToolkitLoadError        a toolkit cannot be loaded
        └── ToolError
            ├── ToolDefinitionError
            │   ├── ToolInputSchemaError
            │   └── ToolOutputSchemaError
            └── ToolRuntimeError    raised while a tool runs
                ├── ToolSerializationError
                │   ├── ToolInputError      the arguments do not fit the tool
                │   └── ToolOutputError     the result does not fit the tool's own declaration
                └── ToolExecutionError
                    ├── RetryableToolError          the model can mend its call and try again
                    ├── ContextRequiredToolError    the model must ask the person first
                    │   └── AuthorizationRequiredError      the person, or the operator, must authorize the tool
                    ├── FatalToolError              nothing the caller can do
                    ├── UpstreamError               a service answered with an error
                    │   └── UpstreamRateLimitError
                    ├── NetworkTransportError       a service did not answer
                    ├── ClientError                 the client answered a question of the tool with an error
                    │   ├── ClientTimeoutError      it did not answer in time
                    │   └── ClientCapabilityError   it does not declare what the question needs
                    ├── ToolTimeoutError            the tool took longer than it may
                    └── InteractionError            the tool asks where or how it cannot

What a stranger may see of an error is its message and its machine-readable fields; `developer_message`, causes and
stack traces stay in the log.
"""

from pegboard.errors.definition import (
    ErrorKind,
    ToolDefinitionError,
    ToolError,
    ToolInputError,
    ToolInputSchemaError,
    ToolkitError,
    ToolkitLoadError,
    ToolOutputError,
    ToolOutputSchemaError,
    ToolRuntimeError,
    ToolSerializationError,
)
from pegboard.errors.execution import (
    AuthorizationRequiredError,
    ClientCapabilityError,
    ClientError,
    ClientTimeoutError,
    ContextRequiredToolError,
    FatalToolError,
    InteractionError,
    NetworkTransportError,
    RetryableToolError,
    ToolExecutionError,
    ToolTimeoutError,
    UpstreamError,
    UpstreamRateLimitError,
)
from pegboard.errors.protocol import (
    AuthorizationError,
    ConfigError,
    InsufficientScopeError,
    LifespanError,
    MCPContextError,
    MCPError,
    McpError,
    MCPRuntimeError,
    NotFoundError,
    PluginError,
    PromptError,
    ProtocolError,
    RequestError,
    ResourceError,
    ResponseError,
    ServerError,
    ServerRequestError,
    SessionError,
    TransportError,
)

__all__ = [
    "AuthorizationError",
    "AuthorizationRequiredError",
    "ClientCapabilityError",
    "ClientError",
    "ClientTimeoutError",
    "ConfigError",
    "ContextRequiredToolError",
    "ErrorKind",
    "FatalToolError",
    "InsufficientScopeError",
    "InteractionError",
    "LifespanError",
    "MCPContextError",
    "MCPError",
    "MCPRuntimeError",
    "McpError",
    "NetworkTransportError",
    "NotFoundError",
    "PluginError",
    "PromptError",
    "ProtocolError",
    "RequestError",
    "ResourceError",
    "ResponseError",
    "RetryableToolError",
    "ServerError",
    "ServerRequestError",
    "SessionError",
    "ToolDefinitionError",
    "ToolError",
    "ToolExecutionError",
    "ToolInputError",
    "ToolInputSchemaError",
    "ToolOutputError",
    "ToolOutputSchemaError",
    "ToolRuntimeError",
    "ToolSerializationError",
    "ToolTimeoutError",
    "ToolkitError",
    "ToolkitLoadError",
    "TransportError",
    "UpstreamError",
    "UpstreamRateLimitError",
]
