"""The one taxonomy of errors: for tool authors, plugins, protocols, the operator and the logs.

    MCPError
    ├── MCPContextError             the caller's doing
    │   ├── NotFoundError           no such tool, resource or prompt
    │   ├── AuthorizationError      the caller may not do this
    │   ├── PromptError             a prompt cannot be given as asked
    │   └── ResourceError           a resource cannot be read as asked
    ├── MCPRuntimeError             the server's doing
    │   ├── ProtocolError           a JSON-RPC error with code and data (also exported as McpError)
    │   ├── TransportError          a transport cannot open or keep its channel
    │   └── ServerError
    │       ├── ConfigError         hostconfig.toml, an environment variable or an option is wrong
    │       └── PluginError         a plugin cannot be loaded, or broke a rule of the hooks
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
                    ├── FatalToolError              nothing the caller can do
                    ├── UpstreamError               a service answered with an error
                    │   └── UpstreamRateLimitError
                    ├── NetworkTransportError       a service did not answer
                    ├── ClientError                 the client answered a question of the tool with an error
                    │   ├── ClientTimeoutError      it did not answer in time
                    │   └── ClientCapabilityError   it does not declare what the question needs
                    └── InteractionError            the tool asks where or how it cannot

What a stranger may see of an error is its message and its machine-readable fields; `developer_message`, causes and
stack traces stay in the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar


class ErrorKind(StrEnum):
    """What went wrong, for programs. The values are part of the public interface."""

    TOOLKIT_LOAD_FAILED = "TOOLKIT_LOAD_FAILED"
    TOOL_DEFINITION_BAD_DEFINITION = "TOOL_DEFINITION_BAD_DEFINITION"
    TOOL_DEFINITION_BAD_INPUT_SCHEMA = "TOOL_DEFINITION_BAD_INPUT_SCHEMA"
    TOOL_DEFINITION_BAD_OUTPUT_SCHEMA = "TOOL_DEFINITION_BAD_OUTPUT_SCHEMA"
    TOOL_RUNTIME_BAD_INPUT_VALUE = "TOOL_RUNTIME_BAD_INPUT_VALUE"
    TOOL_RUNTIME_BAD_OUTPUT_VALUE = "TOOL_RUNTIME_BAD_OUTPUT_VALUE"
    TOOL_RUNTIME_RETRY = "TOOL_RUNTIME_RETRY"
    TOOL_RUNTIME_CONTEXT_REQUIRED = "TOOL_RUNTIME_CONTEXT_REQUIRED"
    TOOL_RUNTIME_FATAL = "TOOL_RUNTIME_FATAL"
    UPSTREAM_RUNTIME_BAD_REQUEST = "UPSTREAM_RUNTIME_BAD_REQUEST"
    UPSTREAM_RUNTIME_AUTH_ERROR = "UPSTREAM_RUNTIME_AUTH_ERROR"
    UPSTREAM_RUNTIME_NOT_FOUND = "UPSTREAM_RUNTIME_NOT_FOUND"
    UPSTREAM_RUNTIME_RATE_LIMIT = "UPSTREAM_RUNTIME_RATE_LIMIT"
    UPSTREAM_RUNTIME_SERVER_ERROR = "UPSTREAM_RUNTIME_SERVER_ERROR"
    UPSTREAM_RUNTIME_UNMAPPED = "UPSTREAM_RUNTIME_UNMAPPED"
    NETWORK_TRANSPORT_RUNTIME_TIMEOUT = "NETWORK_TRANSPORT_RUNTIME_TIMEOUT"
    NETWORK_TRANSPORT_RUNTIME_UNREACHABLE = "NETWORK_TRANSPORT_RUNTIME_UNREACHABLE"
    NETWORK_TRANSPORT_RUNTIME_UNMAPPED = "NETWORK_TRANSPORT_RUNTIME_UNMAPPED"
    UNKNOWN = "UNKNOWN"


class MCPError(Exception):
    """Root of everything pegboard raises on purpose; its message is fit for whoever called."""

    @property
    def message(self) -> str:
        """The text that the caller may see."""
        return str(self)


class MCPContextError(MCPError):
    """The caller asked for something that cannot be given."""


class NotFoundError(MCPContextError):
    """There is no such tool, resource or prompt.

    Args:
        message: what the caller is told.
        data: machine-readable detail, such as `{"uri": ...}`.
    """

    def __init__(self, message: str, *, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.data = data


class AuthorizationError(MCPContextError):
    """The caller may not do this."""


class PromptError(MCPContextError):
    """A prompt cannot be given as asked: unknown or missing arguments."""


class ResourceError(MCPContextError):
    """A resource cannot be read as asked."""


class MCPRuntimeError(MCPError):
    """The server could not do its part."""


class ProtocolError(MCPRuntimeError):
    """A JSON-RPC error (JSON-RPC 2.0 section 5.1).

    Args:
        code: the JSON-RPC or MCP error code.
        message: one sentence.
        data: any JSON value with details, left out when None.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


McpError = ProtocolError


class TransportError(MCPRuntimeError):
    """A transport cannot open or keep its channel."""


class ServerError(MCPRuntimeError):
    """The host itself cannot do what it was started for."""


class ConfigError(ServerError):
    """The configuration is wrong. All problems found are told at once, one a line.

    Args:
        problems: what is wrong, each with file, line and key where known (`ConfigProblem` or text).
    """

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class PluginError(ServerError):
    """A plugin cannot be loaded, or it broke a rule of the hooks."""


class ToolkitError(MCPError):
    """Something is wrong with a toolkit or one of its tools.

    Attributes:
        kind: what went wrong, for programs.
        can_retry: whether the same caller may try again with success.
        status_code: an HTTP status that describes the error, if one does.
    """

    default_kind: ClassVar[ErrorKind] = ErrorKind.UNKNOWN

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.developer_message = developer_message
        self.extra = dict(extra) if extra else {}
        self.kind = self.default_kind
        self.can_retry = False
        self.status_code: int | None = None
        self.retry_after_ms: int | None = None
        self.additional_prompt_content: str | None = None

    def to_payload(self) -> dict[str, Any]:
        """Everything a log or a trusted caller may want, as JSON-ready values; `developer_message` included."""
        return {
            "message": self.message,
            "developer_message": self.developer_message,
            "kind": self.kind.value,
            "can_retry": self.can_retry,
            "status_code": self.status_code,
            "retry_after_ms": self.retry_after_ms,
            "additional_prompt_content": self.additional_prompt_content,
            "extra": self.extra,
        }


class ToolkitLoadError(ToolkitError):
    """A toolkit cannot be loaded."""

    default_kind = ErrorKind.TOOLKIT_LOAD_FAILED


class ToolError(ToolkitError):
    """Something is wrong with a tool."""


class ToolDefinitionError(ToolError):
    """A tool's definition cannot be served; it costs that tool alone."""

    default_kind = ErrorKind.TOOL_DEFINITION_BAD_DEFINITION


class ToolInputSchemaError(ToolDefinitionError):
    """A tool's parameters cannot be described as a JSON Schema."""

    default_kind = ErrorKind.TOOL_DEFINITION_BAD_INPUT_SCHEMA


class ToolOutputSchemaError(ToolDefinitionError):
    """A tool's result cannot be described as a JSON Schema."""

    default_kind = ErrorKind.TOOL_DEFINITION_BAD_OUTPUT_SCHEMA


class ToolRuntimeError(ToolError, RuntimeError):
    """Raised while a tool runs; the call fails, with this message for the model."""

    default_kind = ErrorKind.TOOL_RUNTIME_FATAL


class ToolSerializationError(ToolRuntimeError):
    """Arguments or results could not be converted."""


class ToolInputError(ToolSerializationError):
    """The arguments do not fit the tool's input schema. The model can mend them."""

    default_kind = ErrorKind.TOOL_RUNTIME_BAD_INPUT_VALUE

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.status_code = 400


class ToolOutputError(ToolSerializationError):
    """The tool returned something other than it declares."""

    default_kind = ErrorKind.TOOL_RUNTIME_BAD_OUTPUT_VALUE

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.status_code = 500


class ToolExecutionError(ToolRuntimeError):
    """The tool could not do what it was asked; raise it, or a subclass, with a message that helps the model."""


class RetryableToolError(ToolExecutionError):
    """The model can mend its call and try again.

    Args:
        message: what went wrong.
        developer_message: detail for the log.
        additional_prompt_content: what the model should know for the next try; sent with the message.
        retry_after_ms: how long to wait before the next try, in milliseconds.
        extra: JSON-ready values for programs.
    """

    default_kind = ErrorKind.TOOL_RUNTIME_RETRY

    def __init__(
        self,
        message: str = "",
        developer_message: str | None = None,
        additional_prompt_content: str | None = None,
        retry_after_ms: int | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.can_retry = True
        self.additional_prompt_content = additional_prompt_content
        self.retry_after_ms = retry_after_ms


class ContextRequiredToolError(ToolExecutionError):
    """The model must ask the person for something before it tries again; the text says what."""

    default_kind = ErrorKind.TOOL_RUNTIME_CONTEXT_REQUIRED

    def __init__(
        self,
        message: str,
        additional_prompt_content: str,
        developer_message: str | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.additional_prompt_content = additional_prompt_content


class FatalToolError(ToolExecutionError):
    """Nothing the caller can do."""

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.status_code = 500


class UpstreamError(ToolExecutionError):
    """A service that the tool uses answered with an error; its status decides the kind.

    Args:
        message: what went wrong, without URLs or bodies of the service.
        developer_message: detail for the log.
        status_code: the HTTP status of the service; `kind` and `can_retry` follow from it.
        extra: JSON-ready values for programs.
    """

    default_kind = ErrorKind.UPSTREAM_RUNTIME_UNMAPPED

    def __init__(
        self,
        message: str,
        developer_message: str | None = None,
        *,
        status_code: int,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.status_code = status_code
        self.kind = _upstream_kind(status_code)
        self.can_retry = status_code == 429 or status_code >= 500


class UpstreamRateLimitError(UpstreamError):
    """A service asks to wait.

    Args:
        message: what went wrong.
        retry_after_ms: how long to wait, in milliseconds.
        developer_message: detail for the log.
        extra: JSON-ready values for programs.
    """

    default_kind = ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT

    def __init__(
        self,
        message: str,
        retry_after_ms: int,
        developer_message: str | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, developer_message, status_code=429, extra=extra)
        self.retry_after_ms = retry_after_ms


class NetworkTransportError(ToolExecutionError):
    """A service that the tool uses did not answer.

    Raises:
        ValueError: `kind` is none of the NETWORK_TRANSPORT kinds.
    """

    default_kind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED

    def __init__(
        self,
        message: str,
        developer_message: str | None = None,
        *,
        kind: ErrorKind = ErrorKind.NETWORK_TRANSPORT_RUNTIME_UNMAPPED,
        can_retry: bool = True,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if not kind.startswith("NETWORK_TRANSPORT_"):
            raise ValueError(f"kind must be one of the NETWORK_TRANSPORT kinds, not {kind}")
        super().__init__(message, developer_message, extra=extra)
        self.kind = kind
        self.can_retry = can_retry


class ClientError(ToolExecutionError):
    """The client answered a question of the tool with an error, or with something that is no answer to it.

    Args:
        message: what it said.
        code: the JSON-RPC error code, None where it sent none.
        data: the JSON-RPC error's data.
    """

    def __init__(
        self, message: str, developer_message: str | None = None, *, code: int | None = None, data: Any = None
    ) -> None:
        super().__init__(message, developer_message)
        self.code = code
        self.data = data


class ClientTimeoutError(ClientError, TimeoutError):
    """The client did not answer a question of the tool in time."""


class ClientCapabilityError(ClientError):
    """The client does not declare what a question of the tool needs.

    Args:
        capability: the name of it, such as "sampling" or "elicitation.url".
    """

    def __init__(self, capability: str) -> None:
        super().__init__(f"This needs a client with the capability {capability}, which yours does not declare.")
        self.capability = capability

    @property
    def required(self) -> dict[str, Any]:
        """It as a ClientCapabilities object, such as `{"elicitation": {"url": {}}}`."""
        required: dict[str, Any] = {}
        for part in reversed(self.capability.split(".")):
            required = {part: required}
        return required


class InteractionError(ToolExecutionError):
    """The tool asks its client where or how it cannot: from a sync function, or otherwise than it did before."""

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message, developer_message, extra=extra)
        self.status_code = 500


def _upstream_kind(status: int) -> ErrorKind:
    if status in (401, 403):
        return ErrorKind.UPSTREAM_RUNTIME_AUTH_ERROR
    if status == 404:
        return ErrorKind.UPSTREAM_RUNTIME_NOT_FOUND
    if status == 429:
        return ErrorKind.UPSTREAM_RUNTIME_RATE_LIMIT
    if status >= 500:
        return ErrorKind.UPSTREAM_RUNTIME_SERVER_ERROR
    if status >= 400:
        return ErrorKind.UPSTREAM_RUNTIME_BAD_REQUEST
    return ErrorKind.UPSTREAM_RUNTIME_UNMAPPED
