"""What goes wrong with a tool: its definition, its arguments and its result."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, ClassVar

from pegboard.errors.protocol import MCPError


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


class ToolkitError(MCPError):
    """Something is wrong with a toolkit or one of its tools.

    Args:
        message: what the caller is told.
        developer_message: detail for the log.
        extra: JSON-ready values for programs; callers see them.

    Attributes:
        kind: what went wrong, for programs.
        can_retry: whether the same caller may try again with success.
        status_code: an HTTP status that describes the error, if one does.
        retry_after_ms: how long to wait before the next try, in milliseconds, if that is known.
        additional_prompt_content: what the model should know besides; sent with the message.
    """

    default_kind: ClassVar[ErrorKind] = ErrorKind.UNKNOWN
    default_status: ClassVar[int | None] = None

    # here as well as in constructors, for subclasses whose own constructor does not call this one
    kind: ErrorKind = ErrorKind.UNKNOWN
    can_retry: bool = False
    status_code: int | None = None
    retry_after_ms: int | None = None
    additional_prompt_content: str | None = None
    developer_message: str | None = None
    extra: Mapping[str, Any] = MappingProxyType({})

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.kind = cls.default_kind
        cls.status_code = cls.default_status

    def __init__(
        self, message: str = "", developer_message: str | None = None, *, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.developer_message = developer_message
        self.extra = dict(extra) if extra else {}

    def to_payload(self, *, stacktrace: bool = False) -> dict[str, Any]:
        """Everything a log or a trusted caller may want, as JSON-ready values; `developer_message` included.

        Args:
            stacktrace: give the way of what caused it, too, where something did.
        """
        return {
            "message": self.message,
            "kind": self.kind.value,
            "developer_message": self.developer_message,
            "can_retry": self.can_retry,
            "additional_prompt_content": self.additional_prompt_content,
            "retry_after_ms": self.retry_after_ms,
            "stacktrace": self._stacktrace() if stacktrace else None,
            "status_code": self.status_code,
            "extra": dict(self.extra) or None,
        }

    def _stacktrace(self) -> str | None:
        if self.__cause__ is None:
            return None
        from pegboard.errors.tracebacks import traceback_text

        return traceback_text(self.__cause__)


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
    default_status = 400


class ToolOutputError(ToolSerializationError):
    """The tool returned something other than it declares."""

    default_kind = ErrorKind.TOOL_RUNTIME_BAD_OUTPUT_VALUE
    default_status = 500
