"""The error classes of pegboard.

    MCPError
    ├── MCPContextError             the caller's request is at fault
    │   ├── NotFoundError           the tool, resource or prompt does not exist
    │   ├── AuthorizationError      the caller is not allowed to do this
    │   │   └── InsufficientScopeError      the caller's token lacks a scope
    │   ├── PromptError             the arguments of a prompt are invalid
    │   └── ResourceError           a resource cannot be read
    ├── MCPRuntimeError             the server is at fault
    │   ├── ProtocolError           a JSON-RPC error with code and data
    │   ├── TransportError          a transport cannot open or keep its channel
    │   └── ServerError
    │       ├── ConfigError         hostconfig.toml, an environment variable or an option is invalid
    │       ├── PluginError         a plugin cannot be loaded, or breaks a rule of the hooks
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
                │   └── ToolOutputError     the result does not fit the tool's declaration
                └── ToolExecutionError
                    ├── RetryableToolError          the model can correct its call and retry
                    │   ├── RepeatCallError         middleware asks the host to run the call again
                    │   └── ResultTooLargeError     the result exceeds its size limit
                    ├── ContextRequiredToolError    the model must ask the user first
                    │   └── AuthorizationRequiredError      the user or the operator must authorize the tool
                    ├── FatalToolError              the caller cannot do anything about it
                    ├── UpstreamError               a service responded with an error
                    │   └── UpstreamRateLimitError
                    ├── NetworkTransportError       a service did not respond
                    ├── ClientError                 the client responded to the tool's request with an error
                    │   ├── ClientTimeoutError      the client did not respond in time
                    │   └── ClientCapabilityError   the client does not declare the capability
                    ├── ToolTimeoutError            the tool exceeded its time limit
                    └── InteractionError            the tool cannot ask the client here

Callers see the message of an error and its machine-readable fields. `developer_message`, causes and stack traces stay
in the log.
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
    RepeatCallError,
    ResultTooLargeError,
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
    "NetworkTransportError",
    "NotFoundError",
    "PluginError",
    "PromptError",
    "ProtocolError",
    "RepeatCallError",
    "RequestError",
    "ResourceError",
    "ResponseError",
    "ResultTooLargeError",
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
